"""Sums over neighbors of kith.jax: the values of kith.sum_neighbors, and their derivatives."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("kith._jax", reason="this kith was built without JAX")

from jax import numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import kith  # noqa: E402
import kith.jax  # noqa: E402
from kith import _jax_sums  # noqa: E402

jax.config.update("jax_enable_x64", True)
KERNELS = ["cubic", "quintic", "wendland-c2", "wendland-c4", "top-hat", "gaussian"]
RANDOM = numpy.random.default_rng(12)
POINTS = RANDOM.random((60, 3))
QUERIES = RANDOM.random((25, 3))
MASSES, FIELD = RANDOM.random(60) + 0.1, RANDOM.normal(size=60)
WEIGHTS = RANDOM.random((4, 60))
NASTY = numpy.concatenate([POINTS, POINTS[:1], POINTS[:1], RANDOM.integers(0, 3, (40, 3)) / 2])  # coincident, a lattice


def check_values(points, k, queries=None, masses=None, fields=None, **options):
    dtype = points.dtype
    arguments = {"queries": queries, "masses": masses, "fields": fields}
    arguments = {name: value for name, value in arguments.items() if value is not None}
    found = jax.jit(lambda x, given: kith.jax.sum_neighbors(x, k, **given, **options))(points, arguments)
    expected = kith.sum_neighbors(points, k, **arguments, **options, statistics=["sum", "mean"])
    for array, values in ((found.density, expected.density), (found.reach, expected.reach)):
        assert array.dtype == dtype and numpy.array_equal(array, values.astype(dtype))
    assert found.fields.keys() == expected.fields.keys()
    for name, of_field in found.fields.items():
        assert numpy.array_equal(of_field.sum, expected.fields[name].sum.astype(dtype), equal_nan=True)
        assert numpy.array_equal(of_field.mean, expected.fields[name].mean.astype(dtype), equal_nan=True)


@pytest.mark.filterwarnings("ignore:k is 1")
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_sums_are_those_of_kith(dtype):
    points, queries, masses = (array.astype(dtype) for array in (NASTY, QUERIES, RANDOM.random(len(NASTY))))
    fields = {"b": RANDOM.normal(size=len(NASTY)).astype(dtype), "a": masses}
    with numpy.errstate(over="ignore"):
        for kernel in KERNELS:
            check_values(points, 9, kernel=kernel, masses=masses, fields=fields, box=1)
        check_values(points, 9, exclude_self=True, fields=fields)
        check_values(points, 9, queries, masses=masses, fields=fields, box=[1, 0, 2])
        check_values(points, 1)
        check_values(points, 300)
        check_values(points[:0], 3, queries, fields={"a": masses[:0]})
        check_values(points[:0], 3)
    assert (kith.jax.density(points, box=1) == kith.density(points, box=1).astype(dtype)).all()
    tree = kith.jax.Tree(points, box=1)
    assert (kith.jax.density(tree) == kith.jax.density(points, box=1)).all()


def sums_of(options):
    """A number that depends on all sums."""
    def total(points, queries, masses, field):
        sums = kith.jax.sum_neighbors(points, 8, queries, masses=masses, fields={"a": field, "mass": masses}, **options)
        rows = slice(None, len(sums.density))
        return (1e-2 * sums.density @ WEIGHTS[0, rows] + sums.reach @ WEIGHTS[1, rows]
                + 1e-2 * sums.fields["a"].sum @ WEIGHTS[2, rows] + sums.fields["a"].mean @ WEIGHTS[3, rows])

    return total


@pytest.mark.parametrize("kernel, queries, options", [
    ("cubic", None, {"box": 1}), ("quintic", QUERIES, {"box": [1, 0, 1]}), ("wendland-c2", None, {"exclude_self": True}),
    ("wendland-c4", QUERIES, {}), ("top-hat", None, {"box": 1}), ("gaussian", None, {"exclude_self": True, "box": 1})])
def test_derivatives_are_those_of_finite_differences(kernel, queries, options):
    total = sums_of({"kernel": kernel, **options})
    modes = ["fwd", "rev"] if kernel == "cubic" else ["rev"]
    if queries is None:
        check_grads(jax.jit(lambda x, m, a: total(x, None, m, a)), (POINTS, MASSES, FIELD), order=1, modes=modes, eps=1e-6,
                    rtol=1e-5)
    else:
        check_grads(jax.jit(total), (POINTS, queries, MASSES, FIELD), order=1, modes=modes, eps=1e-6, rtol=1e-5)


def test_derivatives_are_those_of_the_rows():
    """The formulas by JAX alone, of the rows that kith.knn finds."""
    indices = kith.knn(POINTS, 8, box=1)[1]

    def total(points, masses, field):
        apart = points[:, None] - points[indices]
        apart = apart - jnp.round(apart)
        squared = (apart**2).sum(axis=2)
        distances = jnp.where(squared > 0, jnp.sqrt(jnp.where(squared > 0, squared, 1)), 0)
        h = distances[:, -1:]
        u = distances / h
        weights = masses[indices] * 21 / (2 * jnp.pi) * (1 - u)**4 * (1 + 4 * u) / h**3
        density, of_field = weights.sum(axis=1), (weights * field[indices]).sum(axis=1)
        return (1e-2 * density @ WEIGHTS[0] + h[:, 0] @ WEIGHTS[1] + 1e-2 * of_field @ WEIGHTS[2]
                + (of_field / density) @ WEIGHTS[3])

    of_sums = sums_of({"kernel": "wendland-c2", "box": 1})
    found = jax.jit(jax.grad(lambda x, m, a: of_sums(x, None, m, a), (0, 1, 2)))(POINTS, MASSES, FIELD)
    for slope, expected in zip(found, jax.jit(jax.grad(total, (0, 1, 2)))(POINTS, MASSES, FIELD)):
        numpy.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-11)


def test_derivatives_are_found_in_blocks(monkeypatch):
    total = sums_of({"box": 1, "exclude_self": True})
    slope = jax.jit(lambda x: jax.grad(total)(x, None, MASSES, FIELD))(POINTS)
    monkeypatch.setattr(_jax_sums, "_NEIGHBORS_OF_A_BLOCK", 8 * 11)
    in_blocks = jax.jit(lambda x: jax.grad(total)(x, None, MASSES, FIELD))(POINTS)
    numpy.testing.assert_allclose(in_blocks, slope, rtol=1e-12, atol=1e-12)


def test_second_derivatives():
    slope = jax.jit(jax.grad(lambda x: kith.jax.density(x, 5, kernel="wendland-c4", box=1).sum() * 1e-3))
    check_grads(slope, (POINTS[:12],), order=1, modes=["fwd"], eps=1e-6, rtol=1e-4)


def test_batches():
    sets = jnp.stack([POINTS, POINTS[::-1] * 0.5])

    def call(points, masses):
        sums = kith.jax.sum_neighbors(points, 6, masses=masses, fields={"a": FIELD})
        return sums.density.sum(), sums

    both = jax.value_and_grad(call, has_aux=True)
    (_, found), slopes = jax.jit(jax.vmap(both, (0, None)))(sets, MASSES)
    for row, points in enumerate(sets):
        (_, expected), slope = jax.jit(both)(points, MASSES)
        assert (found.density[row] == expected.density).all()
        assert (found.fields["a"].mean[row] == expected.fields["a"].mean).all()
        numpy.testing.assert_allclose(slopes[row], slope, rtol=1e-10, atol=1e-8)


def test_derivatives_without_reach_mass_or_neighbors_are_0():
    def slope(k, points, queries=None, masses=None, fields=None):
        def total(around):
            points, queries = (points_given, around) if queries_given is not None else (around, None)
            sums = kith.jax.sum_neighbors(points, k, queries, masses=masses, fields=fields)
            return sums.density.sum() if fields is None else sums.fields["a"].mean[0]

        points_given, queries_given = points, queries
        return jax.jit(jax.grad(total))(jnp.asarray(points if queries is None else queries))

    assert (slope(3, numpy.full((5, 2), 0.5)) == 0).all()
    assert (slope(3, POINTS, masses=jnp.zeros(60), fields={"a": FIELD}) == 0).all()
    assert (slope(3, jnp.zeros((0, 3)), QUERIES) == 0).all()
    numpy.testing.assert_allclose(slope(100, POINTS[:4]), slope(4, POINTS[:4]), rtol=1e-12)  # of fewer points than k


def test_one_mass_of_all_points():
    expected = kith.jax.density(POINTS, 8, masses=numpy.full(60, 2.5))
    for mass in (2.5, numpy.float32(2.5), jnp.float64(2.5)):
        assert (kith.jax.density(POINTS, 8, masses=mass) == expected).all()
    assert (kith.jax.density(POINTS, 8, masses=2) == 2 * kith.jax.density(POINTS, 8)).all()
    slope = jax.jit(jax.grad(lambda mass: kith.jax.density(POINTS, 8, masses=mass).sum()))(2.5)
    numpy.testing.assert_allclose(slope, expected.sum() / 2.5, rtol=1e-12)


def test_what_is_wrong_is_said():
    for call, says in ((lambda: kith.jax.density(POINTS, kernel="sinc"), "kernel"),
                       (lambda: kith.jax.density(POINTS, queries=QUERIES, exclude_self=True), "exclude_self"),
                       (lambda: kith.jax.density(POINTS, masses=MASSES[:5]), "masses"),
                       (lambda: kith.jax.density(POINTS, masses=-MASSES), "masses"),
                       (lambda: kith.jax.density(POINTS, masses=-1.0), "masses"),
                       (lambda: kith.jax.density(POINTS, masses="1"), "masses"),
                       (lambda: kith.jax.sum_neighbors(POINTS, 3, fields={"a": FIELD.astype(numpy.float32)}), "fields"),
                       (lambda: kith.jax.sum_neighbors(POINTS, 3, fields={"a": FIELD / 0}), "finite"),
                       (lambda: kith.jax.density(POINTS, queries=QUERIES[:, :2]), "queries")):
        with numpy.errstate(divide="ignore"), pytest.raises(Exception, match=says):
            call()
