"""Units of other libraries than astropy: wherever a number with a unit is given, it is refused, and the error says what to do."""

import warnings

import numpy
import pytest

import kith
import kith.mass_function
import kith.spatial
from built import DIMENSIONS

POINTS = numpy.random.default_rng(5).random((50, 3))


class Subclass(numpy.ndarray):
    """As pynbody's SimArray and unyt's arrays look: an ndarray that carries a unit, which NumPy does not know of."""

    units = "kpc"

    def in_units(self, other):
        return self


class Wrapper:
    """As pint's Quantity looks: an object around numbers."""

    units = "kiloparsec"

    def __init__(self, magnitude):
        self.magnitude = magnitude

    def __array__(self, dtype=None, copy=None):
        warnings.warn("the unit is stripped")
        return numpy.asarray(self.magnitude, dtype=dtype)

    def __float__(self):
        return float(self.magnitude)

    def __len__(self):
        return len(self.magnitude)

    def __getitem__(self, which):
        return Wrapper(self.magnitude[which])

    @property
    def ndim(self):
        return numpy.ndim(self.magnitude)


class Wrapped:
    """As an xarray.DataArray around such a Quantity looks."""

    dims = ("point", "axis")

    def __init__(self, magnitude):
        self.data = Wrapper(magnitude)

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self.data, dtype=dtype)

    def __float__(self):
        return float(self.data)

    def __len__(self):
        return len(self.data)

    @property
    def ndim(self):
        return self.data.ndim


def as_subclass(numbers):
    return numpy.asarray(numbers, dtype=float).view(Subclass)


def of_pint(numbers):
    return pytest.importorskip("pint").UnitRegistry().Quantity(numpy.asarray(numbers), "kiloparsec")


def of_unyt(numbers):
    unyt = pytest.importorskip("unyt")
    return unyt.unyt_quantity(numbers, "kpc") if numpy.ndim(numbers) == 0 else unyt.unyt_array(numbers, "kpc")


def of_pynbody(numbers):
    return pytest.importorskip("pynbody").array.SimArray(numpy.asarray(numbers), "kpc")


def of_pynbodys_units(numbers):
    if numpy.ndim(numbers):
        pytest.skip("a unit is no array")
    return numbers * pytest.importorskip("pynbody").units.kpc


def of_xarray(numbers):
    if numpy.ndim(numbers) != 2:
        pytest.skip("one shape is enough")
    return pytest.importorskip("xarray").DataArray(of_pint(numbers), dims=("point", "axis"))


def of_swiftsimio(numbers):
    objects = pytest.importorskip("swiftsimio.objects")
    pytest.importorskip("unyt")
    kinds = {"comoving": True, "scale_factor": 0.5, "scale_exponent": 1}
    make = objects.cosmo_quantity if numpy.ndim(numbers) == 0 else objects.cosmo_array
    return make(numbers, "kpc", **kinds)


KINDS = {"subclass": as_subclass, "wrapper": Wrapper, "wrapped": Wrapped, "pint": of_pint, "unyt": of_unyt,
         "pynbody": of_pynbody, "a unit of pynbody": of_pynbodys_units, "xarray": of_xarray, "swiftsimio": of_swiftsimio}
TREE = kith.Tree(POINTS)
# For each, what is given with a unit, and the call.
CALLS = {
    "points": (POINTS, lambda it: kith.knn(it, 2)),
    "points of fof": (POINTS, lambda it: kith.fof(it, 0.1)),
    "points of a tree": (POINTS, kith.Tree),
    "points of dbscan": (POINTS, lambda it: kith.dbscan(it, 0.1)),
    "points of mst": (POINTS, kith.mst),
    "queries": (POINTS, lambda it: kith.knn(POINTS, 2, it)),
    "queries of a tree": (POINTS, lambda it: TREE.query(it, 2)),
    "box": (1.0, lambda it: kith.knn(POINTS, 2, box=it)),
    "box for each axis": ([1.0, 1.0, 1.0], lambda it: kith.fof(POINTS, 0.1, box=it)),
    "a Box": (1.0, kith.Box),
    "a Box for each axis": ([1.0, 1.0, 1.0], kith.Box),
    "linking_length": (0.1, lambda it: kith.fof(POINTS, it)),
    "linking_length of a tree": (0.1, lambda it: TREE.fof(it)),
    "linking_lengths": ([0.1, 0.2], lambda it: kith.fof_ladder(POINTS, it)),
    "a list of linking_lengths": (0.1, lambda it: kith.fof_ladder(POINTS, [it, it])),
    "b": (0.2, lambda it: kith.fof(POINTS, b=it)),
    "max_distance": (0.1, lambda it: kith.knn(POINTS, 2, max_distance=it)),
    "r": (0.1, lambda it: kith.radius_count(POINTS, it)),
    "r for each": ([0.1] * 50, lambda it: kith.radius_search(POINTS, it)),
    "eps": (0.1, lambda it: kith.dbscan(POINTS, it)),
    "psi": (10.0, lambda it: kith.fof(POINTS, 0.1, velocities=POINTS, psi=it)),
    "velocities": (POINTS, lambda it: kith.fof(POINTS, 0.1, velocities=it, psi=10)),
    "masses": (POINTS[:, 0], lambda it: kith.fof(POINTS, 0.1, masses=it, return_catalog=True)),
    "data of cKDTree": (POINTS, kith.spatial.cKDTree),
    "boxsize of cKDTree": (1.0, lambda it: kith.spatial.cKDTree(POINTS, boxsize=it)),
    "x of cKDTree": (POINTS, lambda it: kith.spatial.cKDTree(POINTS).query(it)),
    "masses of theory": ([1e4], lambda it: kith.mass_function.sheth_tormen(it, kith.datasets.Cosmology())),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_no_unit_is_dropped(kind, call):
    numbers, function = CALLS[call]
    given = KINDS[kind](numbers)
    with pytest.raises(TypeError, match="carries a unit of .*, .*(kpc|kiloparsec).*, which would be lost: give plain numbers"):
        function(given)


def test_what_has_no_unit_is_taken():
    """Subclasses of ndarray, numbers without dimension, and columns that are called unit."""
    expected = kith.knn(POINTS, 2)[1]
    none = as_subclass(POINTS)
    none.units = ""
    assert (kith.knn(none, 2)[1] == expected).all()
    assert (kith.knn(POINTS.view(numpy.matrix), 2)[1] == expected).all()
    record = numpy.rec.fromarrays([POINTS[:, 0], POINTS[:, 1]], names="unit,units")
    assert kith.knn(numpy.stack((record["unit"], record.units), axis=1), 2)[1].shape == (50, 2)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(POINTS, columns=["x", "unit", "units"])
    assert (kith.knn(table, 2)[1] == expected).all()


def test_numbers_without_dimension_of_real_libraries_are_taken():
    expected = kith.knn(POINTS, 2)[1]
    try:
        import pint
        assert (kith.knn(pint.UnitRegistry().Quantity(POINTS, ""), 2)[1] == expected).all()
    except ImportError:
        pass
    xarray = pytest.importorskip("xarray")
    described = xarray.DataArray(POINTS, attrs={"units": "kpc"})  # a text, which xarray loses in arithmetic
    assert (kith.knn(described, 2)[1] == expected).all()
