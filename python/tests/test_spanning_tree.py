"""Minimum spanning trees: shapes, types, memory and errors, as the documentation has them. The answers are the C++ tests'
affair; here they meet SciPy's."""

import gc

import numpy
import pytest

import kith

random = numpy.random.default_rng(17)
POINTS = random.random((300, 3))


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("box", [None, 1])
def test_of_scipy(dtype, box):
    sparse = pytest.importorskip("scipy.sparse")
    points = POINTS.astype(dtype)
    tree = kith.mst(points, box=box)
    apart = numpy.abs(points[:, None, :].astype(float) - points[None, :, :])
    if box:
        apart = numpy.minimum(apart, box - apart)
    expected = sparse.csgraph.minimum_spanning_tree(numpy.sqrt((apart**2).sum(axis=2))).tocoo()
    edges = {tuple(sorted(edge)) for edge in zip(expected.row.tolist(), expected.col.tolist())}
    assert {tuple(edge) for edge in tree.edges.tolist()} == edges
    assert numpy.allclose(numpy.sort(expected.data), tree.weights, rtol=0, atol=4 * numpy.finfo(dtype).eps)
    assert tree.edges.shape == (299, 2) and tree.edges.dtype == numpy.int32 and len(tree) == 299
    assert tree.weights.dtype == tree.heights.dtype == dtype
    again = kith.Tree(points, box=box).mst(threads=1)
    assert (again.edges == tree.edges).all() and (again.heights == tree.heights).all()


def test_heights_are_linking_lengths():
    sparse = pytest.importorskip("scipy.sparse")
    points = POINTS.astype(numpy.float32)
    tree = kith.mst(points)
    for height in tree.heights[::50]:
        for length in (height, numpy.nextafter(height, numpy.float32(0))):
            near = tree.edges[tree.heights <= length]
            graph = sparse.coo_array((numpy.ones(len(near)), near.T), shape=(300, 300))
            components, labels = sparse.csgraph.connected_components(graph, directed=False)
            groups = kith.fof(points, length)
            assert len(set(zip(labels.tolist(), groups.tolist()))) == components == groups.max() + 1


def test_results_own_their_memory():
    edges = kith.mst(POINTS).edges
    expected = edges.copy()
    gc.collect()
    kith.mst(POINTS + 1)
    assert (edges == expected).all()
    edges[:] = 0


def test_few_points():
    for count in range(2):
        tree = kith.mst(POINTS[:count])
        assert tree.edges.shape == (0, 2) and tree.weights.shape == tree.heights.shape == (0,)
    assert kith.mst(POINTS[:2]).edges.tolist() == [[0, 1]]
    assert "of 1 edges" in repr(kith.mst(POINTS[:2]))


def test_is_heard_of_and_stopped():
    many = random.random((300_000, 3))
    heard = []
    kith.mst(many, progress=lambda *each: heard.append(each))
    assert heard[-1] == ("edges", 1)
    with pytest.raises(kith.Canceled, match="canceled during"):
        kith.mst(many, progress=lambda *_: False)


def test_units():
    u = pytest.importorskip("astropy.units")
    tree = kith.mst(POINTS * u.Mpc, box=1000 * u.kpc)
    plain = kith.mst(POINTS, box=1)
    assert tree.weights.unit == tree.heights.unit == u.Mpc
    assert (tree.weights.value == plain.weights).all() and (tree.edges == plain.edges).all()


def test_refuses_what_means_nothing():
    with pytest.raises(ValueError, match="n x d"):
        kith.mst(POINTS[0])
    with pytest.raises(ValueError, match="NaN"):
        kith.mst(POINTS + [0, numpy.nan, 0])
    with pytest.raises(ValueError, match="period"):
        kith.mst(POINTS, box=-1)
