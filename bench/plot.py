#!/usr/bin/env python3
"""Draws the results of compare.py and of bench_gpu: plot.py RESULTS.json ... (default: all of bench/results), into docs/images.

Where files hold the same workload, the one with the most contestants counts, of these the one that was measured last. A
figure whose workloads are not there is left out, and said so. Bars show the least and the longest time.
"""

import argparse
import json
import pathlib
import sys

import environment

environment.require("matplotlib", "numpy")
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import matplotlib.ticker as ticker

NAMES = {"kith": "kith", "nanoflann": "nanoflann", "cgal": "CGAL", "grid": "uniform grid", "scipy": "SciPy cKDTree", "pykdtree": "pykdtree",
         "faiss": "FAISS flat", "hfof": "hfof", "scipy_pairs": "SciPy, all pairs", "dbscan": "scikit-learn DBSCAN"}
COLORS = dict(zip(NAMES, ("black", "tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown",
                           "tab:olive", "tab:pink")))
BASE = {"points": "uniform", "n": 1_000_000, "d": 3, "dtype": "float32", "k": 16, "queries": 0, "keep_tree": False, "b": 0.0,
        "period": 0.0, "device": "cpu", "variant": ""}
GROUPS = {**BASE, "points": "clustered", "k": 0, "b": 0.2, "period": 1.0}
GPU = {"device": "cuda"}


def key(record, *, without=()):
    """What two records of the same workload share; those of compare.py leave out the device, which is the CPU."""
    return tuple((name, record.get(name, BASE[name])) for name in BASE if name not in without)


def where(record):
    return "GPU" if record.get("device") == "cuda" else f"{record['threads']} threads"


def chosen(records, base, varied):
    """The records that are as the base but for one quantity, by it: those with most threads."""
    wanted = key(base, without=(varied,))
    fitting = [record for record in records if key(record, without=(varied,)) == wanted and "kith" in record["results"]]
    most = max((record["threads"] for record in fitting), default=0)
    return sorted((record for record in fitting if record["threads"] == most), key=lambda record: record[varied])


def lines(records, base, varied, label, title, logarithmic):
    """Seconds against one quantity, a line for each contestant."""
    across = chosen(records, base, varied)
    if len(across) < 2:
        return None
    figure, axes = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
    for name, shown in NAMES.items():
        mine = [(record[varied], record["results"][name]) for record in across
                if name in record["results"] and name not in record["wrong"]]
        if mine:
            middle = [result["median"] for _, result in mine]
            spread = [[max(0, result["median"] - result["min"]) for _, result in mine],
                      [max(0, result["max"] - result["median"]) for _, result in mine]]
            axes.errorbar([x for x, _ in mine], middle, yerr=spread, label=shown, color=COLORS[name], marker="o",
                          markersize=4, capsize=2, linewidth=2.5 if name == "kith" else 1.2)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))  # a narrow range would have one label
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    if logarithmic:
        axes.set_xscale("log")
    values = [record[varied] for record in across]
    axes.set_xticks(values, [f"{value:g}" if value < 10_000 else f"{value:.0e}".replace("e+0", "e") for value in values])
    axes.minorticks_off()
    axes.set(xlabel=label, ylabel="seconds", title=f"{title}, {where(across[0])}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


def stages(records, device=None):
    """Where kith's time goes: nanoseconds a point, a bar for each workload."""
    bases = (BASE, {**BASE, "points": "clustered"}, {**BASE, "points": "clustered", "period": 1.0}, GROUPS)
    shown = [record for base in bases for record in chosen(records, {**base, **(device or {})}, "n")]
    if not shown:
        return None
    names = list(dict.fromkeys(name for record in shown for name in record["results"]["kith"]["stages"]))
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.4 * len(shown)), layout="constrained")
    left = [0.0] * len(shown)
    for name in names:
        widths = [record["results"]["kith"]["stages"].get(name, 0) / record["n"] * 1e9 for record in shown]
        axes.barh(range(len(shown)), widths, left=left, label=name)
        left = [start + width for start, width in zip(left, widths)]
    axes.set_yticks(range(len(shown)), [f"{record['n']:,} {record['points']}, "
                                        + (f"k = {record['k']}" if record["k"] else f"groups, b = {record['b']:g}")
                                        for record in shown])
    axes.invert_yaxis()
    axes.set(xlabel="nanoseconds a point", title=f"kith's stages, {where(shown[0])}")
    axes.legend(fontsize="small")
    return figure


def figures(records):
    yield "bench_count", lines(records, BASE, "n", "points", "k = 16, uniform, 3-D float32", True)
    yield "bench_k", lines(records, BASE, "k", "neighbors k", "a million uniform points, 3-D float32", True)
    yield "bench_dimension", lines(records, BASE, "d", "dimensions", "a million uniform points, k = 16", False)
    yield "bench_groups", lines(records, GROUPS, "n", "points", "groups, b = 0.2, clustered, 3-D float32", True)
    yield "bench_stages", stages(records)
    yield "bench_gpu_count", lines(records, {**BASE, **GPU}, "n", "points", "k = 16, uniform, 3-D float32", True)
    yield "bench_gpu_k", lines(records, {**BASE, **GPU, "n": 10_000_000}, "k", "neighbors k",
                               "ten million uniform points, 3-D float32", True)
    yield "bench_gpu_stages", stages(records, GPU)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=environment.ROOT / "docs" / "images",
                        help="folder (docs/images)")
    arguments = parser.parse_args()
    files = arguments.results or sorted((environment.ROOT / "bench" / "results").glob("*.json"))
    if not files:
        sys.exit("plot.py: there are no results; bench/compare.py makes them")
    reports = []
    for path in files:
        try:
            reports.append(json.loads(path.read_text()))
        except (OSError, ValueError) as error:
            sys.exit(f"plot.py: {path} cannot be read: {error}")
    records = {}
    for report in sorted(reports, key=lambda report: report["date"]):
        for record in report["workloads"]:
            known = records.get((key(record), record["threads"]))
            if known is None or len(record["results"]) >= len(known["results"]):
                records[key(record), record["threads"]] = record
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, figure in figures(list(records.values())):
        if figure is None:
            print(f"{name}: its workloads are not among the results")
        else:
            figure.savefig(arguments.output / f"{name}.png", dpi=110)
            print(f"{arguments.output / name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
