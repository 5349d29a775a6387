"""Rows of points for kith.jax: checked, taken of neighbors, and put back in the order of the input."""

import numpy

from kith._jax_search import as_array, jax, jnp


def column(array, name, dtype, shape):
    """Numbers of each point as the core takes them: of the points' type, or types as bytes; no rows for None."""
    dtype = numpy.uint8 if name == "types" else dtype
    if array is None:
        return jnp.zeros((0, *shape[1:]), dtype)
    array = as_array(array, name)
    if array.shape != shape:
        raise ValueError(f"{name} are of shape {array.shape}; they must be of shape {shape}")
    if name == "types" and jnp.issubdtype(array.dtype, jnp.integer):
        return _as_types(array)
    if array.dtype != dtype:
        expected = "whole numbers" if name == "types" else dtype
        raise TypeError(f"{name} are of type {array.dtype}; they must be {expected}")
    return array


def _as_types(types):
    """Types as bytes. Wrong ones are named here if the values are known, which waits for them; the call refuses traced ones,
    and names them up to 254, others as 255."""
    if not isinstance(types, jax.core.Tracer) and types.is_fully_addressable:
        is_wrong = (types < 0) | (types > 6)
        if is_wrong.any():
            row = int(is_wrong.argmax())
            raise ValueError(f"types: row {row} has type {int(types[row])}; types are 0 to 6")
    types = types.astype(jnp.promote_types(types.dtype, jnp.int32))
    return jnp.where((types < 0) | (types > 255), 255, types).astype(numpy.uint8)


def rows_of(array, count, what):
    array = as_array(array, what)
    if array.shape[:1] != (count,):
        raise ValueError(f"{what} holds an array of shape {array.shape}; it must have a row for each of {count} points")
    return array


def without(own, distances, indices):
    """Rows of k + 1 neighbors without the point itself, or without the last one where others are as near."""
    is_own = indices == own[:, None]
    last = indices.shape[1] - 1
    cut = jnp.where(is_own.any(axis=1), is_own.argmax(axis=1), last)
    columns = jnp.arange(last) + (jnp.arange(last) >= cut[:, None])
    return jnp.take_along_axis(distances, columns, axis=1), jnp.take_along_axis(indices, columns, axis=1)


def of_neighbors(rows, indices):
    if rows.shape[0] == 0:
        return jnp.zeros((*indices.shape, *rows.shape[1:]), rows.dtype)
    return jnp.where((indices >= 0).reshape(*indices.shape, *[1] * (rows.ndim - 1)), rows[indices],
                     jnp.zeros((), rows.dtype))


def in_input_order(rows, order):
    rows = rows_of_function(rows, order.shape[0])
    return jnp.zeros_like(rows).at[order].set(rows, unique_indices=True)


def rows_of_function(rows, count):
    rows = jnp.asarray(rows)
    if rows.shape[:1] != (count,):
        raise ValueError(f"function returned an array of shape {rows.shape}; it must have a row for each of the "
                         f"{count} points")
    return rows


def in_blocks(function, order, block_rows):
    """What function(rows) makes of rows in this order, a block at a time."""
    count = order.shape[0]
    if count <= block_rows:
        return function(order)
    blocks = -(-count // block_rows)
    padded = jnp.zeros(blocks * block_rows, order.dtype).at[:count].set(order)  # the first row, more than once
    found = jax.lax.map(function, padded.reshape(blocks, block_rows))
    return jax.tree_util.tree_map(lambda rows: rows.reshape(-1, *rows.shape[2:])[:count], found)
