"""Points in groups, without a simulation: halos in a field, and clumps within clumps."""

import numpy

from .random_points import begin, directions, documented, wrapped


@documented
def clustered(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """Halos in a field: three tenths of the points evenly random, the others in halos of 20 points to a twentieth of all.

    POINTS
        In the periodic unit box [0, 1): give `box=1`.

    Notes
    -----
    Numbers of members follow dn/dm ~ m^-1.9. Halos have the profile of Navarro, Frenk & White 1996 (ApJ 462, 563) with a
    concentration of 8, are cut off at their virial radius and are 200 times as dense as the mean within it. Their places
    are not correlated.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.clustered(10_000)
    >>> labels, halos = kith.fof(points, b=0.2, box=1, return_catalog=True)
    >>> bool(halos.count.sum() > 5000)
    True
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    field, _, _, _, places = _halos_in_a_field(random, count, dimension)
    return random.permutation(wrapped(numpy.concatenate((field, places)), dtype))


def virialized(count, *, seed=0, dtype=numpy.float32):
    """The halos of `clustered` in motion: a smooth flow carries field and halos, and halos have virial velocities.

    Parameters
    ----------
    count, seed, dtype
        As for `uniform`.

    Returns
    -------
    positions, velocities : ndarray, shape (count, 3)
        In the periodic unit box [0, 1): give `box=1`. Velocities are in km/s if the box is 100 Mpc/h wide.

    Notes
    -----
    The flow is a sum of eight waves, 300 km/s along each axis. In a halo of virial radius r they are normal about that, of
    39000 r along each axis: sqrt(G M / (2 r)) for 200 times the mean density and Omega_m = 0.3. In the field 30 km/s are
    added.

    Examples
    --------
    >>> import kith
    >>> positions, velocities = kith.datasets.virialized(10_000)
    >>> groups = kith.fof(positions, b=0.2, box=1).max()
    >>> bool(kith.fof(positions, b=0.2, box=1, velocities=velocities, psi=100).max() > groups)
    True
    """
    random, count, dimension, dtype = begin(count, 3, seed, dtype)
    field, centers, halo, virial_radius, places = _halos_in_a_field(random, count, dimension)
    waves = random.integers(-3, 4, (8, dimension))
    phases, strengths = random.random((8, dimension)), 150.0 * random.standard_normal((8, dimension))

    def flow(at):
        return sum(strength * numpy.sin(2 * numpy.pi * ((at @ wave)[:, None] + phase))
                   for wave, phase, strength in zip(waves, phases, strengths))

    velocities = numpy.concatenate((flow(field) + 30.0 * random.standard_normal(field.shape), flow(centers)[halo] +
                                    39000.0 * virial_radius[halo, None] * random.standard_normal(places.shape)))
    order = random.permutation(count)
    return wrapped(numpy.concatenate((field, places)), dtype)[order], velocities.astype(dtype)[order]


def _halos_in_a_field(random, count, dimension):
    """Points of the field; of the halos the centers, the halo of each point, virial radii and the points, unwrapped."""
    smallest, concentration, overdensity = 20.0, 8.0, 200.0
    largest = max(smallest, count / 20)
    in_halos = count - count * 3 // 10
    members = numpy.empty(0, dtype=numpy.int64)
    while members.sum() < in_halos:
        draws = random.random(max(16, in_halos // 50))
        masses = smallest * (1 - draws * (1 - (largest / smallest) ** -0.9)) ** (-1 / 0.9)
        members = numpy.append(members, numpy.ceil(masses).astype(numpy.int64))
    halo = numpy.repeat(numpy.arange(len(members)), members)[:in_halos]

    def enclosed(x):
        return numpy.log1p(x) - x / (1 + x)

    radii = numpy.linspace(0, concentration, 4097)
    shares = random.random(in_halos) * enclosed(concentration)
    radius = numpy.interp(shares, enclosed(radii), radii) / concentration
    virial_radius = (members / (overdensity * max(count, 1)) * 3 / (4 * numpy.pi)) ** (1 / dimension)
    centers = random.random((len(members), dimension))
    places = centers[halo]
    places += (radius * virial_radius[halo])[:, None] * directions(random, in_halos, dimension)
    field = random.random((count - in_halos, dimension))
    return field, centers, halo, virial_radius, places


@documented
def soneira_peebles(count, dimension=3, *, seed=0, dtype=numpy.float32):
    """A hierarchy of clumps within clumps: 4 in each, 1.9 times as small, from a quarter of the box down to the points.

    POINTS
        In the periodic unit box [0, 1): give `box=1`.

    Notes
    -----
    Source: Soneira & Peebles 1978 (AJ 83, 845). There are at least 16 clumps of the largest kind, as far as there are
    points for them.

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.soneira_peebles(10_000)
    >>> to_tenth = kith.knn(points, 11, box=1)[0][:, 10]
    >>> to_tenth_if_even = kith.knn(kith.datasets.uniform(10_000), 11, box=1)[0][:, 10]
    >>> bool(to_tenth.mean() < 0.85 * to_tenth_if_even.mean())
    True
    """
    random, count, dimension, dtype = begin(count, dimension, seed, dtype)
    in_each, shrink, radius = 4, 1.9, 0.25
    levels = max(1, int(numpy.log(max(count / 16, 1)) / numpy.log(in_each)))
    places = random.random((-(-count // in_each**levels), dimension))
    for _ in range(levels):
        places = numpy.repeat(places, in_each, axis=0)
        distance = radius * random.random(len(places)) ** (1 / dimension)
        places += distance[:, None] * directions(random, len(places), dimension)
        radius /= shrink
    return random.permutation(wrapped(random.permutation(places)[:count], dtype))
