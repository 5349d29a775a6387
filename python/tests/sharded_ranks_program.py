"""Run by test_jax_sharded.py over several processes with 2 CPU devices each, which share arrays of JAX."""

import socket
import sys

import jax
import numpy
from jax import numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from mpi4py import MPI

world = MPI.COMM_WORLD
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = world.bcast(free.getsockname()[1])
jax.distributed.initialize(f"127.0.0.1:{port}", world.size, world.rank, initialization_timeout=60)
jax.config.update("jax_enable_x64", True)

import kith  # noqa: E402
import kith.jax  # noqa: E402

RANDOM = numpy.random.default_rng(4)
POINTS = RANDOM.random((60 * world.size, 3))
POINTS[::10] = POINTS[0]
QUERIES = RANDOM.random((10 * world.size, 3))
assert jax.device_count() == 2 * world.size == 2 * int(sys.argv[1])


def check(found, expected):
    expected = numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    for shard in found.addressable_shards:
        assert numpy.array_equal(shard.data, expected[shard.index])


def gathered(array, comm):
    """All rows, of the processes in the order of ranks."""
    shards = sorted(array.addressable_shards, key=lambda shard: shard.index[0].start)
    mine = numpy.concatenate([numpy.asarray(shard.data) for shard in shards])
    return numpy.concatenate(getattr(comm, "comm", comm).allgather(mine))


def raised(call):
    try:
        call()
    except Exception as error:
        return str(error)
    raise AssertionError("nothing was raised")


backwards = world.Split(0, world.size - world.rank)
for comm, devices in ((world, jax.devices()), (backwards, jax.devices()[::-1]), (kith.mpi.Ranks(world), jax.devices())):
    sharding = NamedSharding(Mesh(numpy.array(devices), ("x",)), PartitionSpec("x"))
    shared = lambda array: jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])  # noqa: E731
    for dtype in (numpy.float32, numpy.float64):
        points = shared(POINTS.astype(dtype))
        alone = POINTS.astype(dtype)
        for queries in (None, QUERIES.astype(dtype)):
            of_all = None if queries is None else shared(queries)
            for found, expected in zip(kith.jax.knn(points, 5, of_all, box=1, comm=comm), kith.knn(alone, 5, queries, box=1)):
                check(found, expected)
        check(kith.jax.fof(points, b=0.6, comm=comm), kith.fof(alone, b=0.6))
        masses = RANDOM.random(len(POINTS))
        for block_rows in (None, 7):
            found = kith.jax.reduce_neighbors(lambda distances, own, neighbors: neighbors.max(axis=1) - own, points, 4,
                                              fields=shared(masses), block_rows=block_rows, exclude_self=True, comm=comm)
            check(found, masses[kith.knn(alone, 4, exclude_self=True)[1]].max(axis=1) - masses)
    options = {"b": 0.6, "min_members": 2}
    for max_groups in (None, 2):
        given = {"masses": masses, "types": numpy.arange(len(POINTS)) % 3, "velocities": POINTS[::-1]}
        labels, parts = kith.jax.fof_catalog(points, max_groups=max_groups, comm=comm, **options,
                                             **{name: shared(column) for name, column in given.items()})
        check(labels, kith.fof(POINTS, b=0.6))
        whole = kith.fof(POINTS, **options, return_catalog=True, **given)[1]
        groups = gathered(parts.groups, comm)
        assert groups.shape == (2 * world.size,) and groups.sum() == len(whole) > 4
        rows = parts.count.shape[0] // len(groups)
        assert rows == (groups.max() if max_groups is None else 2)
        for name in (*whole.columns, "offset"):
            column, expected = gathered(getattr(parts, name), comm), getattr(whole, name)
            for part, number in enumerate(groups):
                first, kept = groups[:part].sum(), min(number, rows)
                assert numpy.array_equal(column[part * rows:part * rows + kept], expected[first:first + kept]), name
                assert not column[part * rows + kept:(part + 1) * rows].any(), name
    total = lambda x: kith.jax.knn(x, 4, box=1, comm=comm)[0].sum()  # noqa: E731
    expected = jax.grad(lambda x: kith.jax.knn(x, 4, box=1)[0].sum())(jnp.asarray(POINTS))
    for shard in jax.grad(total)(points).addressable_shards:
        assert numpy.allclose(shard.data, expected[shard.index], rtol=1e-12, atol=1e-12)

wrong = shared(numpy.where(numpy.arange(len(POINTS))[:, None] == 7, numpy.nan, POINTS))
assert "7" in raised(lambda: kith.jax.knn(wrong, 2, comm=world))
assert "give comm" in raised(lambda: kith.jax.knn(points, 2))
assert "in the order" in raised(lambda: kith.jax.knn(points, 2, comm=backwards))
interleaved = NamedSharding(Mesh(numpy.array(jax.devices()).reshape(-1, 2).T.reshape(-1), ("x",)), PartitionSpec("x"))
apart = jax.make_array_from_callback(POINTS.shape, interleaved, lambda index: POINTS[index])
assert "consecutive" in raised(lambda: kith.jax.fof(apart, 0.1, comm=world))
world.Barrier()
if world.rank == 0:
    print("all is well")
