"""Run by test_mpi.py over several processes: every answer must have the bits of one process with all points."""

import pickle
import sys

import kith
import kith.mpi
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
assert world.size == int(sys.argv[1]), f"{world.size} processes; mpi4py's MPI is not that of mpiexec"
BOX = 1.0


def everyone(mine):
    return numpy.concatenate(world.allgather(mine))


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    return None


def points_of(rank, dtype, dimension):
    """A slab; none on rank 1."""
    count = 0 if rank == 1 else 300
    points = numpy.random.default_rng(rank).random((count, dimension))
    points[:, 0] = (points[:, 0] + rank) / world.size
    points[: count // 3] = points[:1]  # coincident
    return points.astype(dtype)


for comm in (world, world.Split(0, world.size - world.rank)):  # the second one backwards
    for dtype in (numpy.float32, numpy.float64):
        for dimension in (2, 3):
            mine = points_of(comm.rank, dtype, dimension)
            parts = comm.allgather(mine)
            whole = numpy.concatenate(parts)
            first = sum(map(len, parts[:comm.rank]))
            rows = slice(first, first + len(mine))
            distances, indices, report = kith.mpi.knn(comm, mine, 5, box=BOX, exclude_self=True, threads=1,
                                                      return_report=True)
            expected_distances, expected_indices = kith.knn(whole, 5, box=BOX, exclude_self=True)
            assert numpy.array_equal(indices, expected_indices[rows]) and indices.dtype == numpy.int64
            assert numpy.array_equal(distances, expected_distances[rows]) and distances.dtype == dtype
            assert report["first_query"] == first
            assert comm.size == 1 or sum(comm.allgather(report["bytes_received"])) > 0
            radii = numpy.linspace(0, 0.1, len(whole))
            for r, of_whole in ((0.07, 0.07), (radii[rows], radii)):
                found = kith.mpi.radius_search(comm, mine, r, box=BOX, threads=1)
                expected = kith.radius_search(whole, of_whole, box=BOX)
                within = slice(expected.offsets[first], expected.offsets[first + len(mine)])
                assert numpy.array_equal(found.offsets, expected.offsets[first:first + len(mine) + 1] - within.start)
                assert numpy.array_equal(found.indices, expected.indices[within])
                assert numpy.array_equal(found.distances, expected.distances[within])
                counts, report = kith.mpi.radius_count(comm, mine, r, box=BOX, threads=1, return_report=True)
                assert numpy.array_equal(counts, numpy.diff(expected.offsets)[rows])
                assert comm.size == 1 or "tree" in report["seconds"]
            labels, report = kith.mpi.fof(comm, mine, b=0.5, box=BOX, threads=1, return_report=True)
            expected = kith.fof(whole, b=0.5, box=BOX)
            assert numpy.array_equal(labels, expected[rows])
            assert report["groups"] == expected.max() + 1
            labels = kith.mpi.fof(comm, mine, b=0.5, box=BOX, min_members=4, rebalance=True, threads=1)
            assert numpy.array_equal(labels, kith.fof(whole, b=0.5, box=BOX, min_members=4)[rows])
            weights = numpy.arange(len(mine)) % 4
            for _ in range(3):
                _, indices, report = kith.mpi.knn(comm, mine, 5, box=BOX, exclude_self=True, rebalance=True,
                                                  weights=weights, threads=1, return_report=True)
                assert numpy.array_equal(indices, expected_indices[rows])
                weights = report["work"] if comm.size > 1 else weights
                assert weights.shape == (len(mine),) and report["work"].dtype == numpy.float32
            labels, report = kith.mpi.fof(comm, mine, b=0.5, box=BOX, rebalance=True, weights=weights, threads=1,
                                          return_report=True)
            assert numpy.array_equal(labels, expected[rows])
            assert len(report["work"]) == (len(mine) if comm.size > 1 else 0)
            few = whole[:7] if comm.rank == comm.size - 1 else whole[:0]
            distances, indices = kith.mpi.knn(comm, mine, 3, few, max_distance=0.1, threads=1)
            expected_distances, expected_indices = kith.knn(whole, 3, few, max_distance=0.1)
            assert numpy.array_equal(indices, expected_indices) and numpy.array_equal(distances, expected_distances)
            labels = kith.mpi.fof(comm, mine[::2], 0.05, threads=1)  # strided
            expected = kith.fof(numpy.concatenate(comm.allgather(mine[::2])), 0.05)
            assert numpy.array_equal(everyone(labels) if comm is world else numpy.concatenate(comm.allgather(labels)),
                                     expected)


def same_catalog(part, comm, expected):
    """Whether the parts of all processes are the catalog of one."""
    assert part.groups == len(expected) and part.linking_length == expected.linking_length and part.psi == expected.psi
    assert part.columns == expected.columns
    for name in part.columns:
        column = numpy.concatenate(comm.allgather(part[name]))
        assert numpy.array_equal(column, expected[name], equal_nan=column.dtype.kind == "f"), name
    assert numpy.array_equal(numpy.concatenate(comm.allgather(part.members)), expected.members)
    assert numpy.array_equal(numpy.concatenate(comm.allgather(part.offset + part.first_member)), expected.offset)
    assert part.first_group == sum(comm.allgather(len(part))[:comm.rank])
    for group in range(len(part)):
        assert numpy.array_equal(part.members_of(group), expected.members_of(part.first_group + group))


draw = numpy.random.default_rng(world.rank)
mine = points_of(world.rank, numpy.float32, 3)
columns = {"velocities": draw.random((len(mine), 3)).astype(numpy.float32), "masses": draw.random(len(mine)),
           "types": draw.integers(0, 3, len(mine))}
whole = {name: everyone(column) for name, column in {"points": mine, **columns}.items()}
everything = {name: whole[name] for name in columns}
first = sum(world.allgather(len(mine))[:world.rank])
rows = slice(first, first + len(mine))
# Of unequal masses kith.fof warns where the length is relative.
for given, options in (({}, {}), (columns, {}), (columns, {"psi": 0.5}), (columns, {"psi_sigma": 0.7})):
    labels, part, report = kith.mpi.fof(world, mine, 0.06, box=BOX, min_members=2, return_catalog=True, threads=1,
                                        return_report=True, **given, **options)
    expected_labels, expected = kith.fof(whole["points"], 0.06, box=BOX, min_members=2, return_catalog=True,
                                         **(everything if given else {}), **options)
    assert len(expected) > 3 and numpy.array_equal(labels, expected_labels[rows])
    assert report["psi"] == expected.psi
    same_catalog(part, world, expected)
    same_catalog(pickle.loads(pickle.dumps(part)), world, expected)

# Ids in place of global indices: the answers are those of one process with the points by ascending id.
ids = numpy.random.default_rng(0).permutation(3 * len(whole["points"]))[rows] + (2**31 - 1000)
order = numpy.argsort(everyone(ids))
by_id, sorted_ids = whole["points"][order], everyone(ids)[order]
place = numpy.searchsorted(sorted_ids, ids)  # of this process's points
distances, indices = kith.mpi.knn(world, mine, 4, box=BOX, ids=ids, threads=1)
expected_distances, expected_indices = kith.knn(by_id, 4, box=BOX)
assert numpy.array_equal(distances, expected_distances[place])
assert numpy.array_equal(indices, sorted_ids[expected_indices[place]])
found = kith.mpi.radius_search(world, mine, 0.05, box=BOX, ids=ids, threads=1)
expected = kith.radius_search(by_id, 0.05, box=BOX)
for row, at in enumerate(place):
    assert numpy.array_equal(found.indices[found.offsets[row]:found.offsets[row + 1]],
                             sorted_ids[expected.indices[expected.offsets[at]:expected.offsets[at + 1]]])
labels, part = kith.mpi.fof(world, mine, 0.1, box=BOX, ids=ids, return_catalog=True, min_members=5, threads=1)
expected_labels, expected = kith.fof(by_id, 0.1, box=BOX, return_catalog=True, min_members=5)
assert numpy.array_equal(labels, expected_labels[place])
assert numpy.array_equal(numpy.concatenate(world.allgather(part.members)), sorted_ids[expected.members])

kith.mpi._LARGEST_MESSAGE = 11  # everything goes in parts
mine = points_of(world.rank, numpy.float32, 3)
whole = everyone(mine)
assert numpy.array_equal(everyone(kith.mpi.fof(world, mine, b=0.5, threads=1)), kith.fof(whole, b=0.5))
kith.mpi._LARGEST_MESSAGE = 1 << 30

last = world.size - 1
bad = mine.copy() if world.rank != last or last == 1 else mine * numpy.nan
kind, text = raised(lambda: kith.mpi.fof(world, bad, b=0.5)) or (None, "")
assert last == 1 or (kind is ValueError and f"rank {last}: " * (last > 0) + "points: point 0 has NaN" in text), text
kind, text = raised(lambda: kith.mpi.knn(world, "words" if world.rank == last else mine, 3))
assert kind in (TypeError, ValueError), text
kind, text = raised(lambda: kith.mpi.knn(world, mine, 3 + world.rank)) or (ValueError, "one rank")
assert kind is ValueError and "rank" in text, text
kind, text = raised(lambda: kith.mpi.knn("comm", mine, 3))
assert kind is TypeError and "COMM_WORLD" in text
kind, text = raised(lambda: kith.mpi.fof(world, mine))
assert kind is TypeError and "linking_length" in text
if world.rank == 0:
    print("all is well")
