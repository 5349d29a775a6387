"""Searches, groups, sums and z-order under `jax.jit`, with distances and sums that can be differentiated.

They are custom calls of XLA, on CPUs and NVIDIA GPUs, sums on CPUs alone; arrays stay where they are. The number of neighbors, the box and
the other options are ordinary Python values, fixed when a function is traced. `jax.vmap` makes one call of a batch; if
all its queries are of the same points, they are one search. kith must have been built with JAX at hand:
`pip install --no-build-isolation .` where JAX, nanobind and scikit-build-core are installed.

`knn`, `fof`, `fof_catalog` and `reduce_neighbors` also take arrays whose rows are sharded over several devices, by a
`NamedSharding` or another sharding over the first axis, and return arrays sharded alike: the bits of one device, with the
indices of all rows. Such a call is made eagerly. Under `jax.jit`, and for points that differ between devices of a
`jax.shard_map`, it is refused; there each device would search all points again, or its own alone. Devices are those of CPUs:
a process joins its shards in its memory. Shards of GPUs are refused. Of arrays that several processes share
(`jax.distributed`) `comm` names the processes, which all make the call; each passes to others only the points that these
ask for. Such calls warn as those of `kith` do, and keep no index of a sharded `Tree`. Derivatives of `knn` are those of JAX,
which may gather points, and needs `jax.set_mesh` if axes of the mesh are explicit.
"""

import math

import numpy

from kith import _arrays, _jax_search, _jax_sharded_calls
from kith._jax_groups import Catalog as Catalog, fof as fof, fof_catalog as fof_catalog, group_order as group_order
from kith._jax_rows import in_blocks, in_input_order, of_neighbors, rows_of, rows_of_function, without
from kith._jax_search import as_array, is_sharded, jax, number_of_neighbors, real
from kith._jax_sums import NeighborSums as NeighborSums, density as density, sum_neighbors as sum_neighbors
from kith._jax_tree import Tree as Tree, index_of, indexed_tree_of, points_of, tree_of, z_order


def release_trees():
    """Frees the memory of the indices that are kept for `Tree`; later calls build them anew."""
    _jax_search.release_trees()


def knn(points, k, queries=None, *, box=None, exclude_self=False, max_distance=None, index_dtype=numpy.int32, comm=None):
    """The k nearest points of every point, or of every query.

    As `kith.knn`; what differs is said here.

    Parameters
    ----------
    points : array, shape (n, d), or Tree
        float32, or float64 where JAX has it switched on.
    k, box, exclude_self, max_distance, index_dtype
        Ordinary Python values, not traced ones.
    queries : array, shape (m, d), optional
        Of sharded points: sharded over the same processes, or all within this one.
    comm : communicator of mpi4py or kith.mpi.Ranks, optional
        For points that are sharded over several processes, and only for these: the processes, a rank each, in the order of
        their rows, of which each has consecutive ones.

    Returns
    -------
    distances : array, shape (n, k) or (m, k)
        Differentiable, forward and in reverse and more than once, with respect to points and queries, as long as no
        neighbor changes: the derivative of a distance is the direction between its two points. That of a distance of
        0, and of a missing neighbor's, is 0.
    indices : array of the same shape

    Raises
    ------
    TypeError
        For arrays that are not float32 or float64 of shape (n, d); for traced arrays that are sharded, as far as their type
        says so.
    ValueError
        For k < 1 and other options that have no meaning; for points that are sharded over another axis than the first, or
        over several processes without `comm`.
    NotImplementedError
        For points that are sharded over GPUs.
    Exception
        What XLA makes of kith's errors when the values turn out to be wrong, or sharded under `jax.jit`: its text holds
        kith's. On a GPU the call
        does not wait for the values; if they are wrong, the results are NaN and -1, and the error is raised by a later
        call or by `kith.jax.synchronize`.

    Notes
    -----
    Neighbors too near for the type of the points, of which `kith.knn` warns, pass without a warning.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[0.0, 0.0], [0.0, 2.0]])
    >>> mean = jax.jit(lambda x: kith.jax.knn(x, 1, exclude_self=True)[0].mean())
    >>> float(mean(points))
    2.0
    >>> jax.grad(mean)(points).tolist()
    [[0.0, -1.0], [0.0, 1.0]]
    """
    index = index_of(points)
    points, space = points_of(points, box)
    options = _options(k, space, exclude_self, max_distance, index_dtype, comm)
    if options.exclude_self and queries is not None:
        raise ValueError("exclude_self is for searches around the points themselves; leave it or the queries out")
    if queries is None:
        return _jax_search.search(options, points, None, index)
    queries = real(queries, "queries")
    if queries.shape[1] != points.shape[1] or queries.dtype != points.dtype:
        raise TypeError(f"queries are of shape {queries.shape} and type {queries.dtype}, the points of shape "
                        f"{points.shape} and type {points.dtype}; dimension and type must agree")
    return _jax_search.search(options, points, queries, index)


def synchronize():
    """Waits for the searches and labels that are under way on GPUs, and raises the first error among them.

    On a GPU they do not wait for their points. If these turn out to be wrong, results are filled with NaN and -1, and
    the error is raised here or when a later search or labeling begins. On the CPU errors are raised at once.

    Raises
    ------
    ValueError
        For points or queries that are not finite, and others that `kith.knn` and `kith.fof` refuse.

    Examples
    --------
    >>> import kith.jax
    >>> kith.jax.synchronize()
    """
    _jax_search.synchronize()


def reduce_neighbors(function, points, k, *, fields=None, block_rows=None, box=None, exclude_self=False,
                     max_distance=None, index_dtype=numpy.int32, comm=None):
    """A summary of the neighbors of each point, without bringing the neighbors themselves into the order of the points.

    Points are taken in z-order; only what `function` makes of their neighbors is put back. That saves most of the
    memory traffic of results where a few numbers a point are wanted, such as a density. With `fields` it saves the
    memory, too: neighbors are those of a block of points at a time.

    Parameters
    ----------
    function : callable
        ``function(distances, indices, points)`` gets the rows of `knn` and the points, both in z-order, where indices
        are rows of these points. With `fields` it is ``function(distances, own, neighbors)``, called for blocks of
        m points: distances are m x k, `own` holds the m rows of the fields, and `neighbors` those of their neighbors,
        m x k x ..., with zeros where there is no neighbor. It returns an array of as many rows as it gets, or a tree of
        such arrays, in the same order.
    fields : tree of arrays of n rows, optional
        What function needs to know of each point: masses, velocities, positions, ...
    block_rows : int, optional
        Points in a block; by default those with 4 million neighbors.
    points, k, box, exclude_self, max_distance, index_dtype, comm
        As for `knn`. Of points that are sharded, `fields` must be given, and are sharded like the points or held by this
        process. The function is called for blocks of the rows of each process, with arrays of one of its devices.

    Returns
    -------
    What `function` returns, its rows in the order of `points`.

    Notes
    -----
    Among equally distant points z-order decides, not the order of `points`; with `fields` as in `knn`. Differentiable
    as `knn` is, also with respect to fields: blocks are then computed once more rather than stored. Blocks search
    one `Tree`. Of sharded points neighbors are stored, their fields a block at a time, and
    fields have no derivatives.

    Source: J. Stücker et al. (2026), arXiv:2604.05885, section III-E.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[3.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> kith.jax.reduce_neighbors(lambda distances, indices, points: distances[:, 1], points, 2).tolist()
    [3.0, 1.0, 1.0]
    >>> masses = jax.numpy.array([1.0, 2.0, 4.0])
    >>> total = lambda distances, own, neighbors: neighbors.sum(axis=1)
    >>> kith.jax.reduce_neighbors(total, points, 2, fields=masses).tolist()
    [3.0, 6.0, 6.0]
    """
    points, space = points_of(points, box)
    checked = _options(k, space, exclude_self, max_distance, index_dtype, comm)
    k, exclude_self = checked.k, checked.exclude_self
    if is_sharded(points):
        if fields is None:
            raise ValueError("the points are sharded over devices, of which none has all neighbors; give what the function "
                             "needs "
                             "to know of them as fields")
        fields = jax.tree_util.tree_map(lambda rows: as_array(rows, "fields"), fields)

        def rows_of_block(distances, own, neighbors):
            found = function(distances, own, neighbors)
            return jax.tree_util.tree_map(lambda rows: rows_of_function(rows, distances.shape[0]), found)

        return _jax_sharded_calls.reduce(rows_of_block, points, fields, _block_rows(block_rows, k), checked)
    _jax_sharded_calls.require_no_comm(comm)
    options = {"max_distance": max_distance, "index_dtype": index_dtype}
    if fields is not None:
        found, order = _reduce_fields(function, points, space, k, fields, block_rows, exclude_self, options)
    elif block_rows is not None:
        raise ValueError("block_rows is given without fields; leave it out")
    else:
        order = z_order(tree_of(space, points))
        ordered = points[order]
        found = function(*knn(tree_of(space, ordered), k, exclude_self=exclude_self, **options), ordered)
    return jax.tree_util.tree_map(lambda rows: in_input_order(rows, order), found)


def _reduce_fields(function, points, space, k, fields, block_rows, exclude_self, options):
    count = points.shape[0]
    fields = jax.tree_util.tree_map(lambda rows: rows_of(rows, count, "fields"), fields)
    block_rows = _block_rows(block_rows, k)
    tree = indexed_tree_of(space, points)
    order = z_order(tree)

    @jax.checkpoint
    def reduce(own):
        distances, indices = knn(tree, k + exclude_self, points[own], **options)
        if exclude_self:
            distances, indices = without(own, distances, indices)
        found = function(distances, jax.tree_util.tree_map(lambda rows: rows[own], fields),
                         jax.tree_util.tree_map(lambda rows: of_neighbors(rows, indices), fields))
        return jax.tree_util.tree_map(lambda rows: rows_of_function(rows, own.shape[0]), found)

    return in_blocks(reduce, order, block_rows), order


def _block_rows(block_rows, k):
    block_rows = max(1, 2**22 // k) if block_rows is None else _arrays.as_whole(block_rows, "block_rows")
    if block_rows < 1:
        raise ValueError(f"block_rows is {block_rows}; it must be 1 or more")
    return block_rows


def _options(k, space, exclude_self, max_distance, index_dtype, comm):
    k, index_dtype = number_of_neighbors(k), _arrays.index_type(index_dtype)
    max_distance = math.inf if max_distance is None else _arrays.as_number(max_distance, "max_distance")
    if not max_distance >= 0:
        raise ValueError(f"max_distance is {max_distance}; it must be 0 or more")
    exclude_self = _arrays.flag(exclude_self, "exclude_self")
    return _jax_search.Options(k, exclude_self, max_distance, index_dtype.name, space, comm)
