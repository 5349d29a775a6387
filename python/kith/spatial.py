"""`scipy.spatial.cKDTree`, answered by kith: change the import, keep the calls.

>>> from kith.spatial import cKDTree
>>> cKDTree([[0.0, 0.0], [1.0, 0.0]]).query([0.75, 0.0])
(0.25, 1)

What is the same: shapes, float64 distances and integer indices, n as the index of a missing neighbor, a distance bound
that is exclusive, any shape of queries, k as a number or a list. What differs: equal distances are ordered by index,
where SciPy has no order; distances can differ from SciPy's in the last bit. Only the Euclidean distance (p=2) is there,
and points of 1 to 8 dimensions. Of SciPy's methods there is `query`: no searches within a radius yet.
"""

import math

import numpy

from kith import _arrays, _core, _units

__all__ = ["KDTree", "cKDTree"]


class cKDTree:
    """An index of n points, shape (n, m), for neighbor queries. The arguments are SciPy's.

    Answers depend neither on `leafsize`, which is 32 or more in truth, nor on `compact_nodes` and `balanced_tree`. The
    tree always keeps a copy of its own; `copy_data` says whether `data` is one, too. With `boxsize`, points must lie in
    [0, boxsize); 0 or infinity leaves an axis open. Pickles hold the points, and the tree is built again from them.
    """

    def __init__(self, data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None):
        _units.refuse(boxsize, "boxsize")
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
        box = None
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
            box = _core.Box(periods, [0.0] * len(periods))
        self._tree = _core.Tree(self._embedded(data), box, min(max(int(leafsize), 32), 2**31 - 1), None, None, None)

    def __reduce__(self):  # other processes build the tree again, from their own copy of the points
        return type(self), (self.data, self.leafsize, True, False, True, self.boxsize)

    def __len__(self):
        return self.n

    @property
    def size(self):
        return self.n

    def _embedded(self, points):
        """Points on a line lie in the plane; their distances do not change."""
        return points if self.m > 1 else numpy.concatenate((points, numpy.zeros_like(points)), axis=1)

    def query(self, x, k=1, eps=0, p=2, distance_upper_bound=math.inf, workers=1):
        """The nearest neighbors of x, an array of shape (..., m).

        Returns distances and indices of shape (..., k), or (...) where k is 1; a list of numbers for k asks for these
        neighbors alone, the nearest being 1. Where there are fewer, the distance is infinite and the index n.
        Neighbors at `distance_upper_bound` or farther do not count. `eps` allows approximate answers, which exact
        ones are. `workers` is a number of threads, -1 for all; None means one.
        """
        workers = 1 if workers is None else workers
        if p != 2:
            raise NotImplementedError(f"p is {p}; kith has the Euclidean distance, p = 2")
        if not _arrays.as_number(eps, "eps") >= 0:
            raise ValueError("eps must be non-negative")
        workers = _arrays.as_whole(workers, "workers")
        if workers == 0 or workers < -1:
            raise ValueError(f"Invalid number of workers {workers}, must be -1 or > 0")
        x = _doubles(x, "x")
        if x.ndim == 0 or x.shape[-1] != self.m:
            raise ValueError(f"x must consist of vectors of length {self.m} but has shape {x.shape}")
        if not numpy.isfinite(x).all():
            raise ValueError("'x' must be finite, check for nan or inf values")
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
            raise ValueError("k must be an integer >= 1 or a list of integers that are")
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
            _core.search_tree(self._tree, self._embedded(queries), most, False, bound, is_bounded,
                              distances, indices, None if workers == -1 else workers, None)
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


def _doubles(values, what, take=numpy.asarray):
    """Numbers as float64, without units."""
    _units.refuse(values, what)
    try:
        return take(values, dtype=numpy.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {values!r}; it must be numbers, in an array or a list of rows of one length") from None


KDTree = cKDTree
