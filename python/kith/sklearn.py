"""`sklearn.cluster.DBSCAN`, answered by kith: change the import, keep the calls. Needs scikit-learn 1.6 or later.

>>> from kith.sklearn import DBSCAN
>>> DBSCAN(eps=1.5, min_samples=2).fit_predict([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]])
array([ 0,  0, -1])

What is the same: parameters, attributes, errors, and the labels, element by element. Distances are taken in float64, as
scikit-learn does, and may differ from its own in the last bit, so that a point exactly at `eps` may be within reach for
one and not for the other; `kith.dbscan` takes float32 as it is, and periodic boxes. What differs: no neighbors are
stored, so that memory does not grow with their number, and all cores are used unless `n_jobs` says otherwise. Metrics
other than the Euclidean, sample weights, sparse input and points of more than 8 dimensions go to
scikit-learn's own DBSCAN, with an `EfficiencyWarning`.
"""


import numpy
import sklearn.cluster
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.exceptions import EfficiencyWarning
from sklearn.utils.validation import validate_data

from kith import _units
from kith._dbscan import dbscan
from kith._warnings import warn

__all__ = ["DBSCAN"]


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
                labels, is_core = dbscan(_coordinates(points), self.eps, self.min_samples, return_core=True,
                                                  threads=self.n_jobs and effective_n_jobs(self.n_jobs))
            except NotImplementedError as error:  # for these dimensions
                reason = str(error).partition(";")[0]
        if reason is not None:
            warn(f"{reason}; scikit-learn's own DBSCAN is used", EfficiencyWarning)
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


def _coordinates(points):
    """In float64, those on a line with a second axis of zeros."""
    points = points.astype(numpy.float64, copy=False)
    return numpy.column_stack((points, numpy.zeros(len(points)))) if points.shape[1] == 1 else points
