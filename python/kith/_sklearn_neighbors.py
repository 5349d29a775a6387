"""scikit-learn's neighbor estimators with the searches of `kith._sklearn_search`.

Each is scikit-learn's class with another search: constructor, parameters, attributes and all methods but the two that search
are inherited. Votes for classes are counted here, too, because scikit-learn's loop over rows takes longer than the search.
"""

from __future__ import annotations

import numpy
import sklearn.neighbors

from kith._sklearn_search import KNeighborSearch, RadiusSearch


class NearestNeighbors(KNeighborSearch, RadiusSearch, sklearn.neighbors.NearestNeighbors):
    """Nearest neighbors and neighbors within a radius. Parameters and attributes are those of
    `sklearn.neighbors.NearestNeighbors`.

    Examples
    --------
    >>> from kith.sklearn import NearestNeighbors
    >>> fitted = NearestNeighbors(n_neighbors=2, radius=1).fit([[0, 0], [0, 1], [3, 0]])
    >>> distances, indices = fitted.kneighbors([[0, 0]])
    >>> distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 1]])
    >>> [row.tolist() for row in fitted.radius_neighbors(return_distance=False)]
    [[1], [0], []]
    """


class KNeighborsClassifier(KNeighborSearch, sklearn.neighbors.KNeighborsClassifier):
    """Classes by a vote of the nearest neighbors. Parameters and attributes are those of
    `sklearn.neighbors.KNeighborsClassifier`.

    Examples
    --------
    >>> from kith.sklearn import KNeighborsClassifier
    >>> KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.1]]).tolist()
    [0]
    """

    def predict(self, X):
        """The class of every row of X, of each output; with None those of the fitted points, which have no vote of their
        own. Of classes with as many votes, the first."""
        if self.weights not in ("uniform", None) or self._is_handed_over():
            return super().predict(X)
        votes = self.predict_proba(X)  # shares of n_neighbors: they are equal where the numbers of votes are
        if not self.outputs_2d_:
            return self.classes_[votes.argmax(axis=1)]
        return numpy.stack([classes[each.argmax(axis=1)] for classes, each in zip(self.classes_, votes)], axis=1)


class KNeighborsRegressor(KNeighborSearch, sklearn.neighbors.KNeighborsRegressor):
    """Means of the nearest neighbors' values. Parameters and attributes are those of
    `sklearn.neighbors.KNeighborsRegressor`.

    Examples
    --------
    >>> from kith.sklearn import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]]).tolist()
    [0.5]
    """


class RadiusNeighborsClassifier(RadiusSearch, sklearn.neighbors.RadiusNeighborsClassifier):
    """Classes by a vote of the neighbors within a radius. Parameters and attributes are those of
    `sklearn.neighbors.RadiusNeighborsClassifier`.

    Examples
    --------
    >>> from kith.sklearn import RadiusNeighborsClassifier
    >>> RadiusNeighborsClassifier(radius=1).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[0.9]]).tolist()
    [0]
    """


class RadiusNeighborsRegressor(RadiusSearch, sklearn.neighbors.RadiusNeighborsRegressor):
    """Means of the values of the neighbors within a radius. Parameters and attributes are those of
    `sklearn.neighbors.RadiusNeighborsRegressor`.

    Examples
    --------
    >>> from kith.sklearn import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(radius=1).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]]).tolist()
    [0.5]
    """


class KNeighborsTransformer(KNeighborSearch, sklearn.neighbors.KNeighborsTransformer):
    """Data to the sparse graph of their nearest neighbors. Parameters and attributes are those of
    `sklearn.neighbors.KNeighborsTransformer`.

    Examples
    --------
    >>> from kith.sklearn import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0], [1], [3]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """


class RadiusNeighborsTransformer(RadiusSearch, sklearn.neighbors.RadiusNeighborsTransformer):
    """Data to the sparse graph of their neighbors within a radius. Parameters and attributes are those of
    `sklearn.neighbors.RadiusNeighborsTransformer`.

    Examples
    --------
    >>> from kith.sklearn import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=1).fit_transform([[0], [1], [3]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """


class LocalOutlierFactor(KNeighborSearch, sklearn.neighbors.LocalOutlierFactor):
    """Outliers, where points are less dense than around their neighbors. Parameters and attributes are those of
    `sklearn.neighbors.LocalOutlierFactor`.

    Examples
    --------
    >>> from kith.sklearn import LocalOutlierFactor
    >>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]]).tolist()
    [1, 1, -1, 1]
    """


def kneighbors_graph(X, n_neighbors, *, mode="connectivity", metric="minkowski", p=2, metric_params=None,
                     include_self=False, n_jobs=None):
    """The sparse graph of the nearest neighbors of every row of X. Parameters and result are those of
    `sklearn.neighbors.kneighbors_graph`.

    Examples
    --------
    >>> from kith.sklearn import kneighbors_graph
    >>> kneighbors_graph([[0], [1], [3]], 1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if not hasattr(X, "kneighbors"):
        X = NearestNeighbors(n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs).fit(X)
    return sklearn.neighbors.kneighbors_graph(X, n_neighbors, mode=mode, metric=metric, p=p, metric_params=metric_params,
                                              include_self=include_self, n_jobs=n_jobs)


def radius_neighbors_graph(X, radius, *, mode="connectivity", metric="minkowski", p=2, metric_params=None,
                           include_self=False, n_jobs=None):
    """The sparse graph of the neighbors within a radius of every row of X. Parameters and result are those of
    `sklearn.neighbors.radius_neighbors_graph`.

    Examples
    --------
    >>> from kith.sklearn import radius_neighbors_graph
    >>> radius_neighbors_graph([[0], [1], [3]], 1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if not hasattr(X, "radius_neighbors"):
        X = NearestNeighbors(radius=radius, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs).fit(X)
    return sklearn.neighbors.radius_neighbors_graph(X, radius, mode=mode, metric=metric, p=p, metric_params=metric_params,
                                                    include_self=include_self, n_jobs=n_jobs)
