"""Neighbors too near beside a placeholder: every search warns, linking and radii are refused."""

import warnings

import numpy
import pytest

import kith
import kith.spatial

POINTS = numpy.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1e37]], dtype=numpy.float32)
TEXT = "3 queries .* coordinate 2 of point 3, 1e.37.* placeholder"


@pytest.mark.parametrize("search", [
    lambda points: kith.knn(points, 2),
    lambda points: kith.Tree(points).query(k=2),
    lambda points: kith.Tree(points).query(points[:3], 2),
    lambda points: kith.knn(points, 2, return_distances=False),
    lambda points: kith.radius_search(points, 1e30),
    lambda points: kith.Tree(points).radius_search(1e30),
])
def test_searches_warn(search):
    with pytest.warns(UserWarning, match=TEXT) as caught:
        search(POINTS)
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(POINTS.astype(numpy.float64))
        with pytest.raises(UserWarning):
            search(POINTS)


@pytest.mark.parametrize("call", [kith.mst, kith.hierarchy])
def test_spanning_trees_warn(call):
    with pytest.warns(UserWarning, match="2 edges .* coordinate 2 of point 3, 1e.37.* placeholder") as caught:
        call(POINTS)
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(POINTS.astype(numpy.float64))
        kith.fof_ladder(POINTS, [1e37])


def test_the_tree_of_scipys_shape_warns():
    points = POINTS.astype(numpy.float64)
    points[3, 2] = 1e300
    with pytest.warns(UserWarning, match="coordinate 2 of point 3, 1e.300") as caught:
        kith.spatial.cKDTree(points).query(points[:2], 2)
    assert caught[0].filename == __file__


def test_lengths_are_refused():
    for call in (lambda: kith.fof(POINTS, 1e3), lambda: kith.radius_count(POINTS, 1e3)):
        with pytest.raises(ValueError, match="1000, so small that its square underflows relative to coordinate 2 of point 3"):
            call()
    assert kith.fof(POINTS.astype(numpy.float64), 1e3).tolist() == [0, 0, 0, 1]
