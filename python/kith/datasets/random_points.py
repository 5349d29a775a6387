"""What the generators of points share: how a seed is used, how points come into the unit box, directions."""

import numpy

from .arguments import real_type, whole


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
