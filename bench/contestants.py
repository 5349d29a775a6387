#!/usr/bin/env python3
"""The contestants that are Python packages: contestants.py NAME points=FILE threads=N ...

They speak the protocol that contestants/contestant.hpp describes, and follow its rules: the clock starts with unsorted
points in memory and stops when indices and true distances stand in the order of the input. Packages that make their own
arrays are not asked to copy them into memory touched beforehand.
"""

import json
import os
import resource
import sys
import time

import numpy


class Unsupported(Exception):
    """A workload that this contestant cannot take; the text says why."""


class Workload:
    def __init__(self, arguments):
        given = dict(argument.partition("=")[::2] for argument in arguments)
        self.points = numpy.load(given.pop("points"))
        self.queries = numpy.load(given.pop("queries")) if "queries" in given else None
        self.k = int(given.pop("k", 0))
        self.linking_length = float(given.pop("linking_length", 0))
        self.period = float(given.pop("period", 0))
        self.threads = int(given.pop("threads", 1))
        self.keep_tree = given.pop("keep_tree", "0") != "0"
        if given or (self.k < 1) == (not self.linking_length > 0):
            raise ValueError(f"this is no workload: {' '.join(arguments)}")


def curve_order(points):
    """Positions along a space-filling curve: 32 leading bits of the places in the bounding box, interleaved."""
    dimension = points.shape[1]
    bits = 32 // dimension
    lower = points.min(axis=0)
    extent = points.max(axis=0) - lower
    scale = 0.999999 * (2**bits - 1) / numpy.where(extent > 0, extent, 1)
    cells = ((points - lower) * scale.astype(points.dtype)).astype(numpy.uint32)
    keys = numpy.zeros(len(points), dtype=numpy.uint32)
    for bit in range(bits - 1, -1, -1):
        for axis in range(dimension):
            keys = keys << numpy.uint32(1) | (cells[:, axis] >> numpy.uint32(bit) & numpy.uint32(1))
    return numpy.argsort(keys, kind="stable")


class Contestant:
    package = None
    settings = ""
    groups = False  # or neighbors
    periodic = False
    most_points = None  # beyond them it would take minutes, or all memory
    dimensions = range(2, 9)

    def __init__(self, workload):
        self.workload = workload
        self.kind = self.load()
        count, dimension = workload.points.shape
        if self.groups != (workload.k == 0):
            raise Unsupported("finds no neighbors" if self.groups else "finds no groups")
        if workload.period and not self.periodic:
            raise Unsupported("knows no periodic space")
        if dimension not in self.dimensions:
            raise Unsupported(f"knows no {dimension} dimensions")
        if self.most_points and count > self.most_points:
            raise Unsupported(f"hopeless beyond {self.most_points:,} points")

    def load(self):
        """What does the work: a class or a module. Loaded before memory is looked at."""
        raise NotImplementedError

    def build(self):
        pass

    def search(self):
        raise NotImplementedError

    def forget(self):
        """Gives back the tree and the last answer."""
        for name in set(vars(self)) - {"workload", "kind"}:
            delattr(self, name)

    def squared_slack(self):
        """Error of squared distances that the method brings with it, beyond the rounding of each operation."""
        return 0.0

    def regroup(self, factor):
        raise Unsupported("finds no groups")


class NeighborTree(Contestant):
    """A tree of points along the curve, asked for all queries along the curve at once."""

    def make_tree(self, points):
        raise NotImplementedError

    def ask(self, queries):
        """Distances and positions."""
        raise NotImplementedError

    def build(self):
        self.order = curve_order(self.workload.points)
        self.sorted_points = self.workload.points[self.order]
        self.tree = self.make_tree(self.sorted_points)

    def search(self):
        if self.workload.queries is None:
            query_order, queries = self.order, self.sorted_points
        else:
            query_order = curve_order(self.workload.queries)
            queries = self.workload.queries[query_order]
        distances, positions = self.ask(queries)
        self.distances = numpy.empty(distances.shape, dtype=distances.dtype)
        self.distances[query_order] = distances
        del distances
        self.indices = numpy.empty(positions.shape, dtype=self.order.dtype)
        self.indices[query_order] = self.order[positions]

    def write_answer(self, prefix):
        columns = self.workload.k
        numpy.save(prefix + ".distances.npy", self.distances.reshape(-1, columns))
        numpy.save(prefix + ".indices.npy", self.indices.reshape(-1, columns))


class Scipy(NeighborTree):
    package = "scipy"
    settings = "cKDTree, points and queries along a curve, leaves of 16, not balanced, compact, workers = threads; float64"
    periodic = True

    def load(self):
        from scipy.spatial import cKDTree
        return cKDTree

    def make_tree(self, points):
        return self.kind(points, leafsize=16, balanced_tree=False, compact_nodes=True,
                       boxsize=self.workload.period or None)

    def ask(self, queries):
        return self.tree.query(queries, self.workload.k, workers=self.workload.threads)


class Pykdtree(NeighborTree):
    package = "pykdtree"
    settings = "points and queries along a curve, leaves of 16, OpenMP"

    def load(self):
        from pykdtree.kdtree import KDTree
        return KDTree

    def make_tree(self, points):
        return self.kind(points, leafsize=16)

    def ask(self, queries):
        return self.tree.query(queries, self.workload.k)


class Faiss(Contestant):
    package = "faiss"
    settings = "IndexFlatL2, OpenMP; float32, distances through scalar products"
    most_points = 20_000

    def __init__(self, workload):
        super().__init__(workload)
        if workload.points.dtype != numpy.float32:
            raise Unsupported("knows no float64")
        self.kind.omp_set_num_threads(workload.threads)

    def load(self):
        import faiss
        return faiss

    def build(self):
        self.index = self.kind.IndexFlatL2(self.workload.points.shape[1])
        self.index.add(self.workload.points)

    def search(self):
        queries = self.workload.points if self.workload.queries is None else self.workload.queries
        self.distances, self.indices = self.index.search(queries, self.workload.k)
        numpy.sqrt(numpy.maximum(self.distances, 0, out=self.distances), out=self.distances)

    def squared_slack(self):
        # |x|^2 + |y|^2 - 2 xy: a few roundings of numbers as large as the squared norms.
        largest = (self.workload.points.astype(numpy.float64) ** 2).sum(axis=1).max()
        return float(16 * numpy.finfo(numpy.float32).eps * largest)

    def write_answer(self, prefix):
        numpy.save(prefix + ".distances.npy", self.distances)
        numpy.save(prefix + ".indices.npy", self.indices)


class GroupFinder(Contestant):
    groups = True

    def group(self, linking_length):
        raise NotImplementedError

    def search(self):
        self.labels = self.group(self.workload.linking_length)

    def regroup(self, factor):
        self.labels = self.group(self.workload.linking_length * factor)

    def write_answer(self, prefix):
        numpy.save(prefix + ".labels.npy", self.labels)


class Hfof(GroupFinder):
    package = "hfof"
    settings = "one thread, whatever is allowed; float64"
    periodic = True
    dimensions = (3,)

    def __init__(self, workload):
        super().__init__(workload)
        if workload.period and workload.linking_length * 1.001 > workload.period / 4:
            raise Unsupported("linking lengths above a quarter of the period make it crash")
        self.kind(workload.points[:2].astype(numpy.float64), 1.0)  # its library is loaded at the first call

    def load(self):
        from hfof import fof
        return fof

    def group(self, linking_length):
        return self.kind(self.workload.points.astype(numpy.float64), linking_length, boxsize=self.workload.period or None)


class Dbscan(GroupFinder):
    package = "sklearn"
    settings = "DBSCAN, min_samples = 1, k-d tree, n_jobs = threads"
    most_points = 100_000

    def load(self):
        from sklearn.cluster import DBSCAN
        return DBSCAN

    def group(self, linking_length):
        finder = self.kind(eps=linking_length, min_samples=1, algorithm="kd_tree", n_jobs=self.workload.threads)
        return finder.fit(self.workload.points).labels_


class ScipyPairs(GroupFinder):
    package = "scipy"
    settings = "all pairs within the linking length from cKDTree, then connected components; one thread; float64"
    periodic = True
    most_points = 1_000_000

    def load(self):
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree
        return cKDTree, connected_components

    def group(self, linking_length):
        from scipy.sparse import coo_array
        tree, components = self.kind
        points = self.workload.points
        pairs = tree(points, boxsize=self.workload.period or None).query_pairs(linking_length, output_type="ndarray")
        links = coo_array((numpy.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
        return components(links, directed=False)[1]


CONTESTANTS = {"scipy": Scipy, "pykdtree": Pykdtree, "faiss": Faiss, "hfof": Hfof, "scipy_pairs": ScipyPairs,
               "dbscan": Dbscan}


def version_of(package):
    from importlib import metadata
    distribution = {"sklearn": "scikit-learn", "faiss": "faiss-cpu"}.get(package, package)
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return getattr(__import__(package), "__version__", "?")


def status_bytes(field):
    """A field of /proc/self/status in bytes; 0 where there is none."""
    try:
        with open("/proc/self/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith(field + ":")), 0)
    except OSError:
        return 0


def restart_peak():
    """Lets the kernel count the peak of resident memory anew from here (man 5 proc_pid_clear_refs)."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed_run(contestant, first, bytes_before):
    keep_tree = contestant.workload.keep_tree
    if not keep_tree:
        contestant.forget()
    restart_peak()
    cpu_start = cpu_seconds()
    start = time.perf_counter()
    if not keep_tree or first:
        contestant.build()
    built = time.perf_counter()
    if keep_tree:
        cpu_start = cpu_seconds()
    contestant.search()
    found = time.perf_counter()
    return {"seconds": found - (built if keep_tree else start), "cpu_seconds": cpu_seconds() - cpu_start,
            "peak_bytes": status_bytes("VmHWM") - bytes_before,
            "stages": {"build": built - start, "search": found - built}}


def serve(name, arguments, reply):
    chosen = CONTESTANTS[name]
    try:
        __import__(chosen.package)
    except ImportError:
        reply({"absent": f"the package {chosen.package} is not installed"})
        return
    workload = Workload(arguments)
    contestant = chosen(workload)
    reply({"name": name, "version": version_of(chosen.package), "settings": chosen.settings,
           "build": "as packaged", "squared_slack": contestant.squared_slack()})
    bytes_before = status_bytes("VmRSS")
    first = True
    for line in sys.stdin:
        command, _, rest = line.rstrip("\n").partition(" ")
        if command == "run":
            reply(timed_run(contestant, first, bytes_before))
            first = False
        elif command == "answer":
            contestant.write_answer(rest)
            reply({})
        elif command == "regroup":
            factor, _, prefix = rest.partition(" ")
            contestant.regroup(float(factor))
            contestant.write_answer(prefix)
            reply({})
        elif command == "quit":
            return
        else:
            raise ValueError(f"command '{line.strip()}' is none of run, answer PREFIX, regroup FACTOR PREFIX, quit")


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in CONTESTANTS:
        print(f"usage: contestants.py {{{','.join(CONTESTANTS)}}} points=FILE threads=N ...; bench/compare.py calls it",
              file=sys.stderr)
        return 2
    # Packages may print; the answers to commands have the standard output to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message):
        print(json.dumps(message), file=answers, flush=True)

    try:
        serve(sys.argv[1], sys.argv[2:], reply)
    except Unsupported as reason:
        reply({"unsupported": str(reason)})
    except Exception as error:  # told to the other side, whatever it is
        reply({"error": f"{type(error).__name__}: {error}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
