"""Common parts of the generators of points: documentation, seeds, wrapping into the unit box, directions."""

import inspect

import numpy

from .arguments import real_type, whole


_POINTS = """Parameters
----------
count, dimension : int
seed : int
dtype : float32 or float64
    Of the result. Points of another type are other points, not these rounded.

Returns
-------
ndarray, shape (count, dimension)
"""


def documented(function):
    """Puts the common parameters, and the result, into the documentation of a function, in place of POINTS."""
    if function.__doc__ is not None:  # as it is under python -OO
        function.__doc__ = inspect.cleandoc(function.__doc__).replace("POINTS\n", _POINTS)
    return function


def begin(count, dimension, seed, dtype):
    """Checks what was asked for; gives a source of random numbers that belongs to this seed and dimension, and the rest."""
    count, dimension, seed = whole(count, "count", 0), whole(dimension, "dimension", 1), whole(seed, "seed", 0)
    return numpy.random.default_rng([seed, dimension]), count, dimension, real_type(dtype)


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
