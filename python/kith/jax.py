"""Search, labels and z-order under `jax.jit`, with distances that can be differentiated.

They are custom calls of XLA, on CPUs and NVIDIA GPUs; arrays stay where they are. The number of neighbors, the box and
the other options are ordinary Python values, fixed when a function is traced. `jax.vmap` makes one call of a batch; if
all its queries are of the same points, they are one search. kith must have been built with JAX at
hand: `pip install --no-build-isolation .` where JAX, nanobind and scikit-build-core are installed.
"""

import functools
import math
import typing

import numpy

from kith import _arrays, _core, _units

try:
    import jax
    from jax import numpy as jnp
    from kith import _jax
except ModuleNotFoundError as missing:
    raise ImportError(f"kith.jax needs {missing.name}, and a kith that was built with JAX; with jax, nanobind and "
                      "scikit-build-core installed, build it again by: pip install --no-build-isolation .") from missing

for (_name, _platform), _handler in _jax.handlers().items():
    jax.ffi.register_ffi_target(_name, _handler, platform=_platform)


def knn(points, k, queries=None, *, box=None, exclude_self=False, max_distance=None, index_dtype=numpy.int32):
    """The k nearest points of every point, or of every query.

    As `kith.knn`; what differs is said here.

    Parameters
    ----------
    points : array, shape (n, d)
        float32, or float64 where JAX has it switched on.
    k, box, exclude_self, max_distance, index_dtype
        Ordinary Python values, not traced ones.
    queries : array, shape (m, d), optional

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
        For arrays that are not float32 or float64 of shape (n, d).
    ValueError
        For k < 1 and other options that have no meaning.
    Exception
        What XLA makes of kith's errors when the values turn out to be wrong: its text holds kith's. On a GPU the call
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
    points = _real(points, "points")
    k = _arrays.as_whole(k, "k")
    if not 1 <= k <= numpy.iinfo(numpy.int32).max:
        raise ValueError(f"k is {k}; it must be 1 or more, and no array has more than {numpy.iinfo(numpy.int32).max}")
    index_dtype = _arrays.index_type(index_dtype)
    max_distance = math.inf if max_distance is None else _arrays.as_number(max_distance, "max_distance")
    if not max_distance >= 0:
        raise ValueError(f"max_distance is {max_distance}; it must be 0 or more")
    if exclude_self and queries is not None:
        raise ValueError("exclude_self is for searches around the points themselves; leave it or the queries out")
    options = _Options(k, _arrays.flag(exclude_self, "exclude_self"), max_distance, *_box(box, points.shape[1]), index_dtype.name)
    if queries is None:
        return _search(options, points, None)
    queries = _real(queries, "queries")
    if queries.shape[1] != points.shape[1] or queries.dtype != points.dtype:
        raise TypeError(f"queries are of shape {queries.shape} and type {queries.dtype}, the points of shape "
                        f"{points.shape} and type {points.dtype}; dimension and type must agree")
    return _search(options, points, queries)


def fof(points, linking_length=None, *, b=None, box=None):
    """Labels of friends-of-friends groups, int32, shape (n,). As `kith.fof`; all options are ordinary Python values.

    >>> import jax, kith.jax
    >>> jax.jit(lambda x: kith.jax.fof(x, 1.0))(jax.numpy.array([[5.0, 5], [0, 0], [0, 1]])).tolist()
    [1, 0, 0]
    """
    length, is_relative = _arrays.length(linking_length, b)
    points = _real(points, "points")
    if not 0 <= length < math.inf:
        raise ValueError(f"the linking length is {length}; it must be a finite number, 0 or more")
    periods, origins = _box(box, points.shape[1])
    call = jax.ffi.ffi_call("kith_label", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(jax.lax.stop_gradient(points), length=numpy.float64(length),
                is_relative=is_relative, periods=numpy.array(periods), origins=numpy.array(origins))


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
    _jax.synchronize()


def z_order(points, *, box=None):
    """Indices of the points along the z-order curve, int32, shape (n,).

    `points[z_order(points)]` are in the order in which kith sorts points: neighbors in space are near each other in
    memory. Points with equal coordinates are in the order of their indices.

    >>> import jax, kith.jax
    >>> jax.jit(kith.jax.z_order)(jax.numpy.array([[3.0, 3], [0, 1], [0, 0]])).tolist()
    [2, 1, 0]
    """
    points = _real(points, "points")
    periods, origins = _box(box, points.shape[1])
    call = jax.ffi.ffi_call("kith_order", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(jax.lax.stop_gradient(points), periods=numpy.array(periods), origins=numpy.array(origins))


def reduce_neighbors(function, points, k, *, box=None, exclude_self=False, max_distance=None, index_dtype=numpy.int32):
    """A summary of the neighbors of each point, without bringing the neighbors themselves into the order of the points.

    The rows of k neighbors stay in z-order; only what `function` makes of them is put back. That saves most of the
    memory traffic of results where a few numbers a point are wanted, such as a density.

    Parameters
    ----------
    function : callable
        ``function(distances, indices, points)`` gets the rows of `knn` and the points, both in z-order, where indices
        are rows of these points; it returns an array of n rows, or a tree of such arrays, in the same order.
    points, k, box, exclude_self, max_distance, index_dtype
        As for `knn`.

    Returns
    -------
    What `function` returns, its rows in the order of `points`.

    Notes
    -----
    Among equally distant points z-order decides, not the order of `points`. Differentiable as `knn` is. Other arrays of
    the points, such as masses, come into the same order by ``masses[z_order(points, box=box)]``.

    Source: J. Stücker et al. (2026), arXiv:2604.05885, section III-E.

    Examples
    --------
    >>> import jax, kith.jax
    >>> points = jax.numpy.array([[3.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> kith.jax.reduce_neighbors(lambda distances, indices, points: distances[:, 1], points, 2).tolist()
    [3.0, 1.0, 1.0]
    """
    points = _real(points, "points")
    order = z_order(points, box=box)
    ordered = points[order]
    found = function(*knn(ordered, k, box=box, exclude_self=exclude_self, max_distance=max_distance,
                          index_dtype=index_dtype), ordered)
    return jax.tree_util.tree_map(lambda rows: _in_input_order(rows, order), found)


def _in_input_order(rows, order):
    rows = jnp.asarray(rows)
    if rows.shape[:1] != order.shape:
        raise ValueError(f"function returned an array of shape {rows.shape}; it must have a row for each of the "
                         f"{order.shape[0]} points")
    return jnp.zeros_like(rows).at[order].set(rows, unique_indices=True)


class _Options(typing.NamedTuple):
    """What a search is asked for; hashable, so that it can be an argument that is not traced."""

    k: int
    exclude_self: bool
    max_distance: float
    periods: tuple
    origins: tuple
    index_dtype: str


def _real(array, what):
    array = _units.plain(array, what)
    try:
        array = jnp.asarray(array)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is of type {type(array).__name__}, of which JAX makes no array; it must be n x d, float32 or "
                        "float64") from error
    if array.ndim != 2 or array.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{what} are of shape {array.shape} and type {array.dtype}; they must be n x d, float32 or "
                        "float64")
    return array


def _box(box, dimension):
    """A period and an origin for each axis; 0 where it is open, and NaN where no origin is given."""
    if not isinstance(box, _core.Box):
        if isinstance(box, jax.core.Tracer):
            raise TypeError("box is traced; it must be an ordinary value, fixed when the function is")
        box = _core.Box(box)
    periods, origins = box.period, box.origin
    if not isinstance(periods, tuple):
        periods, origins = (periods,) * dimension, (origins,) * dimension
    if len(periods) != dimension:
        raise ValueError(f"the box has {len(periods)} periods but the points have {dimension} axes; give one per axis")
    return tuple(periods), tuple(math.nan if origin is None else origin for origin in origins)


def _call(options, points, queries):
    rows = (points if queries is None else queries).shape[0]
    shapes = [jax.ShapeDtypeStruct((rows, options.k), points.dtype),
              jax.ShapeDtypeStruct((rows, options.k), options.index_dtype)]
    name = "kith_search_self" if queries is None else "kith_search_queries"
    arrays = (points,) if queries is None else (points, queries)
    distances, indices = jax.ffi.ffi_call(name, shapes, vmap_method="expand_dims")(
        *arrays, k=numpy.int64(options.k), exclude_self=options.exclude_self,
        max_distance=numpy.float64(options.max_distance), periods=numpy.array(options.periods),
        origins=numpy.array(options.origins))
    return distances, indices


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _search(options, points, queries):
    return _call(options, points, queries)


@_search.defjvp
def _search_derivative(options, primals, tangents):
    """Linear in the tangents, so that JAX has the reverse by transposition, and made of what has derivatives again."""
    distances, indices = _search(options, *primals)
    (points, queries), (of_points, of_queries) = primals, tangents
    slopes = jnp.zeros_like(distances)
    if points.shape[0] > 0:  # else nothing is near anything
        around, of_around = (points, of_points) if queries is None else (queries, of_queries)
        apart = around[:, None] - points[indices]  # -1 reads the last point, which counts for nothing below
        for axis, period in enumerate(options.periods):
            if period > 0:
                apart = apart.at[..., axis].add(-period * jnp.round(apart[..., axis] / period))
        along = ((of_around[:, None] - of_points[indices]) * apart).sum(axis=2)
        has_direction = (indices >= 0) & (distances > 0)
        slopes = jnp.where(has_direction, along / jnp.where(has_direction, distances, 1), 0)
    return (distances, indices), (slopes, numpy.zeros(indices.shape, jax.dtypes.float0))
