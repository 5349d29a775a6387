"""Points that are distributed over MPI processes, with mpi4py.

    from mpi4py import MPI
    import kith

    labels = kith.fof(points, b=0.2, box=1, comm=MPI.COMM_WORLD)

`comm=` of `kith.knn`, `kith.knn_blocks`, `kith.radius_search`, `kith.radius_count`, `kith.sum_neighbors`, `kith.density`,
`kith.pair_counts`, `kith.correlation`, `kith.fof`, `kith.halos`, `kith.dbscan`, `kith.hdbscan`, `kith.mst`,
`kith.hierarchy`, `kith.fof_ladder`, `kith.z_order` and `kith.gather` names the processes that make a call together. Each
passes its own points, possibly none, of the same dimension and type on all; either all pass queries, or
none. It gets the answers for its own points or queries, a part of the halos, or the counts of all pairs: the bits of the
call of one process with the points of all of them in the order of their ranks. Indices and labels are global, and int64. All
other arguments must be the same on all processes, but `threads`, by default each process's share of the cores of its
machine, `progress`, and `device`: `kith.knn`, `kith.radius_search`, `kith.radius_count`, `kith.dbscan` and `kith.fof`, with its catalog,
can work on the GPU of a process,
`device=f"cuda:{rank % gpus}"`, while other processes use theirs or their CPUs. Their points may be in memory of that GPU;
results are NumPy arrays, but `kith.knn` and its rows stay on the GPU with the points. All other arrays are in host memory.

Any intracommunicator of mpi4py can be used, with any MPI library, since kith itself is built without MPI. A call
communicates through a duplicate of it. An error on one process, also in an argument that only this process passes, is
raised on all, and its text starts with the number of the rank that failed. `Ranks` adds ids, rebalancing, messages from
memory of GPUs (`device_memory`) and a report.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import sys
import time
from collections import Counter
from typing import Any

import numpy

try:
    from mpi4py import MPI
except ModuleNotFoundError as missing:
    raise ImportError("kith.mpi needs mpi4py, built with the MPI of your mpirun: pip install mpi4py") from missing

from kith import _arrays, _core
from kith._arrays import AnyArray

_LARGEST_MESSAGE = 1 << 30
_SMALL_MESSAGE = 1 << 16
_TAGS = (1, 2)
_TAG_OF_BUFFERS = 3
_TRAFFIC = ("bytes_sent", "bytes_received", "messages_sent", "bytes_from_device")


class Ranks:
    """Processes that make calls together, and what such calls can be told: `kith.knn(points, 8, comm=Ranks(world, ids=ids))`.

    Parameters
    ----------
    comm : mpi4py communicator
        The processes.
    ids : array of integers, shape (n,), optional
        Ids of the points of this process: 0 or more, in any order, unique over all processes. They replace global indices:
        they alone break ties, and results contain them. Either all processes that have points pass ids, or none.
    rebalance : bool
        Redistribute the points for the call, with their masses and whatever else belongs to them, so that each process has
        about the same number of points, near each other; queries are sent to where the points near them are, and the
        answers are sent back. Worth its traffic if the points of a process are scattered, or if it has far more of them
        than others. Must be the same on all processes. It makes no difference where there is nothing to redistribute: to
        `kith.z_order` and `kith.gather`, to cuts of hierarchies and ladders, and to the catalog of `kith.fof`, whose groups
        are divided among the processes anyway.
    weights : array, shape (n,), optional
        For `rebalance` and `kith.z_order`: the cost of each point in any unit, finite and 0 or more. Each process then gets
        about the same sum of weights instead of the same number of points. Either all processes that have points pass
        weights, or none. In a simulation, pass `report["work"]` of the previous step. `kith.correlation`, which counts pairs
        of several sets, uses neither weights nor ids.
    imbalance : float
        For `rebalance` and `kith.z_order`: how much the parts of processes may differ, as a fraction of the mean number of
        points or weight; 0 cuts as equally as possible. Must be the same on all processes.
    device_memory : bool
        Whether the MPI library accepts memory of GPUs (a GPU-aware MPI), which mpi4py does not tell. If so, processes that
        work on GPUs send each other points from there, without a copy on their hosts. Must be the same on all processes. The
        GPU of `device` must be the current device of the thread that calls kith, for many MPIs already when `mpi4py.MPI`
        is imported: `cupy.cuda.Device(i).use()`, `torch.cuda.set_device(i)`.

    Attributes
    ----------
    report : dict
        Of the latest call: `bytes_sent`, `bytes_received` and `messages_sent` of this process, `bytes_from_device`, which its
        GPU sent to its host, the `seconds` of each stage, `first`, the global index of its first query, label or edge, and
        `total`, their number on all processes. With `rebalance` these add `bytes_migrated`, the coordinates, velocities and
        other columns of this process's points that were sent to others, and but for `kith.correlation` `work`, an array of
        float32 of shape (n,): what each point cost, in seconds; empty if there is one process.
        Of `kith.fof` and `kith.halos` also `groups`, the number of groups, `linking_length` and `psi`; of `kith.dbscan` the
        numbers of `clusters`, `core_points` and `noise_points`.
    """

    def __init__(self, comm: MPI.Intracomm, *, ids: AnyArray | None = None, rebalance: bool = False,
                 weights: AnyArray | None = None, imbalance: float = 0.01, device_memory: bool = False) -> None:
        if not isinstance(comm, MPI.Comm) or comm == MPI.COMM_NULL or comm.Is_inter():
            raise TypeError(f"comm must be an intracommunicator of mpi4py, such as MPI.COMM_WORLD, not {comm!r}")
        self.comm, self.ids, self.rebalance, self.weights, self.imbalance = comm, ids, rebalance, weights, imbalance
        self.device_memory = device_memory
        self.report: dict[str, Any] = {}


def call_together(function, *arguments, comm, **options):
    """The result of function(*arguments, comm=..., **options) on all processes, or an exception on all.

    What a process does by itself may fail there alone. It tells the others when they enter the core's work next, or at the
    end; within that work all fail together.
    """
    ranks = comm if isinstance(comm, Ranks) else Ranks(comm)
    with _Team(ranks) as team:
        team.require_same("the function", function.__name__)
        try:
            team.require_same("device_memory", team.accepts_device_memory)
            result = function(*arguments, comm=team, **options)
        except BaseException as error:  # sys.exit() and Ctrl-C, too: the others would wait for ever
            if not team.is_inside:
                team.agree(error)
            raise
        team.agree(None)
        ranks.report = team.report
    return result


def _kind_and_text(error):
    """The nearest kind of an exception that every process knows and can make from a text, and its text."""
    def can_be_made(kind):
        try:
            kind("")
        except TypeError:
            return False
        return issubclass(kind, Exception)

    known = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins" or kind is _core.Canceled]
    try:
        text = str(error) or type(error).__name__
    except Exception:  # raised by the __str__ of the exception
        text = type(error).__name__
    return next(filter(can_be_made, known), RuntimeError), text


@functools.cache
def _key_of_shares():
    return MPI.Comm.Create_keyval()


def _share_of_cores(comm):
    """Threads of this process: its share of the cores that it may use, which the processes of the communicator on this
    machine share. Collective the first time; the communicator keeps the number."""
    share = comm.Get_attr(_key_of_shares())
    if share is None:
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        here = comm.Split_type(MPI.COMM_TYPE_SHARED)
        users = Counter(core for of_process in here.allgather(tuple(cores)) for core in of_process)
        here.Free()
        share = max(1, int(sum(1 / users[core] for core in cores) + 1e-6))
        comm.Set_attr(_key_of_shares(), share)
    return share


class _Team:
    """kith's Communicator (kith/communicator.hpp), on a duplicate of an mpi4py communicator, for one call.

    Waits yield the core, because there may be more processes than cores, and sleep where they are long and no large message
    of this process is on its way: on a busy machine the scheduler comes back to a process that yields time and again. An
    exchange ends by non-blocking consensus, since receivers do not know the senders: synchronous sends, then a barrier that
    does not block.
    """

    def __init__(self, ranks):
        self._ranks = ranks
        self.comm, request = ranks.comm.Idup()
        _wait(request)
        self.rank, self.size = self.comm.rank, self.comm.size
        self.threads = _share_of_cores(ranks.comm)
        self.report = {"seconds": {}, **dict.fromkeys(_TRAFFIC, 0)}
        self.is_inside = False
        self._is_of_points = True
        self._same, self._shared, self._shared_by_all = {}, {}, []
        self._exchanges = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.comm.Free()

    @property
    def ids(self):
        given = self._ranks.ids if self._is_of_points else None
        ids = None if given is None else _arrays.as_integers(given, numpy.int64, "ids")
        if ids is not None and ids.ndim != 1:
            raise ValueError(f"ids has {ids.ndim} axes; it must have a number for each point")
        return ids

    @property
    def rebalance(self):
        return _arrays.flag(self._ranks.rebalance, "rebalance")

    @property
    def imbalance(self):
        return _arrays.as_number(self._ranks.imbalance, "imbalance")

    @property
    def accepts_device_memory(self):
        return _arrays.flag(self._ranks.device_memory, "device_memory")

    @property
    def weights(self):
        given = self._ranks.weights if self._is_of_points else None
        return None if given is None else _arrays.as_column(given, "weights")

    def leave_points(self):
        """From here on calls are of several sets of points, not of those that the ids and weights are of."""
        self._is_of_points = False

    def require_same(self, name, value):
        """Notes what all processes must have the same value of; they compare its text when they enter the core's work."""
        self._same[name] = str(value)

    def share(self, name, value):
        """Notes what other processes are to know once all have entered the core's work."""
        self._shared[name] = value

    def shared(self, name):
        """What all processes have noted, by rank."""
        return [of_rank[name] for of_rank in self._shared_by_all]

    def enter(self):
        """All processes begin the core's work, or raise what is wrong on one."""
        self.is_inside = True
        self.agree(None)

    def leave(self):
        self.is_inside = False

    @contextlib.contextmanager
    def inside(self):
        """Ranks for calls of their own, without ids: all processes make the same, after they have agreed."""
        self.is_inside = True
        yield Ranks(self._ranks.comm, device_memory=self._ranks.device_memory)
        self.is_inside = False

    def agree(self, raised):
        """If there is an exception on some processes, raises that of the lowest of these ranks on all, with the number of
        this rank before its text, unless there is one rank only. What ends a program, such as SystemExit, ends its own.
        """
        told = self._gather((None if raised is None else _kind_and_text(raised), self._same, self._shared))
        if raised is not None and (self.size == 1 or not isinstance(raised, Exception)):
            raise raised
        for rank, (error, _, _) in enumerate(told):
            if error is not None:
                raise error[0](f"rank {rank}: {error[1]}") from (raised if rank == self.rank else None)
        for rank, (_, same, _) in enumerate(told):
            for name, value in told[0][1].items():
                if same.get(name) != value:
                    raise ValueError(f"{name}: {same.get(name)} on rank {rank}, {value} on rank 0; all ranks must pass the "
                                     "same")
        self._shared_by_all = [shared for _, _, shared in told]

    def _gather(self, value):
        """The values of all processes, by rank; waits yield the core."""
        mine = numpy.frombuffer(pickle.dumps(value), numpy.uint8)
        lengths = numpy.empty(self.size, numpy.int64)
        _wait(self.comm.Iallgather(numpy.array([len(mine)]), lengths))
        everything = numpy.empty(lengths.sum(), numpy.uint8)
        self.all_gather(mine, everything, lengths.tolist())
        return [pickle.loads(part) for part in numpy.split(everything, numpy.cumsum(lengths)[:-1])]

    def add(self, seconds, traffic, migrated, first, total, work):
        """Adds what a part of the call cost to the report; the first part says which rows or labels are here."""
        report = self.report
        for name, value in seconds.items():
            report["seconds"][name] = report["seconds"].get(name, 0.0) + value
        for name, value in zip(_TRAFFIC, traffic, strict=True):
            report[name] += value
        report.setdefault("first", first)
        report.setdefault("total", total)
        if self.rebalance:
            report["bytes_migrated"] = report.get("bytes_migrated", 0) + migrated
            if self._is_of_points and (len(work) or "work" not in report):
                earlier = report.get("work", ())
                report["work"] = earlier + work if len(earlier) else work

    def all_reduce(self, values, reduction):
        values = numpy.frombuffer(values, numpy.int64)
        _wait(self.comm.Iallreduce(MPI.IN_PLACE, values, (MPI.MIN, MPI.MAX, MPI.SUM)[reduction]), values.nbytes)

    def all_gather(self, mine, everything, counts):
        if sum(counts) <= _LARGEST_MESSAGE:
            starts = [sum(counts[:rank]) for rank in range(self.size)]
            _wait(self.comm.Iallgatherv([mine, len(mine), MPI.BYTE], [everything, counts, starts, MPI.BYTE]), sum(counts))
            return
        begin = 0
        for root, count in enumerate(counts):
            if root == self.rank:
                everything[begin:begin + count] = mine
            for first in range(begin, begin + count, _LARGEST_MESSAGE):
                part = everything[first:min(first + _LARGEST_MESSAGE, begin + count)]
                _wait(self.comm.Ibcast([part, len(part), MPI.BYTE], root), len(part))
            begin += count

    def exchange(self, messages):
        tag = _TAGS[self._exchanges % 2]
        self._exchanges += 1
        received = [[] for _ in range(self.size)]
        sends = []
        sent_bytes = 0
        for rank, message in messages:
            if rank == self.rank:
                received[rank].append(bytes(message))
                continue
            sent_bytes += len(message)
            for first in range(0, len(message) + 1, _LARGEST_MESSAGE):  # a part that is shorter is the last
                part = message[first:first + _LARGEST_MESSAGE]
                sends.append(self.comm.Issend([part, len(part), MPI.BYTE], rank, tag))
        parts = [[] for _ in range(self.size)]
        status = MPI.Status()
        barrier = None
        patience = _Patience()
        while True:
            if self.comm.Iprobe(MPI.ANY_SOURCE, tag, status):
                part = bytearray(status.Get_count(MPI.BYTE))
                source = status.Get_source()
                self.comm.Recv([part, len(part), MPI.BYTE], source, tag)
                parts[source].append(part)
                if len(part) < _LARGEST_MESSAGE:
                    received[source].append(b"".join(parts[source]))
                    parts[source] = []
            elif barrier is None and MPI.Request.Testall(sends):
                barrier = self.comm.Ibarrier()
            elif barrier is not None and barrier.Test():
                break
            else:
                patience.wait(may_sleep=barrier is not None or sent_bytes <= _SMALL_MESSAGE)
        return [(rank, message) for rank, of_rank in enumerate(received) for message in of_rank]

    def exchange_buffers(self, sent, received):
        """Buffers are (rank, address, bytes), perhaps of a GPU, and of equal size on both sides."""
        requests = []
        bytes_of_all = 0
        for buffers, start in ((received, self.comm.Irecv), (sent, self.comm.Isend)):
            for rank, address, count in buffers:
                bytes_of_all += count
                for first in range(0, count, _LARGEST_MESSAGE):
                    length = min(_LARGEST_MESSAGE, count - first)
                    part = MPI.buffer.fromaddress(address + first, length)
                    requests.append(start([part, length, MPI.BYTE], rank, _TAG_OF_BUFFERS))
        patience = _Patience()
        while not MPI.Request.Testall(requests):
            patience.wait(may_sleep=bytes_of_all <= _SMALL_MESSAGE)

    def abort(self, reason):
        print(f"kith: rank {self.rank}: {reason}", file=sys.stderr, flush=True)
        self.comm.Abort(1)


def _wait(request, bytes_on_their_way=0):
    patience = _Patience()
    while not request.Test():
        patience.wait(may_sleep=bytes_on_their_way <= _SMALL_MESSAGE)


class _Patience:
    """A wait that yields for 0.2 ms and then sleeps for 0.05 ms time and again, where it may."""

    def __init__(self):
        self._sleeps_from = time.perf_counter() + 2e-4

    def wait(self, may_sleep):
        if may_sleep and time.perf_counter() > self._sleeps_from:
            time.sleep(5e-5)
        else:
            os.sched_yield()
