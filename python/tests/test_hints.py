"""Arguments as other libraries take them: either kith takes them, too, or the error says how it does."""

import copy
import pickle

import numpy
import pytest

import kith

POINTS = numpy.random.default_rng(8).random((60, 3))
TREE = kith.Tree(POINTS)


@pytest.mark.parametrize("call, says", [
    (lambda: TREE.radius_search(POINTS, 0.1), r"r comes before queries here: radius_search\(r, queries\)"),
    (lambda: TREE.radius_count(POINTS[0], 0.1), "r comes before queries here"),
    (lambda: kith.radius_search(POINTS, POINTS, 0.1), "r comes before queries here"),
    (lambda: kith.radius_count(POINTS, POINTS, 0.1), "r comes before queries here"),
    (lambda: kith.knn(POINTS, POINTS, 2), r"k is an array of shape \(60, 3\); it comes before the queries"),
    (lambda: TREE.query(POINTS, 2, 0, 2, 0.1), "give others by name: exclude_self, max_distance"),
    (lambda: kith.fof(POINTS, 0.1, 1), "give others by name: b, psi, psi_sigma, box"),
    (lambda: kith.fof_ladder(POINTS, [0.1], psi=1), r"kith.hierarchy\(points, linking_length=..., psi=.*\).ladder"),
    (lambda: TREE.fof(0.1, psi=1), r"kith.fof\(points, linking_length, psi"),
])
def test_other_orders_of_arguments(call, says):
    with pytest.raises(TypeError, match=says):
        call()


@pytest.mark.parametrize("point", [POINTS[0], POINTS[0].tolist(), POINTS[0].astype("f4")], ids=["", "list", "float32"])
def test_single_points(point):
    for call in (lambda: kith.knn(POINTS, 2, point), lambda: TREE.query(point), lambda: TREE.radius_count(0.1, point)):
        with pytest.raises(ValueError, match=r"queries has 1 axis.*a single point is \[point\]"):
            call()
    assert TREE.query([point], 1).indices.tolist() == [[0]]


def test_attributes_of_scipys_trees():
    with pytest.raises(AttributeError, match=r"no attribute 'query_ball_point'; here it is radius_search\(r, queries\)"):
        TREE.query_ball_point
    with pytest.raises(AttributeError, match="no attribute 'color'$"):
        TREE.color
    assert copy.copy(TREE) is TREE and len(pickle.loads(pickle.dumps(TREE))) == 60


def test_queries_of_a_snapshot():
    universe = kith.datasets.cosmic_box(8, 16)
    expected = kith.knn(universe, 3).indices
    assert (kith.knn(universe, 3, universe).indices == expected).all()
    assert (kith.Tree(universe).query(universe, 3).indices == expected).all()
    counts = kith.radius_count(universe, 2.0)
    assert (kith.radius_count(universe, 2.0, universe) == counts).all()
    tree = kith.Tree(universe)
    tree._source = tree._source._replace(length_name="kpc/h")
    for call in (tree.radius_count, tree.radius_search):
        with pytest.raises(ValueError, match="snapshot of the queries is in Mpc/h, the points in kpc/h; give its positions"):
            call(1.0, universe)
    with pytest.raises(ValueError, match="snapshot of the queries is in Mpc/h"):
        tree.query(universe, 3)
