"""What the generators of points share: how a seed is used, how points come into the unit box, directions."""

import operator

import numpy


def begin(count, dimension, seed, dtype):
    """Checks what was asked for; gives a source of random numbers that belongs to this seed and dimension, and the rest."""
    count, dimension = operator.index(count), operator.index(dimension)
    dtype = numpy.dtype(dtype)
    if count < 0:
        raise ValueError(f"count is {count}; it must be 0 or more")
    if dimension < 1:
        raise ValueError(f"dimension is {dimension}; it must be 1 or more")
    if dtype not in (numpy.float32, numpy.float64):
        raise ValueError(f"dtype is {dtype}; it must be float32 or float64")
    return numpy.random.default_rng([seed, dimension]), count, dimension, dtype


def wrapped(places, dtype):
    """Places anywhere, brought into the unit box."""
    points = (places - numpy.floor(places)).astype(dtype)
    points[points >= 1] = 0  # what rounding lifted onto the upper edge
    return points


def directions(random, count, dimension):
    """Unit vectors."""
    normals = random.standard_normal((count, dimension))
    return normals / numpy.linalg.norm(normals, axis=1, keepdims=True)


def lattice_side(count, dimension):
    """Sites per axis of the smallest cubic lattice that has as many."""
    side = int(numpy.ceil(count ** (1 / dimension)))
    while side**dimension < count:
        side += 1
    return max(1, side)
