"""kith.sklearn's neighbor estimators: results are scikit-learn's, by another search, and its estimator checks pass."""

import doctest
import pickle
import warnings

import numpy
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn IS NOT INSTALLED: kith.sklearn is not tested")

import sklearn.neighbors  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import EfficiencyWarning  # noqa: E402
from sklearn.neighbors import _base, _classification  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import kith.sklearn  # noqa: E402
from built import DIMENSIONS  # noqa: E402
from kith import _sklearn_neighbors  # noqa: E402

ESTIMATORS = ["NearestNeighbors", "KNeighborsClassifier", "KNeighborsRegressor", "RadiusNeighborsClassifier",
              "RadiusNeighborsRegressor", "KNeighborsTransformer", "RadiusNeighborsTransformer", "LocalOutlierFactor"]


def both(name, **parameters):
    return getattr(kith.sklearn, name)(**parameters), getattr(sklearn.neighbors, name)(**parameters)


@parametrize_with_checks([getattr(kith.sklearn, name)() for name in ESTIMATORS])
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EfficiencyWarning)
        check(estimator)


def points_of(columns, count=300, seed=11):
    """Queries and data whose distances all differ."""
    random = numpy.random.default_rng(seed)
    return random.normal(size=(40, columns)), random.normal(size=(count, columns))


def assert_same_rows(found, expected, atol=1e-15):
    """Rows of equal distances and indices, of both types of results, in one order."""
    assert len(found) == len(expected) and found.dtype == expected.dtype and found.shape == expected.shape
    for ours, theirs in zip(found, expected):
        assert ours.dtype == theirs.dtype
        if ours.dtype.kind == "f":
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=atol)
        else:
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("columns", [1, *DIMENSIONS])
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_neighbors_are_those_of_scikit_learn(columns, dtype):
    queries, points = (each.astype(dtype) for each in points_of(columns))
    for metric in ("minkowski", "euclidean", "l2", "sqeuclidean"):
        ours, theirs = (each.fit(points) for each in both("NearestNeighbors", radius=0.8, metric=metric))
        atol = 1e-14 if metric == "sqeuclidean" else 1e-15  # scikit-learn takes differences of squares
        for X in (queries, queries[:1], None):
            for k in (None, 1, 17):
                for found, expected in zip(ours.kneighbors(X, k), theirs.kneighbors(X, k)):
                    assert_same_rows(found, expected, atol)
            assert (ours.kneighbors(X, 3, return_distance=False) == ours.kneighbors(X, 3)[1]).all()
            for radius in (None, 0.3):
                expected = theirs.radius_neighbors(X, radius, sort_results=True)
                for found, rows in zip(ours.radius_neighbors(X, radius, sort_results=True), expected):
                    assert_same_rows(found, rows, atol)
                by_index = ours.radius_neighbors(X, radius, return_distance=False)
                assert [row.tolist() for row in by_index] == [sorted(row) for row in expected[1]]
            for mode in ("connectivity", "distance"):
                for graph in ("kneighbors_graph", "radius_neighbors_graph"):
                    found, expected = (getattr(each, graph)(X, mode=mode) for each in (ours, theirs))
                    assert type(found) is type(expected) and found.dtype == expected.dtype
                    numpy.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-14, atol=atol)


def test_a_radius_for_every_query():
    queries, points = points_of(3)
    radii = numpy.linspace(0, 1, len(queries))
    ours, theirs = (each.fit(points).radius_neighbors(queries, radii, sort_results=True) for each in both("NearestNeighbors"))
    for found, expected in zip(ours, theirs):
        assert_same_rows(found, expected)


def test_equal_distances_are_ordered_by_index():
    points = numpy.array([[1, 0], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]])
    fitted = kith.sklearn.NearestNeighbors(n_neighbors=3).fit(points)
    assert fitted.kneighbors(return_distance=False).tolist() == [
        [2, 3, 4], [2, 3, 4], [3, 4, 5], [2, 4, 5], [2, 3, 5], [2, 3, 4]]
    distances, indices = fitted.radius_neighbors([[0, 0]], 1, sort_results=True)
    assert distances[0].tolist() == [0, 0, 0, 0, 1, 1] and indices[0].tolist() == [2, 3, 4, 5, 0, 1]
    squares = kith.sklearn.NearestNeighbors(metric="sqeuclidean").fit([[0, 0, 0], [1, 1, 1], [1, 1, 2]])
    assert squares.kneighbors([[0, 0, 0]], 3)[0].tolist() == [[0, 3, 6]]
    assert squares.radius_neighbors([[0, 0, 0]], 3, return_distance=False)[0].tolist() == [0, 1]


@pytest.mark.parametrize("weights", ["uniform", "distance", None, lambda distances: 1 / (0.1 + distances)])
@pytest.mark.parametrize("columns", [1, DIMENSIONS[-1]])
def test_predictions_are_those_of_scikit_learn(weights, columns):
    queries, points = points_of(columns)
    random = numpy.random.default_rng(5)
    classes, outputs = random.choice(["a", "b", "c"], len(points)), random.integers(0, 3, (len(points), 2))
    radius = {"radius": 0.4 if columns == 1 else 3.0}
    for y in (classes, outputs):
        for name, how in (("KNeighborsClassifier", {"n_neighbors": 4}),
                          ("RadiusNeighborsClassifier", {"outlier_label": "most_frequent", **radius})):
            ours, theirs = (each.fit(points, y) for each in both(name, weights=weights, **how))
            for X in (queries, None):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # of outliers
                    found, expected = ours.predict(X), theirs.predict(X)
                    shares, expected_shares = ours.predict_proba(X), theirs.predict_proba(X)
                assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
                numpy.testing.assert_allclose(shares, expected_shares, rtol=1e-12)
            assert ours.score(queries, theirs.predict(queries)) == 1 if y is classes else True
    values = random.normal(size=(len(points), 2))
    for y in (values, values[:, 0]):
        for name, how in (("KNeighborsRegressor", {"n_neighbors": 4}), ("RadiusNeighborsRegressor", radius)):
            ours, theirs = (each.fit(points, y) for each in both(name, weights=weights, **how))
            for X in (queries, None):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    numpy.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("columns", [1, DIMENSIONS[0]])
def test_graphs_and_outliers_are_those_of_scikit_learn(columns):
    queries, points = points_of(columns)
    for name in ("KNeighborsTransformer", "RadiusNeighborsTransformer"):
        for mode in ("connectivity", "distance"):
            found, expected = (each.fit(points).transform(queries) for each in both(name, mode=mode))
            numpy.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-14, atol=1e-15)
    for graph, reach in (("kneighbors_graph", 4), ("radius_neighbors_graph", 0.5)):
        for how in ({}, {"mode": "distance"}, {"include_self": True}, {"include_self": "auto", "n_jobs": 2}):
            found, expected = (getattr(module, graph)(points, reach, **how) for module in (kith.sklearn, sklearn.neighbors))
            assert type(found) is type(expected)
            numpy.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-14, atol=1e-15)
        fitted = kith.sklearn.NearestNeighbors().fit(points)
        assert (getattr(kith.sklearn, graph)(fitted, reach) != getattr(kith.sklearn, graph)(points, reach)).nnz == 0
    for how in ({}, {"contamination": 0.1, "n_neighbors": 7}):
        ours, theirs = both("LocalOutlierFactor", **how)
        assert ours.fit_predict(points).tolist() == theirs.fit_predict(points).tolist()
        numpy.testing.assert_allclose(ours.negative_outlier_factor_, theirs.negative_outlier_factor_, rtol=1e-12)
        ours, theirs = (each.fit(points) for each in both("LocalOutlierFactor", novelty=True, **how))
        numpy.testing.assert_allclose(ours.score_samples(queries), theirs.score_samples(queries), rtol=1e-12)


def test_angles_on_the_sphere():
    """Columns are latitude and longitude in radians; angles are in radians, right where a cosine would lose them."""
    random = numpy.random.default_rng(4)
    places = numpy.column_stack((numpy.arcsin(random.uniform(-1, 1, 500)), random.uniform(-4, 4, 500)))
    queries = numpy.concatenate((places[:20] + 1e-9, places[20:40]))
    how = {"metric": "haversine", "algorithm": "ball_tree", "radius": 0.1}
    ours, theirs = (each.fit(places) for each in both("NearestNeighbors", **how))
    for X in (queries, None):
        (distances, indices), (expected, expected_indices) = ours.kneighbors(X), theirs.kneighbors(X)
        assert indices.tolist() == expected_indices.tolist()
        numpy.testing.assert_allclose(distances, expected, rtol=1e-14, atol=4e-16)
        found, rows = (each.radius_neighbors(X, sort_results=True) for each in (ours, theirs))
        assert [row.tolist() for row in found[1]] == [row.tolist() for row in rows[1]]
    everywhere = ours.radius_neighbors(queries, numpy.pi)
    assert {len(row) for row in everywhere[1]} == {500} and all(row.max() <= numpy.pi for row in everywhere[0])
    paris, tokyo = numpy.radians([48.857, 2.352]), numpy.radians([35.690, 139.692])
    (angle,), = kith.sklearn.NearestNeighbors(n_neighbors=1, metric="haversine").fit([paris]).kneighbors([tokyo])[0]
    assert abs(6371 * angle - 9711) < 2


@pytest.fixture
def no_search_of_scikit_learn(monkeypatch):
    """scikit-learn's trees, all pairs and votes over all pairs raise."""
    def refuse(*_, **__):
        raise AssertionError("scikit-learn's own search is used")

    for module in (_base, _classification):
        for name in ("KDTree", "BallTree"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, type(name, (), {"__init__": refuse}))
        for name in ("ArgKmin", "RadiusNeighbors", "ArgKminClassMode", "RadiusNeighborsClassMode"):
            if hasattr(module, name):
                monkeypatch.setattr(getattr(module, name), "compute", refuse)
    for name in ("pairwise_distances_chunked",):
        monkeypatch.setattr(_base, name, refuse)


@pytest.mark.parametrize("columns", [1, *DIMENSIONS])
def test_up_to_eight_columns_never_reach_scikit_learns_search(columns, no_search_of_scikit_learn):
    queries, points = points_of(columns)
    classes = numpy.arange(len(points)) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", EfficiencyWarning)
        for algorithm in ("auto", "brute", "kd_tree", "ball_tree"):
            for name in ESTIMATORS:
                estimator = getattr(kith.sklearn, name)(algorithm=algorithm)
                if hasattr(estimator, "radius") and estimator.radius is not None:
                    estimator.set_params(radius=20.0)
                if name == "LocalOutlierFactor":
                    estimator.set_params(novelty=True)
                estimator.fit(points, classes)
                for method in ("kneighbors", "radius_neighbors", "kneighbors_graph", "radius_neighbors_graph"):
                    if hasattr(estimator, method):
                        getattr(estimator, method)(queries)
                        getattr(estimator, method)()
                for method in ("predict", "predict_proba", "score_samples", "transform"):
                    if hasattr(estimator, method):
                        getattr(estimator, method)(queries)
        kith.sklearn.kneighbors_graph(points, 3)
        kith.sklearn.radius_neighbors_graph(points, 0.3)
    with pytest.raises(AssertionError, match="own search"):
        sklearn.neighbors.NearestNeighbors(algorithm="brute").fit(points).kneighbors()


@pytest.mark.parametrize("how, columns", [
    ({"metric": "manhattan"}, 3), ({"p": 1}, 3), ({"p": numpy.inf}, 3), ({"metric": "cosine"}, 3), ({}, 9),
    ({"metric": lambda a, b: abs(a - b).max()}, 3), ({"metric_params": {"w": numpy.arange(1.0, 4.0)}}, 3),
    ({"algorithm": "brute"}, 20),
])
def test_what_kith_cannot_do_is_handed_over(how, columns):
    queries, points = points_of(columns)
    ours, theirs = both("NearestNeighbors", radius=2.0, **how)
    with pytest.warns(EfficiencyWarning, match="scikit-learn's own search is used"):
        ours.fit(points)
    theirs.fit(points)
    for X in (queries, None):
        for found, expected in zip(ours.kneighbors(X), theirs.kneighbors(X)):
            assert_same_rows(found, expected)
        for found, expected in zip(ours.radius_neighbors(X), theirs.radius_neighbors(X)):
            assert_same_rows(found, expected)
    assert ours.fit(points[:, :2]) is ours if how in ({}, {"algorithm": "brute"}) else True  # and back again
    assert ours.get_params() == theirs.get_params()


def test_fitted_estimators_can_be_fitted_pickled_and_cloned():
    queries, points = points_of(DIMENSIONS[0])
    fitted = kith.sklearn.NearestNeighbors(n_neighbors=4).fit(points)
    expected = fitted.kneighbors(queries)
    again = kith.sklearn.NearestNeighbors(n_neighbors=4).fit(fitted)
    for other in (again, pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(points)):
        assert all((found == rows).all() for found, rows in zip(other.kneighbors(queries), expected))
    tree = sklearn.neighbors.KDTree(points)
    for theirs in (tree, sklearn.neighbors.NearestNeighbors().fit(points)):
        with pytest.warns(EfficiencyWarning):
            handed_over = kith.sklearn.NearestNeighbors(n_neighbors=4).fit(theirs)
        assert (handed_over.kneighbors(queries)[1] == expected[1]).all()
    with pytest.warns(EfficiencyWarning, match="X is sparse"):
        sparse = kith.sklearn.NearestNeighbors(n_neighbors=4).fit(sklearn.neighbors.kneighbors_graph(points, 3))
    assert sparse.kneighbors()[1].shape == (300, 4)


def test_errors_are_those_of_scikit_learn():
    queries, points = points_of(DIMENSIONS[0], 6)
    estimators = both("NearestNeighbors")
    for estimator in estimators:
        with pytest.raises(sklearn.exceptions.NotFittedError):
            estimator.kneighbors(queries)
        estimator.fit(points)
    calls = [("kneighbors", (queries, 7)), ("kneighbors", (None, 6)), ("kneighbors", (queries, 0)),
             ("kneighbors", (queries, -1)), ("kneighbors", (queries, 2.5)), ("kneighbors", (queries[:, :1], 2)),
             ("kneighbors", (queries[0], 2)), ("kneighbors", ([[numpy.nan] * DIMENSIONS[0]], 2)),
             ("radius_neighbors", (queries, 1.0, False, True)), ("radius_neighbors", (queries[:, :1], 1.0))]
    for method, arguments in calls:
        raised = []
        for estimator in estimators:
            with pytest.raises((TypeError, ValueError)) as error:
                getattr(estimator, method)(*arguments)
            raised.append(error)
        assert raised[0].type is raised[1].type and str(raised[0].value) == str(raised[1].value)
    for wrong in ({"n_neighbors": 0}, {"radius": -1}, {"metric": "no such"}, {"algorithm": "fast"},
                  {"metric": "sqeuclidean", "algorithm": "kd_tree"}, {"metric": "haversine", "algorithm": "kd_tree"}):
        for estimator in both("NearestNeighbors", **wrong):
            with pytest.raises(ValueError, match=next(iter(wrong)) if "algorithm" not in wrong else "algorithm|Metric"):
                estimator.fit(points)
    fitted = estimators[0]
    with pytest.raises(ValueError, match="radius|r is"):
        fitted.radius_neighbors(queries, -1.0)
    with pytest.raises(ValueError, match="dense"):
        fitted.kneighbors(sklearn.neighbors.kneighbors_graph(points, 2)[:, :DIMENSIONS[0]])
    with pytest.warns(EfficiencyWarning, match="haversine"):
        with pytest.raises(ValueError):
            kith.sklearn.NearestNeighbors(metric="haversine", algorithm="ball_tree").fit(points_of(3)[0])


def test_the_documentation():
    failed, tried = doctest.testmod(_sklearn_neighbors)
    assert failed == 0 and tried > 20
