#!/usr/bin/env python3
"""Whether the compiled GPU kernels write what the emulated GPU writes, found without a GPU.

  compiled_results.py LIBRARY PROGRAM

The emulator runs kernels as the host's compiler made them. What nvcc made of them can differ: a function that a GPU
lacks becomes a constant there without a word, and the layout of a job is its own. So record_launches (PROGRAM) keeps the
emulated device's memory before and after every launch of calls on few points; from the memory before, the interpreter of
PTX (tools/ptx_interpreter.py) runs the kernel of LIBRARY that nvcc compiled; then both must hold the same bytes. Accesses
outside of the memory that is held are errors, too.

What ptxas makes of the PTX is not seen, nor kernels of other dimensions and with separate queries. Exits with 77 where LIBRARY, PROGRAM, numpy or cuobjdump is missing.
"""

import collections
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
SKIPPED = 77

# What these write depends on the order in which lanes meet, though no answer does: they are run, and their accesses are
# checked.
DEPENDS_ON_ORDER = {
    "link_leaves_kernel": "which root of two is linked to the other",
    "LinkComponents": "the same, and where an edge stands in the list",
    "search_forest_kernel": "which of equal edges is found first, and what bounds others have shared",
}
# These append to lists in the order in which lanes come: of a piece of memory the sorted words must agree.
APPENDS = {
    "search_leaves_kernel": "rows that are left for the search by query",
}
# Calls a function, which the interpreter does not know.
CANNOT_BE_RUN = {"CompleteSearchFrame": "pow"}
# These write records with bytes that have no meaning, which the host's compiler writes and nvcc does not.
HAS_PADDING = {
    "SumPass": "12 bytes behind a sum of 128 bits and an exponent",
    "resolve_frame_kernel": "6 bytes of a Frame",
}

CASES = [(call, parameter, kind, dtype, count)
         for call, parameter, count in (("tree", 16, 500), ("tree", 40, 300), ("brute", 8, 100), ("kdtree", 8, 250),
                                        ("clover", 8, 250), ("catalog", 0.2, 600), ("radius", 10, 500), ("dbscan", 4, 500),
                                        ("spanning_tree", 0, 300), ("knn_async", 16, 300), ("fof_async", 0.2, 500))
         for kind in ("clustered", "coincident") for dtype in ("f32", "f64")]


def points_of(kind, count, dtype):
    import numpy
    rng = numpy.random.default_rng(count)
    if kind == "coincident":
        points = rng.random((count // 10, 3)).repeat(10, axis=0)
    else:  # half of them in four clumps
        clumps = rng.random((4, 3))[rng.integers(0, 4, count // 2)] + 0.01 * rng.standard_normal((count // 2, 3))
        points = numpy.concatenate([clumps % 1, rng.random((count - count // 2, 3))])
    return points.astype("f4" if dtype == "f32" else "f8")


def outside(machine, pieces):
    """Sectors of 32 bytes that the kernel touched and that nobody holds."""
    import numpy
    held = numpy.zeros(machine.launch.memory.size // 32 + 1, dtype=bool)
    for start, size in pieces:
        held[start // 32:(start + size + 31) // 32] = True
    touched = [numpy.asarray(places) for block in machine.accesses for kind, places in block if kind != "shared"]
    touched = numpy.unique(numpy.concatenate(touched)) if touched else numpy.empty(0, dtype=numpy.int64)
    return [int(sector) for sector in touched if not 0 <= sector < held.size or not held[sector]]


def differences(name, before, found, expected, pieces):
    """Places of bytes that differ."""
    import numpy
    if any(kernel in name for kernel in DEPENDS_ON_ORDER):
        return []
    differ = numpy.zeros(found.size, dtype=bool)
    for start, size in pieces:
        differ[start:start + size] = (found != expected)[start:start + size]
        if any(kernel in name for kernel in APPENDS):
            words = [numpy.sort(memory[start:start + size // 4 * 4].view(numpy.uint32)) for memory in (found, expected)]
            differ[start:start + size] &= not numpy.array_equal(*words)
    if any(kernel in name for kernel in HAS_PADDING):
        differ &= found != before
    return numpy.nonzero(differ)[0]


def check_launch(program, launch, before, expected, begin):
    """What is wrong with it, or none."""
    import gpu_cost
    import ptx_interpreter
    memory = before.copy()
    machine = ptx_interpreter.Machine(program, gpu_cost.launched(launch, memory, begin))
    for block in range(launch["blocks"]):
        machine.run(block)
    pieces = launch["pieces"]
    places = differences(program.name, before, memory, expected, pieces)
    if len(places):
        first = int(places[0])
        return f"{len(places)} bytes differ; byte {first} is {memory[first]}, not {expected[first]}"
    sectors = outside(machine, pieces)
    return f"it touches memory that nobody holds, sector {sectors[0]} first" if sectors else None


def main():
    library_path, recorder = map(pathlib.Path, sys.argv[1:3])
    for path in (library_path, recorder):
        if not path.exists():
            print(f"{path} is not there: what compiled kernels write is not checked")
            return SKIPPED
    try:
        import gpu_cost
        import ptx_program
    except ModuleNotFoundError as missing:
        print(f"{missing}: what compiled kernels write is not checked")
        return SKIPPED
    cuobjdump = gpu_cost.find_tool("cuobjdump")
    if cuobjdump is None:
        print("cuobjdump not found: what compiled kernels write is not checked")
        return SKIPPED
    complaints, launches = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = gpu_cost.Library(library_path, {"cuobjdump": cuobjdump}, folder)
        symbols = gpu_cost.kernels_of(recorder)
        for call, parameter, kind, dtype, count in CASES:
            path = folder / f"points.3.{dtype}"
            points_of(kind, count, dtype).tofile(path)
            gpu_cost.run([recorder, folder, path, call, parameter, 2, "results"])
            record = json.loads((folder / "launches.json").read_text())
            for number, launch in enumerate(record["launches"]):
                if "symbol" not in launch:
                    continue
                name = symbols[launch["symbol"]]
                if any(kernel in name for kernel in CANNOT_BE_RUN):
                    continue
                before, expected = (gpu_cost.memory_of(folder / f"{number}.{what}") for what in ("memory", "results"))
                try:
                    complaint = check_launch(library.program(name), launch, before, expected, record["device_begin"])
                except (gpu_cost.Missing, ptx_program.Unsupported) as error:
                    complaint = f"cannot be run: {error}"
                launches[name] += 1
                if complaint:
                    complaints.append(f"{call} {parameter} of {count} {kind} points, {dtype}: launch {number}, "
                                      f"{launch['name']} ({name}): {complaint}")
    for complaint in complaints:
        print(complaint)
    unordered = sum(any(kernel in name for kernel in DEPENDS_ON_ORDER) for name in launches)
    print(f"{launches.total()} launches of {len(launches)} compiled kernels, {len(complaints)} of them other than emulated "
          f"({unordered} kernels depend on the order of lanes: of these only the accesses were checked)")
    return 1 if complaints or not launches else 0


if __name__ == "__main__":
    sys.exit(main())
