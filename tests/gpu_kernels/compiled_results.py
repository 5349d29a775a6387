#!/usr/bin/env python3
"""Whether the compiled GPU kernels write what the emulated GPU writes, found without a GPU.

  compiled_results.py LIBRARY PROGRAM [--dimension D] [--list]

The emulator runs kernels as the host's compiler made them. What nvcc made of them can differ: a function that a GPU
lacks becomes a constant there without a word, and the layout of a job is its own. So record_launches (PROGRAM) keeps
the emulated device's memory before and after every launch of calls on few points; from the memory before, the
interpreter of PTX (tools/ptx_interpreter.py) runs the kernel of LIBRARY that nvcc compiled; then both must hold the
same bytes. Accesses outside of the memory that is held, or not aligned, are errors, too. So is a kernel for the
dimension (three, unless --dimension says another) that no call launches, or that stores nothing, unless NOT_RUN names
it. --list prints the launches of each kernel and the bytes that they stored.

What ptxas makes of the PTX is not seen. Exits with 77 where LIBRARY, PROGRAM, numpy or cuobjdump is missing.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
SKIPPED = 77

# What these write depends on the order in which lanes meet, though no answer does: pattern of the kernel's name, which
# parts of memory may differ all the same (see the functions below), why.
DEPENDS_ON_ORDER = (
    (r"^link_leaves_kernel<", "forest", "parents on the way to a root, which is the lowest of its group in any order"),
    (r"^link_all_pairs_kernel<", "forest", "the same"),
    (r"^each_index_kernel<LinkComponents<", "forest or list", "the same, and where an edge stands in the list"),
    (r"^search_leaves_kernel<", "list of rows", "rows that are left for the search by query, as they come"),
    (r"^order_short_rows_kernel<", "list of rows", "the same, of rows that are too long for a warp"),
    (r"^search_forest_kernel<.*ReachabilityWeight", "four arrays", "as below, and the lengths of edges"),
    (r"^search_forest_kernel<", "three arrays", "the next neighbors of points, their rows and distances: a point is "
     "passed over when another of its component has a shorter edge by then. The bounds of components must agree"),
)
ARRAYS_THAT_DIFFER = {"three arrays": 3, "four arrays": 4}
# Structures with padding, which the host's compiler copies and nvcc does not: pattern of the kernel's name, alignment.
HAS_PADDING = (
    (r"^collect_kernel<(MassSumPass|VectorSumPass|SpreadSumPass)", 16),  # a sum of 128 bits, an exponent, 12 bytes
    (r"^(resolve_frame_kernel|complete_kernel<(Store|Load)Frame)<", 8),  # behind the flags and the scale of a frame
)
# Kernels that no call below launches, or that the interpreter cannot run: pattern of the name, why.
NOT_RUN = (
    (r"^complete_kernel<CompleteSearchFrame<", "calls pow, a function, for the radius that a search begins with"),
    (r"^(merge_rows_kernel<|each_index_kernel<ReportRows<)", "only for searches in pieces, when memory is short"),
    (r"^each_index_kernel<(FindRuns|MakeRunsOfMembers)<unsigned long>", "only for keys of groups that take 64 bits"),
    (r"^join_below_kernel<int, AttributeOfNode<int>, JoinComponents>", "only for more than a thousand points"),
    (r"^join_below_kernel<(float, AttributeOfNode<float>|double, AttributeOfNode<double>), LesserCore<", "the same"),
    (r"^join_below_kernel<long, AttributeOfNode<long>, AddWeights>", "the same"),
    (r"^join_below_kernel<double, AttributeOfNode<double>, AddMasses>", "the same"),
    (r"^each_index_kernel<AddVelocities<", "only in phase space, whose other kernels have twice the dimensions"),
    (r"^each_index_kernel<(FlagOutside|JoinRows|JoinVelocities|LeastSquares)<", "only over ranks, of points on a GPU"),
)

# It counts what the groups of a catalog have wrong, which is nothing.
STORES_NOTHING = r"^each_index_kernel<CompareSizes>"

# Call and parameter of record_launches, its words, points; each with float32 and float64.
CASES = (
    ("tree 16", 200, "clustered"), ("tree 16 periodic", 150, "coincident"), ("tree 40", 100, "clustered"),
    ("tree 24 queries", 200, "coincident"), ("tree 24 periodic queries", 150, "clustered"),
    ("tree 40 periodic queries", 100, "clustered"), ("tree 8 async", 150, "clustered"),
    ("tree 8 async periodic queries", 150, "coincident"),
    # More neighbors than there are points, or than lists hold: rows of the search by query.
    ("tree 24 queries", 20, "clustered"), ("tree 24 periodic queries", 20, "clustered"),
    ("tree 70 queries", 80, "clustered"), ("tree 70 periodic queries", 80, "clustered"),
    ("brute 8", 80, "clustered"), ("brute 8 periodic queries", 80, "coincident"), ("brute 40", 70, "clustered"),
    ("brute 40 periodic", 70, "coincident"), ("brute 8 async queries", 100, "clustered"),
    ("kdtree 1 queries", 1030, "clustered"), ("kdtree 8", 100, "coincident"),
    ("kdtree 12 periodic queries", 100, "clustered"), ("kdtree 12 queries", 100, "clustered"),
    ("kdtree 1 periodic queries", 100, "clustered"), ("kdtree 8 periodic queries", 100, "clustered"),
    ("clover 8", 120, "coincident"), ("clover 40 queries", 120, "clustered"),
    ("clover 8 periodic queries", 120, "clustered"), ("clover 40 periodic queries", 120, "coincident"),
    ("clover 8 flat", 120, "clustered"), ("clover 8 flat periodic", 120, "coincident"),
    ("fof 0.2 async", 400, "clustered"), ("fof 0.2 async periodic", 200, "coincident"),
    ("fof 0.2 async kept", 200, "clustered"), ("fof 0.2 async in_memory periodic", 200, "clustered"),
    ("pairs 0.2", 200, "clustered"), ("pairs 0.2 async periodic", 200, "coincident"),
    ("ranges 0.2", 200, "clustered"), ("ranges 0.2 periodic", 100, "coincident"),
    ("catalog 0.2 periodic masses", 400, "clustered"), ("catalog 0.2", 300, "coincident"),
    ("group_order 0.2", 200, "clustered"),
    # Groups with and without a tree.
    ("unbind 260", 545, "clustered"), ("unbind 30 masses", 60, "clustered"),
    ("potentials 260 periodic", 300, "coincident"),
    ("radius 10", 200, "clustered"), ("radius 10 periodic", 150, "coincident"),
    ("rows 10 queries", 200, "clustered"), ("rows 10 periodic queries", 150, "coincident"),
    ("radius 10 kdtree", 200, "clustered"), ("rows 10 kdtree periodic queries", 150, "coincident"),
    ("rows 5000 queries", 1030, "clustered"),  # three of them longer than a warp sorts
    ("dbscan 4", 200, "clustered"), ("dbscan 4 periodic", 200, "clustered"),
    ("pair_counts 10", 200, "clustered"), ("pair_counts 10 periodic masses", 150, "coincident"),
    ("pair_counts 10 mu queries", 200, "clustered"), ("pair_counts 10 mu masses periodic", 150, "clustered"),
    ("pair_counts 10 means", 200, "clustered"), ("pair_counts 10 periodic masses means", 150, "coincident"),
    ("pair_counts 10 mu queries means", 200, "clustered"),
    ("pair_counts 10 mu masses periodic means", 150, "clustered"),
    ("sums 20", 60, "clustered"), ("sums 4 periodic", 50, "coincident"), ("sums_within 10", 60, "clustered"),
    ("spanning_tree 0", 130, "clustered"), ("spanning_tree 0 periodic", 120, "coincident"),
    ("hdbscan 5", 130, "clustered"), ("hdbscan 12 periodic", 120, "clustered"), ("hdbscan 4", 60, "coincident"),
)
# In three dimensions only: the kernels that users write with the public headers, and halos.
IN_THREE_DIMENSIONS = (
    ("own_kernels 0", 60, "clustered"), ("own_kernels 0 periodic", 30, "coincident"),
    ("own_walks 0", 60, "clustered"), ("own_walks 0 periodic", 60, "coincident"),
    ("spheres 0.2 periodic masses", 200, "clustered"), ("spheres 0.2 outermost", 200, "clustered"),
    ("spheres 0.2 bound_only masses", 100, "coincident"),
)


def points_of(kind, count, dimension, dtype):
    """Half of them in four clumps; or ten at each place, but for ten that almost meet."""
    import numpy
    rng = numpy.random.default_rng(count)
    points = rng.random((count, dimension))
    if kind == "coincident":
        points = points[:count // 10].repeat(10, axis=0)
        points[-10:] = 1e-9 * rng.random((10, dimension))
    else:
        clumps = rng.random((4, dimension))[rng.integers(0, 4, count // 2)]
        points[:count // 2] = (clumps + 0.01 * rng.standard_normal((count // 2, dimension))) % 1
    return points.astype("f4" if dtype == "f32" else "f8")


def roots_of(piece):
    """Of numbers that each name a lower one, or themselves; anything else stays as it is."""
    import numpy
    parents = piece[:piece.size // 4 * 4].view(numpy.int32).astype(numpy.int64)
    own = numpy.arange(parents.size)
    is_parent = (parents >= 0) & (parents <= own)
    roots = numpy.where(is_parent, parents, own)
    while (roots != roots[roots]).any():
        roots = roots[roots]
    return numpy.where(is_parent, roots, -1 - (parents & 0xFFFFFFFF))


def is_same_forest(found, expected):
    import numpy
    return numpy.array_equal(roots_of(found), roots_of(expected))


def is_same_list(found, expected):
    """Of words, in any order."""
    import numpy
    sorted_words = [numpy.sort(piece[:piece.size // 4 * 4].view(numpy.uint32)) for piece in (found, expected)]
    return numpy.array_equal(*sorted_words)


def may_differ(rule, found, expected, points):
    """Whether a part of memory is the same but for the order of lanes."""
    import numpy
    if rule == "list of rows":  # first in its part, an index for each query
        rows, wanted = (part[:4 * points].view(numpy.int32) for part in (found, expected))
        other = rows[rows != wanted]
        return (found.size >= 4 * points and ((other >= 0) & (other < points)).all() and
                is_same_list(rows.view(numpy.uint8), wanted.view(numpy.uint8)) and
                numpy.array_equal(found[4 * points:], expected[4 * points:]))
    return is_same_forest(found, expected) or (rule == "forest or list" and is_same_list(found, expected))


def parts_of(pieces, job, begin):
    """Pieces of memory, cut where pointers of the job point to: several arrays may lie in one."""
    import numpy
    words = job[:job.size // 8 * 8].view(numpy.uint64).astype(object) - begin
    for start, size in pieces:
        cuts = [start, *sorted({word for word in words if start < word < start + size}), start + size]
        yield from ((first, last - first) for first, last in zip(cuts, cuts[1:]))


def rule_of(table, kernel):
    return next((rule for pattern, rule, *_ in table if re.search(pattern, kernel)), None)


def padding(stored, alignment):
    """Bytes that are never stored, behind one that is in the same aligned block."""
    import numpy
    blocks = numpy.zeros(-(-stored.size // alignment) * alignment, dtype=bool)
    blocks[:stored.size] = stored
    blocks = blocks.reshape(-1, alignment)
    return (numpy.logical_or.accumulate(blocks, axis=1) & ~blocks).reshape(-1)[:stored.size]


def differences(kernel, run, expected, parts, points):
    """Places of bytes that differ and must not."""
    import numpy
    rule, alignment = rule_of(DEPENDS_ON_ORDER, kernel), rule_of(HAS_PADDING, kernel)
    arrays = ARRAYS_THAT_DIFFER.get(rule, 0)
    differ, excused = numpy.zeros(expected.size, dtype=bool), 0
    for start, size in parts:
        found, wanted = run.memory[start:start + size], expected[start:start + size]
        if numpy.array_equal(found, wanted):
            continue
        if excused < arrays:
            excused += 1
        elif not rule or not may_differ(rule, found, wanted, points):
            differ[start:start + size] = found != wanted
    if alignment:
        differ &= ~padding(run.stored, alignment)
    return numpy.nonzero(differ)[0]


def check_launch(program, kernel, launch, before, expected, begin, points):
    """(what is wrong with it, or none, bytes stored)."""
    import gpu_cost
    import numpy
    import ptx_interpreter
    held = numpy.zeros(before.size, dtype=numpy.int32)
    for number, (start, size) in enumerate(launch["pieces"], 1):
        held[start:start + size] = number
    run = gpu_cost.launched(launch, before.copy(), begin, held)
    machine = ptx_interpreter.Machine(program, run)
    try:
        for block in range(launch["blocks"]):
            machine.run(block)
    except (IndexError, RuntimeError) as error:
        return str(error), 0
    stored = int(run.stored.sum())
    places = differences(kernel, run, expected, parts_of(launch["pieces"], run.job, begin), points)
    if len(places) == 0:
        return None, stored
    first = int(places[0])
    return f"{len(places)} bytes differ; byte {first} is {run.memory[first]}, not {expected[first]}", stored


def recorded(case, dimension, dtype, recorder, folder):
    """(the record, points) of a call; the memory of its launches lies in the folder."""
    import gpu_cost
    words, count, kind = case
    call, parameter, *more = words.split()
    path = folder / f"points.{dimension}.{dtype}"
    points_of(kind, count, dimension, dtype).tofile(path)
    gpu_cost.run([recorder, folder, path, call, parameter, 2, *more, "results"])
    return json.loads((folder / "launches.json").read_text())


def check_all(library, dimension, recorder, folder):
    """(what is wrong, {kernel: launches}, {kernel: bytes stored})."""
    import gpu_cost
    import ptx_program
    symbols = gpu_cost.functions_of(recorder)
    short = {name: check.short_name(text) for name, text in check.demangle(sorted(library.entries)).items()}
    complaints, launches, stored = [], collections.Counter(), collections.Counter()
    for case in CASES + (IN_THREE_DIMENSIONS if dimension == 3 else ()):
        for dtype in ("f32", "f64"):
            record = recorded(case, dimension, dtype, recorder, folder)
            queries = min(16, record["points"]) if "queries" in case[0] else record["points"]
            for number, launch in enumerate(record["launches"]):
                if "symbol" not in launch:
                    continue
                name = symbols[launch["symbol"]]
                kernel = short.get(name, name)
                if rule_of(NOT_RUN, kernel):
                    continue
                before, expected = (gpu_cost.memory_of(folder / f"{number}.{what}") for what in ("memory", "results"))
                try:
                    complaint, bytes_stored = check_launch(library.program(name), kernel, launch, before, expected,
                                                           record["device_begin"], queries)
                except (gpu_cost.Missing, ptx_program.Unsupported) as error:
                    complaint, bytes_stored = f"cannot be run: {error}", 0
                launches[kernel] += 1
                stored[kernel] += bytes_stored
                if complaint:
                    complaints.append(f"{case[0]}, {case[1]} {case[2]} points, {dtype}: launch {number}, "
                                      f"{launch['name']} ({kernel}): {complaint}")
    return complaints, launches, stored


def own_kernels(library):
    """Short names of the library's kernels but for CUB's."""
    names = check.demangle(sorted(library.entries)).values()
    return {check.short_name(name) for name in names if "kith::" in name and "cub::" not in name}


def is_expected(kernel, dimension):
    """Those for all dimensions are run beside those for three."""
    return check.dimension_of(kernel) == dimension or (dimension == 3 and check.in_table(kernel))


def not_seen(kernels, dimension, launches, stored):
    """Kernels of which the launches say nothing, and reasons for that which are none."""
    for kernel in sorted(kernel for kernel in kernels if is_expected(kernel, dimension)):
        seen = stored[kernel] > 0 or (launches[kernel] > 0 and re.search(STORES_NOTHING, kernel))
        if not seen and not rule_of(NOT_RUN, kernel):
            what = "its launches store nothing" if launches[kernel] else "no call launches it"
            yield f"{kernel}: {what}; add a call to CASES, or state in NOT_RUN of {__file__} why not"
    for pattern, _ in NOT_RUN:
        if not any(re.search(pattern, kernel) for kernel in kernels):
            yield f"NOT_RUN of {__file__}: there is no kernel that {pattern} matches; remove the line"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--dimension", type=int, default=3)
    parser.add_argument("--list", action="store_true", help="print the launches of each kernel and the bytes stored")
    options = parser.parse_args()
    try:
        import gpu_cost
    except ModuleNotFoundError as missing:
        print(f"{missing}: what compiled kernels write is not checked")
        return SKIPPED
    cuobjdump = check.find_tool("cuobjdump")
    for path in (options.library, options.program, cuobjdump or pathlib.Path("cuobjdump")):
        if not pathlib.Path(path).exists():
            print(f"{path} is not there: what compiled kernels write is not checked")
            return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = gpu_cost.Library(options.library, {"cuobjdump": cuobjdump}, folder)
        complaints, launches, stored = check_all(library, options.dimension, options.program, folder)
    kernels = own_kernels(library)
    complaints += not_seen(kernels, options.dimension, launches, stored)
    if options.list:
        for kernel in sorted(launches):
            print(f"{launches[kernel]:5d} launches {stored[kernel]:9d} bytes stored  {kernel}")
    for complaint in complaints:
        print(complaint)
    print(f"{launches.total()} launches of {len(launches)} compiled kernels, of {len(kernels)} in the library: "
          f"{len(complaints) or 'no'} differences")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
