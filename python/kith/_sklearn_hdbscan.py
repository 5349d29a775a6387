"""`sklearn.cluster.HDBSCAN`, answered by kith."""

import numpy
import sklearn.cluster
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from kith import _hdbscan, _units
from kith._sklearn_search import threads_of, warn_of_handing_over

_INFINITE, _MISSING = -2, -3  # labels of scikit-learn
_MERGES = numpy.dtype([("left_node", numpy.int64), ("right_node", numpy.int64), ("value", numpy.float64),
                       ("cluster_size", numpy.int64)])  # scikit-learn's, for dbscan_clustering


class HDBSCAN(sklearn.cluster.HDBSCAN):
    """Clusters of different densities, by kith. Parameters and attributes are those of `sklearn.cluster.HDBSCAN`.

    Clusters are numbered by their smallest member, where scikit-learn numbers them in the order of its tree; equal
    distances are ordered by the rows of the points, where scikit-learn has no order.

    Parameters
    ----------
    min_cluster_size, min_samples, cluster_selection_epsilon, max_cluster_size, cluster_selection_method, \
allow_single_cluster, store_centers
        As scikit-learn's, and as those of `kith.hdbscan`; `max_cluster_size` is ignored with "leaf", and else refused if it
        is less than `min_cluster_size`, unless `allow_single_cluster`.
    metric, metric_params, alpha
        Others than "euclidean", "l2", and "minkowski" with {"p": 2}, and an alpha other than 1, are handed over to
        scikit-learn, with an `EfficiencyWarning`; so are sparse input and points of more than 8 dimensions.
    algorithm, leaf_size, copy
        As scikit-learn's; kith's answer does not depend on them.
    n_jobs : int, optional
        Threads; by default, and with -1, all cores.

    Attributes
    ----------
    labels_ : array of int, shape (n,)
        Cluster of each point; -1 for noise, -2 for points with infinite coordinates, -3 for those with NaN.
    probabilities_ : array of float64, shape (n,)
    outlier_scores_ : array of float64, shape (n,)
        GLOSH; NaN for points that are not finite. scikit-learn has none.
    centroids_, medoids_ : array, shape (clusters, d)
        If `store_centers` asks for them; of the points that are finite, where scikit-learn fails if others are given.
    n_features_in_ : int

    Notes
    -----
    scikit-learn's estimator does not predict; `kith.sklearn.approximate_predict` does, as that of the package hdbscan.

    Examples
    --------
    >>> from kith.sklearn import HDBSCAN
    >>> HDBSCAN(min_cluster_size=2, copy=True).fit_predict([[0, 0], [0, 1], [9, 9], [9, 8], [30, 5]]).tolist()
    [0, 0, 1, 1, -1]
    """

    def fit(self, X, y=None):
        """Finds the clusters of X, shape (n, d). Returns the estimator."""
        X = _units.plain(X, "X")
        self._validate_params()
        reason = self._reason_to_hand_over(X)
        if reason is None:
            points = validate_data(self, X, ensure_all_finite=False, dtype=numpy.float64, ensure_min_samples=2)
            finite = numpy.isfinite(points).all(axis=1)
            try:
                found = self._find(points[finite])
            except NotImplementedError as error:  # for these dimensions
                reason = str(error).partition(";")[0]
        if reason is not None:
            warn_of_handing_over(reason, "scikit-learn's own HDBSCAN")
            for name in ("outlier_scores_", "_found"):  # which scikit-learn has not
                vars(self).pop(name, None)
            return super().fit(X, y)
        self._metric_params = self.metric_params or {}
        self._raw_data = points.copy() if points is X or points.base is not None else points  # predictions read it
        self._found = found
        labels = numpy.where(numpy.isnan(points).any(axis=1), _MISSING, _INFINITE)
        labels[finite] = found.labels
        if self.store_centers:  # of the finite points alone, whose labels and probabilities are read
            self.labels_, self.probabilities_ = found.labels, found.probabilities
            self._weighted_cluster_center(points[finite])
        self.labels_ = labels.astype(numpy.int64)
        self.probabilities_ = numpy.where(labels == _MISSING, numpy.nan, 0.0)
        self.probabilities_[finite] = found.probabilities
        self.outlier_scores_ = numpy.full(len(points), numpy.nan)
        self.outlier_scores_[finite] = found.outlier_scores
        self._single_linkage_tree_ = _merges(found.linkage, numpy.flatnonzero(finite), len(points))
        return self

    def _find(self, points):
        """The clusters of points that are finite."""
        self._min_samples = self.min_cluster_size if self.min_samples is None else self.min_samples
        if len(points) == 1:
            raise ValueError("n_samples=1 while HDBSCAN requires more than one sample")
        if self._min_samples > len(points):
            raise ValueError(f"min_samples ({self._min_samples}) must be at most the number of samples in X "
                             f"({len(points)})")
        points = _in_plane(points)
        return _hdbscan.hdbscan(points, self.min_cluster_size, min_samples=self._min_samples,
                       cluster_selection_method=self.cluster_selection_method,
                       cluster_selection_epsilon=self.cluster_selection_epsilon,
                       max_cluster_size=self.max_cluster_size if self.cluster_selection_method == "eom" else None,
                       allow_single_cluster=bool(self.allow_single_cluster),
                       threads=threads_of(self.n_jobs))

    def _reason_to_hand_over(self, X):
        if issparse(X):
            return "X is sparse"
        is_euclidean = (self.metric in ("euclidean", "l2") and not self.metric_params
                        or self.metric == "minkowski" and self.metric_params == {"p": 2})
        if not is_euclidean:
            return f"the metric is {self.metric!r}" + (f" with {self.metric_params}" if self.metric_params else "")
        return f"alpha is {self.alpha}" if self.alpha != 1 else None


def approximate_predict(clusterer, X):
    """Labels and probabilities of new points, as `hdbscan.approximate_predict` of the package hdbscan returns them.

    Parameters
    ----------
    clusterer : kith.sklearn.HDBSCAN
        Fitted. The metric is euclidean: other clusters are those of scikit-learn, which has no prediction.
    X : array_like, shape (m, d)
        Finite.

    Returns
    -------
    labels : array of int, shape (m,)
        Cluster that each point would join, -1 for noise.
    probabilities : array of float64, shape (m,)

    Notes
    -----
    See `kith.approximate_predict`. That package looks for the nearest point by mutual reachability distance among
    2 `min_samples` candidates; here it is the nearest of all, ties by distance, then row.

    Examples
    --------
    >>> from kith.sklearn import HDBSCAN, approximate_predict
    >>> clusterer = HDBSCAN(min_cluster_size=2, copy=True).fit([[0, 0], [0, 1], [9, 9], [9, 8], [30, 5]])
    >>> approximate_predict(clusterer, [[0, 0.5], [20, 0]])[0].tolist()
    [0, -1]
    """
    check_is_fitted(clusterer)
    if not hasattr(clusterer, "_found"):
        raise ValueError(f"clusterer is {clusterer!r}, whose clusters are not kith's; fit kith.sklearn.HDBSCAN with the "
                         "euclidean metric, alpha=1, and points of 8 dimensions or less")
    new_points = validate_data(clusterer, _units.plain(X, "X"), reset=False, dtype=numpy.float64)
    points = clusterer._raw_data[numpy.isfinite(clusterer._raw_data).all(axis=1)]
    predicted = _hdbscan.approximate_predict(clusterer._found, _in_plane(points), _in_plane(new_points),
                                             threads=threads_of(clusterer.n_jobs))
    return predicted.labels.astype(numpy.int64), predicted.probabilities


def _in_plane(points):
    """Points of one coordinate as points in the plane."""
    return numpy.column_stack((points, numpy.zeros(len(points)))) if points.shape[1] == 1 else points


def _merges(linkage, rows, count):
    """Merges of the points in these rows of all as scikit-learn lists them: others are joined last, at infinity."""
    merges = numpy.empty(count - 1, dtype=_MERGES)
    ours, others = merges[:len(linkage)], merges[len(linkage):]
    clusters = linkage[:, :2].astype(numpy.int64)
    clusters = numpy.where(clusters < len(rows), rows[numpy.minimum(clusters, len(rows) - 1)], clusters + count - len(rows))
    ours["left_node"], ours["right_node"] = clusters.T
    ours["value"], ours["cluster_size"] = linkage[:, 2:].T
    if len(others):
        others["left_node"] = numpy.setdiff1d(numpy.arange(count), rows)
        others["right_node"] = count + len(linkage) - 1 + numpy.arange(len(others))
        others["value"], others["cluster_size"] = numpy.inf, len(rows) + 1 + numpy.arange(len(others))
    return merges
