"""kith.sklearn: the labels are scikit-learn's, and the estimator passes scikit-learn's own checks."""

import doctest
import warnings

import numpy
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn IS NOT INSTALLED: kith.sklearn is not tested")

import sklearn.cluster  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.exceptions import EfficiencyWarning  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import kith.sklearn  # noqa: E402
from built import DIMENSIONS  # noqa: E402
from kith import _sklearn_dbscan  # noqa: E402
from kith.sklearn import DBSCAN  # noqa: E402


@parametrize_with_checks([DBSCAN()])
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EfficiencyWarning)
        check(estimator)


def problem(random):
    """Points, eps and min_samples: blobs, even fields, lattices with many equal distances and coincident points."""
    dimension = int(random.choice([1, *DIMENSIONS]))
    count = int(random.integers(1, 400))
    kind = random.integers(4)
    if kind == 0:
        points = make_blobs(count, dimension, random_state=int(random.integers(1 << 30)))[0]
    elif kind == 1:
        points = random.random((count, dimension))
    else:
        points = random.integers(0, 2 + int(60 ** (1 / dimension)), (count, dimension)).astype(float) / 4
    if kind < 2:
        eps = random.uniform(0.1, 1.2) * points.std() * (20 / count) ** (1 / dimension) + 1e-6
    else:
        eps = random.choice([0.25, 0.26, 0.36, 0.5, 0.75])
    return points.astype(random.choice([numpy.float32, numpy.float64])), float(eps), int(random.integers(1, 12))


def test_labels_are_those_of_scikit_learn():
    random = numpy.random.default_rng(23)
    found = {"clusters": 0, "noise": 0, "border": 0}
    for _ in range(100):
        points, eps, min_samples = problem(random)
        expected = sklearn.cluster.DBSCAN(eps=eps, min_samples=min_samples).fit(points)
        ours = DBSCAN(eps=eps, min_samples=min_samples).fit(points)
        assert ours.labels_.tolist() == expected.labels_.tolist()
        assert ours.labels_.dtype == expected.labels_.dtype
        assert ours.core_sample_indices_.tolist() == expected.core_sample_indices_.tolist()
        assert ours.core_sample_indices_.dtype == expected.core_sample_indices_.dtype
        assert ours.components_.dtype == points.dtype
        assert ours.components_.tolist() == expected.components_.tolist()
        assert ours.n_features_in_ == points.shape[1]
        if points.shape[1] > 1 and points.dtype == numpy.float64:
            assert kith.dbscan(points, eps, min_samples).tolist() == expected.labels_.tolist()
        found["clusters"] += len(set(ours.labels_) - {-1})
        found["noise"] += int((ours.labels_ < 0).sum())
        found["border"] += int((ours.labels_ >= 0).sum()) - len(ours.core_sample_indices_)
    assert min(found.values()) > 100  # the problems are not trivial


@pytest.mark.parametrize("how, fit", [
    ({"metric": "manhattan"}, {}), ({}, {"sample_weight": numpy.arange(60) % 3}),
    ({"metric": "minkowski", "p": 3}, {}), ({"metric": lambda a, b: abs(a - b).max()}, {}),
])
def test_what_kith_cannot_do_is_handed_over(how, fit):
    points = numpy.random.default_rng(5).random((60, 3))
    how = {"eps": 0.2, "min_samples": 4, **how}
    with pytest.warns(EfficiencyWarning, match="scikit-learn's own"):
        found = DBSCAN(**how).fit(points, **fit)
    assert (found.labels_ == sklearn.cluster.DBSCAN(**how).fit(points, **fit).labels_).all()


@pytest.mark.parametrize("dimension", [1, DIMENSIONS[0], 9])
def test_only_many_dimensions_are_handed_over(dimension):
    points = numpy.random.default_rng(6).random((50, dimension))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = DBSCAN(eps=0.2, min_samples=3, metric="minkowski", p=2, n_jobs=2).fit_predict(points)
    assert [warning.category for warning in caught] == [EfficiencyWarning] * (dimension > 8)
    assert (found == sklearn.cluster.DBSCAN(eps=0.2, min_samples=3).fit_predict(points)).all()


def test_parameters_are_checked_as_by_scikit_learn():
    for wrong in ({"eps": 0}, {"min_samples": 0}, {"metric": "no such"}, {"algorithm": "fast"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            DBSCAN(**wrong).fit([[0.0, 0.0]])
    assert clone(DBSCAN(eps=0.25)).get_params() == sklearn.cluster.DBSCAN(eps=0.25).get_params()
    assert kith.sklearn is not sklearn


def test_the_documentation():
    for module, fewest in ((kith.sklearn, 3), (_sklearn_dbscan, 3)):
        failed, tried = doctest.testmod(module)
        assert failed == 0 and tried >= fewest
