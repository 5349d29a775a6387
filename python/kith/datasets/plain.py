"""Points without groups worth the name: even, normal, on a lattice, in the same places, on a surface."""

import numpy

from .random_points import begin, documented, lattice_side, wrapped


@documented
def uniform(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """Points that are evenly random in the unit box.

    POINTS
        In the periodic unit box [0, 1): give `box=1`.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.uniform(1000, 2, seed=1)
    >>> points.shape, points.dtype.name
    ((1000, 2), 'float32')
    >>> distances, indices = kith.knn(points, 4, box=1)
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    return random.permutation(random.random((count, dimension), dtype=dtype))


@documented
def gaussian(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """Points of one normal distribution, of mean 0 and variance 1 along every axis.

    POINTS
        In open space: give no `box`.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.gaussian(1000)
    >>> bool(abs(points.std() - 1) < 0.05)
    True
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    return random.permutation(random.standard_normal((count, dimension), dtype=dtype))


@documented
def lattice(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """Different points with whole numbers as coordinates, in random order: most distances are shared by many pairs.

    POINTS
        Sites 0, 1, ... along each axis of the smallest cubic lattice that has `count` of them, all if it has no more.
        It is periodic: give `box=kith.datasets.box_of("lattice", count, dimension)`, the sites along an axis.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.lattice(1000)
    >>> distances, indices = kith.knn(points, 7, box=kith.datasets.box_of("lattice", 1000))
    >>> distances[0].tolist()
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    side = lattice_side(count, dimension)
    sites = random.permutation(side**dimension)[:count]
    points = numpy.stack(numpy.unravel_index(sites, (side,) * dimension), axis=1).astype(dtype)
    return random.permutation(points)


@documented
def duplicates(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """Many points in few places: nine tenths share a hundredth as many, and one place holds a hundredth of all.

    POINTS
        In the periodic unit box [0, 1): give `box=1`.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.duplicates(1000)
    >>> int((points == 0.5).all(axis=1).sum())
    10
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    sites = random.random((max(1, count // 100), dimension))
    places = sites[random.integers(len(sites), size=count)]
    alone = random.random(count) < 0.1
    places[alone] = random.random((int(alone.sum()), dimension))
    places[:count // 100] = 0.5
    return random.permutation(wrapped(places, dtype))


@documented
def hills(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """A hilly ground: even along all axes but the last, along which points are normal around one of 1000 random heights.

    POINTS
        From -1000 to 1000 on the ground; heights have a spread of 100 around peaks from -1000 to 1000. In open space:
        give no `box`.

    Notes
    -----
    Source: the Gaussian mixture of the CLOVER paper, section 4.1.2.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.hills(1000)
    >>> bool(abs(points[:, :2]).max() <= 1000)
    True
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    places = random.uniform(-1000, 1000, (count, dimension))
    peaks = random.uniform(-1000, 1000, 1000)
    places[:, -1] = peaks[random.integers(len(peaks), size=count)] + 100 * random.standard_normal(count)
    return random.permutation(places.astype(dtype))
