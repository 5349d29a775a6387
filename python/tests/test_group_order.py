"""The order of groups against a stable sort; arrays of every kind brought into it; catalogs of points on a GPU."""

import pickle
import sys
import types

import numpy
import pytest

import kith
from kith import _arrays, _core, _fof
from kith._device_catalog import DeviceCatalog

RANDOM = numpy.random.default_rng(7)
LABELS = RANDOM.integers(-1, 40, 3000).astype(numpy.int32)


def sorted_by_label(labels, groups):
    keys = numpy.where((labels >= 0) & (labels < groups), labels, groups)
    return numpy.argsort(keys, kind="stable"), numpy.searchsorted(numpy.sort(keys), numpy.arange(groups + 1))


@pytest.mark.parametrize("groups", [None, 40, 11, 0, 60])
def test_is_a_stable_sort(groups):
    indices, offsets = sorted_by_label(LABELS, 40 if groups is None else groups)
    for given in (LABELS, LABELS.tolist(), LABELS.astype(numpy.int64), LABELS.repeat(2)[::2]):
        order = kith.group_order(given, groups, threads=2)
        assert order.indices.dtype == numpy.int32 and order.indices.tolist() == indices.tolist()
        assert order.offsets.dtype == numpy.int64 and order.offsets.tolist() == offsets.tolist()
        assert order.members == offsets[-1]
    assert repr(order) == f"<kith.GroupOrder of {len(offsets) - 1} groups, {order.members} of 3000 points>"
    assert pickle.loads(pickle.dumps(order)).indices.tolist() == indices.tolist()


def test_of_nothing():
    order = kith.group_order(numpy.empty(0, numpy.int32))
    assert order.indices.tolist() == [] and order.offsets.tolist() == [0]
    assert order.take(numpy.empty((0, 3))).shape == (0, 3)
    assert kith.group_order([-1, -1]).take([5, 6], others=False).tolist() == []


@pytest.mark.parametrize("array", [
    RANDOM.random((3000, 3)), RANDOM.random((3000, 3)).astype(numpy.float32)[:, ::-1], RANDOM.integers(0, 2**60, 3000),
    RANDOM.random(3000) < 0.5, RANDOM.random((3000, 2, 5)).astype(numpy.float16), numpy.arange(3000).astype("U5"),
    numpy.arange(3000).astype(">i4"), numpy.zeros((3000, 0)), RANDOM.random(9000)[::3], RANDOM.random(3000).astype("c16"),
    numpy.rec.fromarrays([numpy.arange(3000), RANDOM.random(3000)], names="id, mass"),
    numpy.datetime64("2026-01-01") + numpy.arange(3000)], ids=lambda array: f"{array.dtype} {array.shape}")
def test_takes_rows_of_any_type(array):
    order = kith.group_order(LABELS, 30)
    for others in (True, False):
        taken = order.take(array, others=others, threads=2)
        expected = array[order.indices if others else order.indices[:order.members]]
        assert taken.dtype == expected.dtype and taken.shape == expected.shape
        assert taken.tobytes() == expected.tobytes()


def test_keeps_units_and_libraries():
    units = pytest.importorskip("astropy.units")
    order = kith.group_order(LABELS)
    masses = RANDOM.random(3000) * units.kg
    assert order.take(masses).unit == units.kg and (order.take(masses) == masses[order.indices]).all()
    pandas = pytest.importorskip("pandas")
    assert order.take(pandas.Series(numpy.arange(3000))).tolist() == order.indices.tolist()


def test_of_jax():
    jax = pytest.importorskip("jax")
    order = kith.group_order(LABELS)
    column = jax.numpy.arange(3000)
    assert isinstance(order.take(column), jax.Array) and order.take(column).tolist() == order.indices.tolist()


@pytest.mark.parametrize("array, error, says", [
    (numpy.zeros(2999), ValueError, "shape .2999,.; it must have a row for each of 3000 points"),
    (5, ValueError, "row for each"), (numpy.array([None] * 3000), TypeError, "objects of Python")])
def test_refuses_other_arrays(array, error, says):
    with pytest.raises(error, match=says):
        kith.group_order(LABELS).take(array)


def test_refuses_a_wrong_order():
    order = kith.group_order(LABELS)
    for wrong, says in ((3000, "an index beyond the 3000 rows"), (-1, r"indices\[5\] is -1")):
        order.indices[5] = wrong
        with pytest.raises(ValueError, match=says):
            order.take(numpy.zeros(3000))


@pytest.mark.parametrize("labels, groups, error, says", [
    ([[1]], None, ValueError, "one axis"), ([2**31], None, ValueError, "labels must be from .*; row 0 is 2147483648"),
    ([0, 2**31 - 2], None, ValueError, "row 1 has 2147483646, but 2 points"), ([2], None, ValueError, "pass groups="),
    ([0.5], None, TypeError, "whole numbers"), ([1], -1, ValueError, "groups is -1"), ([1], 2**31, ValueError, "groups is")])
def test_refuses_wrong_labels(labels, groups, error, says):
    with pytest.raises(error, match=says):
        kith.group_order(labels, groups)


def test_of_groups_that_were_found():
    points = RANDOM.random((3000, 3))
    labels, halos = kith.fof(points, b=0.6, box=1, min_members=5, return_catalog=True)
    order = kith.group_order(labels, len(halos))
    assert order.members == halos.count.sum() and order.offsets[:-1].tolist() == halos.offset.tolist()
    assert order.indices[:order.members].tolist() == halos.members.tolist()
    assert (order.take(labels)[order.offsets[:-1]] == numpy.arange(len(halos))).all()


class FakeCatalog:
    """The core's catalog on a GPU, for which the host's stands in."""

    def __init__(self, core):
        self._core = core
        self.groups, self.min_members, self.members = core.groups, core.min_members, core.members

    def column(self, name):
        return getattr(self._core, name)

    def to_host(self):
        return self._core


@pytest.fixture
def points_on_a_gpu(monkeypatch):
    """Labels are said to be CuPy's, in memory of a GPU."""
    def describe_groups(*arguments):
        found = _core.describe_groups(*arguments[:-1])
        return FakeCatalog(found) if arguments[-1] else found

    core = types.SimpleNamespace(**{name: getattr(_core, name) for name in dir(_core)}
                                 | {"describe_groups": describe_groups, "device_of": lambda array: "cuda:0"})
    monkeypatch.setattr(_fof, "_core", core)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(from_dlpack=lambda array: ("CuPy's", array)))
    monkeypatch.setattr(_arrays, "library_of", lambda array: "cupy")


def test_a_catalog_stays_where_its_points_are(points_on_a_gpu, tmp_path):
    points, velocities = RANDOM.random((2, 3000, 3))
    arguments = dict(b=0.6, box=1, min_members=5, return_catalog=True, velocities=velocities)
    _, there = kith.fof(points, **arguments)
    assert isinstance(there, DeviceCatalog)
    halos = there.to_host()
    assert isinstance(halos, kith.Catalog) and halos._rows == 3000 and halos.linking_length > 0
    assert there.columns == halos.columns and len(there) == len(halos) > 3
    for name in (*there.columns, "offset", "members"):
        library, column = getattr(there, name)
        assert library == "CuPy's" and column.tobytes() == getattr(halos, name).tobytes()
    assert there["mass"][1].tolist() == halos.mass.tolist() and "mass" in there and "members" not in there
    assert repr(there) == f"<kith.DeviceCatalog of {len(halos)} groups of 5 and more>"
    with pytest.raises(AttributeError, match="no column 'box'.*to_host"):
        there.box
    with pytest.raises(KeyError, match="no column 'members'"):
        there["members"]
    kith.write_catalog(tmp_path / "halos.gtp", there)
    kith.write_catalog(tmp_path / "same.gtp", halos)
    assert (tmp_path / "halos.gtp").read_bytes() == (tmp_path / "same.gtp").read_bytes()


def test_memory_of_a_gpu_is_shown_by_libraries_that_have_it():
    with pytest.raises(NotImplementedError, match="PyTorch and CuPy, not of numpy"):
        _arrays.from_device(numpy.empty(0), None)
