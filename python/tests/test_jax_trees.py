"""Trees that kith.jax keeps between calls."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
_jax = pytest.importorskip("kith._jax", reason="this kith was built without JAX")

from jax import numpy as jnp  # noqa: E402

import kith  # noqa: E402
import kith.jax  # noqa: E402
from kith import _jax_tree  # noqa: E402

jax.config.update("jax_enable_x64", True)
POINTS = numpy.random.default_rng(21).random((400, 3))
on_the_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="trees are kept on the CPU")


def equal(found, expected):
    return all((numpy.asarray(array) == row).all() for array, row in zip(found, expected, strict=True))


@on_the_cpu
@pytest.mark.parametrize("box", [None, 1])
def test_a_tree_is_built_once(box):
    kith.jax.release_trees()
    built = _jax.trees_built()
    tree = kith.jax.Tree(POINTS, box=box)
    search = jax.jit(lambda tree, queries: kith.jax.knn(tree, 4, queries))
    for queries in (POINTS[:30] + 0.01, POINTS[30:60] - 0.01):
        assert equal(search(tree, queries), kith.knn(POINTS, 4, queries, box=box))
    assert equal(kith.jax.knn(tree, 3, exclude_self=True), kith.knn(POINTS, 3, box=box, exclude_self=True))
    assert (kith.jax.fof(tree, 0.1) == kith.fof(POINTS, 0.1, box=box)).all()
    assert (kith.jax.fof_catalog(tree, 0.1)[0] == kith.fof(POINTS, 0.1, box=box)).all()
    assert (kith.jax.z_order(tree) == kith.jax.z_order(POINTS, box=box)).all()
    again = jax.jit(lambda tree: kith.jax.Tree(tree.points, box=box))(tree)  # made under jit, of the same points
    assert equal(search(again, POINTS[:5]), kith.knn(POINTS, 4, POINTS[:5], box=box))
    assert _jax.trees_built() == built + 1
    kith.jax.release_trees()
    assert equal(search(tree, POINTS[:5]), kith.knn(POINTS, 4, POINTS[:5], box=box))
    assert _jax.trees_built() == built + 2


@on_the_cpu
def test_a_tree_made_under_jit_is_built_once():
    built = _jax.trees_built()

    @jax.jit
    def steps(points, queries):
        tree = kith.jax.Tree(points)
        return jax.lax.map(lambda around: kith.jax.knn(tree, 2, around), queries)

    points, queries = POINTS * 2, POINTS[:40].reshape(8, 5, 3)
    found = steps(points, queries)
    for place, around in enumerate(queries):
        assert equal([array[place] for array in found], kith.knn(points, 2, around))
    assert _jax.trees_built() == built + 1


def lowered_for_a_gpu(function, *arguments):
    return jax.jit(function).trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()


@pytest.fixture
def indexed(monkeypatch):
    """Trees have the index of a GPU, which the CPU does not read."""
    monkeypatch.setattr(_jax_tree, "_is_on_gpu", lambda points: True)
    monkeypatch.setattr(_jax, "index_bytes", lambda is_double, dimension, points: 1024, raising=False)


def test_the_index_on_a_gpu_is_written_once(indexed):
    def answers(points):
        tree = kith.jax.Tree(points, box=1)
        return *kith.jax.knn(tree, 4), *kith.jax.knn(tree, 2, points[:5] + 0.01), kith.jax.fof(tree, 0.1)

    text = lowered_for_a_gpu(answers, POINTS)
    assert text.count("@kith_index(") == 1 and text.count("has_index = true") == 3
    expected = (*kith.knn(POINTS, 4, box=1), *kith.knn(POINTS, 2, POINTS[:5] + 0.01, box=1), kith.fof(POINTS, 0.1, box=1))
    assert equal(jax.jit(answers)(POINTS), expected)

    def total(points):
        return kith.jax.reduce_neighbors(lambda distances, own, near: (distances * near).sum(axis=1), points, 3, box=1,
                                         fields=points[:, 0], block_rows=90).sum()

    text = lowered_for_a_gpu(total, POINTS)
    assert text.count("@kith_index(") == 1 and "has_index = true" in text and "has_index = false" not in text
    value, slopes = jax.value_and_grad(total)(POINTS)
    distances, rows = kith.knn(POINTS, 3, box=1)
    assert numpy.isclose(value, (distances * POINTS[rows, 0]).sum(), rtol=1e-14) and numpy.isfinite(slopes).all()
    halves = POINTS.reshape(2, 200, 3)
    for place, found in enumerate(zip(*jax.vmap(lambda points: kith.jax.knn(kith.jax.Tree(points), 3))(halves))):
        assert equal(found, kith.knn(halves[place], 3))


def test_the_index_on_a_gpu_is_that_of_its_points(indexed):
    """It is lost where the points might not be those it was made of."""
    tree = kith.jax.Tree(POINTS, box=1)
    of_closure = lowered_for_a_gpu(lambda queries: kith.jax.knn(tree, 2, queries), POINTS[:5])
    assert "has_index = true" in of_closure and "@kith_index(" not in of_closure
    assert "has_index = false" in lowered_for_a_gpu(lambda tree: kith.jax.knn(tree, 2), tree)
    half = jax.tree_util.tree_map(lambda x: x / 2, tree)
    assert "has_index = false" in lowered_for_a_gpu(lambda queries: kith.jax.knn(half, 2, queries), POINTS[:5])
    tree.points = jnp.asarray(POINTS / 2)
    assert "has_index = false" in lowered_for_a_gpu(lambda queries: kith.jax.knn(tree, 2, queries), POINTS[:5])
    slopes = jax.grad(lambda tree: kith.jax.knn(tree, 3)[0].sum())(kith.jax.Tree(POINTS, box=1))
    assert isinstance(slopes, kith.jax.Tree) and slopes.points.shape == POINTS.shape


def test_a_tree_is_one_of_its_points():
    """A tree with other points, in another box or type, or of a batch, is never taken for the one that is kept."""
    tree = kith.jax.Tree(POINTS, box=1)
    search = jax.jit(lambda tree: kith.jax.knn(tree, 3))
    assert equal(search(tree), kith.knn(POINTS, 3, box=1))
    moved = POINTS.copy()
    moved[-1, -1] = numpy.nextafter(moved[-1, -1], 0)
    moved[7] = 0.5
    for other in (moved, POINTS[::-1].copy(), POINTS[:-1], POINTS.astype(numpy.float32), POINTS[:, :2].copy()):
        assert equal(search(kith.jax.Tree(other, box=1)), kith.knn(other, 3, box=1))
    half = jax.tree_util.tree_map(lambda x: x / 2, tree)
    assert equal(search(half), kith.knn(POINTS / 2, 3, box=1))
    assert equal(search(kith.jax.Tree(POINTS)), kith.knn(POINTS, 3))
    centered = kith.Box(1, origin=-0.5)
    assert equal(search(kith.jax.Tree(POINTS, box=centered)), kith.knn(POINTS, 3, box=centered))
    batch = kith.jax.Tree(POINTS[:200], box=1)
    batch.points = POINTS.reshape(2, 200, 3)
    found = jax.vmap(lambda tree: kith.jax.knn(tree, 3))(batch)
    for place in range(2):
        assert equal([array[place] for array in found], kith.knn(POINTS[200 * place:200 * (place + 1)], 3, box=1))
    assert kith.jax.knn(kith.jax.Tree(jnp.zeros((0, 3))), 2)[0].shape == (0, 2)


def test_derivatives_with_respect_to_a_tree():
    queries = POINTS[:9] + 0.02
    slopes = jax.grad(lambda tree, y: kith.jax.knn(tree, 3, y)[0].sum(), (0, 1))(kith.jax.Tree(POINTS, box=1), queries)
    plain = jax.grad(lambda x, y: kith.jax.knn(x, 3, y, box=1)[0].sum(), (0, 1))(POINTS, queries)
    assert isinstance(slopes[0], kith.jax.Tree)
    assert jnp.allclose(slopes[0].points, plain[0], atol=1e-14) and jnp.allclose(slopes[1], plain[1], atol=1e-14)


def test_what_is_wrong_with_trees_is_said():
    with pytest.raises(TypeError, match="float32 or float64"):
        kith.jax.Tree(numpy.zeros((3, 2), int))
    with pytest.raises(ValueError, match="2 periods"):
        kith.jax.Tree(POINTS, box=[1, 1])
    with pytest.raises(ValueError, match="box is given for a Tree"):
        kith.jax.knn(kith.jax.Tree(POINTS), 1, box=1)
    with pytest.raises(Exception, match="point 0 has NaN as coordinate 0"):
        jax.block_until_ready(kith.jax.knn(kith.jax.Tree(jnp.full((3, 2), jnp.nan)), 1))
        kith.jax.synchronize()  # a GPU says it here
