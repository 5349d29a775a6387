"""Friends-of-friends groups, their catalog, and their order, of kith.jax."""

import collections
import math

import numpy

from kith import _arrays, _core, _fof, _jax_sharded_calls
from kith._jax_rows import column, rows_of
from kith._jax_search import as_array, index_operand, is_sharded, jax, jnp, whole
from kith._jax_tree import index_of, points_of

# Groups and the columns of `kith.Catalog`; `velocity` and `velocity_dispersion` are None without velocities.
Catalog = collections.namedtuple("Catalog", ("groups", *(column[0] for column in _core.catalog_columns)))


def fof(points, linking_length=None, *, b=None, box=None, comm=None):
    """Labels of friends-of-friends groups, int32, shape (n,). As `kith.fof`; all options are ordinary Python values.

    `comm` is for points that are sharded over processes, as for `knn`.

    >>> import jax, kith.jax
    >>> jax.jit(lambda x: kith.jax.fof(x, 1.0))(jax.numpy.array([[5.0, 5], [0, 0], [0, 1]])).tolist()
    [1, 0, 0]
    """
    length, is_relative = _length(linking_length, b)
    index = index_of(points)
    points, space = points_of(points, box)
    points = jax.lax.stop_gradient(points)
    if is_sharded(points):
        return _jax_sharded_calls.labels(points, length, is_relative, space, comm)
    _jax_sharded_calls.require_no_comm(comm)
    call = jax.ffi.ffi_call("kith_label", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(whole(points, "points"), index_operand(index), length=numpy.float64(length), is_relative=is_relative,
                **space.attributes(), has_index=index is not None)


def fof_catalog(points, linking_length=None, *, b=None, box=None, velocities=None, masses=None, types=None,
                min_members=20, max_groups=None, comm=None):
    """Labels of friends-of-friends groups, and what is known of each group.

    As `kith.fof` with `return_catalog=True`; what differs is said here.

    Parameters
    ----------
    points : array, shape (n, d), or Tree
        float32, or float64 where JAX has it switched on.
    velocities, masses, types : arrays, optional
        Of each point: numbers of the same type as the points, shapes (n, d) and (n,), and whole numbers from 0 to 6, which
        are waited for and checked unless they are traced.
    linking_length, b, box, min_members
        Ordinary Python values, not traced ones.
    max_groups : int, optional
        Rows of the catalog. By default as many as there can be, n / min_members.
    comm
        For points that are sharded over processes, as for `knn`; the columns are sharded over the same.

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
        For points that are sharded over GPUs.

    Notes
    -----
    Not differentiable: take sums over the members that `group_order` brings together. On a GPU the call waits for the
    number and the sizes of the groups; positions, columns and labels do not leave it.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[5.0, 5], [0, 0], [0, 1]])
    >>> labels, catalog = jax.jit(lambda x: kith.jax.fof_catalog(x, 1.0, min_members=2, max_groups=3))(points)
    >>> int(catalog.groups), catalog.count.tolist(), catalog.center[0].tolist()
    (1, [2, 0, 0], [0.0, 0.5])
    """
    length, is_relative = _length(linking_length, b)
    points, space = points_of(points, box)
    count, dimension = points.shape
    min_members = _fof.at_least_one(min_members)
    has_default = max_groups is None
    max_groups = count // min_members if has_default else _arrays.as_whole(max_groups, "max_groups")
    if not 0 <= max_groups <= numpy.iinfo(numpy.int32).max:
        raise ValueError(f"max_groups is {max_groups}; it must be from 0 to {numpy.iinfo(numpy.int32).max}")
    given = {"velocities": velocities, "masses": masses, "types": types}
    shapes = {"velocities": points.shape, "masses": (count,), "types": (count,)}
    if is_sharded(points):
        given = {name: array if array is None else column(array, name, points.dtype, shapes[name])
                 for name, array in given.items()}
        labels, groups, found = _jax_sharded_calls.catalog(points, given, length, is_relative, space, min_members,
                                                           None if has_default else max_groups, comm)
        return labels, Catalog(groups, **{**dict.fromkeys(Catalog._fields[1:]), **found})
    _jax_sharded_calls.require_no_comm(comm)
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


def _length(linking_length, b):
    length, is_relative = _arrays.length(linking_length, b)
    if not 0 <= length < math.inf:
        raise ValueError(f"the linking length is {length}; it must be a finite number, 0 or more")
    return length, is_relative
