"""Every function takes a kith.Tree where it takes points, and gives the same bits; methods of the tree call these functions."""

import numpy
import pytest

import kith

POINTS = numpy.random.default_rng(7).random((300, 3))
BOX = 1.0
TREE = kith.Tree(POINTS, BOX)
QUERIES = POINTS[:20] + 0.01

# function, its further arguments, and the method of the tree with the arguments that it takes
CALLS = {
    "knn": (kith.knn, (5,), lambda: TREE.query(k=5)),
    "knn around queries": (kith.knn, (5, QUERIES), lambda: TREE.query(QUERIES, 5)),
    "radius_search": (kith.radius_search, (0.1, QUERIES), lambda: TREE.radius_search(0.1, QUERIES)),
    "radius_count": (kith.radius_count, (0.1,), lambda: TREE.radius_count(0.1)),
    "fof": (kith.fof, (0.08,), lambda: TREE.fof(0.08)),
    "dbscan": (kith.dbscan, (0.1, 4), lambda: TREE.dbscan(0.1, 4)),
    "mst": (kith.mst, (), lambda: TREE.mst()),
    "hierarchy": (kith.hierarchy, (), lambda: TREE.hierarchy()),
    "fof_ladder": (kith.fof_ladder, ([0.05, 0.1],), lambda: TREE.fof_ladder([0.05, 0.1])),
}


def arrays_of(found):
    """The arrays of any result."""
    if isinstance(found, numpy.ndarray):
        return [found]
    if isinstance(found, (tuple, list)):
        return [array for each in found for array in arrays_of(each)]
    names = ("offsets", "distances", "indices", "edges", "weights", "heights", "linkage", "sizes", "first_members", "parents")
    return arrays_of([getattr(found, name) for name in names if hasattr(found, name)])


@pytest.mark.parametrize("name", CALLS)
def test_a_tree_gives_the_results_of_its_points(name):
    function, arguments, method = CALLS[name]
    expected = arrays_of(function(POINTS, *arguments, box=BOX))
    assert expected
    for found in (arrays_of(function(TREE, *arguments)), arrays_of(method())):
        assert len(found) == len(expected)
        for array, wanted in zip(found, expected):
            assert array.dtype == wanted.dtype and numpy.array_equal(array, wanted)


@pytest.mark.parametrize("name", CALLS)
def test_a_box_in_addition_to_a_tree_is_refused(name):
    function, arguments, _ = CALLS[name]
    with pytest.raises(ValueError, match="the options have a box, but a tree has its own"):
        function(TREE, *arguments, box=2.0)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("hierarchy", "fof_ladder")])
def test_another_device_than_that_of_a_tree_is_refused(name):
    function, arguments, _ = CALLS[name]
    assert function(TREE, *arguments, device="cpu") is not None
    with pytest.raises((ValueError, NotImplementedError), match="CPU|CUDA"):
        function(TREE, *arguments, device="cuda")


def test_a_tree_has_positions_alone():
    with pytest.raises(TypeError, match="a catalog is of points, not of a tree"):
        kith.fof(TREE, 0.1, return_catalog=True)
    velocities = numpy.zeros_like(POINTS)
    for call in (kith.fof, lambda *points, **options: kith.mst(*points[:1], linking_length=points[1], **options)):
        with pytest.raises(ValueError, match="phase space is made of points, not of a tree"):
            call(TREE, 0.1, velocities=velocities, psi=1.0)
    with pytest.raises(TypeError, match="points is a kith.Tree; it must be an array"):
        kith.Tree(TREE)


def test_small_groups_of_a_tree_are_dropped():
    expected = kith.fof(POINTS, 0.08, box=BOX, min_members=3)
    assert (expected == -1).any()
    assert numpy.array_equal(kith.fof(TREE, 0.08, min_members=3), expected)
    assert numpy.array_equal(TREE.fof(0.08, min_members=3), expected)
