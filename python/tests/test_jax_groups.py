"""Catalogs and group order of kith.jax."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("kith._jax", reason="this kith was built without JAX")

from jax import numpy as jnp  # noqa: E402

import kith  # noqa: E402
import kith.jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
RANDOM = numpy.random.default_rng(8)
SETS = RANDOM.random((2, 200, 3))  # two sets of points
COLUMNS = {"velocities": RANDOM.normal(size=(200, 3)), "masses": RANDOM.random(200),
           "types": RANDOM.integers(0, 3, 200)}


def check_catalog(found, points, length, given, min_members, max_groups, **options):
    labels, catalog = found
    expected_labels = kith.fof(points, length, **options)
    expected = kith.fof(points, length, **given, return_catalog=True, min_members=min_members, **options)[1]
    assert (numpy.asarray(labels) == expected_labels).all()
    assert catalog.groups == len(expected)
    rows = min(max_groups, len(expected))
    assert rows > 3
    for name in (*expected.columns, "offset"):
        column, whole = numpy.asarray(getattr(catalog, name)), getattr(expected, name)
        assert column.shape == (max_groups, *whole.shape[1:]), name
        if whole.dtype == numpy.float64:
            assert column.dtype == points.dtype
            whole = whole.astype(points.dtype)
        assert (column[:rows] == whole[:rows]).all(), name
        assert not column[rows:].any(), name
    assert (catalog.velocity is None) == ("velocities" not in given)


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("names, box, max_groups", [((), None, 90), (("velocities", "masses", "types"), 1, 4)])
def test_catalogs_under_jit(dtype, names, box, max_groups):
    points = SETS[0].astype(dtype)
    given = {name: COLUMNS[name] if name == "types" else COLUMNS[name].astype(dtype) for name in names}
    call = jax.jit(lambda x, columns: kith.jax.fof_catalog(x, 0.12, box=box, min_members=2, max_groups=max_groups,
                                                           **columns))
    check_catalog(call(points, given), points, 0.12, given, 2, max_groups, box=box)


def test_catalogs_of_a_batch():
    """Each set of points with its own velocities, and the same masses."""
    velocities, masses = numpy.stack([COLUMNS["velocities"], COLUMNS["velocities"][::-1]]), COLUMNS["masses"]
    labels, catalog = jax.jit(jax.vmap(lambda x, v: kith.jax.fof_catalog(x, 0.12, box=1, velocities=v, masses=masses,
                                                                         min_members=3)))(SETS, velocities)
    for place, points in enumerate(SETS):
        one = labels[place], jax.tree_util.tree_map(lambda column: column[place], catalog)
        given = {"velocities": velocities[place], "masses": masses}
        check_catalog(one, points, 0.12, given, 3, 200 // 3, box=1)


def test_group_order():
    points, masses = SETS[0], COLUMNS["masses"]
    catalog = kith.fof(points, 0.12, box=1, return_catalog=True, min_members=2)[1]

    @jax.jit
    def arrange(x, m):
        return kith.jax.group_order(kith.jax.fof(x, 0.12, box=1), 100, {"x": x, "m": m})

    order, offsets, arrays = map(jax.device_get, arrange(points, masses))
    assert order.dtype == offsets.dtype == numpy.int32
    assert (numpy.sort(order) == numpy.arange(200)).all() and (order[:len(catalog.members)] == catalog.members).all()
    assert (offsets[:len(catalog)] == catalog.offset).all()
    sizes = numpy.bincount(kith.fof(points, 0.12, box=1))[:100]
    assert (numpy.diff(offsets)[:len(sizes)] == sizes).all() and (offsets[len(sizes):] == 200).all()
    assert (arrays["x"] == points[order]).all() and (arrays["m"] == masses[order]).all()
    slope = jax.grad(lambda m: arrange(points, m)[2]["m"][:5].sum())(masses)
    assert numpy.flatnonzero(slope).tolist() == sorted(order[:5])
    # The center of the largest group by a sum of neighbors in memory, which has derivatives.
    heavy = kith.fof(points, 0.12, return_catalog=True, min_members=2, masses=masses)[1]
    order, offsets, arrays = kith.jax.group_order(kith.fof(points, 0.12), 1, {"x": points, "m": masses})
    inside = jnp.arange(200) < offsets[1]
    assert numpy.allclose((arrays["m"] * inside) @ arrays["x"] / heavy.mass[0], heavy.center[0], rtol=1e-12)
    order, offsets, _ = kith.jax.group_order(jnp.zeros(0, jnp.int32), 2)
    assert order.shape == (0,) and offsets.tolist() == [0, 0, 0]


def test_what_is_wrong_with_groups_is_said():
    points = SETS[0]
    with pytest.raises(ValueError, match=r"masses are of shape \(3,\); they must be of shape \(200,\)"):
        kith.jax.fof_catalog(points, 0.1, masses=numpy.ones(3))
    with pytest.raises(TypeError, match="masses are of type float32; they must be float64"):
        kith.jax.fof_catalog(points, 0.1, masses=numpy.ones(200, numpy.float32))
    with pytest.raises(TypeError, match="types are of type float64; they must be whole numbers"):
        kith.jax.fof_catalog(points, 0.1, types=numpy.ones(200))
    with pytest.raises(ValueError, match="max_groups is -1"):
        kith.jax.fof_catalog(points, 0.1, max_groups=-1)
    for dtype, wrong in ((numpy.int64, 263), (numpy.int64, -2), (numpy.int8, -2), (numpy.uint8, 9)):
        types = numpy.where(numpy.arange(200) == 5, wrong, 1).astype(dtype)
        with pytest.raises(ValueError, match=f"types: row 5 has type {wrong}; types are 0 to 6"):
            kith.jax.fof_catalog(points, 0.1, types=types)
        with pytest.raises(Exception, match=f"row 5 has type {wrong if 0 <= wrong <= 255 else 255}; types are 0 to 6"):
            jax.block_until_ready(jax.jit(lambda types: kith.jax.fof_catalog(points, 0.1, types=types))(types))
    with pytest.raises(Exception, match="mass"):
        jax.block_until_ready(kith.jax.fof_catalog(points, 0.1, masses=numpy.full(200, -1.0)))
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(lambda x: kith.jax.fof_catalog(x, 0.1)[1].center.sum())(points)
    with pytest.raises(TypeError, match="labels are of shape .* whole numbers"):
        kith.jax.group_order(numpy.ones(3), 1)
    with pytest.raises(ValueError, match="max_groups is -1"):
        kith.jax.group_order(numpy.zeros(3, int), -1)
    with pytest.raises(ValueError, match="a row for each of 3 points"):
        kith.jax.group_order(numpy.zeros(3, int), 1, [numpy.ones(4)])


def test_catalogs_on_a_gpu():
    try:
        gpu = jax.devices("cuda")[0]
    except RuntimeError as reason:
        pytest.skip(f"JAX has no GPU: {reason}")
    points = jax.device_put(SETS[0], gpu)
    found = jax.jit(lambda x: kith.jax.fof_catalog(x, 0.12, box=1, min_members=2, max_groups=90))(points)
    assert found[0].devices() == {gpu}
    check_catalog(found, SETS[0], 0.12, {}, 2, 90, box=1)
