"""Neighbors within a radius: shapes, types, memory and errors, as the documentation has them. The answers are the C++
tests' affair."""

import gc
import pickle

import numpy
import pytest

import kith

random = numpy.random.default_rng(11)
POINTS = random.integers(0, 16, (400, 3)).astype(numpy.float32) / 16  # squares of distances are exact


def brute_force(points, queries, r, box=0.0, exclude_self=False):
    """Squared distances and indices of each row, by (distance, index)."""
    apart = numpy.abs(queries[:, None, :].astype(float) - points[None, :, :])
    if box:
        apart = numpy.minimum(apart, box - apart)
    squared = (apart**2).sum(axis=2)
    near = squared <= numpy.square(numpy.broadcast_to(r, len(queries)).astype(float))[:, None]
    if exclude_self:
        numpy.fill_diagonal(near, False)
    rows = []
    for i in range(len(queries)):
        indices = numpy.flatnonzero(near[i])
        indices = indices[numpy.argsort(squared[i, indices], kind="stable")]
        rows.append((squared[i, indices], indices))
    return rows


def check(found, expected, dtype=numpy.float32, index_dtype=numpy.int32, squared=False, by_index=False):
    assert len(found) == len(expected) and found.offsets.dtype == numpy.int64
    assert found.distances.dtype == dtype and found.indices.dtype == index_dtype
    assert found.counts.tolist() == [len(indices) for _, indices in expected]
    for (distances, indices), (squares, truth) in zip(found, expected):
        order = numpy.argsort(truth) if by_index else slice(None)
        assert indices.tolist() == truth[order].tolist()
        assert distances.tolist() == (squares if squared else numpy.sqrt(squares.astype(dtype)))[order].tolist()


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("r", [0, 0.125, numpy.float32(0.25), 0.75, numpy.inf])
@pytest.mark.parametrize("options", [{}, {"exclude_self": True, "squared": True}, {"sort": "index", "box": 1},
                                     {"index_dtype": "int64", "sort": "distance", "box": 1, "exclude_self": True}])
def test_rows_and_counts(dtype, r, options):
    points = POINTS.astype(dtype)
    expected = brute_force(points, points, r, options.get("box", 0), options.get("exclude_self", False))
    of_check = {"dtype": dtype, "index_dtype": options.get("index_dtype", "int32"),
                "squared": options.get("squared", False), "by_index": options.get("sort") == "index"}
    check(kith.radius_search(points, r, **options), expected, **of_check)
    of_count = {name: options[name] for name in ("box", "exclude_self") if name in options}
    counts = kith.radius_count(points, r, **of_count)
    assert counts.dtype == numpy.int64 and counts.tolist() == [len(indices) for _, indices in expected]
    tree = kith.Tree(points, box=options.get("box"))
    of_tree = {name: value for name, value in options.items() if name != "box"}
    check(tree.radius_search(r, **of_tree), expected, **of_check)
    assert (tree.radius_count(r, exclude_self=options.get("exclude_self", False)) == counts).all()


@pytest.mark.parametrize("engine", ["auto", "kdtree"])
@pytest.mark.parametrize("count", [1, 16, 17])
def test_few_queries_of_a_tree(count, engine):
    queries = random.integers(0, 16, (count, 3)).astype(numpy.float32) / 16
    radii = numpy.resize([0.25, 0, numpy.inf], count)
    expected = brute_force(POINTS, queries, radii)
    told = []
    tree = kith.Tree(POINTS, engine=engine)
    check(tree.radius_search(radii, queries, engine=engine), expected)
    check(tree.radius_search(radii, queries, engine=engine, threads=1, sort="index"), expected, by_index=True)
    counts = tree.radius_count(radii, queries, engine=engine, progress=lambda stage, fraction: told.append(fraction))
    assert counts.tolist() == [len(indices) for _, indices in expected]
    assert told[-1] == 1


@pytest.mark.parametrize("make", [list, tuple, numpy.array, lambda r: numpy.array(r, numpy.float32),
                                  lambda r: numpy.repeat(r, 2)[::2]])
def test_a_radius_for_each_query(make):
    queries = POINTS[:7] + numpy.float32(0.03125)
    radii = [0, 0.125, 0.5, numpy.inf, 0.25, 0.375, 1]
    expected = brute_force(POINTS, queries, radii)
    check(kith.radius_search(POINTS, make(radii), queries), expected)
    assert kith.radius_count(POINTS, make(radii), queries).tolist() == [len(indices) for _, indices in expected]
    assert kith.Tree(POINTS).radius_count(make(radii), queries).tolist() == [len(indices) for _, indices in expected]
    check(kith.Tree(POINTS).radius_search(make(radii), queries), expected)


def test_results_are_sequences_of_views():
    found = kith.radius_search(POINTS, 0.25)
    assert len(found) == len(POINTS) == len(found.offsets) - 1 and len(found.indices) == found.offsets[-1]
    for i in (0, -1, 399, numpy.int64(7)):
        distances, indices = found[i]
        assert numpy.shares_memory(distances, found.distances) and numpy.shares_memory(indices, found.indices)
        assert len(distances) == len(indices) == found.counts[i]
    for beyond in (400, -401):
        with pytest.raises(IndexError, match=f"no row {beyond}; there are 400 rows"):
            found[beyond]
    with pytest.raises(TypeError, match="row is"):
        found[0.5]
    assert repr(found) == f"<kith.RadiusResult of 400 rows with {len(found.indices)} neighbors>"
    again = pickle.loads(pickle.dumps(found))
    assert all((a == b).all() for a, b in zip((found.offsets, found.indices), (again.offsets, again.indices)))


def test_results_outlive_the_call_and_can_be_written_to():
    found = kith.radius_search(POINTS, 0.25)
    expected = found.indices.copy()
    indices, offsets = found.indices, found.offsets
    del found
    gc.collect()
    numpy.full(1_000_000, 7, numpy.int32)
    assert (indices == expected).all() and offsets[-1] == len(indices)
    for array in (indices, offsets, kith.radius_count(POINTS, 0.25)):
        assert array.flags.writeable
        array[0] = -5


def test_a_sparse_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    found = kith.radius_search(POINTS, 0.25, sort="index")
    matrix = sparse.csr_matrix((found.distances, found.indices, found.offsets), shape=(400, 400))
    assert matrix.has_canonical_format and (abs(matrix - matrix.T) > 0).nnz == 0


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points(count):
    points = numpy.zeros((count, 2))
    assert kith.radius_count(points, 0).tolist() == [count] * count
    found = kith.radius_search(points, numpy.inf, exclude_self=True)
    assert len(found) == count and found.counts.tolist() == [max(count - 1, 0)] * count
    assert kith.radius_search(points, 1, points[:0]).offsets.tolist() == [0]
    around = kith.radius_search(points[:0], 1, numpy.ones((3, 2)))
    assert around.offsets.tolist() == [0] * 4 and around.indices.tolist() == around.distances.tolist() == []
    assert kith.radius_count(points[:0], 1, numpy.ones((3, 2))).tolist() == [0] * 3


def test_snapshots_bring_their_box():
    class Snapshot:
        positions, box = POINTS, 1.0
    check(kith.radius_search(Snapshot(), 0.25), brute_force(POINTS, POINTS, 0.25, box=1))
    assert (kith.radius_count(Snapshot(), 0.25) == kith.radius_count(POINTS, 0.25, box=1)).all()


def test_results_beyond_the_limit_are_refused_before_they_are_made():
    with pytest.raises(MemoryError, match="160000 neighbors and needs 1280000 bytes; max_result_bytes is 1000000"):
        kith.radius_search(POINTS, numpy.inf, max_result_bytes=1e6)
    assert len(kith.radius_search(POINTS, numpy.inf, max_result_bytes=1_280_000).indices) == 160_000
    few = numpy.zeros((2**17, 2), numpy.float32)  # 2^34 pairs
    with pytest.raises(MemoryError, match="radius_count"):
        kith.Tree(few).radius_search(0, max_result_bytes=2**37 - 1)


@pytest.mark.parametrize("wrong, error, says", [
    (lambda: kith.radius_search(POINTS, -1), ValueError, "the radius is -1; it must be 0 or more, or infinity"),
    (lambda: kith.radius_count(POINTS, numpy.nan), ValueError, "the radius is nan"),
    (lambda: kith.radius_count(POINTS, [1.0] * 399 + [-2]), ValueError, "the radius of query 399 is -2"),
    (lambda: kith.radius_search(POINTS, [1.0, 2.0]), ValueError, "2 radii for 400 queries"),
    (lambda: kith.radius_search(POINTS, [[1.0]], POINTS[:1]), ValueError, "r has 2 axes"),
    (lambda: kith.radius_search(POINTS, "1"), TypeError, "r is '1'; it must be a number"),
    (lambda: kith.radius_search(POINTS, None), TypeError, "r is of type NoneType"),
    (lambda: kith.radius_search(POINTS, 1, sort="length"), ValueError, "sort is 'length'; it must be 'distance' or"),
    (lambda: kith.radius_search(POINTS, 1, POINTS, exclude_self=True), ValueError, "exclude_self"),
    (lambda: kith.radius_search(POINTS, 1, max_result_bytes=0), ValueError, "max_result_bytes is 0"),
    (lambda: kith.radius_search(numpy.zeros((3, 9)), 1), NotImplementedError, "dimension"),
    (lambda: kith.radius_search(numpy.full((3, 2), numpy.nan), 1), ValueError, "NaN"),
    (lambda: kith.radius_search(POINTS, 1, box=0.1), ValueError, "twice the period"),
])
def test_what_is_wrong_is_said(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def test_slices_are_results_of_their_rows():
    found = kith.radius_search(POINTS, 1)
    for rows in (slice(2, 5), slice(None), slice(3, 3), slice(5, 2), slice(-2, None)):
        part, chosen = found[rows], list(range(len(found)))[rows]
        assert len(part) == len(chosen) and part.offsets[0] == 0 and part.engine == found.engine
        for row, (distances, indices) in zip(chosen, part):
            assert (distances == found[row][0]).all() and (indices == found[row][1]).all()
    with pytest.raises(ValueError, match="step"):
        found[::2]
