#!/usr/bin/env python3
"""What the library's calls cost at least on an H100 and an H200, from counts and without a GPU: a model, never a
measured speed.

  cmake --build build/dev --target record_launches && cmake --build build/cuda --target gpu_kernels
  bench/gpu_cost.py [--rows PATTERN] [--json bench/models/gpu_cost.json]

Rows in dimensions that the library of kernels lacks are left out: the preset cuda builds three dimensions, another
build folder with KITH_DIMS='3;4;6' has others (--library).

Counted. record_launches calls the library on the emulated GPU with a sample of the points and keeps the device's
memory before the largest launch of each kernel; of the spanning tree, whose rounds differ, before every launch. On that
memory an interpreter (tools/ptx_interpreter.py) runs sampled blocks of the kernel's PTX, as nvcc made it, and counts
how often each instruction of PTX is executed by a warp. ptxas assembles the same PTX with its lines as debug
information, so that each instruction of the machine code is known by the line it came from. A basic block of machine
code is executed as often as the median of its lines, divided by the copies that ptxas made of it.

Modeled. All counts grow with the number of points, but for those of CLOVER's pairs of cells; the launches and waits are
those of the sample, but for the levels of k-d trees, which are as many as there will be. A stage takes as
long as the busiest of: issue slots; the pipes of half rate (comparison, minimum, selection, logic, integers), of
fused multiply-adds, of quarter rate (roots, conversions, bit counts) and of float64; shared memory and shuffles; the
L2 cache, to which every sector of 32 bytes goes once a block; DRAM, to which every sector goes once a launch. A
launch takes at least LAUNCH seconds and a wait of the host WAIT. CUB's sorts, selections and sums take their bytes at
DRAM's rate; what is copied from or to the host takes its own at that of the link, after everything else.

Left out, so that this is a lower bound: latency that too few warps hide, bank conflicts, uneven blocks, instructions
that are issued for no lane, misses of the instruction cache, and kernels that call functions (a single thread's,
named below).

Modeled beside that, and no lower bound: the latency of kernels in LATENCY, whose warps wait for each result, so that
resident warps decide how many instructions are issued; and the time of a host that launches, fills and takes memory
while the device works, and waits. Between two waits the slower of both counts. bench/models/gpu_cost.md has both
models beside measured times.
"""

import argparse
import collections
import dataclasses
import functools
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "gpu_kernels")]
import ptx_interpreter  # noqa: E402
import ptx_program  # noqa: E402
import check  # noqa: E402

SECTOR = 32  # bytes
LAUNCH = 1.5e-6  # seconds between kernels that follow each other on a stream
WAIT = 6e-6      # seconds from the end of a kernel until the next one that a host which waited has launched
LINK = 55e9      # bytes a second between the host and a GPU, in memory that is pinned (PCI Express 5.0, 16 lanes)
BITS_OF_PASS = 8 # of a radix sort

# Cycles from one instruction of a warp to its next: pattern of the kernel's name. From the machine code's control words,
# with loads that the L2 cache answers in 270 cycles; not fitted to measured times.
LATENCY = (
    # A leaf of 20.4 rows: 23.7 batches of 32 points at 540 cycles, 6.5 of nodes at 650, 26 columns of 8 candidates at
    # 451, sorting and merging 1,700, rows and the rest 8,000; all of it 1.1 times; some 7,900 instructions. Of lists of
    # 16; the others are taken to be alike.
    (r"^search_leaves_kernel<", 1.1 * (23.7 * 540 + 6.5 * 650 + 26 * 451 + 1700 + 8000) / 7900),
    (r"^link_leaves_kernel<", 12),  # chains of parents, each a load
)
# Seconds of the host, estimated before anything was measured: a kernel or a fill; taking memory of the pool or giving it
# back; a wait with the copy that it is for, of memory that is not pinned.
HOST_LAUNCH = 2.5e-6
HOST_TAKE = 0.65e-6
HOST_WAIT = 15e-6

MOST_SEGMENTS = 60_000  # that the interpreter runs of a kernel
MAX_FEW = 2**17  # points (src/neighbors/search_few.hpp)


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Rates are warp instructions a cycle of a multiprocessor (CUDA C++ Programming Guide, compute capability 9.0)."""
    dram: float                # bytes a second
    l2: float = 5.5e12         # bytes a second
    multiprocessors: int = 132
    clock: float = 1.7e9       # Hz
    rates = {"issue slots": 4, "half rate": 2, "multiply-add": 4, "quarter rate": 0.5, "float64": 2,
             "shared memory and shuffles": 1}


# What a multiprocessor of compute capability 9.0 has for warps and blocks.
REGISTERS, SHARED_BYTES, WARPS, BLOCKS = 65536, 228 * 1024, 64, 32
SHARED_BYTES_OF_BLOCK = 1024  # that the driver takes

GPUS = {"h100": Gpu(3.35e12), "h200": Gpu(4.8e12)}

PIPES = (  # of machine instructions, by the first match; all others take an issue slot only
    ("multiply-add", r"FADD|FMUL|FFMA|IMAD"),
    ("float64", r"DADD|DMUL|DFMA|DSETP|DMNMX"),
    ("quarter rate", r"MUFU|I2F|F2I|F2F|FRND|POPC|FLO|BREV"),
    ("shared memory and shuffles", r"LDS|STS|SHFL|ATOMS|LDG|STG|LD$|ST$|LDL|STL|ATOM|RED$|MATCH"),
    ("half rate", r"ISETP|FSETP|FSEL|SEL|FMNMX|IMNMX|VIMNMX|LOP3|SHF|IADD|LEA|VIADD|PRMT|PLOP3|VOTE$|MOV$|SGXT|BMSK|IABS|FCHK|"
                  r"P2R|R2P"),
)

# What one operation of PTX becomes one instruction of: from these, the copies of a block are counted.
SINGLE = {"shfl": "SHFL", "vote": "VOTE", "atom": "ATOM", "bar": "BAR|WARPSYNC", "ld.global": "LDG", "st.global": "STG",
          "ld.shared": "LDS", "st.shared": "STS"}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    points: int
    call: str
    parameter: float
    kind: str = "uniform"
    dimension: int = 3
    dtype: str = "f32"

    @property
    def words(self):
        """For record_launches. A sample goes the way that all points go."""
        if self.call == "tree" and self.points > MAX_FEW:
            return ["many"]
        return ["periodic"] if self.call in ("fof", "catalog") else []

    @property
    def sample(self):
        """Points that are looked at: all of them over a power of two, so that cells, which halve, hold as many."""
        most = 2**15 if self.dimension < 6 else 2**14
        return self.points // 2**max(0, math.ceil(math.log2(self.points / most)))


ROWS = [
    *(Row(f"uniform {name} k 16", n, "tree", 16)
      for name, n in (("1e4", 10**4), ("1e5", 10**5), ("1e6", 10**6), ("1e7", 10**7))),
    *(Row(f"uniform 1e7 k {k}", 10**7, "tree", k) for k in (8, 32, 64)),
    Row("clustered 256^3 k 16", 256**3, "tree", 16, "clustered"),
    Row("labels 512^3 b 0.2", 512**3, "fof", 0.2, "clustered"),
    Row("labels and catalog 512^3 b 0.2", 512**3, "catalog", 0.2, "clustered"),
    Row("uniform 1e7 k 16 float64", 10**7, "tree", 16, dtype="f64"),
    Row("uniform 1e7 6-D k 16", 10**7, "tree", 16, dimension=6),
    Row("uniform 1e7 counts within a radius, 30 each", 10**7, "radius", 30),
    Row("clustered 256^3 DBSCAN", 256**3, "dbscan", 1, "clustered"),
    Row("uniform 1e6 spanning tree", 10**6, "spanning_tree", 0),
    # The calls of gpu_counts.py.
    Row("uniform 1e7 groups in phase space", 10**7, "phase", 1, dimension=6),
    Row("uniform 1e6 cells of CLOVER, H 1024", 10**6, "cells", 1024),
    Row("uniform 1e7 float4 k-d tree", 10**7, "order", 0, dimension=4),
]
LEVEL_OF_KD_TREE = ("split axes", "keys of points", "radix sort", "splitting points", "smallest indices")


def run(command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def machine_code(name, entry, module, tools, folder):
    """[(opcode, line of PTX)] in basic blocks, of a kernel assembled alone. What BRA.DIV leads to is left out: the same
    operations once more, for warps that are split where a warp operation needs all."""
    text = [re.search(r"^\.version .*$", module, re.MULTILINE).group(0),
            re.search(r"^\.target .*$", module, re.MULTILINE).group(0), ".address_size 64"]
    text += [line for line in module.splitlines() if line.startswith(".shared") and
             re.search(r"(\w+)\[\d+\];$", line).group(1) in entry]
    in_body = False
    for number, line in enumerate(entry.splitlines(), 1):
        in_body = in_body or line.strip() == "{"
        if in_body and re.match(r"(@!?%p\d+ )?[a-z]", line.strip()):
            text.append(f".loc 1 {number} 1")
        text.append(line)
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text("\n".join([*text, '.file 1 "kernel.ptx"', ""]))
    target = re.search(r"^\.target (\w+)", module, re.MULTILINE).group(1)
    run([tools["ptxas"], f"-arch={target}", "-O3", "-fmad=false", "-lineinfo", source, "-o", cubin])
    disassembly = run([tools["nvdisasm"], "-c", "--print-line-info", cubin])
    for_split_warps = set(re.findall(r"BRA\.DIV .*`\((\.L_x_\d+)\)", disassembly))
    blocks, line, is_for_split_warps = [[]], None, False
    for text_line in disassembly.splitlines():
        place = re.search(r'//## File "kernel.ptx", line (\d+)', text_line)
        label = re.match(r"(\.L_x_\d+):", text_line)
        code = re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P[\dT]+ )?([A-Z][A-Z0-9_]*)", text_line)
        if place:
            line = int(place.group(1))
        elif label:
            is_for_split_warps = is_for_split_warps or label.group(1) in for_split_warps
            blocks.append([])
        elif code and code.group(2) != "NOP":
            predicate, opcode = code.groups()
            if not is_for_split_warps:
                blocks[-1].append((opcode, line))
            if opcode in ("BRA", "EXIT", "RET", "BRX", "CALL", "BREAK"):
                blocks.append([])
                is_for_split_warps = is_for_split_warps and predicate is not None
    return [block for block in blocks if block]


def executed(blocks, program, counts):
    """Counter of executed machine instructions by opcode."""
    of_line = {line: counts[segment] for line, segment in program.segment_of_line.items()}
    single = {line: SINGLE[start] for line, _, operation, _ in program.instructions for start in SINGLE
              if f"{operation}.".startswith(f"{start}.") and not operation.startswith("bar.warp")}
    copies = collections.Counter(line for block in blocks for opcode, line in block
                                 if line in single and re.match(single[line], opcode))
    total = collections.Counter()
    for block in blocks:
        known = [of_line[line] for _, line in block if line in of_line]
        if not known:
            continue
        copies_of_block = statistics.median([copies[line] for opcode, line in block if copies[line] and
                                             re.match(single[line], opcode)] or [1])
        for opcode, _ in block:
            total[opcode] += statistics.median(known) / copies_of_block
    return total


def sampled_blocks(count, kind):
    """Of uniform points: blocks in the middle, where the first and the last octant of the z-order meet, so that the
    large surface of a sample does not count. Of others: in random order."""
    if count < 32:
        return list(range(count))
    if kind == "uniform":
        pairs = zip(range(count // 8 - 1, -1, -1), range(7 * count // 8, count))
        return [block for pair in pairs for block in pair]
    return [int(i) for i in numpy.random.default_rng(1).permutation(count)]


TABLE = ROOT / "tests/gpu_kernels/kernels.tsv"


class Missing(Exception):
    """A kernel that was not compiled."""


class Library:
    """The compiled kernels."""

    def __init__(self, library, tools, folder):
        self.tools, self.folder = tools, folder
        self.entries, self.programs, self.code = {}, {}, {}
        self.resources, _ = check.read_table(TABLE.read_text())  # of kernels, by their short names
        for module in run([tools["cuobjdump"], "--dump-ptx", library]).split("Fatbin ptx code:")[1:]:
            entries, shared = ptx_program.parse_module(module)
            for name, entry in entries.items():
                self.entries.setdefault(name, (entry, shared, module))

    def program(self, name):
        """A kernel for the interpreter."""
        if name not in self.entries:
            raise Missing(name)
        if name not in self.programs:
            entry, shared, _ = self.entries[name]
            self.programs[name] = ptx_program.Program(entry, shared)
        return self.programs[name]

    def kernel(self, name):
        """(program for the interpreter, machine code in blocks)."""
        program = self.program(name)
        if name not in self.code:
            entry, _, module = self.entries[name]
            self.code[name] = machine_code(name, entry, module, self.tools, self.folder)
        return program, self.code[name]


def functions_of(program):
    """{address in record_launches: name of the function, as nvcc has it if it is a kernel}."""
    names = (line.split() for line in run(["nm", program]).splitlines() if line.count(" ") == 2)
    return {int(address, 16): name.replace("12emulated_gpu", "3gpu") for address, kind, name in names if kind in "tTwW"}


def memory_of(path):
    """The device's memory, with room for what begins at its end."""
    memory = numpy.fromfile(path, dtype=numpy.uint8)
    return numpy.concatenate([memory, numpy.zeros(-memory.size % 8 + 4096, dtype=numpy.uint8)])


def launched(launch, memory, begin, held=None):
    """A recorded launch for the interpreter."""
    job = numpy.frombuffer(bytes.fromhex(launch["job"]), numpy.uint8)
    return ptx_interpreter.Launch(launch["blocks"], launch["threads"], job, memory, begin, held)


def unique_sectors(accesses, kinds):
    places = [place for kind, place in accesses if kind in kinds]
    return numpy.unique(numpy.concatenate(places)) if places else numpy.empty(0, dtype=numpy.int64)


def cost_of_kernel(library, symbol, launch, memory, begin, kind):
    """What one block does on average: Counter of opcodes, bytes from and to the L2 cache and DRAM."""
    program, code = library.kernel(symbol)
    machine = ptx_interpreter.Machine(program, launched(launch, memory, begin))
    for block in sampled_blocks(launch["blocks"], kind):
        machine.run(block)
        if machine.counts.sum() > MOST_SEGMENTS:
            break
    ran = len(machine.accesses)
    opcodes = collections.Counter({opcode: count / ran
                                   for opcode, count in executed(code, program, machine.counts).items()})
    l2 = sum(unique_sectors(accesses, kinds).size for accesses in machine.accesses
             for kinds in (("load",), ("store", "atomic"))) * SECTOR / ran
    dram = 0
    everything = [access for accesses in machine.accesses for access in accesses]
    for kinds in (("load",), ("store", "atomic")):
        sectors = unique_sectors(everything, kinds)
        for start, size in launch["pieces"]:
            inside = numpy.count_nonzero((sectors >= start // SECTOR) & (sectors <= (start + size) // SECTOR))
            dram += min(inside * SECTOR * launch["blocks"] / ran, size)
    return opcodes, l2, dram / launch["blocks"]


@dataclasses.dataclass
class Stage:
    launches: int = 0
    opcodes: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    l2: float = 0
    dram: float = 0
    latency: float = 0  # cycles that warps take which wait for each result

    def add(self, other):
        self.launches += other.launches
        self.opcodes.update(other.opcodes)
        self.l2 += other.l2
        self.dram += other.dram
        self.latency += other.latency

    def loads(self, gpu):
        """{resource: seconds}."""
        of_pipe = collections.Counter()
        for opcode, count in self.opcodes.items():
            of_pipe["issue slots"] += count
            pipe = next((pipe for pipe, pattern in PIPES if re.match(pattern, opcode)), None)
            if pipe:
                of_pipe[pipe] += count
        cycles = gpu.multiprocessors * gpu.clock
        loads = {pipe: count / gpu.rates[pipe] / cycles for pipe, count in of_pipe.items()}
        return loads | {"L2": self.l2 / gpu.l2, "DRAM": self.dram / gpu.dram, "launches": self.launches * LAUNCH}

    def seconds(self, gpu):
        loads = self.loads(gpu)
        limiter = max(loads, key=loads.get)
        return loads[limiter], limiter

    def seconds_with_latency(self, gpu):
        return max(self.seconds(gpu)[0], self.latency / gpu.clock)


def resident_warps(kernel, warps):
    """Of a multiprocessor, for a kernel (check.Kernel) with blocks of so many warps."""
    registers = -(-kernel.registers // 8) * 8 * 32 * warps
    shared = kernel.shared + SHARED_BYTES_OF_BLOCK
    return min(REGISTERS // registers, SHARED_BYTES // shared, WARPS // warps, BLOCKS) * warps


def latency_of(kernel, resources, instructions, warps, warps_of_block):
    """Cycles of a kernel, by its short name, whose warps wait for each result; 0 if they are not known to, or what the
    kernel uses is not in the table. Some warps are resident at a time; one is not faster for being alone."""
    cycles = next((cycles for pattern, cycles in LATENCY if re.search(pattern, kernel)), 0)
    if cycles == 0 or warps == 0 or resources is None:
        return 0
    at_a_time = resident_warps(resources, warps_of_block) * Gpu.multiprocessors
    return instructions / warps * cycles * max(1, warps / at_a_time)


@dataclasses.dataclass
class Asked:
    """What a call asked of the runtime, up to some moment."""
    waits: int
    takes: int
    fills: int

    @staticmethod
    def of(record):
        return Asked(record["waits"], record["takes"], record["fills"])


def seconds_with_host(launches, asked, gpu):
    """Of a call: launches are (what was asked before, Stage), and so much was asked in all."""
    host, device = collections.Counter(), collections.Counter()
    so_far = Asked(0, 0, 0)
    for before, stage in [*launches, (asked, Stage())]:
        host[before.waits] += HOST_TAKE * 2 * (before.takes - so_far.takes)
        host[before.waits] += HOST_LAUNCH * (before.fills - so_far.fills + stage.launches)
        device[before.waits] += stage.seconds_with_latency(gpu)
        so_far = before
    return sum(max(host[between], device[between]) for between in host) + asked.waits * HOST_WAIT


def points_of(row):
    if row.kind == "uniform":
        return numpy.random.default_rng(1).random((row.sample, row.dimension), dtype=f"f{int(row.dtype[1:]) // 8}")
    sys.path.insert(0, str(ROOT / "bench"))
    import point_sets
    return point_sets.make(row.kind, row.sample, row.dimension, f"f{int(row.dtype[1:]) // 8}").points


def with_all_levels(row, launches, growth):
    """(number, launch) of a sample; of a k-d tree also those of deeper levels, which are like the last one."""
    numbered = list(enumerate(launches))
    if row.call != "order":
        return numbered
    last = {launch["name"]: (number, launch) for number, launch in numbered}
    return numbered + [(last[name][0], last[name][1] | {"key_bits": last[name][1].get("key_bits", 0) + deeper})
                       for deeper in range(1, round(math.log2(growth)) + 1) for name in LEVEL_OF_KD_TREE]


def growth_of(row, launch, growth):
    """From the sample to all points. Pairs of CLOVER's cells are as many as they will be."""
    items = launch["blocks"] * launch["threads"] if "symbol" in launch else launch["elements"]
    return 1 if row.call == "cells" and items >= row.parameter**2 else growth


def passes_of(row, launch, growth):
    """How often CUB goes over its elements at all the row's points. Keys of 32 bits number runs, of which there are more
    then, or CLOVER's cells."""
    bits = launch["key_bits"]
    if bits and launch["element_bytes"] == 8 and row.call != "cells":
        bits = min(32, bits + math.log2(growth))
    return max(1, math.ceil(bits / BITS_OF_PASS))


def cost_of_row(row, library, program, folder):
    """([name of the stage, what was asked before, Stage] of each launch, for all points of the row, what was asked in
    all, bytes copied from or to the host, scratch bytes a point, what is not counted)."""
    points = folder / f"points.{row.dimension}.{row.dtype}"
    points_of(row).tofile(points)
    for old in folder.glob("*.memory"):
        old.unlink()
    multiprocessors = max(1, round(GPUS["h100"].multiprocessors * row.sample / row.points))
    run([program, folder, points, row.call, row.parameter, multiprocessors, *row.words])
    record = json.loads((folder / "launches.json").read_text())
    symbols = functions_of(program)
    growth = row.points / record["points"]
    of_launch, of_symbol, not_counted = {}, {}, {}
    for number, launch in enumerate(record["launches"]):
        if launch.get("saved"):
            symbol = symbols[launch["symbol"]]
            memory = memory_of(folder / f"{number}.memory")
            try:
                of_launch[number] = cost_of_kernel(library, symbol, launch, memory, record["device_begin"], row.kind)
                of_symbol[launch["symbol"]] = of_launch[number]
            except ptx_program.Unsupported as error:
                not_counted[launch["symbol"]] = f"{launch['name']}: {error}"
    launches, short = [], functools.cache(lambda symbol: check.short_name(check.demangle([symbol])[symbol]))
    for number, launch in with_all_levels(row, record["launches"], growth):
        stage = Stage(launches=1)
        launches.append((launch["name"], Asked.of(launch), stage))
        growth_here = growth_of(row, launch, growth)
        if "symbol" not in launch:
            passes = passes_of(row, launch, growth)
            stage.launches = passes + 1
            stage.l2 = stage.dram = launch["elements"] * launch["element_bytes"] * 2 * passes * growth_here
        elif launch["symbol"] in of_symbol:
            opcodes, l2, dram = of_launch.get(number, of_symbol[launch["symbol"]])
            blocks = launch["blocks"] * growth_here
            stage.opcodes.update({opcode: count * blocks for opcode, count in opcodes.items()})
            stage.l2, stage.dram = l2 * blocks, dram * blocks
            warps_of_block = launch["threads"] // 32
            kernel = short(symbols[launch["symbol"]])
            stage.latency = latency_of(kernel, library.resources.get(kernel), sum(stage.opcodes.values()),
                                       blocks * warps_of_block, warps_of_block)
    return (launches, Asked.of(record), record["host_bytes"] * growth, record["held_bytes"] / record["points"],
            sorted(not_counted.values()))


def report(row, launches, asked, host_bytes, scratch, not_counted):
    """The row as JSON, printed as a table."""
    stages = collections.defaultdict(Stage)
    for name, _, stage in launches:
        stages[name].add(stage)
    searches = sum(sum(stage.opcodes.values()) for name, stage in stages.items() if name.startswith("search "))
    found = {"row": row.name, "instructions_per_query": round(searches / row.points, 1),
             "milliseconds": {}, "milliseconds_with_latency_and_host": {},
             "bytes_per_point": round(sum(stage.dram for stage in stages.values()) / row.points, 1),
             "launches": sum(stage.launches for stage in stages.values()), "waits": asked.waits,
             "takes": asked.takes, "fills": asked.fills,
             "host_bytes_per_point": round(host_bytes / row.points, 1),
             "held_bytes_per_point": round(scratch, 1), "sample": row.sample, "stages": []}
    for gpu_name, gpu in GPUS.items():
        total = sum(stage.seconds(gpu)[0] for stage in stages.values()) + asked.waits * WAIT + host_bytes / LINK
        found["milliseconds"][gpu_name] = round(float(total) * 1e3, 3)
        total = seconds_with_host([launch[1:] for launch in launches], asked, gpu) + host_bytes / LINK
        found["milliseconds_with_latency_and_host"][gpu_name] = round(float(total) * 1e3, 3)
    print(f"\n{row.name}: at least {found['milliseconds']['h100']} ms on an H100, {found['milliseconds']['h200']} on an H200;"
          f" with latency and host {found['milliseconds_with_latency_and_host']};"
          f" {found['launches']} launches, {asked.waits} waits, {found['bytes_per_point']} bytes of DRAM a point,"
          f" {found['host_bytes_per_point']} of the link to the host,"
          f" searches {found['instructions_per_query']} warp instructions a query")
    print(f"  {'stage':24s}{'launches':>9s}{'instr/point':>12s}{'L2 B/point':>11s}{'DRAM B':>8s}{'H100 ms':>9s}  limited by")
    for name, stage in stages.items():
        seconds, limiter = stage.seconds(GPUS["h100"])
        instructions = sum(stage.opcodes.values()) / row.points
        loads = {resource: round(value * 1e3, 4) for resource, value in stage.loads(GPUS["h100"]).items()}
        found["stages"].append({"stage": name, "launches": stage.launches, "instructions_per_point": round(instructions, 2),
                                "l2_bytes_per_point": round(stage.l2 / row.points, 1),
                                "dram_bytes_per_point": round(stage.dram / row.points, 1),
                                "h100_milliseconds": loads, "limited_by": limiter,
                                "h100_latency_milliseconds": round(stage.latency / GPUS["h100"].clock * 1e3, 4)})
        print(f"  {name:24s}{stage.launches:9d}{instructions:12.2f}{stage.l2 / row.points:11.1f}"
              f"{stage.dram / row.points:8.1f}{seconds * 1e3:9.3f}  {limiter}")
    for what in not_counted:
        print(f"  not counted: {what}")
    found["not_counted"] = not_counted
    return found


def renew(path, found):
    """Puts a row in its place among those of a file."""
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    by_name = {row["row"]: row for row in [*rows, found]}
    what = "a model (bench/gpu_cost.py), not measured: milliseconds are lower bounds, those with latency and host are not"
    path.write_text(json.dumps({"what": what, "rows": [by_name[row.name] for row in ROWS if row.name in by_name]},
                               indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", help="regular expression; all rows without it")
    parser.add_argument("--json", type=pathlib.Path, help="a file in which these rows are renewed")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build/cuda/tests/gpu_kernels/libgpu_kernels.a")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/dev/bin/record_launches")
    options = parser.parse_args()
    tools = {name: check.find_tool(name) for name in ("ptxas", "cuobjdump", "nvdisasm")}
    missing = [name for name, path in tools.items() if path is None]
    if missing:
        sys.exit(f"gpu_cost.py: {', '.join(missing)} not found: put CUDA's toolkit on the path, or let "
                 "scripts/python-environment.sh install what it lacks")
    for path, target in ((options.library, "gpu_kernels of the preset cuda"), (options.program, "record_launches of the preset dev")):
        if not path.exists():
            sys.exit(f"gpu_cost.py: {path} is not there: build the target {target}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = Library(options.library, tools, folder)
        for row in ROWS:
            if re.search(options.rows, row.name):
                try:
                    found = report(row, *cost_of_row(row, library, options.program, folder))
                except Missing as kernel:
                    print(f"\n{row.name}: left out, as {options.library} lacks {kernel}")
                    continue
                if options.json:
                    renew(options.json, found)


if __name__ == "__main__":
    main()
