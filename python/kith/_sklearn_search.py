"""Searches of scikit-learn's neighbor estimators, answered by a `kith.Tree`.

scikit-learn's estimators search in two methods, `kneighbors` and `radius_neighbors`; graphs, votes and scores follow from
their results. `KNeighborSearch` and `RadiusSearch` override these two and the building of the index. They come before
scikit-learn's class among the bases, which keeps parameters, validation and everything else. An estimator whose data or
metric kith cannot search is fitted by scikit-learn alone, with a warning, and then searches as if kith was not there.

Every metric is a Euclidean distance of coordinates that follow from the data, and a monotone function of that distance.
Cost: that of building a tree and of searching in it; distances of great circles need a sine and an arc sine more.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy
import sklearn.neighbors
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.exceptions import EfficiencyWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from kith import _core, _radius, _units
from kith._call import as_queries
from kith._tree import Tree
from kith._warnings import warn

_METHOD = "kith"  # in place of the names of scikit-learn's search algorithms


class Metric(NamedTuple):
    """Distances as a function of Euclidean ones between other coordinates."""

    coordinates: Callable  # of rows of data, float64
    radius: Callable  # within which coordinates are whose distance is at most this number, or these
    distances: Callable  # of Euclidean distances, or of their squares
    is_squared: bool  # whether `distances` takes squares


def as_doubles(rows):
    return rows.astype(numpy.float64, copy=False)


def _itself(values):
    return values


def _root(squares):
    """Roots, rounded upward: their squares are not below these numbers."""
    roots = numpy.sqrt(numpy.asarray(squares, dtype=numpy.float64))
    return numpy.where(roots * roots < squares, numpy.nextafter(roots, math.inf), roots)[()]


def _unit_vectors(rows):
    """Of latitudes and longitudes in radians."""
    latitude, longitude = rows.astype(numpy.float64, copy=False).T
    across = numpy.cos(latitude)
    return numpy.column_stack((across * numpy.cos(longitude), across * numpy.sin(longitude), numpy.sin(latitude)))


def _chord(angles):
    """The distance between unit vectors at these angles, infinite where no angle is larger."""
    angles = numpy.asarray(angles, dtype=numpy.float64)
    return numpy.where(angles < math.pi, 2 * numpy.sin(angles / 2), math.inf)[()]


def _angle(chords):
    return 2 * numpy.arcsin(numpy.minimum(chords / 2, 1))


_EUCLIDEAN = Metric(as_doubles, _itself, _itself, False)
_SQUARED = Metric(as_doubles, _root, _itself, True)
_HAVERSINE = Metric(_unit_vectors, _chord, _angle, False)
_METRICS = {"euclidean": _EUCLIDEAN, "l2": _EUCLIDEAN, "minkowski": _EUCLIDEAN, "sqeuclidean": _SQUARED,
            "haversine": _HAVERSINE}


def threads_of(n_jobs):
    """Threads of an estimator: by default all cores, within workers of joblib their share."""
    return effective_n_jobs(-1 if n_jobs is None else n_jobs)


def warn_of_handing_over(reason, what):
    warn(f"{reason}; {what} is used", EfficiencyWarning)


class _Search:
    """An estimator that is fitted by a tree of kith, or by scikit-learn."""

    def _fit(self, X, y=None):
        X = _units.plain(X, "X")
        reason = self._reason_to_hand_over(X)
        if reason is None:
            self._check_algorithm_metric()
            algorithm, self.algorithm = self.algorithm, "brute"  # for which scikit-learn builds nothing
            try:
                super()._fit(X, y)
            finally:
                self.algorithm = algorithm
            reason = self._build_tree()
        if reason is None:
            return self
        warn_of_handing_over(reason, "scikit-learn's own search")
        return super()._fit(X, y)

    def _reason_to_hand_over(self, X):
        if issparse(X):
            return "X is sparse"
        if isinstance(X, (sklearn.neighbors.KDTree, sklearn.neighbors.BallTree)):
            return "X is a tree of scikit-learn"
        if getattr(X, "_fit_method", _METHOD) != _METHOD:
            return "X was fitted by scikit-learn's own search"
        if not isinstance(self.metric, str) or self.metric not in _METRICS or self.metric == "minkowski" and self.p != 2:
            return f"the metric is {self.metric!r}" + (f" with p = {self.p}" if self.metric == "minkowski" else "")
        return "metric_params are given" if self.metric_params else None

    def _build_tree(self):
        """Fits the tree; or else the reason why kith cannot."""
        columns = self._fit_X.shape[1]
        if self.metric == "haversine" and columns != 2:
            return f"X has {columns} columns, but the metric is 'haversine'"
        metric = _METRICS[self.metric]
        try:
            tree = Tree(metric.coordinates(self._fit_X), threads=threads_of(self.n_jobs))
        except NotImplementedError as error:  # for these dimensions
            return str(error).partition(";")[0]
        self._fit_method, self._tree, self._metric = _METHOD, tree, metric
        return None

    def _is_handed_over(self):
        check_is_fitted(self)
        return self._fit_method != _METHOD

    def _coordinates(self, X):
        """Of queries; None stands for the fitted points."""
        if X is None:
            return None
        X = validate_data(self, _units.plain(X, "X"), accept_sparse="csr", reset=False, order="C")
        if issparse(X):
            raise ValueError("X is sparse, but the fitted data are not; make X dense by X.toarray()")
        return self._metric.coordinates(X)


class KNeighborSearch(_Search):
    """`kneighbors` by kith."""

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The nearest neighbors of every row of X.

        Parameters
        ----------
        X : array, shape (m, columns), optional
            Where to search around. Without it, around every fitted point, and the point itself is left out.
        n_neighbors : int, optional
            By default that of the estimator.
        return_distance : bool
            With False, only indices are returned.

        Returns
        -------
        distances : array of float64, shape (m, n_neighbors)
            In units of the metric, each row ascending.
        indices : array of int64 of the same shape
            Rows of the fitted data. Neighbors that are equally far are ordered by index.

        Raises
        ------
        ValueError
            For fewer points than neighbors, numbers that are not finite, and another number of columns.
        """
        if self._is_handed_over():
            return super().kneighbors(X, n_neighbors, return_distance)
        n_neighbors = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(n_neighbors, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value")
        if n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        queries = as_queries(self._coordinates(X), self._tree._source)
        rows = self.n_samples_fit_ if queries is None else len(queries)
        if n_neighbors > self.n_samples_fit_ - (queries is None):
            raise ValueError(f"Expected n_neighbors {'<' if queries is None else '<='} n_samples_fit, but "
                             f"n_neighbors = {n_neighbors}, n_samples_fit = {self.n_samples_fit_}, n_samples = {rows}")
        shape = rows, int(n_neighbors)
        distances, indices = numpy.empty(shape) if return_distance else None, numpy.empty(shape, dtype=numpy.int64)
        call = self._tree._source.call(threads=threads_of(self.n_jobs))
        _core.search(call, queries, shape[1], queries is None, math.inf, self._metric.is_squared, distances, indices)
        return (self._metric.distances(distances), indices) if return_distance else indices


class RadiusSearch(_Search):
    """`radius_neighbors` by kith."""

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """All neighbors within a radius of every row of X.

        Parameters
        ----------
        X : array, shape (m, columns), optional
            Where to search around. Without it, around every fitted point, and the point itself is left out.
        radius : float or array, shape (m,), optional
            In units of the metric, inclusive. By default that of the estimator.
        return_distance : bool
            With False, only indices are returned.
        sort_results : bool
            Order neighbors by distance and, where these are equal, by index; without it, by index.

        Returns
        -------
        distances : array of m arrays of float64
            In units of the metric.
        indices : array of m arrays of int64
            Rows of the fitted data.

        Raises
        ------
        ValueError
            For a radius that is negative or not a number, other numbers that are not finite, another number of columns,
            and sorted results without distances.
        """
        if self._is_handed_over():
            return super().radius_neighbors(X, radius, return_distance, sort_results)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        radius = self._metric.radius(self.radius if radius is None else radius)
        found = _radius.radius_search(
            self._tree, radius, self._coordinates(X), exclude_self=X is None, squared=self._metric.is_squared,
            sort="distance" if sort_results else "index", index_dtype=numpy.int64, threads=threads_of(self.n_jobs))
        ends = found.offsets.tolist()
        indices = _rows(found.indices, ends)
        return (_rows(self._metric.distances(found.distances), ends), indices) if return_distance else indices


def _rows(values, ends):
    """An array of arrays: views."""
    rows = numpy.empty(len(ends) - 1, dtype=object)
    for row, (first, last) in enumerate(zip(ends, ends[1:])):
        rows[row] = values[first:last]
    return rows
