"""One number means one thing: psi, velocities and units of a snapshot that is not of today, here, in files and at the shell."""

import subprocess

import numpy
import pytest

import kith
from built import DIMENSIONS, program

h5py = pytest.importorskip("h5py")

A, H = 0.25, 0.7
CODES = {"gadget": 0.5, "swift": 0.0}  # the power of a that makes velocities peculiar
needs_phase_space = pytest.mark.skipif(6 not in DIMENSIONS, reason="phase space has 6 dimensions")


def write(path, code):
    """Streams through clumps, in the units of a code; their peculiar velocities are the same in both."""
    random = numpy.random.default_rng(11)
    points = (random.normal(0, 0.2, (4, 60, 3)) + random.uniform(2, 8, (4, 1, 3))).reshape(-1, 3)
    peculiar = random.normal(0, 40, points.shape)
    peculiar[::2] += 400
    count = len(points)
    with h5py.File(path, "w") as file:
        kinds = numpy.array([0, count, 0, 0, 0, 0], dtype=numpy.uint64)
        header = file.create_group("Header")
        header.attrs.update(NumPart_ThisFile=kinds, NumPart_Total=kinds, NumFilesPerSnapshot=1, Redshift=1 / A - 1)
        group = file.create_group("PartType1")
        group["ParticleIDs"] = numpy.arange(count, dtype=numpy.uint64)
        if code == "gadget":
            header.attrs.update(Time=A, BoxSize=10.0, Omega0=0.3, OmegaLambda=0.7, HubbleParam=H, MassTable=[0, 2.0, 0, 0, 0, 0],
                                UnitLength_in_cm=3.085678e24, UnitMass_in_g=1.989e43, UnitVelocity_in_cm_per_s=1e5)
            group["Coordinates"], group["Velocities"] = points, peculiar / A**0.5
        else:
            header.attrs.update(Time=0.002, BoxSize=[10.0 / H] * 3, Code=numpy.bytes_("SWIFT"), MassTable=numpy.zeros(6))
            header.attrs["Scale-factor"] = [A]
            file.create_group("Cosmology").attrs.update({"Cosmological run": [1], "Scale-factor": [A], "h": [H],
                                                         "Omega_m": [0.3], "Omega_lambda": [0.7], "Redshift": [1 / A - 1]})
            for units in ("Units", "InternalCodeUnits"):
                file.create_group(units).attrs.update({
                    "Unit length in cgs (U_L)": [3.085678e24], "Unit mass in cgs (U_M)": [1.989e43],
                    "Unit time in cgs (U_t)": [3.085678e19]})
            group["Coordinates"], group["Velocities"] = points / H, peculiar
            group["Masses"] = numpy.full(count, 2.0 / H)
            for name, power in (("Coordinates", 1.0), ("Velocities", 0.0), ("Masses", 0.0)):
                group[name].attrs.update({"a-scale exponent": [power], "h-scale exponent": [0.0]})
    return path, points, peculiar


def run_program(task, path, *options):
    """The file that it writes."""
    found = path.with_name("shell.hdf5")
    subprocess.run([program(), task, path, "-o", found, "--min-members", "2", *options], check=True, stdout=subprocess.DEVNULL)
    return found


def by_program(path, *options):
    found = run_program("fof", path, *options)
    return kith.read_catalog(found)


@needs_phase_space
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("options", [{"psi": 150}, {"psi_sigma": 0.5}], ids=str)
def test_psi_of_a_snapshot_is_of_peculiar_velocities(tmp_path, code, options):
    path, points, peculiar = write(tmp_path / "snapshot.hdf5", code)
    snapshot = kith.read(path)
    labels, halos = kith.fof(snapshot, b=0.5, min_members=2, return_catalog=True, **options)
    expected, plain = kith.fof(points, b=0.5, box=10, velocities=peculiar, min_members=2, return_catalog=True, **options)
    assert (labels == expected).all() and len(halos) > len(kith.fof(snapshot, b=0.5, min_members=2, return_catalog=True)[1])
    assert halos.psi == (150 if "psi" in options else pytest.approx(plain.psi, rel=1e-12))
    stored = kith.fof(snapshot, b=0.5, velocities=snapshot.velocities, psi=halos.psi / A ** CODES[code], min_members=2)
    assert (stored == labels).all()  # an array has no frame
    shell = by_program(path, "-b", "0.5", *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()))
    assert len(shell) == len(halos) and (shell.count == halos.count).all()
    assert shell.psi == pytest.approx(halos.psi, rel=1e-12) and isinstance(shell.provenance["psi"], (int, float))
    kith.write_catalog(tmp_path / "python.hdf5", halos, snapshot)
    assert kith.read_catalog(tmp_path / "python.hdf5").psi == halos.psi
    kith.write_catalog(tmp_path / "arrays.hdf5", plain)
    assert kith.read_catalog(tmp_path / "arrays.hdf5").psi == plain.psi


@needs_phase_space
def test_trees_in_phase_space_take_the_same_psi(tmp_path):
    snapshot = kith.read(write(tmp_path / "snapshot.hdf5", "gadget")[0])
    labels, halos = kith.fof(snapshot, b=0.5, psi=150, return_catalog=True, min_members=1)
    length = halos.linking_length
    assert (kith.hierarchy(snapshot, b=0.5, psi=150).cut(length) == labels).all()
    assert numpy.count_nonzero(kith.mst(snapshot, b=0.5, psi=150).heights > length) == len(halos) - 1


@pytest.mark.parametrize("code", CODES)
def test_velocity_is_that_of_gadgets_catalogs(tmp_path, code):
    path, _, peculiar = write(tmp_path / "snapshot.hdf5", code)
    snapshot = kith.read(path)
    labels, halos = kith.fof(snapshot, b=0.5, min_members=2, return_catalog=True)
    kith.write_catalog(tmp_path / "python.hdf5", halos, snapshot)
    read = kith.read_catalog(tmp_path / "python.hdf5")
    with pytest.raises(ValueError, match="give the snapshot"):
        kith.write_catalog(tmp_path / "without.hdf5", halos)
    of_array = kith.fof(snapshot, b=0.5, min_members=2, velocities=peculiar, return_catalog=True)[1]
    with pytest.raises(ValueError, match="velocities of the catalog were given as an array.*ids=snapshot.ids"):
        kith.write_catalog(tmp_path / "array.hdf5", of_array, snapshot)
    kith.write_catalog(tmp_path / "array.hdf5", of_array, ids=snapshot.ids)
    assert (kith.read_catalog(tmp_path / "array.hdf5").velocity == of_array.velocity).all()
    other = kith.read(write(tmp_path / "other.hdf5", next(name for name in CODES if name != code))[0])
    with pytest.raises(ValueError, match="of another snapshot"):
        kith.write_catalog(tmp_path / "other_frame.hdf5", halos, other)
    with h5py.File(tmp_path / "foreign.hdf5", "w") as file, h5py.File(tmp_path / "python.hdf5") as own:
        file.create_group("Header").attrs.update(Ngroups_ThisFile=len(halos), Ngroups_Total=len(halos), NumFiles=1,
                                                 BoxSize=10.0, Time=A, Redshift=1 / A - 1)
        for name in ("GroupLen", "GroupPos", "GroupVel"):
            file[f"Group/{name}"] = own[f"Group/{name}"][:]
    foreign = kith.read_catalog(tmp_path / "foreign.hdf5")
    shell = by_program(path, "-b", "0.5")
    for group in range(len(halos)):
        members = peculiar[labels == group]
        expected = A * members.mean(axis=0)
        dispersion = A * numpy.sqrt(((members - members.mean(axis=0))**2).sum() / (3 * len(members)))
        for catalog in (halos, read, foreign, shell):
            numpy.testing.assert_allclose(catalog.velocity[group], expected, rtol=1e-6)
        for catalog in (halos, read, shell):
            numpy.testing.assert_allclose(catalog.velocity_dispersion[group], dispersion, rtol=1e-6, atol=1e-4)
            assert (catalog.to_structured()["velocity"] == catalog.velocity).all()
    for catalog in (halos, read, foreign, shell):
        assert catalog.units["velocity"] == "code velocity, a times peculiar"
    plain = kith.fof(snapshot.positions, b=0.5, box=snapshot.box, velocities=snapshot.velocities, min_members=2,
                     return_catalog=True)[1]
    numpy.testing.assert_allclose(plain.velocity * A ** (1 + CODES[code]), halos.velocity, rtol=1e-12)
    assert "velocity" not in plain.units


def test_files_without_cosmology_keep_what_they_store(tmp_path):
    path, _, _ = write(tmp_path / "snapshot.hdf5", "gadget")
    with h5py.File(path, "r+") as file:
        del file["Header"].attrs["Omega0"]
    snapshot = kith.read(path)
    assert snapshot.header.frame is None
    _, halos = kith.fof(snapshot, b=0.5, min_members=2, return_catalog=True)
    mean = numpy.asarray(snapshot.velocities)[halos.members_of(0)].mean(axis=0)
    numpy.testing.assert_allclose(halos.velocity[0], mean, rtol=1e-6)
    kith.write_catalog(tmp_path / "python.hdf5", halos, snapshot)
    read = kith.read_catalog(tmp_path / "python.hdf5")
    numpy.testing.assert_allclose(read.velocity, halos.velocity, rtol=1e-6)
    assert read.units["velocity"] == "code velocity" and "velocity" not in halos.units


@pytest.mark.parametrize("code", CODES)
def test_tables_of_astropy_have_physical_units(tmp_path, code):
    u = pytest.importorskip("astropy.units")
    snapshot = kith.read(write(tmp_path / "snapshot.hdf5", code)[0])
    _, halos = kith.fof(snapshot, b=0.5, min_members=2, return_catalog=True)
    kith.write_catalog(tmp_path / "halos.hdf5", halos, snapshot)
    for catalog in (halos, kith.read_catalog(tmp_path / "halos.hdf5")):
        table = catalog.to_astropy()
        assert (table["mass"][0] * table["mass"].unit).to_value(u.g) == pytest.approx(halos.count[0] * 2 * 1.989e43 / H)
        assert table["center"].unit is None  # comoving


def test_a_snapshot_is_linked_at_the_shells_default(tmp_path):
    path, points, _ = write(tmp_path / "snapshot.hdf5", "gadget")
    snapshot = kith.read(path)
    assert (kith.fof(snapshot) == kith.fof(snapshot, b=0.2)).all()
    with pytest.raises(TypeError, match="either linking_length"):
        kith.fof(points)


def test_headers_show_what_they_hold(tmp_path):
    header = kith.read_header(write(tmp_path / "snapshot.hdf5", "gadget")[0])
    assert "240 of type 1, box 10.0 x 10.0 x 10.0, time 0.25, redshift 3.0" in repr(header)
    assert header.frame["scale_factor"] == A and header.frame["velocity"][:2] == (0.5, 0.0)
    assert repr(kith.datasets.Cosmology()).startswith("Cosmology(omega_matter=0.3111, ")


@pytest.mark.parametrize("code, unit", [("gadget", "Mpc/h"), ("swift", "Mpc")])
def test_levels_of_the_program_state_their_unit(tmp_path, code, unit):
    plot = pytest.importorskip("kith.plot")
    path = write(tmp_path / "snapshot.hdf5", code)[0]
    file = run_program("hierarchy", path, "-b", "0.2,0.5", "--with-labels")
    assert plot.dendrogram(file).get_ylabel() == f"linking length [{unit}]"
    snapshot = kith.read(path)
    assert plot.levels(snapshot, file).get_legend().get_title().get_text() == f"linking length [{unit}]"
    with pytest.raises(ValueError, match="the groups are of other points"):
        plot.levels(snapshot.positions[::-1], file, box=snapshot.box)
    with h5py.File(file, "r+") as changed:
        changed.attrs["length_unit"] = changed.attrs["length_unit"].replace("e+24", "e+21")
    with pytest.raises(ValueError, match=f"the points are in {unit}, the groups in kpc"):
        plot.levels(snapshot, file)


def test_units_of_gadgets_catalogs(tmp_path):
    """Columns state theirs in Gadget-4's, the header in AREPO's; 0 stands for none."""
    from kith import _frames

    def unit_of(attributes, **header):
        with h5py.File(tmp_path / "catalog.hdf5", "w") as file:
            file.create_group("Header").attrs.update(Ngroups_ThisFile=1, Ngroups_Total=1, NumFiles=1, BoxSize=10.0, Time=A,
                                                     Redshift=1 / A - 1, **header)
            for name, shape in (("GroupLen", 1), ("GroupMass", 1), ("GroupPos", (1, 3)), ("GroupVel", (1, 3))):
                file[f"Group/{name}"] = numpy.ones(shape, dtype="i4" if name == "GroupLen" else "f4")
                file[f"Group/{name}"].attrs.update(attributes.get(name, {}))
        found = kith.read_catalog(tmp_path / "catalog.hdf5")
        return [unit and unit.name for unit in (_frames.mass_unit(found._frame, found.parameters.get("HubbleParam")),
                                                _frames.length_unit(found._frame, found.parameters.get("HubbleParam")))]

    def of_columns(to_cgs):
        return {"GroupMass": {"a_scaling": 0.0, "h_scaling": -1.0, "to_cgs": to_cgs * 1.989e43},
                "GroupPos": {"a_scaling": 1.0, "h_scaling": -1.0, "to_cgs": to_cgs * 3.085678e21}}

    cosmology = {"Omega0": 0.3, "OmegaLambda": 0.7, "HubbleParam": H}
    assert unit_of(of_columns(1.0), **cosmology) == ["1e+10 Msun/h", "kpc/h"]
    assert unit_of(of_columns(0.0), **cosmology) == [None, None]
    assert unit_of(of_columns(1.0)) == [None, None]  # h is not known
    assert unit_of({}, UnitLength_in_cm=3.085678e24, UnitMass_in_g=1.989e43, UnitVelocity_in_cm_per_s=1e5,
                   **cosmology) == ["1e+10 Msun/h", "Mpc/h"]
    assert unit_of({}, **cosmology) == [None, None]
