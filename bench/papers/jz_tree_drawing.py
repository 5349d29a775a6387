"""The pictures of jz_tree.py, and the numbers of docs/jz-tree.md, from its rows."""

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import matplotlib.ticker as ticker

K, COMPARED_K = 16, 30  # the paper's, and that of figure 6
B = 0.2
SETS = {"lattice": "uniform grid", "uniform": "uniform random", "gaussian": "normal distribution",
        "cosmic": "simulation", "cosmic, periodic": "simulation, periodic"}
NAMES = {"tree": "plane tree", "kept": "plane tree, kept", "kdtree": "k-d tree", "clover": "CLOVER", "brute": "all pairs",
         "nanoflann": "nanoflann", "scipy": "SciPy", "pykdtree": "pykdtree", "faiss": "FAISS, all pairs", "hfof": "hfof",
         "scipy_pairs": "SciPy, pairs", "copies": "plane tree, labels of copies side by side"}
COLORS = {"tree": "black", "kept": "tab:purple", "kdtree": "tab:blue", "clover": "tab:green", "brute": "tab:red",
          "nanoflann": "tab:orange", "scipy": "tab:cyan", "pykdtree": "tab:olive", "faiss": "tab:pink",
          "hfof": "tab:brown", "scipy_pairs": "tab:cyan", "copies": "tab:gray"}
STAGES = {"order": ("tab:blue", "z-order"), "tree": ("tab:green", "tree"), "search": ("tab:orange", "search"),
          "rows": ("tab:gray", "rows into input order"), "ask": ("tab:purple", "requests to other ranks"),
          "select": ("tab:olive", "select points for them"), "search pieces": ("tab:red", "search these points"),
          "upload": ("tab:brown", "copy to the GPU"), "download": ("tab:pink", "copy from the GPU")}


def lines(axes, rows, x, style=lambda row: {}, value=lambda row: row["median"]):
    """A line for each method, device and number of threads."""
    most = max((row["threads"] for row in rows), default=1)
    several = {row["method"] for row in rows if row["threads"] < most and row["device"] == "cpu"}
    drawn = {}
    for row in rows:
        drawn.setdefault((row["method"], row["device"], row["threads"], row["set"], row.get("of")), []).append(row)
    for (method, device, threads, _, _), mine in drawn.items():
        label = NAMES[method]
        if device == "cuda":
            label += ", GPU"
        elif method in several:
            label += ", 1 thread" if threads == 1 else f", {threads} threads"
        how = {"color": COLORS[method], "marker": "^" if device == "cuda" else "o", "label": label,
               "linestyle": "--" if threads < most and device == "cpu" else "-"} | style(mine[0])
        axes.plot(*zip(*sorted((row[x], value(row)) for row in mine)), markersize=4, **how)


def finished(axes, title, x, y, columns=2, logarithmic="xy"):
    axes.set(title=title, xlabel=x, ylabel=y)
    if "x" in logarithmic:
        axes.set_xscale("log")
    if "y" in logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns, frameon=False)


def ratio_to_tree(rows, device="cpu"):
    """Times of each row over the plane tree's for the same points, on all threads."""
    threads = max((row["threads"] for row in rows), default=1)
    base = {row["n"]: row["median"] for row in rows
            if row["method"] == "tree" and row["device"] == device and row["threads"] == threads}
    return [{**row, "median": row["median"] / base[row["n"]]} for row in rows if row["n"] in base]


def draw_profile(rows):
    """Of points in random order the search is divided into that of the same points along the curve, and the rest."""
    bars = []
    for row in rows:
        stages = dict(row["stages"])
        along = next((other["stages"] for other in rows if other["method"] == "along the curve"
                      and all(other[key] == row[key] for key in ("n", "device", "threads"))), None)
        if row["method"] == "along the curve":
            continue
        if row["method"] == "random order" and along and "search" in stages:
            stages["rows"] = max(0, stages["search"] - along["search"])
            stages["search"] -= stages["rows"]
        where = "GPU" if row["device"] == "cuda" else "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
        if row["method"] == "ranks":
            where = f"{row['ranks']} ranks,\npoints of each together"
        bars.append((f"{where}\n{row['n']:,} points", {stage: 1e3 * took for stage, took in stages.items()}))
    figure, axes = pyplot.subplots(figsize=(10, 1.4 + 0.9 * len(bars)), layout="constrained")
    present = dict.fromkeys(stage for stage in STAGES for _, stages in bars if stage in stages)
    present |= dict.fromkeys(stage for _, stages in bars for stage in stages)
    left = numpy.zeros(len(bars))
    for stage in present:
        color, label = STAGES.get(stage, (None, stage))
        widths = numpy.array([stages.get(stage, 0) for _, stages in bars])
        axes.barh(range(len(bars)), widths, left=left, color=color, label=label)
        for at, (begin, width) in enumerate(zip(left, widths)):
            if width > 0.06 * max(sum(stages.values()) for _, stages in bars):
                axes.text(begin + width / 2, at, f"{width:.0f}", ha="center", va="center", color="white", fontsize="small")
        left += widths
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.invert_yaxis()
    axes.margins(x=0.02)
    axes.set(title=f"5: stages of a search for k = {K} neighbors of all points", xlabel="milliseconds")
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.4, -0.6 / (0.8 + 0.9 * len(bars))), ncols=4,
                frameon=False)
    yield "jz_tree_profile", figure


def draw_peers(rows):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
    lines(left, rows, "n")
    finished(left, f"6: k = {COMPARED_K}, as many queries as points, uniform", "points", "seconds", 3)
    lines(right, ratio_to_tree(rows), "n")
    right.axhline(1, color="gray", linewidth=0.8)
    finished(right, "6: times relative to the plane tree on the CPU", "points", "times", 3)
    yield "jz_tree_peers", figure


def draw_sets(rows):
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    colors = dict(zip(SETS, ("tab:orange", "black", "tab:blue", "tab:green", "tab:red")))
    for place, method in zip(axes, ("tree", "kdtree")):
        mine = [row for row in rows if row["method"] == method]
        lines(place, mine, "n", value=lambda row: 1e6 * row["median"] / row["n"], style=lambda row: {
            "color": colors[row["set"]], "label": SETS[row["set"]] + (", GPU" if row["device"] == "cuda" else "")})
        finished(place, f"7a: {NAMES[method]}, k = {K}", "points", "microseconds a point", 2, "x")
    yield "jz_tree_sets", figure


def draw_groups(rows):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
    lines(left, rows, "n")
    finished(left, f"8a: groups of a simulation, b = {B}, with catalog (peers: labels)", "particles", "seconds")
    lines(right, ratio_to_tree(rows), "n")
    right.axhline(1, color="gray", linewidth=0.8)
    finished(right, "8a: times relative to the plane tree on the CPU", "particles", "times")
    yield "jz_tree_groups", figure


def draw_scaling(rows):
    """Figures 9a to 9c."""
    figure, axes = pyplot.subplots(1, 3, figsize=(15, 5.2), layout="constrained")
    mine = [{**row, "of": row["n"]} for row in rows if row["figure"] == "9a"]
    largest = max((row["n"] for row in mine), default=0)
    lines(axes[0], mine, "d", style=lambda row: {
        "label": f"{NAMES[row['method']]}, {row['n']:,} points" + (", GPU" if row["device"] == "cuda" else ""),
        "linestyle": "-" if row["n"] == largest else "--"})
    axes[0].set_xticks(range(2, 9))
    finished(axes[0], f"9a: dimension, k = {K}", "dimension", "seconds", 2, "y")
    mine = [row for row in rows if row["figure"] == "9b"]
    lines(axes[1], mine, "k")
    axes[1].set_xscale("log", base=2)
    finished(axes[1], f"9b: {max((row['n'] for row in mine), default=0):,} points", "k", "seconds", 2, "y")
    axes[1].xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
    mine = [{**row, "of": row["n"] if row["queries"] else "all", "queries": row["queries"] or row["n"]}
            for row in rows if row["figure"] == "9c"]
    sources = sorted({row["of"] for row in mine if row["of"] != "all"})
    shades = dict(zip(sources, ("tab:blue", "tab:orange", "tab:green")))
    lines(axes[2], mine, "queries", style=lambda row: {
        "label": ("points search themselves" if row["of"] == "all" else f"{row['of']:,} points"
                  + (", tree kept" if row["method"] == "kept" else "")) + (", GPU" if row["device"] == "cuda" else ""),
        "color": shades.get(row["of"], "black"), "linestyle": ":" if row["method"] == "kept" else "-"})
    finished(axes[2], f"9c: queries, k = {K}", "queries", "seconds")
    yield "jz_tree_scaling", figure


def print_summary(rows):
    """The numbers of docs/jz-tree.md."""
    def show(title, pairs):
        print(f"{title}: " + ", ".join(f"{name} {value:.3g}" for name, value in pairs))

    def of(figure, **what):
        return [row for row in rows if row["figure"] == figure and all(row[key] == value for key, value in what.items())]

    for row in of("5"):
        percent = 100 / sum(row["stages"].values())
        show(f"5, {row['device']}, {row['method']}, {row['threads']} threads, {row['n']:,} points, percent of "
             f"{100 / percent:.3g} s", [(name, percent * took) for name, took in row["stages"].items()])
    for figure in ("6", "8a"):
        for n in dict.fromkeys(row["n"] for row in of(figure)):
            show(f"{figure}, {n:,} points, over the plane tree", [
                (f"{row['method']}/{row['device']}/{row['threads']}", row["median"])
                for row in ratio_to_tree(of(figure, n=n))])
    for row in of("8a copies") + of("III-E"):
        show(f"{row['figure']}, {row['n']:,} points, {row['device']}", [
            (name, row[name]) for name in ("median", "groups", "groups_of_one", "peak_bytes") if name in row])
    for method in ("tree", "kdtree"):
        for n in dict.fromkeys(row["n"] for row in of("7a", method=method)):
            base = {row["device"]: row["median"] for row in of("7a", method=method, n=n, set="uniform")}
            show(f"7a, {method}, {n:,} points, over uniform", [
                (f"{row['set']}/{row['device']}", row["median"] / base[row["device"]])
                for row in of("7a", method=method, n=n)])
    for figure, key in (("9a", "d"), ("9b", "k")):
        for method, n, device in dict.fromkeys((row["method"], row["n"], row["device"]) for row in of(figure)):
            show(f"{figure}, {method}, {n:,} points, {device}, seconds by {key}", [
                (row[key], row["median"]) for row in of(figure, method=method, n=n, device=device)])
    for method, n, device in dict.fromkeys((row["method"], row["n"] if row["queries"] else 0, row["device"])
                                           for row in of("9c")):
        mine = of("9c", method=method, device=device, **({"n": n} if n else {"queries": 0}))
        show(f"9c, {method}, {f'{n:,} points' if n else 'all points'}, {device}, seconds by queries", [
            (f"{row['queries'] or row['n']:,}", row["median"]) for row in mine if bool(row["queries"]) == bool(n)])


DRAW = {"5": draw_profile, "6": draw_peers, "7a": draw_sets, "8a": draw_groups, "9": draw_scaling}
