"""Catalogs in the hands of yt and pynbody: they open them and fetch the right particles, or refuse."""

import os
import pathlib
import re
import shutil
import subprocess
import types
import warnings

import numpy
import pytest

import kith

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the readers themselves are warned of

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "catalogs.md"
BOX, SCALE_FACTOR, HUBBLE = 10.0, 0.5, 0.7
ONE_TYPE = {1: 160}
SEVERAL_TYPES = {0: 60, 1: 200, 4: 40}


@pytest.fixture(scope="module")
def yt():
    module = reader("yt")
    module.set_log_level("error")
    return module


@pytest.fixture(scope="module")
def pynbody():
    return reader("pynbody")


def reader(name):
    try:
        return __import__(name)
    except ModuleNotFoundError as error:
        message = f"there is no {error.name}: THAT {name} READS OUR CATALOGS IS NOT TESTED (pip install {name})"
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(message, stacklevel=2)
        pytest.skip(message)


@pytest.fixture(scope="module")
def program():
    """The program kith: the one that KITH_PROGRAM names, or the one that was built beside the package."""
    found = pathlib.Path(os.environ.get("KITH_PROGRAM") or pathlib.Path(kith.__file__).parents[2] / "bin" / "kith")
    if not found.is_file():
        pytest.skip(f"there is no program {found}: THAT SORTED SNAPSHOTS ARE READ IS NOT TESTED (KITH_PROGRAM names one)")
    return found


def write_snapshot(path, counts):
    """Six clumps, their particles strewn over the rows, so that whoever takes the wrong rows gets the wrong ids; and two
    dark particles away from all."""
    random = numpy.random.default_rng(sum(counts))
    numbers = [counts.get(kind, 0) for kind in range(6)]
    ids = random.permutation(sum(numbers)) + 1
    with h5py.File(path, "w") as file:
        file.create_group("Header").attrs.update(
            NumPart_ThisFile=numpy.array(numbers, dtype=numpy.uint64), MassTable=numpy.zeros(6), Time=SCALE_FACTOR,
            NumPart_Total=numpy.array(numbers, dtype=numpy.uint64), Redshift=1.0, BoxSize=BOX, NumFilesPerSnapshot=1)
        file.create_group("Parameters").attrs.update(
            Omega0=0.3, OmegaLambda=0.7, HubbleParam=HUBBLE, ComovingIntegrationOn=1, UnitLength_in_cm=3.085678e24,
            UnitMass_in_g=1.989e43, UnitVelocity_in_cm_per_s=1e5)
        file.create_group("Config")
        for kind, count in counts.items():
            clumps = random.integers(0, 6, (count, 1))
            group = file.create_group(f"PartType{kind}")
            positions = (1 + 1.5 * clumps + 0.4 * random.random((count, 3))).astype(numpy.float32)
            if kind == 1:
                positions[:2] = [[1, 9, 1], [9, 1, 9]]
            group["Coordinates"] = positions
            group["Velocities"] = (100 * random.random((count, 3))).astype(numpy.float32)
            group["Masses"] = (1 + random.random(count)).astype(numpy.float32)
            group["ParticleIDs"], ids = ids[:count].astype(numpy.uint64), ids[count:]
    return path


def write_tipsy(path):
    """A Tipsy file of dark particles in clumps, and one away from all."""
    random = numpy.random.default_rng(5)
    record = numpy.zeros(200, dtype=[("mass", ">f4"), ("position", ">f4", 3), ("velocity", ">f4", 3), ("other", ">f4", 2)])
    record["mass"] = 1 / 200
    record["position"] = random.integers(0, 4, (200, 1)) * 0.2 - 0.4 + 0.03 * random.random((200, 3))
    record["position"][17] = [0.4, -0.4, 0.4]
    header = numpy.array([(1.0, [200, 3, 0, 200, 0, 0])], dtype=[("time", ">f8"), ("counts", ">i4", 6)])
    path.write_bytes(header.tobytes() + record.tobytes())


def make(folder, counts, *, with_groups=True, program=None):
    """A snapshot and its catalog, under the names that pynbody expects; in group order if there is a program to do it."""
    length = 0.4 if with_groups else 1e-6
    snapshot = write_snapshot(folder / "snapshot_007.hdf5", counts)
    catalog = folder / "fof_subhalo_tab_007.hdf5"
    particles = kith.read(snapshot, types="all")
    _, halos = kith.fof(particles, length, min_members=5, return_catalog=True)
    if program is None:
        kith.write_catalog(catalog, halos, particles)
    else:
        (folder / "sorted").mkdir()
        catalog, unsorted, snapshot = folder / "sorted" / catalog.name, snapshot, folder / "sorted" / snapshot.name
        subprocess.run([program, "fof", unsorted, "--types", "all", "--linking-length", str(length), "--min-members", "5",
                        "-o", catalog, "--sorted-snapshot", snapshot], check=True, stdout=subprocess.DEVNULL)
    assert len(halos) == (6 if with_groups else 0)
    return types.SimpleNamespace(snapshot=snapshot, catalog=catalog, halos=halos,
                                 ids=[particles.ids[halos.members_of(group)] for group in range(len(halos))])


every_kind = pytest.mark.parametrize("counts", [ONE_TYPE, SEVERAL_TYPES], ids=["one type", "several types"])
with_and_without_order = pytest.mark.parametrize("is_sorted", [False, True], ids=["unsorted", "sorted"])


@every_kind
@with_and_without_order
def test_yt_fetches_the_members(yt, tmp_path, request, counts, is_sorted):
    made = make(tmp_path, counts, program=request.getfixturevalue("program") if is_sorted else None)
    named = shutil.copy(made.catalog, tmp_path / "halos.0.hdf5")
    units = {"length": (1.0, "Mpccm/h"), "mass": (1e10, "Msun/h"), "velocity": (1.0, "km/s/a")}
    dataset = yt.load(str(named), unit_base=units)
    everything = dataset.all_data()
    with h5py.File(made.catalog) as file:
        masses, velocities = file["Group/GroupMass"][:], file["Group/GroupVel"][:]
    assert everything["Group", "particle_mass"].to("Msun").d == pytest.approx(masses * 1e10 / HUBBLE, rel=1e-6)
    for group, ids in enumerate(made.ids):
        halo = dataset.halo("Group", group)
        assert set(halo["Group", "member_ids"].d) == set(ids) and halo.particle_number == len(ids)
        assert halo.position.to("Mpc/h").d == pytest.approx(made.halos.center[group] * SCALE_FACTOR, rel=1e-5)
        assert halo.velocity.to("km/s").d == pytest.approx(velocities[group] / SCALE_FACTOR, rel=1e-5)


@every_kind
@with_and_without_order
def test_yt_opens_catalogs_without_groups(yt, tmp_path, request, counts, is_sorted):
    made = make(tmp_path, counts, with_groups=False,
                program=request.getfixturevalue("program") if is_sorted else None)
    dataset = yt.load(str(shutil.copy(made.catalog, tmp_path / "halos.0.hdf5")))
    assert dataset.index.particle_count == {"Group": 0, "Subhalo": 0}


def test_yt_opens_catalogs_of_inputs_without_cosmology(yt, tmp_path):
    points = numpy.random.default_rng(1).normal(5, 0.1, (50, 3))
    _, halos = kith.fof(points, 1.0, box=10, velocities=points, return_catalog=True)
    kith.write_catalog(tmp_path / "halos.0.hdf5", halos, ids=numpy.arange(50))
    dataset = yt.load(str(tmp_path / "halos.0.hdf5"))
    assert dataset.current_redshift == 0
    assert set(dataset.halo("Group", 0)["Group", "member_ids"].d) == set(range(50))


@every_kind
def test_pynbody_fetches_the_members_of_sorted_snapshots(pynbody, program, tmp_path, counts):
    made = make(tmp_path, counts, program=program)
    snapshot = pynbody.load(str(made.snapshot))
    for halos in (snapshot.halos(), snapshot.halos(filename=str(made.catalog))):
        assert len(halos) == len(made.ids)
        for group, ids in enumerate(made.ids):
            assert set(halos[group]["iord"]) == set(ids)
            assert halos[group].properties["GroupLen"] == len(ids)
    halos.load_all()
    assert set(halos[len(made.ids) - 1]["iord"]) == set(made.ids[-1])


def test_halos_of_a_file_in_python(program, tmp_path):
    """What kith halos writes, read by kith and astropy, is what kith.halos finds."""
    snapshot, catalog, table = write_snapshot(tmp_path / "in.hdf5", SEVERAL_TYPES), tmp_path / "h.hdf5", tmp_path / "h.ecsv"
    options = {"linking_length": 0.3, "min_members": 5, "G": 2.0, "hubble": 70.0, "omega_matter": 0.3}
    subprocess.run([program, "halos", snapshot, "--types", "all", "-o", catalog, "--table", table, *(
        text for name, value in options.items()
        for text in ("--" + name.replace("_", "-"), str(value)))], check=True, capture_output=True)
    particles = kith.read(snapshot, types="all")
    made, groups = kith.halos(particles, **options), kith.read_catalog(catalog)
    halos = groups.halos
    assert len(made) > 0 and (made.count < groups.count[made.group]).any()
    assert set(halos.columns) == set(made.columns) - {"center_row"} and halos.unbind and halos.G == 2.0
    for name in halos.columns:
        numpy.testing.assert_allclose(halos[name], made[name], rtol=1e-6, atol=1e-4, err_msg=name)
    for halo, found in enumerate(halos):
        assert set(found.ids) == set(made.ids_of(halo)) and set(made.file_rows_of(halo)) == set(halos.file_rows_of(found))
        assert set(halos.members_of(halo, particles)) == set(made.members_of(halo)) == set(made.members_of(halo, particles))
    assert halos[:1].mass == halos.mass[:1] and kith.read_catalog(catalog)[:1].halos is None
    with pytest.raises(ValueError, match="no rows of points; give the snapshot"):
        halos.members_of(0)
    ascii_table = pytest.importorskip("astropy.table").Table.read(table)
    assert (ascii_table["SubhaloLen"] == made.count).all() and ascii_table.meta["G"] == "2"
    numpy.testing.assert_allclose(ascii_table["Group_R_Crit200"], made.r200c, rtol=1e-6)
    again = tmp_path / "again.ecsv"
    halos.to_astropy().write(again)
    assert (ascii_table.read(again)["mass"] == halos.mass).all()


def test_yt_and_pynbody_fetch_bound_members(yt, pynbody, program, tmp_path):
    catalog, ordered = tmp_path / "fof_subhalo_tab_007.hdf5", tmp_path / "snapshot_007.hdf5"
    weak = "4"  # instead of 43, so that some members are not bound
    subprocess.run([program, "halos", write_snapshot(tmp_path / "in.hdf5", ONE_TYPE), "--linking-length", "0.3",
                    "--min-members", "5", "-o", catalog, "--sorted-snapshot", ordered, "--G", weak],
                   check=True, capture_output=True)
    with h5py.File(catalog) as file:
        first = file["Group/MembersOffset"][:][file["Subhalo/SubhaloGroupNr"][:]]
        bound = [set(file["IDs/ID"][begin:begin + count]) for begin, count in zip(first, file["Subhalo/SubhaloLen"][:])]
        assert 0 < sum(map(len, bound)) < file["Group/GroupLen"][:].sum()
    subhalos = pynbody.load(str(ordered)).halos(subhalos=True)
    assert [set(subhalos[halo]["iord"]) for halo in range(len(subhalos))] == bound
    dataset = yt.load(shutil.copy(catalog, tmp_path / "halos.0.hdf5"))
    assert [set(dataset.halo("Subhalo", halo)["Subhalo", "member_ids"].d) for halo in range(len(bound))] == bound


@every_kind
@pytest.mark.parametrize("with_groups", [True, False], ids=["groups", "no groups"])
def test_pynbody_refuses_catalogs_of_snapshots_in_another_order(pynbody, tmp_path, counts, with_groups):
    made = make(tmp_path, counts, with_groups=with_groups)
    snapshot = pynbody.load(str(made.snapshot))
    for arguments in ({}, {"filename": str(made.catalog)}):
        with pytest.raises((RuntimeError, ValueError, ZeroDivisionError)):
            snapshot.halos(**arguments)


def test_the_page_is_true(yt, pynbody, program, tmp_path, monkeypatch):
    """Every command and program of the page, one after the other, in a folder with its snapshots."""
    write_snapshot(tmp_path / "snapshot_007.hdf5", SEVERAL_TYPES)
    write_tipsy(tmp_path / "halo.std")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    pieces = re.findall(r"```(sh|python)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(pieces) >= 6
    names = {}
    for language, text in pieces:
        if language == "sh":
            subprocess.run(["sh", "-euc", text], check=True)
        else:
            exec(compile(text, str(PAGE), "exec"), names)
        if "HaloNumberCatalogue" in text:
            labeled = names["halos"]
            assert [set(labeled[group]["iord"]) for group in range(6)] == [
                set(kith.read_catalog("halos.hdf5").ids_of(group)) for group in range(6)]
        if 'load("halo.std")' in text:
            catalog = kith.read_catalog("tipsy_halos.hdf5")
            assert len(catalog) == 4
            for group in range(4):
                rows = names["halos"][group + 1].get_index_list(names["snapshot"])
                assert (rows == catalog.file_rows_of(group)).all()
