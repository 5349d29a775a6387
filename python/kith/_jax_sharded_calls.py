"""The calls of kith.jax on arrays that are sharded over devices (kith/_jax_shards.py): calls of kith on the rows of this
process, whose answers are put where these rows are.
"""

import jax
import numpy

from kith import _core
from kith._fof import fof, fof_with_all_labels
from kith._jax_shards import Shards, is_sharded
from kith._knn import knn
from kith._z_order import gather


def require_no_comm(comm):
    """For points that are not sharded."""
    if comm is not None:
        raise ValueError("comm is given, but the points are not sharded over devices, or traced; leave it out, or make the "
                         "call kith.knn or kith.fof with the points of each process")


def search(options, points, queries):
    """`kith.knn` where points or queries are sharded."""
    if queries is not None and not is_sharded(points):
        rows, held, comm = numpy.asarray(points), Shards(queries, "queries", options.comm), None
    else:
        held = Shards(points, "points", options.comm)
        rows, comm = held.joined(), held.comm
    around, put = None, held.put
    if queries is not None and is_sharded(queries):
        of_queries = held if not is_sharded(points) else Shards(queries, "queries", options.comm)
        around, put = of_queries.joined(), of_queries.put
    elif queries is not None:
        if comm is not None:
            raise ValueError("the points are sharded over processes, but the queries are not; shard them over the same "
                             "processes")
        around = numpy.asarray(queries)
        put = lambda rows: jax.device_put(rows, queries.sharding)  # noqa: E731
    distances, indices = _rows(options, rows, around, points.shape[0], comm)
    return put(distances), put(indices)


def labels(points, length, is_relative, space, comm):
    """`kith.fof` of sharded points."""
    held = Shards(points, "points", comm)
    _require_counted(held.total, numpy.int32)
    found = fof(held.joined(), None if is_relative else length, b=length if is_relative else None, box=space.box(),
                comm=held.comm)
    return held.put(found.astype(numpy.int32, copy=False))


def catalog(points, columns, length, is_relative, space, min_members, max_groups, comm):
    """Labels of sharded points, the number of groups of each part, and the columns of their catalog by name.

    Each process has consecutive groups, which its parts divide equally. A part is filled up with zeros to max_groups rows, by
    default to those of the part that has most.
    """
    held = Shards(points, "points", comm)
    _require_counted(held.total, numpy.int32)
    given = {name: None if column is None else held.rows_of(column, name) for name, column in columns.items()}
    found, part = fof_with_all_labels(
        held.joined(), None if is_relative else length, b=length if is_relative else None, box=space.box(),
        min_members=min_members, return_catalog=True, comm=held.comm, **given)
    bounds = [number * len(part) // held.own_parts for number in range(held.own_parts + 1)]
    groups = numpy.diff(bounds).astype(numpy.int32)
    if max_groups is None:
        max_groups = int(groups.max())
        max_groups = max_groups if held.comm is None else max(held.comm.comm.allgather(max_groups))
    types = {"float64": points.dtype, "int64": numpy.int32, "uint8": numpy.bool_}

    def padded(column):
        rows = numpy.zeros((held.own_parts, max_groups, *column.shape[1:]), types[column.dtype.name])
        for own, begin, end in zip(rows, bounds, bounds[1:]):
            kept = column[begin:min(end, begin + max_groups)]
            own[:len(kept)] = kept
        return held.put(rows.reshape(-1, *column.shape[1:]))

    def whole(name):
        column = getattr(part, name)
        return column + part.first_member if name == "offset" and held.comm is not None else column

    names = [name for name, _, _, _, needs, _ in _core.catalog_columns if not needs or columns["velocities"] is not None]
    return held.put(found.astype(numpy.int32, copy=False)), held.put(groups), {name: padded(whole(name)) for name in names}


def reduce(function, points, fields, block_rows, options):
    """`kith.jax.reduce_neighbors` of sharded points with fields: one device of each process makes its rows."""
    held = Shards(points, "points", options.comm)
    leaves, tree = jax.tree_util.tree_flatten(fields)
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        raise TypeError("fields are traced, but reductions of sharded points have no derivatives; call the function with "
                        "ordinary arrays")
    leaves = [held.rows_of(leaf, "fields") for leaf in leaves]
    distances, indices = _rows(options, held.joined(), None, held.total, held.comm)

    def of_neighbors(indices):
        if held.comm is not None:
            found = gather(indices, *leaves, comm=held.comm)
            return found if len(leaves) > 1 else (found,)
        return [numpy.where((indices >= 0).reshape(*indices.shape, *[1] * (leaf.ndim - 1)), leaf[indices], leaf.dtype.type(0))
                for leaf in leaves]

    def summary(first):
        rows = slice(first, min(first + block_rows, held.count))
        arrays = [distances[rows], *(leaf[rows] for leaf in leaves), *of_neighbors(indices[rows])]
        near, *values = (jax.device_put(array, held.device) for array in arrays)
        own, neighbors = (jax.tree_util.tree_unflatten(tree, half) for half in (values[:len(leaves)], values[len(leaves):]))
        return jax.tree_util.tree_map(numpy.asarray, function(near, own, neighbors))

    starts = range(0, max(held.count, 1), block_rows)  # without rows once, for the shape
    found = [summary(first) for first in starts]
    for _ in range(len(starts), -(-held.most // block_rows)):
        of_neighbors(indices[:0])  # with processes that have more blocks
    return jax.tree_util.tree_map(lambda *blocks: held.put(numpy.concatenate(blocks)), *found)


def _rows(options, rows, around, total, comm):
    """Distances and indices of `kith.knn`, of the types that are asked for."""
    _require_counted(total, options.index_dtype)
    distances, indices = knn(rows, options.k, around, box=options.space.box(), exclude_self=options.exclude_self,
                             max_distance=options.max_distance, comm=comm)
    return distances, indices.astype(options.index_dtype, copy=False)


def _require_counted(total, dtype):
    if total > numpy.iinfo(dtype).max:
        raise ValueError(f"there are {total} points, more than {numpy.dtype(dtype)} counts; give index_dtype=numpy.int64 "
                         "where the function has it")

