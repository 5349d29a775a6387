"""Weak scaling to 4,096 ranks, as kith plan models it. bench/ranks.py measures the constants, keeps the plans and draws
them; nothing here is measured at the sizes shown.
"""

import json
import subprocess

import rank_tables

RANKS = (1, 8, 64, 512, 4096)
LINK = 25e9  # bytes per second of a rank


def plan(kith, constants, points, ranks):
    """What `kith plan --json` says of this number of points per rank, with constants of `kith bench --ranks --json`."""
    command = [kith, "plan", "--points", str(points * ranks), "--ranks", str(ranks), "--link", str(LINK),
               "--constants", constants, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def draw(plans, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharex=True)
    for axes, call in zip(panels, ("knn", "fof")):
        bottom = [0.0] * len(plans)
        for part, label, color in (("own", "own points", "0.25"), ("others", "points of others", "tab:blue"),
                                   ("exchange", "exchange", "tab:red")):
            heights = [rank_tables.parts_of(found, call)[part] for found in plans]
            axes.bar([f"{found['ranks']:,}" for found in plans], heights, bottom=bottom, label=label, color=color)
            bottom = [low + height for low, height in zip(bottom, heights)]
        axes.set_title(f"{call}, a model", fontsize=10)
        axes.set_xlabel("ranks")
        axes.set_ylabel("seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)
    print(path)
