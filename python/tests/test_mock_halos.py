"""Halos with known truth: profiles and velocities are those that are said, and the truth is that of the particles."""

import math

import numpy
import pytest

import kith
from kith.datasets.cosmology import CRITICAL_DENSITY
from kith.datasets.mock_halos import GRAVITY

halo, halos = kith.datasets.halo, kith.datasets.halos


@pytest.fixture(scope="module")
def some():
    return halos(20_000, 50, seed=3)


def test_seeds_and_types(some):
    again = halos(20_000, 50, seed=3)
    for name in ("positions", "velocities", "halo", "centers", "bulk_velocities"):
        assert (getattr(some, name) == getattr(again, name)).all(), name
    assert (halos(20_000, 50, seed=4).positions != some.positions).any()
    assert some.positions.dtype == some.velocities.dtype == numpy.float32
    assert halo(10, dtype=numpy.float64).velocities.dtype == numpy.float64
    assert "halos, 20000 particles, 50 Mpc/h wide" in repr(some)


def radii_of(mock, rows, center):
    offsets = mock.positions[rows].astype(numpy.float64) - center
    offsets -= mock.box * numpy.round(offsets / mock.box)
    return numpy.linalg.norm(offsets, axis=1)


@pytest.mark.parametrize("profile, concentration, enclosed", [
    ("nfw", 8.0, lambda s: math.log1p(s) - s / (1 + s)), ("nfw", 3.0, lambda s: math.log1p(s) - s / (1 + s)),
    ("plummer", 8.0, lambda s: s**3 / (1 + s * s)**1.5)])
def test_profiles(profile, concentration, enclosed):
    count = 20_000
    mock = halo(count, profile=profile, concentration=concentration, particle_mass=0.5)
    edge = (count * 0.5 / (400 / 3 * math.pi * CRITICAL_DENSITY)) ** (1 / 3)
    assert mock.box == pytest.approx(20 * edge)
    radius = radii_of(mock, mock.members(0), mock.centers[0])
    assert radius.max() < edge * (1 + 1e-4)
    for share in (0.1, 0.3, 0.6):
        expected = enclosed(concentration * share) / enclosed(concentration)
        assert abs((radius < share * edge).mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / count)
    away = (mock.positions - mock.centers[0]).mean(axis=0)
    assert (abs(away) < 4 * radius.std() / math.sqrt(count)).all()


def test_velocities_of_a_plummer_sphere():
    """sigma^2 = G M / (6 sqrt(r^2 + a^2)) (Binney & Tremaine 2008, equation 4.217), cut at 0.95 of the escape velocity."""
    count, concentration = 50_000, 8.0
    mock = halo(count, profile="plummer", concentration=concentration, dtype=numpy.float64)
    radius = radii_of(mock, mock.members(0), mock.centers[0])
    edge = mock.box / 20
    scale = edge / concentration
    mass = count * mock.uniform_mass * (1 + concentration**-2) ** 1.5
    cut = 0.95 * math.sqrt(12)  # over sigma
    tail = math.sqrt(2 / math.pi) * cut * math.exp(-cut**2 / 2)
    kept = 1 - tail * cut**2 / (3 * (math.erf(cut / math.sqrt(2)) - tail))
    for inner, outer in ((0, 1), (1, 2), (2, 4)):
        inside = (radius >= inner * scale) & (radius < outer * scale)
        ratio = (mock.velocities[inside]**2).sum(axis=1) / 3 * 6 * numpy.hypot(radius[inside], scale) / (GRAVITY * mass)
        assert abs(ratio.mean() / kept - 1) < 0.01 + 4 * math.sqrt(2 / (3 * inside.sum())), (inner, outer)


def test_all_of_a_halo_is_slower_than_its_escape():
    mock = halo(2000, dtype=numpy.float64)
    positions = mock.positions
    distances = numpy.linalg.norm(positions[:, None] - positions[None], axis=2)
    numpy.fill_diagonal(distances, numpy.inf)
    energies = 0.5 * (mock.velocities**2).sum(axis=1) - GRAVITY * mock.uniform_mass * (1 / distances).sum(axis=1)
    assert (energies < 0).mean() > 0.99
    kinetic, potential = 0.5 * (mock.velocities**2).sum(), GRAVITY * mock.uniform_mass * (1 / distances).sum() / 2
    assert 0.9 < 2 * kinetic / potential < 1.2


def test_halos_do_not_touch(some):
    sizes = numpy.bincount(some.halo[some.halo >= 0])
    assert (sizes >= 20).all() and (numpy.diff(sizes) <= 0).all() and len(sizes) == len(some.centers)
    assert 9_000 < sizes.sum() <= 10_000
    assert some.uniform_mass == pytest.approx(some.cosmology.mean_density * 50**3 / 20_000)
    edges = numpy.array([radii_of(some, some.members(i), center).max() for i, center in enumerate(some.centers)])
    for i, center in enumerate(some.centers):
        offsets = some.centers - center
        offsets -= 50 * numpy.round(offsets / 50)
        apart = numpy.linalg.norm(offsets, axis=1)
        apart[i] = numpy.inf
        assert (apart > edges + edges[i]).all()
    for i in range(3):
        assert some.velocities[some.members(i)].mean(axis=0) == pytest.approx(some.bulk_velocities[i], abs=150)


def test_truth_by_loops(some):
    """Against the definitions, particle by particle."""
    for i in (0, 1, len(some.centers) - 1):
        radius = numpy.sort(radii_of(some, slice(None), some.centers[i]))
        for overdensity, reference in ((200, "critical"), (500, "critical"), (200, "mean")):
            density = overdensity * (CRITICAL_DENSITY if reference == "critical" else some.cosmology.mean_density)
            last, mass = 0.0, 0.0
            for r in radius:
                if mass + some.uniform_mass < 4 / 3 * math.pi * density * r**3:
                    break
                last, mass = r, mass + some.uniform_mass
            found, edge = some.spherical_mass(i, overdensity, reference)
            assert last <= edge <= r and found == pytest.approx(4 / 3 * math.pi * density * edge**3, rel=1e-12)
            assert found == pytest.approx(mass + some.uniform_mass * (edge - last) / (r - last), rel=1e-9)
        velocity, peak = some.largest_velocity(i, 0.02)
        inside = radius[radius <= some.spherical_mass(i, 200, "mean")[1]]
        squares = [GRAVITY * some.uniform_mass * (n + 1) / max(r, 0.02) for n, r in enumerate(inside)]
        assert velocity == pytest.approx(math.sqrt(max(squares)), rel=1e-12) and peak >= 0.02
        own = numpy.sort(radii_of(some, some.members(i), some.centers[i]))
        middle = len(own) / 2
        below, above = own[math.ceil(middle) - 2:][:2]
        assert below <= some.half_mass_radius(i) <= above


def test_a_lone_halo_has_an_edge():
    mock = halo(3000)
    mass, radius = mock.spherical_mass(0)
    assert 0.7 < mass / (3000 * mock.uniform_mass) < 0.9 and radius < mock.box / 20
    assert mock.spherical_mass(0, 10) == (0.0, 0.0)  # nothing outside: the density never falls below
    velocity, peak = mock.largest_velocity(0)
    assert 0 < peak < radius and velocity > math.sqrt(GRAVITY * mass / radius)


def test_groups_are_the_halos(some):
    labels, groups = kith.fof(some, b=0.2, return_catalog=True)
    for i in range(5):
        members = labels[some.members(i)]
        assert (members == numpy.bincount(members[members >= 0]).argmax()).mean() > 0.8
    assert len(groups) > 0.8 * len(some.centers)


def test_a_snapshot_of_halos(some, tmp_path):
    pytest.importorskip("h5py")
    some.write(tmp_path / "halos.hdf5")
    snapshot = kith.read(tmp_path / "halos.hdf5")
    assert (snapshot.positions == some.positions).all() and snapshot.uniform_mass == some.uniform_mass


@pytest.mark.parametrize("make, wrong", [
    (halo, {"count": 0}), (halo, {"profile": "einasto"}), (halo, {"concentration": 0}), (halo, {"particle_mass": -1}),
    (halos, {"count": 0}), (halos, {"box": 0}), (halos, {"in_halos": 1.5}), (halos, {"smallest": 0}),
    (halos, {"largest": 19}), (halos, {"profile": "king"})])
def test_impossible_halos(make, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        make(**{"count": 100, **wrong})


def test_halos_that_find_no_room():
    with pytest.raises(ValueError, match="lower in_halos"):
        halos(400, 10, in_halos=1.0, smallest=1, largest=1, cosmology=kith.datasets.Cosmology(
            omega_matter=60.0, omega_baryon=0.0))


def test_only_halos_that_exist(some):
    with pytest.raises(ValueError, match="there are"):
        some.spherical_mass(len(some.centers))
    with pytest.raises(ValueError, match="reference"):
        some.spherical_mass(0, 200, "virial")
