"""Groups and their catalog."""

import warnings
from types import SimpleNamespace

import numpy
import pytest

import kith
from built import DIMENSIONS

CLUMPS = numpy.concatenate([numpy.random.default_rng(place).normal(place, 0.01, (count, 3))
                            for place, count in ((1, 50), (2, 80), (3, 10))]).astype(numpy.float32)


def test_labels_are_by_size():
    labels = kith.fof(CLUMPS, 0.1)
    assert labels.dtype == numpy.int32 and labels.shape == (140,)
    assert labels.tolist() == [1] * 50 + [0] * 80 + [2] * 10
    assert kith.fof(CLUMPS, 0.1, min_members=20).tolist() == [1] * 50 + [0] * 80 + [-1] * 10
    assert (kith.Tree(CLUMPS).fof(0.1, min_members=20) == kith.fof(CLUMPS, 0.1, min_members=20)).all()


def test_relative_lengths():
    points = numpy.random.default_rng(2).random((1000, 2))
    assert (kith.fof(points, b=0.5, box=2) == kith.fof(points, 0.5 * numpy.sqrt(4 / 1000), box=2)).all()


def test_catalog():
    velocities = CLUMPS * 10
    masses = numpy.arange(140.0)
    types = numpy.arange(140) % 3
    labels, halos = kith.fof(CLUMPS, 0.1, return_catalog=True, velocities=velocities, masses=masses, types=types)
    assert len(halos) == 2 and labels.max() == 2
    assert halos.count.tolist() == [80, 50]
    for group in range(2):
        members = numpy.flatnonzero(labels == group)
        assert sorted(halos.members_of(group)) == members.tolist()
        assert halos.mass[group] == masses[members].sum()
        center = numpy.average(CLUMPS[members], axis=0, weights=masses[members])
        numpy.testing.assert_allclose(halos.center[group], center, rtol=1e-6)
        numpy.testing.assert_allclose(halos.velocity[group], 10 * center, rtol=1e-6)
        assert halos.count_by_type[group, :3].tolist() == numpy.bincount(types[members]).tolist()
    assert halos.linking_length == numpy.float32(0.1) and halos.box.is_open
    assert "2 groups" in repr(halos)


@pytest.mark.parametrize("options", [{}, {"min_members": 1}, {"min_members": 20}, {"min_members": 60}])
def test_labels_are_the_same_with_a_catalog(options):
    labels, halos = kith.fof(CLUMPS, 0.1, return_catalog=True, **options)
    assert labels.tolist() == kith.fof(CLUMPS, 0.1, **options).tolist() == kith.Tree(CLUMPS).fof(0.1, **options).tolist()
    assert (halos.count >= options.get("min_members", 20)).all()
    for group in range(len(halos)):  # row g is label g
        assert halos.members_of(group).tolist() == numpy.flatnonzero(labels == group).tolist()
    if options:
        assert labels.max() + 1 == len(halos)
    else:
        assert (len(halos), labels.max()) == (2, 2)


def test_tables():
    _, halos = kith.fof(CLUMPS, 0.1, return_catalog=True)
    table = halos.to_structured()
    assert table.shape == (2,) and (table["center"] == halos.center).all() and (halos["mass"] == halos.mass).all()
    assert "velocity" not in halos.columns
    with pytest.raises(KeyError, match="there are count"):
        halos["velocity"]
    pandas = pytest.importorskip("pandas")
    frame = halos.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and (frame["center_y"] == halos.center[:, 1]).all()
    assert frame["count_by_type_1"].tolist() == [80, 50]


def test_astropy_table():
    pytest.importorskip("astropy")
    _, halos = kith.fof(CLUMPS, 0.1, return_catalog=True)
    table = halos.to_astropy()
    assert table["center"].shape == (2, 3) and table.meta["linking_length"] == halos.linking_length


def test_columns_live_on_and_cannot_be_written_to():
    _, halos = kith.fof(CLUMPS, 0.1, return_catalog=True)
    mass = halos.mass
    del halos
    assert mass.tolist() == [80, 50]
    with pytest.raises(ValueError, match="read-only"):
        mass[0] = 1


def test_unequal_masses_draw_a_warning():
    with pytest.warns(UserWarning, match="masses are unequal"):
        kith.fof(CLUMPS, b=0.2, return_catalog=True, masses=numpy.arange(140.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.fof(CLUMPS, b=0.2, return_catalog=True, masses=numpy.ones(140))
        kith.fof(CLUMPS, 0.2, return_catalog=True, masses=numpy.arange(140.0))


@pytest.mark.parametrize("types, says", [(None, "; give linking_length"), (numpy.ones(140, dtype=int), "; give linking_length"),
                                         (numpy.arange(140) % 2, "choose points of one type, or give linking_length")])
def test_unequal_masses_get_advice_that_can_be_followed(types, says):
    for return_catalog in (False, True):
        with pytest.warns(UserWarning, match=says):
            kith.fof(CLUMPS, b=0.2, masses=numpy.arange(140.0), types=types, return_catalog=return_catalog)


def test_a_box_that_contradicts_the_snapshots_draws_a_warning():
    class Universe:
        positions, box = numpy.random.default_rng(1).random((100, 3)) * 40, 40.0
        velocities = masses = types = uniform_mass = None

    for call in (lambda box: kith.knn(Universe, 2, box=box), lambda box: kith.fof(Universe, 1, box=box),
                 lambda box: kith.Tree(Universe, box=box), lambda box: kith.radius_search(Universe, 1, box=box),
                 lambda box: kith.radius_count(Universe, 1, box=box), lambda box: kith.dbscan(Universe, 1, box=box),
                 lambda box: kith.mst(Universe, box=box), lambda box: kith.hierarchy(Universe, box=box),
                 lambda box: kith.fof_ladder(Universe, [1, 2], box=box)):
        with pytest.warns(UserWarning, match="box is 50, but the snapshot states a box of 40;.*Mpc/h") as warned:
            call(50)
        assert warned[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for box in (None, 40, numpy.float32(40), [40, 40, 0], 0, kith.Box(40)):
                call(box)


def test_masses_whose_sum_is_infinite_draw_a_warning():
    with pytest.warns(UserWarning, match="members of 2 of the groups add up to more than float64 can hold"):
        _, halos = kith.fof(CLUMPS, 0.1, min_members=5, return_catalog=True, masses=numpy.full(140, 1e307))
    assert numpy.isinf(halos.mass).tolist() == [True, True, False] and numpy.isfinite(halos.center).all()
    with pytest.warns(UserWarning, match="members of 2 of the halos add up"):
        kith.halos(CLUMPS, linking_length=0.1, masses=numpy.full(140, 1e307), min_members=5, unbind=False)


def test_another_box_of_a_second_snapshot_draws_a_warning():
    def snapshot(box):
        return SimpleNamespace(positions=numpy.random.default_rng(1).random((100, 3)) * 10, box=box, velocities=None,
                               masses=None, types=None, uniform_mass=None)

    first, other = snapshot(40.0), snapshot(50.0)
    for points, box in ((first, None), (first.positions, 40), (kith.Tree(first), None)):
        for call, name in ((lambda of: kith.knn(points, 2, of, box=box), "queries"),
                           (lambda of: kith.radius_count(points, 1, of, box=box), "queries"),
                           (lambda of: kith.pair_counts(points, of, edges=[0, 1], box=box), "other")):
            with pytest.warns(UserWarning, match=f"the box is 40.*the snapshot of the {name} states a box of 50") as warned:
                call(other)
            assert warned[0].filename == __file__
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for of in (first, snapshot(None), other.positions):
                    call(of)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.knn(first.positions, 2, other)  # without a box


def test_groups_are_numbered_from_0():
    _, halos = kith.fof(CLUMPS, 0.1, return_catalog=True)
    assert "mass" in halos and "color" not in halos
    assert [group.count for group in halos] == halos.count.tolist()
    for group in (-1, 2):
        with pytest.raises(IndexError, match="there are 2"):
            halos.members_of(group)


def test_nothing_to_group():
    assert kith.fof(numpy.empty((0, 3)), 1).shape == (0,)
    labels, halos = kith.fof(numpy.empty((0, 3)), 1, return_catalog=True)
    assert len(halos) == 0 and halos.center.shape == (0, 3) and len(halos.to_structured()) == 0
    assert "velocity" not in halos and not hasattr(halos, "velocity")
    _, halos = kith.fof(CLUMPS, 0, return_catalog=True, velocities=CLUMPS, min_members=2**70)
    assert len(halos) == 0 and halos.velocity.shape == (0, 3)


@pytest.mark.parametrize("wrong, error, says", [
    (lambda: kith.fof(CLUMPS), TypeError, "either"),
    (lambda: kith.fof(CLUMPS, 1, b=1), TypeError, "either"),
    (lambda: kith.fof(CLUMPS, -1), ValueError, "-1"),
    (lambda: kith.fof(CLUMPS[:1], b=1), ValueError, "volume"),
    (lambda: kith.fof(CLUMPS, 1, min_members=0), ValueError, "min_members"),
    (lambda: kith.fof(CLUMPS, 1, min_members=2.5), TypeError, "min_members is 2.5; it must be a whole number"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, masses=[1.0]), ValueError, "1 rows for 140"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, masses=-numpy.ones(140)), ValueError, "mass"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, types=numpy.full(140, 9)), ValueError, "type"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, types=[1] * 139 + [300]), ValueError,
     "types: row 139 has type 300; types are 0 to 6"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, types=numpy.ones(140)), TypeError, "whole numbers"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, types=numpy.ma.masked_equal(numpy.arange(140) % 3, 2)),
     ValueError, "masked"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, min_members="a"), TypeError, "min_members is 'a'"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, masses=1.0), TypeError, "a row for each point"),
    (lambda: kith.fof(CLUMPS, "1"), TypeError, "linking_length is '1'"),
    (lambda: kith.fof(CLUMPS, 1, return_catalog="no"), TypeError, "return_catalog is 'no'"),
    (lambda: kith.fof(5, 1), ValueError, "points has 0 axes"),
])
def test_what_is_wrong_is_said(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


needs_phase_space = pytest.mark.skipif(6 not in DIMENSIONS, reason="phase space has 6 dimensions")


def streams(count=2000):
    """Two streams through the same cloud."""
    random = numpy.random.default_rng(7)
    velocities = random.normal(0, 10, (count, 3))
    velocities[::2, 0] += 500
    return random.random((count, 3)), velocities


@needs_phase_space
@pytest.mark.parametrize("of_positions", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("of_velocities", [numpy.float32, numpy.float64])
def test_phase_space_is_points_with_scaled_velocities(of_positions, of_velocities):
    points, velocities = (array.astype(dtype) for array, dtype in zip(streams(), (of_positions, of_velocities)))
    for psi in (20, 100.0, 1000):
        labels, halos = kith.fof(points, b=0.7, box=1, velocities=velocities, psi=psi, return_catalog=True)
        length = halos.linking_length
        scaled = (velocities.astype(numpy.float64) * (length / psi)).astype(of_positions)
        six = kith.fof(numpy.concatenate((points, scaled), axis=1), length, box=[1, 1, 1, 0, 0, 0])
        assert (labels == six).all() and halos.psi == psi
        assert halos.count.tolist() == numpy.bincount(labels)[:len(halos)].tolist()
        assert length == kith.fof(points, b=0.7, box=1, return_catalog=True)[1].linking_length


@needs_phase_space
def test_infinite_psi_is_groups_of_positions():
    points, velocities = streams()
    expected = kith.fof(points, b=0.3, box=1)
    assert (kith.fof(points, b=0.3, box=1, velocities=velocities, psi=numpy.inf) == expected).all()
    assert (kith.fof(points, b=0.3, box=1, velocities=velocities) == expected).all()
    assert kith.fof(points, b=0.3, return_catalog=True)[1].psi == numpy.inf


@needs_phase_space
def test_psi_in_dispersions():
    points, velocities = streams()
    masses = numpy.random.default_rng(8).random(len(points))
    for weights in (None, masses):
        mean = numpy.average(velocities, axis=0, weights=weights)
        sigma = numpy.sqrt(numpy.average(((velocities - mean)**2).sum(axis=1), weights=weights))
        labels, halos = kith.fof(points, 0.05, velocities=velocities, masses=weights, psi_sigma=0.25, return_catalog=True)
        numpy.testing.assert_allclose(halos.psi, sigma / 4, rtol=1e-12)
        assert (labels == kith.fof(points, 0.05, velocities=velocities, psi=halos.psi)).all()


@needs_phase_space
def test_phase_space_of_a_snapshot():
    class Universe:
        positions, velocities = streams()
        box, masses, types, uniform_mass = 1.0, None, None, None

    assert (kith.fof(Universe, b=0.7, psi=100) == kith.fof(Universe.positions, b=0.7, box=1, psi=100,
                                                           velocities=Universe.velocities)).all()


@needs_phase_space
def test_phase_space_refuses():
    points, velocities = streams(10)
    with pytest.raises(TypeError, match="either psi"):
        kith.fof(points, 1, velocities=velocities, psi=1, psi_sigma=1)
    with pytest.raises(ValueError, match="no velocities"):
        kith.fof(points, 1, psi=1)
    for psi in (0, -1, numpy.nan):
        with pytest.raises(ValueError, match=r"\(psi\) is"):
            kith.fof(points, 1, velocities=velocities, psi=psi)
    with pytest.raises(TypeError, match="psi"):
        kith.fof(points, 1, velocities=velocities, psi="fast")
    with pytest.raises(ValueError, match="10 velocities of 2"):
        kith.fof(points, 1, velocities=velocities[:, :2], psi=1)
    velocities[3, 1] = numpy.nan
    with pytest.raises(ValueError, match="velocities: point 3 has NaN as coordinate 1"):
        kith.fof(points, 1, velocities=velocities, psi=1)


def test_overdensity_of_a_zoom():
    assert kith.b_of_overdensity(200) == kith.b_of_overdensity(200, omega_sim=1)
    assert kith.b_of_overdensity(200, omega_sim=8) == pytest.approx(2 * kith.b_of_overdensity(200), rel=1e-14)
    assert kith.b_of_overdensity(200, 2, omega_sim=0.25) == kith.b_of_overdensity(800, 2)
    with pytest.raises(ValueError, match="omega_sim is 0"):
        kith.b_of_overdensity(200, omega_sim=0)
