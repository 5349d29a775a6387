"""Run by test_jax_sharded.py in a process with 8 CPU devices: answers must be those of one device, sharded as the points."""


import jax
import kith
import kith.jax
import numpy
from jax import numpy as jnp
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_enable_x64", True)
DEVICES = numpy.array(jax.devices())
assert len(DEVICES) == 8
RANDOM = numpy.random.default_rng(3)
POINTS = RANDOM.random((160, 3))
POINTS[:30] = POINTS[:1]  # coincident points on several devices
POINTS[80:120] = RANDOM.integers(0, 4, (40, 3)) / 4  # a lattice, with points on the edge of the box


def sharding(kind, *axes):
    """Over the first axis, of which the others have copies; devices are in no special order."""
    shuffled = DEVICES[[3, 1, 0, 2, 7, 5, 4, 6]]
    if kind == "two axes":
        mesh = Mesh(shuffled.reshape(2, 4), ("x", "y"))
        return NamedSharding(mesh, PartitionSpec(axes or ("y", "x")))
    if kind == "copies":
        return NamedSharding(Mesh(shuffled.reshape(4, 2), ("x", "y")), PartitionSpec("x"))
    if kind == "gspmd":
        named = NamedSharding(Mesh(shuffled, ("x",)), PartitionSpec("x"))
        return GSPMDSharding(tuple(shuffled), named._to_xla_hlo_sharding(2))
    return NamedSharding(Mesh(shuffled, ("x",), axis_types=(getattr(AxisType, kind),)), PartitionSpec("x"))



def check(found, expected, points):
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found.dtype, expected.dtype)
    assert found.sharding.is_equivalent_to(points.sharding, 2) or found.ndim != 2
    assert found.sharding.devices_indices_map(found.shape[:1] + (3,)) == points.sharding.devices_indices_map(points.shape)
    assert numpy.array_equal(numpy.asarray(found), numpy.asarray(expected), equal_nan=True)


def raised(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


def types_of(kind):
    return (numpy.float32, numpy.float64) if kind == "Auto" else (numpy.float32,)


def searches(kind):
    for dtype in types_of(kind):
        alone = POINTS.astype(dtype)
        points = jax.device_put(alone, sharding(kind))
        for options in ({"box": 1}, {"box": [1, 0, 1], "exclude_self": True},
                        {"max_distance": 0.1, "index_dtype": numpy.int64}, {"box": kith.Box(1, origin=-0.5)}):
            for found, expected in zip(kith.jax.knn(points, 6, **options), kith.knn(alone, 6, **options)):
                check(found, expected, points)
        queries = RANDOM.random((40, 3)).astype(dtype)
        expected = kith.knn(alone, 200, queries, box=1)
        shards = jax.device_put(queries, sharding(kind))
        for source in (points, alone, jax.device_put(alone, NamedSharding(Mesh(DEVICES, "x"), PartitionSpec()))):
            for found, rows in zip(kith.jax.knn(source, 200, shards, box=1), expected):
                check(found, rows, shards)
        for found, rows in zip(kith.jax.knn(points, 200, queries[:13], box=1), expected):
            assert len(found.sharding.device_set) == 1 and (found == rows[:13]).all()
        for found, expected in zip(kith.jax.knn(kith.jax.Tree(points, box=1), 3), kith.knn(alone, 3, box=1)):
            check(found, expected, points)
    none = jax.device_put(alone[:0], sharding(kind))
    for found, expected in zip(kith.jax.knn(none, 2), kith.knn(alone[:0], 2)):
        check(found, expected, none)


def groups(kind):
    for dtype in types_of(kind):
        alone = jnp.asarray(POINTS.astype(dtype))
        points = jax.device_put(alone, sharding(kind))
        for options in ({"b": 0.5}, {"linking_length": 0.1}, {"b": 0.5, "box": 1}):
            check(kith.jax.fof(points, **options), kith.fof(POINTS.astype(dtype), **options), points)
        given = {"velocities": RANDOM.normal(size=(160, 3)).astype(dtype), "masses": RANDOM.random(160).astype(dtype),
                 "types": RANDOM.integers(0, 3, 160)}
        given["masses"] = jax.device_put(given["masses"], NamedSharding(Mesh(DEVICES, "x"), PartitionSpec("x")))
        for columns, max_groups in (({}, None), (given, 1), (given, 9)):
            options = {"b": 0.5, "box": 1, "min_members": 2, **columns}
            labels, parts = kith.jax.fof_catalog(points, max_groups=max_groups, **options)
            of_one = {name: jnp.asarray(numpy.asarray(column)) for name, column in columns.items()}
            expected_labels, whole = kith.jax.fof_catalog(alone, **{**options, **of_one})
            check(labels, expected_labels, points)
            count = len(set(map(str, points.sharding.devices_indices_map(points.shape).values())))
            assert parts.groups.shape == (count,) and parts.groups.sum() == whole.groups > 8
            first = 0
            rows = len(parts.count) // count
            assert rows == (parts.groups.max() if max_groups is None else max_groups)
            for part, number in enumerate(parts.groups.tolist()):
                for name, column in whole._asdict().items():
                    if name != "groups" and column is not None:
                        mine = numpy.asarray(getattr(parts, name))[part * rows:(part + 1) * rows]
                        kept = min(number, rows)
                        assert numpy.array_equal(mine[:kept], column[first:first + kept], equal_nan=True), name
                        assert not mine[kept:].any(), name
                first += number
            assert (parts.velocity is None) == ("velocities" not in columns)


def reductions(kind):
    """By operations that round each row alike, however many there are."""
    alone = jnp.asarray(POINTS)
    points = jax.device_put(alone, sharding(kind))
    masses, ids = jnp.asarray(RANDOM.random(160)), jnp.arange(160)
    fields = {"x": points, "masses": masses, "id": jax.device_put(ids, NamedSharding(Mesh(DEVICES, "x"), PartitionSpec("x")))}

    def summary(distances, own, neighbors):
        return {"far": distances[:, -1], "near": neighbors["x"][:, 2] - own["x"], "most": neighbors["masses"].max(axis=1),
                "ids": neighbors["id"][:, 1:] - own["id"][:, None]}

    for options in ({"box": 1}, {"exclude_self": True}, {"max_distance": 0.1}):
        distances, indices = kith.knn(POINTS, 5, **options)
        of_all = (numpy.where((indices < 0).reshape(160, 5, *[1] * (rows.ndim - 1)), 0, numpy.asarray(rows)[indices])
                  for rows in (alone, masses, ids))
        expected = summary(distances, {"x": POINTS, "id": numpy.arange(160)}, dict(zip(fields, of_all)))
        for block_rows in (None, 7):
            found = kith.jax.reduce_neighbors(summary, points, 5, fields=fields, block_rows=block_rows, **options)
            for name, column in found.items():
                check(column, expected[name], points)
    none = jax.device_put(alone[:0], sharding(kind))
    check(kith.jax.reduce_neighbors(lambda distances, own, neighbors: distances[:, 0] + own, none, 3, fields=masses[:0]),
          masses[:0], none)
    assert "fields" in raised(ValueError, lambda: kith.jax.reduce_neighbors(lambda *rows: rows[0], points, 3))


def derivatives(kind):
    alone = jnp.asarray(POINTS[30:70])
    points = jax.device_put(alone, sharding(kind))
    weights = RANDOM.random((40, 4))
    total = lambda x: (kith.jax.knn(x, 4, box=1)[0] * weights).sum()  # noqa: E731
    with jax.set_mesh(points.sharding.mesh):
        slope = jax.grad(total)(points)
    assert numpy.allclose(slope, jax.grad(total)(alone), rtol=1e-12, atol=1e-12)
    assert slope.sharding.is_equivalent_to(points.sharding, 2)


def refusals(kind):
    points = jax.device_put(jnp.asarray(POINTS), sharding(kind))
    copies = jax.device_put(jnp.asarray(POINTS), NamedSharding(Mesh(DEVICES, "x"), PartitionSpec()))
    calls = {"knn": lambda x: kith.jax.knn(x, 3)[1], "fof": lambda x: kith.jax.fof(x, 0.1),
             "fof_catalog": lambda x: kith.jax.fof_catalog(x, 0.1)[1].count}
    for call in calls.values():
        text = raised(Exception, jax.jit(lambda x: call(2 * x)), points)
        assert "sharded" in text and "outside of jax.jit" in text, text
    for call in calls.values():
        assert (jax.jit(call)(copies) == call(jnp.asarray(POINTS))).all()
        assert (call(copies) == call(jnp.asarray(POINTS))).all()
    batch = jnp.stack([jnp.asarray(POINTS)] * 8)
    spread = jax.device_put(batch, NamedSharding(Mesh(DEVICES, "x"), PartitionSpec("x")))
    for call in calls.values():
        assert (jax.vmap(call)(spread) == jax.vmap(call)(batch)).all()
        assert (jax.jit(jax.vmap(call))(spread) == jax.vmap(call)(batch)).all()
    mesh = points.sharding.mesh
    for check_vma in (True, False):
        for call in calls.values():
            mapped = jax.shard_map(call, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"),
                                   check_vma=check_vma)
            assert "outside of jax.jit" in raised(TypeError, mapped, points)
    near = lambda x, y: kith.jax.knn(x, 3, y)[1]  # noqa: E731
    mapped = jax.shard_map(near, mesh=mesh, in_specs=(PartitionSpec(), PartitionSpec("x")), out_specs=PartitionSpec("x"))
    whole = jax.device_put(copies, NamedSharding(mesh, PartitionSpec()))
    assert (mapped(whole, points) == near(jnp.asarray(POINTS), jnp.asarray(POINTS))).all()  # queries of each device


def errors():
    points = jnp.asarray(POINTS)
    mesh = Mesh(DEVICES.reshape(4, 2), ("x", "y"))
    across = jax.device_put(jnp.asarray(RANDOM.random((8, 4))), NamedSharding(mesh, PartitionSpec("x", "y")))
    assert "another axis" in raised(ValueError, lambda: kith.jax.knn(across, 2))
    shards = jax.device_put(points.at[100, 1].set(jnp.nan), sharding("Auto"))
    alone = numpy.asarray(shards)
    assert raised(ValueError, lambda: kith.jax.knn(shards, 2)) == raised(ValueError, lambda: kith.knn(alone, 2))
    assert "100" in raised(ValueError, lambda: kith.jax.fof(shards, 0.1))
    assert "one device" in raised(TypeError, lambda: kith.jax.density(shards, 2))
    assert "not sharded" in raised(ValueError, lambda: kith.jax.fof(points, 0.1, comm=object()))
    assert "not sharded" in raised(ValueError, lambda: kith.jax.knn(points, 1, comm=object()))


for kind in ("Auto", "Explicit", "two axes", "copies", "gspmd"):
    searches(kind)
    groups(kind)
    reductions(kind)
refusals("Auto")
refusals("Explicit")
derivatives("Explicit")
errors()
print("all is well")
