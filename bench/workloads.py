"""What is measured: workloads and the suites made of them."""

import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Workload:
    points: str = "uniform"  # a set of point_sets.py
    n: int = 1_000_000
    d: int = 3
    dtype: str = "float32"
    k: int = 16  # 0: groups
    queries: int = 0  # 0: every point asks
    keep_tree: bool = False  # only the queries are timed
    b: float = 0.0  # linking length over the mean separation
    periodic: bool = False  # the box of the set, if it has one
    threads: int = 0  # 0: all cores
    peers: tuple | None = None  # None: those that were asked for
    must: float = 0.0  # goal: times faster than the best peer
    aim: float = 0.0

    @property
    def all_threads(self):
        return self.threads or len(os.sched_getaffinity(0))

    def describe(self):
        n = f"{self.n:,} points ({self.points.replace('_', ' ')})" if self.n else self.points
        where = f"{self.d}-D {self.dtype}" if self.d else self.dtype
        threads = "1 thread" if self.all_threads == 1 else f"{self.all_threads} threads"
        box = ", periodic" if self.periodic else ""
        if self.k == 0:
            return f"groups of {n}, {where}, b = {self.b:g}{box}, {threads}"
        what = f"{self.queries:,} queries of" if self.queries else "neighbors of"
        kept = ", tree kept" if self.keep_tree else ""
        return f"{what} {n}, {where}, k = {self.k}{box}{kept}, {threads}"


def neighbors(**what):
    return Workload(**what)


def groups(**what):
    return Workload(**{"points": "clustered", "k": 0, "b": 0.2, "periodic": True, **what})


def must():
    """The goals of the project, one by one; then what its other promises on speed are read from."""
    return [
        neighbors(threads=1, must=5, aim=8),
        neighbors(must=4.5, aim=8),
        neighbors(n=10_000_000, must=4, aim=7),
        neighbors(k=8, must=5, aim=8),
        neighbors(k=32, must=4, aim=6),
        neighbors(points="clustered", must=4.5, aim=8),
        neighbors(points="clustered", n=10_000_000, must=4, aim=7),
        neighbors(d=2, must=4, aim=7),
        neighbors(d=6, must=4, aim=7),
        neighbors(dtype="float64", must=3, aim=5),
        neighbors(n=10_000, must=3, aim=6),
        neighbors(queries=1_000_000, must=4, aim=7),
        groups(threads=1, must=2.5, aim=4),
        groups(must=4.5, aim=7),
        groups(n=10_000_000, threads=1, must=3, aim=5),
        groups(n=10_000_000, must=5, aim=9),
        neighbors(n=10_000_000, threads=1, peers=()),
        neighbors(n=10_000_000, queries=1000, keep_tree=True, peers=("nanoflann",)),
        neighbors(points="cosmic", peers=("nanoflann",)),
    ]


def full():
    """Everything varied around a million uniform points, k = 16, all cores."""
    from point_sets import SETS, files_present

    suite = [neighbors(n=n) for n in (10_000, 100_000, 1_000_000, 10_000_000)]
    suite += [neighbors(n=n, threads=1) for n in (10_000, 100_000, 1_000_000)]
    suite += [neighbors(k=k) for k in (8, 32, 100)]
    suite += [neighbors(d=d) for d in (2, 4, 6, 8)]
    suite += [neighbors(dtype="float64"), neighbors(dtype="float64", threads=1), neighbors(periodic=True)]
    suite += [neighbors(points=name) for name in SETS if name != "uniform"]
    suite += [neighbors(points=name, n=0, d=0) for name in files_present()]
    suite += [neighbors(queries=q) for q in (1000, 1_000_000)]
    suite += [neighbors(queries=q, keep_tree=True) for q in (1000, 100_000)]
    suite += [groups(n=n) for n in (10_000, 100_000, 1_000_000, 10_000_000)]
    suite += [groups(threads=1), groups(b=0.1), groups(b=0.3)]
    suite += [groups(points=name) for name in ("uniform", "soneira_peebles", "cosmic")]
    suite += [groups(n=100_000, periodic=False), groups(points="file:halos", n=0, d=0)]
    return suite


def quick():
    """A minute or two: whether everything runs and agrees."""
    suite = [neighbors(n=10_000), neighbors(n=10_000, threads=1), neighbors(n=100_000)]
    suite += [neighbors(n=10_000, points=name) for name in ("clustered", "lattice", "hilly", "duplicates")]
    suite += [neighbors(n=10_000, d=2), neighbors(n=10_000, d=6), neighbors(n=10_000, dtype="float64")]
    suite += [neighbors(n=10_000, queries=10_000), neighbors(n=10_000, queries=100, keep_tree=True)]
    suite += [neighbors(n=10_000, periodic=True)]
    suite += [groups(n=10_000), groups(n=10_000, periodic=False), groups(n=100_000, threads=1)]
    return suite


SUITES = {"quick": quick, "must": must, "full": full}
