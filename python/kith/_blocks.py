"""Rows of neighbors in blocks, for reductions of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy

from kith import _arrays, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import normalize_arguments, of_all, over_ranks
from kith._hints import takes_own_names
from kith._knn import knn
from kith._tree import Tree
from kith._z_order import z_order


class KnnBlock(NamedTuple):
    """Some rows of `kith.knn_blocks`, in NumPy arrays of their own.

    Attributes
    ----------
    query_indices : array, shape (rows,)
        Row of the points, or of the queries, around which each row is.
    distances, indices : array, shape (rows, k)
        As those of `kith.knn`.
    """

    query_indices: Any
    distances: Any
    indices: Any


@takes_own_names
def knn_blocks(points: AnyArray, k: int, queries: AnyArray | None = None, *, block_rows: int = 65536,
               box: BoxLike = None, exclude_self: bool = False, max_distance: float | None = None,
               threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Iterator[KnnBlock]:
    """The rows of `kith.knn`, block by block, for reductions that need no list of all neighbors.

    Parameters
    ----------
    points, k, queries, box, exclude_self, max_distance, threads, progress
        As for `kith.knn`. In the host's memory. `progress` is that of the tree, which is built first, unless it is given.
    comm : communicator of mpi4py or kith.mpi.Ranks, optional
        As for `kith.knn`. All processes get as many blocks, the last ones perhaps empty: they search for each together,
        so all must take all of them. `block_rows` must be the same on all.
    block_rows : int
        Most rows of a block, 1 or more.

    Yields
    ------
    KnnBlock
        Query indices, distances and indices. Without queries blocks are compact: they follow the z-order curve. Queries
        are taken in their order.

    Raises
    ------
    ValueError, TypeError, MemoryError, NotImplementedError
        As `kith.knn`, before the first block; for queries that are not finite, at their block.

    Notes
    -----
    Memory: the tree's, and that of one block, some block_rows * k * 8 bytes in float32. Over processes each block is a
    call of `kith.knn`, which builds trees and exchanges points: take large blocks.

    Examples
    --------
    >>> import numpy, kith
    >>> points = numpy.random.default_rng(1).random((10_000, 3))
    >>> farthest = numpy.empty(len(points))
    >>> for rows, distances, indices in kith.knn_blocks(points, 8, block_rows=1000):
    ...     farthest[rows] = distances[:, -1]
    >>> bool((farthest == kith.knn(points, 8)[0][:, -1]).all())
    True
    """
    if comm is not None:
        return _over_ranks(points, k, queries, block_rows, box, exclude_self, comm,
                           {"box": box, "max_distance": max_distance, "threads": threads, "progress": progress})
    k, block_rows, exclude_self = _checked(k, block_rows, exclude_self, queries)
    if isinstance(points, Tree) and points.engine != "tree":
        raise NotImplementedError(f"the tree is of engine {points.engine!r}; blocks are of one of engine 'tree'")
    source, queries = normalize_arguments(points, box, one_dimension=True, queries=queries)
    queries = None if queries is None else _arrays.as_queries(queries, source.real_type)
    if isinstance(points, Tree):
        tree = points
        if box is not None:
            raise ValueError("points is a kith.Tree, which has its own box; leave box out")
    else:
        tree = Tree(points, box=box, engine="tree", device="cpu", threads=threads, progress=progress)
    options = {"max_distance": max_distance, "threads": threads}
    probe = tree.sorted_points[:0] if queries is None else queries[:1] if queries.ndim == 2 else queries
    tree.query(_units.with_unit(probe, source.unit), k, **options)  # refuses what is wrong
    return _blocks(tree, k, queries, source.unit, block_rows, exclude_self, options)


def _checked(k, block_rows, exclude_self, queries):
    k, block_rows = _arrays.at_least(1, k, "k"), _arrays.at_least(1, block_rows, "block_rows")
    exclude_self = _arrays.flag(exclude_self, "exclude_self")
    if exclude_self and queries is not None:
        raise ValueError("exclude_self is for searches without queries; leave it out")
    return k, block_rows, exclude_self


class _Share(NamedTuple):
    """What a process searches around: of its own points or queries."""

    around: Any
    unit: Any
    order: Any  # of the rows
    first_point: int  # global index
    block_rows: int
    blocks: int  # of the process that has most


@over_ranks
def _share(points, k, queries, block_rows, box, exclude_self, *, comm):
    k, block_rows, exclude_self = _checked(k, block_rows, exclude_self, queries)
    if isinstance(points, Tree):
        raise NotImplementedError("points is a kith.Tree, which holds those of one process; over processes give the points")
    source, queries = normalize_arguments(points, box, one_dimension=True, queries=queries)
    around = numpy.asarray(source.like) if queries is None else _arrays.as_queries(queries, source.real_type)
    comm.require_same("block_rows", block_rows)
    comm.require_same("exclude_self", exclude_self)
    comm.require_same("whether there are queries", queries is not None)
    rows = len(around) if around.ndim == 2 else 0
    of_ranks = of_all(comm, (source.shape[0] if source.shape else 0, -(-rows // block_rows)))
    first = sum(count for count, _ in of_ranks[:comm.rank])
    return _Share(around, source.unit, numpy.arange(rows), first, block_rows, max(blocks for _, blocks in of_ranks))


def _over_ranks(points, k, queries, block_rows, box, exclude_self, comm, options):
    share = _share(points, k, queries, block_rows, box, exclude_self, comm=comm)

    def find(rows, neighbors):
        return knn(points, neighbors, queries=_units.with_unit(share.around[rows], share.unit), comm=comm, **options)

    find(slice(0, 0), k)  # refuses what is wrong
    names = None
    if queries is None:
        in_order = share.around[:, 0].argsort() if share.around.shape[1] == 1 else z_order(points, box=box, threads=options["threads"])
        share = share._replace(order=numpy.asarray(in_order))
        if exclude_self:
            ids = getattr(comm, "ids", None)
            names = (share.first_point + numpy.arange(len(share.around)) if ids is None
                     else _arrays.as_integers(ids, numpy.int64, "ids"))
    return _blocks_over_ranks(find, k, share, names)


def _blocks_over_ranks(find, k, share, names):
    """Rows of the share; without their own points if these have names."""
    for begin in range(0, share.blocks * share.block_rows, share.block_rows):
        rows = share.order[begin:begin + share.block_rows]
        distances, indices = find(rows, k + (names is not None))
        if names is not None:
            distances, indices = _without(names[rows], distances, indices)
        yield KnnBlock(numpy.array(rows), distances, indices)


def _blocks(tree, k, queries, unit, block_rows, exclude_self, options):
    order = numpy.arange(len(queries)) if queries is not None else tree.order
    around = tree.sorted_points if queries is None else queries
    for begin in range(0, len(around), block_rows):
        rows = order[begin:begin + block_rows]
        found = tree.query(_units.with_unit(around[begin:begin + block_rows], unit), k + exclude_self, **options)
        distances, indices = found
        if exclude_self:
            distances, indices = _without(rows, distances, indices)
        yield KnnBlock(numpy.array(rows), distances, indices)


def _without(rows, distances, indices):
    """Rows of one neighbor less: without their own point, or where it is none of them without the last one."""
    is_own = indices == rows[:, None]
    dropped = numpy.where(is_own.any(axis=1), is_own.argmax(axis=1), indices.shape[1] - 1)
    kept = numpy.arange(indices.shape[1]) != dropped[:, None]
    shape = (len(rows), indices.shape[1] - 1)
    return distances[kept].reshape(shape), indices[kept].reshape(shape)
