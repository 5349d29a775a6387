#!/usr/bin/env python3
"""Counts what two ideas of the jz-tree paper save and cost, on the CPU, without timing: jz_tree_counts.py [--points N].

Pruning (section III-D): the plane-wise search of the paper, written down plainly, on the planes of kith.Tree with the
paper's sizes and with kith's tight boxes. Where the entries of an interaction list are sorted by least distance, a
kernel leaves the list at the first one beyond the bound of all its nodes or points; by then the bound is final, since
what follows cannot lower it. The share of entries from there on is what the sort prunes, among lists of nodes and of
leaves. The distances must be those of kith.knn.

Ranks (section III-C): MPI processes have equal parts of the curve and search with kith.mpi. All that a process
receives, boxes, requests and points, is compared with the bytes of its own points. Left out where mpi4py or mpirun is
missing.

Results go to bench/results/jz_tree/counts.json.
"""

import argparse
import datetime
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environment  # noqa: E402

environment.require("numpy", "kith")
import figures  # noqa: E402
import numpy  # noqa: E402

import kith  # noqa: E402

K, LEAF, SUPER = 16, 48, 32  # the paper's numbers: of neighbors, points in a leaf, top nodes in a super node


class Plane:
    """Boxes of the nodes of a plane, and where their children begin on the plane below."""

    def __init__(self, points, first, finer):
        self.count = numpy.diff(first)
        self.first = first
        self.lower = numpy.minimum.reduceat(points, first[:-1])
        self.upper = numpy.maximum.reduceat(points, first[:-1])
        self.children = None if finer is None else numpy.searchsorted(finer, first)


def planes_of(tree, points):
    firsts = [numpy.asarray(first, dtype=numpy.int64) for first in tree.planes()]
    return [Plane(points, first, firsts[level - 1] if level else None) for level, first in enumerate(firsts)]


def ranges(begins, ends):
    return numpy.concatenate([numpy.arange(begin, end) for begin, end in zip(begins, ends)])


def least_distances(lower, upper, other_lower, other_upper):
    apart = numpy.maximum(other_lower[None] - upper[:, None], lower[:, None] - other_upper[None])
    return numpy.sqrt((numpy.maximum(apart, 0) ** 2).sum(axis=2))


def greatest_distances(lower, upper, other_lower, other_upper):
    across = numpy.maximum(other_upper[None] - lower[:, None], upper[:, None] - other_lower[None])
    return numpy.sqrt((across**2).sum(axis=2))


def bounds(greatest, count):
    """For each row the least radius within which nodes hold K points for certain (algorithm 3)."""
    order = numpy.argsort(greatest, axis=1)
    enough = numpy.cumsum(count[order], axis=1) >= K
    place = numpy.argmax(enough, axis=1)[:, None]
    found = numpy.take_along_axis(numpy.take_along_axis(greatest, order, axis=1), place, axis=1)[:, 0]
    return numpy.where(enough.any(axis=1), found, numpy.inf)


class Search:
    """The plane-wise search of all points around themselves, with the entries of its lists, all and visited ones."""

    def __init__(self, points):
        tree = kith.Tree(points, leaf_size=LEAF)
        self.points = points[tree.order]
        planes = planes_of(tree, self.points)
        self.entries, self.visited = {"nodes": 0, "leaves": 0}, {"nodes": 0, "leaves": 0}
        top = len(planes[-1].count)
        children = numpy.append(numpy.arange(0, top, SUPER), top)
        everyone = numpy.arange(len(children) - 1)
        lists = [(everyone, numpy.zeros(len(everyone)))] * len(everyone)
        for plane in reversed(planes):
            lists = self.finer(plane, children, lists)
            children = plane.children
        self.pairs_per_point = sum(len(sources) for sources, _ in lists) / len(points)
        found = numpy.concatenate([self.search(planes[0], leaf, *entries) for leaf, entries in enumerate(lists)])
        if not numpy.allclose(found, kith.knn(self.points, K)[0][:, -1], rtol=1e-14, atol=0):
            sys.exit("jz_tree_counts.py: the distances are not those of kith.knn")

    def note(self, kind, least, bound):
        self.entries[kind] += len(least)
        self.visited[kind] += int((least <= bound).sum())

    def finer(self, plane, children, lists):
        """Algorithm 2: the lists of the nodes of a plane from those of their parents."""
        finer = []
        for parent, (sources, least) in enumerate(lists):
            mine = numpy.arange(children[parent], children[parent + 1])
            nodes = ranges(children[sources], children[sources + 1])
            boxes = plane.lower[mine], plane.upper[mine], plane.lower[nodes], plane.upper[nodes]
            radii = bounds(greatest_distances(*boxes), plane.count[nodes])
            self.note("nodes", least, radii.max())
            apart = least_distances(*boxes)
            finer += [(nodes[near], row[near]) for row, near in zip(apart, apart <= radii[:, None])]
        return finer

    def search(self, plane, leaf, sources, least):
        """The K-th distances of the points of a leaf."""
        queries = self.points[plane.first[leaf]:plane.first[leaf + 1]]
        near = self.points[ranges(plane.first[sources], plane.first[sources + 1])]
        squared = sum((queries[:, None, axis] - near[None, :, axis]) ** 2 for axis in range(self.points.shape[1]))
        kth = numpy.sqrt(numpy.partition(squared, K - 1, axis=1)[:, K - 1])
        self.note("leaves", least, kth.max())
        return kth


def received_share(path):
    """Of one of several MPI processes: bytes that it receives for a search over those of its points, from rank 0."""
    import kith.mpi
    from mpi4py import MPI
    ranks = kith.mpi.Ranks(MPI.COMM_WORLD)
    points = numpy.load(path, mmap_mode="r")
    begin, end = (len(points) * (ranks.comm.rank + side) // ranks.comm.size for side in (0, 1))
    own = numpy.array(points[begin:end])
    kith.knn(own, K, threads=1, comm=ranks)
    shares = ranks.comm.gather(ranks.report["bytes_received"] / own.nbytes)
    if shares:
        print(json.dumps(shares))


def received_shares(points, ranks):
    with tempfile.TemporaryDirectory(prefix="kith-counts-") as folder:
        path = pathlib.Path(folder) / "points.npy"
        numpy.save(path, points[kith.Tree(points).order])
        command = ["mpirun", "-n", str(ranks), sys.executable, __file__, "--as-rank", path]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100_000, help="of the search (%(default)s)")
    parser.add_argument("--rank-points", type=int, nargs="+", default=[10_000, 100_000, 1_000_000],
                        help="of each process (%(default)s)")
    parser.add_argument("--ranks", type=int, default=8, help="processes (%(default)s)")
    parser.add_argument("--output", type=pathlib.Path,
                        default=environment.ROOT / "bench" / "results" / "jz_tree" / "counts.json")
    parser.add_argument("--as-rank", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_rank:
        received_share(arguments.as_rank)
        return
    has_ranks = importlib.util.find_spec("mpi4py") is not None and shutil.which("mpirun") is not None
    rows = []
    for name in ("uniform", "clustered"):
        make = getattr(kith.datasets, name)
        search = Search(numpy.asarray(make(arguments.points), dtype=numpy.float64))
        pruned = {kind: 1 - search.visited[kind] / entries for kind, entries in search.entries.items()}
        rows.append({"count": "pruned", "set": name, "n": arguments.points, "k": K, **pruned,
                     "all": 1 - sum(search.visited.values()) / sum(search.entries.values()),
                     "leaf_pairs_per_point": search.pairs_per_point})
        print(rows[-1], flush=True)
        for count in arguments.rank_points if has_ranks else ():
            shares = received_shares(numpy.asarray(make(count * arguments.ranks), dtype=numpy.float32), arguments.ranks)
            rows.append({"count": "received", "set": name, "ranks": arguments.ranks, "points_of_a_rank": count, "k": K,
                         "mean": sum(shares) / len(shares), "least": min(shares), "most": max(shares)})
            print(rows[-1], flush=True)
    figures.write(figures.rounded({"date": datetime.datetime.now().isoformat(timespec="minutes"),
                                   "commit": environment.commit(), "rows": rows}), arguments.output)


if __name__ == "__main__":
    main()
