"""Custom calls of XLA for kith.jax: their registration, their arguments, and searches with derivatives."""

import functools
import math
import typing

import numpy

from kith import _arrays, _core, _units

try:
    import jax
    from jax import numpy as jnp
    from kith import _jax, _jax_sharded_calls
    from kith._jax_shards import is_sharded, whole
except ModuleNotFoundError as missing:
    raise ImportError(f"kith.jax needs {missing.name}, and a kith that was built with JAX; with jax, nanobind and "
                      "scikit-build-core installed, build it again by: pip install --no-build-isolation .") from missing

for (_name, _platform), _handler in _jax.handlers().items():
    jax.ffi.register_ffi_target(_name, _handler, platform=_platform)
synchronize, release_trees = _jax.synchronize, _jax.release_trees


class Space(typing.NamedTuple):
    """Where the points are: for each axis a period, 0 where it is open, and an origin, NaN where none is given."""

    periods: tuple
    origins: tuple
    is_kept: bool  # whether they are those of a kith.jax.Tree

    def attributes(self):
        return {"periods": numpy.array(self.periods), "origins": numpy.array(self.origins), "is_kept": self.is_kept}

    def box(self):
        """For calls of kith."""
        origins = tuple(None if math.isnan(origin) else origin for origin in self.origins)
        return _core.Box(self.periods, origin=None if all(origin is None for origin in origins) else origins)


class Options(typing.NamedTuple):
    """What a search is asked for; hashable, so that it can be an argument that is not traced."""

    k: int
    exclude_self: bool
    max_distance: float
    index_dtype: str
    space: Space
    comm: typing.Any = None  # for points that are sharded over processes


def as_array(array, what):
    array = _units.plain(array, what)
    try:
        return jnp.asarray(array)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is of type {type(array).__name__}, of which JAX makes no array") from error


def real(array, what):
    array = as_array(array, what)
    if array.ndim != 2 or array.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{what} are of shape {array.shape} and type {array.dtype}; they must be n x d, float32 or "
                        "float64")
    return array


def number_of_neighbors(k):
    k = _arrays.as_whole(k, "k")
    if not 1 <= k <= numpy.iinfo(numpy.int32).max:
        raise ValueError(f"k is {k}; it must be 1 or more, and no array has more than {numpy.iinfo(numpy.int32).max}")
    return k


def space_of(box, dimension, is_kept=False):
    if not isinstance(box, _core.Box):
        if isinstance(box, jax.core.Tracer):
            raise TypeError("box is traced; it must be an ordinary value, fixed when the function is")
        box = _core.Box(box)
    periods, origins = box.period, box.origin
    if not isinstance(periods, tuple):
        periods, origins = (periods,) * dimension, (origins,) * dimension
    if len(periods) != dimension:
        raise ValueError(f"the box has {len(periods)} periods but the points have {dimension} axes; give one per axis")
    return Space(tuple(periods), tuple(math.nan if origin is None else origin for origin in origins), is_kept)


def _call(options, points, queries, index):
    if is_sharded(points) or is_sharded(queries):
        return _jax_sharded_calls.search(options, points, queries)
    _jax_sharded_calls.require_no_comm(options.comm)
    points = whole(points, "points")
    queries = queries if queries is None else whole(queries, "queries", is_searched=False)
    rows = (points if queries is None else queries).shape[0]
    shapes = [jax.ShapeDtypeStruct((rows, options.k), points.dtype),
              jax.ShapeDtypeStruct((rows, options.k), options.index_dtype)]
    name = "kith_search_self" if queries is None else "kith_search_queries"
    arrays = (points, index_operand(index)) if queries is None else (points, index_operand(index), queries)
    distances, indices = jax.ffi.ffi_call(name, shapes, vmap_method="expand_dims")(
        *arrays, k=numpy.int64(options.k), exclude_self=options.exclude_self,
        max_distance=numpy.float64(options.max_distance), **options.space.attributes(), has_index=index is not None)
    return distances, indices


def index_operand(index):
    return jnp.zeros(0, jnp.uint8) if index is None else index


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def search(options, points, queries, index=None):
    """`index` is that of the points on a GPU (_jax_tree.py), or None."""
    return _call(options, points, queries, index)


@search.defjvp
def _search_derivative(options, primals, tangents):
    """Linear in the tangents, so that JAX has the reverse by transposition, and made of what has derivatives again."""
    distances, indices = search(options, *primals)
    (points, queries, _), (of_points, of_queries, _) = primals, tangents
    slopes = jnp.zeros_like(distances)
    if points.shape[0] > 0:  # else nothing is near anything
        around, of_around = (points, of_points) if queries is None else (queries, of_queries)
        apart = around[:, None] - _taken(points, indices)  # -1 reads the last point, which counts for nothing below
        for axis, period in enumerate(options.space.periods):
            if period > 0:
                apart = apart.at[..., axis].add(-period * jnp.round(apart[..., axis] / period))
        along = ((of_around[:, None] - _taken(of_points, indices)) * apart).sum(axis=2)
        has_direction = (indices >= 0) & (distances > 0)
        slopes = jnp.where(has_direction, along / jnp.where(has_direction, distances, 1), 0)
    return (distances, indices), (slopes, numpy.zeros(indices.shape, jax.dtypes.float0))


def _taken(points, indices):
    """Rows of points, on the devices of the indices where the type of these names devices."""
    sharding = jax.typeof(indices).sharding
    if not any(sharding.spec):
        return points[indices]
    sharding = jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*sharding.spec, None))
    return points.at[indices].get(out_sharding=sharding)
