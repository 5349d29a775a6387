"""The columns of a catalog are those of the core's table, in memory, in the documentation, and in copies."""

import copy
import pickle

import numpy
import pytest

import kith
from kith import _catalog

RANDOM = numpy.random.default_rng(3)
POINTS = RANDOM.random((300, 3)) % 0.3 + RANDOM.integers(0, 2, (300, 1))
COPIES = [copy.copy, copy.deepcopy, lambda halos: pickle.loads(pickle.dumps(halos))]


def catalog(**options):
    _, halos = kith.fof(POINTS, 0.2, box=4.0, return_catalog=True, velocities=RANDOM.random((300, 3)),
                        masses=RANDOM.random(300), types=RANDOM.integers(0, 7, 300, numpy.uint8), **options)
    assert len(halos) == 2
    return halos


def assert_same(found, expected):
    """The same type, values and units of every column and attribute."""
    assert found.columns == expected.columns and set(vars(found)) == set(vars(expected))
    for name, value in vars(expected).items():
        other = getattr(found, name)
        if isinstance(value, numpy.ndarray):
            assert (type(other), other.dtype) == (type(value), value.dtype), name
            assert getattr(other, "unit", None) == getattr(value, "unit", None), name
            numpy.testing.assert_array_equal(other, value, err_msg=name)
        elif name != "_core":
            assert other == value and type(other) is type(value), name
    assert repr(found) == repr(expected)
    assert (found.to_structured() == expected.to_structured()).all()
    for group in range(len(expected)):
        assert (found.members_of(group) == expected.members_of(group)).all()
    with pytest.raises(ValueError, match="read-only"):
        found.mass[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        found.members[0] = 0


@pytest.mark.parametrize("copied", COPIES)
def test_copies_are_equal(copied):
    halos = catalog()
    assert_same(copied(halos), halos)
    _, plain = kith.fof(POINTS[:, :2], 0.01, return_catalog=True)  # no velocities, no groups
    assert len(plain) == 0 and "velocity" not in plain
    assert copied(plain).columns == plain.columns and not hasattr(copied(plain), "velocity")


def test_deep_copies_have_memory_of_their_own():
    halos = catalog()
    for copied in COPIES[1:]:
        assert not numpy.shares_memory(copied(halos).center, halos.center)
    assert numpy.shares_memory(copy.copy(halos).center, halos.center)


@pytest.mark.parametrize("copied", COPIES)
def test_copies_of_catalogs_in_files_are_equal(copied, tmp_path):
    halos = catalog()
    kith.write_catalog(tmp_path / "halos.hdf5", halos, ids=numpy.arange(300) + 7)
    read = kith.read_catalog(tmp_path / "halos.hdf5")
    assert_same(copied(read), read)
    assert (copied(read).ids_of(1) == read.ids_of(1)).all()
    kith.write_catalog(tmp_path / "again.hdf5", copied(halos), ids=numpy.arange(300) + 7)
    assert_same_columns(kith.read_catalog(tmp_path / "again.hdf5"), read)
    without = kith.read_catalog(tmp_path / "halos.hdf5", members=False)
    assert copied(without).members is None


def assert_same_columns(found, expected):
    assert found.columns == expected.columns
    for name in (*expected.columns, "members", "offset", "ids"):
        numpy.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("copied", COPIES)
def test_copies_keep_units(copied):
    u = pytest.importorskip("astropy.units")
    _, halos = kith.fof(POINTS << u.Mpc, 0.2 * u.Mpc, return_catalog=True, masses=numpy.ones(300) << u.Msun)
    assert halos.max_radius.unit == u.Mpc and halos.mass.unit == u.Msun
    assert_same(copied(halos), halos)


def test_columns_are_as_the_documentation_says():
    halos = catalog()
    documented = kith.Catalog.__doc__.lower()
    assert set(halos.columns) == set(_catalog._COLUMNS)
    for name, column in _catalog._COLUMNS.items():
        shape = {"(g,)": (2,), "(g, d)": (2, 3), "(g, 7)": (2, 7)}[column.shape]
        assert (halos[name].dtype, halos[name].shape) == (column.dtype, shape), name
        assert f"\n{name} : {column.dtype}, shape {column.shape}\n    {column.description[:5]}".lower() in documented
