"""Estimators of scikit-learn, answered by kith: change the import, keep the calls. Needs scikit-learn 1.6 or later.

>>> from kith.sklearn import DBSCAN, NearestNeighbors
>>> DBSCAN(eps=1.5, min_samples=2).fit_predict([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]])
array([ 0,  0, -1])
>>> NearestNeighbors(n_neighbors=1).fit([[0.0, 0.0], [1.0, 0.0]]).kneighbors([[0.75, 0.0]])
(array([[0.25]]), array([[1]]))

What is the same: parameters, attributes, types, errors, the labels of DBSCAN, element by element, and neighbors.
Distances are taken in float64, as scikit-learn does, and may differ from its own in the last bit, so that a point exactly
at a radius may be within reach for one and not for the other. What differs: neighbors that are equally far are ordered by
index, where scikit-learn has no order; and all cores are used unless `n_jobs` says otherwise.

The metrics of neighbors are "euclidean", "l2", "minkowski" with p = 2, "sqeuclidean", and "haversine", which as in
scikit-learn takes columns of latitude and longitude in radians, in this order, and returns angles in radians (right to
4e-16 near 0, to 3e-8 near antipodes). Other metrics, sparse input, more than 8 columns, sample weights of DBSCAN, and trees
that scikit-learn built go to scikit-learn's own search, with an `EfficiencyWarning`.

Labels of HDBSCAN agree up to their numbers where scikit-learn's own do not depend on the order of rows; other metrics, and
an `alpha` other than 1, are handed over.
"""

from kith._sklearn_dbscan import DBSCAN
from kith._sklearn_hdbscan import HDBSCAN, approximate_predict
from kith._sklearn_neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
    kneighbors_graph,
    radius_neighbors_graph,
)

__all__ = ["DBSCAN", "HDBSCAN", "KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer",
           "LocalOutlierFactor", "NearestNeighbors", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor",
           "RadiusNeighborsTransformer", "approximate_predict", "kneighbors_graph", "radius_neighbors_graph"]
