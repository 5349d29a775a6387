"""Runs compiled CUDA kernels without a GPU: an interpreter of the PTX that nvcc makes of this project's kernels.

A warp is one numpy vector of 32 lanes. The lanes at the lowest instruction go first, so that branches join again
where they end; a warp operation waits for the lanes that its mask names, a barrier of the block for all warps. Blocks
run one after the other. A program is cut into segments, at labels, behind branches, and before what several lanes do
together; each is compiled to a Python function twice, for whole warps and for some lanes (ptx_program.py).

Counted are how often a warp ran each segment, with all of its lanes or some, and the 32-byte sectors of global memory
that each of its accesses touched. Memory is one array of bytes, the device's; an access outside of it, or of what a
launch says is held, is an error, and so is one that is not aligned.
Fused multiply-adds round once, as there; approximations are exact here: where kernels use them, last bits may differ.
"""

import numpy as np

from ptx_lanes import FULL, HELPERS, LANE, TYPES, VIEWS, WARP
from ptx_program import BARRIER, END, LOCAL, PARAM


class Launch:
    """What a launch gives to the threads: sizes, the job, memory."""

    def __init__(self, blocks, threads, job, memory, memory_begin, held=None):
        """`held` has for each byte of memory the number of the piece that it is in; 0: no kernel may touch it. Then
        `stored` says which bytes the kernel wrote."""
        self.blocks, self.threads, self.job, self.memory_begin = blocks, threads, job, memory_begin
        self.memory, self.held = memory, held
        self.stored = None if held is None else np.zeros(memory.size, dtype=bool)

    def check(self, places, size, stores):
        """Of accesses of so many bytes each, whether the device would carry them out."""
        if places.min() < 0 or places.max() + size > self.memory.size:
            raise IndexError(f"an access outside of memory, at {places.min()} to {places.max()}")
        require_aligned(places + self.memory_begin, size)
        if self.held is None:
            return
        of_piece = self.held[places]
        wrong = (of_piece == 0) | (of_piece != self.held[places + size - 1])
        if wrong.any():
            raise IndexError(f"an access to memory that nobody holds, at {places[wrong][0]}")
        if stores:
            for byte in range(size):
                self.stored[places + byte] = True


def require_aligned(places, size):
    wrong = places % size != 0
    if wrong.any():
        raise IndexError(f"an access of {size} bytes that is not aligned, at {places[wrong][0]}")


class Warp:
    """One warp's registers and what is the same for all its lanes."""

    def __init__(self, program, number):
        self.space = space = {"np": np, "FULL": FULL, "LANE": LANE, "helpers": HELPERS, "warp": self, **HELPERS,
                              "carry": np.zeros(WARP, dtype=bool)}
        for name, bits in program.registers.items():
            if bits == 1:
                space[name] = np.zeros(WARP, dtype=bool)
            else:
                backing = np.zeros(WARP, dtype=TYPES[f"u{bits}"])
                for view in VIEWS[bits]:
                    space[f"{name}_{view}"] = backing.view(TYPES[view])
        exec(program.code, space)
        self.whole = [space[f"whole_{i}"] for i in range(program.segments)]
        self.some = [space[f"some_{i}"] for i in range(program.segments)]
        self.local = np.zeros((WARP, max(program.local_bytes, 8)), dtype=np.uint8)
        self.number = number

    def start(self, launch, block, shared, touched):
        space = self.space
        self.launch, self.shared, self.touched = launch, shared, touched
        self.job = launch.job
        threads = launch.threads
        space["tid_x"] = (self.number * WARP + LANE).astype(np.uint32)
        space["ctaid_x"] = np.full(WARP, block, dtype=np.uint32)
        space["ntid_x"] = np.full(WARP, threads, dtype=np.uint32)
        space["nctaid_x"] = np.full(WARP, launch.blocks, dtype=np.uint32)
        space["laneid"] = LANE.astype(np.uint32)
        space["lanemask_lt"] = ((np.uint64(1) << LANE.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        self.places = np.zeros(WARP, dtype=np.int64)
        self.at_barrier = False

    def load(self, space, address, offset, active, dtype, count):
        """`count` vectors of the active lanes."""
        size = np.dtype(dtype).itemsize
        if space == "generic":
            first = int(address[np.argmax(active)])
            space = "param" if first & PARAM else "local" if first & LOCAL else "global"
        if space == "param":
            places = (address[active] & np.uint64(PARAM - 1)).astype(np.int64) + offset
            return [self.gather(self.job, places + i * size, dtype, size) for i in range(count)]
        if space == "local":
            places = (address[active] & np.uint64(LOCAL - 1)).astype(np.int64) + offset
            rows = self.local[active]
            return [np.stack([rows[np.arange(places.size), places + i * size + byte] for byte in range(size)], axis=1)
                    .copy().view(dtype).reshape(-1) for i in range(count)]
        if space == "shared":
            places = (address[active].astype(np.int64) + offset) & 0xFFFFFFFF
            require_aligned(places, size * count)
            self.touched.append(("shared", places))
            return [self.shared.view(dtype)[(places + i * size) // size] for i in range(count)]
        places = address[active].astype(np.int64) + offset - self.launch.memory_begin
        self.launch.check(places, size * count, False)
        self.touched.append(("load", places >> 5))
        view = self.launch.memory.view(dtype)
        return [view[(places + i * size) // size] for i in range(count)]

    @staticmethod
    def gather(array, places, dtype, size):
        return np.stack([array[places + byte] for byte in range(size)], axis=1).copy().view(dtype).reshape(-1)

    def store(self, space, address, offset, active, values):
        dtype = values[0].dtype
        size = dtype.itemsize
        if space == "generic":
            space = "local" if int(address[np.argmax(active)]) & LOCAL else "global"
        for i, value in enumerate(values):
            if space == "local":
                places = (address[active] & np.uint64(LOCAL - 1)).astype(np.int64) + offset + i * size
                raw = value[active].copy().view(np.uint8).reshape(-1, size)
                lanes = np.nonzero(active)[0]
                for byte in range(size):
                    self.local[lanes, places + byte] = raw[:, byte]
            elif space == "shared":
                places = (address[active].astype(np.int64) + offset + i * size) & 0xFFFFFFFF
                if i == 0:
                    require_aligned(places, size * len(values))
                    self.touched.append(("shared", places))
                self.shared.view(dtype)[places // size] = value[active]
            else:
                places = address[active].astype(np.int64) + offset - self.launch.memory_begin + i * size
                if i == 0:
                    self.launch.check(places, size * len(values), True)
                    self.touched.append(("store", places >> 5))
                self.launch.memory.view(dtype)[places // size] = value[active]

    def atomic(self, space, operation, address, offset, active, a, b, dtype):
        size = np.dtype(dtype).itemsize
        memory, begin = (self.shared, 0) if space == "shared" else (self.launch.memory, self.launch.memory_begin)
        places = address[active].astype(np.int64) + offset - begin
        if space == "shared":
            require_aligned(places, size)
        else:
            self.launch.check(places, size, True)
        self.touched.append(("shared" if space == "shared" else "atomic", places >> 5))
        view, result = memory.view(dtype), np.zeros(WARP, dtype=dtype)
        apply = {"add": lambda old, x, y: old + x, "min": lambda old, x, y: min(old, x), "exch": lambda old, x, y: x,
                 "max": lambda old, x, y: max(old, x), "or": lambda old, x, y: old | x,
                 "and": lambda old, x, y: old & x, "cas": lambda old, x, y: y if old == x else old}[operation]
        for lane, place in zip(np.nonzero(active)[0], places // size):
            result[lane] = view[place]
            view[place] = apply(view[place], a[lane], b[lane] if b is not None else None)
        return result

    def run(self, counts):
        """Until it ends or waits at a barrier of the block."""
        while True:
            places = self.places
            first = int(places[0])
            if (places == first).all():
                if first == END:
                    return
                counts[first] += 1
                following = self.whole[first]()
                if isinstance(following, int) and following == BARRIER:
                    self.places = np.full(WARP, first + 1)
                    self.at_barrier = True
                    return
                self.places = following if isinstance(following, np.ndarray) else np.full(WARP, following)
                continue
            alive = places != END
            for place in np.unique(places[alive]):
                active = places == place
                following = self.some[place](active, alive)
                if following is not None:
                    break
            else:
                raise RuntimeError(f"no lane of warp {self.number} can go on: {places}")
            counts[place] += 1
            if isinstance(following, int) and following == BARRIER:
                self.places = np.where(active, place + 1, places)
                self.at_barrier = True
                return
            self.places = np.where(active, following, places)


class Machine:
    """Runs blocks of a launch. `accesses` has, for each block, the kind and the sectors of each access."""

    def __init__(self, program, launch):
        self.program, self.launch = program, launch
        self.warps = [Warp(program, number) for number in range(launch.threads // WARP)]
        self.counts = np.zeros(program.segments, dtype=np.int64)
        self.accesses = []

    def run(self, block):
        shared = np.zeros(max(self.program.shared_bytes, 16), dtype=np.uint8)
        touched = []
        with np.errstate(all="ignore"):
            for warp in self.warps:
                warp.start(self.launch, block, shared, touched)
            while True:
                for warp in self.warps:
                    warp.at_barrier = False
                    warp.run(self.counts)
                if not any(warp.at_barrier for warp in self.warps):
                    break
        self.accesses.append(touched)
