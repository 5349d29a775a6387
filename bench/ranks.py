#!/usr/bin/env python3
"""Weak and strong scaling over 1 to 8 ranks: ranks.py [--quick]. Remakes figures 7b and 8b of the jz-tree paper.

Source: as jz_tree.py's. The paper has up to 64 GPUs; here are ranks of one thread each, on a machine with fewer cores. So
what is measured is the processor time of each rank: what it would take on a core of its own, without waits for other
ranks and without a network. All ranks take turns on one core, since two busy ones that share their units or memory slow
each other down. The time of a call is that of its slowest rank. Points are divided along the z-order, as a
domain decomposition divides them; k = 16, b = 0.2.

With --device cuda as many GPUs as the machine has take part, up to 8, and times are those of the clock.

Weak scaling: uniform points in a periodic box, as many on each rank; efficiency: the time of one rank alone over that of
the slowest. Strong scaling: the same points on more ranks, uniform ones and a simulated universe (kith.datasets).

Needs the program bench_ranks of a build with -DKITH_BENCHMARKS=ON. Results go to bench/results/ranks/figures.json, the
figure to docs/images, a table in Markdown to the screen. --plot FILE only draws and prints. Takes about six minutes, of
which the simulation takes most, once (it is kept in build/bench-data); --quick some seconds.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / "papers")]
import environment  # noqa: E402

environment.require("matplotlib", "numpy")
import contest
import figures
import workloads

RANKS = (1, 2, 4, 8)
CALLS = {"knn": "neighbors, k = 16", "fof": "groups, b = 0.2", "mst": "spanning tree"}
SIZES = {False: {"weak": (10_000, 100_000, 1_000_000), "strong": 4_096_000, "runs": 2},
         True: {"weak": (1000, 10_000), "strong": 32_768, "runs": 1}}
KEPT = environment.ROOT / "build" / "bench-data" / "points"


def measured(arguments, scratch):
    sizes = SIZES[arguments.quick]
    for points in sizes["weak"] if "weak" in arguments.parts else ():
        for ranks in RANKS:
            yield from run(arguments, "weak", "uniform", f"uniform:{points * ranks}", 1.0, [ranks], scratch)
    for name in ("uniform", "cosmic") if "strong" in arguments.parts else ():
        given = contest.Input(workloads.Workload(points=name, n=sizes["strong"], periodic=True), KEPT, scratch)
        yield from run(arguments, "strong", name, given.points_file, given.box, RANKS, scratch)


def run(arguments, kind, name, points, period, ranks, scratch):
    """Rows of one set of points."""
    command = [arguments.program, f"points={points}", f"period={period}", f"ranks={','.join(map(str, ranks))}",
               f"runs={SIZES[arguments.quick]['runs']}", f"device={'cuda' if arguments.device else 'cpu'}"]
    one_core = None if arguments.device else lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=one_core)
    if done.returncode != 0:
        sys.exit(f"ranks.py: {done.stderr.strip() or done.stdout}")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        row |= {"figure": kind, "set": name, "device": "cuda" if arguments.device else "cpu"}
        print(f"  {kind}: {row['call']} of {row['points']:,} points ({name}) over {row['ranks']}: {time_of(row):.4g} s",
              flush=True)
        yield row


def time_of(row):
    """Of the slowest rank; of GPUs by the clock."""
    return row["clock"] if row["device"] == "cuda" else max(row["seconds"])


def efficiencies(rows, call, kind, name, device):
    """Rows with their efficiency: against one rank with its share of the points, or with all of them."""
    mine = [row for row in rows if (row["call"], row["figure"], row["set"], row["device"]) == (call, kind, name, device)]
    alone = {row["points"]: time_of(row) for row in mine if row["ranks"] == 1}
    for row in mine:
        of_one = alone[row["points"] // row["ranks"]] if kind == "weak" else alone[row["points"]] / row["ranks"]
        yield {**row, "efficiency": of_one / time_of(row)}


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, len(CALLS), figsize=(9, 3.2), sharey=True, layout="constrained")
    for axes, (call, title) in zip(panels, CALLS.items()):
        for device, style in (("cpu", "-"), ("cuda", "--")):
            found = list(efficiencies(rows, call, "weak", "uniform", device))
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


def table(rows):
    """Times, efficiencies, and what the rank that received the most has received, in Markdown."""
    yield "| scaling | points | call | " + " | ".join(f"{ranks} ranks" for ranks in RANKS).replace("1 ranks", "1 rank") + " |"
    yield "|---|---|---|" + "---|" * len(RANKS)
    for kind, name in (("weak", "uniform"), ("strong", "uniform"), ("strong", "cosmic")):
        for call in CALLS:
            for device in ("cpu", "cuda"):
                found = list(efficiencies(rows, call, kind, name, device))
                counts = {row["points"] // (row["ranks"] if kind == "weak" else 1) for row in found}
                for count in sorted(counts):
                    cells = {row["ranks"]: cell(row) for row in found
                             if row["points"] == count * (row["ranks"] if kind == "weak" else 1)}
                    where = f"{count:,} {'each' if kind == 'weak' else 'in all'}, {name}{', GPUs' * (device == 'cuda')}"
                    yield f"| {kind} | {where} | `{call}` | " + " | ".join(cells.get(ranks, "") for ranks in RANKS) + " |"


def cell(row):
    return f"{time_of(row):.3g} s, {row['efficiency']:.2f}, {max(row['received']) / 1e6:.2g} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_options(parser, "ranks", ("weak", "strong"), "each rank on a GPU of its own")
    parser.add_argument("--program", type=pathlib.Path, help="bench_ranks (that of build/bench, release or dev)")
    arguments = parser.parse_args()
    if arguments.plot:
        report = json.loads(arguments.plot.read_text())
    else:
        arguments.program = figures.program_at(arguments.program, "bench_ranks")
        if arguments.program is None:
            sys.exit("ranks.py: bench_ranks is not built; configure with -DKITH_BENCHMARKS=ON")
        before = figures.earlier(arguments)
        with tempfile.TemporaryDirectory() as folder:
            rows = list(measured(arguments, pathlib.Path(folder)))
        report = figures.rounded(figures.about(arguments) | {"left_out": {}, "rows": rows})
        report = figures.merged(report, before, arguments.device, lambda row: row["device"] == "cuda",
                                lambda row: row["figure"] in arguments.parts)
        report = figures.write(report, arguments.output)
    draw(report["rows"], arguments.images / "ranks_scaling.png")
    print("\n".join(table(report["rows"])))


if __name__ == "__main__":
    main()
