"""Halos in equilibrium, whose truth is known: of each, the particles, the center, and masses by brute force.

Profiles: Navarro, Frenk & White 1996 (ApJ 462, 563) and Plummer 1911 (MNRAS 71, 460), cut off at the radius within
which they are 100 times as dense as the critical density. Velocities are normal with the dispersion of the isotropic Jeans equation,
sigma^2 = 1/rho times the integral of rho G M / r^2 from r on (Binney & Tremaine 2008, equation 4.216), as if the profile
went on, and at most 0.95 of the escape velocity. Radii, masses and velocities of the truth follow the contract in
docs/semantics.md, "Bound halos".
"""

import numpy

from .arguments import number, positive, real_type, whole
from .cosmic import CosmicBox
from .cosmology import CRITICAL_DENSITY, Cosmology
from .random_points import begin, directions

GRAVITY = 43.0091727  # (km/s)^2 Mpc per 1e10 Msun
OVERDENSITY = 100.0
PROFILES = ("nfw", "plummer")


class MockHalos(CosmicBox):
    """Halos in a box today, with the particle's halo of each particle. Attributes and `write` as of `CosmicBox`, and

    Attributes
    ----------
    halo : shape (n,)
        The halo of each particle, from 0 by decreasing number of particles; -1 in the background.
    centers : shape (halos, 3)
        Where their profiles have their centers.
    bulk_velocities : shape (halos, 3)
        About which the velocities of their particles are drawn.
    """

    def __init__(self, positions, velocities, box, cosmology, halo, centers, bulk_velocities, particle_mass):
        super().__init__(positions, velocities, box, cosmology)
        self.uniform_mass = particle_mass
        self.halo = halo
        self.centers = centers
        self.bulk_velocities = bulk_velocities

    def __repr__(self):
        return f"<MockHalos: {len(self.centers)} halos, {len(self)} particles, {self.box:g} Mpc/h wide>"

    def members(self, halo):
        """The rows of a halo's particles."""
        return numpy.flatnonzero(self.halo == whole(halo, "halo", 0))

    def spherical_mass(self, halo, overdensity=200.0, reference="critical"):
        """Mass and radius of the sphere about a halo's center, of all particles, by brute force.

        Parameters
        ----------
        halo : int
        overdensity : float
            In units of the reference.
        reference : "critical" or "mean"
            Density today.

        Returns
        -------
        mass, radius : float
            In 1e10 Msun/h and Mpc/h; 0 if the density never falls below.
        """
        if reference not in ("critical", "mean"):
            raise ValueError(f"reference is {reference!r}; it must be critical or mean")
        unit = CRITICAL_DENSITY if reference == "critical" else self.cosmology.mean_density
        density = 4.0 / 3.0 * numpy.pi * positive(overdensity, "overdensity") * unit
        radii, masses = self._enclosed(halo, numpy.arange(len(self)))
        below = numpy.flatnonzero(masses < density * radii**3)
        if not len(below):
            return 0.0, 0.0
        outer = below[0]
        inner_radius, inner_mass = radii[outer - 1], masses[outer - 1]
        slope = (masses[outer] - inner_mass) / (radii[outer] - inner_radius)
        low, high = inner_radius, radii[outer]
        while low < (middle := 0.5 * (low + high)) < high:
            if density * middle**3 > inner_mass + slope * (middle - inner_radius):
                high = middle
            else:
                low = middle
        return float(density * high**3), float(high)

    def largest_velocity(self, halo, least_radius=0.0):
        """The largest circular velocity, in km/s, and its radius: of all particles within 200 times the mean density, or
        of all where the density never falls below that."""
        least_radius = number(least_radius, "least_radius")
        radii, masses = self._enclosed(halo, numpy.arange(len(self)))
        edge = self.spherical_mass(halo, 200.0, "mean")[1] or numpy.inf
        inside = (radii <= edge) & (numpy.maximum(radii, least_radius) > 0)
        radii, masses = numpy.maximum(radii[inside], least_radius), masses[inside]
        squares = GRAVITY * masses / radii
        largest = squares.argmax()
        return float(numpy.sqrt(squares[largest])), float(radii[largest])

    def half_mass_radius(self, halo):
        """Of the halo's own particles."""
        radii, masses = self._enclosed(halo, self.members(halo))
        return float(numpy.interp(0.5 * masses[-1], masses, radii))

    def _enclosed(self, halo, rows):
        """Distances from a halo's center, ascending from 0, without repetition, and the mass within each."""
        halo = whole(halo, "halo", 0)
        if halo >= len(self.centers):
            raise ValueError(f"halo is {halo}; there are {len(self.centers)}")
        offsets = self.positions[rows].astype(numpy.float64) - self.centers[halo]
        offsets -= self.box * numpy.round(offsets / self.box)
        radii, counts = numpy.unique(numpy.sqrt((offsets**2).sum(axis=1)), return_counts=True)
        if not len(radii) or radii[0] > 0:
            radii, counts = numpy.append(0.0, radii), numpy.append(0, counts)
        return radii, numpy.cumsum(counts) * self.uniform_mass


def halo(count, *, profile="nfw", concentration=8.0, particle_mass=0.1, seed=0, dtype=numpy.float32):
    """One halo in the middle of an empty box, 20 times as wide as its radius.

    Parameters
    ----------
    count : int
        Particles, 1 or more.
    profile : "nfw" or "plummer"
    concentration : float
        The radius over the profile's scale.
    particle_mass : float
        In 1e10 Msun/h.
    seed : int
    dtype : float32 or float64
        Of positions and velocities. Those of another type are other halos, not these rounded.

    Returns
    -------
    MockHalos

    Examples
    --------
    >>> import kith
    >>> mock = kith.datasets.halo(1000, seed=1)
    >>> mass, radius = mock.spherical_mass(0)
    >>> bool(0.7 < mass / (1000 * mock.uniform_mass) < 0.9)
    True
    """
    random, count, _, dtype = begin(count, 3, seed, dtype)
    count = whole(count, "count", 1)
    particle_mass = positive(particle_mass, "particle_mass")
    made = _Halos(random, profile, concentration, numpy.array([count]), particle_mass)
    box = 20.0 * float(made.radii[0])
    centers, bulk_velocities = numpy.full((1, 3), 0.5 * box), numpy.zeros((1, 3))
    return _in_box(random, made, centers, bulk_velocities, numpy.empty((0, 3)), numpy.empty((0, 3)), box, Cosmology(),
                   dtype)


def halos(count, box=100.0, *, profile="nfw", concentration=8.0, in_halos=0.5, smallest=20, largest=None, cosmology=None,
          seed=0, dtype=numpy.float32):
    """Halos that do not touch, in a uniform background.

    Parameters
    ----------
    count : int
        Particles of halos and background, 1 or more.
    box : float
        Its period, in Mpc/h.
    profile, concentration : as for `halo`
    in_halos : float
        The share of the particles that are in halos, from 0 to 1.
    smallest, largest : int
        Particles of a halo, in between dn/dm ~ m^-1.9; by default up to a twentieth of all.
    cosmology : Cosmology, optional
        By default that of Planck 2018. It gives the mass of a particle.
    seed, dtype : as for `halo`

    Returns
    -------
    MockHalos

    Notes
    -----
    Halos and background move with 300 km/s along each axis.

    Examples
    --------
    >>> import kith
    >>> mock = kith.datasets.halos(20_000, 50)
    >>> labels, groups = kith.fof(mock, b=0.2, return_catalog=True)
    >>> bool(len(groups) > 0.8 * len(mock.centers))
    True
    """
    random, count, _, dtype = begin(count, 3, seed, dtype)
    count, smallest, box = whole(count, "count", 1), whole(smallest, "smallest", 1), positive(box, "box")
    in_halos = number(in_halos, "in_halos")
    if not 0 <= in_halos <= 1:
        raise ValueError(f"in_halos is {in_halos}; it must be from 0 to 1")
    largest = max(smallest, count // 20) if largest is None else whole(largest, "largest", smallest)
    if cosmology is not None and not isinstance(cosmology, Cosmology):
        raise TypeError(f"cosmology is of type {type(cosmology).__name__}; it must be a kith.datasets.Cosmology")
    cosmology = Cosmology() if cosmology is None else cosmology
    members = _members(random, int(in_halos * count), smallest, largest)
    made = _Halos(random, profile, concentration, members, cosmology.mean_density * box**3 / count)
    centers = _apart(random, made.radii, box)
    field = count - int(members.sum())
    return _in_box(random, made, centers, 300.0 * random.standard_normal(centers.shape), box * random.random((field, 3)),
                   300.0 * random.standard_normal((field, 3)), box, cosmology, dtype)


class _Halos:
    """Radii of halos, and offsets and velocities of their particles, halo by halo."""

    def __init__(self, random, profile, concentration, members, particle_mass):
        if profile not in PROFILES:
            raise ValueError(f"profile is {profile!r}; it must be {' or '.join(PROFILES)}")
        concentration = positive(concentration, "concentration")
        self.members = members
        self.particle_mass = particle_mass
        masses = particle_mass * members
        self.radii = numpy.cbrt(masses / (4.0 / 3.0 * numpy.pi * OVERDENSITY * CRITICAL_DENSITY))
        of_halo = numpy.repeat(numpy.arange(len(members)), members)
        x, shares, dispersions, depths = _profile(profile, concentration)
        radius = numpy.interp(random.random(len(of_halo)), shares, x)
        self.offsets = (radius * self.radii[of_halo])[:, None] * directions(random, len(of_halo), 3)
        unit = numpy.sqrt(GRAVITY * masses / self.radii)[of_halo]
        dispersion = numpy.interp(radius, x, dispersions) * unit
        fastest = 0.95 * numpy.sqrt(2.0 * numpy.interp(radius, x, depths)) * unit
        self.velocities = dispersion[:, None] * random.standard_normal((len(of_halo), 3))
        while len(fast := numpy.flatnonzero((self.velocities**2).sum(axis=1) > fastest**2)):
            self.velocities[fast] = dispersion[fast, None] * random.standard_normal((len(fast), 3))


def _profile(profile, concentration):
    """Radii up to 1; the mass within, the velocity dispersion along an axis and minus the potential at each, where mass,
    radius and G are 1."""
    x = numpy.append(0.0, numpy.geomspace(1e-5, 100.0, 7001))  # over the radius, and beyond
    s = concentration * x
    if profile == "nfw":
        enclosed, density = numpy.log1p(s) - s / (1.0 + s), 1.0 / (numpy.maximum(s, 1e-300) * (1.0 + s) ** 2)
    else:
        enclosed, density = s**3 / (1.0 + s**2) ** 1.5, 3.0 / (1.0 + s**2) ** 2.5
    inside = x <= 1.0
    total = numpy.interp(1.0, x, enclosed)
    enclosed, density = enclosed / total, density * concentration**3 / total  # rho times 4 pi
    x, enclosed, density, inside = x[1:], enclosed[1:], density[1:], inside[1:]

    def from_outside(integrand):
        steps = 0.5 * (integrand[1:] + integrand[:-1]) * numpy.diff(x)
        return numpy.append(numpy.cumsum(steps[::-1])[::-1], 0.0)

    dispersions = numpy.sqrt(from_outside(density * enclosed / x**2) / density)
    depths = enclosed / x + from_outside(numpy.where(inside, density * x, 0.0))
    radii = numpy.concatenate(([0.0], x[inside], [1.0]))
    return (radii, numpy.concatenate(([0.0], enclosed[inside], [1.0])),
            numpy.interp(radii, x, dispersions), numpy.interp(radii, x, depths))


def _members(random, count, smallest, largest):
    """Numbers of particles that add up to that many, by decreasing size; the last halos take what is left."""
    members = numpy.empty(0, dtype=numpy.int64)
    while members.sum() < count:
        draws = random.random(max(16, count // 50))
        ratio = (largest / smallest) ** -0.9
        masses = smallest * (1.0 - draws * (1.0 - ratio)) ** (-1.0 / 0.9)
        members = numpy.append(members, numpy.minimum(masses.astype(numpy.int64), largest))
    members = members[:numpy.searchsorted(numpy.cumsum(members), count, side="right")]
    return numpy.sort(members)[::-1]


def _apart(random, radii, box):
    """Centers in a box whose halos, by decreasing size, are at least the sum of their radii from each other."""
    centers = numpy.empty((len(radii), 3))
    for i, radius in enumerate(radii):
        for _ in range(1000):
            centers[i] = box * random.random(3)
            offsets = centers[:i] - centers[i]
            offsets -= box * numpy.round(offsets / box)
            if ((offsets**2).sum(axis=1) >= (2.0 * (radii[:i] + radius)) ** 2).all():
                break
        else:
            raise ValueError(f"{len(radii)} halos do not fit into the box without touching; lower in_halos or widen the box")
    return centers


def _in_box(random, made, centers, bulk_velocities, field, field_velocities, box, cosmology, dtype):
    """All particles in random order."""
    of_halo = numpy.repeat(numpy.arange(len(centers), dtype=numpy.int32), made.members)
    positions = numpy.concatenate((centers[of_halo] + made.offsets, field))
    positions = (positions - box * numpy.floor(positions / box)).astype(real_type(dtype))
    positions[positions >= positions.dtype.type(box)] = 0.0  # what rounding lifted onto the upper edge
    velocities = numpy.concatenate((bulk_velocities[of_halo] + made.velocities, field_velocities)).astype(dtype)
    halo_of = numpy.append(of_halo, numpy.full(len(field), -1, dtype=numpy.int32))
    order = random.permutation(len(positions))
    return MockHalos(positions[order], velocities[order], box, cosmology, halo_of[order], centers, bulk_velocities,
                     made.particle_mass)
