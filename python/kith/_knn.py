"""Nearest neighbors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy
import numpy.typing

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_queries, index_type, normalize_arguments, over_ranks, require_rows
from kith._hints import takes_own_names


@takes_own_names
@over_ranks
def knn(points: AnyArray, k: int, queries: AnyArray | None = None, *, box: BoxLike = None, exclude_self: bool = False,
        max_distance: float | None = None, engine: str = "auto", device: str | None = None,
        threads: int | None = None, return_distances: bool = True, index_dtype: numpy.typing.DTypeLike = None,
        z_order: bool = False, exclude_labels: Any = None, out: Any = None, progress: ProgressLike = False,
        comm: Any = None) -> Any:
    """The k nearest points of every point, or of every query.

    Parameters
    ----------
    points : array, shape (n, d)
        The points that are searched, float32 or float64, d from 1 to 8, with any strides, of NumPy or a library that
        speaks DLPack (CuPy, PyTorch, JAX). Integers are taken as float64, half precision as float32; integers of JAX are
        refused. A `kith.Snapshot`, or any object with its attributes, can be passed instead; its positions and box are
        used. So can a `kith.Tree`: leave box and device out, which it has already. If the points are an astropy
        Quantity, all lengths of the call must be (0 and infinity apart): these are converted to the unit of the points,
        and distances are returned in it.
    k : int
        How many neighbors, 1 or more; 16.0 counts as 16. More than there are points leaves the rest of each row empty.
    queries : array, shape (m, d), optional
        Where to search around, or a `kith.Snapshot`; a single point is `[point]`. They are converted to the type of the
        points: float64 queries of float32 points are rounded to float32. Without queries, around every point: its nearest
        neighbor is then the point itself.
    box : float, sequence of d floats or Box, optional
        Periods, one for all axes or one for each; 0 leaves an axis open. Without it space is open, or has the box of
        the snapshot; a warning is given where both have periods and these differ.
    exclude_self : bool
        Leave the point itself out. Coincident other points stay. Not with queries.
    max_distance : float, optional
        Only neighbors within this distance, inclusive.
    engine : "auto", "tree", "brute", "kdtree" or "clover"
        The search algorithm; the answer does not depend on it. "kdtree" builds a k-d tree for each call, "clover" cells
        around random hubs; a `kith.Tree` has an engine of its own.
    device : str, optional
        "cpu", "cuda" or "cuda:1". By default where the points are.
    threads : int, optional
        Of the CPU; None or 0 for all.
    return_distances : bool
        With False, only indices are found and returned.
    index_dtype : int32 or int64
        Of the indices; by default int32, over processes int64.
    z_order : bool
        With True, rows stay along the z-order curve of their queries, as they are found: bringing many rows into input order
        takes time, so reduce them first and bring the results there, ``reduced[found.query_indices] = ...``. Of engine
        "tree", within one process.
    exclude_labels : array of int, shape (n,), optional
        A label of each point, such as its group; with queries a pair of such arrays, (labels of the points, labels of the
        queries). Points of the query's own label are left out: its neighbors are the nearest of other labels. -1 is a
        label like any other. From -2**31 to 2**31 - 1; on the CPU, by engine "tree", within one process.
    out : array or tuple of two arrays, optional
        Where to write: (distances, indices), or indices alone if distances are not wanted. Row-major without gaps,
        and apart from each other, the points and the queries.
    progress : bool or callable
        True draws a bar on the standard error. A function is called now and then with the name of the stage and the
        fraction that is done; if it returns False before the end, `kith.Canceled` is raised, and the contents of `out`
        are unspecified. Any other return value is ignored.
    comm : communicator of mpi4py or kith.mpi.Ranks, optional
        The processes that make this call together, each with its own points and queries. The answers are those among
        the points of all processes, and indices are global: the number of points on lower ranks plus the row there. See
        `kith.mpi`.

    Returns
    -------
    KnnResult
        A tuple (distances, indices), which also has the name of the engine; indices alone with `return_distances=False`.
        In z-order it also has `query_indices`, and without distances they are None.
    distances : array, shape (n, k) or (m, k)
        In the units and type of the points, each row ascending; infinity where there is no neighbor.
    indices : array of the same shape
        Rows of `points`; neighbors that are equally far are ordered by index; -1 where there is no neighbor. Both
        are arrays of the library of the points, in the same memory, or of that of the queries if they are arrays of
        PyTorch, CuPy or JAX.

    Raises
    ------
    ValueError
        For points that are not finite, k < 1, a box that is not the box of these points; the message names the first.
    TypeError
        For types that are not numbers, or complex, or wider than float64.
    MemoryError
        If the result does not fit.
    NotImplementedError
        For points of other dimensions, and for an engine that the device does not support.

    Warns
    -----
    UserWarning
        If neighbors are too near for the type of the points, relative to the largest coordinate, such as a placeholder of
        1e37 in float32, so that their distances and order mean little. The text names that point and the first query.

    Notes
    -----
    Exact; close to O(n k) in low dimensions. Releases the GIL; the arrays must not be modified during the call. Source:
    the jz-tree paper, sections II and III.

    Examples
    --------
    >>> import numpy, kith
    >>> distances, indices = kith.knn([[0, 0], [0, 1], [3, 0]], 2)
    >>> distances.tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 3.0]]
    >>> indices.tolist()
    [[0, 1], [1, 0], [2, 0]]
    >>> found = kith.knn([[3, 0], [0, 0], [0, 1]], 2, z_order=True)
    >>> farthest = numpy.empty(3)
    >>> farthest[found.query_indices] = found.distances[:, -1]
    >>> farthest.tolist()
    [3.0, 1.0, 1.0]
    >>> kith.knn([[0, 0], [0, 1], [3, 0]], 1, exclude_labels=[7, 7, 8]).indices.tolist()
    [[2], [2], [0]]
    """
    if getattr(k, "ndim", 0) == 2:
        raise TypeError(f"k is an array of shape {tuple(k.shape)}; it comes before the queries: knn(points, k, queries)")
    source, queries, max_distance = normalize_arguments(points, box, one_dimension=True, queries=queries,
                                                        max_distance=max_distance)
    queries = as_queries(queries, source)
    if comm is not None and exclude_labels is not None:
        raise NotImplementedError("exclude_labels and comm are given, but neighbors of other labels are found within one "
                                  "process; leave one of them out")
    call = source.call(device, threads, progress, engine, queries, comm)
    rows = _Rows(source, queries, k, return_distances, index_dtype, _arrays.flag(z_order, "z_order"), out, comm)
    used = _core.search(call, queries, rows.k, _arrays.flag(exclude_self, "exclude_self"),
                        math.inf if max_distance is None else _arrays.as_number(max_distance, "max_distance"), False,
                        rows.distances, rows.indices, rows.query_indices,
                        *_labels(exclude_labels, source, queries))
    return rows.result(used, source.unit)


def _labels(labels, source, queries):
    """Those of the points and those of the queries, as the core takes them."""
    if labels is None or queries is None:
        return [_labels_of(labels, source.shape)] if labels is not None else []
    if not isinstance(labels, (tuple, list)) or len(labels) != 2 or any(numpy.ndim(each) == 0 for each in labels):
        raise TypeError("exclude_labels must be a pair of arrays, (labels of the points, labels of the queries)")
    return [_labels_of(each, shape) for each, shape in zip(labels, (source.shape, queries.shape))]


def _labels_of(labels, shape):
    if isinstance(labels, (tuple, list)) and len(labels) and numpy.ndim(labels[0]) > 0:
        raise TypeError("exclude_labels must be a number for each point; a pair of arrays is for calls with queries")
    labels = _arrays.as_integers(labels, numpy.int32, "exclude_labels")
    require_rows(shape, exclude_labels=labels)
    return labels


class _Neighbors(NamedTuple):
    distances: Any
    indices: Any


class KnnResult(_Neighbors):
    """The rows of a search: the tuple (distances, indices).

    Attributes
    ----------
    distances, indices : array
        As `kith.knn` returns them.
    query_indices : array or None
        The query of each row, int32, for rows in z-order: of a tree's own points its `order`. None: rows are in input order.
    engine : str
        Engine used: "tree", "brute", "kdtree" or "clover".
    """

    engine: str
    query_indices: Any


class _Rows:
    """The arrays that a search writes to, a row for each query or point, and its result."""

    def __init__(self, source, queries, k, return_distances, index_dtype, z_order, out, comm):
        shape = source.shape if queries is None else queries.shape
        like, real_type = source.prototype(queries), source.real_type
        self.k = _arrays.at_least(1, k, "k")
        index_dtype = index_type(index_dtype, comm)
        return_distances = _arrays.flag(return_distances, "return_distances")
        shape = (shape[0] if len(shape) else 0, self.k)
        self.distances = self.query_indices = None
        self._finish = self._finish_queries = _arrays.identity
        if z_order:
            self.query_indices, self._finish_queries = _arrays.empty_like(like, shape[:1], numpy.int32)
        if out is not None:
            self._take(out, shape, real_type, return_distances, ["int32", "int64"] if comm is None else ["int64"])
            return
        if return_distances:
            self.distances, self._finish = _arrays.empty_like(like, shape, real_type)
        self.indices, self._finish = _arrays.empty_like(like, shape, index_dtype)

    def _take(self, out, shape, real_type, return_distances, index_types):
        if return_distances:
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise TypeError("out must be a tuple of two arrays, (distances, indices)")
            self.distances, self.indices = out
            _arrays.require_out(self.distances, shape, [real_type], "the array for distances")
        else:
            self.indices = out
        _arrays.require_out(self.indices, shape, index_types, "the array for indices")

    def result(self, engine, unit):
        indices = self._finish(self.indices)
        if self.distances is None and self.query_indices is None:
            return indices
        distances = None if self.distances is None else _units.with_unit(self._finish(self.distances), unit)
        found = KnnResult(distances, indices)
        found.engine = engine
        found.query_indices = None if self.query_indices is None else self._finish_queries(self.query_indices)
        return found
