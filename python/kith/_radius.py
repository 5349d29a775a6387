"""Neighbors within a radius."""

from __future__ import annotations

from typing import Any

import numpy
import numpy.typing

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_queries, index_type, normalize_arguments, over_ranks
from kith._hints import refuse_scipys_order, takes_own_names


class RadiusResult:
    """Neighbors within a radius: rows of different lengths, one after the other (the CSR format).

    `len(result)` is the number of rows, `result[i]` the distances and indices of row i, which are views; a loop goes
    over all rows. `result[i:j]` is a result of these rows. The sparse matrix of m rows among n points is
    `scipy.sparse.csr_array((result.distances, result.indices, result.offsets), shape=(m, n))`.

    Attributes
    ----------
    offsets : NumPy array of int64, shape (rows + 1,)
        Row i is elements offsets[i] to offsets[i + 1] of the other two.
    indices : array, shape (neighbors of all rows,)
        Rows of the points.
    distances : array of the same shape
        In the units and type of the points.
    engine : str
        Engine used: "tree", "brute" or "kdtree".
    """

    def __init__(self, offsets: numpy.ndarray, indices: Any, distances: Any, engine: str) -> None:
        self.offsets = offsets
        self.indices = indices
        self.distances = distances
        self.engine = engine

    @property
    def counts(self) -> numpy.ndarray:
        """The number of neighbors of each row: int64, shape (rows,)."""
        return numpy.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            first, last, step = row.indices(len(self))
            if step != 1:
                raise ValueError(f"the step of a slice is {step}; rows follow each other, so that it must be 1")
            last = max(first, last)
            begin, end = int(self.offsets[first]), int(self.offsets[last])
            return RadiusResult(self.offsets[first:last + 1] - begin, self.indices[begin:end], self.distances[begin:end],
                                self.engine)
        row = _arrays.as_whole(row, "row")
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {row}; there are {len(self)} rows")
        row %= len(self)
        first, last = int(self.offsets[row]), int(self.offsets[row + 1])
        return self.distances[first:last], self.indices[first:last]

    def __repr__(self) -> str:
        return f"<kith.RadiusResult of {len(self)} rows with {len(self.indices)} neighbors>"


@takes_own_names
@over_ranks
def radius_search(points: AnyArray, r: float | AnyArray, queries: AnyArray | None = None, *, box: BoxLike = None,
                  exclude_self: bool = False, squared: bool = False, sort: str = "distance",
                  index_dtype: numpy.typing.DTypeLike = None, max_result_bytes: int | None = None,
                  engine: str = "auto", device: str | None = None, threads: int | None = None,
                  progress: ProgressLike = False, comm: Any = None) -> RadiusResult:
    """All points within a radius of every point, or of every query.

    Parameters
    ----------
    points, queries, box, engine, device, threads, progress, comm
        As for `kith.knn`. The engine "clover" does not support radius search, and a GPU only "tree" and "kdtree".
        Results of a GPU are copied to the host.
    r : float or array, shape (n,) or (m,)
        The radius, inclusive: one for all, or one for each query (each point, without queries). 0 or more, or infinity;
        rounded to the type of the points once. In the host's memory.
    exclude_self : bool
        Leave the point itself out. Coincident other points stay. Not with queries.
    squared : bool
        Return squared distances.
    sort : "distance" or "index"
        The order within a row: by distance, with equal ones by index; or by index.
    index_dtype : int32 or int64
        Of the indices; by default int32, over processes int64.
    max_result_bytes : int, optional
        Most bytes that indices and distances may take; by default what the machine has. They are counted before memory
        is allocated.

    Returns
    -------
    RadiusResult
        A row for each query, with `offsets`, `indices` and `distances`, and the `engine` that found them. Indices and
        distances are arrays of PyTorch or JAX if the points or the queries are, else of NumPy; in the host's memory,
        also where a GPU found them. The arrays own their memory, without a copy; JAX makes
        one where it puts arrays by default.

    Raises
    ------
    ValueError
        For a radius that is negative or NaN, or above 0 with a square that underflows relative to the largest
        coordinate; for a number of radii that is not that of the queries, and as `kith.knn`, which also describes the warning.
    TypeError
        For types that are not numbers, or complex, or wider than float64.
    MemoryError
        If the result does not fit, or takes more than `max_result_bytes`; the message says how many bytes it needs.
    NotImplementedError
        For points of other dimensions, an engine that the device does not support, and radii in the memory of a GPU.

    Notes
    -----
    Exact; close to O(n (1 + neighbors per query)) in low dimensions. Rows are counted first, then filled. Releases the
    GIL; the arrays must not be modified during the call. Source: the jz-tree paper, section III.

    Examples
    --------
    >>> import kith
    >>> found = kith.radius_search([[0, 0], [0, 1], [3, 0]], 1)
    >>> found.counts.tolist()
    [2, 2, 1]
    >>> distances, indices = found[1]
    >>> distances.tolist(), indices.tolist()
    ([0.0, 1.0], [1, 0])
    """
    refuse_scipys_order(r, queries)
    source, queries, r = normalize_arguments(points, box, one_dimension=True, queries=queries, r=r)
    queries = as_queries(queries, source)
    squared = _arrays.flag(squared, "squared")
    if not isinstance(sort, str) or sort not in ("distance", "index"):
        raise ValueError(f"sort is {sort!r}; it must be 'distance' or 'index'")
    like, index_dtype = source.prototype(queries), index_type(index_dtype, comm)
    _arrays.require_type(like, index_dtype)
    if max_result_bytes is not None:
        max_result_bytes = _arrays.at_least(1, max_result_bytes, "max_result_bytes", ", or None for what the machine has")
    offsets, indices, distances, used = _core.search_within(
        source.call(device, threads, progress, engine, queries, comm), queries, radii_of(r),
        _arrays.flag(exclude_self, "exclude_self"), squared, sort == "index", index_dtype == numpy.int64,
        max_result_bytes or 0)
    unit = source.unit**2 if squared and source.unit is not None else source.unit
    return RadiusResult(offsets, _arrays.in_library_of(like, indices),
                        _units.with_unit(_arrays.in_library_of(like, distances), unit), used)


@takes_own_names
@over_ranks
def radius_count(points: AnyArray, r: float | AnyArray, queries: AnyArray | None = None, *, box: BoxLike = None,
                 exclude_self: bool = False, engine: str = "auto", device: str | None = None,
                 threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> numpy.ndarray:
    """The number of points within a radius of every point, or of every query.

    Faster than `kith.radius_search`, and without its memory: nodes of the tree that lie within the radius as a whole
    are counted, not visited.

    Parameters
    ----------
    points, r, queries, box, exclude_self, engine, device, threads, progress, comm
        As for `kith.radius_search`.

    Returns
    -------
    counts : NumPy array of int64, shape (n,) or (m,)

    Raises
    ------
    ValueError, TypeError, MemoryError, NotImplementedError
        As `kith.radius_search`.

    Examples
    --------
    >>> import kith
    >>> kith.radius_count([[0, 0], [0, 1], [3, 0]], 1, exclude_self=True).tolist()
    [1, 1, 0]
    """
    refuse_scipys_order(r, queries)
    source, queries, r = normalize_arguments(points, box, one_dimension=True, queries=queries, r=r)
    queries = as_queries(queries, source)
    return _core.count_within(source.call(device, threads, progress, engine, queries, comm), queries, radii_of(r),
                              _arrays.flag(exclude_self, "exclude_self"))


def radii_of(r):
    """One radius, or an array with one for each query."""
    is_array = isinstance(r, (list, tuple)) or getattr(r, "ndim", 0) > 0
    return _arrays.as_column(r, "r") if is_array else _arrays.as_number(r, "r")
