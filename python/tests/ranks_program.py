"""Run by test_mpi.py over several processes: every answer must have the bits of one process with all points."""

import os
import pickle
import sys
from types import SimpleNamespace

import kith
import kith.mpi
import numpy
from kith import _subjects
from mpi4py import MPI

world = MPI.COMM_WORLD
assert world.size == int(sys.argv[1]), f"{world.size} processes; mpi4py's MPI is not that of mpiexec"
BOX = 1.0


def everyone(mine):
    return numpy.concatenate(world.allgather(mine))


def raised(call):
    try:
        call()
    except BaseException as error:
        return type(error), str(error)
    return None


def points_of(rank, dtype, dimension):
    """A slab; none on rank 1."""
    count = 0 if rank == 1 else 300
    points = numpy.random.default_rng(rank).random((count, dimension))
    points[:, 0] = (points[:, 0] + rank) / world.size
    points[: count // 3] = points[:1]  # coincident
    return points.astype(dtype)


cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
assert kith.mpi._share_of_cores(world) == max(1, cores // world.size) == kith.mpi._share_of_cores(world)
backwards = world.Split(0, world.size - world.rank)
# Tests in C++ have all types in all dimensions.
for comm, dtype, dimension in ((world, numpy.float32, 3), (world, numpy.float64, 2), (backwards, numpy.float64, 3)):
    mine = points_of(comm.rank, dtype, dimension)
    parts = comm.allgather(mine)
    whole = numpy.concatenate(parts)
    first = sum(map(len, parts[:comm.rank]))
    rows = slice(first, first + len(mine))
    ranks = kith.mpi.Ranks(comm)
    distances, indices = kith.knn(mine, 5, box=BOX, exclude_self=True, threads=1, comm=ranks)
    report = ranks.report
    expected_distances, expected_indices = kith.knn(whole, 5, box=BOX, exclude_self=True)
    assert numpy.array_equal(indices, expected_indices[rows]) and indices.dtype == numpy.int64
    assert numpy.array_equal(distances, expected_distances[rows]) and distances.dtype == dtype
    assert report["first"] == first and report["total"] == len(whole)
    assert comm.size == 1 or sum(comm.allgather(report["bytes_received"])) > 0
    assert report["bytes_from_device"] == 0
    radii = numpy.linspace(0, 0.1, len(whole))
    for r, of_whole in ((0.07, 0.07), (radii[rows], radii)):
        found = kith.radius_search(mine, r, box=BOX, threads=1, comm=comm)
        expected = kith.radius_search(whole, of_whole, box=BOX)
        within = slice(expected.offsets[first], expected.offsets[first + len(mine)])
        assert numpy.array_equal(found.offsets, expected.offsets[first:first + len(mine) + 1] - within.start)
        assert numpy.array_equal(found.indices, expected.indices[within])
        assert numpy.array_equal(found.distances, expected.distances[within])
        counts = kith.radius_count(mine, r, box=BOX, threads=1, comm=ranks)
        assert numpy.array_equal(counts, numpy.diff(expected.offsets)[rows])
        moved = kith.mpi.Ranks(comm, rebalance=True, imbalance=0)
        assert numpy.array_equal(counts, kith.radius_count(mine, r, box=BOX, threads=1, comm=moved))
        again = kith.radius_search(mine, r, box=BOX, threads=1, comm=moved)
        assert all(map(numpy.array_equal, again, found)) and len(moved.report["work"]) in (len(mine), 0)
        assert comm.size == 1 or len(mine) == 0 or "tree" in ranks.report["seconds"]
    masses, field = 1.0 + numpy.arange(len(whole)) % 7, numpy.cos(numpy.arange(len(whole)))
    for neighborhood in ({"k": 6}, {"r": 0.07}):
        sums = {"kernel": "wendland-c2", "statistics": ["mean", "variance", "gradient"], "density_gradient": True,
                "box": BOX, "exclude_self": True, **neighborhood}
        found = kith.sum_neighbors(mine, masses=masses[rows], fields={"f": field[rows]}, threads=1, comm=ranks,
                                   **sums)
        expected = kith.sum_neighbors(whole, masses=masses, fields={"f": field}, **sums)
        for name in ("density", "reach", "counts", "density_gradient"):
            one, other = getattr(found, name), getattr(expected, name)
            assert other is None and one is None or numpy.array_equal(one, other[rows], equal_nan=True), name
        for one, other in zip(found.fields["f"], expected.fields["f"]):
            assert other is None and one is None or numpy.array_equal(one, other[rows], equal_nan=True)
        assert ranks.report["first"] == first and ranks.report["total"] == len(whole)
    density = kith.density(mine, 6, box=BOX, threads=1, comm=comm)
    assert numpy.array_equal(density, kith.density(whole, 6, box=BOX)[rows])
    edges, pi = [0, 0.02, 0.1, 0.3], [0, 0.1, 0.2]
    found = kith.pair_counts(mine, edges=edges, box=BOX, weights=masses[rows], separations=True, threads=1,
                             comm=ranks)
    expected = kith.pair_counts(whole, edges=edges, box=BOX, weights=masses, separations=True)
    assert numpy.array_equal(found.separations, expected.separations, equal_nan=True)
    assert numpy.array_equal(found.counts, expected.counts) and numpy.array_equal(found.weighted, expected.weighted)
    randoms = numpy.random.default_rng(100 + comm.rank).random((200 * comm.rank, dimension)).astype(dtype)
    all_randoms = numpy.concatenate(comm.allgather(randoms))
    for box in (BOX, None) if len(all_randoms) else (BOX,):
        bins = {"edges": edges, "pi_edges": pi, "box": box}
        found = kith.correlation(mine, None if box else randoms, weights=field[rows]**2, threads=1, comm=ranks,
                                 **bins)
        expected = kith.correlation(whole, None if box else all_randoms, weights=field**2, **bins)
        assert numpy.array_equal(found.xi, expected.xi, equal_nan=True) and found.estimator == expected.estimator
        if box is None and dimension == 3:
            all_weights = numpy.sin(numpy.arange(len(all_randoms)))**2
            begin = sum(comm.allgather(len(randoms))[:comm.rank])
            here = slice(begin, begin + len(randoms))
            mine_half, half, near, all_near = ((part[:, 0] > 0.5).astype(int)
                                               for part in (mine, whole, randoms, all_randoms))
            for of_mine, of_whole in (({"regions": 3}, {"regions": 3}), (
                    {"regions": mine_half, "random_regions": near, "random_weights": all_weights[here]},
                    {"regions": half, "random_regions": all_near, "random_weights": all_weights})):
                found = kith.correlation(mine, randoms, edges=edges, weights=field[rows]**2, threads=1, comm=ranks,
                                         **of_mine)
                expected = kith.correlation(whole, all_randoms, edges=edges, weights=field**2, **of_whole)
                assert numpy.array_equal(found.samples, expected.samples)
    if dimension == 3:
        moved = kith.mpi.Ranks(comm, rebalance=True, weights=numpy.arange(len(mine)) % 4)
        assert numpy.array_equal(kith.density(mine, 6, box=BOX, threads=1, comm=moved), density)
        assert len(moved.report["work"]) == (len(mine) if comm.size > 1 else 0)
        counted = {"edges": edges, "box": BOX, "weights": masses[rows], "threads": 1}
        again, found = (kith.pair_counts(mine, comm=each, **counted) for each in (moved, comm))
        assert numpy.array_equal(again.weighted, found.weighted)
        assert comm.size == 1 or sum(comm.allgather(moved.report["bytes_migrated"])) > 0
        again, found = (kith.correlation(mine, randoms, edges=edges, threads=1, comm=each) for each in (moved, comm))
        assert numpy.array_equal(again.xi, found.xi, equal_nan=True) and "work" not in moved.report
        for exclude_self in (False, True):
            expected = kith.knn(whole, 4, box=BOX, exclude_self=exclude_self)
            blocks = list(kith.knn_blocks(mine, 4, block_rows=130, box=BOX, exclude_self=exclude_self, threads=1,
                                          comm=comm))
            assert len(blocks) == max(comm.allgather(-(-len(mine) // 130)))
            for at, distances, indices in blocks:
                assert numpy.array_equal(distances, expected.distances[first + at])
                assert numpy.array_equal(indices, expected.indices[first + at])
            assert sorted(at for block in blocks for at in block.query_indices) == list(range(len(mine)))
        blocks = list(kith.knn_blocks(mine, 2, randoms, block_rows=300, box=BOX, threads=1, comm=comm))
        found = numpy.concatenate([*(block.indices for block in blocks), numpy.empty((0, 2), numpy.int64)])
        begin = sum(comm.allgather(len(randoms))[:comm.rank])
        expected = kith.knn(whole, 2, all_randoms, box=BOX).indices[begin:begin + len(randoms)]
        assert numpy.array_equal(found, expected)
    exact = kith.mpi.Ranks(comm, imbalance=0)
    order = kith.z_order(mine, box=BOX, threads=1, comm=exact)
    assert order.dtype == numpy.int64 and abs(len(order) - len(whole) / comm.size) < 101  # coincident
    assert numpy.array_equal(numpy.concatenate(comm.allgather(order)), kith.z_order(whole, box=BOX))
    assert exact.report["total"] == len(whole) and exact.report["bytes_sent"] >= 0
    names = numpy.array([f"point {i}" for i in range(rows.start, rows.stop)], dtype="U12")
    positions, named = kith.gather(order, mine, names, comm=comm)
    assert numpy.array_equal(positions, whole[order]) and all(named == [f"point {i}" for i in order])
    assert numpy.array_equal(kith.gather([[-1, 0]], mine, comm=comm), [[0 * whole[0], whole[0]]])
    labels = kith.fof(mine, b=0.5, box=BOX, threads=1, comm=ranks)
    expected = kith.fof(whole, b=0.5, box=BOX)
    assert numpy.array_equal(labels, expected[rows])
    assert ranks.report["groups"] == expected.max() + 1 and ranks.report["psi"] == numpy.inf
    assert "work" not in ranks.report and labels.dtype == numpy.int64
    labels = kith.fof(mine, b=0.5, box=BOX, min_members=4, threads=1, comm=kith.mpi.Ranks(comm, rebalance=True))
    assert numpy.array_equal(labels, kith.fof(whole, b=0.5, box=BOX, min_members=4)[rows])
    weights = numpy.arange(len(mine)) % 4
    for _ in range(3):
        ranks = kith.mpi.Ranks(comm, rebalance=True, weights=weights)
        _, indices = kith.knn(mine, 5, box=BOX, exclude_self=True, threads=1, comm=ranks)
        assert numpy.array_equal(indices, expected_indices[rows])
        weights = ranks.report["work"] if comm.size > 1 else weights
        assert weights.shape == (len(mine),) and ranks.report["work"].dtype == numpy.float32
    ranks = kith.mpi.Ranks(comm, rebalance=True, weights=weights)
    labels = kith.fof(mine, b=0.5, box=BOX, threads=1, comm=ranks)
    assert numpy.array_equal(labels, expected[rows])
    assert len(ranks.report["work"]) == (len(mine) if comm.size > 1 else 0)
    for star in (False, True):
        labels, is_core = kith.dbscan(mine, 0.05, 6, box=BOX, star=star, return_core=True, threads=1, comm=ranks)
        expected_labels, expected_core = kith.dbscan(whole, 0.05, 6, box=BOX, star=star, return_core=True)
        assert numpy.array_equal(labels, expected_labels[rows]) and labels.dtype == numpy.int64
        assert numpy.array_equal(is_core, expected_core[rows])
        assert ranks.report["clusters"] == expected_labels.max() + 1
        assert ranks.report["core_points"] == expected_core.sum()
    found = kith.hdbscan(mine, 8, min_samples=5, box=BOX, threads=1, comm=ranks)
    expected = kith.hdbscan(whole, 8, min_samples=5, box=BOX)
    for name in ("labels", "probabilities", "outlier_scores", "core_distances"):
        assert numpy.array_equal(getattr(found, name), getattr(expected, name)[rows])
    assert numpy.array_equal(found.sizes, expected.sizes)
    assert numpy.array_equal(found.condensed_tree.clusters, expected.condensed_tree.clusters)
    assert repr(found) == f"<kith.HdbscanResult of {len(mine)} points: {len(expected.sizes)} clusters, " \
                          f"{(found.labels < 0).sum()} noise points>"
    for speeds in (None, numpy.sin(numpy.arange(len(whole) * dimension)).reshape(-1, dimension)):
        if speeds is not None and dimension != 3:
            continue
        phase_space = {} if speeds is None else {"psi": 0.5, "b": 0.5}
        of_mine = {} if speeds is None else {"velocities": speeds[rows]}
        of_whole = {} if speeds is None else {"velocities": speeds}
        found = kith.mst(mine, box=BOX, threads=1, comm=ranks, **phase_space, **of_mine)
        expected = kith.mst(whole, box=BOX, **phase_space, **of_whole)
        here = (expected.edges[:, 1] >= first) & (expected.edges[:, 1] < first + len(mine))
        assert numpy.array_equal(found.edges, expected.edges[here]) and found.edges.dtype == numpy.int64
        assert numpy.array_equal(found.weights, expected.weights[here]) and found.weights.dtype == dtype
        assert numpy.array_equal(found.heights, expected.heights[here])
        assert ranks.report["total"] == len(expected)
    few = whole[:7] if comm.rank == comm.size - 1 else whole[:0]
    distances, indices = kith.knn(mine, 3, few, max_distance=0.1, threads=1, comm=comm)
    expected_distances, expected_indices = kith.knn(whole, 3, few, max_distance=0.1)
    assert numpy.array_equal(indices, expected_indices) and numpy.array_equal(distances, expected_distances)
    labels = kith.fof(mine[::2], 0.05, threads=1, comm=comm)  # strided
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
for given, options in (({}, {}), (columns, {}), (columns, {"psi": 0.5}), (columns, {"psi_sigma": 0.7})):
    ranks = kith.mpi.Ranks(world)
    labels, part = kith.fof(mine, 0.06, box=BOX, min_members=2, return_catalog=True, threads=1, comm=ranks, **given,
                            **options)
    expected_labels, expected = kith.fof(whole["points"], 0.06, box=BOX, min_members=2, return_catalog=True,
                                         **(everything if given else {}), **options)
    assert len(expected) > 3 and numpy.array_equal(labels, expected_labels[rows])
    assert ranks.report["psi"] == expected.psi and ranks.report["linking_length"] == expected.linking_length
    same_catalog(part, world, expected)
    same_catalog(pickle.loads(pickle.dumps(part)), world, expected)
    kind, text = raised(lambda: kith.write_catalog("never-written.gtp", part))
    assert kind is TypeError and "part" in text, text



def same_halos(part, comm, expected):
    """Whether the parts of all processes are the halos of one."""
    assert part.columns == expected.columns and part.halos == len(expected) > 3
    for name in ("G", "scale_factor", "hubble", "softening", "least_radius", "linking_length", "unbind", "units"):
        assert getattr(part, name) == getattr(expected, name), name
    for name in (*part.columns, "members", "energies"):
        column = numpy.concatenate(comm.allgather(getattr(part, name)))
        assert numpy.array_equal(column, getattr(expected, name), equal_nan=column.dtype.kind == "f"), name
    offsets = comm.allgather(part.group_offset[:-1] + part.first_member)
    assert numpy.array_equal(numpy.concatenate(offsets), expected.group_offset[:-1])
    assert part.first_group == sum(map(len, offsets[:comm.rank])) and part.members.dtype == numpy.int64
    assert part.first_halo == sum(comm.allgather(len(part))[:comm.rank])
    for halo, each in enumerate(part):
        assert numpy.array_equal(each.members, expected.members_of(part.first_halo + halo))
        assert numpy.array_equal(each.unbound_members, expected.unbound_members_of(part.first_halo + halo))


mock = kith.datasets.halos(4000, 30, seed=4)
draw = numpy.random.default_rng(0)
kinds, energies = draw.integers(0, 2, len(mock)).astype(numpy.uint8), draw.random(len(mock)) * 1e4
home = draw.integers(0, world.size, len(mock))  # scattered
home[home == 1] = 0  # which has none
order = numpy.argsort(home, kind="stable")


def taken(rows):
    return SimpleNamespace(positions=mock.positions[rows], velocities=mock.velocities[rows], masses=None, box=mock.box,
                           uniform_mass=mock.uniform_mass, types=kinds[rows], internal_energies=energies[rows],
                           header=mock.header)


my_mock, whole_mock = taken(numpy.flatnonzero(home == world.rank)), taken(order)
for comm_options, options in (({}, {}), ({"rebalance": True}, {"bound_only": True, "softening": ("plummer", 0.01)})):
    ranks = kith.mpi.Ranks(world, **comm_options)
    expected = kith.halos(whole_mock, **options)
    part = kith.halos(my_mock, threads=1, comm=ranks, **options)
    same_halos(part, world, expected)
    assert numpy.array_equal(everyone(part.labels), expected.labels)
    assert ranks.report["groups"] > len(expected) and ranks.report["linking_length"] == expected.linking_length
    assert ranks.report["total"] == len(mock) and "unbind" in ranks.report["seconds"]
    assert not comm_options or len(ranks.report["work"]) == (len(my_mock.positions) if world.size > 1 else 0)
same_halos(pickle.loads(pickle.dumps(part)), world, expected)
for call in (lambda: part[:1], lambda: _subjects.require_groups(part)):
    kind, text = raised(call)
    assert kind is TypeError and "part" in text, text
given = {"box": mock.box, "unbind": False, "G": 1.0, "overdensities": ()}
same_halos(kith.halos(my_mock.positions, 0.3, threads=1, comm=world, **given), world,
           kith.halos(whole_mock.positions, 0.3, **given))
softening_of = kith._universe.softening_of
kith._universe.softening_of = lambda snapshot: None if world.rank == 0 else 0.01 * world.rank  # of the types on each
same_halos(kith.halos(my_mock, threads=1, comm=world), world,
           kith.halos(whole_mock, softening=0.01 * (world.size - 1) if world.size > 1 else None))
kith._universe.softening_of = softening_of

# Ids in place of global indices: the answers are those of one process with the points by ascending id.
ids = numpy.random.default_rng(0).permutation(3 * len(whole["points"]))[rows] + (2**31 - 1000)
order = numpy.argsort(everyone(ids))
by_id, sorted_ids = whole["points"][order], everyone(ids)[order]
place = numpy.searchsorted(sorted_ids, ids)  # of this process's points
ranks = kith.mpi.Ranks(world, ids=ids)
for at, _, others in kith.knn_blocks(mine, 3, block_rows=200, box=BOX, exclude_self=True, threads=1, comm=ranks):
    assert numpy.array_equal(others, kith.knn(mine, 3, box=BOX, exclude_self=True, threads=1, comm=ranks).indices[at])
distances, indices = kith.knn(mine, 4, box=BOX, threads=1, comm=ranks)
expected_distances, expected_indices = kith.knn(by_id, 4, box=BOX)
assert numpy.array_equal(distances, expected_distances[place])
assert numpy.array_equal(indices, sorted_ids[expected_indices[place]])
found = kith.radius_search(mine, 0.05, box=BOX, threads=1, comm=ranks)
expected = kith.radius_search(by_id, 0.05, box=BOX)
for row, at in enumerate(place):
    assert numpy.array_equal(found.indices[found.offsets[row]:found.offsets[row + 1]],
                             sorted_ids[expected.indices[expected.offsets[at]:expected.offsets[at + 1]]])
labels, part = kith.fof(mine, 0.1, box=BOX, return_catalog=True, min_members=5, threads=1, comm=ranks)
expected_labels, expected = kith.fof(by_id, 0.1, box=BOX, return_catalog=True, min_members=5)
assert numpy.array_equal(labels, expected_labels[place])
assert numpy.array_equal(numpy.concatenate(world.allgather(part.members)), sorted_ids[expected.members])
options = {"box": BOX, "unbind": False, "G": 1.0, "overdensities": (), "min_members": 5}
part, expected = kith.halos(mine, 0.1, threads=1, comm=ranks, **options), kith.halos(by_id, 0.1, **options)
for name in ("members", "center_row"):
    assert numpy.array_equal(numpy.concatenate(world.allgather(part[name] if name in part else part.members)),
                             sorted_ids[getattr(expected, name)]), name

# Hierarchies and ladders, with and without ids: cuts and levels label this process's points.
for options, of_whole, at in (({}, whole["points"], numpy.arange(first, first + len(mine))), ({"ids": ids}, by_id, place)):
    ranks = kith.mpi.Ranks(world, **options)
    found, expected = kith.hierarchy(mine, box=BOX, threads=1, comm=ranks), kith.hierarchy(of_whole, box=BOX)
    assert len(found) == len(expected) and found.mean_separation == expected.mean_separation
    assert numpy.array_equal(numpy.concatenate(world.allgather(found.linkage)), expected.linkage)
    assert found.first_merge == sum(world.allgather(len(found.linkage))[:world.rank]) == ranks.report["first"]
    labels = found.cut(b=0.5, min_members=3, comm=ranks)
    assert labels.dtype == numpy.int64 and numpy.array_equal(labels, expected.cut(b=0.5, min_members=3)[at])
    ladders = (found.ladder(b=[0.2, 0.5], min_members=3, comm=ranks),
               kith.fof_ladder(mine, b=[0.2, 0.5], min_members=3, box=BOX, threads=1, comm=ranks))
    levels = expected.ladder(b=[0.2, 0.5], min_members=3)
    for ladder in ladders:
        assert numpy.array_equal(ladder.linking_lengths, levels.linking_lengths)
        assert numpy.array_equal(ladder.groups, levels.groups) and numpy.array_equal(ladder.listed, levels.listed)
        assert repr(ladder) == repr(levels)
        for level in range(2):
            assert ladder.first_groups[level] == sum(world.allgather(len(ladder.sizes[level]))[:world.rank])
            assert numpy.array_equal(everyone(ladder.sizes[level]), levels.sizes[level])
            members = everyone(ladder.first_members[level])
            firsts = levels.first_members[level]
            assert numpy.array_equal(members, sorted_ids[firsts] if options else firsts)
            assert numpy.array_equal(ladder.labels(level, comm=ranks), levels.labels(level)[at])
        assert numpy.array_equal(everyone(ladder.parents[0]), levels.parents[0])
    for call in (lambda: pickle.dumps(found), lambda: found.cut(0.1), lambda: ladder.labels(0)):
        assert raised(call)[0] in (ValueError, TypeError), raised(call)
ranks = kith.mpi.Ranks(world, rebalance=True)
assert numpy.array_equal(kith.dbscan(mine, 0.05, 6, box=BOX, threads=1, comm=ranks),
                         kith.dbscan(whole["points"], 0.05, 6, box=BOX)[rows])
assert ranks.report["bytes_migrated"] % 12 == 0 and len(ranks.report["work"]) == (len(mine) if world.size > 1 else 0)
assert world.size == 1 or sum(world.allgather(ranks.report["bytes_migrated"])) > 0

# What else calls take: memory for results, other libraries' arrays, a snapshot's columns, progress.
if world.size == 3:
    distances, indices = numpy.empty((len(mine), 4), numpy.float32), numpy.empty((len(mine), 4), numpy.int64)
    stages = []
    kith.knn(mine, 4, box=BOX, threads=1, comm=world, out=(distances, indices),
             progress=lambda stage, fraction: stages.append((stage, fraction)))
    of_whole = kith.knn(whole["points"], 4, box=BOX)
    assert numpy.array_equal(indices, of_whole.indices[rows]) and numpy.array_equal(distances, of_whole.distances[rows])
    assert len(mine) == 0 or stages[-1][1] == 1
    snapshot = SimpleNamespace(positions=mine, box=BOX, velocities=columns["velocities"], masses=columns["masses"],
                               uniform_mass=None, types=columns["types"])
    _, part = kith.fof(snapshot, 0.06, min_members=2, return_catalog=True, threads=1, comm=world)
    same_catalog(part, world, kith.fof(whole["points"], 0.06, box=BOX, min_members=2, return_catalog=True,
                                       **everything)[1])

# What is not found over processes is refused on all of them, within seconds; so are trees, and int32.
tree = kith.Tree(numpy.random.default_rng(0).random((50, 3)))
refused = {"brute mst": lambda: kith.mst(mine, engine="brute", comm=world),
           "brute": lambda: kith.fof(mine, 0.1, engine="brute", comm=world),
           "tree": lambda: kith.knn(tree, 3, comm=world),
           "few": lambda: kith.radius_count(tree, 0.1, [[0, 0, 0]], comm=world),
           "other labels": lambda: kith.knn(mine, 2, exclude_labels=numpy.zeros(len(mine), int), comm=world),
           "int32": lambda: kith.knn(mine, 3, index_dtype=numpy.int32, comm=world),
           "blocks of a tree": lambda: kith.knn_blocks(tree, 3, comm=world),
           "block_rows": lambda: kith.knn_blocks(mine, 3, block_rows=10 + world.rank % 2 if world.size > 1 else 0, comm=world),
           "regions": lambda: kith.correlation(mine, mine, edges=[0, 1], regions=10**6, comm=world),
           "out": lambda: kith.knn(mine, 1, out=(numpy.empty((len(mine), 1), numpy.float32),
                                                 numpy.empty((len(mine), 1), numpy.int32)), comm=world),
           "labels": lambda: kith.halos(my_mock, labels=numpy.zeros(len(my_mock.positions), numpy.int32), comm=world),
           "secondary_types": lambda: kith.halos(my_mock, secondary_types=[0], comm=world),
           "cosmology": lambda: kith.halos(my_mock, mean_separation="cosmology", comm=world)}
for name, call in refused.items():
    assert raised(call) is not None, name
    assert len(set(world.allgather(raised(call)))) == 1, name
for guilty in range(world.size):  # one process stops, or makes another call
    def stop(_stage, _fraction):
        if world.rank == guilty:
            raise LookupError("enough")
    found = world.allgather(raised(lambda: kith.fof(mine, 0.1, progress=stop, comm=world)))
    assert all(found) and found[guilty][0] is LookupError and found[guilty][1].endswith("enough"), found
    class Ends:
        def __array__(self, *_, **__):
            sys.exit("enough")
    found = world.allgather(raised(lambda: kith.fof(Ends() if world.rank == guilty else mine, 0.1, comm=world)))
    assert found[guilty] == (SystemExit, "enough"), found
    assert all(each == (RuntimeError, f"rank {guilty}: enough") for each in found if each != found[guilty]), found
    mixed = raised(lambda: kith.fof(mine, 0.1, comm=world) if world.rank == guilty else kith.knn(mine, 3, comm=world))
    assert world.size == 1 or "the function" in mixed[1], mixed

kith.mpi._LARGEST_MESSAGE = 11  # everything goes in parts
mine = points_of(world.rank, numpy.float32, 3)
whole = everyone(mine)
of_gpus = kith.mpi.Ranks(world, device_memory=True)  # of which there are none
assert numpy.array_equal(everyone(kith.fof(mine, b=0.5, threads=1, comm=of_gpus)), kith.fof(whole, b=0.5))
with kith.mpi._Team(of_gpus) as team:  # buffers that might be a GPU's, from each process to all others
    others = [rank for rank in range(world.size) if rank != world.rank]
    sent = {rank: numpy.arange(10 + rank) + 100 * world.rank for rank in others}
    received = {rank: numpy.zeros(10 + world.rank, int) for rank in others}
    team.exchange_buffers(*([(rank, values.ctypes.data, values.nbytes) for rank, values in of_rank.items()]
                            for of_rank in (sent, received)))
    for rank, values in received.items():
        assert numpy.array_equal(values, numpy.arange(10 + world.rank) + 100 * rank), (rank, values)
kith.mpi._LARGEST_MESSAGE = 1 << 30

last = world.size - 1
bad = mine.copy() if world.rank != last or last == 1 else mine * numpy.nan
kind, text = raised(lambda: kith.fof(bad, b=0.5, comm=world)) or (None, "")
assert last == 1 or (kind is ValueError and f"rank {last}: " * (last > 0) + "points: point 0 has NaN" in text), text
kind, text = raised(lambda: kith.knn("words" if world.rank == last else mine, 3, comm=world))
assert kind in (TypeError, ValueError), text
kind, text = raised(lambda: kith.knn(mine, 3 + world.rank, comm=world)) or (ValueError, "one rank")
assert kind is ValueError and "rank" in text, text
kind, text = raised(lambda: kith.knn(mine, 3, comm="comm"))
assert kind is TypeError and "COMM_WORLD" in text
kind, text = raised(lambda: kith.fof(mine, comm=world))
assert kind is TypeError and "linking_length" in text
if world.rank == 0:
    print("all is well")
