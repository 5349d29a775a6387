"""The order of a left-balanced k-d tree against plain recursion; shapes, types and errors as the documentation has them."""

import types

import numpy
import pytest

import kith

POINTS = numpy.random.default_rng(5).integers(0, 12, (300, 3)).astype(numpy.float32)  # many are equal along an axis


def by_definition(points, split):
    """Nodes and axes: each node takes the point at the rank that the size of its left subtree asks for."""
    count, dimension = points.shape
    indices, axes = numpy.full(count, -1), numpy.full(count, -1)

    def size(node):
        return 0 if node >= count else 1 + size(2 * node + 1) + size(2 * node + 2)

    def order(node, some, lower, upper):
        if len(some) == 0:
            return
        if split == "widest_box":
            lower, upper = points[some].min(0), points[some].max(0)
        axis = int(numpy.log2(node + 1)) % dimension if split == "cyclic" else int(numpy.argmax(upper - lower))
        some = some[numpy.lexsort((some, points[some, axis]))]
        left = size(2 * node + 1)
        indices[node], axes[node] = some[left], axis
        plane = points[some[left], axis]
        below, above = upper.copy(), lower.copy()
        below[axis] = above[axis] = plane
        order(2 * node + 1, some[:left], lower, below)
        order(2 * node + 2, some[left + 1:], above, upper)

    order(0, numpy.arange(count), points.min(0), points.max(0))
    return indices, axes


@pytest.mark.parametrize("split", ["cyclic", "widest", "widest_box"])
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 300])
def test_is_that_of_plain_recursion(split, dtype, count):
    points = POINTS[:count].astype(dtype)
    indices, axes = by_definition(points, split)
    for given in (points, numpy.asfortranarray(points), points[::-1][::-1]):
        found = kith.kdtree_order(given, split, threads=2)
        assert isinstance(found, kith.KdTreeOrder)
        assert found.indices.dtype == numpy.int32 and found.indices.tolist() == indices.tolist()
        assert found.split_axes.dtype == numpy.uint8 and found.split_axes.tolist() == axes.tolist()


def test_takes_what_other_calls_take():
    expected = kith.kdtree_order(POINTS)
    assert kith.kdtree_order(POINTS.tolist()).indices.tolist() == expected.indices.tolist()
    snapshot = types.SimpleNamespace(positions=POINTS, box=13)  # space is open all the same
    assert kith.kdtree_order(snapshot).indices.tolist() == expected.indices.tolist()
    empty = kith.kdtree_order(numpy.empty((0, 3)))
    assert empty.indices.shape == empty.split_axes.shape == (0,)


def test_refuses_what_it_cannot_order():
    points = POINTS.copy()
    points[17, 1] = numpy.nan
    with pytest.raises(ValueError, match="point 17"):
        kith.kdtree_order(points)
    with pytest.raises(ValueError, match="split is 'median'; it must be one of cyclic, widest, widest_box"):
        kith.kdtree_order(POINTS, "median")
    with pytest.raises(TypeError, match="points is a kith.Tree"):
        kith.kdtree_order(kith.Tree(POINTS))
    with pytest.raises(NotImplementedError, match="2 to 8 dimensions"):
        kith.kdtree_order(POINTS[:, :1])
