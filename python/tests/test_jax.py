"""kith.jax under jit, grad and vmap, on the CPU and, where there is one, a GPU."""

import doctest

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("kith._jax", reason="this kith was built without JAX")

from jax import numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import kith  # noqa: E402
import kith.jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
POINTS = numpy.random.default_rng(5).random((300, 3))
OPTIONS = [{}, {"box": 1}, {"box": [1, 0, 1]}, {"box": kith.Box(1, origin=-0.5)}, {"exclude_self": True},
           {"max_distance": 0.1}, {"index_dtype": numpy.int64}]


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("options", OPTIONS)
def test_the_same_as_kith_under_jit(dtype, options):
    points = POINTS.astype(dtype)
    expected = kith.knn(points, 6, **options)
    found = jax.jit(lambda x: kith.jax.knn(x, 6, **options))(points)
    for array, row in zip(found, expected):
        assert isinstance(array, jax.Array) and array.dtype == row.dtype
        assert (numpy.asarray(array) == row).all()


def test_queries_under_jit():
    queries = POINTS[:20] + 0.01
    found = jax.jit(lambda x, y: kith.jax.knn(x, 4, y, box=1))(POINTS, queries)
    for array, row in zip(found, kith.knn(POINTS, 4, queries, box=1)):
        assert (numpy.asarray(array) == row).all()


@pytest.mark.parametrize("options", [{"linking_length": 0.1}, {"b": 0.8}, {"b": 0.8, "box": 1}])
def test_labels_under_jit(options):
    labels = jax.jit(lambda x: kith.jax.fof(x, **options))(POINTS)
    assert labels.dtype == jnp.int32 and (numpy.asarray(labels) == kith.fof(POINTS, **options)).all()


@pytest.mark.parametrize("options", [{}, {"box": 1}, {"box": [0, 0.9, 0]}, {"exclude_self": True}])
def test_distances_have_the_derivatives_of_distances(options):
    points = POINTS[:40]
    weights = numpy.random.default_rng(1).random((40, 4))

    @jax.jit
    def total(x):
        return (kith.jax.knn(x, 4, **options)[0] * weights).sum()

    check_grads(total, (points,), order=1, modes=["fwd", "rev"], eps=1e-7, rtol=1e-4)

    @jax.jit
    def total_of_queries(x, y):
        return (kith.jax.knn(x, 4, y, **options)[0] * weights[:7]).sum()

    if "exclude_self" not in options:
        queries = numpy.random.default_rng(2).random((7, 3))
        check_grads(total_of_queries, (points, queries), order=1, modes=["fwd", "rev"], eps=1e-7, rtol=1e-4)


def test_forward_and_reverse_derivatives_agree():
    points = jnp.asarray(POINTS[:8])
    distances = jax.jit(lambda x: kith.jax.knn(x, 3, box=1)[0])
    forward = jax.jacfwd(distances)(points)
    assert forward.shape == (8, 3, 8, 3) and jnp.allclose(forward, jax.jacrev(distances)(points), atol=1e-15)
    assert jnp.abs(forward).max() > 0.9

    total = jax.jit(lambda x: (kith.jax.knn(x, 3, box=1)[0] ** 3).sum())
    check_grads(total, (points,), order=2, modes=["fwd"], eps=1e-6, rtol=1e-4)
    towards = jnp.asarray(POINTS[8:16])
    twice = jax.jit(lambda x: jax.jvp(jax.grad(total), (x,), (towards,))[1])(points)
    again = jax.jit(jax.grad(lambda x: jnp.vdot(jax.grad(total)(x), towards)))(points)
    assert jnp.allclose(twice, again, rtol=1e-12, atol=1e-12) and not jnp.allclose(twice, 0)


def test_derivatives_where_there_are_none():
    """Coincident points and missing neighbors: zero, and never NaN."""
    points = jnp.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    gradient = jax.jit(jax.grad(lambda x: jnp.where(jnp.isfinite(d := kith.jax.knn(x, 5)[0]), d, 0).sum()))(points)
    assert jnp.isfinite(gradient).all()
    assert gradient.tolist() == [[-2, 0], [-2, 0], [4, 0]]
    along = jnp.array([[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]])
    slopes = jax.jit(lambda x: jax.jvp(lambda y: kith.jax.knn(y, 5)[0], (x,), (along,))[1])(points)
    assert slopes.tolist() == [[0, 0, 2, 0, 0], [0, 0, 2, 0, 0], [0, 2, 2, 0, 0]]


def test_derivatives_without_points():
    queries = jnp.ones((2, 3))
    gradient = jax.grad(lambda x: jnp.nan_to_num(kith.jax.knn(jnp.zeros((0, 3)), 2, x)[0], posinf=0).sum())(queries)
    assert gradient.tolist() == [[0] * 3] * 2


def equal(found, expected):
    return all((numpy.asarray(array) == row).all() for array, row in zip(found, expected, strict=True))


@pytest.mark.parametrize("options", [{}, {"box": 1, "index_dtype": numpy.int64}])
def test_batches(options):
    sets, queries = POINTS[:120].reshape(3, 40, 3), POINTS[:60].reshape(4, 15, 3)

    def search(points, around=None):
        return kith.jax.knn(points, 3, around, **options)

    assert "scan" not in str(jax.make_jaxpr(jax.vmap(search))(sets))  # one call, which loops
    found = jax.jit(jax.vmap(search))(sets)
    for place, points in enumerate(sets):
        assert equal([array[place] for array in found], kith.knn(points, 3, **options))
    # All queries in the same points, the same queries in all, each in its own, and every pair of the two.
    calls = [((None, 0), POINTS, queries), ((0, None), sets, queries[0]), ((0, 0), sets, queries[:3])]
    for axes, points, around in calls:
        found = jax.jit(jax.vmap(search, axes))(points, around)
        for place in range(len(found[0])):
            expected = kith.knn(points if axes[0] is None else points[place], 3,
                                around if axes[1] is None else around[place], **options)
            assert equal([array[place] for array in found], expected)
    found = jax.vmap(jax.vmap(search, (None, 0)), (0, None))(sets, queries)
    again = jax.vmap(jax.vmap(search, (0, None)), (None, 0), out_axes=1)(sets, queries)
    for first, second in numpy.ndindex(3, 4):
        expected = kith.knn(sets[first], 3, queries[second], **options)
        for pairs in (found, again):
            assert equal([array[first, second] for array in pairs], expected)
    assert jax.vmap(search)(sets[:0])[0].shape == (0, 40, 3)


def test_batches_of_labels_and_derivatives():
    sets = POINTS[:120].reshape(3, 40, 3)
    labels = jax.vmap(lambda x: kith.jax.fof(x, 0.2, box=1))(sets)
    assert equal(labels, [kith.fof(points, 0.2, box=1) for points in sets])

    @jax.jit
    def slope(points):
        return jax.grad(lambda x: kith.jax.knn(x, 3, box=1)[0].sum())(points)

    assert jnp.allclose(jax.vmap(slope)(sets), jnp.stack([slope(points) for points in sets]), atol=1e-14)
    with pytest.raises(Exception, match="point 5 has NaN as coordinate 2.*element 1 of the batch"):
        jax.block_until_ready(jax.vmap(lambda x: kith.jax.knn(x, 1))(jnp.asarray(sets).at[1, 5, 2].set(jnp.nan)))
        kith.jax.synchronize()  # a GPU tells later


def test_no_points():
    distances, indices = kith.jax.knn(jnp.zeros((0, 3)), 2)
    assert distances.shape == indices.shape == (0, 2)
    distances, indices = kith.jax.knn(jnp.zeros((0, 3)), 2, jnp.zeros((1, 3)))
    assert indices.tolist() == [[-1, -1]]


@pytest.mark.parametrize("options", [{}, {"box": 1}, {"exclude_self": True}])
def test_reductions_in_z_order(options):
    expected = kith.knn(POINTS, 6, **options)[0]

    def summary(distances, indices, points):
        apart = jnp.abs(points[indices] - points[:, None])
        apart = jnp.minimum(apart, 1 - apart) if "box" in options else apart
        return {"sum": distances.sum(axis=1), "again": jnp.sqrt((apart**2).sum(axis=2)), "points": points}

    found = jax.jit(lambda x: kith.jax.reduce_neighbors(summary, x, 6, **options))(POINTS)
    assert numpy.allclose(found["sum"], expected.sum(axis=1), rtol=1e-12)
    assert numpy.allclose(found["again"], expected, rtol=1e-12)
    assert (numpy.asarray(found["points"]) == POINTS).all()
    total = jax.grad(lambda x: kith.jax.reduce_neighbors(lambda d, i, x: d.sum(axis=1), x, 6, **options).sum())
    assert numpy.allclose(total(POINTS), jax.grad(lambda x: kith.jax.knn(x, 6, **options)[0].sum())(POINTS), atol=1e-12)
    with pytest.raises(ValueError, match=r"shape \(\).*300 points"):
        kith.jax.reduce_neighbors(lambda d, i, x: d.sum(), POINTS, 6)


@pytest.mark.parametrize("options", [{"box": 1}, {"exclude_self": True}, {"exclude_self": True, "max_distance": 0.1}])
@pytest.mark.parametrize("block_rows", [None, 64])
def test_reductions_of_fields(options, block_rows):
    """Sums of the neighbors' masses and velocities, weighted by distance, against those of all rows."""
    points = POINTS.copy()
    points[40:60] = points[40]  # more coincident points than neighbors
    masses, velocities = numpy.random.default_rng(7).random(300) + 1, POINTS[::-1]

    def summary(distances, own, neighbors):
        weights = jnp.where(neighbors["m"] > 0, neighbors["m"] / (0.1 + distances), 0)
        return {"sum": weights.sum(axis=1), "mean": (weights[:, :, None] * neighbors["v"]).sum(axis=1), "own": own["m"]}

    def reduce(x, m):
        return kith.jax.reduce_neighbors(summary, x, 6, fields={"m": m, "v": jnp.asarray(velocities)},
                                         block_rows=block_rows, **options)

    distances, indices = kith.knn(points, 6, **options)
    weights = numpy.where(indices >= 0, masses[indices] / (0.1 + distances), 0)
    found = jax.jit(reduce)(points, masses)
    assert (found["own"] == masses).all()
    assert numpy.allclose(found["sum"], weights.sum(axis=1), rtol=1e-13)
    assert numpy.allclose(found["mean"], (weights[:, :, None] * velocities[indices]).sum(axis=1), rtol=1e-12)
    if block_rows is not None and "max_distance" in options:
        check_grads(jax.jit(lambda m: reduce(POINTS, m)["sum"].sum()), (masses,), order=1, eps=1e-5, rtol=1e-6)
        slope = jax.jit(jax.grad(lambda x: reduce(x, masses)["sum"].sum()))(POINTS)

        def whole(x):
            rows, columns = kith.jax.knn(x, 6, **options)
            return jnp.where(columns >= 0, jnp.asarray(masses)[columns] / (0.1 + rows), 0).sum()

        assert numpy.allclose(slope, jax.grad(whole)(POINTS), rtol=1e-10, atol=1e-10)


def test_reductions_of_fields_store_no_rows():
    points, k = numpy.random.default_rng(1).random((4000, 3)), 32

    def density(x, **options):
        return kith.jax.reduce_neighbors(lambda d, own, masses: (masses * d).sum(axis=1), x, k, fields=x[:, 0],
                                         **options)

    memory = {rows: jax.jit(lambda x, rows=rows: density(x, block_rows=rows)).lower(points).compile().memory_analysis()
              for rows in (100, 4000)}
    assert memory[100].temp_size_in_bytes < 4000 * k * 2 < 4000 * k * 8 < memory[4000].temp_size_in_bytes
    tree = kith.jax.Tree(points, box=1)
    for reduced in (density(tree.points), kith.jax.reduce_neighbors(lambda d, i, x: d[:, 1], tree, 2)):
        assert reduced.shape == (4000,)
    nothing = kith.jax.reduce_neighbors(lambda d, own, other: other[:, 0], jnp.zeros((0, 3)), 2, fields=jnp.zeros(0))
    assert nothing.shape == (0,)
    with pytest.raises(ValueError, match=r"shape \(\).*row for each of the 100 points"):
        kith.jax.reduce_neighbors(lambda d, own, other: d.sum(), points, 2, fields=points, block_rows=100)
    with pytest.raises(ValueError, match="fields holds an array of shape"):
        kith.jax.reduce_neighbors(lambda d, own, other: d, points, 2, fields=points[:5])
    with pytest.raises(ValueError, match="block_rows is given without fields"):
        kith.jax.reduce_neighbors(lambda d, i, x: d, points, 2, block_rows=5)
    with pytest.raises(ValueError, match="block_rows is 0"):
        kith.jax.reduce_neighbors(lambda d, own, other: d, points, 2, fields=points, block_rows=0)


def test_z_order():
    order = numpy.asarray(jax.jit(kith.jax.z_order)(POINTS))
    assert order.dtype == numpy.int32 and (numpy.sort(order) == numpy.arange(300)).all()
    again = numpy.asarray(kith.jax.z_order(jnp.asarray(POINTS[order])))
    assert (again == numpy.arange(300)).all()
    assert kith.jax.z_order(jnp.zeros((0, 3))).shape == (0,)
    batch = jnp.stack([jnp.asarray(POINTS), jnp.asarray(POINTS[::-1])])
    assert (jax.vmap(kith.jax.z_order)(batch)[1] == 299 - order).all()


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="float32 or float64"):
        kith.jax.knn(jnp.zeros((3, 2), dtype=jnp.int32), 1)
    with pytest.raises(TypeError, match="must agree"):
        kith.jax.knn(jnp.zeros((3, 2)), 1, jnp.zeros((3, 3)))
    with pytest.raises(TypeError, match="either"):
        kith.jax.fof(jnp.zeros((3, 2)))
    with pytest.raises(ValueError, match="k is 0"):
        kith.jax.knn(jnp.zeros((3, 2)), 0)
    for dtype in ("i2", "u4", "f8", bool):
        with pytest.raises(ValueError, match="int32 or int64"):
            kith.jax.knn(jnp.zeros((3, 2)), 1, index_dtype=dtype)
    with pytest.raises(ValueError, match="int32 or int64"):
        kith.jax.knn(jnp.zeros((3, 2)), 1, index_dtype=None)
    if not jax.config.jax_enable_x64:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            kith.knn(jnp.zeros((3, 2)), 1, index_dtype="int64")
    with pytest.raises(TypeError, match="exclude_self is 'no'"):
        kith.jax.knn(jnp.zeros((3, 2)), 1, exclude_self="no")
    with pytest.raises(ValueError, match="k is"):
        kith.jax.knn(jnp.zeros((3, 2)), 2**62)
    with pytest.raises(ValueError, match="linking length is -1"):
        kith.jax.fof(jnp.zeros((3, 2)), -1)
    with pytest.raises(ValueError, match="2 periods"):
        kith.jax.knn(jnp.zeros((3, 3)), 1, box=[1, 1])
    with pytest.raises(TypeError, match="use kith.jax"):
        jax.jit(lambda x: kith.knn(x, 1)[0])(jnp.zeros((3, 2)))
    with pytest.raises(TypeError, match="cannot be written to"):
        kith.knn(POINTS, 1, out=(jnp.zeros((300, 1)), jnp.zeros((300, 1), jnp.int32)))
    with pytest.raises(ValueError, match="max_distance is -1"):
        kith.jax.knn(jnp.zeros((3, 2)), 1, max_distance=-1)
    with pytest.raises(ValueError, match="queries"):
        kith.jax.knn(jnp.zeros((3, 2)), 1, jnp.zeros((3, 2)), exclude_self=True)
    with pytest.raises(Exception, match="twice the period"):
        jax.block_until_ready(kith.jax.knn(jnp.array(POINTS), 1, box=0.01))
        kith.jax.synchronize()  # a GPU says it here
    with pytest.raises(Exception, match="point 0 has NaN as coordinate 0"):
        jax.block_until_ready(kith.jax.knn(jnp.full((3, 2), jnp.nan), 1))
        kith.jax.synchronize()


def test_documentation_examples():
    for module in (kith.jax, kith._jax_groups, kith._jax_sums, kith._jax_tree):
        failed, tried = doctest.testmod(module)
        assert tried > 0 and failed == 0


def test_on_a_gpu():
    try:
        gpu = jax.devices("cuda")[0]
    except RuntimeError as reason:
        pytest.skip(f"JAX has no GPU: {reason}")
    points = jax.device_put(POINTS, gpu)
    distances, indices = jax.jit(lambda x: kith.jax.knn(x, 6, box=1))(points)
    assert distances.devices() == {gpu}
    assert (numpy.asarray(indices) == kith.knn(POINTS, 6, box=1)[1]).all()
    assert (numpy.asarray(jax.jit(kith.jax.z_order)(points)) == numpy.asarray(kith.jax.z_order(POINTS))).all()
    labels = jax.jit(lambda x: kith.jax.fof(x, 0.1, box=1))(points)
    assert (numpy.asarray(labels) == kith.fof(POINTS, 0.1, box=1)).all()
    kith.jax.synchronize()
    distances, indices = kith.jax.knn(points.at[3, 1].set(jnp.nan), 6)
    assert (numpy.asarray(indices) == -1).all() and numpy.isnan(numpy.asarray(distances)).all()
    with pytest.raises(ValueError, match="point 3 has NaN as coordinate 1"):
        kith.jax.synchronize()
    kith.jax.synchronize()  # an error is raised once
