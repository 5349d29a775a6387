"""The pictures and tables of clover.py, from its rows."""

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

K = 30  # the paper's default
REPLACED = ("BUN", "KIT", "BUD", "GXY", "HH")
NAMES = {"clover": "CLOVER, hierarchical", "flat": "CLOVER, flat", "tree": "plane tree", "kdtree": "k-d tree",
         "brute": "all pairs", "nanoflann": "nanoflann", "grid": "uniform grid"}
COLORS = {"clover": "tab:green", "flat": "tab:olive", "tree": "black", "kdtree": "tab:blue", "brute": "tab:red",
          "nanoflann": "tab:orange", "grid": "tab:purple"}


COLORS_OF_GPU = {"clover": "limegreen", "flat": "goldenrod", "tree": "dimgray", "kdtree": "deepskyblue", "brute": "salmon"}


def on_gpu(method):
    """The name of a method's rows on a GPU."""
    return f"{method}, GPU"


def is_of_gpu(method):
    return method.endswith(", GPU")


NAMES |= {on_gpu(method): f"{NAMES[method]}, GPU" for method in COLORS_OF_GPU}
COLORS |= {on_gpu(method): color for method, color in COLORS_OF_GPU.items()}


def family(method):
    return method.split(":")[0]


def lines(axes, rows, x, logarithmic=True):
    """Seconds of each method."""
    for method, color in COLORS.items():
        mine = sorted((row[x], row["median"]) for row in rows if family(row["method"]) == method)
        if mine:
            axes.plot(*zip(*mine), "o-", color=color, markersize=4, label=NAMES[method])
    if logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.grid(alpha=0.3)


def below(axes, columns=3):
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=columns, frameon=False)


def draw_meshes(rows):
    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    shares = [100 * row["points_per_query"] / row["n"] for row in rows if row["figure"] == "2"]
    axes.hist(shares, bins=20, color="tab:olive")
    axes.set(title=f"2: share of the points that a query scans, {len(shares)} surfaces", xlabel="percent of the points",
             ylabel="surfaces")
    yield "clover_meshes", figure


def draw_sets(rows):
    of_clover = {row["set"]: row["median"] for row in rows if row["figure"] == "13" and row["method"] == on_gpu("clover")}
    base = {row["set"]: row["median"] for row in rows if row["figure"] == "13" and row["method"] == "clover"}
    what = "hierarchical CLOVER" + (" on the CPU" if base and of_clover else "")
    base = base or of_clover
    rows = [row for row in rows if row["figure"] == "13" and row["set"] in base]
    names = list(base)
    figure, axes = pyplot.subplots(figsize=(11, 4.6), layout="constrained")
    there = [method for method in COLORS if any(family(row["method"]) == method for row in rows)]
    width = 0.78 / len(there)
    for i, method in enumerate(there):
        mine = {row["set"]: row["median"] / base[row["set"]] for row in rows if family(row["method"]) == method}
        at = [names.index(name) + width * (i - (len(there) - 1) / 2) for name in mine]
        axes.bar(at, mine.values(), 12 / 13 * width, color=COLORS[method], label=NAMES[method])
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)),
                    [f"{name.removeprefix('file:')}{'*' if name in REPLACED else ''}\n{1e3 * base[name]:.0f} ms"
                     for name in names])
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set(title=f"13: times relative to {what}, k = {K} (* made alike)", ylabel="times")
    below(axes, 6)
    yield "clover_sets", figure


def draw_sizes(rows):
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    for place, name, title in ((axes[0], "14", "14: uniform points"), (axes[1], "15", "15: hills")):
        lines(place, [row for row in rows if row["figure"] == name], "n")
        place.set(title=f"{title}, k = {K}", xlabel="points", ylabel="seconds")
        below(place, 2)
    mine = [row for row in rows if row["figure"] == "16"]
    lines(axes[2], mine, "k")
    axes[2].set_xscale("linear")
    axes[2].set(title=f"16: {max((row['n'] for row in mine), default=0):,} uniform points", xlabel="k", ylabel="seconds")
    below(axes[2], 2)
    yield "clover_sizes", figure


def draw_work(rows):
    rows = [row for row in rows if row["figure"] == "17"]
    plain = [row for row in rows if row["set"] == "UNI" and "skip" not in row and "spread" not in row and row["k"] > 8]
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    for row in plain:
        counts = numpy.array(row["cells"])
        axes[0].plot(100 * counts / counts.sum(), label=f"k = {row['k']}")
        axes[1].plot(numpy.array(row["points"]) / row["n"] * 100, range(101), label=f"k = {row['k']}")
    for row in rows:
        if row["k"] == 16 and row not in plain:
            what = "boxes skip" if row.get("skip") else "hubs spread" if row.get("spread") else "as published"
            axes[1].plot(numpy.array(row["points"]) / row["n"] * 100, range(101), ":", label=f"{row['set']}, 16, {what}")
    axes[0].set(title="17: cells scanned, of 512", xlabel="cells", ylabel="percent of the queries")
    axes[1].set(title="18: points scanned", xlabel="percent of the points", ylabel="percent of the queries")
    for row in plain:
        for counts, style, what in ((row["scan_steps_by_updates"], "--", "scan"), (row["steps_by_updates"], "-", "CLOVER")):
            counts = numpy.array(counts)
            axes[2].plot(100 * counts / counts.sum(), style, color=f"C{plain.index(row)}", label=f"{what}, k = {row['k']}")
    axes[2].set_yscale("log")
    axes[2].set_xlim(0, 16)
    axes[2].set(title="19: updates in a step of 32 points", xlabel="updates", ylabel="percent of the steps")
    for place in axes:
        place.grid(alpha=0.3)
        below(place)
    yield "clover_work", figure


def draw_hubs(rows):
    sizes = sorted({row["n"] for row in rows if row["figure"] == "20"})
    figure, axes = pyplot.subplots(1, len(sizes) + 1, figsize=(14, 4.2), layout="constrained")
    for place, n in zip(axes, sizes):
        mine = [row for row in rows if row["figure"] == "20" and row["n"] == n]
        at, bottom = range(len(mine)), numpy.zeros(len(mine))
        for stage, color in (("cells", "tab:purple"), ("edges", "tab:orange"), ("search", "tab:green")):
            seconds = numpy.array([row["stages"][stage] for row in mine])
            place.bar(at, seconds, bottom=bottom, color=color, label=stage)
            bottom += seconds
        place.set_xticks(at, [row["method"].split(":")[1] for row in mine])
        place.set(title=f"20: {n:,} points, k = {K}", xlabel="hubs", ylabel="seconds")
        below(place)
    mine = [(row["method"], (row.get("points_per_query") or row["n"]) * row["n"] / row["stages"]["search"] / 1e9)
            for row in rows if row["figure"] == "21"]
    axes[-1].barh([name for name, _ in mine], [rate for _, rate in mine], color="tab:gray")
    axes[-1].set(title="in place of 21: rate of the search", xlabel="billion distances a second")
    yield "clover_hubs", figure


def draw_queries(rows):
    rows = [row for row in rows if row["figure"] == "22"]
    names = list(dict.fromkeys(row["set"] for row in rows))
    figure, axes = pyplot.subplots(1, len(names), figsize=(max(14, 3 * len(names)), 4), layout="constrained", sharey=True,
                                   squeeze=False)
    for place, name in zip(axes[0], names):
        mine = [{**row, "share": 100 * row["queries"] / row["n"]} for row in rows if row["set"] == name]
        lines(place, mine, "share")
        place.set(title=f"22: {name}, {mine[0]['n']:,} points", xlabel="percent of the points queried, k = 10")
    axes[0, 0].set_ylabel("seconds")
    drawn = {label: line for place in axes[0] for line, label in zip(*place.get_legend_handles_labels())}
    figure.legend(drawn.values(), drawn.keys(), fontsize="small", loc="outside lower center", ncols=5, frameon=False)
    yield "clover_queries", figure


DRAW = {"2": draw_meshes, "13": draw_sets, "14": draw_sizes, "17": draw_work, "20": draw_hubs, "22": draw_queries}


def print_tables(rows):
    def median(figure, name, method, k=K):
        return next((row["median"] for row in rows if row["figure"] == figure and row["set"] == name
                     and family(row["method"]) == method and row["k"] == k), None)

    methods = [method for method in COLORS if method.split(", ")[0] != "brute"]
    ratios = {method: (median("13", "GMM", method), median("13", "UNI", method)) for method in methods}
    ratios |= {method: (median("table 2", "GMM", method), median("table 2", "UNI", method))
               for method in COLORS if method not in methods}
    print("Table 2, hills over uniform: " + ", ".join(f"{method} {a / b:.2f}" for method, (a, b) in ratios.items() if a and b))
    for method in methods:
        pairs = [(row["set"], row["median"], median("table 3", row["set"], method, 10)) for row in rows
                 if row["figure"] == "table 3" and family(row["method"]) == method and row["k"] == 30]
        if pairs:
            print(f"Table 3, k = 30 over k = 10, {method}: " + ", ".join(f"{name} {a / b:.2f}" for name, a, b in pairs))
