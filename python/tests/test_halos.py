"""Bound halos: members, tables, what is left out without units, arguments that are refused."""

import copy
import math
import pickle
import warnings

import numpy
import pytest

import kith
from kith import _halo_catalog

MOCK = kith.datasets.halos(8000, 30, seed=5)
HALOS = kith.halos(MOCK)
ARRAYS = {"box": MOCK.box, "velocities": MOCK.velocities, "masses": numpy.full(len(MOCK), MOCK.uniform_mass)}
UNIVERSE = {"G": HALOS.G, "hubble": HALOS.hubble, "omega_matter": HALOS.omega_matter}


def test_columns():
    spheres = ("200m", "200c", "500c", "2500c", "vir")
    assert HALOS.columns[-20:] == tuple(letter + name for name in spheres for letter in ("m", "r", "c", "cv"))


def test_bound_members():
    labels = kith.fof(MOCK)
    assert (HALOS.labels == labels).all() and HALOS.unbind
    for halo in range(len(HALOS)):
        energies = HALOS.energies[HALOS.offset[halo]:][:HALOS.count[halo]]
        assert (numpy.diff(energies) >= 0).all() and (energies <= 0).all()
        group = numpy.concatenate([HALOS.members_of(halo), HALOS.unbound_members_of(halo)])
        assert (numpy.sort(group) == numpy.flatnonzero(labels == HALOS.group[halo])).all()
    assert (HALOS.count < numpy.bincount(labels)[HALOS.group]).any()
    assert (HALOS.first_of_group[HALOS.group] == numpy.arange(len(HALOS))).all()


def same(found, expected):
    assert found.columns == expected.columns
    for name in found.columns:
        numpy.testing.assert_array_equal(found[name], expected[name])


def test_arrays_and_labels():
    same(kith.halos(MOCK.positions, b=0.2, **ARRAYS, **UNIVERSE, threads=1), HALOS)
    labels = kith.fof(MOCK, min_members=20)
    assert (labels == -1).any()
    found = kith.halos(MOCK.positions, labels=labels, **ARRAYS, **UNIVERSE)
    same(found, HALOS)
    assert found.linking_length is None and HALOS.linking_length > 0
    labels.flags.writeable = False
    same(kith.halos(MOCK, labels=labels), HALOS)


def test_points_without_volume():
    arrays = {"linking_length": 0.1, "unbind": False, **UNIVERSE}
    for box in (None, 1.0):
        none = kith.halos(numpy.zeros((0, 3)), box=box, **arrays)
        assert len(none) == 0 and none.m200c.shape == (0,) and none.center.shape == (0, 3)
    with pytest.raises(ValueError, match="no volume.*pass the softening"):
        kith.halos(numpy.full((30, 3), 0.5), **arrays)
    assert kith.halos(numpy.full((30, 3), 0.5), softening=0.1, **arrays).half_mass_radius.tolist() == [0]


def test_options():
    whole = kith.halos(MOCK.positions, b=0.2, box=MOCK.box, masses=ARRAYS["masses"], unbind=False, **UNIVERSE)
    assert (whole.count == numpy.bincount(whole.labels)[whole.group]).all() and not whole.unbind
    assert len(whole.unbound_members_of(0)) == 0 and "20 and more members" in repr(whole)
    few = kith.halos(MOCK, overdensities=["178c"], min_members=100, softening=("plummer", 0.02), least_radius=0.1)
    assert few.columns[-4:-2] == ("m178c", "r178c") and few.count.min() >= 100 and few.softening == ("plummer", 0.02)
    assert few.max_velocity_radius.min() >= 0.1 == few.least_radius
    assert kith.halos(MOCK, overdensities=()).columns[-1] == "is_bridge"
    alone = kith.halos(MOCK, bound_only=True)
    assert (alone.m200m <= HALOS.m200m * (1 + 1e-12)).all() and (alone.m200m < HALOS.m200m).any()
    first, last = (kith.halos(MOCK, overdensities=["2m"], outermost=which) for which in (False, True))
    assert (last.r2m >= first.r2m).all() and (last.r2m > first.r2m).any()


@pytest.mark.parametrize("without, says, lost", [
    ({"G"}, "unbinding, so that halos are whole groups and the largest circular velocities and the spheres 200m, 200c, 500c, "
            r"2500c, vir \(pass G, in the units of points", {"max_velocity", "m200c", "rvir"}),
    ({"velocities"}, r"unbinding, so that halos are whole groups \(pass velocities, or unbind=False\)$", set()),
    ({"hubble", "omega_matter"}, r"the expansion in energies and the spheres 200m.*vir \(pass hubble and omega", {"m200c"}),
    ({"omega_matter"}, r"left out: the spheres 200m, vir \(pass omega_matter\)$", {"m200m", "rvir"}),
    ({"masses", "G", "velocities"}, r"unbinding.*pass velocities.*; the largest.*\(pass masses and G", {"max_velocity"})])
def test_one_warning_names_what_is_left_out(without, says, lost):
    arguments = {name: value for name, value in {**ARRAYS, **UNIVERSE}.items() if name not in without}
    with pytest.warns(UserWarning, match=says) as warned:
        found = kith.halos(MOCK.positions, b=0.2, **arguments)
    assert len(warned) == 1
    assert not lost & set(found.columns)
    assert {"center", "mass", "half_mass_radius"} <= set(found.columns) and len(found) >= len(HALOS)
    with pytest.raises(AttributeError, match="there is no column 'm300c'; there are group, parent"):
        found.m300c


@pytest.mark.parametrize("arguments, error, says", [
    ({"b": 0.2, "labels": HALOS.labels}, TypeError, "labels are given, and a linking length, too"),
    ({}, TypeError, "give either linking_length"),
    ({"labels": HALOS.labels[:5]}, ValueError, r"labels is of shape \(5,\); it must have a number for each of 8000"),
    ({"labels": numpy.where(HALOS.labels > 0, HALOS.labels, 5)}, ValueError, "labels has 0 points of group 0"),
    ({"labels": numpy.where(numpy.arange(8000) == 3, 8000, HALOS.labels)}, ValueError, "row 3 has 8000, but there are 8000"),
    ({"labels": HALOS.labels.max() - HALOS.labels}, ValueError, "more than of the group before it; .*decreasing size"),
    ({"b": 0.2, "overdensities": ["200"]}, ValueError, "overdensities holds '200'; give '200c' for 200 times"),
    ({"b": 0.2, "softening": ("cubic", 1)}, ValueError, "softening is .*one of the kernels spline, plummer"),
    ({"b": 0.2, "softening": 0}, ValueError, "softening is 0; it must be above 0"),
    ({"b": 0.2, "G": -1}, ValueError, "G is -1; it must be above 0"),
    ({"b": 0.2, "hubble": -1}, ValueError, "hubble is -1; it must be 0 or more"),
    ({"b": 0.2, "velocities": MOCK.velocities[:5]}, ValueError, "velocities has 5 rows for 8000 points")])
def test_refused(arguments, error, says):
    with pytest.raises(error, match=says), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kith.halos(MOCK.positions, **{"box": MOCK.box, **arguments})


def test_trees_and_other_dimensions_are_refused():
    with pytest.raises(TypeError, match="points is a kith.Tree.*halos are of points"):
        kith.halos(kith.Tree(MOCK.positions), 1)
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ValueError, match="dimension is 2; halos have 3"):
        kith.halos(MOCK.positions[:, :2].copy(), 1)


@pytest.mark.parametrize("arguments, says", [
    ({"labels": HALOS.labels}, "labels and comm are given; give linking_length or b, with which the call finds"),
    ({"secondary_types": [0]}, "secondary_types and comm are given; leave one of them out"),
    ({"mean_separation": "cosmology"}, "mean_separation='cosmology' and comm are given; give linking_length"),
    ({"device": "cuda"}, "device='cuda' and comm are given; leave it out")])
def test_refused_over_processes(arguments, says):
    mpi = pytest.importorskip("mpi4py.MPI")
    with pytest.raises(NotImplementedError, match=says):
        kith.halos(MOCK, comm=mpi.COMM_SELF, **arguments)


def test_a_file_at_another_time(tmp_path):
    """Stored velocities are peculiar ones over the root of the scale factor; H is that at this time."""
    h5py = pytest.importorskip("h5py")
    a, parameters = 0.25, MOCK.header.parameters
    with h5py.File(tmp_path / "snap.hdf5", "w") as file:
        counts = numpy.array([0, len(MOCK)], dtype=numpy.uint64)
        file.create_group("Header").attrs.update(
            NumPart_ThisFile=counts, NumPart_Total=counts, MassTable=[0, MOCK.uniform_mass], Time=a, Redshift=1 / a - 1,
            BoxSize=MOCK.box, NumFilesPerSnapshot=1, **parameters, UnitLength_in_cm=3.085678e24, UnitMass_in_g=1.989e43,
            UnitVelocity_in_cm_per_s=1e5)
        file.create_group("Parameters").attrs.update(
            SofteningClassOfPartType1=0, SofteningComovingClass0=0.05, SofteningMaxPhysClass0=0.01)
        file["PartType1/Coordinates"], file["PartType1/Velocities"] = MOCK.positions, MOCK.velocities / math.sqrt(a)
        file["PartType1/ParticleIDs"] = numpy.arange(len(MOCK))
    found = kith.halos(kith.read(tmp_path / "snap.hdf5"))
    omega = parameters["Omega0"]
    assert found.hubble == pytest.approx(100 * math.sqrt(omega / a**3 + 1 - omega), rel=1e-5)
    assert found.omega_matter == pytest.approx(omega / a**3 / (omega / a**3 + 1 - omega))
    assert found.scale_factor == a and found.G == pytest.approx(HALOS.G)
    assert found.softening == ("spline", pytest.approx(0.01 / a))
    expected = kith.halos(MOCK.positions, b=0.2, **ARRAYS, scale_factor=a, G=found.G, hubble=found.hubble,
                          omega_matter=found.omega_matter, softening=found.softening)
    assert len(found) > 5 and (found.count == expected.count).all()
    numpy.testing.assert_allclose(found.m200c, expected.m200c, rtol=1e-6)
    numpy.testing.assert_allclose(found.max_velocity, expected.max_velocity, rtol=1e-6)


def test_a_file_without_units(tmp_path):
    numpy.save(tmp_path / "points.npy", MOCK.positions)
    kith.write_tipsy(tmp_path / "snap.std", kith.read(tmp_path / "points.npy"))
    with pytest.warns(UserWarning, match="left out: unbinding.*the snapshot does not state the unit of"):
        found = kith.halos(kith.read(tmp_path / "snap.std"), box=MOCK.box)
    assert len(found) >= len(HALOS) and "max_velocity" not in found and found.G is None and found.energies is None


def test_units_of_astropy():
    u = pytest.importorskip("astropy.units")
    masses, velocities = ARRAYS["masses"] * 1e10 * u.solMass, MOCK.velocities * (u.km / u.s)
    hubble = HALOS.hubble * u.km / u.s / u.Mpc
    found = kith.halos(MOCK.positions * u.Mpc, b=0.2, box=MOCK.box * u.Mpc, velocities=velocities, masses=masses,
                       hubble=hubble, omega_matter=HALOS.omega_matter, softening=HALOS.softening[1] * 1000 * u.kpc)
    assert found.G.to_value("Mpc km2 / (s2 solMass)") == pytest.approx(4.30091e-9, rel=1e-5)
    assert found.m200c.unit == u.solMass and found.center.unit == u.Mpc and found.max_velocity.unit == u.km / u.s
    assert found.softening[1].to_value("Mpc") == pytest.approx(HALOS.softening[1])
    numpy.testing.assert_allclose(found.m200c.value, HALOS.m200c * 1e10, rtol=2e-3)
    assert found.to_astropy()["r200c"].unit == u.Mpc
    assert HALOS.to_astropy()["max_velocity"].unit.to("km / s") == pytest.approx(1)
    with pytest.raises(TypeError, match="hubble carries no unit, but points and velocities do; give a Quantity"):
        kith.halos(MOCK.positions * u.Mpc, b=0.2, velocities=velocities, masses=masses, hubble=1.0)
    with pytest.raises(TypeError, match="G is given, but only some of points and masses and velocities carry a unit"):
        kith.halos(MOCK.positions * u.Mpc, b=0.2, velocities=velocities, masses=ARRAYS["masses"], G=1.0)


def test_columns_are_as_the_documentation_says():
    documented = kith.Halos.__doc__.lower()
    for name, column in _halo_catalog._COLUMNS.items():
        shape = {"(h,)": (len(HALOS),), "(h, 3)": (len(HALOS), 3), "(h, 7)": (len(HALOS), 7)}[column.shape]
        assert (HALOS[name].dtype, HALOS[name].shape) == (column.dtype, shape), name
        begin = column.description.replace("|", "\\|")[:5]
        assert f"\n{name} : {column.dtype}, shape {column.shape}\n    {begin}".lower() in documented


def test_some_of_the_halos_and_single_ones():
    some = HALOS[2:5]
    assert type(some) is kith.Halos and len(some) == 3 and some.columns == HALOS.columns
    for name in HALOS.columns:
        numpy.testing.assert_array_equal(some[name], HALOS[name][2:5])
    assert (some.members_of(1) == HALOS.members_of(3)).all()
    assert (some.unbound_members_of(0) == HALOS.unbound_members_of(2)).all()
    assert (some.first_of_group[some.group] == [0, 1, 2]).all() and (some.first_of_group >= 0).sum() == 3
    heavy = HALOS[HALOS.mass > numpy.median(HALOS.mass)]
    assert 0 < len(heavy) < len(HALOS) and repr(heavy) != repr(HALOS) and len(HALOS[[]]) == 0
    same(HALOS[numpy.arange(len(HALOS))], HALOS)
    assert (pickle.loads(pickle.dumps(heavy)).mass == heavy.mass).all()
    last = HALOS[-1]
    assert last.mass == HALOS.mass[-1] and (last.members == HALOS.members_of(len(HALOS) - 1)).all()
    assert (HALOS.members_of(last) == last.members).all() and last["m200c"] == HALOS.m200c[-1]
    assert (last.unbound_members == HALOS.unbound_members_of(last)).all()
    assert [halo.count for halo in HALOS] == HALOS.count.tolist() and f"{HALOS.count[-1]} members" in repr(last)
    with pytest.raises(IndexError, match=f"there is no halo {len(HALOS)}; there are"):
        HALOS[len(HALOS)]
    with pytest.raises(TypeError, match="halos are chosen by whole numbers"):
        HALOS[[0.5]]
    with pytest.raises(ValueError, match="it must be one of this catalog"):
        some.members_of(last)
    with pytest.raises(ValueError, match="the halos have no ids"):
        last.ids


def test_types_are_counted():
    types = numpy.arange(len(MOCK)) % 3
    found = kith.halos(MOCK, types=types)
    assert (found.count_by_type[:, 3:] == 0).all()
    for halo in range(len(found)):
        assert (found.count_by_type[halo] == numpy.bincount(types[found.members_of(halo)], minlength=7)).all()
    assert (HALOS.count_by_type[:, 1] == HALOS.count).all()  # without types


def test_velocities_are_means_of_bound_members():
    for halo in range(len(HALOS)):
        mean = MOCK.velocities[HALOS.members_of(halo)].mean(axis=0, dtype=float)
        numpy.testing.assert_allclose(HALOS.velocity[halo], mean, atol=1e-9 * abs(MOCK.velocities).max())
    still = kith.halos(MOCK.positions, b=0.2, unbind=False, box=MOCK.box, masses=ARRAYS["masses"], **UNIVERSE)
    assert "velocity" not in still


def test_hot_gas_is_not_bound():
    """Heat of each tenth point, first in units of its own, then of a snapshot's velocities."""
    heat = numpy.where(numpy.arange(len(MOCK)) % 10 == 0, 1e9, 0)
    found = kith.halos(MOCK, internal_energies=heat)
    assert len(found) > 5 and all((heat[found.members_of(halo)] == 0).all() for halo in range(len(found)))
    u = pytest.importorskip("astropy.units")
    speed = u.km / u.s
    carried = {"box": MOCK.box * u.Mpc, "velocities": MOCK.velocities * speed,
               "masses": ARRAYS["masses"] * 1e10 * u.solMass, "hubble": HALOS.hubble * speed / u.Mpc,
               "omega_matter": HALOS.omega_matter, "softening": HALOS.softening[1] * u.Mpc}
    energies = numpy.full(len(MOCK), 1e9) * u.m**2 / u.s**2
    warm = kith.halos(MOCK.positions * u.Mpc, b=0.2, internal_energies=energies, **carried)
    cold = kith.halos(MOCK.positions * u.Mpc, b=0.2, **carried)
    assert (warm.energies[0] - cold.energies[0]).to_value("km2 / s2") == pytest.approx(1e3)
    with pytest.raises(TypeError, match="internal_energies is in km / s, which cannot be converted"):
        kith.halos(MOCK.positions * u.Mpc, b=0.2, internal_energies=heat * speed, **carried)


def test_tables_and_copies():
    table = HALOS.to_structured()
    assert table.dtype.names == HALOS.columns and (table["center"] == HALOS.center).all()
    for again in (copy.copy(HALOS), pickle.loads(pickle.dumps(HALOS))):
        same(again, HALOS)
        assert repr(again) == repr(HALOS) and (again.members_of(1) == HALOS.members_of(1)).all()
        for array in (again.mass, again.members, again.labels, again.energies, again["m200c"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    assert "m200c" in HALOS and "m300c" not in HALOS and len(HALOS) == len(HALOS.mass)
    with pytest.raises(KeyError, match="there is no column 'm300c'"):
        HALOS["m300c"]
    with pytest.raises(IndexError, match="there is no halo -1; there are"):
        HALOS.members_of(-1)
    frame = pytest.importorskip("pandas") and HALOS.to_pandas()
    assert (frame["center_y"] == HALOS.center[:, 1]).all() and list(frame)[-4:-2] == ["mvir", "rvir"]
