#!/usr/bin/env python3
"""Remakes figures 5.2 to 5.11 of the halo-finding thesis: thesis.py [--quick], on this machine, with its own points.

Source: D. Wood, Fast Galactic Structure Finding using Graphics Processing Units, University of Cape Town (2014). Points
are random samples of one set of halos with velocities (kith.datasets.virialized), in open space; groups are at b = 0.2,
in 6-D with psi = 1 dispersion. Where the folder of test data is present, the real snapshots of it are grouped, too.

What is compared (a missing route is named and left out):
  kith's routes    kith fof --engine ..., single stages without files
  ..., GPU         with --device, and then only these: from and to host memory, by the Python package; the spanning tree,
                   cut on the CPU, by the program
  delaunay         contest_delaunay, CGAL: section 3.3.1 of the thesis, on one thread
  scipy            cKDTree.query_pairs, then connected components, on one thread; of few particles
  hfof             the program of that name (P. Creasey), on one thread; of many

Results go to bench/results/thesis/figures.json, figures to docs/images. --plot FILE only draws. --quick takes about a
minute.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environment  # noqa: E402

environment.require("matplotlib", "numpy", "scipy")
import contest
import figures
import numpy
import point_sets
from thesis_drawing import DEPTH, FULL, depth_of, drawn_figures, on_gpu, print_tables

B, SIGMAS, MIN_MEMBERS = 0.2, 1.0, 20
FILES = ("read", "catalog", "map", "write", "total")  # stages that are none of the search's
SIZES = {False: {"small": [100_000, 200_000, 300_000, 400_000, 500_000],
                 "large": [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000]},
         True: {"small": [10_000, 20_000, 40_000], "large": [50_000, 100_000, 200_000]}}
BRUTE_FORCE_PAIRS = {False: 5e5**2, True: 4e4**2}  # what is more is left out
LONG = 0.3  # seconds; what takes longer counts its first run
SNAPSHOTS = ("tipsy/lambs30K_density.std", "tipsy/run99.std")


def write_tipsy(path, positions, velocities):
    """A binary Tipsy file of dark matter."""
    count = len(positions)
    rows = numpy.zeros(count, dtype=[("mass", ">f4"), ("x", ">f4", 3), ("v", ">f4", 3), ("rest", ">f4", 2)])
    rows["mass"], rows["x"], rows["v"] = 1 / count, positions, velocities
    header = numpy.array([(1.0, count, 3, 0, count, 0, 0)],
                         dtype=[("time", ">f8"), *((name, ">i4") for name in ("n", "d", "gas", "dark", "star", "pad"))])
    path.write_bytes(header.tobytes() + rows.tobytes())


class Program:
    """kith fof, by any of its routes."""

    def __init__(self, program, scratch):
        self.program, self.threads, self.scratch = program, None, scratch
        if program is None:
            return
        text = subprocess.run([program, "fof", "--help"], capture_output=True, text=True, check=True).stdout
        self.routes = text.split("--engine ")[1].split()[0].split("|")[1:]

    def group(self, snapshot, route, in_phase_space, more=()):
        """Seconds of the search, labels, and what the program says; RuntimeError with its text where it fails."""
        if self.program is None:
            raise RuntimeError("there is no program kith; build it (make build), or give --program")
        labels = self.scratch / "labels.npy"
        command = [self.program, "fof", snapshot, "--engine", route, "-b", str(B), "--box", "none", "--threads",
                   str(self.threads), "--min-members", str(MIN_MEMBERS), "-o", self.scratch / "groups.hdf5", "--labels",
                   labels, "--json", *more, *(["--psi-sigma", str(SIGMAS)] if in_phase_space else [])]
        # Kernels are loaded before the first stage, not within it: each run is a process of its own.
        variables = {**os.environ, "CUDA_MODULE_LOADING": "EAGER"}
        done = subprocess.run(command, capture_output=True, text=True, env=variables)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        said = json.loads(done.stdout)
        seconds = sum(value for stage, value in said["seconds"].items() if stage not in FILES)
        return seconds, numpy.load(labels), said


class Delaunay:
    """contest_delaunay on one set of points."""

    def __init__(self, program, points, linking_length, scratch):
        path = scratch / "points.npy"
        numpy.save(path, points)
        self.labels_at = scratch / "delaunay"
        self.peer = contest.Contestant("delaunay", [program, f"points={path}", "threads=1",
                                                    f"linking_length={linking_length!r}"], 1)

    def run(self):
        return self.peer.ask("run", 600)["seconds"]

    def labels(self):
        self.peer.ask(f"answer {self.labels_at}", 600)
        return numpy.load(f"{self.labels_at}.labels.npy")


def numbered(labels):
    """Partitions as kith labels them, groups of too few members left out."""
    _, first, inverse, counts = numpy.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = numpy.empty(len(first), dtype=numpy.int64)
    rank[numpy.lexsort((first, -counts))] = numpy.arange(len(first))
    return numpy.where(counts[inverse] >= MIN_MEMBERS, rank[inverse], -1)


def in_phase_space(positions, velocities, scale):
    """The points whose distances phase space compares (docs/semantics.md)."""
    return numpy.concatenate((positions, (velocities.astype(float) * scale).astype(numpy.float32)), axis=1)


def scipy_groups(points, length):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree
    begin = time.perf_counter()
    pairs = cKDTree(points).query_pairs(length, output_type="ndarray")
    graph = coo_array((numpy.ones(len(pairs), dtype=numpy.int8), (pairs[:, 0], pairs[:, 1])), shape=2 * (len(points),))
    _, labels = connected_components(graph, directed=False)
    return time.perf_counter() - begin, labels


def hfof_groups(points, length):
    from hfof import fof
    begin = time.perf_counter()
    labels = fof(points, length)
    return time.perf_counter() - begin, labels


class Measurements:
    def __init__(self, program, arguments, scratch):
        self.program, self.arguments, self.scratch, self.rows, self.left_out = program, arguments, scratch, [], {}
        self.repetitions, self.device = 3, arguments.device
        self.sizes = {name: [n for n in sizes if n in (arguments.sizes or sizes)]
                      for name, sizes in SIZES[arguments.quick].items()}
        size = max(SIZES[arguments.quick]["large"])  # of these points all are samples, however few are measured
        if self.device:
            self.kith = figures.require_kith("thesis.py", self.device)
        self.positions, self.velocities = point_sets.datasets.virialized(size, seed=1)

    def add(self, figure, n, dimension, route, runs, **more):
        row = {"figure": figure, "n": n, "d": dimension, "route": route, "median": statistics.median(runs),
               "min": min(runs), "max": max(runs), "deviation": statistics.pstdev(runs), "runs": len(runs),
               "threads": self.program.threads, **more}
        self.rows.append(row)
        print(f"  {figure}: {n:>9,} points in {dimension}-D, {route:<13} {row['median']:.4f} s"
              + "".join(f", {name} {value}" for name, value in more.items()), flush=True)

    def repeated(self, first, run):
        """Seconds; the first run warmed up, but counts if it is long."""
        begun = [first] if first > LONG else []
        return begun + [run() for _ in range(self.repetitions - len(begun))]

    def sample(self, n):
        snapshot = self.scratch / f"sample_{n}.tipsy"
        if not snapshot.exists():
            write_tipsy(snapshot, self.positions[:n], self.velocities[:n])  # rows are in random order
        return snapshot

    def compare(self, figure, n, routes, dimensions=(3, 6)):
        """kith's routes, whose groups must be the same. Returns labels, and what the program said, of the CPU's."""
        found = {}
        for dimension in dimensions:
            in_phase_space = {"velocities": self.velocities[:n], "psi_sigma": SIGMAS} if dimension == 6 else {}
            expected = None
            if self.device:  # not timed
                expected = self.kith.fof(self.positions[:n], b=B, min_members=MIN_MEMBERS, **in_phase_space)
            for route in routes:
                name = on_gpu(route) if self.device else route
                if route == "brute" and n * n > BRUTE_FORCE_PAIRS[self.arguments.quick]:
                    print(f"  {figure}: {n:,} points are too many for {name}")
                    continue

                def group():
                    if not self.device or route == "spanning-tree":
                        return self.program.group(self.sample(n), route, dimension == 6,
                                                  ("--device", self.device or "cpu"))
                    begin = time.perf_counter()
                    labels = self.kith.fof(self.positions[:n], b=B, min_members=MIN_MEMBERS, engine=route,
                                           device=self.device, **in_phase_space)
                    return time.perf_counter() - begin, labels, {"groups": int(labels.max()) + 1}

                try:
                    first, labels, said = group()
                except (NotImplementedError, RuntimeError) as error:
                    if not self.device:
                        raise
                    self.leave_out(f"{figure}: {name} in {dimension}-D", error)
                    continue
                expected = labels if expected is None else expected
                if not numpy.array_equal(labels, expected):
                    sys.exit(f"thesis.py: the groups of {name} in {dimension}-D are others; this is a defect of kith")
                found[dimension] = labels, said
                self.add(figure, n, dimension, name, self.repeated(first, lambda: group()[0]), groups=said["groups"])
        return found

    def leave_out(self, what, reason):
        self.left_out[what] = str(reason)
        print(f"  {what} is left out: {reason}")

    def delaunay(self, figure, n, positions, velocities, found):
        """The Delaunay route. In 6-D its tree is not the minimum spanning tree, and its groups may differ."""
        if self.arguments.delaunay is None:
            return
        for dimension, (labels, said) in found.items():
            points = positions if dimension == 3 else in_phase_space(positions, velocities, said["velocity_scale"])
            peer = Delaunay(self.arguments.delaunay, points, said["linking_length"], self.scratch)
            runs = self.repeated(peer.run(), peer.run)
            theirs = numbered(peer.labels())
            peer.peer.stop()
            self.add(figure, n, dimension, "delaunay", runs, groups=int(theirs.max()) + 1,
                     same_groups=bool(numpy.array_equal(theirs, labels)), threads=1)

    def trees_and_brute_force(self):
        for n in self.sizes["small"]:
            found = self.compare("5.2", n, ["spanning-tree", "brute"])
            self.delaunay("5.2", n, self.positions[:n], self.velocities[:n], found)

    def depths(self):
        """Leaves of one size for all, against so many leaves as a tree of 15 levels has."""
        if importlib.util.find_spec("kith") is None:
            self.leave_out("5.4: all", "the Python package kith is not importable; add it to PYTHONPATH")
            return
        import kith
        levels = DEPTH[self.arguments.quick]
        for n in self.sizes["large"]:
            for dimension in (3, 6):
                _, labels, said = self.program.group(self.sample(n), "tree", dimension == 6)
                points = self.positions[:n]
                if dimension == 6:
                    points = in_phase_space(points, self.velocities[:n], said["velocity_scale"])
                for engine in ("tree", "kdtree"):
                    for depth, leaf_size in ((FULL, None), (f"{levels} levels", -(-n // 2**levels))):
                        build, link = [], []
                        while len(link) < self.repetitions and sum(build) + sum(link) < 2 * LONG:
                            begin = time.perf_counter()
                            tree = kith.Tree(points, engine=engine, leaf_size=leaf_size, threads=self.program.threads)
                            middle = time.perf_counter()
                            tree.fof(said["linking_length"], threads=self.program.threads)
                            build.append(middle - begin)
                            link.append(time.perf_counter() - middle)
                            del tree
                        route = depth_of(engine, depth)
                        self.add("5.4", n, dimension, route, build)
                        self.add("5.5", n, dimension, route, link)

    def large(self):
        for n in self.sizes["large"]:
            self.compare("5.8", n, ["tree", "kdtree", "spanning-tree"])

    def beside_others(self):
        """In 3-D; SciPy stores all pairs, and takes few points only."""
        if self.device:
            for n in self.sizes["small"] + self.sizes["large"]:
                self.compare("5.10", n, ["tree", "kdtree"], (3,))
            return
        peers = {"small": ("scipy", scipy_groups)}
        if importlib.util.find_spec("hfof"):
            hfof_groups(self.positions[:100].astype(float), 1.0)  # its library is loaded at the first call
            peers["large"] = "hfof", hfof_groups
        else:
            self.leave_out("5.10: hfof", "this Python has no such package")
        for sizes, (name, groups) in peers.items():
            for n in self.sizes[sizes]:
                labels, said = self.compare("5.10", n, ["tree", "kdtree"], (3,))[3]

                def group():
                    return groups(self.positions[:n].astype(float), said["linking_length"])

                first, theirs = group()
                self.add("5.10", n, 3, name, self.repeated(first, lambda: group()[0]),
                         same_groups=bool(numpy.array_equal(numbered(theirs), labels)), threads=1)

    def real_files(self):
        for name in SNAPSHOTS:
            path = point_sets.SHARED_DATA / name
            if not path.exists():
                self.leave_out(f"{path.stem}: all", "not in the folder of test data")
                continue
            found = {}
            for dimension in (3, 6):
                for route in self.program.routes:
                    seconds, labels, said = self.program.group(path, route, dimension == 6, ("--types", "1"))
                    if dimension in found and not numpy.array_equal(labels, found[dimension][0]):
                        sys.exit(f"thesis.py: the groups of {route} of {name} are others; this is a defect of kith")
                    found[dimension] = labels, said
                    self.add(path.stem, said["n"], dimension, route, [seconds], groups=said["groups"])


PARTS = {"trees": Measurements.trees_and_brute_force, "depth": Measurements.depths, "routes": Measurements.large,
         "peers": Measurements.beside_others, "files": Measurements.real_files}
ON_GPU = ("trees", "routes", "peers")
THREADS = {"trees": 2, "depth": 1, "routes": 1, "peers": 1, "files": 2}  # of kith, unless the command says otherwise


def part_of(row):
    parts = {"5.2": "trees", "5.4": "depth", "5.5": "depth", "5.8": "routes", "5.10": "peers"}
    return parts.get(row["figure"], "files")


def measure(arguments):
    program = figures.program_at(arguments.program, "kith")
    arguments.delaunay = None if arguments.device else figures.program_at(arguments.delaunay, "contest_delaunay")
    if arguments.delaunay is None and not arguments.device:
        print("The Delaunay route is left out: contest_delaunay is not built: cmake --build build/bench --target "
              "contestants, which needs CGAL (libcgal-dev)")
    about = figures.about(arguments)
    with tempfile.TemporaryDirectory(prefix="kith-thesis-") as folder:
        scratch = pathlib.Path(folder)
        measurements = Measurements(Program(program, scratch), arguments, scratch)
        for part in arguments.parts:
            measurements.program.threads = arguments.threads or THREADS[part]
            start = time.perf_counter()
            try:
                PARTS[part](measurements)
            except RuntimeError as error:
                sys.exit(f"thesis.py: {error}")
            print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)
    return {**about, "left_out": measurements.left_out, "rows": measurements.rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_options(parser, "thesis", PARTS, "the engines that run there, in figures 5.2, 5.3 and 5.8 to 5.11")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="of the figures, these numbers of particles only")
    parser.add_argument("--threads", type=int,
                        help="of kith (as in the figures: 2 for spanning trees and files, 1 for all else)")
    parser.add_argument("--program", type=pathlib.Path, help="kith (that of build/)")
    parser.add_argument("--delaunay", type=pathlib.Path, help="contest_delaunay (that of build/)")
    arguments = parser.parse_args()
    if arguments.plot:
        report = json.loads(arguments.plot.read_text())
    else:
        if arguments.device:
            arguments.parts = [part for part in arguments.parts if part in ON_GPU]
        before = figures.earlier(arguments)

        def is_measured(row):
            part = part_of(row)
            return part in arguments.parts and (part == "files" or row.get("n") in (arguments.sizes or (row.get("n"),)))

        report = figures.merged(measure(arguments), before, arguments.device,
                                lambda row: row["route"] == on_gpu(row["route"].split(", ")[0]), is_measured)
        report = figures.write(report, arguments.output)
    print_tables(report["rows"])
    arguments.images.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn_figures(report):
        if not any(axes.lines for axes in figure.axes):
            print(f"{name}: its rows are not among the results")
            continue
        path = arguments.images / f"{name}.png"
        figure.savefig(path, dpi=90)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
