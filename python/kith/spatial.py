"""`scipy.spatial.cKDTree`, answered by kith: change the import, keep the calls.

>>> from kith.spatial import cKDTree
>>> cKDTree([[0.0, 0.0], [1.0, 0.0]]).query([0.75, 0.0])
(0.25, 1)

What is the same: shapes and types, float64 distances and integer indices, n as the index of a missing neighbor, a bound
of `query` that is exclusive and radii that are inclusive, any shape of queries, k as a number or a list. What differs:
equal distances are ordered by index, and lists of neighbors within a radius by index, where SciPy has no order;
distances can differ from SciPy's in the last bit, so that a point there may be within a radius for one and not for the
other. Only the Euclidean distance (p=2) is there, points of 1 to 8 dimensions, and weights of pairs that are 0 or more.
Methods without `workers` use all cores.
"""

import math
import re

import numpy

from kith import _arrays, _core, _units
from kith._pairs import as_weights

__all__ = ["KDTree", "cKDTree"]


class cKDTree:
    """An index of n points, shape (n, m), for neighbor queries. The arguments are SciPy's.

    Answers depend neither on `leafsize`, which is 32 or more in truth, nor on `compact_nodes` and `balanced_tree`. The
    tree always keeps a copy of its own; `copy_data` says whether `data` is one, too. With `boxsize`, points must lie in
    [0, boxsize); 0 or infinity leaves an axis open. Pickles hold the points, and the tree is built again from them.
    """

    def __init__(self, data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None):
        data = _doubles(data, "data", numpy.array if copy_data else numpy.asarray)
        if data.ndim != 2:
            raise ValueError("data must be 2 dimensions")
        if not numpy.isfinite(data).all():
            raise ValueError("data must be finite, check for nan or inf values")
        if _arrays.as_whole(leafsize, "leafsize") < 1:
            raise ValueError("leafsize must be at least 1")
        self.data = data
        self.n, self.m = data.shape
        self.leafsize = leafsize
        if not 1 <= self.m <= 8:
            raise NotImplementedError(f"points have {self.m} dimensions; kith has trees for 1 to 8")
        self.mins = data.min(axis=0) if self.n else numpy.zeros(self.m)
        self.maxes = data.max(axis=0) if self.n else numpy.zeros(self.m)
        self.boxsize = boxsize
        self._box = None
        if boxsize is not None:
            boxsize = _doubles(boxsize, "boxsize")
            if boxsize.shape not in ((), (1,), (self.m,)):
                raise ValueError(f"boxsize is of shape {boxsize.shape}; it must be a number, or {self.m}")
            self.boxsize = numpy.broadcast_to(boxsize, (self.m,)).copy()
            if (self.boxsize < 0).any():
                raise ValueError("boxsize must not be negative")
            periodic = self.boxsize > 0
            if ((data >= self.boxsize) & periodic).any():
                raise ValueError("Some input data are greater than the size of the periodic box.")
            if ((data < 0) & periodic).any():
                raise ValueError("Negative input data are outside of the periodic box.")
            periods = [*numpy.where(numpy.isinf(self.boxsize), 0, self.boxsize), *[0.0] * (self.m == 1)]
            self._box = _core.Box(periods, [0.0 if period > 0 else None for period in periods])
        self._tree = _core.Tree(_call(_arrays.in_plane(data), self._box), min(max(int(leafsize), 32), 2**31 - 1))

    def __reduce__(self):  # other processes build the tree again, from their own copy of the points
        return type(self), (self.data, self.leafsize, True, False, True, self.boxsize)

    def __len__(self):
        return self.n

    def query(self, x, k=1, eps=0, p=2, distance_upper_bound=math.inf, workers=1):
        """The nearest neighbors of x, an array of shape (..., m).

        Returns distances and indices of shape (..., k), or (...) where k is 1; a list of numbers for k asks for these
        neighbors alone, the nearest being 1. Where there are fewer, the distance is infinite and the index n.
        Neighbors at `distance_upper_bound` or farther do not count. `eps` allows approximate answers, which exact
        ones are. `workers` is a number of threads, -1 for all; None means one.
        """
        _require_euclidean(p, eps)
        threads = _threads(workers)
        x = self._queries(x)
        squeeze = False
        if k is None or numpy.ndim(k) > 1:
            raise ValueError("k must be an integer or a sequence of integers")
        if numpy.ndim(k) == 0:
            most = _arrays.as_whole(k, "k")
            chosen = slice(None)
            squeeze = most == 1
        else:
            chosen = numpy.array([_arrays.as_whole(each, "k") for each in k], dtype=numpy.intp) - 1
            most = int(chosen.max()) + 1 if chosen.size else 1
            if chosen.size and chosen.min() < 0:
                most = 0
        if most < 1:
            raise ValueError("k must be an integer of 1 or more, or a list of such integers")
        shape = x.shape[:-1]
        queries = numpy.ascontiguousarray(x.reshape(-1, self.m))
        distances = numpy.empty((len(queries), most))
        indices = numpy.empty((len(queries), most), dtype=numpy.int64)
        bound = _arrays.as_number(distance_upper_bound, "distance_upper_bound")
        is_bounded = bound != math.inf
        if is_bounded and not bound > 0:  # nothing is nearer than that
            distances[:] = math.inf
            indices[:] = -1
        else:
            # Squares, because that is where SciPy's bound is exclusive.
            _core.search(_call(self._tree, threads=threads), _arrays.in_plane(queries), most, False, bound, is_bounded,
                         distances, indices)
        if is_bounded:
            beyond = distances >= bound * bound
            numpy.sqrt(distances, out=distances)
            distances[beyond] = math.inf
            indices[beyond] = -1
        indices[indices < 0] = self.n
        if squeeze:
            distances, indices = distances[:, 0].reshape(shape), indices[:, 0].reshape(shape)
        else:
            distances, indices = distances[:, chosen], indices[:, chosen]
            distances = distances.reshape(*shape, distances.shape[1])
            indices = indices.reshape(*shape, indices.shape[1])
        if squeeze and not shape:
            return float(distances), int(indices)
        return distances, indices

    def query_ball_point(self, x, r, p=2.0, eps=0.0, workers=1, return_sorted=None, return_length=False):
        """The indices of the points within `r` of x, an array of shape (..., m), as a list, or an array of lists.

        `r` is one radius, or one for each vector of x. Lists are ordered by index, whatever `return_sorted` is. With
        `return_length` there are the numbers of points instead. `eps` and `workers` are those of `query`.
        """
        _require_euclidean(p, eps)
        threads = _threads(workers)
        x = self._queries(x)
        shape = x.shape[:-1]
        radii = _radii(r, "r")
        if radii.shape != shape and radii.ndim > 0:
            try:
                radii = numpy.ascontiguousarray(numpy.broadcast_to(radii, shape))
            except ValueError:
                raise ValueError(f"r is of shape {radii.shape}; it must be a number, or broadcast to the shape of the "
                                 f"queries, {shape}") from None
        radii = float(radii) if radii.ndim == 0 else radii.reshape(-1)
        queries = _arrays.in_plane(numpy.ascontiguousarray(x.reshape(-1, self.m)))
        if _arrays.flag(return_length, "return_length"):
            return _core.count_within(_call(self._tree, threads=threads), queries, radii, False).reshape(shape)[()]
        lists = _lists(_rows(self._tree, queries, radii, threads=threads))
        if not shape:
            return lists[0]
        result = numpy.empty(len(lists), dtype=object)
        for i, each in enumerate(lists):  # an array of lists of one length would be one of two axes
            result[i] = each
        return result.reshape(shape)

    def query_ball_tree(self, other, r, p=2.0, eps=0.0):
        """For every point of this tree, the list of the indices of the points of `other` within `r`."""
        _require_euclidean(p, eps)
        radius = _radius(r, "r")
        self._require_alike(other)
        tree = other._tree
        if other._box != self._box:  # distances are in the box of this tree
            tree = _core.Tree(_call(_arrays.in_plane(other.data), self._box), None)
        return _lists(_rows(tree, _arrays.in_plane(self.data), radius))

    def query_pairs(self, r, p=2.0, eps=0.0, output_type="set"):
        """The pairs (i, j), i < j, of points within `r` of each other, a set; or ("ndarray") an array of two columns."""
        _require_euclidean(p, eps)
        radius = _radius(r, "r")
        _require_output(output_type, ("set", "ndarray"))
        offsets, second, _ = _rows(self._tree, None, radius, exclude_self=True)
        first = numpy.repeat(numpy.arange(self.n, dtype=second.dtype), numpy.diff(offsets))
        once = first < second
        pairs = numpy.stack((first[once], second[once]), axis=1).astype(numpy.intp)
        return pairs if output_type == "ndarray" else set(map(tuple, pairs.tolist()))

    def count_neighbors(self, other, r, p=2.0, weights=None, cumulative=True):
        """The number of pairs of a point of this tree and one of `other` that are within `r`.

        An array of radii gives an array of numbers, which one walk counts. With `cumulative=False` the numbers are those
        of the pairs that are farther apart than the radius before; radii must not decrease then, and not be negative.
        `weights` are those of this tree and of `other`, as a pair of arrays or None, or one array for both, 0 or more;
        then there are sums of their products, float64, of weights as `kith.pair_counts` rounds them.
        """
        _require_euclidean(p, 0)
        self._require_alike(other)
        cumulative = _arrays.flag(cumulative, "cumulative")
        radii = _radii(r, "r")
        if radii.ndim > 1:
            raise ValueError("r must be either a single value or a one-dimensional array of values")
        if not cumulative and (numpy.diff(numpy.atleast_1d(_doubles(r, "r")), prepend=0) < 0).any():
            raise ValueError("r must be non-decreasing for non-cumulative counting, and not negative")
        different, places = numpy.unique(radii, return_inverse=True)
        is_tuple = isinstance(weights, tuple) and len(weights) == 2
        of_both = [as_weights(each, "weights") for each in (weights if is_tuple else (weights, weights))]
        is_weighted = any(each is not None for each in of_both)
        within = other is self and not is_weighted  # then each pair is met once
        edges = numpy.concatenate(([0.0], different)) if len(different) else numpy.zeros(2)
        try:
            found = _core.count_pairs(_call(self._tree), None if within else _arrays.in_plane(other.data), edges, "r",
                                      numpy.empty(0), -1, *of_both, False)
        except ValueError as error:  # about edges[k + 1], which is different[k]
            raise ValueError(re.sub(r"\bedges\[(\d+)\]", lambda edge: _name_of_radius(places, int(edge[1]) - 1, radii.ndim),
                                    str(error))) from None
        of_bins = found[1] if is_weighted else found[0].astype(numpy.intp)
        if within:
            of_bins = 2 * of_bins
            of_bins[:1] += self.n  # each point with itself
        places = places.reshape(radii.shape)
        if not cumulative and radii.ndim == 1:  # of equal radii, only the first has anything between it and the one before
            is_first = numpy.diff(places, prepend=-1) > 0
            return numpy.where(is_first, of_bins[places], of_bins.dtype.type(0))
        numbers = of_bins.cumsum()[places]
        return numbers[()].item() if radii.ndim == 0 else numbers

    def sparse_distance_matrix(self, other, max_distance, p=2.0, output_type="dok_matrix"):
        """The distances of the pairs of a point of this tree and one of `other` that are within `max_distance`.

        "dok_matrix" and "coo_matrix" are SciPy's sparse matrices, in which distances of 0 are entries, too; "dict" has
        keys (i, j), and "ndarray" is an array of records with fields i, j and v.
        """
        _require_euclidean(p, 0)
        radius = _radius(max_distance, "max_distance")
        self._require_alike(other)
        _require_output(output_type, ("dok_matrix", "coo_matrix", "dict", "ndarray"))
        # Around the points of the other tree, because distances are in the box of this one.
        offsets, i, v = _rows(self._tree, None if other is self else _arrays.in_plane(other.data), radius)
        j = numpy.repeat(numpy.arange(other.n, dtype=i.dtype), numpy.diff(offsets))
        if output_type == "dict":
            return dict(zip(zip(i.tolist(), j.tolist()), v.tolist()))
        if output_type == "ndarray":
            fields = [("i", numpy.intp), ("j", numpy.intp), ("v", numpy.float64)]
            records = numpy.empty(len(v), dtype=numpy.dtype(fields, align=True))
            records["i"], records["j"], records["v"] = i, j, v
            return records
        from scipy import sparse
        matrix = sparse.coo_matrix((v, (i, j)), shape=(self.n, other.n))
        return matrix if output_type == "coo_matrix" else matrix.todok()

    def _queries(self, x):
        x = _doubles(x, "x")
        if x.ndim == 0 or x.shape[-1] != self.m:
            raise ValueError(f"x must consist of vectors of length {self.m} but has shape {x.shape}")
        if not numpy.isfinite(x).all():
            raise ValueError("'x' must be finite, check for nan or inf values")
        return x

    def _require_alike(self, other):
        if not isinstance(other, cKDTree):
            raise TypeError(f"other is of type {type(other).__module__}.{type(other).__qualname__}; it must be a "
                            "kith.spatial.cKDTree")
        if other.m != self.m:
            raise ValueError(f"other has points of {other.m} dimensions, this tree of {self.m}; give it as many")


def _name_of_radius(places, different, axes):
    """The first radius that is the one of that number in ascending order, without repetitions."""
    return f"r[{int(numpy.argmax(numpy.ravel(places) == different))}]" if axes else "r"


def _require_euclidean(p, eps):
    """What is approximate within eps may be exact."""
    if p != 2:
        raise NotImplementedError(f"p is {p}; kith has the Euclidean distance, p = 2")
    if not _arrays.as_number(eps, "eps") >= 0:
        raise ValueError("eps must be non-negative")


def _threads(workers):
    workers = 1 if workers is None else _arrays.as_whole(workers, "workers")
    if workers == 0 or workers < -1:
        raise ValueError(f"Invalid number of workers {workers}, must be -1 or > 0")
    return None if workers == -1 else workers


def _require_output(output_type, known):
    if not isinstance(output_type, str) or output_type not in known:
        raise ValueError(f"output_type is {output_type!r}; it must be one of {', '.join(known)}")


def _radii(r, what):
    """SciPy compares squares: what counts is the absolute value."""
    radii = numpy.abs(_doubles(r, what))
    if numpy.isnan(radii).any():
        raise ValueError(f"{what} is nan; it must be a number")
    return radii


def _radius(r, what):
    return float(_radii(_arrays.as_number(r, what), what))


def _call(source, box=None, threads=None):
    return _core.Call(source, box, None, threads, None)


def _rows(tree, queries, radii, exclude_self=False, threads=None):
    """Offsets, indices and distances of the points within one radius, or one for each query, ordered by index."""
    return _core.search_within(_call(tree, threads=threads), queries, radii, exclude_self, False, True, False, 0)[:3]


def _lists(rows):
    """Indices of rows as lists of Python's integers."""
    offsets, indices, _ = rows
    flat, ends = indices.tolist(), offsets.tolist()
    return [flat[first:last] for first, last in zip(ends, ends[1:])]


def _doubles(values, what, take=numpy.asarray):
    """Numbers as float64, without units."""
    values = _units.plain(values, what)
    try:
        return take(values, dtype=numpy.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {values!r}; it must be numbers, in an array or a list of rows of one length") from None


KDTree = cKDTree
