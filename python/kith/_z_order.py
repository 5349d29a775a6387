"""Points along the z-order curve, and rows of other processes."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from kith import _arrays, _core
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import Source, normalize_arguments, over_ranks
from kith._hints import takes_own_names


@takes_own_names
@over_ranks
def z_order(points: AnyArray, *, box: BoxLike = None, threads: int | None = None, progress: ProgressLike = False,
            comm: Any = None) -> Any:
    """Indices of the points along the z-order curve, on which points that are near each other mostly follow each other.

    Over processes each gets a part of the order of all points, of about the same number: a domain decomposition.
    `kith.gather` then fetches positions, velocities or whatever belongs to the points. `kith.mpi.Ranks` takes `weights`
    of points, by which the parts are cut, and `imbalance`, by how much parts may differ.

    Parameters
    ----------
    points, box, threads, progress, comm
        As for `kith.knn`, but in host memory, and no `kith.Tree`, which has its own `order`.

    Returns
    -------
    array of int32, over processes of int64, shape (n,)
        Of the library of the points. Coincident points are ordered by index. Over processes the global indices, or ids, of
        the points of this process's part: the parts of ranks 0, 1, ... are the order of all points.

    Raises
    ------
    ValueError
        For points that are not finite, or that lie in the memory of a GPU.
    MemoryError
        If the result does not fit.
    NotImplementedError
        For points of other dimensions.

    Notes
    -----
    O(n). Over processes every coordinate is sent once. Source: jz-tree paper, sections II-A and III-C (arXiv:2604.05885).

    Examples
    --------
    >>> import kith
    >>> kith.z_order([[0.9, 0.9], [0.1, 0.1], [0.9, 0.1], [0.2, 0.1]]).tolist()
    [1, 3, 2, 0]
    """
    if type(getattr(points, "_source", None)) is Source:
        raise TypeError("points is a kith.Tree; its order is Tree.order")
    source, = normalize_arguments(points, box)
    if comm is not None:
        _arrays.require_type(source.like, numpy.int64)
    call = source.call("cpu", threads, progress, comm=comm)
    return functools.partial(_arrays.in_library_of, source.like)(_core.z_order(call))


@takes_own_names
@over_ranks
def gather(indices: AnyArray, *arrays: AnyArray, threads: int | None = None, comm: Any = None) -> Any:
    """Rows of arrays whose rows are distributed over processes like points, by global index.

    Indices are those that calls over the same processes return: of `kith.z_order`, or neighbors of `kith.knn`.

    Parameters
    ----------
    indices : array of integers, any shape
        Global indices, or ids where `comm` has them, in any order and as often as wanted; -1 is no row.
    *arrays : array, shape (n, ...)
        A row for each point of this process, of any type of fixed size; as many arrays, with rows of the same type and
        shape, on all processes.
    threads
        As for `kith.knn`.
    comm
        The processes, as for `kith.knn`. It must be given.

    Returns
    -------
    array, shape indices.shape + (...), or a tuple of them for several arrays
        Row i is the row of the point indices[i]; of -1, zeros.

    Raises
    ------
    ValueError
        On all processes: for an index that no point has, and arrays that differ between processes or in their length.

    Notes
    -----
    Each process gets a row once, however often it asks for it.
    """
    if comm is None:
        raise TypeError("gather fetches rows of other processes: give comm; within one process write array[indices]")
    indices = _arrays.as_integers(indices, numpy.int64, "indices")
    columns = [numpy.ascontiguousarray(array) for array in arrays]
    for position, column in enumerate(columns):
        if column.ndim == 0 or column.dtype.hasobject:
            raise TypeError(f"array {position} must have a row of numbers or other values of fixed size for each point")
    comm.require_same("the rows of the arrays", [(column.dtype.str, column.shape[1:]) for column in columns])
    rows = [column.view(numpy.uint8).reshape(len(column), -1) if column.size else
            numpy.empty((len(column), column.dtype.itemsize * int(numpy.prod(column.shape[1:]))), numpy.uint8)
            for column in columns]
    found = [numpy.empty((indices.size, of_column.shape[1]), numpy.uint8) for of_column in rows]
    _core.gather(comm, threads, numpy.ascontiguousarray(indices).reshape(-1), rows, found)
    result = tuple(of_column.reshape(-1).view(column.dtype).reshape(indices.shape + column.shape[1:])
                   for of_column, column in zip(found, columns))
    return result[0] if len(result) == 1 else result
