#!/usr/bin/env python3
"""What calls over ranks cost: ranks.py [--quick]. Remakes figures 7b and 8b of the jz-tree paper and every measured
table of docs/ranks.md.

Source: as jz_tree.py's. The paper has up to 64 GPUs; here are ranks of one thread each, on a machine with fewer cores. So
what is measured is the processor time of each rank: what it would take on a core of its own, without waits for other
ranks and without a network. All ranks take turns on one core, since two busy ones that share their units or memory slow
each other down. The time of a call is that of its slowest rank. Points are divided along the z-order, as a
domain decomposition divides them; k = 16, b = 0.2. The parts:

  weak      uniform points in a periodic box, as many on each rank; efficiency: the time of one rank alone over that of
            the slowest
  strong    the same points on more ranks, uniform ones and a simulated universe (kith.datasets)
  apart     eight cubes of points that are far apart, on one rank and on eight
  volume    bytes that all ranks receive for spanning trees and for neighbors, of several sets; other work on the
            machine does not change them
  memory    of all ranks, at the peak of each call, beyond the points; since ranks share a core, the peak depends on how
            their turns fall: four runs of radius_count over four ranks took 69 to 72 bytes a point
  model     kith bench --ranks on one thread per rank, and what kith plan makes of it up to 4,096 ranks

With --device cuda as many GPUs as the machine has take part in weak and strong, up to 8, and times are those of the clock.

Needs the programs bench_ranks and, for the model, kith, of a build that is optimized as a release if times are to be
shown:

  cmake --preset release -B build/bench -DKITH_BENCHMARKS=ON -DKITH_CLI=ON
  cmake --build build/bench --target bench_ranks kith_cli
  bench/ranks.py && scripts/renew-pages.py

Results go to bench/results/ranks/figures.json and the figures to docs/images; renew-pages.py copies tables and sentences
(rank_tables.py) into docs/ranks.md. --plot FILE only draws and prints. Takes about ten minutes, of which the simulation
takes most, once (it is kept in build/bench-data); --quick some seconds.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / folder) for folder in ("papers", "models")]
import environment  # noqa: E402

environment.require("matplotlib", "numpy")
import contest
import figures
import numpy
import rank_tables
import weak_scaling
import workloads
from rank_tables import CALLS, RANKS

SIZES = {False: {"weak": (10_000, 100_000, 1_000_000), "strong": 4_096_000, "apart": 300_000, "volume": 100_000,
                 "memory": 4_000_000, "runs": 2},
         True: {"weak": (1000, 10_000), "strong": 32_768, "apart": 1000, "volume": 10_000, "memory": 100_000, "runs": 1}}
PARTS = ("weak", "strong", "apart", "volume", "memory", "model")
ON_GPUS = ("weak", "strong")
PLANNED = 10_000_000  # points of a rank in the model's table
BUILD = ("cmake --preset release -B build/bench -DKITH_BENCHMARKS=ON -DKITH_CLI=ON && "
         "cmake --build build/bench --target bench_ranks kith_cli")
KEPT = environment.ROOT / "build" / "bench-data" / "points"


def measured(arguments, scratch):
    sizes, parts = SIZES[arguments.quick], arguments.parts
    for points in sizes["weak"] if "weak" in parts else ():
        for ranks in RANKS:
            yield from run(arguments, "weak", "uniform", f"uniform:{points * ranks}", 1.0, [ranks])
    for name in ("uniform", "cosmic") if "strong" in parts else ():
        given = contest.Input(workloads.Workload(points=name, n=sizes["strong"], periodic=True), KEPT, scratch)
        yield from run(arguments, "strong", name, given.points_file, given.box, RANKS)
    if "apart" in parts:
        points = saved(scratch, cubes(sizes["apart"]))
        yield from run(arguments, "apart", "cubes", points, 0, (1, 8), calls=("knn", "fof"))
    for name in (name for names in rank_tables.VOLUMES.values() for name in names) if "volume" in parts else ():
        for draw in range(3):
            points = saved(scratch, points_of(name, sizes["volume"], draw))
            yield from run(arguments, "volume", name, points, 0, (2, 3, 8), calls=("knn", "mst"), runs=0)
    for call in rank_tables.IN_MEMORY if "memory" in parts else ():
        for ranks in (1, 2, 4):  # a process each, since one keeps what it has freed
            yield from run(arguments, "memory", "uniform", f"uniform:{sizes['memory']}", 1.0, [ranks], calls=[call], runs=0)


def saved(scratch, points):
    numpy.save(scratch / "points.npy", points.astype(numpy.float32))
    return scratch / "points.npy"


def cubes(count):
    """Eight cubes of `count` points each, one in each octant, with gaps between them: one after the other along the
    z-order."""
    random = numpy.random.default_rng(1)
    corners = numpy.array([[x, y, z] for x in (-1.25, 0.25) for y in (-1.25, 0.25) for z in (-1.25, 0.25)])
    return numpy.vstack([corner + random.random((count, 3)) for corner in corners])


def points_of(name, count, draw):
    """The sets whose volumes are compared."""
    random = numpy.random.default_rng([57, draw])
    if name == "uniform":
        return random.random((count, 3))
    if name == "halo":
        return random.normal(size=(count, 3)) * numpy.exp(2 * random.normal(size=(count, 1)))
    if name == "filaments":  # walks in nearly straight lines
        steps = random.normal(0, 0.006, (50, 1, 3)) + random.normal(0, 0.01, (50, count // 50, 3))
        return (random.uniform(0, 20, (50, 1, 3)) + numpy.cumsum(steps, axis=1)).reshape(-1, 3)
    number = 1000 if name == "overlapping clusters" else int(name.split()[0])
    deviation = {"overlapping clusters": 0.02, "1000 isolated clusters": 1e-4}.get(name, 1e-3)
    return random.random((number, 3))[random.integers(number, size=count)] + random.normal(0, deviation, (count, 3))


def run(arguments, kind, name, points, period, ranks, calls=tuple(CALLS), runs=None):
    """Rows of one set of points."""
    runs = SIZES[arguments.quick]["runs"] if runs is None else runs
    command = [arguments.program, f"points={points}", f"period={period}", f"ranks={','.join(map(str, ranks))}",
               f"calls={','.join(calls)}", f"runs={runs}", f"device={'cuda' if arguments.device else 'cpu'}"]
    one_core = None if arguments.device else lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=one_core)
    if done.returncode != 0:
        sys.exit(f"ranks.py: {done.stderr.strip() or done.stdout}")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        row |= {"figure": kind, "set": name, "device": "cuda" if arguments.device else "cpu"}
        print(f"  {kind}: {row['call']} of {row['points']:,} points ({name}) over {row['ranks']}: "
              f"{rank_tables.time_of(row):.4g} s", flush=True)
        yield row


def modeled(kith, small):
    """What the model of kith plan says of many ranks, and of eight with `small` points each, with constants that are
    measured now on one core."""
    one_core = {min(os.sched_getaffinity(0))}
    done = subprocess.run([kith, "bench", "--ranks", "--threads", "1", "--json"], capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, one_core))
    if done.returncode != 0:
        sys.exit(f"ranks.py: {done.stderr.strip()}")
    with tempfile.TemporaryDirectory() as folder:
        constants = pathlib.Path(folder) / "node.json"
        constants.write_text(done.stdout)
        return {"plans": [weak_scaling.plan(kith, constants, PLANNED, ranks) for ranks in weak_scaling.RANKS],
                "small": weak_scaling.plan(kith, constants, small, 8)}


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, len(CALLS), figsize=(9, 3.2), sharey=True, layout="constrained")
    for axes, (call, title) in zip(panels, CALLS.items()):
        for device, style in (("cpu", "-"), ("cuda", "--")):
            found = list(rank_tables.efficiencies(rows, call, "weak", "uniform", device))
            for number, ranks in enumerate(RANKS[1:]):
                line = [(row["points"] / ranks, row["efficiency"]) for row in found if row["ranks"] == ranks]
                if line:
                    label = f"{ranks} ranks" + (", GPUs" if device == "cuda" else "")
                    axes.plot(*zip(*sorted(line)), style, marker="o", markersize=4, color=f"C{number}", label=label)
        axes.set(title=title, xlabel="points of a rank", xscale="log", ylim=(0, 1.05))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("efficiency, weak scaling")
    panels[0].legend(frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_options(parser, "ranks", PARTS, "each rank on a GPU of its own")
    parser.add_argument("--program", type=pathlib.Path, help="bench_ranks (that of build/bench, release or dev)")
    parser.add_argument("--kith", type=pathlib.Path, help="the program kith (that beside bench_ranks)")
    arguments = parser.parse_args()
    if arguments.plot:
        report = json.loads(arguments.plot.read_text())
    else:
        arguments.parts = [part for part in arguments.parts if part in ON_GPUS or not arguments.device]
        arguments.program = figures.program_at(arguments.program, "bench_ranks")
        if arguments.program is None:
            sys.exit(f"ranks.py: bench_ranks is not built: {BUILD}")
        kith = figures.program_at(arguments.kith or arguments.program.parent / "kith", "kith")
        if kith is None and "model" in arguments.parts:
            sys.exit(f"ranks.py: kith, which the part model needs, is not built beside {arguments.program}: {BUILD}")
        before, about = figures.earlier(arguments), figures.about(arguments)
        small = SIZES[arguments.quick]["weak"][-1]
        model = modeled(kith, small) if "model" in arguments.parts else before.get("model")
        with tempfile.TemporaryDirectory() as folder:
            rows = list(measured(arguments, pathlib.Path(folder)))
        report = figures.rounded(about | {"left_out": {}, "rows": rows})
        report = figures.merged(report, before, arguments.device, lambda row: row["device"] == "cuda",
                                lambda row: row["figure"] in arguments.parts)
        report = figures.write(report | ({"model": model} if model else {}), arguments.output)
    draw(report["rows"], arguments.images / "ranks_scaling.png")
    if "model" in report:
        weak_scaling.draw(report["model"]["plans"], arguments.images / "weak_scaling.png")
    for text in rank_tables.TEXTS.values():
        print(text(report) or "")


if __name__ == "__main__":
    main()
