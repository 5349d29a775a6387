"""Runs compiled CUDA kernels without a GPU: an interpreter of the PTX that nvcc makes of this project's kernels.

A warp is one numpy vector of 32 lanes. The lanes at the lowest instruction go first, so that branches join again
where they end; a warp operation waits for the lanes that its mask names, a barrier of the block for all warps. Blocks
run one after the other. A program is cut into segments, at labels, behind branches, and before what several lanes do
together; each is compiled to a Python function twice, for whole warps and for some lanes.

Counted are how often a warp ran each segment, with all of its lanes or some, and the 32-byte sectors of global memory
that each of its accesses touched. Memory is one array of bytes, the device's; an access outside of it is an error.
Fused multiply-adds round twice here, and approximations exactly: where kernels use them, the last bit may differ.
"""

import re

import numpy as np

WARP = 32
FULL = np.ones(WARP, dtype=bool)
LANE = np.arange(WARP)
END, BARRIER = 1 << 30, -1
PARAM, LOCAL = 1 << 62, 1 << 61  # where generic addresses of these spaces begin

TYPES = {"u8": np.uint8, "s8": np.int8, "b8": np.uint8, "u16": np.uint16, "s16": np.int16, "b16": np.uint16,
         "u32": np.uint32, "s32": np.int32, "b32": np.uint32, "f32": np.float32,
         "u64": np.uint64, "s64": np.int64, "b64": np.uint64, "f64": np.float64, "pred": np.bool_}
VIEWS = {16: ("u16", "s16", "b16"), 32: ("u32", "s32", "b32", "f32"), 64: ("u64", "s64", "b64", "f64")}
SYNCHRONIZING = ("shfl", "vote", "match", "redux", "bar", "barrier")


class Unsupported(Exception):
    """An instruction that no kernel used when this was written."""


class Launch:
    """What a launch gives to the threads: sizes, the job, memory."""

    def __init__(self, blocks, threads, job, memory, memory_begin):
        self.blocks, self.threads, self.job, self.memory_begin = blocks, threads, job, memory_begin
        self.memory = memory


def popc(values):
    bits = np.unpackbits(values.view(np.uint8).reshape(WARP, -1), axis=1)
    return bits.sum(axis=1).astype(np.uint32)


def find_highest(values):
    """Position of the highest bit that is set, -1 where none is."""
    work, position = values.astype(np.uint64), np.full(WARP, -1, dtype=np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        high = work >> np.uint64(step)
        found = high != 0
        position = np.where(found, position + step, position)
        work = np.where(found, high, work)
    return np.where(work != 0, position + 1, -1)


def clz(values):
    return (values.dtype.itemsize * 8 - 1 - find_highest(values)).astype(np.uint32)


def bfind_shift(values):
    highest = find_highest(values)
    return np.where(highest < 0, 0xFFFFFFFF, values.dtype.itemsize * 8 - 1 - highest).astype(np.uint32)


def brev(values):
    bits = np.unpackbits(values.view(np.uint8).reshape(WARP, -1), axis=1, bitorder="little")
    return np.packbits(bits[:, ::-1], axis=1, bitorder="little").copy().view(values.dtype).reshape(WARP)


def shift_left(a, b):
    width = a.dtype.itemsize * 8
    return np.where(b < width, a << np.minimum(b, width - 1).astype(a.dtype), a.dtype.type(0))


def shift_right(a, b):
    width = a.dtype.itemsize * 8
    shifted = a >> np.minimum(b, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(b < width, shifted, a.dtype.type(0))


def bit_field_insert(a, b, position, length):
    ones = np.full(WARP, ~b.dtype.type(0))
    mask = shift_left(~shift_left(ones, length), position)
    return (b & ~mask) | (shift_left(a, position) & mask)


def permute_bytes(a, b, selector):
    """Each half-byte of the selector names one of eight bytes, or, with its highest bit, that byte's sign."""
    both = np.broadcast_to(a, WARP).astype(np.uint64) | (np.broadcast_to(b, WARP).astype(np.uint64) << np.uint64(32))
    selector, result = np.broadcast_to(selector, WARP).astype(np.uint64), np.zeros(WARP, dtype=np.uint64)
    for i in range(4):
        chosen = (selector >> np.uint64(4 * i)) & np.uint64(15)
        byte = (both >> (np.uint64(8) * (chosen & np.uint64(7)))) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        result |= np.where(chosen & np.uint64(8), sign, byte) << np.uint64(8 * i)
    return result.astype(np.uint32)


def shuffle(mode, values, b, c):
    clamp, segment = c & 0x1F, (c >> 8) & 0x1F
    b = b & 0x1F
    lane = LANE
    highest = (lane & segment) | (clamp & ~segment)
    if mode == "bfly":
        source = lane ^ b
        inside = source <= highest
    elif mode == "idx":
        source = (lane & segment) | (b & ~segment)
        inside = source <= highest
    elif mode == "up":
        source = lane - b
        inside = source >= highest
    else:
        source = lane + b
        inside = source <= highest
    source = np.where(inside, source, lane).astype(np.int64)
    return values[source], inside


def ballot(active, predicate):
    return np.uint32(int.from_bytes(np.packbits(active & predicate, bitorder="little").tobytes(), "little"))


def match_any(active, values):
    found = np.zeros(WARP, dtype=np.uint32)
    for value in np.unique(values[active]):
        same = active & (values == value)
        found[same] = ballot(same, FULL)
    return found


def rounded(values, mode):
    return {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil, "rzi": np.trunc}[mode](values)


class Warp:
    """One warp's registers and what is the same for all its lanes."""

    def __init__(self, program, number):
        self.space = space = {"np": np, "FULL": FULL, "LANE": LANE, "helpers": HELPERS, "warp": self, **HELPERS}
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
            self.touched.append(("shared", places))
            return [self.shared.view(dtype)[(places + i * size) // size] for i in range(count)]
        places = address[active].astype(np.int64) + offset - self.launch.memory_begin
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
                    self.touched.append(("shared", places))
                self.shared.view(dtype)[places // size] = value[active]
            else:
                places = address[active].astype(np.int64) + offset - self.launch.memory_begin + i * size
                if i == 0:
                    self.touched.append(("store", places >> 5))
                self.launch.memory.view(dtype)[places // size] = value[active]

    def atomic(self, space, operation, address, offset, active, a, b, dtype):
        size = np.dtype(dtype).itemsize
        memory, begin = (self.shared, 0) if space == "shared" else (self.launch.memory, self.launch.memory_begin)
        places = address[active].astype(np.int64) + offset - begin
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


HELPERS = {helper.__name__: helper for helper in
           (popc, clz, bfind_shift, brev, shift_left, shift_right, bit_field_insert, permute_bytes, shuffle, ballot,
            match_any, rounded)}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
               "hs": ">="}
UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<", "equ": "!=", "neu": "=="}  # the opposite, negated
BINARY = {"add": "+", "sub": "-", "xor": "^", "and": "&", "or": "|"}


class Program:
    """A kernel, from the text of its PTX: from .entry to the closing brace."""

    def __init__(self, text, shared):
        """`shared` has the bytes of each array in shared memory of the module."""
        self.name = re.search(r"\.entry\s+(\w+)", text).group(1)
        self.registers, self.symbols, self.local_bytes = {}, {}, 0
        offset = 0
        for name in re.findall(r"\b_ZZ\w+", text):
            if name in shared and name not in self.symbols:
                self.symbols[name] = offset
                offset += (shared[name] + 15) // 16 * 16
        self.shared_bytes = offset
        for name in re.findall(r"\b(_\w+_param_0)\b", text):
            self.symbols[name] = 0
        self.parse(text)
        self.compile()

    def parse(self, text):
        """Instructions, as (line, predicate, operation, operands), and the segment that each label begins."""
        self.instructions, labels, body = [], {}, False
        starts = {0}
        pending = ""
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            if line == "{" and not body:
                body = True
                continue
            if not body or not line or line in "{}":
                continue
            line = line.strip("{} ") if line.startswith("{") and ";" not in line else line
            for count, kind, prefix in [(m[2], m[0], m[1]) for m in re.findall(r"^\.reg \.(\w+) %(\w+)<(\d+)>", line)]:
                bits = 1 if kind == "pred" else int(kind[1:])
                self.registers.update({f"{prefix}{i}": bits for i in range(int(count))})
            if line.startswith(".reg") and "<" not in line:
                kind, name = re.match(r"\.reg \.(\w+) %?(\w+)", line).groups()
                self.registers[name] = int(kind[1:])
            local = re.match(r"\.local .*?(\w+)\[(\d+)\]", line)
            if local:
                self.symbols[local.group(1)], self.local_bytes = 0, int(local.group(2))
            if line.startswith("."):
                continue
            label = re.match(r"(\$\w+):$", line)
            if label:
                labels[label.group(1)] = len(self.instructions)
                starts.add(len(self.instructions))
                continue
            pending += line
            if not pending.endswith(";"):
                continue
            found = re.match(r"(?:@(!?%p\d+)\s+)?([\w.]+)\s*(.*);$", pending)
            pending = ""
            predicate, operation, operands = found.groups()
            here = len(self.instructions)
            self.instructions.append((number, predicate, operation, self.split(operands)))
            if operation.split(".")[0] in SYNCHRONIZING:
                starts.add(here)
            ends_segment = operation.split(".")[0] in ("bra", "ret", "exit", "bar", "barrier")
            if ends_segment and not operation.startswith("bar.warp"):
                starts.add(here + 1)
        starts = sorted(start for start in starts if start < len(self.instructions))
        number_of = {start: i for i, start in enumerate(starts)}
        self.labels = {name: number_of.get(start, END) for name, start in labels.items()}
        self.bounds = list(zip(starts, starts[1:] + [len(self.instructions)]))
        self.segments = len(self.bounds)
        self.segment_of_line = {self.instructions[i][0]: segment
                                for segment, (start, end) in enumerate(self.bounds) for i in range(start, end)}

    @staticmethod
    def split(operands):
        """At the commas outside of braces and brackets."""
        return [part.strip() for part in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,])+", operands)] if operands else []

    def compile(self):
        lines = []
        for segment, (start, end) in enumerate(self.bounds):
            for some in (False, True):
                lines.append(f"def some_{segment}(m, alive):" if some else f"def whole_{segment}():")
                if not some:
                    lines.append("    m = FULL")
                following = segment + 1 if segment + 1 < self.segments else END
                for instruction in self.instructions[start:end]:
                    lines += ["    " + line for line in self.translate(instruction, some, following)]
                if not lines[-1].startswith("    return"):
                    lines.append(f"    return {following}")
        self.code = compile("\n".join(lines), self.name, "exec")

    def value(self, operand, kind):
        """A Python expression for an operand read as that type."""
        if operand.startswith("%"):
            name = operand[1:].replace(".", "_")
            if name in ("tid_x", "ctaid_x", "ntid_x", "nctaid_x", "laneid", "lanemask_lt"):
                return name
            bits = self.registers[name]
            if bits == 1:
                return name
            view = kind if bits == int(kind[1:]) else f"{kind[0]}{bits}"
            return f"{name}_{view}"
        if operand in self.symbols:
            return f"np.uint{64 if kind.endswith('64') else 32}({self.symbols[operand]})"
        if operand.startswith("0f"):
            return f"np.uint32(0x{operand[2:]}).view(np.float32)"
        if operand.startswith("0d"):
            return f"np.uint64(0x{operand[2:]}).view(np.float64)"
        number = int(operand, 0)
        if kind == "pred":
            return str(bool(number))
        bits = int(kind[1:])
        number &= (1 << bits) - 1
        if kind[0] == "s" and number >> (bits - 1):
            number -= 1 << bits
        return f"np.{TYPES[kind].__name__}({number})"

    def assign(self, destination, kind, expression, some, predicate):
        """To a register, which may be wider than the value."""
        name = destination[1:]
        bits = self.registers[name]
        if bits > 1 and int(kind[1:]) != bits:
            sign = "s" if kind[0] == "s" else "u"
            kind = f"{sign}{bits}"
            expression = f"np.asarray({expression}).astype(np.{TYPES[kind].__name__})"
        target = name if bits == 1 else f"{name}_{kind}"
        if not some and predicate is None:
            return [f"{target}[:] = {expression}"]
        mask = "m" if predicate is None else f"m & {predicate}"
        return [f"np.copyto({target}, {expression}, where={mask}, casting='unsafe')"]

    def address(self, operand):
        base, _, offset = operand.strip("[]").partition("+")
        return base, int(offset or 0)

    def translate(self, instruction, some, following):
        line, predicate, operation, operands = instruction
        if predicate is not None:
            predicate = f"~{predicate[2:]}" if predicate.startswith("!") else predicate[1:]
        parts = operation.split(".")
        head, kind = parts[0], parts[-1]
        put = lambda expression, kind=kind, to=None: self.assign(to or operands[0], kind, expression, some, predicate)
        get = lambda i, kind=kind: self.value(operands[i], kind)
        active = "m" if predicate is None else f"(m & {predicate})"

        if head in ("bra", "ret", "exit"):
            target = END if head != "bra" else self.labels[operands[0]]
            if predicate is None:
                return [f"return {target}"]
            if some:
                return [f"return np.where({predicate}, {target}, {following})"]
            return [f"p = {predicate}", f"return {target} if p.all() else {following} if not p.any() else "
                    f"np.where(p, {target}, {following})"]
        if operation.startswith("bar.warp"):
            return ["if not (m == alive).all(): return None"] if some else []
        if head in ("bar", "barrier"):
            return (["if not (m == alive).all(): return None"] if some else []) + [f"return {BARRIER}"]
        if head in SYNCHRONIZING:
            mask = operands[-1]
            wait = []
            if some:
                mask_value = self.value(mask, "u32")
                wait = [f"wanted = np.broadcast_to({mask_value}, 32)[np.argmax(m)]",
                        "wanted = ((int(wanted) >> LANE) & 1).astype(bool) & alive",
                        "if (wanted & ~m).any(): return None"]
            if head == "shfl":
                destination, _, inside = operands[0].partition("|")
                lines = [f"v, inside = shuffle('{parts[2]}', {get(1)}, np.asarray({get(2, 'u32')}).astype(np.int64), "
                         f"np.asarray({get(3, 'u32')}).astype(np.int64))"]
                lines += put("v", to=destination)
                return wait + lines + (put("inside", "pred", inside) if inside else [])
            if operation == "vote.sync.ballot.b32":
                return wait + put(f"ballot(m, {get(1, 'pred')})")
            if head == "vote":
                test = {"any": f"(m & {get(1, 'pred')}).any()", "all": f"({get(1, 'pred')} | ~m).all()"}[parts[2]]
                return wait + put(test, "pred")
            if head == "match":
                return wait + put(f"match_any(m, {get(1)})", "b32")
            if head == "redux":
                reduce = {"add": "sum", "min": "min", "max": "max"}[parts[2]]
                return wait + put(f"np.{TYPES[kind].__name__}({get(1)}[m].{reduce}())")
        if head in ("ld", "st", "atom", "red"):
            return self.access(line, head, parts, operands, some, predicate, active)
        if head == "mov":
            if operands[0].startswith("{"):
                low, high = [part.strip() for part in operands[0].strip("{}").split(",")]
                half = int(kind[1:]) // 2
                wide = get(1)
                return (self.assign(low, f"u{half}", f"{wide}.astype(np.uint{half})", some, predicate) +
                        self.assign(high, f"u{half}", f"({wide} >> np.uint{kind[1:]}({half})).astype(np.uint{half})", some,
                                    predicate))
            if operands[1].startswith("{"):
                low, high = [self.value(part.strip(), f"u{int(kind[1:]) // 2}") for part in operands[1].strip("{}").split(",")]
                wide = f"np.uint{kind[1:]}"
                return put(f"np.asarray({low}).astype({wide}) | (np.asarray({high}).astype({wide}) << "
                           f"{wide}({int(kind[1:]) // 2}))")
            return put(get(1))
        if head == "cvta":
            space = parts[1] if parts[1] != "to" else None
            tag = {"param": PARAM, "local": LOCAL}.get(space, 0)
            return put(f"{get(1)} + np.uint64({tag})" if tag else get(1))
        if head == "setp":
            comparison, kind = parts[1], parts[-1]
            a, b = get(1, kind), get(2, kind)
            if comparison in UNORDERED:
                return put(f"~({a} {UNORDERED[comparison]} {b})" if comparison != "neu" else f"~({a} == {b})", "pred")
            return put(f"{a} {COMPARISONS[comparison]} {b}", "pred")
        if head == "selp":
            return put(f"np.where({get(3, 'pred')}, {get(1)}, {get(2)})")
        if head in ("add", "sub", "and", "or", "xor"):
            return put(f"{get(1)} {BINARY[head]} {get(2)}")
        if head == "not":
            return put(f"~{get(1)}")
        if head == "neg":
            return put(f"-{get(1)}" if kind[0] == "f" else f"{self.value('0', kind)} - {get(1)}")
        if head == "abs":
            return put(f"np.abs({get(1)})")
        if head == "copysign":
            return put(f"np.copysign({get(2)}, {get(1)})")
        if head in ("min", "max"):
            float_or = {"min": "fmin", "max": "fmax"} if kind[0] == "f" else {"min": "minimum", "max": "maximum"}
            return put(f"np.{float_or[head]}({get(1)}, {get(2)})")
        if head in ("mul", "mad"):
            if "wide" in parts:
                wide = f"{kind[0]}{2 * int(kind[1:])}"
                type_name = f"np.{TYPES[wide].__name__}"
                expression = f"np.asarray({get(1)}).astype({type_name}) * np.asarray({get(2)}).astype({type_name})"
                return put(expression + (f" + {get(3, wide)}" if head == "mad" else ""), wide)
            if "hi" in parts:
                if kind not in ("u32", "s32"):
                    raise Unsupported(operation)
                wide = "np.int64" if kind == "s32" else "np.uint64"
                return put(f"((np.asarray({get(1)}).astype({wide}) * np.asarray({get(2)}).astype({wide})) >> {wide}(32))"
                           f".astype(np.{TYPES[kind].__name__})")
            return put(f"{get(1)} * {get(2)}" + (f" + {get(3)}" if head == "mad" else ""))
        if head == "fma":
            if kind == "f32":
                return put(f"(np.asarray({get(1)}).astype(np.float64) * {get(2)} + {get(3)}).astype(np.float32)")
            return put(f"{get(1)} * {get(2)} + {get(3)}")
        if head == "div":
            if kind[0] == "f":
                return put(f"{get(1)} / {get(2)}")
            return put(f"np.where({get(2)} == 0, 0, np.trunc(np.asarray({get(1)}).astype(np.float64) / {get(2)}))"
                       f".astype(np.{TYPES[kind].__name__})" if kind in ("u32", "s32") else f"{get(1)} // {get(2)}")
        if head == "rem":
            return put(f"np.fmod({get(1)}, {get(2)})")
        if head in ("sqrt", "ex2", "lg2"):
            return put(f"np.{ {'sqrt': 'sqrt', 'ex2': 'exp2', 'lg2': 'log2'}[head]}({get(1)})")
        if head in ("rcp", "rsqrt"):
            return put(f"1 / {get(1)}" if head == "rcp" else f"1 / np.sqrt({get(1)})")
        if head == "shl":
            return put(f"shift_left(np.broadcast_to({get(1)}, 32), {get(2, 'u32')})")
        if head == "shr":
            return put(f"shift_right(np.broadcast_to({get(1)}, 32), {get(2, 'u32')})")
        if head == "shf":
            wide = f"((np.asarray({get(2, 'u32')}).astype(np.uint64) << np.uint64(32)) | {get(1, 'u32')})"
            count = f"(np.asarray({get(3, 'u32')}).astype(np.uint64) & np.uint64(31))"
            shifted = f"({wide} << {count}) >> np.uint64(32)" if parts[1] == "l" else f"{wide} >> {count}"
            return put(f"({shifted}).astype(np.uint32)")
        if operation == "prmt.b32":
            return put(f"permute_bytes({get(1)}, {get(2)}, {get(3)})")
        if head in ("popc", "clz", "brev"):
            return put(f"{head}({get(1)})", "b32" if head != "brev" else kind)
        if head == "bfind":
            if "shiftamt" not in parts:
                raise Unsupported(operation)
            return put(f"bfind_shift({get(1)})", "u32")
        if head == "bfi":
            return put(f"bit_field_insert(np.broadcast_to({get(1)}, 32), np.broadcast_to({get(2)}, 32), {get(3, 'u32')}, "
                       f"{get(4, 'u32')})")
        if head == "cvt":
            source, to = parts[-1], parts[-2]
            expression = get(1, source)
            if self.registers.get(operands[1][1:], 0) != int(source[1:]):  # of a wider register, the lower part
                expression = f"np.asarray({expression}).astype(np.{TYPES[source].__name__})"
            mode = next((part for part in parts if part in ("rni", "rmi", "rpi", "rzi")), None)
            if source[0] == "f" and mode:
                expression = f"rounded({expression}, '{mode}')"
            return put(f"np.asarray({expression}).astype(np.{TYPES[to].__name__})", to)
        raise Unsupported(f"{operation} in {self.name}")

    def access(self, line, head, parts, operands, some, predicate, active):
        kind = parts[-1]
        space = next((part for part in parts if part in ("global", "shared", "param", "local")), "generic")
        where = operands[0] if head in ("st", "red") else operands[1]
        base, offset = self.address(where)
        if base in self.symbols:
            address = f"np.full(32, {self.symbols[base]}, dtype=np.uint64)"
        else:
            address = self.value(base, f"u{self.registers[base[1:]]}")
        dtype = f"np.{TYPES[kind].__name__}"
        guard = [] if not predicate else [f"if {active}.any():"]
        indent = "    " if guard else ""
        if head == "ld":
            destinations = [part.strip() for part in operands[0].strip("{}").split(",")]
            if space == "param" and base in self.symbols and not predicate:
                size = np.dtype(TYPES[kind]).itemsize
                lines = []
                for i, destination in enumerate(destinations):
                    if destination != "_":
                        at = offset + i * size
                        lines += self.assign(destination, kind, f"warp.job[{at}:{at + size}].view({dtype})[0]", some, None)
                return lines
            lines = [f"{indent}v = warp.load('{space}', {address}, {offset}, {active}, {dtype}, {len(destinations)})"]
            for i, destination in enumerate(destinations):
                if destination == "_":
                    continue
                bits = self.registers[destination[1:]]
                wide = kind if int(kind[1:]) == bits else f"{'s' if kind[0] == 's' else 'u'}{bits}"
                lines.append(f"{indent}{destination[1:]}_{wide}[{active}] = v[{i}]")
            return guard + lines
        if head == "st":
            sources = [part.strip() for part in operands[1].strip("{}").split(",")]
            values = ", ".join(f"np.broadcast_to(np.asarray({self.value(source, kind)}).astype({dtype}), 32)"
                               for source in sources)
            return guard + [f"{indent}warp.store('{space}', {address}, {offset}, {active}, [{values}])"]
        first = 1 if head == "red" else 2
        operation = parts[-2]
        a = f"np.broadcast_to({self.value(operands[first], kind)}, 32)"
        b = f"np.broadcast_to({self.value(operands[first + 1], kind)}, 32)" if operation == "cas" else "None"
        lines = guard + [f"{indent}v = warp.atomic('{space}', '{operation}', {address}, {offset}, {active}, {a}, {b}, {dtype})"]
        if head == "atom" and operands[0] != "_":
            lines += [indent + text for text in self.assign(operands[0], kind, "v", True, predicate)]
        return lines


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


def parse_module(text):
    """({name: text of an entry}, {name: bytes of a shared array}) of a PTX module."""
    entries = {match.group(1): match.group(0) for match in
               re.finditer(r"^(?:\.\w+ )*\.entry (\w+)\(.*?^\}", text, re.MULTILINE | re.DOTALL)}
    shared = {name: int(size) for name, size in re.findall(r"^\.shared .*? (\w+)\[(\d+)\];", text, re.MULTILINE)}
    return entries, shared
