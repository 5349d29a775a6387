"""Neighbors and groups of points that are distributed over MPI processes, with mpi4py.

    from mpi4py import MPI
    import kith.mpi

    labels = kith.mpi.fof(MPI.COMM_WORLD, points, b=0.2, box=1)

Every process passes its own points, possibly none, and gets the answers for these points. They are bit-identical to
those of `kith.knn`, `kith.radius_search` and `kith.fof` for the points of all processes in the order of their ranks.
All functions are collective: every process of the communicator makes the same calls with the same options. Any
intracommunicator of mpi4py can be used, with any MPI library, since kith itself is built without MPI. An error on one
process, also in an argument that only this process passes, is raised on all.
"""

from __future__ import annotations

import math
import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy

try:
    from mpi4py import MPI
except ModuleNotFoundError as missing:
    raise ImportError("kith.mpi needs mpi4py, built with the MPI of your mpirun: pip install mpi4py") from missing

from kith import _arrays, _core
from kith._arrays import AnyArray, BoxLike
from kith._call import require_rows
from kith._catalog import Catalog
from kith._fof import at_least_one
from kith._phase_space import phase_space
from kith._radius import RadiusResult
from kith._warnings import warn

_LARGEST_MESSAGE = 1 << 30
_TAGS = (1, 2)


def knn(comm: MPI.Intracomm, points: AnyArray, k: int, queries: AnyArray | None = None, *, box: BoxLike = None,
        exclude_self: bool = False, max_distance: float | None = None, ids: AnyArray | None = None,
        rebalance: bool = False, weights: AnyArray | None = None, threads: int = 0,
        return_report: bool = False) -> Any:
    """The k nearest neighbors of every point or query of this process, among the points of all processes.

    Parameters
    ----------
    comm : mpi4py communicator
        The processes. The call communicates through a duplicate of it.
    points : array, shape (n, d)
        Points of this process, in host memory; n may be 0. d and the type must be the same on all processes.
    k, queries, box, exclude_self, max_distance
        As for `kith.knn`, the same on all processes, except for the queries: each process passes its own, and either
        all processes pass queries or none.
    ids : array of integers, shape (n,), optional
        Ids of the points: 0 or more, in any order, unique over all processes. They replace global indices: they alone
        break ties, and results contain them. Either all processes that have points pass ids, or none.
    rebalance : bool
        Redistribute the points for the call, so that each process has about the same number of points, near each
        other; queries are sent to where the points near them are, and the answers are sent back. Worth its traffic if
        the points of a process are scattered, or if it has far more of them than others. Must be the same on all
        processes.
    weights : array, shape (n,), optional
        For `rebalance`: the cost of each point in any unit, finite and 0 or more. Each process then gets about the same
        sum of weights instead of the same number of points. Either all processes that have points pass weights, or
        none. In a simulation, pass `report["work"]` of the previous step.
    threads : int
        Number of threads of this process. 0 means all cores, so pass a number if several processes share a machine.
    return_report : bool
        Also return a dict with bytes_sent, bytes_received and messages_sent of this process, the seconds of each stage,
        and first_query, the global index of its first query. With `rebalance` it also has work, an array of float32 of
        shape (n,): what each point cost, in seconds; empty if there is one process.

    Returns
    -------
    distances : array, shape (n, k)
    indices : array of int64, shape (n, k)
        Global indices: the number of points on lower ranks plus the row on the point's own rank (or ids); -1 for a
        missing neighbor.

    Raises
    ------
    Exception
        As `kith.knn`, on all processes; the text starts with the number of the rank that failed.
    """
    with _Ranks(comm) as ranks:
        call = ranks.agreed(lambda: _core.search_over_ranks(
            *_points_and_queries(points, queries), box, _arrays.as_whole(k, "k"),
            _arrays.flag(exclude_self, "exclude_self"),
            math.inf if max_distance is None else _arrays.as_number(max_distance, "max_distance"), _ids(ids),
            _arrays.flag(rebalance, "rebalance"), _weights(weights), threads))
        distances, indices, report = call(ranks)
    _warn(report, ranks)
    return (distances, indices, report) if return_report else (distances, indices)


def radius_search(comm: MPI.Intracomm, points: AnyArray, r: float | AnyArray, queries: AnyArray | None = None, *,
                  box: BoxLike = None, exclude_self: bool = False, ids: AnyArray | None = None, threads: int = 0,
                  return_report: bool = False) -> Any:
    """All neighbors within a radius of every point or query of this process, among the points of all processes.

    Parameters
    ----------
    comm, points, queries, box, exclude_self, ids, threads, return_report
        As for `kith.mpi.knn`.
    r : float or array
        A single radius, the same on all processes, or an array with one radius for each query of this process (for each
        of its points, without queries).

    Returns
    -------
    kith.RadiusResult
        A row for each point or query of this process, with global indices.

    Raises
    ------
    Exception
        As `kith.radius_search`, on all processes; the text starts with the number of the rank that failed.
    """
    with _Ranks(comm) as ranks:
        call = _within(ranks, points, r, queries, box, exclude_self, ids, False, threads)
        offsets, indices, distances, report = call(ranks)
    _warn(report, ranks)
    found = RadiusResult(offsets, indices, distances, "tree")
    return (found, report) if return_report else found


def radius_count(comm: MPI.Intracomm, points: AnyArray, r: float | AnyArray, queries: AnyArray | None = None, *,
                 box: BoxLike = None, exclude_self: bool = False, threads: int = 0, return_report: bool = False) -> Any:
    """How many points, of those of all processes, are within a radius of every point or query of this process.

    Parameters
    ----------
    comm, points, r, queries, box, exclude_self, threads, return_report
        As for `kith.mpi.radius_search`, but the report has no first_query.

    Returns
    -------
    counts : array of int64, shape (n,)

    Raises
    ------
    Exception
        As `kith.radius_count`, on all processes; the text starts with the number of the rank that failed.
    """
    with _Ranks(comm) as ranks:
        counts, report = _within(ranks, points, r, queries, box, exclude_self, None, True, threads)(ranks)
    return (counts, report) if return_report else counts


def fof(comm: MPI.Intracomm, points: AnyArray, linking_length: float | None = None, *, b: float | None = None,
        psi: float | None = None, psi_sigma: float | None = None, box: BoxLike = None, min_members: int | None = None,
        return_catalog: bool = False, velocities: AnyArray | None = None, masses: AnyArray | None = None,
        types: AnyArray | None = None, ids: AnyArray | None = None, rebalance: bool = False,
        weights: AnyArray | None = None, threads: int = 0, return_report: bool = False) -> Any:
    """Labels of friends-of-friends groups of the points of all processes, and on request their catalog.

    Parameters
    ----------
    comm, points, ids, rebalance, weights, threads, return_report
        As for `kith.mpi.knn`, but the report has groups (the number of groups), linking_length and psi in place of
        first_query.
    linking_length, b, psi, psi_sigma, box, min_members, return_catalog
        As for `kith.fof`, the same on all processes. `b` and `psi_sigma` refer to the points of all processes.
    velocities, masses, types
        As for `kith.fof`, for the points of this process; either all processes pass an array, or none.

    Returns
    -------
    labels : array of int64, shape (n,)
        Labels of the points of this process. Groups are numbered from 0 by decreasing size; of two groups of the same
        size, the one whose first member has the smaller global index comes first.
    part : CatalogPart
        If `return_catalog`: some of the groups. The parts of all processes, in the order of ranks, are the catalog.

    Raises
    ------
    Exception
        As `kith.fof`, on all processes; the text starts with the number of the rank that failed.
    """
    with _Ranks(comm) as ranks:
        def prepare():
            arrays = {"points": _arrays.as_real(points, "points"),
                      "velocities": None if velocities is None else _arrays.as_real(velocities, "velocities"),
                      "masses": None if masses is None else _arrays.as_column(masses, "masses"),
                      "types": None if types is None else _arrays.as_integers(types, numpy.uint8, "types")}
            require_rows(arrays["points"].shape, **{name: arrays[name] for name in ("velocities", "masses", "types")})
            labeled, listed = (1, 20) if min_members is None else [at_least_one(min_members)] * 2
            found = phase_space(arrays["velocities"], None, psi, psi_sigma, None)
            _, length, is_relative, _ = found or (None, 0.0, False, None)
            return arrays, _core.label_over_ranks(
                arrays["points"], *_arrays.length(linking_length, b), found is not None, length, is_relative, arrays["velocities"], arrays["masses"], arrays["types"], box, labeled,
                listed if _arrays.flag(return_catalog, "return_catalog") else 0, _ids(ids),
                _arrays.flag(rebalance, "rebalance"), _weights(weights), threads)
        arrays, call = ranks.agreed(prepare)
        ranks.require_same("min_members", min_members)
        ranks.require_same("return_catalog", return_catalog)
        labels, part, report = call(ranks)
    found = (labels,)
    if part is not None:
        found += (CatalogPart(part, report, arrays["points"], velocities is not None),)
    if return_report:
        found += (report,)
    return found if len(found) > 1 else labels


class CatalogPart(Catalog):
    """The groups of a catalog that one process describes: a `kith.Catalog` whose row 0 is group `first_group`.

    The columns of the parts of all processes, in the order of ranks, are those of the catalog of one process, if
    `first_member` is added to `offset`.

    Attributes
    ----------
    members : int64
        Global indices of the points, or ids, group after group.
    first_group : int
        The label of the first group here.
    groups : int
        In all parts.
    first_member : int
        The number of members in the parts of lower ranks.
    """

    def __init__(self, part, report, points, has_velocities):
        core, self.groups, self.first_group, self.first_member, box = part
        summary = SimpleNamespace(linking_length=report["linking_length"], velocity_length=report["psi"],
                                  engine="tree")
        super().__init__(core, summary, box, points, has_velocities,
                         {"length": None, "mass": None, "velocity": None})


def _points_and_queries(points, queries):
    points = _arrays.as_real(points, "points")
    real_type = numpy.float64 if _arrays.is_float64(points) else numpy.float32
    return points, None if queries is None else _arrays.as_queries(queries, real_type)


def _ids(ids):
    return None if ids is None else _arrays.as_integers(ids, numpy.int64, "ids")


def _weights(weights):
    return None if weights is None else _arrays.as_column(weights, "weights")


def _within(ranks, points, r, queries, box, exclude_self, ids, only_counts, threads):
    return ranks.agreed(lambda: _core.search_within_over_ranks(
        *_points_and_queries(points, queries), box, *_radii(r),
        _arrays.flag(exclude_self, "exclude_self"), _ids(ids), only_counts, threads))


def _radii(r):
    """One radius for all queries, and one for each, of which one counts."""
    if numpy.ndim(r):
        return 0.0, _arrays.as_column(numpy.asarray(r, dtype=numpy.float64), "r")
    return _arrays.as_number(r, "r"), None


def _warn(report, ranks):
    """Warns of unresolved neighbors, on rank 0 only."""
    warning = report.pop("warning")
    if warning and ranks.rank == 0:
        warn(warning)


def _known_kind(error):
    """The nearest kind of an exception that every process knows and can make from a text."""
    for kind in type(error).__mro__:
        try:
            kind("")
        except TypeError:
            continue
        if kind.__module__ == "builtins":
            return kind
    return RuntimeError


class _Ranks:
    """kith's Communicator (kith/communicator.hpp), on a duplicate of an mpi4py communicator.

    Waits yield the core, because there may be more processes than cores. An exchange ends by non-blocking consensus,
    since receivers do not know the senders: synchronous sends, then a barrier that does not block.
    """

    def __init__(self, comm):
        if not isinstance(comm, MPI.Comm) or comm == MPI.COMM_NULL or comm.Is_inter():
            raise TypeError(f"comm must be an intracommunicator of mpi4py, such as MPI.COMM_WORLD, not {comm!r}")
        self.comm = comm.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self._exchanges = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.comm.Free()

    def agreed(self, work):
        """Calls work(); if it raises on some processes, raises the exception of the lowest of these ranks on all, with the
        number of this rank before its text, unless there is one rank only.
        """
        raised = result = None
        try:
            result = work()
        except Exception as error:
            raised = error
        mine = None
        if raised is not None:
            mine = _known_kind(raised), str(raised)
        for rank, error in enumerate(self.comm.allgather(mine)):
            if error is not None:
                if self.size == 1:
                    raise raised
                raise error[0](f"rank {rank}: {error[1]}") from (raised if rank == self.rank else None)
        return result

    def require_same(self, name, value):
        """Raises on all processes unless all have the same value."""
        values = self.comm.allgather(value)
        for rank, other in enumerate(values):
            if other != values[0]:
                raise ValueError(f"{name}: {other} on rank {rank}, {values[0]} on rank 0; all ranks must pass the same")

    def all_reduce(self, values, reduction):
        values = numpy.frombuffer(values, numpy.int64)
        _wait(self.comm.Iallreduce(MPI.IN_PLACE, values, (MPI.MIN, MPI.MAX, MPI.SUM)[reduction]))

    def all_gather(self, mine, everything, counts):
        if sum(counts) <= _LARGEST_MESSAGE:
            starts = [sum(counts[:rank]) for rank in range(self.size)]
            _wait(self.comm.Iallgatherv([mine, len(mine), MPI.BYTE], [everything, counts, starts, MPI.BYTE]))
            return
        begin = 0
        for root, count in enumerate(counts):
            if root == self.rank:
                everything[begin:begin + count] = mine
            for first in range(begin, begin + count, _LARGEST_MESSAGE):
                part = everything[first:min(first + _LARGEST_MESSAGE, begin + count)]
                _wait(self.comm.Ibcast([part, len(part), MPI.BYTE], root))
            begin += count

    def exchange(self, messages):
        tag = _TAGS[self._exchanges % 2]
        self._exchanges += 1
        received = [[] for _ in range(self.size)]
        sends = []
        for rank, message in messages:
            if rank == self.rank:
                received[rank].append(bytes(message))
                continue
            for first in range(0, len(message) + 1, _LARGEST_MESSAGE):  # a part that is shorter is the last
                part = message[first:first + _LARGEST_MESSAGE]
                sends.append(self.comm.Issend([part, len(part), MPI.BYTE], rank, tag))
        parts = [[] for _ in range(self.size)]
        status = MPI.Status()
        barrier = None
        while True:
            if self.comm.Iprobe(MPI.ANY_SOURCE, tag, status):
                part = bytearray(status.Get_count(MPI.BYTE))
                source = status.Get_source()
                self.comm.Recv([part, len(part), MPI.BYTE], source, tag)
                parts[source].append(part)
                if len(part) < _LARGEST_MESSAGE:
                    received[source].append(b"".join(parts[source]))
                    parts[source] = []
            elif barrier is None:
                if MPI.Request.Testall(sends):
                    barrier = self.comm.Ibarrier()
            elif barrier.Test():
                break
            else:
                os.sched_yield()
        return [(rank, message) for rank, of_rank in enumerate(received) for message in of_rank]

    def abort(self, reason):
        print(f"kith: rank {self.rank}: {reason}", file=sys.stderr, flush=True)
        self.comm.Abort(1)


def _wait(request):
    while not request.Test():
        os.sched_yield()
