"""The pictures of thesis.py, from its rows."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import matplotlib.ticker as ticker

DEPTH = {False: 15, True: 10}  # of the limited trees, figures 5.4 to 5.7
FULL = "full depth"
NAMES = {"tree": "plane tree", "kdtree": "k-d tree", "spanning-tree": "spanning tree", "brute": "all pairs",
         "delaunay": "Delaunay (CGAL, 1 thread)", "scipy": "SciPy, pairs (1 thread)", "hfof": "hfof (1 thread)"}


def depth_of(engine, depth):
    """The name of an engine's rows of a depth."""
    return f"{NAMES[engine]}, {depth}"


def on_gpu(route):
    """The name of a route's rows on a GPU."""
    return f"{route}, GPU"


NAMES |= {on_gpu(route): f"{name}, GPU" for route, name in NAMES.items()}


def drawn(axes, rows, figure, style):
    """A line for each dimension and route."""
    for route, color in style.items():
        for dimension, marker, line in ((3, "o", "-"), (6, "s", "--")):
            mine = [row for row in rows
                    if row["figure"] == figure and row["route"] == route and row["d"] == dimension]
            if mine:
                others = "" if all(row.get("same_groups", True) for row in mine) else ", other groups"
                axes.plot(*zip(*sorted((row["n"], row["median"]) for row in mine)), line, color=color, marker=marker,
                          markersize=4, label=f"{NAMES.get(route, route)}, {dimension}-D{others}")


def ratios(axes, rows, figure, of, to, style):
    """Times of one route over those of others."""
    median = {(row["n"], row["d"], row["route"]): row["median"] for row in rows if row["figure"] == figure}
    for route in to:
        for dimension, marker, line in ((3, "o", "-"), (6, "s", "--")):
            mine = sorted((n, median[n, d, of] / seconds) for (n, d, name), seconds in median.items()
                          if name == route and d == dimension and (n, d, of) in median)
            if mine:
                axes.plot(*zip(*mine), line, color=style[route], marker=marker, markersize=4,
                          label=f"{NAMES.get(of, of)} over {NAMES.get(route, route)}, {dimension}-D")


def finished(axes, title, label, logarithmic=True):
    axes.set(title=title, xlabel="particles", ylabel=label)
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n / 1e6:g} million" if n >= 1e6 else f"{n:,.0f}")
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)


def drawn_figures(report):
    rows = report["rows"]

    def where(name):
        mine = [row for row in rows if row["figure"] == name]
        threads = max((row["threads"] for row in mine), default=1)
        return (("CPU: " if any(row["route"].endswith(", GPU") for row in mine) else "")
                + ("1 thread" if threads == 1 else f"{threads} threads"))

    there = {"tree": "tab:gray", "kdtree": "tab:cyan", "spanning-tree": "tab:olive", "brute": "tab:pink"}
    there = {on_gpu(route): color for route, color in there.items()}
    trees = {"spanning-tree": "tab:green", "brute": "tab:red", "delaunay": "tab:orange", **there}
    routes = {"tree": "black", "kdtree": "tab:blue", "spanning-tree": "tab:green", **there}
    limited = f"{DEPTH[report['quick']]} levels"
    depths = {depth_of("kdtree", FULL): "tab:blue", depth_of("kdtree", limited): "tab:cyan",
              depth_of("tree", FULL): "black", depth_of("tree", limited): "tab:purple"}

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
    drawn(left, rows, "5.2", trees)
    finished(left, f"5.2: spanning trees and all pairs, {where('5.2')}", "seconds")
    ratios(right, rows, "5.2", "brute", ["spanning-tree"], trees)
    ratios(right, rows, "5.2", "delaunay", ["spanning-tree"], {"spanning-tree": trees["delaunay"]})
    ratios(right, rows, "5.2", "spanning-tree", [on_gpu("brute")], trees)
    finished(right, "5.3: speed-up of the spanning tree", "times")
    yield "thesis_trees", figure

    if any(row["figure"] == "5.4" for row in rows):
        figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained")
        both = {(row["figure"], row["n"], row["d"], row["route"]): row["median"] for row in rows}
        whole = [{**row, "figure": "5.6", "median": row["median"] + both["5.5", row["n"], row["d"], row["route"]]}
                 for row in rows if row["figure"] == "5.4"]
        for place, name, title in ((axes[0, 0], "5.4", "building the tree"), (axes[0, 1], "5.5", "linking"),
                                   (axes[1, 0], "5.6", "both")):
            drawn(place, rows + whole, name, depths)
            finished(place, f"{name}: {title}, {where('5.4')}", "seconds")
        for engine in ("kdtree", "tree"):
            ratios(axes[1, 1], whole, "5.6", depth_of(engine, limited), [depth_of(engine, FULL)], depths)
        finished(axes[1, 1], "5.7: speed-up of full depth", "times", logarithmic=False)
        yield "thesis_depth", figure

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
    drawn(left, rows, "5.8", routes)
    finished(left, f"5.8: routes, {where('5.8')}", "seconds")
    slowest = "kdtree" if any(row["route"] == "kdtree" for row in rows) else "spanning-tree"
    ratios(right, rows, "5.8", slowest, ["tree", *there], routes)
    finished(right, "5.9: speed-up of the plane tree", "times", logarithmic=False)
    yield "thesis_routes", figure

    style = {"tree": "black", "kdtree": "tab:blue", "scipy": "tab:red", "hfof": "tab:orange", **there}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
    drawn(left, rows, "5.10", style)
    finished(left, f"5.10: beside SciPy and hfof, {where('5.10')}", "seconds")
    for peer in ("scipy", "hfof"):
        ratios(right, rows, "5.10", peer, ["tree", "kdtree", *there], style)
    finished(right, "5.11: speed-up", "times")
    yield "thesis_peers", figure


def print_tables(rows):
    """Tables 5.1 and 5.2: seconds, and their standard deviation in milliseconds."""
    for table, figure in (("5.1", "5.2"), ("5.2", "5.8")):
        mine = {(row["route"], row["d"], row["n"]): row for row in rows if row["figure"] == figure}
        columns = list(dict.fromkeys(key[:2] for key in mine))
        if not columns:
            continue
        print(f"table {table}\n| particles | " + " | ".join(f"{NAMES.get(route, route)}, {d}-D" for route, d in columns)
              + " |\n" + "|---" * (len(columns) + 1) + "|")
        for n in sorted({n for _, _, n in mine}):
            cells = [mine.get((*column, n)) for column in columns]
            print(f"| {n:,} | " + " | ".join(f"{cell['median']:.3g} ({1e3 * cell['deviation']:.2g})"
                                           if cell and "deviation" in cell else "" for cell in cells) + " |")
