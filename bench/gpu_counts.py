#!/usr/bin/env python3
"""What calls put on a GPU's stream: launches, waits, bytes over the bus, passes over the points.

  bench/gpu_counts.py PROGRAM [--check bench/models/gpu_counts.md]     PROGRAM: build/dev/bin/record_launches

Of three calls a formula names every launch, in order, for any number of uniform points. Counted: at a few small sizes
the calls run on the emulated GPU, where each launch, the bits of each sort, fills, copies, waits and bytes must be those
of the formula. The table has the formula at the full size, which was not run. What others do depends on the points, round
by round: they are counted with a few points, of fixed seeds. --check compares both tables with those in a page.

A pass reads or writes something of every point, or more: a kernel, a pass of a radix sort, the reading before it that
counts digits, a selection, a sum, a copy. Copies between arrays of one GPU do not cross the bus. CUB launches two
kernels and one for each pass of a sort, two for a selection or a sum (bench/results/gpu/h200-kernels.csv).

Times are the model's of gpu_cost.py, from bench/models/gpu_cost.json.
"""

import argparse
import array
import dataclasses
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).resolve().parent / "models"
MULTIPROCESSORS = 132  # of an H100 and an H200
HUBS = 1024
BITS_OF_PASS = 8  # of a radix sort
LARGEST_SUBTREE = 1024  # that a block finishes (src/engines/kdtree/subtree_kernel.hpp)
WITH_FEW_THREADS = ("bounds of points", "subtrees", "boxes of nodes")  # each has several points
LEAF, COARSENING, TOP = 32, 8, 32  # of a tree on a GPU (src/tree/build_device.hpp)


@dataclasses.dataclass(frozen=True)
class Launch:
    name: str
    passes: int = 0    # over the points
    bits: int = 0      # of a sort's keys
    is_cub: bool = False

    @property
    def kernels(self):
        return 1 if not self.is_cub else 2 + passes_of_sort(self.bits)


def passes_of_sort(bits):
    return math.ceil(bits / BITS_OF_PASS)


def kernel(name, passes=0):
    return Launch(name, passes)


def sort(bits, of_points=True):
    return Launch("radix sort", passes_of_sort(bits) + 1 if of_points else 0, bits, True)


def select(of_points=True):
    return Launch("select", int(of_points), 0, True)


@dataclasses.dataclass
class Call:
    launches: list
    waits: int
    fills: int
    device_copies: int
    copied_passes: int  # over the points, by copies
    bus: int            # bytes; of groups, without their sizes

    def passes(self):
        return sum(launch.passes for launch in self.launches) + self.copied_passes


def bytes_of_bounds(points, multiprocessors):
    """Each block of the kernel tells the least and greatest of up to 8 coordinates, and two more numbers."""
    return 80 * min(math.ceil(points / 256), 8 * multiprocessors)


def order_of_kd_tree(points, multiprocessors, _):
    levels = 0
    while largest_subtree(points, levels) > LARGEST_SUBTREE:
        levels += 1
    launches = [kernel("bounds of points", 1), kernel("frame of points"), kernel("copying points", 1),
                kernel("bounds of points", 1)]
    for level in range(levels):
        launches += [kernel("split axes"), kernel("keys of points", 1), sort(33 + level), kernel("splitting points", 1)]
    launches += [kernel("subtrees", 1)] + [kernel("smallest indices")] * levels
    # Bounds twice, the end of the stages, the end of the call. Indices and axes are copied to where they are wanted.
    return Call(launches, 4, 1, 2, 2, 2 * bytes_of_bounds(points, multiprocessors))


def largest_subtree(points, level):
    """Points of the first subtree of a level, which is the largest."""
    depth = points.bit_length() - 1 - level  # of its last level, which is full if there are points enough
    above = 2**depth - 1
    last = points - (2**(points.bit_length() - 1) - 1)
    return above + min(last, 2**depth)


def planes_of(points):
    """Nodes of uniform points are cells, of as many points as halving leads to."""
    planes, most = 1, LEAF
    while 2**math.ceil(math.log2(points / most)) > TOP:
        planes, most = planes + 1, most * COARSENING
    return planes


def groups_in_phase_space(points, multiprocessors, _):
    planes = planes_of(points)
    launches = [kernel("bounds of points", 1), kernel("bounds of points", 1), kernel("frame of points"), kernel("keys"),
                kernel("keys", 1), sort(63), kernel("equal keys", 1), select(), kernel("gathering points", 1),
                kernel("velocities", 1), kernel("cuts", 1), select(), kernel("sizes of cells"),
                kernel("sizes of planes"), kernel("leaves"), kernel("boxes of nodes", 1)]
    launches += (planes - 1) * [kernel("coarser cuts"), select(False), kernel("coarser plane"),
                                kernel("boxes of nodes")]
    launches += [kernel("linking length"), *planes * [kernel("marking whole nodes")],
                 kernel("linking inside leaves", 1), kernel("linking leaves", 1), kernel("starting to count groups", 1),
                 kernel("counting groups", 1), kernel("finding groups", 1), select(), kernel("ranking groups"),
                 sort(64, False), kernel("labeling groups"), kernel("writing labels", 1),
                 kernel("finding single points", 1), Launch("sum", 1, 0, True), kernel("numbering single points", 1)]
    sizes_of_planes = 1 + math.ceil(math.log(points / LEAF, COARSENING))
    # Bounds twice, five counts, the sizes of groups, the end of the stages, the end of the call. Cuts are copied to
    # arrays of their size, once a plane.
    return Call(launches, 10, 2, planes, 0, 2 * bytes_of_bounds(points, multiprocessors) + 4 * (4 + sizes_of_planes))


def cells_of_clover(_points, _multiprocessors, hubs):
    bits_of_hub = (hubs - 1).bit_length()
    launches = [kernel("frame of points"), kernel("copying points", 1), kernel("drawing hubs"),
                kernel("nearest hubs", 1), sort((2 * hubs - 1).bit_length()), kernel("points by hub", 1),
                kernel("points by hub", 1), kernel("starts of lists"), kernel("boxes of nodes", 1),
                kernel("boxes of nodes"), kernel("hubs of cells"), kernel("weights of edges"),
                sort(32 + bits_of_hub, False), kernel("weights of edges")]
    # Where lists begin, and what makes the cells. To the host: where two lists a hub begin. From it: of each cell its
    # first point and its hub; of the group and the part, which are one, the rest, and the list of parts once more for
    # drawing hubs.
    return Call(launches, 2, 0, 0, 0, 4 * (2 * hubs + 1) + 4 * (hubs + 1) + 4 * hubs + 64 + 48)


@dataclasses.dataclass(frozen=True)
class Row:
    name: str  # also in gpu_cost.py
    points: int
    call: str
    formula: object
    parameter: float
    axes: int
    samples: tuple  # points, parameter, multiprocessors
    has_groups: bool = False


ROWS = (
    Row("uniform 1e7 groups in phase space", 10**7, "phase", groups_in_phase_space, 1, 6,
        ((305, 1, 132), (2441, 1, 1), (19531, 1, 132)), True),
    Row("uniform 1e6 cells of CLOVER, H 1024", 10**6, "cells", cells_of_clover, HUBS, 3,
        ((3000, 16, 132), (12000, 64, 132), (9000, 50, 1))),
    Row("uniform 1e7 float4 k-d tree", 10**7, "order", order_of_kd_tree, 0, 4,
        ((1000, 0, 132), (2441, 0, 1), (4883, 0, 132))),
)


@dataclasses.dataclass(frozen=True)
class Sample:
    """A call with some points, whose launches no formula names."""

    name: str
    points: int
    call: str
    parameter: float
    axes: int = 3


SAMPLES = (
    Sample("2,000 points, sums over 16 neighbors", 2000, "sums", 16),
    Sample("4,000 points, pair counts in two bins around 20 neighbors", 4000, "pair_counts", 20),
    Sample("1,500 particles, 5 groups of 300: what is bound", 1500, "unbind", 300),
    Sample("2,000 particles, halos of b = 0.6: spheres", 2000, "spheres", 0.6),
    Sample("2,000 points, HDBSCAN* with 5 samples", 2000, "hdbscan", 5),
)


def counted(program, row, points, parameter, multiprocessors):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"points.{row.axes}.f32"
        draw = random.Random(points).random
        path.write_bytes(array.array("f", (draw() for _ in range(points * row.axes))).tobytes())
        subprocess.run([program, folder, path, row.call, str(parameter), str(multiprocessors), "counts"], check=True)
        return json.loads((pathlib.Path(folder) / "launches.json").read_text())


def has_item_for_each_point(launch, points):
    items = launch["elements"] if "elements" in launch else launch["blocks"] * launch["threads"]
    return items >= points and launch["name"] not in WITH_FEW_THREADS


def disagreements(program, row, sample):
    """Lines about where the emulated GPU did something else than the formula says."""
    points, parameter, multiprocessors = sample
    found = counted(program, row, *sample)
    expected = row.formula(points, multiprocessors, parameter)
    bus = expected.bus
    if row.has_groups:
        bus += 4 * [launch["elements"] for launch in found["launches"] if launch["name"] == "radix sort"][-1]
    for what, wanted, got in (
            ("launches", [(launch.name, launch.bits) for launch in expected.launches],
             [(launch["name"], launch.get("key_bits", 0)) for launch in found["launches"]]),
            ("launches over all points", [launch.name for launch in expected.launches
                                          if launch.passes > 0 and launch.name not in WITH_FEW_THREADS],
             [launch["name"] for launch in found["launches"] if has_item_for_each_point(launch, points)]),
            ("waits", expected.waits, found["waits"]), ("fills", expected.fills, found["fills"]),
            ("copies within the GPU", expected.device_copies, found["device_copies"]),
            ("bytes over the bus", bus, found["host_bytes"])):
        if isinstance(wanted, list):  # only the first difference
            pairs = enumerate(itertools.zip_longest(wanted, got, fillvalue="none"))
            what, (wanted, got) = next(((f"{what}, number {number}", pair) for number, pair in pairs
                                        if pair[0] != pair[1]), (what, (0, 0)))
        if wanted != got:
            yield f"{row.name}, {points} points: {what}: {wanted} by the formula, {got} on the emulated GPU"


def line_of(row, modeled):
    call = row.formula(row.points, MULTIPROCESSORS, row.parameter)
    own = sum(launch.kernels for launch in call.launches if not launch.is_cub)
    of_cub = sum(launch.kernels for launch in call.launches if launch.is_cub)
    bus = f"{call.bus:,}" + (", and 4 a group of two points or more" if row.has_groups else "")
    times = modeled.get(row.name)
    columns = [row.name, f"{own} + {of_cub}", call.fills, call.device_copies, call.waits, bus, call.passes()]
    for key in ("milliseconds", "milliseconds_with_latency_and_host"):
        columns.append(f"{times[key]['h100']:.3g}, {times[key]['h200']:.3g}" if times else "")
    return "| " + " | ".join(map(str, columns)) + " |"


def line_of_sample(program, sample):
    found = counted(program, sample, sample.points, sample.parameter, MULTIPROCESSORS)
    of_cub = [launch for launch in found["launches"] if "elements" in launch]
    passes = sum(passes_of_sort(launch.get("key_bits", 0)) + 1 if launch.get("key_bits") else 1
                 for launch in found["launches"] if has_item_for_each_point(launch, sample.points))
    columns = [sample.name, f"{len(found['launches']) - len(of_cub)} + "
               f"{sum(2 + passes_of_sort(launch.get('key_bits', 0)) for launch in of_cub)}", found["fills"],
               found["device_copies"], found["waits"], f"{found['host_bytes']:,}", passes]
    return "| " + " | ".join(map(str, columns)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="record_launches")
    parser.add_argument("--check", type=pathlib.Path, help="a page that must have these tables")
    options = parser.parse_args()
    modeled = {row["row"]: row for row in json.loads((MODELS / "gpu_cost.json").read_text())["rows"]}
    lines = [line_of(row, modeled) for row in ROWS] + [line_of_sample(options.program, sample) for sample in SAMPLES]
    print("\n".join(lines))
    wrong = [line for row in ROWS for sample in row.samples for line in disagreements(options.program, row, sample)]
    if options.check:
        page = options.check.read_text().splitlines()
        wrong += [f"{options.check.name} lacks this line:\n{line}" for line in lines if line not in page]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
