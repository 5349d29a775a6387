"""Searches, groups and z-order under `jax.jit`, with distances that can be differentiated.

They are custom calls of XLA, on CPUs and NVIDIA GPUs; arrays stay where they are. The number of neighbors, the box and
the other options are ordinary Python values, fixed when a function is traced. `jax.vmap` makes one call of a batch; if
all its queries are of the same points, they are one search. kith must have been built with JAX at hand:
`pip install --no-build-isolation .` where JAX, nanobind and scikit-build-core are installed.

`knn`, `fof`, `fof_catalog` and `reduce_neighbors` also take arrays whose rows are sharded over several devices, by a
`NamedSharding` or another sharding over the first axis, and return arrays sharded alike: the bits of one device, with the
indices of all rows. Such a call is made eagerly. Under `jax.jit`, and for points that differ between devices of a
`jax.shard_map`, it is refused; there each device would search all points again, or its own alone. Devices are those of CPUs:
a process joins its shards in its memory. Shards of GPUs are refused. Of arrays that several processes share
(`jax.distributed`) `comm` names the processes, which all make the call; each passes to others only the points that these
ask for. No index is kept for a sharded `Tree`. Derivatives of `knn` are those of JAX, which may gather points and needs
`jax.set_mesh` if axes of the mesh are explicit.
"""

import collections
import math

import numpy

from kith import _arrays, _core, _fof, _jax_search, _jax_sharded_calls
from kith._jax_rows import column, in_input_order, of_neighbors, rows_of, rows_of_function, without
from kith._jax_search import as_array, is_sharded, jax, jnp, number_of_neighbors, real, space_of, whole

# Groups and the columns of `kith.Catalog`; `velocity` and `velocity_dispersion` are None without velocities.
Catalog = collections.namedtuple("Catalog", ("groups", *(column[0] for column in _core.catalog_columns)))


@jax.tree_util.register_pytree_node_class
class Tree:
    """Points whose index is kept: the first call that needs it builds it, later ones find it.

    `knn`, `fof`, `fof_catalog`, `z_order` and `reduce_neighbors` take it in place of the points and their box, under
    `jax.jit` or not, and give the same results.

    Parameters
    ----------
    points : array, shape (n, d)
        float32, or float64 where JAX has it switched on.
    box
        As for `kith.knn`; an ordinary Python value.

    Attributes
    ----------
    points
        The points: the only array of this tree as JAX sees it, so that a `Tree` can be an argument or a result of
        functions under `jax.jit`, `jax.grad` and `jax.vmap`, and be made within them.

    Notes
    -----
    kith keeps the indices of the process that were used last, 1 GiB of them and at least one, and compares the points
    with those of an index, bit for bit, before it takes it: a tree whose points were changed is indexed anew. That
    comparison reads all points in each call, a millisecond for a million of them. `release_trees` frees the memory. On a
    GPU no index is kept: each call builds its own.

    Examples
    --------
    >>> import jax, kith.jax
    >>> tree = kith.jax.Tree(jax.numpy.array([[0.25, 0.25], [0.875, 0.875]]), box=1)
    >>> search = jax.jit(lambda tree, queries: kith.jax.knn(tree, 1, queries)[1])
    >>> search(tree, jax.numpy.array([[0.0, 0.0]])).tolist()
    [[1]]
    """

    def __init__(self, points, *, box=None):
        self.points = real(points, "points")
        self._space = space_of(box, self.points.shape[1], is_kept=True)

    def tree_flatten(self):
        return (self.points,), self._space

    @classmethod
    def tree_unflatten(cls, space, leaves):  # leaves may be anything: JAX puts its own there
        self = object.__new__(cls)
        self._space, (self.points,) = space, leaves
        return self


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
    points, space = _points(points, box)
    options = _options(k, space, exclude_self, max_distance, index_dtype, comm)
    if options.exclude_self and queries is not None:
        raise ValueError("exclude_self is for searches around the points themselves; leave it or the queries out")
    if queries is None:
        return _jax_search.search(options, points, None)
    queries = real(queries, "queries")
    if queries.shape[1] != points.shape[1] or queries.dtype != points.dtype:
        raise TypeError(f"queries are of shape {queries.shape} and type {queries.dtype}, the points of shape "
                        f"{points.shape} and type {points.dtype}; dimension and type must agree")
    return _jax_search.search(options, points, queries)


def fof(points, linking_length=None, *, b=None, box=None, comm=None):
    """Labels of friends-of-friends groups, int32, shape (n,). As `kith.fof`; all options are ordinary Python values.

    `comm` is for points that are sharded over processes, as for `knn`.

    >>> import jax, kith.jax
    >>> jax.jit(lambda x: kith.jax.fof(x, 1.0))(jax.numpy.array([[5.0, 5], [0, 0], [0, 1]])).tolist()
    [1, 0, 0]
    """
    length, is_relative = _length(linking_length, b)
    points, space = _points(points, box)
    points = jax.lax.stop_gradient(points)
    if is_sharded(points):
        return _jax_sharded_calls.labels(points, length, is_relative, space, comm)
    _jax_sharded_calls.require_no_comm(comm)
    call = jax.ffi.ffi_call("kith_label", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(whole(points, "points"), length=numpy.float64(length), is_relative=is_relative, **space.attributes())


def fof_catalog(points, linking_length=None, *, b=None, box=None, velocities=None, masses=None, types=None,
                min_members=20, max_groups=None):
    """Labels of friends-of-friends groups, and what is known of each group.

    As `kith.fof` with `return_catalog=True`; what differs is said here.

    Parameters
    ----------
    points : array, shape (n, d), or Tree
        float32, or float64 where JAX has it switched on.
    velocities, masses, types : arrays, optional
        Of each point: numbers of the same type as the points, shapes (n, d) and (n,), and whole numbers from 0 to 6.
    linking_length, b, box, min_members
        Ordinary Python values, not traced ones.
    max_groups : int, optional
        Rows of the catalog. By default as many as there can be, n / min_members.

    Returns
    -------
    labels : int32, shape (n,)
    catalog : Catalog
        A named tuple: `groups`, the number of groups of min_members or more, and the columns of `kith.Catalog`, with
        max_groups rows. Those of no group are 0. If `groups` is larger than max_groups, the largest groups are there.
        Real numbers are of the type of the points, whole ones int32. Of points that are sharded in P parts there are
        P parts of max_groups rows, sharded like the points, and by default with as few rows as all groups need: `groups` has
        the number of groups of each part, shape (P,), and the groups of a part follow those of the part before.

    Raises
    ------
    TypeError, ValueError
        As `knn`; for columns of other shapes or types.
    NotImplementedError
        For points that are sharded over GPUs or several processes.

    Notes
    -----
    Not differentiable: take sums over the members that `group_order` brings together. On a GPU the call waits.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[5.0, 5], [0, 0], [0, 1]])
    >>> labels, catalog = jax.jit(lambda x: kith.jax.fof_catalog(x, 1.0, min_members=2, max_groups=3))(points)
    >>> int(catalog.groups), catalog.count.tolist(), catalog.center[0].tolist()
    (1, [2, 0, 0], [0.0, 0.5])
    """
    length, is_relative = _length(linking_length, b)
    points, space = _points(points, box)
    count, dimension = points.shape
    min_members = _fof.at_least_one(min_members)
    has_default = max_groups is None
    max_groups = count // min_members if has_default else _arrays.as_whole(max_groups, "max_groups")
    if not 0 <= max_groups <= numpy.iinfo(numpy.int32).max:
        raise ValueError(f"max_groups is {max_groups}; it must be from 0 to {numpy.iinfo(numpy.int32).max}")
    given = {"velocities": velocities, "masses": masses, "types": types}
    shapes = {"velocities": points.shape, "masses": (count,), "types": (count,)}
    if is_sharded(points):
        def describe(points, given):
            tree = Tree.tree_unflatten(space, (points,))
            return fof_catalog(tree, linking_length, b=b, min_members=min_members, **given)

        given = {name: array if array is None else column(array, name, points.dtype, shapes[name])
                 for name, array in given.items()}
        return _jax_sharded_calls.catalog(describe, points, given, None if has_default else max_groups)
    points = whole(points, "points")
    columns = {name: column(array, name, points.dtype, shapes[name]) for name, array in given.items()}
    rows = {"(g,)": (max_groups,), "(g, d)": (max_groups, dimension), "(g, 7)": (max_groups, 7)}
    dtypes = {"float64": points.dtype, "int64": jnp.int32, "uint8": jnp.bool_}
    results = {name: jax.ShapeDtypeStruct(rows[shape], dtypes[dtype])
               for name, shape, dtype, _, needs, _ in _core.catalog_columns
               if not needs or velocities is not None}
    of_labels, of_groups = jax.ShapeDtypeStruct((count,), jnp.int32), jax.ShapeDtypeStruct((), jnp.int32)
    call = jax.ffi.ffi_call("kith_catalog", [of_labels, of_groups, *results.values()], vmap_method="expand_dims")
    labels, groups, *found = call(
        points, *columns.values(), **{f"has_{name}": array is not None for name, array in given.items()},
        length=numpy.float64(length), is_relative=is_relative, min_members=numpy.int64(min_members),
        **space.attributes())
    return labels, Catalog(groups, **{**dict.fromkeys(Catalog._fields[1:]), **dict(zip(results, found))})


def group_order(labels, max_groups, arrays=()):
    """The particles of the groups together, the largest group first.

    Parameters
    ----------
    labels : int32, shape (n,)
        Of `fof` or `fof_catalog`.
    max_groups : int
        For how many groups to say where they are; an ordinary Python value.
    arrays : tree of arrays of n rows, optional
        Positions, velocities, and others to bring into that order. Differentiable.

    Returns
    -------
    order : int32, shape (n,)
        Points by label, those of one group in their own order. With a catalog's `offset` and `count` these are the
        members of a group; in a `kith.Catalog` they are sorted by type before.
    offsets : int32, shape (max_groups + 1,)
        Group g is at offsets[g] to offsets[g + 1] - 1; groups that do not exist are empty.
    arrays
        A tree like the one given.

    Examples
    --------
    >>> import jax, kith.jax
    >>> order, offsets, _ = kith.jax.group_order(jax.numpy.array([1, 0, 2, 0]), 3)
    >>> order.tolist(), offsets.tolist()
    ([1, 3, 0, 2], [0, 2, 3, 4])
    """
    labels = as_array(labels, "labels")
    if labels.ndim != 1 or not jnp.issubdtype(labels.dtype, jnp.integer):
        raise TypeError(f"labels are of shape {labels.shape} and type {labels.dtype}; they must be n whole numbers")
    max_groups = _arrays.as_whole(max_groups, "max_groups")
    if max_groups < 0:
        raise ValueError(f"max_groups is {max_groups}; it must be 0 or more")
    order = jnp.argsort(labels, stable=True).astype(jnp.int32)
    offsets = jnp.searchsorted(labels[order], jnp.arange(max_groups + 1)).astype(jnp.int32)
    return order, offsets, jax.tree_util.tree_map(lambda rows: rows_of(rows, len(labels), "arrays")[order], arrays)


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


def z_order(points, *, box=None):
    """Indices of the points along the z-order curve, int32, shape (n,).

    `points[z_order(points)]` are in the order in which kith sorts points: neighbors in space are near each other in
    memory. Points with equal coordinates are in the order of their indices.

    >>> import jax, kith.jax
    >>> jax.jit(kith.jax.z_order)(jax.numpy.array([[3.0, 3], [0, 1], [0, 0]])).tolist()
    [2, 1, 0]
    """
    points, space = _points(points, box)
    call = jax.ffi.ffi_call("kith_order", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(jax.lax.stop_gradient(points), **space.attributes())


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
    as `knn` is, also with respect to fields: blocks are then computed once more rather than stored. Blocks search a
    `Tree`, which on a GPU each of them builds. Of sharded points neighbors are stored, their fields a block at a time, and
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
    points, space = _points(points, box)
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
        order = z_order(_tree_of(space, points))
        ordered = points[order]
        found = function(*knn(_tree_of(space, ordered), k, exclude_self=exclude_self, **options), ordered)
    return jax.tree_util.tree_map(lambda rows: in_input_order(rows, order), found)


def _reduce_fields(function, points, space, k, fields, block_rows, exclude_self, options):
    count = points.shape[0]
    fields = jax.tree_util.tree_map(lambda rows: rows_of(rows, count, "fields"), fields)
    block_rows = _block_rows(block_rows, k)
    tree = _tree_of(space._replace(is_kept=True), points)
    order = z_order(tree)

    @jax.checkpoint
    def reduce(own):
        distances, indices = knn(tree, k + exclude_self, points[own], **options)
        if exclude_self:
            distances, indices = without(own, distances, indices)
        found = function(distances, jax.tree_util.tree_map(lambda rows: rows[own], fields),
                         jax.tree_util.tree_map(lambda rows: of_neighbors(rows, indices), fields))
        return jax.tree_util.tree_map(lambda rows: rows_of_function(rows, own.shape[0]), found)

    if count <= block_rows:
        return reduce(order), order
    blocks = -(-count // block_rows)
    padded = jnp.zeros(blocks * block_rows, order.dtype).at[:count].set(order)  # the first point, more than once
    found = jax.lax.map(reduce, padded.reshape(blocks, block_rows))
    return jax.tree_util.tree_map(lambda rows: rows.reshape(-1, *rows.shape[2:])[:count], found), order


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


def _tree_of(space, points):
    return Tree.tree_unflatten(space, (points,))


def _points(points, box):
    """The array of points, and where they are."""
    if not isinstance(points, Tree):
        points = real(points, "points")
        return points, space_of(box, points.shape[1])
    if box is not None:
        raise ValueError("box is given for a Tree, which has its own; leave it out")
    return real(points.points, "points"), points._space


def _length(linking_length, b):
    length, is_relative = _arrays.length(linking_length, b)
    if not 0 <= length < math.inf:
        raise ValueError(f"the linking length is {length}; it must be a finite number, 0 or more")
    return length, is_relative
