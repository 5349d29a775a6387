"""What docs/ranks.md shows of bench/results/ranks/figures.json: tables and sentences with numbers, as Markdown.

bench/ranks.py measures, scripts/renew-pages.py copies the texts into the page. Each function of TEXTS takes the results
and returns a text, or None if what it shows was not measured yet.
"""

import collections

RANKS = (1, 2, 4, 8)
CALLS = {"knn": "neighbors, k = 16", "fof": "groups, b = 0.2", "mst": "spanning tree"}
# The calls whose memory is measured, as the page names them.
IN_MEMORY = {"knn": "`knn`, with rows", "fof": "`fof`, with labels", "mst": "`spanning_tree`, with edges",
             "dbscan": "`dbscan`, with an eps of 0.7 mean separations", "radius_search": "`radius_search`, with rows",
             "radius_count": "`radius_count`", "knn_visit": "`knn_visit`", "sums_by_k": "`sum_neighbors`, densities by k",
             "sums_within": "`sum_neighbors`, densities within the radius",
             "pair_counts": "`pair_counts`, up to 0.02 box lengths"}
# Lines of the table of volumes, and the sets of each.
VOLUMES = {"uniform": ("uniform",), "one halo, ever denser toward its center": ("halo",),
           "1,000 overlapping clusters": ("overlapping clusters",),
           "8, 16 and 64 isolated clusters": ("8 isolated clusters", "16 isolated clusters", "64 isolated clusters"),
           "50 filaments": ("filaments",), "1,000 isolated clusters of 100 points": ("1000 isolated clusters",)}
POINT_BYTES = 16  # of a point on its way: 3-D float32, and a number


def time_of(row):
    """Of the slowest rank; of GPUs by the clock."""
    return row["clock"] if row["device"] == "cuda" else max(row["seconds"])


def chosen(rows, **wanted):
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def efficiencies(rows, call, kind, name, device):
    """Rows with their efficiency: against one rank with its share of the points, or with all of them."""
    mine = chosen(rows, call=call, figure=kind, set=name, device=device)
    alone = {row["points"]: time_of(row) for row in mine if row["ranks"] == 1}
    for row in mine:
        of_one = alone[row["points"] // row["ranks"]] if kind == "weak" else alone[row["points"]] / row["ranks"]
        yield {**row, "efficiency": of_one / time_of(row)}


def table(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def scaling(report):
    """Times, efficiencies, and what the rank that received the most has received."""
    rows, lines = report["rows"], []
    for kind, name in (("weak", "uniform"), ("strong", "uniform"), ("strong", "cosmic")):
        for call in CALLS:
            for device in ("cpu", "cuda"):
                found = list(efficiencies(rows, call, kind, name, device))
                most = max((row["points"] // (row["ranks"] if kind == "weak" else 1) for row in found), default=0)
                cells = {row["ranks"]: f"{time_of(row):.3g} s, {row['efficiency']:.2f}, {max(row['received']) / 1e6:.2g} MB"
                         for row in found if row["points"] == most * (row["ranks"] if kind == "weak" else 1)}
                if cells:
                    where = f"{most:,} {'each' if kind == 'weak' else 'in all'}, {name}{', GPUs' * (device == 'cuda')}"
                    lines.append([kind, where, f"`{call}`", *(cells.get(ranks, "") for ranks in RANKS)])
    head = [f"{ranks} rank{'s' * (ranks > 1)}" for ranks in RANKS]
    return table(["scaling", "points", "call", *head], lines) if lines else None


def build(report):
    """A sentence on the build that took these times."""
    builds = {row.get("build") for row in report["rows"] if row["figure"] in ("weak", "strong", "apart")}
    if not builds or None in builds:
        return None
    others = sorted(builds - {"Release"})
    return (f"Times are {'in part ' * ('Release' in builds)}those of a build for development (`{'`, `'.join(others)}`).\n"
            if others else "Times are those of a build that is optimized as a release.\n")


def volumes(report):
    """Bytes that all ranks receive for the spanning tree, over those for neighbors, of all draws of a set together."""
    rows = chosen(report["rows"], figure="volume")
    if not rows:
        return None
    received = collections.Counter()
    for row in rows:
        received[row["set"], row["ranks"], row["call"]] += sum(row["received"])
    counts = sorted({row["ranks"] for row in rows})
    return table(["points", *(f"{ranks} ranks" for ranks in counts)],
                 [[line, *(", ".join(f"{received[name, ranks, 'mst'] / received[name, ranks, 'knn']:.2f}" for name in sets)
                           for ranks in counts)] for line, sets in VOLUMES.items()])


def memory(report):
    """Bytes per point of the whole process beyond the points."""
    rows = chosen(report["rows"], figure="memory")
    if not rows:
        return None
    bytes_of = {(row["call"], row["ranks"]): row["resident"] / row["points"] for row in rows}
    counts = sorted({row["ranks"] for row in rows})
    head = ["one process" if ranks == 1 else f"{ranks} ranks" for ranks in counts]
    return (f"Measured with {rows[0]['points']:,} points in 3-D float32, with k = 16 or as many neighbors within the "
            "radius, in bytes per point of the whole process, in addition to the points:\n\n" +
            table(["call", *head],
                  [[name, *(f"{bytes_of[call, ranks]:.0f}" for ranks in counts)] for call, name in IN_MEMORY.items()]))


def most_received(report):
    """A sentence on the traffic of the largest weak scaling."""
    found = {call: max(chosen(report["rows"], call=call, figure="weak", ranks=8, device="cpu"),
                       key=lambda row: row["points"], default=None) for call in ("knn", "fof")}
    if None in found.values():
        return None
    knn, fof = (max(found[call]["received"]) / 1e6 for call in ("knn", "fof"))
    return (f"With {found['knn']['points'] // 8:,} points per rank on 8 ranks, the rank with the most traffic received "
            f"{knn:.3g} MB (`knn`) and {fof:.2g} MB (`fof`).\n")


def parts_of(plan, call):
    """Modeled seconds of a rank: on its own points, on those of others and the search for them, on the network."""
    seconds, cost = plan[call]["seconds"], plan["constants"][call]
    own = sum(plan["points_per_rank"] * each for each in cost["seconds_per_point"].values())
    return {"own": own, "others": max(0.0, seconds["all"] - own - seconds["exchange"]), "exchange": seconds["exchange"],
            "all": seconds["all"]}


def model(report):
    """Weak scaling to thousands of ranks, as kith plan models it."""
    if "model" not in report:
        return None
    plans, lines = report["model"]["plans"], []
    for call in ("knn", "fof"):
        for plan in plans:
            part = parts_of(plan, call)
            lines.append([f"{plan['ranks']:,}", f"`{call}`", f"{part['own']:.2f}", f"{part['others']:.2f}",
                          f"{part['exchange']:.3f}", f"{part['all']:.2f}",
                          f"{parts_of(plans[0], call)['all'] / part['all']:.2f}",
                          f"{plan[call]['bytes_received_per_rank'] / 1e6:.1f}",
                          f"{plan[call]['memory_bytes_per_rank'] / 1e9:.2f}"])
    return table(["ranks", "call", "own points, s", "points of other ranks, s", "exchange, s", "total, s", "efficiency",
                  "received, MB", "memory, GB"], lines)


def comparison(report):
    """The measured efficiencies beside the modeled ones, and what explains the difference."""
    rows = report["rows"]
    if "model" not in report or not all(chosen(rows, figure=figure, set=name, ranks=8, device="cpu") for figure, name in
                                        (("weak", "uniform"), ("strong", "uniform"), ("apart", "cubes"))):
        return None
    eight, small = report["model"]["plans"][1], report["model"]["small"]
    measured, modeled, constants, costs, corrected, stated, apart = ({} for _ in range(7))
    for call in ("knn", "fof"):
        weak = max(efficiencies(rows, call, "weak", "uniform", "cpu"), key=lambda row: (row["points"], row["ranks"]))
        measured[call] = weak["efficiency"]
        of_small = parts_of(small, call)
        modeled[call] = of_small["own"] / of_small["all"]
        part, received = parts_of(eight, call), eight[call]["bytes_received_per_rank"]
        constants[call] = 1e6 * part["others"] / (received / POINT_BYTES)
        stated[call] = part["own"] / part["all"]
        strong = {row["ranks"]: row for row in chosen(rows, call=call, figure="strong", set="uniform", device="cpu")}
        costs[call] = 1e6 * (time_of(strong[8]) - time_of(strong[1]) / 8) / (max(strong[8]["received"]) / POINT_BYTES)
        corrected[call] = part["own"] / (part["own"] + part["exchange"] + 1e-6 * costs[call] * received / POINT_BYTES)
        alone = {row["ranks"]: time_of(row) for row in chosen(rows, call=call, figure="apart", device="cpu")}
        apart[call] = alone[8] / (alone[1] / 8)
    points = max(row["points"] for row in chosen(rows, figure="strong", set="uniform", device="cpu"))
    of_cube = chosen(rows, figure="apart", device="cpu")[0]["points"] // 8
    of_rank = {name: plan["points_per_rank"] for name, plan in (("large", eight), ("small", small))}
    if weak["points"] != 8 * of_rank["small"]:
        return None
    layer = (of_rank["large"] / of_rank["small"]) ** (1 / 3)  # in relation to the points, as surface to volume
    return (
        f"The efficiencies measured [above](#scaling) on 8 ranks of {of_rank['small']:,.0f} points are "
        f"{measured['knn']:.2f} for `knn` and {measured['fof']:.2f} for `fof`; the model gives {modeled['knn']:.2f} and "
        f"{modeled['fof']:.2f} for them, since their layer is {layer:.2f} times as large in relation to their own points as "
        f"that of {of_rank['large']:,.0f}. The rest is the cost of a point of the layer: {constants['knn']:.2g} µs (`knn`) "
        f"and {constants['fof']:.2g} µs (`fof`) in this table, since "
        "`kith bench --ranks` takes stages by the clock, scaled by those of the rank's own search, and leaves out what lies "
        f"between stages. Of {points:,} points on 8 ranks that take turns on one core, the processor time of the slowest "
        f"exceeded an eighth of one process's by {costs['knn']:.2g} and {costs['fof']:.2g} µs for each {POINT_BYTES} bytes "
        f"received. With these costs the model gives {corrected['knn']:.2f} and {corrected['fof']:.2f} instead of "
        f"{stated['knn']:.2f} and {stated['fof']:.2f} for 8 ranks in this table. The division as such costs little: for "
        f"eight cubes of {of_cube:,} points that are far apart, the slowest of 8 ranks took {apart['knn']:.2f} (`knn`) and "
        f"{apart['fof']:.2f} times (`fof`) its share of one process's time.\n")


TEXTS = {"scaling": scaling, "build": build, "volumes": volumes, "memory": memory, "most received": most_received,
         "model": model, "comparison": comparison}
