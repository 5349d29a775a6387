"""HDBSCAN*: shapes, types, cuts, the condensed tree and pictures; the answers are the C++ tests' affair."""

import copy
import pickle

import numpy
import pytest

import kith

random = numpy.random.default_rng(29)
POINTS = numpy.concatenate((random.normal((0, 0, 0), 0.1, (200, 3)), random.normal((2, 0, 0), 0.3, (200, 3)),
                            random.uniform(-3, 3, (100, 3))))
FOUND = kith.hdbscan(POINTS, 20, min_samples=6)


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("engine", ["tree", "brute"])
def test_shapes_types_and_engines(dtype, engine):
    found = kith.hdbscan(POINTS.astype(dtype), 20, min_samples=6, engine=engine, threads=2)
    assert len(found) == 500 and found.engine == engine and found.min_samples == 6
    assert found.labels.dtype == numpy.int32 and found.labels.shape == (500,)
    assert found.edges.dtype == numpy.int32 and found.edges.shape == (499, 2)
    assert found.core_distances.dtype == found.heights.dtype == dtype
    assert found.probabilities.dtype == found.outlier_scores.dtype == numpy.float64
    assert found.sizes.tolist() == numpy.bincount(found.labels + 1)[1:].tolist()
    assert repr(found) == f"<kith.HdbscanResult of 500 points: {len(found.sizes)} clusters, " \
                          f"{(found.labels < 0).sum()} noise points>"
    if dtype == numpy.float64:
        assert (found.labels == FOUND.labels).all()


def test_two_clumps_are_found():
    assert len(FOUND.sizes) == 2
    assert (FOUND.labels[:200] == 0).mean() > 0.9 and (FOUND.labels[200:400] == 1).mean() > 0.7
    assert (FOUND.labels[400:] < 0).mean() > 0.6
    assert ((FOUND.probabilities > 0) == (FOUND.labels >= 0)).all()
    assert FOUND.outlier_scores[400:].mean() > 2 * FOUND.outlier_scores[:200].mean()


@pytest.mark.parametrize("eps", [0, 0.05, 0.1, 0.3, 1.0])
def test_cuts_are_dbscan_star(eps):
    assert (FOUND.cut(eps) == kith.dbscan(POINTS, eps, 6, star=True)).all()


def test_linkage_is_scipys():
    from scipy.cluster.hierarchy import fcluster, is_valid_linkage
    assert is_valid_linkage(FOUND.linkage)
    assert (FOUND.linkage[:, 2] == FOUND.heights).all()
    flat = fcluster(FOUND.linkage, 0.3, "distance")
    cut = FOUND.cut(0.3)
    assert len(set(zip(flat[cut >= 0], cut[cut >= 0]))) == cut.max() + 1


def test_condensed_tree():
    tree = FOUND.condensed_tree
    clusters, rows = tree.clusters, tree.rows()
    assert clusters["size"][0] == 500 and clusters["parent"][0] == -1
    assert (clusters["parent"][1:] < numpy.arange(1, len(tree))).all()
    assert sorted(clusters["label"][clusters["label"] >= 0]) == list(range(len(FOUND.sizes)))
    below = rows[rows["child"] >= 500]
    assert (below["child_size"] == clusters["size"][1:]).all()
    births = numpy.concatenate(([0.0], below["lambda_val"]))
    stability = numpy.zeros(len(tree))
    numpy.add.at(stability, rows["parent"] - 500, (rows["lambda_val"] - births[rows["parent"] - 500]) * rows["child_size"])
    assert stability == pytest.approx(clusters["stability"], rel=1e-12)


def test_trees_and_options():
    tree = kith.Tree(POINTS)
    assert (tree.hdbscan(20, min_samples=6).labels == FOUND.labels).all()
    leaves = kith.hdbscan(POINTS, 20, min_samples=6, cluster_selection_method="leaf")
    assert len(leaves.sizes) >= len(FOUND.sizes)
    one = kith.hdbscan(POINTS, 20, min_samples=6, cluster_selection_epsilon=10, allow_single_cluster=True)
    assert one.labels.tolist() == [0] * 500
    assert kith.hdbscan(POINTS, 20, max_cluster_size=30).sizes.max(initial=0) <= 30
    with pytest.raises(ValueError, match="max_cluster_size is 30, but limits only the clusters that 'eom' selects"):
        kith.hdbscan(POINTS, 20, max_cluster_size=30, cluster_selection_method="leaf")
    with pytest.raises(ValueError, match="max_cluster_size is 19, less than min_cluster_size, 20, so that no cluster"):
        kith.hdbscan(POINTS, 20, max_cluster_size=19)
    few = kith.hdbscan([[0, 0], [0, 1], [1, 0]], 4, min_samples=2, max_cluster_size=3, allow_single_cluster=True)
    assert few.labels.tolist() == [0, 0, 0]  # all points, fewer than min_cluster_size
    with pytest.warns(UserWarning, match="min_samples is 4, but there are 3 points: no core point is possible") as caught:
        assert kith.hdbscan(POINTS[:3], 2, min_samples=4).labels.tolist() == [-1, -1, -1]
    assert caught[0].filename == __file__
    for given in ({}, {"min_samples": 1}):
        with pytest.warns(UserWarning, match="min_cluster_size is 4, but there are 3 points: no cluster is possible"):
            assert kith.hdbscan(POINTS[:3], 4, **given).labels.tolist() == [-1, -1, -1]
    assert len(kith.hdbscan(POINTS[:0], 2)) == 0


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_new_points(dtype):
    points = POINTS.astype(dtype)
    found = kith.hdbscan(points, 20, min_samples=6)
    new = random.uniform(-3, 3, (200, 3)) * [1, 0.3, 0.3]
    predicted = kith.approximate_predict(found, points, new, threads=2)
    assert predicted.labels.dtype == predicted.neighbors.dtype == numpy.int32
    assert predicted.distances.dtype == dtype and predicted.probabilities.dtype == numpy.float64
    distances = numpy.sqrt(((new.astype(dtype)[:, None].astype(float) - points.astype(float)) ** 2).sum(axis=2))
    core = numpy.sort(distances, axis=1)[:, 4]  # the new point is the sixth
    reachable = numpy.maximum(numpy.maximum(distances, core[:, None]), found.core_distances)
    assert predicted.distances == pytest.approx(reachable.min(axis=1), rel=1e-5)
    joined = predicted.labels >= 0
    of_neighbors = found.labels[predicted.neighbors[joined]]
    assert joined.sum() > 20 and ((of_neighbors == predicted.labels[joined]) | (of_neighbors < 0)).all()
    of_tree = kith.approximate_predict(found, kith.Tree(points), new)
    for one, other in zip(predicted, of_tree):
        assert (one == other).all()


def test_new_points_of_other_clusters_are_refused():
    with pytest.raises(ValueError, match="those of 500.*pass the points that were clustered"):
        kith.approximate_predict(FOUND, POINTS[:-1], POINTS)
    with pytest.raises(ValueError, match="box of the tree"):
        kith.approximate_predict(FOUND, kith.Tree(POINTS, box=6.0), POINTS)
    units = pytest.importorskip("astropy.units")
    with pytest.raises(ValueError, match="points carry pc, but were clustered with none"):
        kith.approximate_predict(FOUND, POINTS * units.pc, POINTS * units.pc)


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("count", [500, 1, 0])
def test_results_are_copied_and_pickled(dtype, count):
    points = POINTS[:count].astype(dtype)
    found = kith.hdbscan(points, 20, min_samples=6, box=6.0)
    for clone in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert repr(clone) == repr(found) and clone.box == found.box and clone.engine == found.engine
        for name in ("labels", "probabilities", "outlier_scores", "sizes", "core_distances", "heights", "edges"):
            assert getattr(clone, name).dtype == getattr(found, name).dtype
            assert (getattr(clone, name) == getattr(found, name)).all()
        assert (clone.condensed_tree.clusters == found.condensed_tree.clusters).all()
        assert (clone.condensed_tree.rows() == found.condensed_tree.rows()).all()
        assert (clone.cut(0.3) == found.cut(0.3)).all() and (clone.linkage == found.linkage).all()
        for one, other in zip(*(kith.approximate_predict(each, points, POINTS) for each in (clone, found))):
            assert (one == other).all()


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    from kith._condensed_plot import Icicles
    coincident = numpy.concatenate((POINTS, numpy.zeros((30, 3))))
    for points in (POINTS, coincident, POINTS[:4]):
        tree = kith.hdbscan(points, 20, min_samples=6).condensed_tree
        icicles = Icicles(tree)
        for cluster in range(len(tree)):
            x, y = icicles.outline(cluster).T
            assert numpy.isfinite(y).all() and y.max() <= icicles.densest
            assert x.min() >= icicles.lower[cluster] and x.max() <= icicles.upper[cluster]
            assert numpy.ptp(x) == tree.clusters["size"][cluster]
        axes = kith.plot.condensed_tree(tree, title="clusters")
        axes.figure.canvas.draw()
        assert axes.get_title() == "clusters" and axes.get_ylim()[0] == icicles.densest
    pyplot.close("all")
