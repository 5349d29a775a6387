"""Densities, and sums and means of fields, over the k nearest neighbors under `jax.jit`, with derivatives.

Values are those of `kith.sum_neighbors`, by a custom call that stores no neighbors. Derivatives are those of the same
formulas (docs/semantics.md, "Sums over neighbors") in operations of JAX, on rows of a search whose distances have
derivatives; the distance of the last neighbor is the reach, so that its derivative is included. Rows are made in blocks,
and once more for derivatives in reverse, so that n x k numbers are never stored. Cost of a derivative: two more searches and
their sums by JAX.
"""

import functools
import math
import typing
from collections.abc import Mapping

import numpy

from kith import _arrays
from kith._jax_rows import column, in_blocks, in_input_order, of_neighbors, without
from kith._jax_search import Options, Space, is_sharded, jax, jnp, number_of_neighbors, real, search, whole
from kith._jax_tree import points_of, tree_of, z_order
from kith._sum_neighbors import KERNELS, sum_neighbors as sums_of_numpy

_NEIGHBORS_OF_A_BLOCK = 2**22


class FieldSums(typing.NamedTuple):
    """Of one field, a number for each row: the sum of mass times value times kernel, and the mean weighted by mass times
    kernel."""

    sum: typing.Any
    mean: typing.Any


class NeighborSums(typing.NamedTuple):
    """What `kith.jax.sum_neighbors` finds, a row for each point or query, of the type of the points.

    Attributes
    ----------
    density
        Sum of mass times kernel.
    reach
        Distance of the last neighbor, to which the kernel reaches.
    fields : dict
        For each field its `sum`, of mass times value times kernel, and its `mean`, weighted by mass times kernel.
    """

    density: typing.Any
    reach: typing.Any
    fields: dict


class _Options(typing.NamedTuple):
    k: int
    kernel: str
    exclude_self: bool
    space: Space


def sum_neighbors(points, k, queries=None, *, kernel="cubic", masses=None, fields=None, box=None, exclude_self=False):
    """Densities, and sums and means of fields, over the k nearest neighbors of every point or query.

    As `kith.sum_neighbors` by k neighbors; what differs is said here. On CPUs.

    Parameters
    ----------
    points : array, shape (n, d), or Tree
        float32, or float64 where JAX has it switched on. Not sharded over devices.
    k, kernel, box, exclude_self
        Ordinary Python values, not traced ones.
    queries : array, shape (m, d), optional
    masses : array, shape (n,), or number, optional
        Of the type of the points; a number, which may be traced, is the mass of each. By default 1 each.
    fields : dict of arrays, shape (n,) each, optional
        By name; of the type of the points.

    Returns
    -------
    NeighborSums
        A named tuple: `density`, `reach`, and `fields`, with `sum` and `mean` of each. They are the sums of
        `kith.sum_neighbors`, rounded to the type of the points, and differentiable, forward and in reverse and more than
        once, with respect to points, queries, masses and fields, as long as no neighbor changes. The derivatives include that
        of the reach, the distance of the k-th neighbor. Those of a density are 0 where the reach is 0, and those of a mean
        where no neighbor has a mass within the kernel.

    Raises
    ------
    TypeError, ValueError, Exception
        As `kith.jax.knn`, and for kernels of other names, masses and fields of other shapes and types; for sharded points.

    Notes
    -----
    The value takes no memory for neighbors, a derivative that of some 4 million of them at a time. Derivatives of float32 are
    computed in float32.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    >>> total = jax.jit(lambda x: kith.jax.sum_neighbors(x, 2, kernel="top-hat").density.sum())
    >>> round(float(total(points)), 3)
    1.432
    >>> [round(float(y), 3) for y in jax.grad(total)(points)[:, 1]]
    [2.546, -2.387, -0.159]
    """
    points, space = points_of(points, box)
    k = number_of_neighbors(k)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}; it must be one of {', '.join(map(repr, KERNELS))}")
    exclude_self = _arrays.flag(exclude_self, "exclude_self")
    if queries is not None:
        queries = real(queries, "queries")
        if exclude_self:
            raise ValueError("exclude_self is for sums around the points themselves; leave it or the queries out")
        if queries.shape[1] != points.shape[1] or queries.dtype != points.dtype:
            raise TypeError(f"queries are of shape {queries.shape} and type {queries.dtype}, the points of shape "
                            f"{points.shape} and type {points.dtype}; dimension and type must agree")
    if fields is not None and (not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields)):
        raise TypeError("fields must be a dict of arrays, with their names as keys")
    names = [] if fields is None else sorted(fields)
    rows = [column(fields[name], f"fields[{name!r}]", points.dtype, points.shape[:1]) for name in names]
    rows = jnp.stack(rows) if rows else jnp.zeros((0, points.shape[0]), points.dtype)
    masses = None if masses is None else column(_per_point(masses, points), "masses", points.dtype, points.shape[:1])
    density, reach, sums, means = _sums(_Options(k, kernel, exclude_self, space), points, queries, masses, rows)
    return NeighborSums(density, reach, {name: FieldSums(sums[row], means[row]) for row, name in enumerate(names)})


def density(points, k=32, queries=None, *, kernel="cubic", masses=None, box=None, exclude_self=False):
    """The density at every point, or at every query, from its k nearest points: that of `kith.jax.sum_neighbors`.

    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[0.0, 0.0], [0.0, 2.0]])
    >>> round(2 * 3.1416 * float(kith.jax.density(points, 2, kernel="top-hat")[0]), 3)
    1.0
    """
    return sum_neighbors(points, k, queries, kernel=kernel, masses=masses, box=box, exclude_self=exclude_self).density


def _per_point(masses, points):
    """Masses as an array; one number, also a traced one, for each point."""
    if numpy.ndim(masses) > 0:
        return masses
    number = masses if isinstance(masses, jax.Array) else _arrays.as_number(masses, "masses")
    return jnp.full(points.shape[:1], number, points.dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _sums(options, points, queries, masses, fields):
    if is_sharded(points) or is_sharded(queries):
        raise TypeError("points or queries are sharded over devices, of which sums are not found; bring them to one device, "
                        "jax.device_put(points, jax.devices('cpu')[0])")
    around = points if queries is None else queries
    row, rows = around.shape[:1], (fields.shape[0], around.shape[0])
    call = jax.ffi.ffi_call("kith_sum", [jax.ShapeDtypeStruct(shape, points.dtype) for shape in (row, row, rows, rows)],
                            vmap_method="expand_dims")
    return tuple(call(
        whole(points, "points"), jnp.zeros((0, points.shape[1]), points.dtype) if queries is None
        else whole(queries, "queries", is_searched=False), jnp.zeros(0, points.dtype) if masses is None else masses, fields,
        k=numpy.int64(options.k), kernel=numpy.int64(KERNELS.index(options.kernel)), exclude_self=options.exclude_self,
        has_queries=queries is not None, has_masses=masses is not None, **options.space.attributes()))


@_sums.defjvp
def _derivative(options, primals, tangents):
    """Linear in the tangents, so that JAX has the reverse by transposition, and made of what has derivatives again."""
    return _sums(options, *primals), jax.jvp(functools.partial(_by_rows, options), primals, tangents)[1]


def _by_rows(options, points, queries, masses, fields):
    """The same sums from rows of neighbors, in operations of JAX."""
    space = options.space._replace(is_kept=True)
    nearest = Options(options.k + options.exclude_self, False, math.inf, "int32", space)
    order = z_order(tree_of(space, points)) if queries is None else jnp.arange(queries.shape[0])
    scale = _scale(options.kernel, points.shape[1])

    @jax.checkpoint
    def block(own):
        distances, indices = search(nearest, points, (points if queries is None else queries)[own])
        if options.exclude_self:
            distances, indices = without(own, distances, indices)
        weights = jnp.where(indices >= 0, 1 if masses is None else of_neighbors(masses, indices), 0)
        return _of_block(options.kernel, scale, distances, indices >= 0, weights, of_neighbors(fields.T, indices),
                         points.shape[1])

    found = in_blocks(block, order, max(1, _NEIGHBORS_OF_A_BLOCK // options.k))
    density, reach, sums, means = found if queries is not None else (in_input_order(rows, order) for rows in found)
    return density, reach, sums.T, means.T


def _of_block(kernel, scale, distances, is_there, masses, values, dimension):
    last = jnp.maximum(is_there.sum(axis=1) - 1, 0)
    reach = jnp.take_along_axis(distances, last[:, None], axis=1)  # infinite without neighbors
    has_reach = (reach > 0) & is_there.any(axis=1)[:, None]
    h = jnp.where(has_reach, reach, 1)
    weights = masses * _shape_of(kernel, jnp.where(is_there & has_reach, distances, 0) / h)
    total = weights.sum(axis=1, keepdims=True)
    of_fields = (weights[:, :, None] * values).sum(axis=1)
    per_volume = jnp.where(has_reach, scale / h**dimension, 0)  # where the reach is 0 derivatives are 0
    has_mass = total > 0
    means = jnp.where(has_mass, of_fields / jnp.where(has_mass, total, 1), 0)
    return (total * per_volume)[:, 0], reach[:, 0], of_fields * per_volume, means


def _shape_of(kernel, u):
    """w(u), for u from 0 to 1."""
    v = 1 - u
    if kernel == "cubic":
        return jnp.where(u < 0.5, 1 + u * u * (6 * u - 6), 2 * v**3)
    if kernel == "quintic":
        q = 3 * u
        return (3 - q)**5 - 6 * jnp.maximum(2 - q, 0)**5 + 15 * jnp.maximum(1 - q, 0)**5
    if kernel == "wendland-c2":
        return v**4 * (1 + 4 * u)
    if kernel == "wendland-c4":
        return v**6 * (1 + u * (6 + 35 / 3 * u))
    return jnp.exp(-4.5 * u * u) if kernel == "gaussian" else jnp.ones_like(u)


@functools.cache
def _scale(kernel, dimension):
    """The factor that makes the integral of the kernel 1: that of kith, from the density of one point at distance 0."""
    at_zero = 66 if kernel == "quintic" else 1
    return float(sums_of_numpy(numpy.zeros((1, dimension)), r=1.0, kernel=kernel).density[0]) / at_zero
