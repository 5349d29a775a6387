"""Neighbors: shapes, types, memory and errors, as the documentation has them. The answers are the C++ tests' affair."""

import copy
import pickle
import weakref

import numpy
import pytest

import kith
from kith import _core

random = numpy.random.default_rng(7)
POINTS = random.random((500, 3)).astype(numpy.float32)


def brute_force(points, queries, k):
    apart = queries[:, None, :].astype(float) - points[None, :, :]
    squared = (apart**2).sum(axis=2)
    order = numpy.argsort(squared, axis=1, kind="stable")[:, :k]
    return numpy.sqrt(numpy.take_along_axis(squared, order, axis=1)), order


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_self_search(dtype, k):
    points = POINTS.astype(dtype)
    distances, indices = kith.knn(points, k)
    expected, order = brute_force(points, points, k)
    assert distances.dtype == dtype and indices.dtype == numpy.int32
    assert distances.shape == indices.shape == (500, k)
    numpy.testing.assert_allclose(distances, expected, rtol=1e-6, atol=1e-7)
    assert (indices == order).mean() > 0.99  # all but what rounding takes for ties


def test_queries_exclude_self_and_max_distance():
    queries = random.random((20, 3)).astype(numpy.float32)
    distances, indices = kith.knn(POINTS, 3, queries)
    numpy.testing.assert_allclose(distances, brute_force(POINTS, queries, 3)[0], rtol=1e-5)
    without = kith.knn(POINTS, 3, exclude_self=True)
    assert (without[1] == kith.knn(POINTS, 4)[1][:, 1:]).all()
    near, who = kith.knn(POINTS, 10, max_distance=0.05)
    assert (near[numpy.isfinite(near)] <= 0.05).all()
    assert ((who == -1) == numpy.isinf(near)).all() and (who == -1).any()


@pytest.mark.parametrize("queries", [None, POINTS[:90] + numpy.float32(0.3)])
def test_rows_in_z_order(queries):
    tree = kith.Tree(POINTS)
    expected = kith.knn(POINTS, 4, queries)
    assert expected.query_indices is None
    for found in (tree.query(queries, 4, z_order=True), kith.knn(POINTS, 4, queries, z_order=True)):
        assert found.query_indices.dtype == numpy.int32 and found.engine == "tree"
        assert sorted(found.query_indices) == list(range(len(expected.indices)))
        for rows, others in zip(found, expected):
            assert (rows == others[found.query_indices]).all()
        twin = pickle.loads(pickle.dumps(found))
        assert (twin.query_indices == found.query_indices).all()
        if queries is None:
            assert (found.query_indices == tree.order).all()
    alone = tree.query(queries, 4, z_order=True, return_distances=False, index_dtype=numpy.int64)
    assert alone.distances is None and (alone.indices == found.indices).all()
    out = numpy.empty_like(expected.distances), numpy.empty_like(expected.indices)
    written = tree.query(queries, 4, z_order=True, out=out)
    assert (out[0] == found.distances).all() and (written.query_indices == found.query_indices).all()


def test_rows_in_z_order_are_the_trees():
    for engine in ("brute", "kdtree", "clover"):
        with pytest.raises(NotImplementedError, match="in z-order; use one of: auto, tree"):
            kith.knn(POINTS, 4, engine=engine, z_order=True)
        with pytest.raises(NotImplementedError, match=engine):
            kith.Tree(POINTS, engine=engine).query(k=4, z_order=True)


def test_the_same_from_a_tree():
    tree = kith.Tree(POINTS, box=1)
    for row, other in zip(tree.query(k=4), kith.knn(POINTS, 4, box=1)):
        assert (row == other).all()
    for row, other in zip(tree.query(POINTS[:9] + 3, 4, max_distance=0.1), kith.knn(POINTS, 4, POINTS[:9] + 3, box=1,
                                                                                   max_distance=0.1)):
        assert (row == other).all()
    assert len(tree) == 500 and tree.dimension == 3 and tree.dtype == numpy.float32
    assert sorted(tree.order) == list(range(500))
    assert tree.box.origin == (0, 0, 0) and tree.box.period == (1, 1, 1)
    planes = tree.planes()
    assert all(plane[0] == 0 and plane[-1] == 500 and (numpy.diff(plane) > 0).all() for plane in planes)


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_boxes_of_planes(dtype):
    points = numpy.random.default_rng(5).random((3000, 3)).astype(dtype)
    tree = kith.Tree(points + dtype(0.5), box=1, leaf_size=5)
    planes = tree.planes()
    assert len(planes) > 1
    for plane, first in enumerate(planes):
        lower, upper = tree.plane_boxes(plane)
        assert lower.dtype == upper.dtype == dtype
        assert (lower == numpy.minimum.reduceat(tree.sorted_points, first[:-1])).all()
        assert (upper == numpy.maximum.reduceat(tree.sorted_points, first[:-1])).all()
    assert (tree.plane_boxes()[0] == tree.plane_boxes(0)[0]).all()
    for plane in (-1, len(planes), 2**40):
        with pytest.raises(ValueError, match="plane .* was asked for"):
            tree.plane_boxes(plane)
    with pytest.raises(NotImplementedError, match="kdtree"):
        kith.Tree(POINTS, engine="kdtree").plane_boxes()


def test_options_of_results():
    indices = kith.knn(POINTS, 2, return_distances=False)
    assert isinstance(indices, numpy.ndarray) and indices.shape == (500, 2)
    wide = kith.knn(POINTS, 2, return_distances=False, index_dtype=numpy.int64)
    assert wide.dtype == numpy.int64 and (wide == indices).all()
    with pytest.raises(ValueError, match="int32 or int64"):
        kith.knn(POINTS, 2, index_dtype=numpy.uint32)


@pytest.mark.parametrize("index_dtype", [numpy.int32, numpy.int64])
def test_results_are_written_where_asked(index_dtype):
    distances, indices = numpy.empty((500, 2), numpy.float32), numpy.empty((500, 2), index_dtype)
    result = kith.knn(POINTS, 2, out=(distances, indices))
    assert result[0] is distances and result[1] is indices
    expected = kith.knn(POINTS, 2)
    assert (distances == expected[0]).all() and (indices == expected[1]).all()
    assert kith.Tree(POINTS).query(k=2, return_distances=False, out=indices) is indices


@pytest.mark.parametrize("out", [
    (numpy.empty((500, 2), numpy.float64), numpy.empty((500, 2), numpy.int32)),
    (numpy.empty((500, 3), numpy.float32), numpy.empty((500, 3), numpy.int32)),
    (numpy.empty((500, 2), numpy.float32), numpy.empty((500, 2), numpy.uint32)),
    (numpy.empty((2, 500), numpy.float32).T, numpy.empty((500, 2), numpy.int32)),
    (numpy.empty((500, 2), numpy.float32), numpy.broadcast_to(numpy.int32(0), (500, 2))),
])
def test_memory_that_results_do_not_fit_is_refused(out):
    with pytest.raises(ValueError, match="the array for"):
        kith.knn(POINTS, 2, out=out)


def test_results_over_what_is_read_are_refused():
    points = POINTS.copy()
    indices = numpy.empty((500, 3), numpy.int32)
    with pytest.raises(ValueError, match="overlap"):
        kith.knn(points, 3, out=(points, indices))
    with pytest.raises(ValueError, match="overlap"):
        kith.Tree(points).query(points, 3, out=(points, indices))
    with pytest.raises(ValueError, match="overlap"):
        kith.knn(points, 3, out=(indices.view(numpy.float32), indices))
    assert (points == POINTS).all()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points(count):
    distances, indices = kith.knn(POINTS[:count], 3)
    assert distances.shape == indices.shape == (count, 3)
    assert (indices[:, count:] == -1).all() and numpy.isinf(distances[:, count:]).all()
    assert kith.knn(POINTS[:0], 3, POINTS[:2])[1].tolist() == [[-1] * 3] * 2


@pytest.mark.parametrize("box", [1, 1.0, [1, 1, 1], (1.0, 1, 1), numpy.ones(3), numpy.float32(1), numpy.array(1.0),
                                 kith.Box(1), kith.Box([1, 1, 1])])
def test_boxes_in_all_ways(box):
    assert (kith.knn(POINTS, 5, box=box)[1] == kith.knn(POINTS, 5, box=1)[1]).all()


def test_boxes_with_origins_and_open_axes():
    shifted = POINTS - numpy.float32(0.5)
    box = kith.Box(1, origin=-0.5)
    assert kith.Tree(shifted, box=box).box.origin == (-0.5, -0.5, -0.5)
    assert box.period == 1 and box.origin == -0.5 and not box.is_open
    mixed = kith.Box((1, 0, 1), origin=-0.5)
    assert kith.Tree(shifted, box=mixed).box.origin == (-0.5, None, -0.5)
    assert kith.Box(mixed.period, mixed.origin).origin == mixed.origin
    assert kith.Box((1, 0, 1), origin=(-0.5, None, 0)).origin == (-0.5, None, 0)
    assert repr(kith.Box((1, 0))) == "kith.Box((1.0, 0.0), origin=(None, None))"
    assert kith.Box(1, origin=(0, None, 0)) == kith.Box((1, 1, 1), origin=(0, None, 0))
    assert kith.Box(None).is_open
    for each in (kith.Box(1), kith.Box(1, 0.5), mixed, kith.Box(None)):
        assert each == kith.Box(each.period, each.origin) == pickle.loads(pickle.dumps(each))
        assert hash(each) == hash(kith.Box(each.period, each.origin))
    assert kith.Box(1) != kith.Box(2) and kith.Box(1) != kith.Box((1, 1)) and kith.Box(1) not in (1, None)
    with pytest.raises(ValueError, match="2 periods but 3 origins"):
        kith.Box((1, 1), origin=(0, 0, 0))
    for period, origin, axis in [(0, 0.5, 0), (None, 0.5, 0), ((1, 0, 1), (0, 0.5, 0), 1)]:
        with pytest.raises(ValueError, match=f"origin 0.5 was given for axis {axis}.*open"):
            kith.Box(period, origin)


@pytest.mark.parametrize("wrong, error, says", [
    (lambda: kith.knn(POINTS, 0), ValueError, "k is 0"),
    (lambda: kith.knn(POINTS, 1.5), TypeError, "must be a whole number"),
    (lambda: kith.knn(POINTS[:, 0], 1), ValueError, "n x d"),
    (lambda: kith.knn(numpy.zeros((3, 9)), 1), NotImplementedError, "dimension"),
    (lambda: kith.knn(POINTS.astype(complex), 1), TypeError, "complex128"),
    (lambda: kith.knn(POINTS > 0.5, 1), TypeError, "bool"),
    (lambda: kith.knn("points", 1), TypeError, "points"),
    (lambda: kith.knn(None, 1), TypeError, "points is of type builtins.NoneType and not all numbers"),
    (lambda: kith.knn((x for x in POINTS), 1), TypeError, "points is of type builtins.generator"),
    (lambda: kith.knn(numpy.where(POINTS > 0.9, numpy.nan, POINTS), 1), ValueError, "NaN"),
    (lambda: kith.knn(numpy.ma.masked_greater(POINTS, 0.9), 1), ValueError, "masked"),
    (lambda: kith.knn(POINTS, 1, POINTS[:, :2].copy()), ValueError, "2 coordinates"),
    (lambda: kith.knn(POINTS, 1, POINTS, exclude_self=True), ValueError, "self"),
    (lambda: kith.knn(POINTS, 1, max_distance=-1), ValueError, "-1"),
    (lambda: kith.knn(POINTS, 1, box=-1), ValueError, "period -1"),
    (lambda: kith.knn(POINTS, 1, box="1"), TypeError, "box must be"),
    (lambda: kith.knn(POINTS, 1, box=[1, 2]), ValueError, "2 periods"),
    (lambda: kith.knn(POINTS, 1, box=0.1), ValueError, "twice the period"),
    (lambda: kith.knn(POINTS, 1, box=[]), ValueError, "0 periods"),
    (lambda: kith.knn(POINTS, 1, box={1: 2}), TypeError, "box must be"),
    (lambda: kith.Box(1, origin=[]), ValueError, "0 origins"),
    (lambda: kith.Box(b"abc"), TypeError, "box must be"),
    (lambda: kith.Box(["1", "2"]), TypeError, "box must be"),
    (lambda: kith.Box({3.0, 1.0}), TypeError, "box must be"),
    (lambda: kith.Box(1, origin="123"), TypeError, "origin must be"),
    (lambda: kith.Box(1, origin={1: 2}), TypeError, "origin must be"),
    (lambda: kith.Box(10**400), ValueError, "period inf"),
    (lambda: kith.knn(POINTS, 1, threads=numpy.array([1, 2])), TypeError, "threads must be"),
    (lambda: kith.knn(POINTS, 1, threads=numpy.array(2.0)), TypeError, "threads must be"),
    (lambda: kith.knn(numpy.broadcast_to(numpy.float32(0), (5, 2**32 + 3)), 1), NotImplementedError, "dimension"),
    (lambda: kith.knn(POINTS, 1, return_distances="no"), TypeError, "return_distances is 'no'"),
    (lambda: kith.knn(POINTS, 1, index_dtype=bool), ValueError, "index_dtype is <class 'bool'>"),
    (lambda: kith.Tree(POINTS, leaf_size=-2**40), ValueError, "leaf_size"),
    (lambda: kith.knn(POINTS, 1, threads=-1), ValueError, "threads is -1"),
    (lambda: kith.knn(POINTS, 1, threads=10**9), ValueError, "threads is 1000000000"),
    (lambda: kith.knn(POINTS, 1, threads=2**70), ValueError, "threads is"),
    (lambda: kith.knn(POINTS, 1, threads=1.5), TypeError, "threads must be"),
    (lambda: kith.knn(POINTS, 1, threads="2"), TypeError, "threads must be"),
    (lambda: kith.knn(POINTS, 1, device=0), TypeError, "device must be"),
    (lambda: kith.knn(POINTS, 1, exclude_self="yes"), TypeError, "exclude_self is 'yes'"),
    (lambda: kith.Tree(POINTS).query(k=1, exclude_self=1), TypeError, "exclude_self is 1"),
    (lambda: kith.knn(POINTS, 1, device="tpu"), ValueError, "'tpu'"),
    (lambda: kith.knn(POINTS, 1, progress=3), TypeError, "progress"),
    (lambda: kith.knn(POINTS, 2**55), MemoryError, "larger than any memory"),
    (lambda: kith.knn(POINTS, 2**40), MemoryError, "allocate"),
    (lambda: kith.Tree(POINTS).query(k=0), ValueError, "k is 0"),
    (lambda: kith.Tree(POINTS, leaf_size=0), ValueError, "leaf"),
    (lambda: kith.Tree(POINTS, leaf_size=2.5), TypeError, "must be a whole number"),
    (lambda: kith.knn(POINTS, 1, max_distance="1"), TypeError, "max_distance is '1'"),
    (lambda: kith.knn(POINTS, 1, max_distance=10**400), ValueError, "max_distance is larger"),
    (lambda: kith.knn(POINTS, 1, out=(None, None)), TypeError, "NoneType"),
    (lambda: kith.knn(POINTS, 1, box=[1] * 9), ValueError, "9 periods"),
    (lambda: kith.Box(-1), ValueError, "period -1"),
    (lambda: kith.Box(1, numpy.nan), ValueError, "origin nan"),
])
def test_what_is_wrong_is_said(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def test_a_tree_keeps_nothing_of_what_it_was_built_of():
    points = numpy.random.default_rng(1).random((100, 3))
    kept = weakref.ref(points)
    tree = kith.Tree(points)
    del points
    assert kept() is None and tree.query(k=2)[0].dtype == numpy.float64


def test_overhead_paths_agree():
    """Calls that are brief run on the calling thread, others on one of their own; both are the same call."""
    many = random.random((60_000, 2))
    few = many[:100]
    assert (kith.knn(many, 4, few)[1] == kith.Tree(many).query(few, 4)[1]).all()
    assert _core.version == kith.__version__


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("box", [None, 1.0, [1.0, 0.0, 2.5]])
def test_a_tree_is_pickled_as_its_points_and_copied_as_itself(dtype, box):
    points = numpy.random.default_rng(5).uniform(-0.5, 1.25, (300, 3)).astype(dtype)  # some beyond the box
    tree = kith.Tree(points, box, leaf_size=3)
    assert copy.copy(tree) is tree and copy.deepcopy([tree])[0] is tree
    again = pickle.loads(pickle.dumps(tree))
    assert again.box == tree.box and again.dtype == dtype and len(again) == 300
    assert [len(plane) for plane in again.planes()] == [len(plane) for plane in tree.planes()]
    numpy.testing.assert_array_equal(again.order, tree.order)
    for found, expected in zip(again.query(points[:50], 7), tree.query(points[:50], 7), strict=True):
        numpy.testing.assert_array_equal(found, expected)
    inside = tree.sorted_points
    assert inside.shape == (300, 3) and inside.dtype == dtype
    if box is None:
        numpy.testing.assert_array_equal(inside, points[tree.order])


def test_neighbors_of_other_labels():
    random = numpy.random.default_rng(12)
    points, queries = random.random((300, 3)), random.random((40, 3))
    labels, of_queries = random.integers(-1, 4, 300), random.integers(-1, 6, 40)
    whole_points, whole_queries = kith.knn(points, 300, box=1), kith.knn(points, 300, queries, box=1)
    tree = kith.Tree(points, box=1)
    for found, whole, own in (
            (kith.knn(points, 3, box=1, exclude_labels=labels), whole_points, labels),
            (tree.query(k=3, exclude_labels=labels.astype(numpy.uint8)), whole_points, labels),
            (kith.knn(points, 3, queries, box=1, exclude_labels=(labels, of_queries.tolist())), whole_queries, of_queries)):
        for row, label in enumerate(own):
            others = labels[whole.indices[row]] != label
            assert found.indices[row].tolist() == whole.indices[row][others][:3].tolist()
            assert found.distances[row].tolist() == whole.distances[row][others][:3].tolist()
    alone = kith.knn(points, 2, exclude_labels=numpy.zeros(300, int), return_distances=False)
    assert (alone == -1).all()
    for wrong, error, says in ((labels[:5], ValueError, "exclude_labels has 5 rows for 300 points"),
                               ((labels, of_queries), TypeError, "exclude_labels.* a pair of arrays is for calls with")):
        with pytest.raises(error, match=says):
            kith.knn(points, 2, exclude_labels=wrong)
    with pytest.raises(TypeError, match="must be a pair of arrays"):
        kith.knn(points, 2, queries, exclude_labels=labels)
    with pytest.raises(NotImplementedError, match="'kdtree' does not support k nearest neighbors of other labels"):
        kith.knn(points, 2, exclude_labels=labels, engine="kdtree")
    with pytest.raises(ValueError, match="z_order"):
        kith.knn(points, 2, exclude_labels=labels, z_order=True)
