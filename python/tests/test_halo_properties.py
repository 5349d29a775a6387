"""Motion, shape and concentration of halos: their definitions by sums over all particles, and the truth of mocks."""

import math

import numpy
import pytest

import kith

MOCK = kith.datasets.halos(8000, 30, seed=5)
HALOS = kith.halos(MOCK)


@pytest.mark.parametrize("halo", range(0, len(HALOS), 4))
def test_motion(halo):
    rows = HALOS.members_of(halo)
    x = MOCK.positions[rows].astype(float) - HALOS.center[halo]
    x -= MOCK.box * numpy.round(x / MOCK.box)
    velocity = MOCK.velocities[rows].mean(axis=0, dtype=float)
    numpy.testing.assert_allclose(HALOS.velocity[halo], velocity, rtol=1e-9, atol=1e-9)
    u = MOCK.velocities[rows] - velocity + HALOS.hubble * (x - x.mean(axis=0))
    assert HALOS.velocity_dispersion[halo] == pytest.approx(math.sqrt((u**2).sum(axis=1).mean() / 3))
    spin = numpy.cross(x - x.mean(axis=0), u).mean(axis=0)
    numpy.testing.assert_allclose(HALOS.spin[halo], spin, rtol=1e-9, atol=1e-9 * numpy.abs(spin).max())
    energies = HALOS.energies[HALOS.offset[halo]:HALOS.offset[halo] + HALOS.count[halo]]
    energy = (energies + 0.5 * (u**2).sum(axis=1)).mean() / 2  # phi counts half, since pairs count twice
    length, mass = numpy.linalg.norm(spin), HALOS.mass[halo]
    assert HALOS.peebles_spin[halo] == pytest.approx(length * math.sqrt(abs(energy)) / (HALOS.G * mass))
    x = HALOS.omega_matter - 1
    virial = (18 * math.pi**2 + 82 * x - 39 * x * x) * 3 * HALOS.hubble**2 / (8 * math.pi * HALOS.G)
    radius = (mass / (4 / 3 * math.pi * virial)) ** (1 / 3)
    assert HALOS.bullock_spin[halo] == pytest.approx(length / math.sqrt(2 * HALOS.G * mass * radius))


def test_the_truth_of_a_mock():
    """A round halo at rest, of concentration 8 at the radius where it is 100 times as dense as the critical density."""
    mock = kith.datasets.halo(20000, seed=2)
    radius = (mock.uniform_mass * 20000 / (4 / 3 * math.pi * 100 * 27.7536627)) ** (1 / 3)
    found = kith.halos(mock, mean_separation="cosmology", overdensities=["200c", "2500c"])
    assert len(found) == 1
    for name in ("200c", "2500c"):
        expected = 8 * found["r" + name][0] / radius
        assert found["c" + name][0] == pytest.approx(expected, rel=0.08)
    assert found.cv200c[0] == pytest.approx(8 * found.r200c[0] / radius, rel=0.1)
    assert math.isnan(found.cv2500c[0])  # the largest velocity is beyond that sphere
    assert found.b_to_a[0] > found.c_to_a[0] > 0.93
    assert numpy.linalg.norm(found.major_axis[0]) == pytest.approx(1)
    assert found.bullock_spin[0] < 0.01 and found.peebles_spin[0] < 0.01
    squeezed = kith.halos(mock.positions * numpy.float32([0.5, 1, 0.7]), labels=found.labels, unbind=False, G=1.0,
                          overdensities=())
    assert squeezed.b_to_a[0] == pytest.approx(0.7, abs=0.03) and squeezed.c_to_a[0] == pytest.approx(0.5, abs=0.03)
    assert abs(squeezed.major_axis[0, 1]) > 0.99


def test_what_is_undefined_is_nan():
    few = kith.halos(MOCK, min_members=20, overdensities=["200c", "90000c"])
    small = few.count < 30
    assert small.any() and numpy.isnan(few.b_to_a[small]).all() and numpy.isfinite(few.b_to_a[few.count > 100]).all()
    assert numpy.isnan(few.c90000c[few.m90000c == 0]).all()
    still = kith.halos(MOCK.positions, labels=few.labels, box=MOCK.box, unbind=False, G=1.0, overdensities=())
    assert not {"velocity", "velocity_dispersion", "spin", "bullock_spin", "peebles_spin"} & set(still.columns)
