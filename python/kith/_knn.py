"""Nearest neighbors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
import numpy.typing

from kith import _arrays, _core, _frames, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._hints import attribute_error_of_tree, takes_own_names
from kith._call import positions_of, unpacked

if TYPE_CHECKING:
    from kith import _hierarchy as linkage, _radius as radius, _spanning_tree as spanning_tree


@takes_own_names
def knn(points: AnyArray, k: int, queries: AnyArray | None = None, *, box: BoxLike = None, exclude_self: bool = False,
        max_distance: float | None = None, engine: str = "auto", device: str | None = None,
        threads: int | None = None, return_distances: bool = True, index_dtype: numpy.typing.DTypeLike = numpy.int32,
        out: Any = None, progress: ProgressLike = False) -> Any:
    """The k nearest points of every point, or of every query.

    Parameters
    ----------
    points : array, shape (n, d)
        The points that are searched, float32 or float64, d from 2 to 8, with any strides, of NumPy or a library that
        speaks DLPack (CuPy, PyTorch, JAX). Integers are taken as float64, half precision as float32; integers of JAX are
        refused. A `kith.Snapshot`, or any object with its attributes, can be passed instead; its positions and box are
        used. If they are an astropy Quantity, all lengths of the call must be (0 and infinity apart): these are
        converted to the unit of the points, and distances are returned in it.
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
        around random hubs; on a GPU a kept tree is searched as a tree.
    device : str, optional
        "cpu", "cuda" or "cuda:1". By default where the points are.
    threads : int, optional
        Of the CPU; None or 0 for all.
    return_distances : bool
        With False, only indices are found and returned.
    index_dtype : int32 or int64
        Of the indices.
    out : array or tuple of two arrays, optional
        Where to write: (distances, indices), or indices alone if distances are not wanted. Row-major without gaps,
        and apart from each other, the points and the queries.
    progress : bool or callable
        True draws a bar on the standard error. A function is called now and then with the name of the stage and the
        fraction that is done; if it returns False before the end, `kith.Canceled` is raised, and the contents of `out`
        are undefined. Any other return value is ignored.

    Returns
    -------
    KnnResult
        A tuple (distances, indices), which also has the name of the engine; indices alone with `return_distances=False`.
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
        If neighbors are too near for the type of the points beside the largest coordinate, such as a placeholder of
        1e37 in float32, so that their distances and order mean little. The text names that point and the first query.

    Notes
    -----
    Exact; close to O(n k) in low dimensions. Other threads go on meanwhile; if one of them writes to the arrays, the
    answer means nothing. Source: the jz-tree paper, sections II and III.

    Examples
    --------
    >>> import kith
    >>> distances, indices = kith.knn([[0, 0], [0, 1], [3, 0]], 2)
    >>> distances.tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 3.0]]
    >>> indices.tolist()
    [[0, 1], [1, 0], [2, 0]]
    """
    if getattr(k, "ndim", 0) == 2:
        raise TypeError(f"k is an array of shape {tuple(k.shape)}; it comes before the queries: knn(points, k, queries)")
    unit, points, box, queries, max_distance = unpacked(points, box, queries=queries, max_distance=max_distance)
    points = _arrays.as_real(points, "points")
    if queries is not None:
        queries = _arrays.as_queries(queries, _real_type(points))
    device = _arrays.device_for(device, points, queries)
    rows = Rows(points if queries is None else queries, points, _real_type(points), k, return_distances, index_dtype,
                out)
    used = _core.search_points(points, queries, box, rows.k, _arrays.flag(exclude_self, "exclude_self"),
                               _radius(max_distance), False, rows.distances, rows.indices,
                               device, threads, _arrays.progress_function(progress), _arrays.engine_name(engine))
    return rows.result(used, unit)


class _Neighbors(NamedTuple):
    distances: Any
    indices: Any


class KnnResult(_Neighbors):
    """The rows of a search: the tuple (distances, indices).

    Attributes
    ----------
    distances, indices : array
        As `kith.knn` returns them.
    engine : str
        That found them: "tree", "brute", "kdtree" or "clover".
    """

    engine: str


class Tree:
    """An index of points to build once and query many times.

    Parameters
    ----------
    points, box, device, threads, progress
        As for `kith.knn`. The points are copied.
    leaf_size : int, optional
        Most points in a leaf. Answers do not depend on it.

    Notes
    -----
    A tree cannot change: copies are the same tree. A tree in host memory is pickled as its points, and built anew on the
    CPU from the pickle; its results are then NumPy's.

    Examples
    --------
    >>> import kith
    >>> tree = kith.Tree([[0.25, 0.25], [0.875, 0.875], [0.5, 0.5]], box=1)
    >>> distances, indices = tree.query([[0.0, 0.0]], 2)
    >>> indices.tolist()
    [[1, 0]]
    >>> tree.fof(0.4).tolist()
    [0, 1, 0]
    """

    @takes_own_names
    def __init__(self, points: AnyArray, box: BoxLike = None, *, leaf_size: int | None = None,
                 device: str | None = None, threads: int | None = None, progress: ProgressLike = False) -> None:
        self._length_name = _frames.length_name(points)
        self._unit, points, box = unpacked(points, box)
        points = _arrays.as_real(points, "points")
        self._like = _arrays.prototype_of(points)
        leaf_size = None if leaf_size is None else max(-1, min(_arrays.as_whole(leaf_size, "leaf_size"), 2**31 - 1))
        self._core = _core.Tree(points, box, leaf_size, _arrays.device_for(device, points), threads,
                                _arrays.progress_function(progress))

    if not TYPE_CHECKING:  # checkers would take any name
        def __getattr__(self, name):
            raise attribute_error_of_tree(self, name)

    def __reduce__(self):
        points = self.sorted_points
        points[self.order] = points.copy()
        return _rebuilt, (points, self._unit, self.box, self._core.leaf_size, self._length_name)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: Any) -> Tree:
        return self

    def __len__(self) -> int:
        return self._core.size

    def __repr__(self) -> str:
        return (f"<kith.Tree of {len(self)} points in {self.dimension} dimensions, {self.dtype}, on "
                f"{self._core.device}>")

    @property
    def dimension(self) -> int:
        """Numbers of a point."""
        return self._core.dimension

    @property
    def dtype(self) -> numpy.dtype:
        """float32 or float64: that of the points."""
        return numpy.dtype(numpy.float64 if self._core.is_float64 else numpy.float32)

    @property
    def box(self) -> _core.Box:
        """The box, with every origin resolved."""
        return self._core.box

    @property
    def order(self) -> Any:
        """Index of each point along the z-order curve, which the tree sorts by.

        A view that cannot be written to; of a tree on a GPU, an object that CuPy and PyTorch take by DLPack.
        """
        return self._core.order

    @property
    def sorted_points(self) -> numpy.ndarray:
        """A copy of the points along the z-order curve, shape (n, d), wrapped into the box; plain numbers.

        Coordinates below 2**-173 of the largest one (2**-1053 in float64) may lose digits.
        """
        return self._core.sorted_points

    def planes(self) -> list:
        """Planes from the leaves up: for each, the first sorted position of every node, and the number of points."""
        return [self._core.plane(index) for index in range(self._core.plane_count)]

    @takes_own_names
    def query(self, queries: AnyArray | None = None, k: int = 1, *, exclude_self: bool = False,
              max_distance: float | None = None, engine: str = "auto", threads: int | None = None,
              return_distances: bool = True, index_dtype: numpy.typing.DTypeLike = numpy.int32, out: Any = None,
              progress: ProgressLike = False) -> Any:
        """The k nearest points of every query, or of every point of the tree. As `kith.knn`."""
        queries = positions_of(queries, self._length_name)
        queries, max_distance = _units.in_unit(self._unit, queries=queries, max_distance=max_distance)
        if queries is not None:
            queries = _arrays.as_queries(queries, self.dtype)
        rows = Rows(self if queries is None else queries, self._like, self.dtype, k, return_distances, index_dtype, out)
        used = _core.search_tree(self._core, queries, rows.k, _arrays.flag(exclude_self, "exclude_self"),
                                 _radius(max_distance), False, rows.distances, rows.indices, threads,
                                 _arrays.progress_function(progress), _arrays.engine_name(engine))
        return rows.result(used, self._unit)

    @takes_own_names
    def radius_search(self, r: float | AnyArray, queries: AnyArray | None = None, *, exclude_self: bool = False,
                      squared: bool = False, sort: str = "distance",
                      index_dtype: numpy.typing.DTypeLike = numpy.int32, max_result_bytes: int | None = None,
                      engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> radius.RadiusResult:
        """All points within a radius of every query, or of every point of the tree. As `kith.radius_search`."""
        from kith import _radius as radius
        queries = positions_of(queries, self._length_name)
        return radius.search_tree(self._core, self._unit, self._like, r, queries, exclude_self, squared, sort,
                                  index_dtype, max_result_bytes, engine, threads, progress)

    @takes_own_names
    def radius_count(self, r: float | AnyArray, queries: AnyArray | None = None, *, exclude_self: bool = False,
                     engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> numpy.ndarray:
        """The number of points within a radius of every query, or of every point of the tree. As
        `kith.radius_count`."""
        from kith import _radius as radius
        queries = positions_of(queries, self._length_name)
        return radius.count_tree(self._core, self._unit, r, queries, exclude_self, engine, threads, progress)

    @takes_own_names
    def fof(self, linking_length: float | None = None, *, b: float | None = None, min_members: int = 1,
            engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> Any:
        """Labels of friends-of-friends groups of positions, without a catalog. Otherwise as `kith.fof`."""
        from kith import _fof as groups
        linking_length, = _units.in_unit(self._unit, linking_length=linking_length)
        labels, summary = groups.label(self, linking_length, b, None, engine, None, threads, progress)
        return groups.masked(labels, summary, min_members)

    @takes_own_names
    def dbscan(self, eps: float, min_samples: int = 5, *, star: bool = False, return_core: bool = False,
               engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> Any:
        """Labels of DBSCAN's clusters. As `kith.dbscan`."""
        from kith import _dbscan as clusters
        return clusters.label_tree(self._core, self._unit, self._like, len(self), eps, min_samples, star, return_core,
                                   engine, threads, progress)

    @takes_own_names
    def hierarchy(self, *, threads: int | None = None, progress: ProgressLike = False) -> linkage.Hierarchy:
        """All friends-of-friends groups, at every linking length. As `kith.hierarchy`."""
        from kith import _hierarchy as linkage
        return linkage.of_tree(self, threads, progress)

    @takes_own_names
    def fof_ladder(self, linking_lengths: Any = None, *, b: Any = None, min_members: int = 1, threads: int | None = None,
                   progress: ProgressLike = False) -> linkage.FofLadder:
        """Groups at several linking lengths. As `kith.fof_ladder`."""
        from kith import _hierarchy as linkage
        return linkage.ladder_of_tree(self, linking_lengths, b, min_members, threads, progress)

    @takes_own_names
    def mst(self, *, engine: str = "auto", threads: int | None = None,
            progress: ProgressLike = False) -> spanning_tree.SpanningTree:
        """The minimum spanning tree of the points. As `kith.mst`."""
        from kith import _spanning_tree as spanning_tree
        return spanning_tree.of_tree(self._core, self._unit, self._like, engine, threads, progress)


def _rebuilt(points, unit, box, leaf_size, length_name=None):
    """A tree that was pickled."""
    tree = Tree(points, box, leaf_size=leaf_size)
    tree._unit, tree._length_name = unit, length_name
    return tree


class Rows:
    """Where a search writes, and what it returns: a row for each of what is searched around.

    Results are of the library and in the memory of that, or of the points (`like`) where that is a list or NumPy's.
    """

    def __init__(self, around, like, real_type, k, return_distances, index_dtype, out):
        count = len(around) if isinstance(around, Tree) or len(around.shape) else 0
        like = around if _arrays.library_of(around) in _arrays.LIBRARIES else like
        self.k = _arrays.as_whole(k, "k")
        index_dtype = _arrays.index_type(index_dtype)
        return_distances = _arrays.flag(return_distances, "return_distances")
        if self.k < 1:
            raise ValueError(f"k is {self.k}; it must be 1 or more")
        shape = (count, self.k)
        self.distances = None
        self._finish = _arrays.as_it_is
        if out is not None:
            self._take(out, shape, real_type, return_distances)
            return
        if return_distances:
            self.distances, self._finish = _arrays.empty_like(like, shape, real_type)
        self.indices, self._finish = _arrays.empty_like(like, shape, index_dtype)

    def _take(self, out, shape, real_type, return_distances):
        if return_distances:
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise TypeError("out must be a tuple of two arrays, (distances, indices)")
            self.distances, self.indices = out
            _arrays.require_out(self.distances, shape, [real_type], "the array for distances")
        else:
            self.indices = out
        _arrays.require_out(self.indices, shape, ["int32", "int64"], "the array for indices")

    def result(self, engine, unit):
        indices = self._finish(self.indices)
        if self.distances is None:
            return indices
        found = KnnResult(_units.attached(self._finish(self.distances), unit), indices)
        found.engine = engine
        return found


def _real_type(points):
    return numpy.float64 if _arrays.is_float64(points) else numpy.float32


def _radius(max_distance):
    return math.inf if max_distance is None else _arrays.as_number(max_distance, "max_distance")
