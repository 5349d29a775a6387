#!/usr/bin/env python3
"""Weak scaling to 4,096 ranks, as kith plan models it: a table in Markdown and, with --picture, a figure.

The constants come from one machine (`kith bench --ranks --json`); nothing here is measured at the sizes shown.

  build/dev/bin/kith bench --ranks --threads 1 --json > node.json
  bench/models/weak_scaling.py --constants node.json --picture docs/images/weak_scaling.png
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = (1, 8, 64, 512, 4096)


def plan(arguments, ranks):
    command = [arguments.program, "plan", "--points", str(arguments.points * ranks), "--ranks", str(ranks), "--link",
               str(arguments.link), "--constants", arguments.constants, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(plans):
    yield ("| ranks | call | own points, s | points of other ranks, s | exchange, s | total, s | efficiency "
           "| received, MB | memory, GB |")
    yield "|---|---|---|---|---|---|---|---|---|"
    for call in ("knn", "fof"):
        for found in plans:
            part = parts(found, call)
            yield (f"| {found['ranks']:,} | `{call}` | {part['own']:.2f} | {part['others']:.2f} | "
                   f"{part['exchange']:.3f} | {part['all']:.2f} | {parts(plans[0], call)['all'] / part['all']:.2f} | "
                   f"{found[call]['bytes_received_per_rank'] / 1e6:.1f} | "
                   f"{found[call]['memory_bytes_per_rank'] / 1e9:.2f} |")


def parts(found, call):
    """Seconds of a rank: on its own points, on those of others and the search for them, on the network."""
    seconds, cost = found[call]["seconds"], found["constants"][call]
    own = sum(found["points_per_rank"] * each for each in cost["seconds_per_point"].values())
    return {"own": own, "others": seconds["all"] - own - seconds["exchange"], "exchange": seconds["exchange"],
            "all": seconds["all"]}


def draw(plans, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharex=True)
    for axes, call in zip(panels, ("knn", "fof")):
        bottom = [0.0] * len(plans)
        for part, label, color in (("own", "own points", "0.25"), ("others", "points of others", "tab:blue"),
                                   ("exchange", "exchange", "tab:red")):
            heights = [parts(found, call)[part] for found in plans]
            axes.bar([f"{found['ranks']:,}" for found in plans], heights, bottom=bottom, label=label, color=color)
            bottom = [low + height for low, height in zip(bottom, heights)]
        axes.set_title(f"{call}, a model", fontsize=10)
        axes.set_xlabel("ranks")
        axes.set_ylabel("seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", required=True, help="output of kith bench --ranks --json")
    parser.add_argument("--program", default=ROOT / "build/dev/bin/kith")
    parser.add_argument("--points", type=int, default=10_000_000, help="per rank")
    parser.add_argument("--link", type=float, default=25e9, help="bytes per second of a rank")
    parser.add_argument("--picture", help="file to draw")
    arguments = parser.parse_args()
    plans = [plan(arguments, ranks) for ranks in RANKS]
    print("\n".join(table(plans)))
    if arguments.picture:
        draw(plans, arguments.picture)


if __name__ == "__main__":
    main()
