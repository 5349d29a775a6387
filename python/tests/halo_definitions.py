"""The definitions of docs/semantics.md, "Bound halos", as plain sums over all particles."""

import math

import numpy


def densities(halos):
    """Of the spheres, in mass per comoving volume."""
    critical = 3 * halos.hubble**2 / (8 * math.pi * halos.G) * halos.scale_factor**3
    x = halos.omega_matter - 1
    return {"200m": 200 * halos.omega_matter * critical, **{f"{factor}c": factor * critical for factor in (200, 500, 2500)},
            "vir": (18 * math.pi**2 + 82 * x - 39 * x * x) * critical}


def spline(distances, length):
    """Gadget's kernel."""
    reach = 2.8 * length
    u = distances / reach
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.select(
            [u >= 1, u >= 0.5],
            [1 / distances, (3.2 - 1 / (15 * u) - u**2 * (32 / 3 - u * (16 - u * (9.6 - u * 32 / 15)))) / reach],
            (2.8 - u**2 * (16 / 3 - u**2 * (9.6 - u * 6.4))) / reach)


def plummer(distances, length):
    return 1 / numpy.sqrt(distances**2 + length**2)


class Definitions:
    """Of halos that were found among these particles, whose positions are within the box."""

    def __init__(self, halos, positions, masses, velocities=None, *, outermost=False, bound_only=False):
        self.halos, self.outermost, self.bound_only = halos, outermost, bound_only
        self.positions = numpy.asarray(positions, float)
        self.masses = numpy.broadcast_to(numpy.asarray(masses, float), len(positions))
        self.velocities = None if velocities is None else numpy.asarray(velocities, float)
        self.periods = [length or math.inf for length in (halos.box.period if halos.box else (0, 0, 0))]

    def offsets(self, halo, rows):
        """From the center."""
        away = self.positions[rows] - self.halos.center[halo]
        for axis, period in enumerate(self.periods):
            away[:, axis] -= numpy.round(away[:, axis] / period) * (period if period < math.inf else 0)
        return away

    def enclosed(self, halo, rows):
        """Distances, ascending from 0 and each once, and the mass within each."""
        distances = numpy.linalg.norm(self.offsets(halo, rows), axis=1)
        radii, places = numpy.unique(numpy.append(0, distances), return_inverse=True)
        return radii, numpy.cumsum(numpy.bincount(places[1:], self.masses[rows], len(radii)))

    def profile(self, halo):
        """Of what spheres and circular velocities are of."""
        return self.enclosed(halo, self.halos.members_of(halo) if self.bound_only else slice(None))

    def sphere(self, halo, density):
        """Mass and radius."""
        radii, masses = self.profile(halo)
        ball = 4 / 3 * math.pi * density
        below = masses < ball * radii**3
        crossings = numpy.flatnonzero(below[1:] & ~below[:-1])
        if self.bound_only and not below[-1] and (self.outermost or len(crossings) == 0):
            return masses[-1], (masses[-1] / ball) ** (1 / 3)
        if len(crossings) == 0:
            return 0.0, 0.0
        inner = crossings[-1 if self.outermost else 0]
        slope = (masses[inner + 1] - masses[inner]) / (radii[inner + 1] - radii[inner])
        low, high = radii[inner], radii[inner + 1]
        while low < (middle := (low + high) / 2) < high:
            is_beyond = ball * middle**3 > masses[inner] + slope * (middle - radii[inner])
            low, high = (low, middle) if is_beyond else (middle, high)
        return ball * high**3, high

    def largest_velocity(self, halo, mean_density):
        """The largest circular velocity and its radius."""
        radii, masses = self.profile(halo)
        below = numpy.flatnonzero(masses < 4 / 3 * math.pi * 200 * mean_density * radii**3)
        farthest = self.enclosed(halo, self.halos.members_of(halo))[0][-1]
        stop = below[0] if len(below) else numpy.searchsorted(radii, farthest, side="right")
        radii = numpy.maximum(radii[:stop], self.halos.least_radius)
        squares = self.halos.G / self.halos.scale_factor * masses[:stop] / radii
        return (math.sqrt(squares.max()), radii[squares.argmax()]) if squares.any() else (0.0, 0.0)

    def half_mass_radius(self, halo):
        radii, masses = self.enclosed(halo, self.halos.members_of(halo))
        return numpy.interp(masses[-1] / 2, masses, radii)

    def potentials(self, halo, places):
        """Of some of the bound members, by their places among these, in the gravity of the others."""
        kernel, rows = {"spline": spline, "plummer": plummer}[self.halos.softening[0]], self.halos.members_of(halo)
        away, found = self.offsets(halo, rows), []
        for place in places:
            terms = self.masses[rows] * kernel(numpy.linalg.norm(away - away[place], axis=1), self.halos.softening[1])
            terms[place] = 0
            found.append(terms.sum())
        return -self.halos.G / self.halos.scale_factor * numpy.array(found)

    def kinetic_energies(self, halo):
        """Of the bound members, about their center of mass and mean velocity, in expanding space."""
        rows = self.halos.members_of(halo)
        away = self.offsets(halo, rows)
        flow = self.velocities[rows] - numpy.average(self.velocities[rows], axis=0, weights=self.masses[rows])
        away -= numpy.average(away, axis=0, weights=self.masses[rows])
        return 0.5 * ((flow + self.halos.hubble * self.halos.scale_factor * away) ** 2).sum(axis=1)
