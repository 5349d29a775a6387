"""One universe as several codes store it, in their units, in memory and through the program: the same halos of the same
physical numbers."""

import subprocess
from typing import NamedTuple

import numpy
import pytest

import kith
from built import program

h5py = pytest.importorskip("h5py")

A, H, OMEGA = 0.5, 0.7, 0.3
MPC, MSUN, KMS = 3.0856775814913673e24, 1.98841e33, 1e5  # in cgs
MOCK = kith.datasets.halos(8000, 30, seed=12, dtype=numpy.float64)
GAS = numpy.arange(len(MOCK)) < len(MOCK) // 5  # with heat, in km^2/s^2
HEAT = numpy.random.default_rng(12).exponential(5e3, GAS.sum())


class Code(NamedTuple):
    """Units in cgs, and the powers of a and h by which what is stored becomes physical in them."""

    length: float = MPC
    mass: float = 1e10 * MSUN
    speed: float = KMS
    of_length: tuple = (1, 0)
    of_mass: tuple = (0, 0)
    of_velocity: tuple = (0, 0)
    of_energy: tuple = (0, 0)
    is_swift: bool = False
    dtype: type = numpy.float64


GADGET = {"of_length": (1, -1), "of_mass": (0, -1), "of_velocity": (0.5, 0)}
CODES = {
    "Gadget-4, Mpc/h": Code(**GADGET),
    "Gadget-4, kpc/h": Code(MPC / 1e3, **GADGET),
    "Gadget-4, Mpc without h": Code(of_velocity=(0.5, 0)),
    "Gadget-4, cm and g": Code(1, 1, 1, **GADGET),
    "Gadget-4, float32": Code(MPC / 1e3, **GADGET, dtype=numpy.float32),
    "SWIFT, comoving": Code(of_energy=(-2, 0), is_swift=True),
    "SWIFT, physical": Code(MPC / 1e3, MSUN, of_length=(0, 0), is_swift=True),
    "SWIFT, float32": Code(of_energy=(-2, 0), is_swift=True, dtype=numpy.float32)}


def stored(physical, unit, powers):
    return physical / (unit * A ** powers[0] * H ** powers[1])


def write(path, code):
    """The mock as a universe of half its age: its lengths are comoving Mpc/h, its masses 1e10 Msun/h."""
    side, softening = (stored(A / H * MPC * length, code.length, code.of_length) for length in (MOCK.box, 0.02))
    columns = {
        "Coordinates": (A / H * MPC * MOCK.positions, code.length, code.of_length),
        "Velocities": (KMS * MOCK.velocities, code.speed, code.of_velocity),
        "Masses": (numpy.full(len(MOCK), 1e10 / H * MSUN * MOCK.uniform_mass), code.mass, code.of_mass)}
    energies = stored(KMS**2 * HEAT, code.speed**2, code.of_energy)
    counts = numpy.array([GAS.sum(), (~GAS).sum(), 0, 0, 0, 0], dtype=numpy.uint64)
    with h5py.File(path, "w") as file:
        header = file.create_group("Header")
        header.attrs.update(NumPart_ThisFile=counts, NumPart_Total=counts, NumFilesPerSnapshot=1, Redshift=1 / A - 1)
        parameters = file.create_group("Parameters")
        if code.is_swift:
            header.attrs.update({"Time": 0.002, "BoxSize": [side] * 3, "Code": numpy.bytes_("SWIFT"), "Scale-factor": [A]})
            file.create_group("Cosmology").attrs.update({
                "Cosmological run": [1], "Scale-factor": [A], "h": [H], "Omega_m": [OMEGA], "Omega_lambda": [1 - OMEGA],
                "Redshift": [1 / A - 1]})
            for units in ("Units", "InternalCodeUnits"):
                file.create_group(units).attrs.update({
                    "Unit length in cgs (U_L)": [code.length], "Unit mass in cgs (U_M)": [code.mass],
                    "Unit time in cgs (U_t)": [code.length / code.speed]})
            comoving = softening * A ** (code.of_length[0] - 1)
            parameters.attrs.update({"Gravity:comoving_DM_softening": numpy.bytes_(repr(comoving))})
        else:
            header.attrs.update(Time=A, BoxSize=side, Omega0=OMEGA, OmegaLambda=1 - OMEGA, HubbleParam=H, MassTable=numpy.zeros(6),
                                UnitLength_in_cm=code.length, UnitMass_in_g=code.mass, UnitVelocity_in_cm_per_s=code.speed)
            parameters.attrs.update(SofteningClassOfPartType1=0, SofteningComovingClass0=softening,
                                    SofteningMaxPhysClass0=2 * softening)
        for kind, rows in (("PartType0", GAS), ("PartType1", ~GAS)):
            group = file.create_group(kind)
            group["ParticleIDs"] = numpy.flatnonzero(rows)
            given = {name: (stored(*column)[rows], column[2]) for name, column in columns.items()}
            if kind == "PartType0":
                given["InternalEnergies" if code.is_swift else "InternalEnergy"] = (energies, code.of_energy)
            for name, (values, powers) in given.items():
                names = ("a-scale exponent", "h-scale exponent") if code.is_swift else ("a_scaling", "h_scaling")
                group[name] = values.astype(code.dtype)
                group[name].attrs.update(dict(zip(names, powers)))
    return path


LENGTHS = ["center", "center_of_mass", "center_offset", "half_mass_radius", "max_velocity_radius"]
MASSES = ["mass", "group_mass"]
SPHERES = ["200m", "200c", "500c", "2500c", "vir"]


def physical(halos, code):
    """Columns in cgs units."""
    of_length, of_mass = (unit * A ** powers[0] * H ** powers[1] for unit, powers in (
        (code.length, code.of_length), (code.mass, code.of_mass)))
    return {name: halos[name] * unit for unit, names in (
        (of_length, LENGTHS + ["r" + name for name in SPHERES]), (of_mass, MASSES + ["m" + name for name in SPHERES]),
        (code.speed, ["velocity", "max_velocity"])) for name in names}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Of the first file, and of plain arrays in Mpc/h."""
    code = CODES["Gadget-4, Mpc/h"]
    halos = kith.halos(kith.read(write(tmp_path_factory.mktemp("first") / "snap.hdf5", code), types="all"))
    heat = numpy.zeros(len(MOCK))
    heat[GAS] = HEAT
    hubble = 100 * (OMEGA / A**3 + 1 - OMEGA) ** 0.5
    arrays = kith.halos(MOCK.positions, b=0.2, box=MOCK.box, velocities=MOCK.velocities,
                        masses=numpy.full(len(MOCK), MOCK.uniform_mass), internal_energies=heat, softening=0.02, G=halos.G,
                        scale_factor=A, hubble=hubble, omega_matter=OMEGA / A**3 / (hubble / 100) ** 2)
    assert len(halos) > 20 and (halos.energies != 0).sum() < len(halos.members)
    assert (halos.ids == arrays.members).all()
    return halos, physical(arrays, code)


@pytest.mark.parametrize("name", CODES)
def test_in_units_of(name, expected, tmp_path):
    code, (reference, truth) = CODES[name], expected
    tolerance = 1e-9 if code.dtype is numpy.float64 else 1e-4  # float32 rounds positions by 1e-5 of small halos' radii
    snapshot = kith.read(write(tmp_path / "snap.hdf5", code), types="all")
    halos = kith.halos(snapshot)
    for halo in range(len(reference)):
        ids, others = halos.ids_of(halo), reference.ids_of(halo)
        assert set(ids) == set(others)
        if code.dtype is numpy.float64 and len(ids) + len(halos.unbound_members_of(halo)) <= 256:  # sums over all pairs
            assert (ids == others).all()
    subprocess.run([program(), "halos", tmp_path / "snap.hdf5", "--types", "all", "-o", tmp_path / "halos.hdf5"], check=True,
                   stdout=subprocess.DEVNULL)
    written = kith.read_catalog(tmp_path / "halos.hdf5").halos
    for found in (halos, written):
        for column, values in physical(found, code).items():
            numpy.testing.assert_allclose(values, truth[column], rtol=tolerance, err_msg=column)
        assert (found.count_by_type == reference.count_by_type).all()
