"""Groups and their catalog."""

import warnings

import numpy
import pytest

import kith

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
                 lambda box: kith.Tree(Universe, box=box)):
        with pytest.warns(UserWarning, match="box is 50, but the snapshot states a box of 40;.*Mpc/h") as warned:
            call(50)
        assert warned[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for box in (None, 40, numpy.float32(40), [40, 40, 0], 0, kith.Box(40)):
                call(box)


def test_a_catalog_is_no_sequence():
    _, halos = kith.fof(CLUMPS, 0.1, return_catalog=True)
    assert "mass" in halos and "color" not in halos
    with pytest.raises(TypeError):
        iter(halos)
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
    (lambda: kith.fof(CLUMPS, 1, return_catalog=True, types=numpy.full(140, 300)), ValueError, "0 to 255"),
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
