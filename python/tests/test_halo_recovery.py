"""How well bound halos are those that mocks were made of: found, with their centers, masses and velocities, and no others."""

import numpy
import pytest

import kith

UNIVERSE = {"G": 43.0092, "hubble": 100.0, "omega_matter": 0.31}  # in Mpc/h, 1e10 Msun/h and km/s


def true_halos(mock, halos, sizes):
    """The row of each mock's halo that has at least half of its particles, and of others fewer than those."""
    rows = {}
    for row in range(len(halos)):
        own = mock.halo[halos.members_of(row)]
        counts = numpy.bincount(own[own >= 0], minlength=1)
        halo = counts.argmax()
        if 2 * counts[halo] >= max(sizes[halo], 1) and 2 * counts[halo] > len(own):
            rows.setdefault(int(halo), row)
    return rows


def test_halos_of_a_mock():
    mock = kith.datasets.halos(250_000, seed=2)
    halos = kith.halos(mock)
    sizes = numpy.bincount(mock.halo[mock.halo >= 0])
    rows = true_halos(mock, halos, sizes)
    many = numpy.flatnonzero(sizes >= 30)
    assert len(many) > 500 and sum(halo in rows for halo in many) >= 0.995 * len(many)
    few = numpy.flatnonzero((sizes >= 20) & (sizes < 30))
    more = true_halos(mock, kith.halos(mock, min_members=10), sizes)
    assert len(few) > 100 and sum(halo in more for halo in few) >= 0.995 * len(few)

    softening = mock.box / len(mock) ** (1 / 3) / 30
    for least, most in ((30, 100), (100, 300), (300, 10_000)):
        of_masses, of_velocities, of_centers = [], [], []
        for halo in numpy.flatnonzero((sizes >= least) & (sizes < most))[:20]:
            row, (mass, radius) = rows[halo], mock.spherical_mass(halo)
            of_masses.append(halos.m200c[row] / mass - 1)
            of_velocities.append(halos.max_velocity[row] / mock.largest_velocity(halo, softening)[0] - 1)
            away = halos.center[row] - mock.centers[halo]
            away -= mock.box * numpy.round(away / mock.box)
            limit = max(softening, 0.5 / numpy.sqrt(sizes[halo]) * radius, 0.004 * radius)
            of_centers.append(numpy.linalg.norm(away) / limit)
        assert numpy.median(of_centers) <= 1 and numpy.quantile(of_centers, 0.95) <= 2
        if least >= 100:
            assert abs(numpy.median(of_masses)) < 0.01 and abs(numpy.median(of_velocities)) < 0.02


def test_chance_groups_are_not_bound():
    random = numpy.random.default_rng(0)
    points = (100 * random.random((1_000_000, 3))).astype(numpy.float32)
    velocities = (100 * random.standard_normal(points.shape)).astype(numpy.float32)
    mass = kith.datasets.Cosmology().mean_density * 100**3 / len(points)
    labels = kith.fof(points, b=0.7, box=100.0, min_members=20)
    assert labels.max() > 500
    given = {"labels": labels, "box": 100.0, "velocities": velocities, "masses": numpy.full(len(points), mass), **UNIVERSE}
    assert len(kith.halos(points, **given)) == 0
    assert len(kith.halos(points, unbind=False, **given)) == labels.max() + 1


@pytest.mark.parametrize("seed", range(5))
def test_interlopers_are_removed(seed):
    mock, count = kith.datasets.halo(1000, seed=seed), 100
    random = numpy.random.default_rng(seed)
    others = kith.datasets.halo(10 * count, seed=seed + 100).positions[:count]  # placed like the halo's own
    directions = random.standard_normal((count, 3))
    directions *= 5 * mock.velocities.std(axis=0).mean() / numpy.linalg.norm(directions, axis=1, keepdims=True)
    points = numpy.concatenate([mock.positions, others])
    halos = kith.halos(points, labels=numpy.zeros(len(points), numpy.int32), box=mock.box,
                       velocities=numpy.concatenate([mock.velocities, directions.astype(numpy.float32)]),
                       masses=numpy.full(len(points), mock.uniform_mass), **UNIVERSE)
    own = halos.members_of(0) < len(mock)
    assert own.mean() >= 0.99 and own.sum() >= 0.93 * len(mock)
