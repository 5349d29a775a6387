#!/usr/bin/env python3
"""Measures kith beside its peers, from unsorted points in memory to answers in the order of the input.

Every contestant is a process that holds the points and runs when told to; they run in turn, so that ratios are paired.
Each answer is checked before its time is printed: distances are those of the indices, agree with kith's, and kith's with
all pairs for a few rows; groups are the same partition. A peer that is not installed or cannot take a workload is named
with the reason. The first run of each warms up and is checked; memory is measured in it. A round counts the median of
what a contestant ran in its turn. "times kith" is the median over rounds of the peer's time over kith's. "bytes a point"
is peak memory beyond the points and the smallest form of the answer.

  make bench                                   builds the contestants, runs the suite 'must'
  bench/compare.py --suite quick               two minutes: does everything run and agree?
  bench/compare.py --points clustered -n 1e6 -k 8,16,32 --threads 1 --peers nanoflann,scipy
  bench/compare.py --points clustered -n 1e6 -b 0.1,0.2 --threads 1,2
  bench/compare.py --points mine.npy -k 16     your own points
"""

import argparse
import datetime
import itertools
import json
import pathlib
import sys

import environment

if "--install" not in sys.argv:
    environment.require("numpy")
    import contest
    import point_sets
    import workloads

RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def whole(text):
    value = float(text)
    if value != int(value) or value < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not 0, 1, 2, ...")
    return int(value)


def listed(kind):
    def parse(text):
        try:
            return [kind(word) for word in text.split(",")]
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers separated by commas") from None
    return parse


def arguments_of(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", help="quick, must or full; the default is must if no workload is described")
    choice = parser.add_argument_group("one workload, or all combinations of the values given (separated by commas)")
    choice.add_argument("--points", type=lambda text: text.split(","), metavar="SET",
                        help="uniform, gaussian, lattice, clustered, soneira_peebles, hilly, duplicates, cosmic; file:NAME "
                             "for real points; or a .npy file (default: uniform)")
    choice.add_argument("-n", type=listed(whole), help="number of points (1e6)")
    choice.add_argument("-d", type=listed(whole), help="dimensions (3)")
    choice.add_argument("-k", type=listed(whole), help="neighbors of each (16)")
    choice.add_argument("-b", type=listed(float), help="groups instead: linking lengths over the mean separation")
    choice.add_argument("--queries", type=listed(whole), help="that many separate queries instead of a self-search")
    choice.add_argument("--keep-tree", action="store_true", help="time only the queries, not the tree")
    choice.add_argument("--periodic", action="store_true", help="in the periodic box of the set")
    choice.add_argument("--dtype", type=lambda text: text.split(","), help="float32 (default), float64")
    choice.add_argument("--threads", type=listed(whole), help="0 is all cores (default)")
    how = parser.add_argument_group("how to measure")
    how.add_argument("--peers", help="some of nanoflann, cgal, grid, scipy, pykdtree, faiss, hfof, scipy_pairs, dbscan; or none "
                                     "(default: all)")
    how.add_argument("--repetitions", type=whole, default=5, help="rounds; in each, short runs are repeated (%(default)s)")
    how.add_argument("--limit", type=float, default=20, metavar="SECONDS",
                     help="a peer that takes longer is run once, and stopped at ten times that (%(default)s)")
    where = parser.add_argument_group("where things are")
    where.add_argument("--programs", type=pathlib.Path, default=environment.BUILD / "bin",
                       help="folder of the compiled contestants (build/bench/bin)")
    where.add_argument("--output", type=pathlib.Path, help="results as JSON (bench/results/SUITE-DATE.json)")
    where.add_argument("--install", nargs="*", metavar="SOURCE",
                       help="make build/bench-venv with the peers that are Python packages, and exit; SOURCE is any further "
                            "package or folder for pip, such as a peer's sources")
    arguments = parser.parse_args(words)
    if arguments.install is not None:
        return arguments

    arguments.folder = environment.ROOT / "build" / "bench-data"
    arguments.python = environment.python()
    described = {name: value for name in ("points", "n", "d", "k", "b", "queries", "dtype", "threads")
                 if (value := getattr(arguments, name)) is not None}
    if arguments.suite and (described or arguments.keep_tree or arguments.periodic):
        parser.error("choose a suite or describe a workload, not both")
    names = list(contest.PEERS) if arguments.peers is None else [
        name for name in arguments.peers.split(",") if name not in ("", "none")]
    if unknown := [name for name in names if name not in contest.PEERS]:
        parser.error(f"there is no peer '{unknown[0]}'; there are {', '.join(contest.PEERS)}")
    arguments.peers = names
    if arguments.repetitions < 1 or arguments.limit <= 0:
        parser.error("--repetitions must be 1 or more, --limit above 0")
    if arguments.suite or not (described or arguments.keep_tree or arguments.periodic):
        arguments.suite = arguments.suite or "must"
        if arguments.suite not in workloads.SUITES:
            parser.error(f"there is no suite '{arguments.suite}'; there are {', '.join(workloads.SUITES)}")
        arguments.workloads = workloads.SUITES[arguments.suite]()
    else:
        arguments.workloads = list(combinations(parser, arguments, described))
    return arguments


def combinations(parser, arguments, described):
    """All workloads that the options describe."""
    if "b" in described:
        for option in ("k", "queries"):
            if option in described:
                parser.error(f"-b asks for groups, -{'-' * (len(option) > 1)}{option} for neighbors; choose one")
        if arguments.keep_tree:
            parser.error("--keep-tree is for separate queries, not for groups")
        described["k"] = [0]
    elif arguments.keep_tree and "queries" not in described:
        parser.error("--keep-tree needs --queries")
    limits = {"n": (1, 2**31 - 1), "d": (2, 8), "k": (0 if "b" in described else 1, 2**31 - 1), "queries": (1, 2**31 - 1),
              "threads": (0, 4096)}
    for option, (least, most) in limits.items():
        for value in described.get(option, ()):
            if not least <= value <= most:
                parser.error(f"{option} = {value} is not in {least} to {most:,}")
    for value in described.get("b", ()):
        if not value > 0:
            parser.error(f"b = {value} is not above 0")
    for value in described.get("dtype", ()):
        if value not in ("float32", "float64"):
            parser.error(f"dtype {value} is neither float32 nor float64")
    for name in described.get("points", ()):
        if name not in point_sets.SETS and name not in point_sets.FILES and not name.endswith(".npy"):
            parser.error(f"there are no points '{name}'; there are {', '.join([*point_sets.SETS, *point_sets.FILES])}, "
                         "and .npy files")
        if name not in point_sets.SETS and ("n" in described or "d" in described):
            parser.error(f"{name} says itself how many points it has and of what dimension; leave out -n and -d")
        if name.endswith(".npy") and not pathlib.Path(name).exists():
            parser.error(f"{name} is not there")
    fixed = {"keep_tree": arguments.keep_tree, "periodic": arguments.periodic}
    for values in itertools.product(*described.values()):
        chosen = dict(zip(described, values), **fixed)
        if chosen.get("points", "uniform") not in point_sets.SETS:
            chosen.update(n=0, d=0)  # the file says
        yield workloads.Workload(**chosen)


def seconds(value):
    return f"{value * 1000:.3g} ms" if value < 0.1 else f"{value:.3g} s"


def table(record):
    """The record of one workload as lines."""
    shown = record["results"].items()
    rows = [("", "median", "least", "most", "times kith", "peak memory", "bytes a point", "")]
    for name, result in sorted(shown, key=lambda item: item[1]["median"]):
        if name in record["wrong"]:
            continue
        notes = []
        if not result["runs"]:
            notes.append("one run")
        if result["threads_used"] > 1.1 * record["threads"] and result["median"] > 0.02:
            notes.append(f"used {result['threads_used']:.1f} threads, not {record['threads']}")
        # Below that, the pages of the program itself are most of what is counted.
        per_point = f"{result['bytes_per_point']:.0f}" if record["n"] >= 100_000 else "-"
        rows.append((f"{name} {result['version']}", seconds(result["median"]), seconds(result["min"]), seconds(result["max"]),
                     f"{result['times_kith']:.2f}", f"{result['peak_bytes'] / 1e6:.0f} MB", per_point, ", ".join(notes)))
    widths = [max(len(row[column]) for row in rows) for column in range(8)]
    lines = []
    for row in rows if len(rows) > 1 else ():
        numbers = [cell.rjust(width) for cell, width in zip(row[1:7], widths[1:7])]
        lines.append("  ".join(["", row[0].ljust(widths[0]), *numbers, row[7]]).rstrip())
    if "kith" in record["results"]:
        stages = record["results"]["kith"]["stages"]
        lines.append("  kith's stages: " + ", ".join(f"{name} {seconds(value)}" for name, value in stages.items()))
    for name, reason in record["left_out"].items():
        if reason in ("finds no groups", "finds no neighbors"):
            continue  # a matter of course
        lines.append(f"  without {name}: {reason}")
    for name, flaw in record["wrong"].items():
        lines.append(f"  WRONG ANSWER of {name}: {flaw}")
    if goal := verdict(record):
        lines.append(f"  {goal}")
    return lines


def verdict(record):
    """Whether kith is as many times faster than the best peer as it should be."""
    if not record["must"] or "kith" not in record["results"] or "kith" in record["wrong"]:
        return None
    peers = {name: result["times_kith"] for name, result in record["results"].items()
             if name != "kith" and name not in record["wrong"]}
    if not peers:
        return f"goal: {record['must']:g} times faster than the best peer; no peer took part"
    best = min(peers, key=peers.get)
    met = "met" if peers[best] >= record["must"] else "MISSED"
    return (f"goal: {record['must']:g} times faster than the best peer (aim {record['aim']:g}): {peers[best]:.2f} ({best}), "
            f"{met}")


def write(path, report):
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(report, indent=1) + "\n")
    unfinished.replace(path)


def main():
    arguments = arguments_of(sys.argv[1:])
    if arguments.install is not None:
        missing = environment.install(arguments.install)
        print(f"the peers are in {environment.VENV}" + (f", without {', '.join(missing)}" if missing else ""))
        return 0
    if not (arguments.programs / "contest_kith").exists():
        sys.exit(f"compare.py: {arguments.programs / 'contest_kith'} is not there; make bench builds it, or give --programs")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now()
    output = arguments.output or RESULTS / f"{arguments.suite or 'choice'}-{now:%Y-%m-%d-%H%M}.json"
    report = {"date": now.isoformat(timespec="minutes"), "suite": arguments.suite, "commit": environment.commit(),
              "machine": environment.machine(), "repetitions": arguments.repetitions, "limit": arguments.limit,
              "contestants": {}, "workloads": []}
    machine = report["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['memory_bytes'] / 1e9:.0f} GB, {machine['system']}; "
          f"commit {(report['commit'] or 'unknown')[:12]}{'+' * (report['commit'] or '').endswith('+')}")
    if machine["load_at_start"] > 0.5:
        print(f"other work is running (load {machine['load_at_start']:.1f}): times will be too long, above all with all cores")

    def say(about):
        if about["name"] not in report["contestants"]:
            report["contestants"][about["name"]] = about
            print(f"{about['name']} {about['version']}: {about['settings']} ({about['build']})", flush=True)

    failed = False
    for workload in arguments.workloads:
        peers = [name for name in arguments.peers if workload.peers is None or name in workload.peers]
        print(f"\n{workload.describe()}", flush=True)
        try:
            record = contest.measure(workload, peers, arguments, say)
        except (ValueError, OSError, contest.Trouble) as error:
            print(f"  not measured: {error}", flush=True)
            failed = True
            continue
        report["workloads"].append(record)
        print("\n".join(table(record)), flush=True)
        failed = failed or bool(record["wrong"]) or "kith" not in record["results"]
        write(output, report)
    if report["workloads"]:
        goals = [goal for record in report["workloads"] if (goal := verdict(record))]
        if goals:
            print(f"\n{sum('MISSED' not in goal and 'no peer' not in goal for goal in goals)} of {len(goals)} goals met")
        print(f"\nall times are in {output}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
