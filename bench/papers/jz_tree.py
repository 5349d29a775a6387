#!/usr/bin/env python3
"""Remakes figures 5, 6, 7a, 8a and 9a to 9c of the jz-tree paper on this machine: jz_tree.py [--quick].

Source: J. Stücker, O. Hahn, L. Winkler, A. Gutierrez Adame, T. Flöss, jz-tree: GPU friendly neighbour search and
friends-of-friends with dual tree walks in JAX plus CUDA, arXiv:2604.05885 (2026). The paper has a GPU. Here rows are
measured on the CPU, or with --device on a GPU, points and rows in its memory if CuPy is installed, else with copies from
and to the host's. Its simulations are replaced by kith.datasets.cosmic_box, also with N^(1/3) Mpc/h and one particle a
cell.

What is compared (a method that is missing is named and left out):
  tree, kdtree, clover, brute        kith's engines: its default, a k-d tree, cells around hubs, all pairs
  nanoflann, scipy, pykdtree, faiss  neighbors, as in bench/compare.py
  hfof, scipy_pairs                  groups, likewise; one thread
Answers of kith's engines, devices and numbers of threads must be the same bits; of a GPU's rows, which are compared with
the CPU's, a sample where they are many. Those of peers must agree with them.

Figure 5 (jz_tree_stages.py) takes the stages that the program reports, and mpirun for ranks. All else calls the Python
package kith: install it (pip install .), or name the folder of a build: PYTHONPATH=build/dev/python, whose code is about
a quarter slower. The simulations run once, the largest for several minutes, and are kept in build/bench-data; with
--device only small ones run, so bring that folder. Beside them all takes about eight minutes, --quick half a minute.

Beyond the paper's figures: labels at its largest size (8a), and rows that are brought to a visitor (III-E).

Results go to bench/results/jz_tree/figures.json, figures to docs/images. --plot FILE only draws.
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environment  # noqa: E402

environment.require("matplotlib", "numpy")
import checks
import contest
import figures
import jz_tree_stages
import numpy
import workloads
from jz_tree_drawing import B, COMPARED_K, DRAW, K, NAMES, SETS, print_summary

KEPT = environment.ROOT / "build" / "bench-data" / "points"
LONG, PATIENCE = 2.0, 600  # seconds: what takes longer runs once; what takes longer still is stopped
MOST_PAIRS = {False: 1e5**2, True: 1e4**2}  # of all pairs; what is more is left out
SIZES = {False: {"profile": 2_000_000, "peers": (1000, 10_000, 100_000, 1_000_000, 3_000_000), "sides": (32, 64, 100, 160),
                 "copies": (128, 4), "visits": (1_000_000, 10_000_000, 100_000_000), "dimension": (100_000, 1_000_000),
                 "neighbors": 1_000_000, "sources": (100_000, 1_000_000, 10_000_000),
                 "queries": (100, 1000, 10_000, 100_000, 1_000_000, 3_000_000)},
         True: {"profile": 100_000, "peers": (1000, 10_000, 30_000), "sides": (16, 32), "copies": (16, 2),
                "visits": (10_000, 100_000), "dimension": (10_000,), "neighbors": 30_000, "sources": (10_000,),
                "queries": (100, 1000, 10_000, 30_000)}}
MOST_OF_SLOW = 1_000_000  # points; larger sets are searched with the plane tree, CLOVER and nanoflann only
NEIGHBOR_PEERS = ("nanoflann", "scipy", "pykdtree", "faiss")
GROUP_PEERS = ("hfof", "scipy_pairs")
LARGEST_SIMULATED = 32**3  # points of a simulation that runs with --device, in seconds; larger ones must be at hand


class Measurements:
    def __init__(self, arguments, scratch):
        self.quick, self.threads, self.scratch = arguments.quick, arguments.threads, scratch
        self.program, self.programs = arguments.program, arguments.programs
        self.sizes = SIZES[arguments.quick]
        self.rows, self.left_out, self.versions = [], {}, {"kith": kith.__version__}
        self.device = arguments.device
        self.kind = "cuda" if self.device else "cpu"
        self.gpu = figures.Gpu(self.device) if self.device else None

    def leave_out(self, figure, what, reason):
        if self.left_out.setdefault(f"{figure}: {what}", str(reason)) == str(reason):
            print(f"  {figure}: without {what}: {reason}", flush=True)

    def given(self, **what):
        """A workload, and its points and queries: drawn once, then found in the folder of bench/compare.py."""
        workload = workloads.Workload(threads=self.threads, **what)
        return workload, contest.Input(workload, KEPT, self.scratch)

    def is_at_hand(self, figure, points, n):
        """Whether a set is there, or made within seconds: on a GPU's machine nothing is simulated for minutes."""
        path, _ = contest.Input.kept(workloads.Workload(points=points, n=n), KEPT, n)
        if self.device is None or points != "cosmic" or n <= LARGEST_SIMULATED or path.exists():
            return True
        self.leave_out(figure, f"{points}, {n:,} points", f"simulated for minutes; bring it as {path.name}, and its period")
        return False

    def add(self, figure, workload, method, seconds, threads=None, **more):
        row = {"figure": figure, "set": workload.points + (", periodic" if workload.periodic else ""), "n": workload.n,
               "d": workload.d, "k": workload.k, "queries": workload.queries, "method": method,
               "device": self.kind, "threads": threads or self.threads, "median": statistics.median(seconds),
               "min": min(seconds), "max": max(seconds), "runs": len(seconds), **more}
        self.rows.append(row)
        asked = f"{workload.queries:,} queries of " if workload.queries else ""
        print(f"  {figure}: {asked}{workload.n:,} points ({row['set']}) in {workload.d}-D, k = {workload.k}, {method}, "
              f"{'GPU' if self.device else 'threads: ' + str(row['threads'])}: {row['median']:.4g} s", flush=True)

    @staticmethod
    def repeated(first, run):
        """Seconds; the first run warmed up, but is enough if it is long. Short ones are repeated more often."""
        return [first] if first > LONG else [run() for _ in range(max(3, min(25, int(0.3 / max(first, 1e-6)))))]

    def neighbors(self, figure, methods, peers=(), **what):
        """A row for each method, all of the same bits, and on the CPU one for each peer: (name, threads)."""
        workload, given = self.given(**what)
        points, queries = numpy.array(given.points), None if given.queries is None else numpy.array(given.queries)
        box, asked = given.box or None, workload.queries or workload.n
        some, expected = figures.compared(asked) if self.device else slice(None), None
        if self.device:  # not timed
            expected = kith.knn(points, workload.k, (points if queries is None else queries)[some], box=box)
            points, queries = self.gpu.array(points), None if queries is None else self.gpu.array(queries)
        out = [self.array(numpy.zeros((asked, workload.k), dtype=kind)) for kind in (workload.dtype, numpy.int32)]
        for method in methods:
            if method == "brute" and workload.n * asked > MOST_PAIRS[self.quick]:
                continue
            try:
                search = self.search_of(method, points, queries, workload.k, box, tuple(out))
                first = self.timed(search)
            except (NotImplementedError, MemoryError) as reason:
                self.leave_out(figure, f"{NAMES[method]} on {self.kind}", reason)
                continue
            found = [figures.on_host(rows[some]) for rows in out]
            if expected is None:
                expected = [rows.copy() for rows in found]
            elif not all(map(numpy.array_equal, expected, found)):
                sys.exit(f"jz_tree.py: the rows of {method} on {self.kind} are others; this is a defect of kith")
            self.add(figure, workload, method, self.repeated(first, lambda: self.timed(search)))
        if expected is not None and self.device is None:
            judge = self.judge_of_neighbors(workload, given, expected)
            for peer, threads in peers:
                self.peer(figure, workload, given, peer, threads, judge)

    def array(self, rows):
        return self.gpu.array(rows) if self.gpu else rows

    def timed(self, run):
        if self.gpu:
            return self.gpu.timed(run)[0]
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    def search_of(self, method, points, queries, k, box, out):
        how = {"device": self.device, "threads": self.threads}
        if method == "kept":
            tree = kith.Tree(points, box, **how)
            return lambda: tree.query(queries, k, threads=self.threads, out=out)
        return lambda: kith.knn(points, k, queries, box=box, engine=method, out=out, **how)

    def judge_of_neighbors(self, workload, given, expected):
        neighbors = checks.Neighbors(given.points, given.queries, workload.k, given.box, workload.dtype)
        ours = str(self.scratch / "kith")
        for name, rows in zip(("distances", "indices"), expected):
            numpy.save(f"{ours}.{name}.npy", rows)
        if flaw := neighbors.in_itself(ours) or neighbors.against_all_pairs(ours):
            sys.exit(f"jz_tree.py: kith's rows are wrong: {flaw}")

        def judge(peer):
            slack = peer.introduction.get("squared_slack", 0.0)
            theirs = self.answer(peer)
            return neighbors.in_itself(theirs, slack) or neighbors.against(ours, theirs, slack)

        return judge

    def answer(self, peer, command="answer"):
        prefix = str(self.scratch / "peer")
        peer.ask(f"{command} {prefix}", PATIENCE)
        return prefix

    def peer(self, figure, workload, given, name, threads, judge):
        command = contest.command_of(name, self.programs, environment.python())
        if not pathlib.Path(command[0]).exists():
            self.leave_out(figure, name, f"{pathlib.Path(command[0]).name} is not built")
            return
        arguments = [argument if not argument.startswith("threads=") else f"threads={threads}"
                     for argument in given.arguments(workload)]
        peer, what = None, f"{name}, {workload.n:,} points"
        try:
            peer = contest.Contestant(name, command + arguments, threads)
            about = peer.introduction
            if refused := about.get("absent") or about.get("unsupported"):
                self.leave_out(figure, name if "absent" in about else what, refused)
                return
            self.versions[name] = about["version"]
            first = peer.ask("run", PATIENCE)["seconds"]
            if flaw := judge(peer):
                self.leave_out(figure, what, f"a wrong answer: {flaw}")
                return
            seconds = self.repeated(first, lambda: peer.ask("run", PATIENCE)["seconds"])
            self.add(figure, workload, name, seconds, threads=threads)
        except contest.Trouble as trouble:
            self.leave_out(figure, what, trouble)
        finally:
            if peer:
                peer.stop()

    def peers(self):
        """Figure 6."""
        everyone = [(name, self.threads) for name in NEIGHBOR_PEERS] + [("scipy", 1)] * (self.threads > 1)
        for n in self.sizes["peers"]:
            small = n <= MOST_OF_SLOW
            self.neighbors("6", ("tree", "kdtree", "clover", "brute") if small else ("tree", "clover"),
                           everyone if small else everyone[:1], points="uniform", n=n, queries=n, k=COMPARED_K)

    def sets(self):
        """Figure 7a."""
        for side in self.sizes["sides"]:
            for name in SETS:
                points, _, periodic = name.partition(", ")
                if self.is_at_hand("7a", points, side**3):
                    self.neighbors("7a", ("tree", "kdtree") if side**3 <= MOST_OF_SLOW else ("tree",), points=points,
                                   periodic=bool(periodic), n=side**3, k=K)

    def groups(self):
        """Figure 8a: labels, and the catalog of groups of at least 20 members; of peers labels only."""
        for side in self.sizes["sides"]:
            if not self.is_at_hand("8a", "cosmic", side**3):
                continue
            workload, given = self.given(points="cosmic", n=side**3, k=0, b=B, periodic=True)
            points, expected = numpy.array(given.points), None
            if self.device:  # not timed
                expected = kith.fof(points, given.linking_length, box=given.box)
                points = self.gpu.array(points)
            for method, threads in dict.fromkeys((("tree", self.threads), ("tree", 1), ("kdtree", self.threads),
                                                  ("brute", self.threads))):
                if method == "brute" and workload.n**2 > MOST_PAIRS[self.quick] or self.device and threads != self.threads:
                    continue

                def find():
                    found[:] = kith.fof(points, given.linking_length, box=given.box, engine=method, device=self.device,
                                        threads=threads, return_catalog=True)

                found = []
                try:
                    first = self.timed(find)
                except (NotImplementedError, MemoryError) as reason:
                    self.leave_out("8a", f"{NAMES[method]} on {self.kind}", reason)
                    continue
                labels = figures.on_host(found[0])
                expected = labels if expected is None else expected
                if not numpy.array_equal(labels, expected):
                    sys.exit(f"jz_tree.py: the groups of {method} on {self.kind} are others; this is a defect of kith")
                self.add("8a", workload, method, self.repeated(first, lambda: self.timed(find)), threads,
                         groups=len(found[1]))

            def regrouped(factor, peer):
                return numpy.load(self.answer(peer, f"regroup {factor!r}") + ".labels.npy")

            def judge(peer):
                theirs = numpy.load(self.answer(peer) + ".labels.npy")
                return checks.groups_agree(expected, theirs, lambda factor: regrouped(factor, peer))

            for peer in () if self.device else GROUP_PEERS:
                self.peer("8a", workload, given, peer, 1, judge)

    def copied_groups(self):
        """Figure 8a at the paper's size: labels alone, of copies of a simulation side by side in a box of their own."""
        side, copies = self.sizes["copies"]
        if not self.is_at_hand("8a copies", "cosmic", side**3):
            return
        workload, given = self.given(points="cosmic", n=side**3, k=0, b=B, periodic=True)
        one = numpy.array(given.points)
        groups = kith.fof(one, given.linking_length, box=given.box, threads=self.threads).max() + 1
        corners = given.box * numpy.stack(numpy.indices(3 * (copies,)), axis=-1).reshape(-1, 1, 3).astype(one.dtype)
        points = self.array((one + corners).reshape(-1, 3))
        workload, found = dataclasses.replace(workload, n=len(points)), []

        def find():
            found[:] = [kith.fof(points, given.linking_length, box=copies * given.box, device=self.device,
                                 threads=self.threads)]

        try:
            first = self.timed(find)
        except (NotImplementedError, MemoryError) as reason:
            self.leave_out("8a copies", self.kind, reason)
            return
        self.add("8a copies", workload, "copies", self.repeated(first, lambda: self.timed(find)),
                 groups=int(found[0].max()) + 1, groups_of_one=int(groups))

    def visits(self):
        """Rows that are brought to a visitor and nowhere stored (III-E), by contest_kith."""
        program = self.programs / "contest_kith"
        if not program.exists():
            self.leave_out("III-E", "all", "contest_kith is not built")
            return
        for n in self.sizes["visits"]:
            workload, given = self.given(points="uniform", n=n, k=K)
            peer = contest.Contestant("kith", [program, f"points={given.points_file}", f"threads={self.threads}", f"k={K}",
                                               "visit=1"], self.threads)
            runs = [peer.ask("run", PATIENCE)]
            runs += [peer.ask("run", PATIENCE) for _ in range(0 if runs[0]["seconds"] > LONG else 3)]
            total = numpy.load(self.answer(peer) + ".sum.npy")[0]
            peer.stop()
            if n <= MOST_OF_SLOW and total != kith.knn(given.points, K, threads=self.threads)[1].sum(dtype=numpy.int64):
                sys.exit("jz_tree.py: the rows that visitors see are others; this is a defect of kith")
            self.add("III-E", workload, "visits", [run["seconds"] for run in runs],
                     peak_bytes=max(run["peak_bytes"] for run in runs))

    def dimensions(self):
        """Figure 9a."""
        built = [d for d in range(2, 9) if is_built(d)]
        if missing := [str(d) for d in range(2, 9) if d not in built]:
            self.leave_out("9a", f"{', '.join(missing)} dimensions", "this kith is built without them")
        for n in self.sizes["dimension"]:
            for d in built:
                self.neighbors("9a", ("tree", "kdtree", "brute"), points="uniform", n=n, d=d, k=K)

    def numbers_of_neighbors(self):
        """Figure 9b."""
        for k in (1, 2, 4, 8, 16, 32, 64, 128):
            self.neighbors("9b", ("tree", "kdtree"), points="uniform", n=self.sizes["neighbors"], k=k)

    def queries(self):
        """Figure 9c; and with a tree that is built once, which the paper does not have."""
        for queries in self.sizes["queries"]:
            self.neighbors("9c", ("tree",), points="uniform", n=queries if queries > K else K, k=K)
            for n in self.sizes["sources"]:
                self.neighbors("9c", ("tree", "kept"), points="uniform", n=n, queries=queries, k=K)


def is_built(dimension):
    try:
        kith.Tree([[0.0] * dimension])
    except NotImplementedError:
        return False
    return True


MEASURE = {"profile": jz_tree_stages.profile, "peers": Measurements.peers, "sets": Measurements.sets,
           "groups": Measurements.groups, "copies": Measurements.copied_groups, "visits": Measurements.visits,
           "dimension": Measurements.dimensions, "neighbors": Measurements.numbers_of_neighbors,
           "queries": Measurements.queries}
PART_OF = {"5": "profile", "6": "peers", "7a": "sets", "8a": "groups", "8a copies": "copies", "III-E": "visits",
           "9a": "dimension", "9b": "neighbors", "9c": "queries"}
ONLY_CPU = ("visits",)


def folder_with(name, given):
    """The folder of programs that was given, or that of a build."""
    places = [given] if given else [environment.ROOT / "build" / folder / "bin"
                                    for folder in ("bench", "release", "full", "dev")]
    return next((place for place in places if (place / name).exists()), places[0])


def measure(arguments):
    arguments.programs = folder_with("contest_nanoflann", arguments.programs)
    program = arguments.program or folder_with("kith", None) / "kith"
    arguments.program = program if program.exists() else None
    with tempfile.TemporaryDirectory(prefix="kith-jz-tree-") as folder:
        about = figures.about(arguments)
        measurements = Measurements(arguments, pathlib.Path(folder))
        for part in arguments.parts:
            start = time.perf_counter()
            MEASURE[part](measurements)
            print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)
    return {**about, "versions": measurements.versions, "left_out": measurements.left_out, "rows": measurements.rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_options(parser, "jz_tree", MEASURE, "kith's methods, in all figures")
    parser.add_argument("--threads", type=int, default=2, help="of all methods that have threads (%(default)s)")
    parser.add_argument("--program", type=pathlib.Path, help="kith (that of build/)")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER",
                        help="of contest_nanoflann (that of build/)")
    arguments = parser.parse_args()
    if arguments.plot:
        report = json.loads(arguments.plot.read_text())
    else:
        global kith
        kith = figures.require_kith("jz_tree.py", arguments.device)
        if arguments.device:
            arguments.parts = [part for part in arguments.parts if part not in ONLY_CPU]
        before = figures.earlier(arguments)
        report = figures.merged(figures.rounded(measure(arguments)), before, arguments.device,
                                lambda row: row["device"] != "cpu",
                                lambda row: PART_OF.get(row["figure"]) in (*arguments.parts, None))
        report = figures.write(report, arguments.output)
    print_summary(report["rows"])
    arguments.images.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAW.items():
        mine = [row for row in report["rows"] if row["figure"].startswith(name)]
        if not mine:
            print(f"{draw.__name__}: its rows are not among the results")
            continue
        for image, figure in draw(mine):
            path = arguments.images / f"{image}.png"
            figure.savefig(path, dpi=80)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
