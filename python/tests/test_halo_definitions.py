"""Radii, masses, velocities and energies of halos of mocks and of real snapshots against plain sums over all particles."""

import os
import pathlib

import numpy
import pytest

import kith
from halo_definitions import Definitions, densities

DATA = pathlib.Path(os.environ.get("KITH_SHARED_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared/data")
UNIVERSE = {"G": 43.0092, "hubble": 100.0, "omega_matter": 0.31}  # in Mpc/h, 1e10 Msun/h and km/s


def mock(count, **options):
    made = kith.datasets.halos(count, 100 * (count / 1e6) ** (1 / 3), **options)
    return {"points": made.positions, "box": made.box, "velocities": made.velocities,
            "masses": numpy.full(count, made.uniform_mass), "b": 0.2, **UNIVERSE}


def snapshot(name, **options):
    if not (DATA / name).is_file():
        pytest.skip(f"{DATA / name} is absent; set KITH_SHARED_DATA to the folder of real files")
    read = kith.read(DATA / name, types="all")
    return {"points": read.positions, "velocities": read.velocities, "masses": read.masses, **options}


def lambs(**options):
    """In units with G = 1 and the critical density 1, a hundredth of the particles of the run."""
    return snapshot("tipsy/lambs30K_density.std", box=1, b=0.2, G=100.0, hubble=2.8944, omega_matter=0.3, **options)


def unequal(**options):
    arguments = {**mock(8000, seed=8, **options), "linking_length": 0.2, "b": None}
    arguments["masses"] = arguments["masses"] * numpy.random.default_rng(8).choice([0, 0.2, 1, 2], len(arguments["masses"]))
    return arguments


CASES = {
    "mock": lambda: (mock(30_000, seed=1), {}),
    "mock of float64": lambda: (mock(30_000, seed=2, dtype=numpy.float64), {"outermost": True}),
    "mock of unequal masses": lambda: (unequal(), {"bound_only": True}),
    "mock of unequal masses, outermost": lambda: (unequal(), {"outermost": True, "bound_only": True}),
    "mock at another time": lambda: ({**mock(20_000, seed=3, profile="plummer", concentration=3.0), "scale_factor": 0.5,
                                      "hubble": 180.0, "omega_matter": 0.78, "softening": ("plummer", 0.03)}, {}),
    "tipsy": lambda: (lambs(), {}),
    "tipsy, outermost": lambda: (lambs(softening=0.002, least_radius=0.004), {"outermost": True}),
    "tipsy, bound members": lambda: (lambs(min_members=10), {"bound_only": True}),
    "tipsy, whole groups": lambda: (lambs(unbind=False), {}),
    "gadget": lambda: (snapshot("gadget_bin/galaxy_littleendian.dat", linking_length=1.0, min_members=10, G=43009.2,
                                hubble=0.1, omega_matter=0.3), {})}


@pytest.mark.parametrize("case", CASES)
def test_halos(case):
    arguments, which = CASES[case]()
    halos = kith.halos(**arguments, **which)
    definitions = Definitions(halos, arguments["points"], arguments["masses"], arguments["velocities"], **which)
    chosen = numpy.random.default_rng(0).permutation(len(halos))[:30]
    assert len(chosen) > 3
    for halo in chosen:
        spheres(definitions, halo)
        bound_members(definitions, halo)


def spheres(definitions, halo):
    halos, of = definitions.halos, densities(definitions.halos)
    for name, density in of.items():
        assert (halos["m" + name][halo], halos["r" + name][halo]) == pytest.approx(definitions.sphere(halo, density), rel=1e-6)
    peak = definitions.largest_velocity(halo, of["200m"] / 200)
    assert (halos.max_velocity[halo], halos.max_velocity_radius[halo]) == pytest.approx(peak, rel=1e-6)
    assert halos.half_mass_radius[halo] == pytest.approx(definitions.half_mass_radius(halo), rel=1e-6)


def bound_members(definitions, halo):
    halos, rows = definitions.halos, definitions.halos.members_of(halo)
    energies = halos.energies[halos.offset[halo]:][:halos.count[halo]]
    assert (numpy.diff(energies) >= 0).all() and energies[-1] <= 0
    deepest = numpy.flatnonzero(rows == halos.center_row[halo])
    assert len(deepest) == 1
    places = numpy.append(deepest, numpy.random.default_rng(halo).permutation(len(rows))[:300])
    potentials = definitions.potentials(halo, places)
    expected = potentials + (definitions.kinetic_energies(halo)[places] if halos.unbind else 0)
    tolerance = (1e-9 if len(rows) <= 256 else 3e-3) * -potentials
    assert (abs(energies[places] - expected) <= tolerance).all()
    assert (potentials[0] <= potentials + 2 * tolerance).all()

    numpy.testing.assert_array_equal(halos.center[halo], definitions.positions[halos.center_row[halo]])
    masses = definitions.masses[rows]
    assert halos.mass[halo] == pytest.approx(masses.sum())
    of_mass = numpy.average(definitions.offsets(halo, rows), axis=0, weights=masses)
    assert halos.center_offset[halo] == pytest.approx(numpy.linalg.norm(of_mass), rel=1e-6)
    away = halos.center_of_mass[halo] - halos.center[halo]
    away -= [numpy.round(x / period) * period if period < numpy.inf else 0 for x, period in zip(away, definitions.periods)]
    assert away == pytest.approx(of_mass, abs=1e-6 * halos.center_offset[halo])
    speed = numpy.average(definitions.velocities[rows], axis=0, weights=masses)
    assert halos.velocity[halo] == pytest.approx(speed, rel=1e-6)
