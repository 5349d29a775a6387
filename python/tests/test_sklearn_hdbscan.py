"""kith.sklearn.HDBSCAN: heights and clusters are scikit-learn's, and the estimator passes scikit-learn's own checks."""

import doctest
import pickle
import warnings

import numpy
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn IS NOT INSTALLED: kith.sklearn is not tested")

import sklearn.cluster  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.exceptions import EfficiencyWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import kith._sklearn_hdbscan  # noqa: E402
from built import DIMENSIONS  # noqa: E402
from kith.sklearn import HDBSCAN, approximate_predict  # noqa: E402

PROBLEMS = 60


@parametrize_with_checks([HDBSCAN(copy=True)])
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EfficiencyWarning)
        check(estimator)


def problem(random):
    """Points and options: blobs of any width, even fields, and both. Not epsilon, with which scikit-learn 1.9 and NumPy 2
    may fail."""
    dimension, count = int(random.choice([1, *DIMENSIONS])), int(random.integers(30, 160))
    widths = random.uniform(0.2, 2.0, 4)
    points = make_blobs(count, dimension, centers=random.uniform(-8, 8, (4, dimension)), cluster_std=widths,
                        random_state=int(random.integers(1 << 30)))[0]
    even = random.random(count) < random.choice([0, 0.3, 1])
    points[even] = random.uniform(-10, 10, (even.sum(), dimension))
    options = {"min_cluster_size": int(random.integers(2, 12)), "min_samples": random.choice([None, 1, 3, 8]),
               "cluster_selection_method": str(random.choice(["eom", "leaf"])),
               "allow_single_cluster": bool(random.random() < 0.2),
               "max_cluster_size": None if random.random() < 0.7 else int(random.integers(20, 60))}
    return points, options


def compare(count, seed):
    """Adjusted Rand indices to scikit-learn's labels, and whether these survive permutations of the rows."""
    random = numpy.random.default_rng(seed)
    indices, survive = [], []
    for _ in range(count):
        points, options = problem(random)
        theirs = sklearn.cluster.HDBSCAN(copy=True, **options).fit(points)
        ours = HDBSCAN(copy=True, **options).fit(points)
        heights = numpy.sort(theirs._single_linkage_tree_["value"])
        assert ours._single_linkage_tree_["value"] == pytest.approx(heights, rel=1e-12)
        indices.append(adjusted_rand_score(theirs.labels_, ours.labels_))
        orders = [random.permutation(len(points)) for _ in range(5)]
        survive.append(all(adjusted_rand_score(
            theirs.labels_[order], sklearn.cluster.HDBSCAN(copy=True, **options).fit_predict(points[order])) == 1
            for order in orders))
        if indices[-1] == 1 and survive[-1] and (ours.labels_ >= 0).any():
            strong = theirs.probabilities_ == 1
            assert ours.probabilities_[strong].min() > 0
    return numpy.array(indices), numpy.array(survive)


def test_labels_are_those_of_scikit_learn_where_these_are_stable():
    indices, survive = compare(PROBLEMS, 31)
    assert survive.sum() > PROBLEMS / 5
    assert (indices[survive] == 1).mean() > 0.9  # some that survive five permutations do not survive sixty
    assert numpy.median(indices) > 0.99


def test_cuts_and_centers():
    points = make_blobs(150, 3, random_state=4)[0]
    options = {"min_cluster_size": 8, "store_centers": "both", "copy": True}
    ours, theirs = HDBSCAN(**options).fit(points), sklearn.cluster.HDBSCAN(**options).fit(points)
    assert (ours.labels_ >= 0).any()
    for cut in (0.5, 1.0, 2.0):
        assert adjusted_rand_score(ours.dbscan_clustering(cut), theirs.dbscan_clustering(cut)) == 1
    order = numpy.lexsort(ours.centroids_.T), numpy.lexsort(theirs.centroids_.T)
    assert ours.centroids_[order[0]] == pytest.approx(theirs.centroids_[order[1]], rel=1e-6)
    assert ours.medoids_.shape == theirs.medoids_.shape
    assert (pickle.loads(pickle.dumps(ours)).labels_ == ours.labels_).all()


@pytest.mark.parametrize("dimension", [1, DIMENSIONS[0]])
def test_new_points_join_clusters(dimension):
    points = make_blobs(200, dimension, cluster_std=0.7, random_state=8)[0]
    new = numpy.random.default_rng(8).uniform(points.min(), points.max(), (60, dimension))
    given = numpy.concatenate((points, [[numpy.inf] * dimension]))
    clusterer = HDBSCAN(min_cluster_size=10, min_samples=4, copy=True).fit(given)
    given[:] = 7  # the clusters keep their points
    labels, probabilities = approximate_predict(pickle.loads(pickle.dumps(clusterer)), new)
    assert labels.dtype == numpy.int64 and (labels >= 0).any() and ((probabilities > 0) == (labels >= 0)).all()
    distances = numpy.sqrt(((new[:, None] - points) ** 2).sum(axis=2))
    core = numpy.sort(numpy.sqrt(((points[:, None] - points) ** 2).sum(axis=2)), axis=1)[:, 3]
    reachable = numpy.maximum(numpy.maximum(distances, numpy.sort(distances, axis=1)[:, 2:3]), core)
    for label, row in zip(labels, reachable):
        nearest = clusterer.labels_[:-1][row <= row.min() * (1 + 1e-12)]
        assert label < 0 or label in nearest or (nearest < 0).any()


def test_predictions_need_clusters_of_kith():
    points = make_blobs(60, 3, random_state=6)[0]
    with pytest.raises(sklearn.exceptions.NotFittedError):
        approximate_predict(HDBSCAN(copy=True), points)
    with pytest.warns(EfficiencyWarning):
        clusterer = HDBSCAN(copy=True, alpha=1.5).fit(points)
    with pytest.raises(ValueError, match="whose clusters are not kith's"):
        approximate_predict(clusterer, points)
    with pytest.raises(ValueError, match="features"):
        approximate_predict(HDBSCAN(copy=True).fit(points), points[:, :2])


def test_points_that_are_not_finite_are_labeled_as_scikit_learn_does():
    points = make_blobs(60, 2, random_state=5)[0]
    points[3, 0], points[20, 1], points[40] = numpy.inf, numpy.nan, (numpy.inf, numpy.nan)
    ours = HDBSCAN(copy=True).fit(points)
    theirs = sklearn.cluster.HDBSCAN(copy=True).fit(points)
    assert ours.labels_[[3, 20, 40]].tolist() == theirs.labels_[[3, 20, 40]].tolist() == [-2, -3, -3]
    assert numpy.array_equal(ours.probabilities_[[3, 20, 40]], theirs.probabilities_[[3, 20, 40]], equal_nan=True)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert ours.dbscan_clustering(1.0)[[3, 20, 40]].tolist() == [-2, -3, -3]
    assert adjusted_rand_score(ours.dbscan_clustering(1.0), theirs.dbscan_clustering(1.0)) == 1


def test_centers_are_those_of_the_finite_points():
    points = make_blobs(150, 3, random_state=4)[0]
    given = numpy.insert(points, [0, 40, 150], [[numpy.inf] * 3, [numpy.nan] * 3, [0, -numpy.inf, numpy.nan]], axis=0)
    options = {"min_cluster_size": 8, "store_centers": "both", "copy": True}
    expected, found = HDBSCAN(**options).fit(points), HDBSCAN(**options).fit(given)
    assert len(expected.centroids_) > 1 and found.labels_[[0, 41, 152]].tolist() == [-2, -3, -3]
    assert found.centroids_.tolist() == expected.centroids_.tolist() and found.medoids_.tolist() == expected.medoids_.tolist()


@pytest.mark.parametrize("how", [{"metric": "manhattan"}, {"alpha": 1.5}, {"metric": "minkowski", "metric_params": {"p": 3}}])
def test_what_kith_cannot_do_is_handed_over(how):
    points = make_blobs(60, 3, random_state=6)[0]
    with pytest.warns(EfficiencyWarning, match="scikit-learn's own"):
        found = HDBSCAN(copy=True, **how).fit(points)
    assert (found.labels_ == sklearn.cluster.HDBSCAN(copy=True, **how).fit(points).labels_).all()


def test_few_points_are_refused_as_by_scikit_learn():
    for count, says in ((1, "1"), (3, "min_samples")):
        with pytest.raises(ValueError, match=says):
            HDBSCAN(copy=True).fit(numpy.zeros((count, 2)))


def test_examples():
    assert doctest.testmod(kith._sklearn_hdbscan).failed == 0
