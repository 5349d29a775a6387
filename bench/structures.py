#!/usr/bin/env python3
"""Measures spanning trees, hierarchies, ladders, DBSCAN and pair counts beside Python packages, in one process.

Points are halos in the periodic unit box (kith.datasets.clustered), taken as in open space, since no peer is periodic.
All contestants of a task run once a round, in turn, so that ratios are paired; the first round warms up and is checked.
A peer that takes longer than --limit is run once. A line has the median time, the median over rounds of the ratio to
the first contestant, and the processors' time, which other work on the machine changes less.

  tree        kith.mst           the sum of the edges' lengths is that of kith's
  hierarchy   kith.hierarchy     heights of the linkage matrix (peers are quadratic: --few points)
  ladder      kith.fof_ladder    ten lengths, b = 0.1 to 0.28; beside kith.fof at each, and the tree
  dbscan      kith.dbscan        5 samples, eps = 0.2 mean separations; the same labels. Beside kith.fof at that length
  pairs       kith.pair_counts   15 logarithmic bins of float32 from 1/1000 to 1/10 of the box; the same counts
  pairs-few   kith.pair_counts   the same of --few points, also beside SciPy
  separations kith.pair_counts   the bins of pairs with mean separations, which are those of Corrfunc; beside counts alone
  phase-space kith.fof           psi of 1.25 dispersions, beside the groups of the positions

  bench/structures.py                             a million points on all cores
  bench/structures.py -n 1e5 --tasks tree,dbscan --threads 1
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys
import time
import warnings

import environment

environment.require("numpy")
if importlib.util.find_spec("kith") is None:
    sys.exit("structures.py: this Python has no kith; install it, or name the folder of a build: "
             "PYTHONPATH=build/dev/python bench/structures.py")
import kith
import kith.datasets
import numpy

B, SAMPLES, LADDER, SIGMAS = 0.2, 5, numpy.linspace(0.1, 0.28, 10), 1.25
FEW = ("hierarchy", "pairs-few")
PAIR_EDGES = numpy.geomspace(1e-3, 0.1, 16)


class Different(Exception):
    """A peer found something else."""


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def same(what, found, expected, relative=1e-6):
    if numpy.shape(found) != numpy.shape(expected) or not numpy.allclose(found, expected, rtol=relative, atol=0):
        raise Different(f"another {what}")


def same_labels(found, expected):
    apart = numpy.count_nonzero(found != expected)
    if apart > 1e-5 * len(expected):  # points whose distance rounds to eps, or just not
        raise Different(f"{apart} labels differ")


def trees(points, threads):
    def mlpack():
        from mlpack import emst
        return emst(input_=points)["output"][:, 2].sum()

    def fast_hdbscan(points=points):
        from fast_hdbscan.hdbscan import compute_minimum_spanning_tree
        return compute_minimum_spanning_tree(points, min_samples=1)[0][:, 2].sum()  # no edge is shorter than a core's

    def delaunay():
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import minimum_spanning_tree
        from scipy.spatial import Delaunay
        corners = Delaunay(points).simplices
        pairs = numpy.vstack([corners[:, [i, j]] for i in range(4) for j in range(i)])
        pairs = numpy.unique(numpy.sort(pairs, axis=1), axis=0)
        lengths = numpy.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
        graph = coo_matrix((lengths, pairs.T), shape=(len(points), len(points)))
        return minimum_spanning_tree(graph.tocsr()).sum()

    def check(found, expected):
        same("sum of lengths", found, expected)

    yield "kith.mst", None, lambda: kith.mst(points, threads=threads).weights.sum(dtype=float), check
    yield "mlpack.emst (1 thread)", "mlpack", mlpack, check
    if version("fast_hdbscan"):
        fast_hdbscan(points[:1000])  # compiles
    yield "fast_hdbscan, min_samples=1", "fast_hdbscan", fast_hdbscan, check
    yield "SciPy: Delaunay, minimum_spanning_tree (1 thread)", "scipy", delaunay, check


def hierarchies(points, threads):
    def scipy():
        from scipy.cluster.hierarchy import linkage
        return linkage(points, "single")[:, 2]

    def sklearn():
        from sklearn.cluster import AgglomerativeClustering
        return AgglomerativeClustering(n_clusters=None, distance_threshold=0, linkage="single").fit(points).distances_

    def check(found, expected):
        same("list of heights", found, expected)

    yield "kith.hierarchy", None, lambda: kith.hierarchy(points, threads=threads).linkage[:, 2], check
    yield "scipy.cluster.hierarchy.linkage", "scipy", scipy, check
    yield "sklearn AgglomerativeClustering", "scikit-learn", sklearn, check


def ladders(points, threads):
    def one_by_one():
        return [len(numpy.unique(kith.fof(points, b=b, min_members=20, threads=threads))) - 1 for b in LADDER]

    def check(found, expected):
        same("number of groups", found, expected, 0)

    def ladder():
        found = kith.fof_ladder(points, b=LADDER, min_members=20, threads=threads)
        return [len(sizes) for sizes in found.sizes]

    yield "kith.fof_ladder", None, ladder, check
    yield "kith.fof ten times", None, one_by_one, check
    yield "kith.mst", None, lambda: kith.mst(points, threads=threads), lambda found, expected: None


def clusters(points, threads):
    eps = float(B * (numpy.prod(points.max(axis=0) - points.min(axis=0)) / len(points)) ** (1 / 3))

    def sklearn():
        from sklearn.cluster import DBSCAN
        return DBSCAN(eps=eps, min_samples=SAMPLES, n_jobs=threads).fit_predict(points)

    def partition(found, expected):
        same("number of points", len(found), len(expected), 0)

    yield "kith.dbscan", None, lambda: kith.dbscan(points, eps, SAMPLES, threads=threads), same_labels
    yield "kith.fof at eps", None, lambda: kith.fof(points, eps, threads=threads), partition
    yield "sklearn.cluster.DBSCAN", "scikit-learn", sklearn, same_labels


def pair_counts(points, threads, beside_scipy):
    def corrfunc():
        from Corrfunc.theory.DD import DD
        x, y, z = numpy.ascontiguousarray(points.T)
        found = DD(1, threads, PAIR_EDGES, x, y, z, periodic=False, isa="fastest")
        return found["npairs"].astype(numpy.int64) // 2  # it counts both orders

    def scipy():
        from scipy.spatial import cKDTree
        tree = cKDTree(points)
        return numpy.diff(tree.count_neighbors(tree, PAIR_EDGES)) // 2

    def check(found, expected):
        same("count of pairs", found, expected, 1e-4)  # distances in float32 fall on either side of an edge

    yield "kith.pair_counts", None, lambda: kith.pair_counts(points, edges=PAIR_EDGES, threads=threads).counts, check
    yield "Corrfunc", "Corrfunc", corrfunc, check
    if beside_scipy:
        yield "scipy cKDTree.count_neighbors (1 thread)", "scipy", scipy, check


def separations(points, threads):
    def corrfunc():
        from Corrfunc.theory.DD import DD
        # Its float32 sums lose digits: means of 200,000 points here are off by up to 0.4 %, of a million by over 2 %.
        wide = numpy.ascontiguousarray(points.T, dtype=numpy.float64)
        found = DD(1, threads, PAIR_EDGES, *wide, periodic=False, output_ravg=True, isa="fastest")
        return found["ravg"]

    def check(found, expected):
        same("mean separation", found, expected, 1e-4)  # float32 distances fall on either side of an edge

    yield ("kith.pair_counts, separations", None,
           lambda: kith.pair_counts(points, edges=PAIR_EDGES, separations=True, threads=threads).separations, check)
    yield ("kith.pair_counts", None, lambda: kith.pair_counts(points, edges=PAIR_EDGES, threads=threads).counts,
           lambda found, expected: None)
    yield "Corrfunc, output_ravg, float64", "Corrfunc", corrfunc, check


def phase_space(positions, velocities, threads):
    psi = SIGMAS * float(numpy.sqrt(((velocities - velocities.mean(axis=0, dtype=float)) ** 2).sum(axis=1).mean()))

    def nothing(found, expected):
        same("number of points", len(found), len(expected), 0)

    yield "kith.fof, positions", None, lambda: kith.fof(positions, b=B, box=1, threads=threads), nothing
    yield ("kith.fof, phase space", None,
           lambda: kith.fof(positions, b=B, box=1, velocities=velocities, psi=psi, threads=threads), nothing)


def compare(contestants, options):
    """Runs them in turn; the first is what the others are compared with."""
    running, left_out, seconds, cpu_seconds, expected = [], {}, {}, {}, None

    def timed(name, run):
        start, cpu_start = time.perf_counter(), time.process_time()
        found = run()
        seconds.setdefault(name, []).append(time.perf_counter() - start)
        cpu_seconds.setdefault(name, []).append(time.process_time() - cpu_start)
        return found

    for name, package, run, check in contestants:
        if package and not version(package):
            left_out[name] = f"{package} is not installed"
            continue
        try:
            found = timed(name, run)
            expected = found if expected is None else expected
            check(found, expected)
        except (Different, MemoryError) as reason:
            left_out[name] = str(reason)
            continue
        running.append((name, run))
    for _ in range(options.repetitions):
        for name, run in running:
            if len(seconds[name]) == 1 and seconds[name][0] > options.limit:
                continue
            timed(name, run)
    first = running[0][0]
    rows = {}
    for name, _ in running:
        times, base = seconds[name][1:] or seconds[name], seconds[first][1:] or seconds[first]
        cpu_times = cpu_seconds[name][1:] or cpu_seconds[name]
        in_pairs = len(times) == len(base)
        ratios = [a / b for a, b in zip(times, base)] if in_pairs else [times[0] / statistics.median(base)]
        rows[name] = {"seconds": times, "median": statistics.median(times), "times_first": statistics.median(ratios),
                      "cpu_seconds": cpu_times, "cpu_median": statistics.median(cpu_times)}
    return {"rows": rows, "left_out": left_out}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=lambda text: int(float(text)), default=1_000_000, help="points (%(default)s)")
    parser.add_argument("--few", type=lambda text: int(float(text)), default=10_000,
                        help="points of hierarchies, whose peers are quadratic (%(default)s)")
    parser.add_argument("--tasks", default="tree,hierarchy,ladder,dbscan,pairs,pairs-few,separations,phase-space",
                        help="some of %(default)s")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(all cores)")
    parser.add_argument("--repetitions", type=int, default=5, help="rounds after the first (%(default)s)")
    parser.add_argument("--limit", type=float, default=20, metavar="SECONDS",
                        help="slower peers run once (%(default)s)")
    parser.add_argument("--output", help="results as JSON")
    options = parser.parse_args()
    points = kith.datasets.clustered(options.n).astype(numpy.float64)  # as the peers compute
    tasks = {"tree": lambda: trees(points, options.threads),
             "hierarchy": lambda: hierarchies(points[:options.few], options.threads),
             "ladder": lambda: ladders(points.astype(numpy.float32), options.threads),
             "dbscan": lambda: clusters(points, options.threads),
             "pairs": lambda: pair_counts(points.astype(numpy.float32), options.threads, False),
             "pairs-few": lambda: pair_counts(points[:options.few].astype(numpy.float32), options.threads, True),
             "separations": lambda: separations(points.astype(numpy.float32), options.threads),
             "phase-space": lambda: phase_space(*kith.datasets.virialized(options.n), options.threads)}
    if unknown := set(options.tasks.split(",")) - set(tasks):
        parser.error(f"there is no task '{unknown.pop()}'; there are {', '.join(tasks)}")
    report = {"date": datetime.datetime.now().isoformat(timespec="minutes"), "commit": environment.commit(),
              "machine": environment.machine(), "n": options.n, "few": options.few, "threads": options.threads,
              "versions": {name: version(name)
                           for name in ("numpy", "scipy", "scikit-learn", "fast_hdbscan", "mlpack", "Corrfunc")}, "tasks": {}}
    warnings.simplefilter("ignore")
    for task in options.tasks.split(","):
        found = report["tasks"][task] = compare(tasks[task](), options)
        print(f"{task}, {options.few if task in FEW else options.n:,} points, {options.threads} threads")
        for name, row in found["rows"].items():
            print(f"  {name:50} {row['median']:9.4f} s  {row['times_first']:8.2f}  cpu {row['cpu_median']:9.4f} s"
                  + ("  (one run)" if len(row["seconds"]) == 1 and options.repetitions > 1 else ""), flush=True)
        for name, reason in found["left_out"].items():
            print(f"  without {name}: {reason}", flush=True)
    if options.output:
        with open(options.output, "w") as file:
            json.dump(report, file, indent=1)
    return 1 if any("is not installed" not in reason for task in report["tasks"].values()
                    for reason in task["left_out"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
