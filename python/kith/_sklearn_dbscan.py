"""DBSCAN as an estimator of scikit-learn."""

from __future__ import annotations

import numpy
import sklearn.cluster
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from kith import _units
from kith._dbscan import dbscan
from kith._sklearn_search import as_doubles, threads_of, warn_of_handing_over


class DBSCAN(sklearn.cluster.DBSCAN):
    """Clusters of dense points, by kith. Parameters and attributes are those of `sklearn.cluster.DBSCAN`.

    Parameters
    ----------
    eps : float
        The radius, inclusive; more than 0.
    min_samples : int
        Points within `eps` that make a core point, itself included.
    metric : str or callable
        Others than "euclidean", "l2", and "minkowski" with p = 2 are handed over to scikit-learn, and with them
        `metric_params`.
    algorithm, leaf_size, p
        As scikit-learn's; kith's answer depends on `p` alone.
    n_jobs : int, optional
        Threads; by default, and with -1, all cores.

    Attributes
    ----------
    labels_ : array of int, shape (n,)
        Cluster of each point; -1 for noise.
    core_sample_indices_ : array of int, shape (core points,)
    components_ : array, shape (core points, d)
        Copies of the core points.
    n_features_in_ : int

    Examples
    --------
    >>> from kith.sklearn import DBSCAN
    >>> found = DBSCAN(eps=1, min_samples=3).fit([[0, 0], [0, 1], [1, 0], [9, 9]])
    >>> found.labels_.tolist(), found.core_sample_indices_.tolist()
    ([0, 0, 0, -1], [0])
    """

    def fit(self, X, y=None, sample_weight=None):
        """Finds the clusters of X, shape (n, d). Returns the estimator."""
        X = _units.plain(X, "X")
        self._validate_params()
        reason = self._reason_to_hand_over(X, sample_weight)
        if reason is None:
            points = validate_data(self, X)
            try:
                labels, is_core = dbscan(as_doubles(points), self.eps, self.min_samples, return_core=True,
                                         threads=threads_of(self.n_jobs))
            except NotImplementedError as error:  # for these dimensions
                reason = str(error).partition(";")[0]
        if reason is not None:
            warn_of_handing_over(reason, "scikit-learn's own DBSCAN")
            return super().fit(X, y, sample_weight)
        self.labels_ = labels.astype(numpy.intp)
        self.core_sample_indices_ = numpy.flatnonzero(is_core)
        self.components_ = points[self.core_sample_indices_]
        return self

    def _reason_to_hand_over(self, X, sample_weight):
        if sample_weight is not None:
            return "sample_weight is given"
        if issparse(X):
            return "X is sparse"
        is_euclidean = self.metric in ("euclidean", "l2") or self.metric == "minkowski" and self.p in (None, 2)
        if not is_euclidean or self.metric_params is not None:
            return f"the metric is {self.metric!r}" if not is_euclidean else "metric_params are given"
        return None
