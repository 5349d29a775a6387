"""kith and SciPy on the same problems: the same distances, and indices that have them."""

import copy
import pickle

import numpy
import pytest

scipy_spatial = pytest.importorskip("scipy.spatial", reason="SciPy is not installed: nothing to compare with")
pytest.importorskip("hypothesis", reason="hypothesis is not installed: no problems to compare on")

from hypothesis import given, settings, strategies  # noqa: E402

import kith  # noqa: E402
import kith.spatial  # noqa: E402
from built import DIMENSIONS  # noqa: E402


@strategies.composite
def problems(draw):
    random = numpy.random.default_rng(draw(strategies.integers(0, 2**32)))
    dtype = draw(strategies.sampled_from([numpy.float32, numpy.float64]))
    dimension = draw(strategies.sampled_from(DIMENSIONS))
    count = draw(strategies.integers(0, 300))
    periodic = draw(strategies.booleans())
    period = draw(strategies.sampled_from([1.0, 0.25, 3.0])) if periodic else None
    kind = draw(strategies.sampled_from(["uniform", "lattice", "coincident", "clumps"]))

    def points(n):
        if kind == "uniform":
            places = random.random((n, dimension))
        elif kind == "lattice":
            places = random.integers(0, 4, (n, dimension)) / 4
        elif kind == "coincident":
            places = random.integers(0, 2, (n, 1)) * numpy.full((1, dimension), 0.5)
        else:
            places = 0.5 + 0.001 * random.standard_normal((n, dimension))
        return (places * (period or 1.0)).astype(dtype)

    queries = points(draw(strategies.integers(0, 50))) if draw(strategies.booleans()) else None
    return points(count), queries, draw(strategies.integers(1, 20)), period


def check_rows(points, queries, period, distances, indices, expected):
    """The distances are SciPy's to rounding; and every index is at its distance."""
    tolerance = 1e-6 if points.dtype == numpy.float32 else 1e-14
    numpy.testing.assert_allclose(distances, expected, rtol=tolerance, atol=tolerance)
    assert ((indices == -1) == numpy.isinf(distances)).all()
    rows, places = numpy.nonzero(indices >= 0)
    found = indices[rows, places]
    apart = numpy.abs(queries[rows].astype(float) - points[found])
    if period:
        apart = numpy.minimum(apart, period - apart)
    numpy.testing.assert_allclose(numpy.sqrt((apart**2).sum(axis=1)), distances[rows, places], rtol=tolerance,
                                  atol=tolerance)
    for row in indices:
        known = row[row >= 0]
        assert len(set(known)) == len(known)


@settings(max_examples=200, deadline=None)
@given(problems())
def test_knn_has_the_distances_of_scipy(problem):
    points, queries, k, period = problem
    around = points if queries is None else queries
    reference = scipy_spatial.cKDTree(points.astype(float), boxsize=period)
    expected = reference.query(around.astype(float), [*range(1, k + 1)])[0]
    distances, indices = kith.knn(points, k, queries, box=period)
    assert distances.dtype == points.dtype and indices.dtype == numpy.int32
    check_rows(points, around, period, distances, indices, expected)


@settings(max_examples=200, deadline=None)
@given(problems(), strategies.sampled_from([numpy.inf, 0.1, 0.3]), strategies.integers(1, 20))
def test_ckdtree_has_the_answers_of_scipy(problem, bound, leafsize):
    points, queries, k, period = problem
    around = points if queries is None else queries
    if period:
        points = numpy.where(points >= period, 0, points).astype(points.dtype)
    arguments = {"leafsize": leafsize, "boxsize": period}
    reference = scipy_spatial.cKDTree(points, **arguments).query(around, k, distance_upper_bound=bound)
    found = kith.spatial.cKDTree(points, **arguments).query(around, k, distance_upper_bound=bound)
    assert found[0].shape == reference[0].shape and found[1].shape == reference[1].shape
    assert found[0].dtype == reference[0].dtype and found[1].dtype == reference[1].dtype
    numpy.testing.assert_allclose(found[0], reference[0], rtol=1e-13, atol=1e-15)
    assert ((found[1] == len(points)) == numpy.isinf(found[0])).all()


def on_a_grid(count, dimension, seed):
    """Points and queries whose distances have exact squares: no rounding decides what is within a radius."""
    random = numpy.random.default_rng(seed)
    return random.integers(0, 8, (count, dimension)) / 8, random.integers(-8, 16, (count // 3, dimension)) / 8


def near(queries, points, r, boxsize=None):
    """For each query, whether each point is within the radius."""
    apart = numpy.abs(queries[:, None] - points)
    if boxsize is not None:
        period = numpy.where(boxsize, boxsize, numpy.inf)
        apart = numpy.where(numpy.isinf(period), apart, numpy.fmod(apart, period))
        apart = numpy.minimum(apart, period - apart)
    return (apart**2).sum(axis=2) <= numpy.square(numpy.broadcast_to(r, len(queries)))[:, None]


@settings(max_examples=100, deadline=None)
@given(strategies.integers(0, 120), strategies.sampled_from(DIMENSIONS), strategies.integers(0, 2**32),
       strategies.sampled_from([None, 1.0, 2.0]), strategies.sampled_from([0, 0.125, 0.3, 0.5, 1.5, numpy.inf, -0.25]),
       strategies.integers(1, 20))
def test_radius_searches_have_the_answers_of_scipy(count, dimension, seed, boxsize, r, leafsize):
    points, queries = on_a_grid(count, dimension, seed)
    arguments = {"leafsize": leafsize, "boxsize": boxsize}
    found, scipys = (make(points, **arguments) for make in (kith.spatial.cKDTree, scipy_spatial.cKDTree))
    others = [make(points[::2] / 2, **arguments) for make in (kith.spatial.cKDTree, scipy_spatial.cKDTree)]
    assert found.query_ball_point(queries, r).tolist() == scipys.query_ball_point(queries, r).tolist()
    radii = numpy.linspace(0, 1, len(queries))
    assert (found.query_ball_point(queries, radii, return_length=True)
            == scipys.query_ball_point(queries, radii, return_length=True)).all()
    assert found.query_ball_tree(others[0], r) == [sorted(row) for row in scipys.query_ball_tree(others[1], r)]
    assert found.query_pairs(r) == scipys.query_pairs(r)
    assert found.count_neighbors(others[0], r) == scipys.count_neighbors(others[1], r)
    edges = [0, 0.25, 0.25, 0.5, 1, numpy.inf]
    for cumulative in (True, False):
        assert (found.count_neighbors(others[0], edges, cumulative=cumulative)
                == scipys.count_neighbors(others[1], edges, cumulative=cumulative)).all()
    entries = found.sparse_distance_matrix(others[0], r, output_type="dict")
    assert entries == pytest.approx(scipys.sparse_distance_matrix(others[1], r, output_type="dict"), rel=1e-15)


def trees():
    return [pytest.param(scipy_spatial.cKDTree, id="scipy"), pytest.param(kith.spatial.cKDTree, id="kith")]


class OfSciPy(scipy_spatial.cKDTree):
    pass


class OfKith(kith.spatial.cKDTree):
    pass


SUBCLASSES = {scipy_spatial.cKDTree: OfSciPy, kith.spatial.cKDTree: OfKith}


@pytest.mark.parametrize("cKDTree", trees())
class TestTheSameCalls:
    """Each assertion is made of both."""

    points = numpy.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])

    def test_one_query(self, cKDTree):
        distance, index = cKDTree(self.points).query([0.9, 0.0])
        assert type(distance) is float and type(index) is int
        assert distance == pytest.approx(0.1) and index == 1

    @pytest.mark.parametrize("shape", [(2,), (3, 2), (4, 3, 2), (0, 2), (2, 0, 2)])
    @pytest.mark.parametrize("k, axes", [(1, ()), (3, (3,)), ([1], (1,)), ([2, 4], (2,)), (range(1, 4), (3,))])
    def test_shapes_and_types(self, cKDTree, shape, k, axes):
        distances, indices = cKDTree(self.points).query(numpy.zeros(shape), k)
        assert numpy.shape(distances) == numpy.shape(indices) == shape[:-1] + axes
        if numpy.shape(distances):
            assert distances.dtype == numpy.float64 and indices.dtype == numpy.int64

    def test_missing_neighbors_have_the_index_n(self, cKDTree):
        distances, indices = cKDTree(self.points).query([0.0, 0.0], 6)
        assert distances[:4].tolist() == pytest.approx([0, 1, 2, numpy.sqrt(18)])
        assert indices.tolist() == [0, 1, 2, 3, 4, 4]
        assert numpy.isinf(distances[4:]).all()

    def test_a_list_of_neighbors(self, cKDTree):
        distances, indices = cKDTree(self.points).query([0.0, 0.0], [3, 1])
        assert distances.tolist() == [2, 0] and indices.tolist() == [2, 0]

    @pytest.mark.parametrize("bound, found", [(1.0, 1), (numpy.nextafter(1.0, 2), 2), (2.0, 2), (2.1, 3), (0.0, 0),
                                              (numpy.inf, 4), (numpy.nan, 0)])
    def test_the_bound_is_exclusive(self, cKDTree, bound, found):
        distances, indices = cKDTree(self.points).query([[0.0, 0.0]], 4, distance_upper_bound=bound)
        assert numpy.isfinite(distances).sum() == found
        assert (indices[0, found:] == 4).all()

    def test_a_bound_whose_square_is_rounded(self, cKDTree):
        points = numpy.random.default_rng(5).random((500, 3))
        tree = cKDTree(points)
        exact = scipy_spatial.cKDTree(points).query(points, 10)[0]
        for bound in exact[:50, 5]:
            found = tree.query(points[:50], 10, distance_upper_bound=bound)[0]
            reference = scipy_spatial.cKDTree(points).query(points[:50], 10, distance_upper_bound=bound)[0]
            # Where a distance is the bound to the last bit, libraries may round to different sides.
            near = numpy.abs(exact[:50] - bound) <= 4 * numpy.spacing(bound)
            assert ((numpy.isinf(found) == numpy.isinf(reference)) | near).all()

    def test_boxes(self, cKDTree):
        tree = cKDTree([[0.1, 0.5], [0.9, 0.5]], boxsize=1)
        assert tree.query([0.05, 0.5], 2)[0].tolist() == pytest.approx([0.05, 0.15])
        tree = cKDTree([[0.1, 0.5], [0.9, 0.5]], boxsize=[1, 0])
        assert tree.query([0.05, 1.5], 2)[0].tolist() == pytest.approx([numpy.hypot(0.05, 1), numpy.hypot(0.15, 1)])
        assert tree.query([7.05, 0.5], 1)[1] == 0

    def test_attributes(self, cKDTree):
        tree = cKDTree(self.points, leafsize=7, boxsize=4)
        assert (tree.n, tree.m, tree.leafsize) == (4, 2, 7)
        assert tree.mins.tolist() == [0, 0] and tree.maxes.tolist() == [3, 3]
        assert tree.boxsize.tolist() == [4, 4] and (tree.data == self.points).all()
        assert cKDTree(self.points).boxsize is None

    def test_no_points_and_points_on_a_line(self, cKDTree):
        assert cKDTree(numpy.empty((0, 3))).query([0.0, 0, 0]) == (numpy.inf, 0)
        assert cKDTree([[1.0], [4.0]]).query([3.0]) == (1, 1)

    @pytest.mark.parametrize("boxsize", [None, 1, [1, 0], 4])
    @pytest.mark.parametrize("r", [0, 0.25, numpy.sqrt(2) / 8, 0.75, 1, 9, numpy.inf, -0.25])
    @pytest.mark.parametrize("count", [0, 1, 50, 200])  # on 64 places: many coincide
    def test_within_a_radius(self, cKDTree, boxsize, r, count):
        points, queries = on_a_grid(count, 2, 7)
        tree = cKDTree(points, boxsize=boxsize)
        expected = [numpy.flatnonzero(row).tolist() for row in near(queries, points, r, boxsize)]
        assert tree.query_ball_point(queries, r).tolist() == expected
        assert [sorted(tree.query_ball_point(query, r)) for query in queries] == expected
        assert tree.query_ball_point(queries, r, return_length=True).tolist() == [len(row) for row in expected]
        pairs = numpy.argwhere(numpy.triu(near(points, points, r, boxsize), 1)).tolist()
        assert tree.query_pairs(r) == set(map(tuple, pairs))
        assert sorted(tree.query_pairs(r, output_type="ndarray").tolist()) == pairs

    @pytest.mark.parametrize("boxsize", [None, 1, [2, 0]])
    @pytest.mark.parametrize("r", [0, 0.25, 1, numpy.inf, -0.25])
    @pytest.mark.parametrize("counts", [(0, 9), (9, 0), (1, 1), (80, 30)])
    def test_two_trees(self, cKDTree, boxsize, r, counts):
        points, others = (on_a_grid(count, 2, count)[0] for count in counts)
        expected = near(points, others, r, boxsize)
        tree, other = cKDTree(points, boxsize=boxsize), cKDTree(others, boxsize=boxsize)
        assert [sorted(row) for row in tree.query_ball_tree(other, r)] == [numpy.flatnonzero(row).tolist()
                                                                           for row in expected]
        assert tree.count_neighbors(other, r) == expected.sum()
        records = tree.sparse_distance_matrix(other, r, output_type="ndarray")
        assert sorted(zip(records["i"], records["j"])) == list(map(tuple, numpy.argwhere(expected)))
        assert tree.sparse_distance_matrix(other, r, output_type="coo_matrix").shape == counts

    def test_a_tree_with_itself(self, cKDTree):
        tree = cKDTree(self.points)
        assert [sorted(row) for row in tree.query_ball_tree(tree, 1)] == [[0, 1], [0, 1], [2], [3]]
        assert tree.count_neighbors(tree, 1) == 6
        assert tree.sparse_distance_matrix(tree, 1, output_type="dict") == {
            (0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0, (2, 2): 0, (3, 3): 0}

    def test_the_box_of_the_tree_that_is_asked_counts(self, cKDTree):
        tree, other = cKDTree([[0.125, 0.125]], boxsize=1), cKDTree([[0.875, 0.875], [0.5, 0.5]])
        assert tree.query_ball_tree(other, 0.5) == [[0]] and other.query_ball_tree(tree, 0.5) == [[], []]
        assert tree.count_neighbors(other, 0.5) == 1 and other.count_neighbors(tree, 0.5) == 0
        assert tree.sparse_distance_matrix(other, 0.5, output_type="dict") == {(0, 0): pytest.approx(numpy.sqrt(0.125))}
        assert other.sparse_distance_matrix(tree, 0.5, output_type="dict") == {}

    def test_one_query_within_a_radius(self, cKDTree):
        found = cKDTree(self.points).query_ball_point([0, 0], 1.0, return_sorted=True)
        assert type(found) is list and found == [0, 1] and type(found[0]) is int
        count = cKDTree(self.points).query_ball_point([0, 0], 1.0, return_length=True)
        assert count == 2 and numpy.shape(count) == () and count.dtype == numpy.intp

    @pytest.mark.parametrize("shape", [(3, 2), (4, 3, 2), (0, 2), (2, 0, 2)])
    @pytest.mark.parametrize("radii", [1, [1], "one each"])
    def test_shapes_within_a_radius(self, cKDTree, shape, radii):
        tree, queries = cKDTree(self.points), numpy.zeros(shape)
        radii = numpy.resize([1.0, 0, 2], shape[:-1]) if radii == "one each" else radii
        found = tree.query_ball_point(queries, radii, workers=2)
        assert found.shape == shape[:-1] and found.dtype == object
        counts = tree.query_ball_point(queries, radii, return_length=True, workers=-1)
        assert counts.shape == shape[:-1] and counts.dtype == numpy.intp
        expected = numpy.where(numpy.broadcast_to(radii, shape[:-1]) == 2, 3, numpy.broadcast_to(radii, shape[:-1]) + 1)
        assert (counts == expected).all()
        assert all(type(row) is list and len(row) == n for row, n in zip(found.ravel(), counts.ravel()))

    @pytest.mark.parametrize("r, cumulative, expected", [
        (1, True, 6), (1, False, 6), ([3, 1, 0, 1], True, [10, 6, 4, 6]), ([0, 1, 1, 3], False, [4, 2, 0, 4]),
        ([], True, []), ([], False, []), ([-1, 0], True, [6, 4]), ([numpy.inf], True, [16])])
    def test_counts_of_pairs(self, cKDTree, r, cumulative, expected):
        tree = cKDTree(self.points)
        found = tree.count_neighbors(cKDTree(self.points), r, cumulative=cumulative)
        assert type(found) is int if numpy.ndim(r) == 0 else found.dtype == numpy.intp
        assert numpy.array_equal(found, expected)

    def test_types_of_pairs_and_matrices(self, cKDTree):
        tree = cKDTree(self.points)
        pairs = tree.query_pairs(1)
        assert pairs == {(0, 1)} and {type(each) for pair in pairs for each in pair} == {int}
        for r, count in ((1, 1), (0, 0)):
            array = tree.query_pairs(r, output_type="ndarray")
            assert array.shape == (count, 2) and array.dtype == numpy.intp
        (key, distance), = tree.sparse_distance_matrix(cKDTree([[1.0, 2]]), 1, output_type="dict").items()
        assert key == (2, 0) and {*map(type, key)} == {int} and type(distance) is float
        records = tree.sparse_distance_matrix(tree, 1, output_type="ndarray")
        assert [records.dtype[name] for name in "ijv"] == [numpy.intp, numpy.intp, numpy.float64]
        for form in ("dok_matrix", "coo_matrix"):
            matrix = tree.sparse_distance_matrix(tree, 1, output_type=form)
            assert type(matrix).__name__ == form and matrix.shape == (4, 4) and matrix.nnz == 6  # 4 of them 0
            assert matrix.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]

    def test_points_on_a_line_within_a_radius(self, cKDTree):
        tree = cKDTree([[0.0], [0.5], [3.0]], boxsize=4)
        assert tree.query_ball_point([[3.75]], 0.75).tolist() == [[0, 1, 2]]
        assert tree.query_pairs(1) == {(0, 1), (0, 2)} and tree.count_neighbors(cKDTree([[3.5]], boxsize=4), 0.5) == 2

    def test_other_types_become_float64(self, cKDTree):
        tree = cKDTree([[1, 2], [3, 4]])
        assert tree.data.dtype == numpy.float64
        assert tree.query(numpy.array([[1, 2]], dtype=numpy.float32))[0].dtype == numpy.float64

    @pytest.mark.parametrize("workers", [1, 2, -1, None])
    def test_workers(self, cKDTree, workers):
        assert cKDTree(self.points).query([0.9, 0.0], workers=workers)[1] == 1

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))],
                             ids=["copy", "deepcopy", "pickle"])
    def test_copies_and_pickles(self, cKDTree, copied):
        tree = copied(cKDTree(self.points, leafsize=5, boxsize=[4.0, 0.0]))
        assert (tree.data == self.points).all() and tree.leafsize == 5 and tree.boxsize.tolist() == [4, 0]
        assert tree.query([3.9, 0.0])[1] == 0

    def test_whole_numbers_of_neighbors_may_be_floats(self, cKDTree):
        assert cKDTree(self.points).query([0.9, 0.0], k=2.0)[1].tolist() == [1, 0]

    def test_copies_of_a_subclass_are_of_it(self, cKDTree):
        assert type(copy.copy(SUBCLASSES[cKDTree](self.points))) is SUBCLASSES[cKDTree]

    def test_data_are_copied_if_asked(self, cKDTree):
        points = self.points.copy()
        tree = cKDTree(points, copy_data=True)
        assert not numpy.shares_memory(tree.data, points)
        assert numpy.shares_memory(cKDTree(points).data, points)

    @pytest.mark.parametrize("wrong", [
        lambda make: make([1.0, 2.0]),
        lambda make: make([[numpy.nan, 1]]),
        lambda make: make([[0.5, 2.0]], boxsize=1),
        lambda make: make([[0.5, -0.5]], boxsize=1),
        lambda make: make([[0.5, 0.5]]).query([1.0, 2.0, 3.0]),
        lambda make: make([[0.5, 0.5]]).query([numpy.nan, 0.0]),
        lambda make: make([[0.5, 0.5]]).query([0.0, 0.0], k=0),
        lambda make: make([[0.5, 0.5]]).query([0.0, 0.0], workers=0),
        lambda make: make([[0.5, 0.5]]).query_ball_point([0.0, 0.0], 1, workers=0),
        lambda make: make([[0.5, 0.5]]).query_ball_point([0.0, 0.0, 0.0], 1),
        lambda make: make([[0.5, 0.5]]).query_ball_point([0.0, numpy.nan], 1),
        lambda make: make([[0.5, 0.5]]).query_ball_point([[0.0, 0.0]], [1, 2, 3]),
        lambda make: make([[0.5, 0.5]]).query_ball_point([0.0, 0.0], [1]),
        lambda make: make([[0.5, 0.5]]).query_ball_tree(make([[0.5]]), 1),
        lambda make: make([[0.5, 0.5]]).query_pairs(1, output_type="list"),
        lambda make: make([[0.5, 0.5]]).count_neighbors(make([[0.5]]), 1),
        lambda make: make([[0.5, 0.5]]).count_neighbors(make([[0.5, 0.5]]), [[1]]),
        lambda make: make([[0.5, 0.5]]).count_neighbors(make([[0.5, 0.5]]), [2, 1], cumulative=False),
        lambda make: make([[0.5, 0.5]]).sparse_distance_matrix(make([[0.5]]), 1, output_type="dict"),
        lambda make: make([[0.5, 0.5]]).sparse_distance_matrix(make([[0.5, 0.5]]), 1, output_type="list"),
    ])
    def test_what_is_wrong_is_a_value_error(self, cKDTree, wrong):
        with pytest.raises(ValueError):
            wrong(cKDTree)


@pytest.mark.parametrize("k", [None, [0, 1], [-1], 0, [[1, 2]]])
def test_numbers_of_neighbors_that_mean_nothing(k):
    with pytest.raises(ValueError, match="k must be"):
        kith.spatial.cKDTree([[0.5, 0.5]]).query([0.0, 0.0], k)


def test_endless_boxes_are_open():
    assert kith.spatial.cKDTree([[0.0, 0.0], [3.0, 3.0]], boxsize=numpy.inf).query([2.9, 3.0])[1] == 1


def test_what_kith_has_not_is_said():
    tree = kith.spatial.cKDTree([[0.0, 1.0]])
    with pytest.raises(NotImplementedError, match="p = 2"):
        tree.query([0.0, 0.0], p=1)
    for radius_search in (lambda: tree.query_ball_point([0.0, 0.0], 1, p=1), lambda: tree.query_ball_tree(tree, 1, p=3),
                          lambda: tree.query_pairs(1, p=numpy.inf), lambda: tree.count_neighbors(tree, 1, p=1),
                          lambda: tree.sparse_distance_matrix(tree, 1, p=1)):
        with pytest.raises(NotImplementedError, match="p = 2"):
            radius_search()
    with pytest.raises(ValueError, match="weights is -1"):
        tree.count_neighbors(tree, 1, weights=[-1.0])
    with pytest.raises(TypeError, match="scipy.*must be a kith.spatial.cKDTree"):
        tree.query_ball_tree(scipy_spatial.cKDTree([[0.0, 1.0]]), 1)
    with pytest.raises(ValueError, match="r is nan"):
        tree.query_ball_point([[0.0, 0.0], [1.0, 1.0]], [1, numpy.nan])
    with pytest.raises(NotImplementedError, match="dimensions"):
        kith.spatial.cKDTree(numpy.zeros((3, 9)))
