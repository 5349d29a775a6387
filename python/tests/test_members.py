"""Members of groups: the rows of a catalog are those of the particles at hand, or there is an error that says which are."""

import subprocess

import numpy
import pytest

import kith
from built import program

h5py = pytest.importorskip("h5py")

CLUMPS = numpy.random.default_rng(4).normal(0, 0.1, (3, 40, 3)) + numpy.array([2, 5, 8])[:, None, None]


def write(path, counts, *, with_ids=True, first_id=1, time=0.25):
    """The particles of three clumps dealt to the types, so that every group has members of all; returns the path."""
    points = numpy.random.default_rng(5).permutation(CLUMPS.reshape(-1, 3)).astype(numpy.float32)
    assert sum(counts) == len(points)
    begin = 0
    with h5py.File(path, "w") as file:
        file.create_group("Header").attrs.update(
            NumPart_ThisFile=numpy.array(counts, dtype=numpy.uint64), MassTable=numpy.ones(len(counts)), Time=time,
            NumPart_Total=numpy.array(counts, dtype=numpy.uint64), Redshift=1 / time - 1, BoxSize=10.0,
            NumFilesPerSnapshot=1, Omega0=0.3, OmegaLambda=0.7, HubbleParam=0.7, UnitLength_in_cm=3.085678e24,
            UnitMass_in_g=1.989e43, UnitVelocity_in_cm_per_s=1e5)
        for kind, count in enumerate(counts):
            if count:
                group = file.create_group(f"PartType{kind}")
                group["Coordinates"] = points[begin:begin + count]
                group["Velocities"] = points[begin:begin + count] * 10
                if with_ids:
                    group["ParticleIDs"] = numpy.arange(begin, begin + count, dtype=numpy.uint64) + first_id
                begin += count
    return path


def catalog_of(path, snapshot, by_program):
    """A catalog of a snapshot's particles, written by Python or by the program."""
    name = path.with_name("halos.hdf5")
    if not by_program:
        kith.write_catalog(name, kith.fof(snapshot, 0.5, min_members=5, return_catalog=True)[1], snapshot)
        return kith.read_catalog(name)
    types = "all" if len(numpy.unique(snapshot.types)) > 1 else str(snapshot.types[0])
    subprocess.run([program(), "fof", path, "--types", types, "--linking-length", "0.5", "--min-members", "5", "-o", name],
                   check=True, stdout=subprocess.DEVNULL)
    return kith.read_catalog(name)


def are_in_place(points, center):
    return len(points) > 0 and (abs(points - center) < 1).all()


by_both = pytest.mark.parametrize("by_program", [False, True], ids=["python", "program"])


@by_both
@pytest.mark.filterwarnings("ignore:only type 1")
@pytest.mark.parametrize("grouped", [[1], "all", [0]], ids=str)
def test_rows_of_the_file_are_not_taken_for_others(tmp_path, grouped, by_program):
    path = write(tmp_path / "gas.hdf5", [30, 90, 0, 0, 0, 0])
    snapshot, everything, by_default = kith.read(path, types=grouped), kith.read(path, types="all"), kith.read(path)
    halos = catalog_of(path, snapshot, by_program)
    assert len(halos) == 3
    for take in (lambda: halos.members_of(0), lambda: halos.members, lambda: halos[0].members):
        with pytest.raises(ValueError, match=r"120 particles of 'gas.hdf5', of which kith.read loads type 1 alone.*"
                                             r"members_of\(group, snapshot\).*file_rows_of.*types='all'"):
            take()
    for group in range(3):
        rows = halos.members_of(group, snapshot)
        assert are_in_place(snapshot.positions[rows], halos.center[group])
        assert (snapshot.ids[rows] == halos.ids_of(group)).all() and len(rows) == halos.count[group]
        assert (everything.positions[halos.file_rows_of(group)] == snapshot.positions[rows]).all()
        assert (everything.ids[halos.members_of(group, everything)] == snapshot.ids[rows]).all()
        if grouped == [1]:
            assert (halos.members_of(group, by_default) == rows).all()
        else:
            with pytest.raises(ValueError, match="of the .* members of group .* are not among the particles.*types='all'"):
                halos.members_of(group, by_default)


@by_both
@pytest.mark.parametrize("counts", [[0, 120, 0, 0, 0, 0], [120, 0, 0, 0, 0, 0]])
def test_the_natural_line_is_right_where_nothing_else_can_be_meant(tmp_path, counts, by_program):
    path = write(tmp_path / "one.hdf5", counts)
    snapshot = kith.read(path, types="all")
    halos = catalog_of(path, snapshot, by_program)
    for group in range(3):
        assert are_in_place(snapshot.positions[halos.members_of(group)], halos.center[group])
        assert (halos.members_of(group) == halos[group].members).all()
        assert (halos.members_of(group) == halos.members_of(group, snapshot)).all()


@pytest.mark.filterwarnings("ignore:only type 1")
def test_dark_matter_that_comes_first_keeps_its_rows_beside_stars(tmp_path):
    path = write(tmp_path / "stars.hdf5", [0, 90, 0, 0, 30, 0])
    dark = catalog_of(path, kith.read(path), False)
    assert are_in_place(kith.read(path).positions[dark.members_of(0)], dark.center[0])
    both = catalog_of(path, kith.read(path, types="all"), False)
    with pytest.raises(ValueError, match="kith.read loads type 1 alone"):
        both.members_of(0)


@pytest.mark.filterwarnings("ignore:only type 1")
def test_catalogs_in_memory_know_rows_and_ids(tmp_path):
    snapshot = kith.read(write(tmp_path / "gas.hdf5", [30, 90, 0, 0, 0, 0]))
    everything = kith.read(tmp_path / "gas.hdf5", types="all")
    _, halos = kith.fof(snapshot, 0.5, min_members=5, return_catalog=True)
    rows = halos.members_of(1)
    assert are_in_place(snapshot.positions[rows], halos.center[1]) and (halos.ids_of(1) == snapshot.ids[rows]).all()
    assert (halos.file_rows_of(1) == snapshot.file_rows[rows]).all() and (halos.file_rows_of(1) == rows + 30).all()
    assert (halos.members_of(1, everything) == rows + 30).all() and (halos.members_of(1, snapshot) == rows).all()
    assert (halos.time, halos.parameters["HubbleParam"]) == (0.25, 0.7)
    _, plain = kith.fof(snapshot.positions, 0.5, min_members=5, return_catalog=True)
    assert plain.ids is None and plain.file_rows is None
    with pytest.raises(ValueError, match=r"has no rows of a file: members_of\(group\) gives.*or group a snapshot"):
        plain.members_of(1, snapshot)
    with pytest.raises(ValueError, match=r"has no ids: .*ids\[members_of\(group\)\]"):
        plain.ids_of(1)
    kith.write_catalog(tmp_path / "plain.hdf5", plain)
    assert (kith.read_catalog(tmp_path / "plain.hdf5").members_of(1) == rows).all()


@pytest.mark.filterwarnings("ignore:only type 1")
def test_snapshots_of_other_files_are_refused(tmp_path):
    halos = catalog_of(tmp_path / "gas.hdf5", kith.read(write(tmp_path / "gas.hdf5", [30, 90, 0, 0, 0, 0])), False)
    for other, options, says in (("counts", {"counts": [60, 60, 0, 0, 0, 0]}, "holds 60 of type 0 and 60 of type 1, but 'gas.hdf5'"),
                                 ("time", {"counts": [30, 90, 0, 0, 0, 0], "time": 0.5}, "its time is 0.5"),
                                 ("ids", {"counts": [30, 90, 0, 0, 0, 0], "first_id": 7}, "ids of the members of group 0")):
        with pytest.raises(ValueError, match=says):
            halos.members_of(0, kith.read(write(tmp_path / f"{other}.hdf5", **options)))
    with pytest.raises(TypeError, match="snapshot is of type ndarray; it must be a kith.Snapshot"):
        halos.members_of(0, CLUMPS)


def test_catalogs_that_do_not_say_what_their_rows_count_are_not_trusted(tmp_path):
    path = write(tmp_path / "one.hdf5", [0, 120, 0, 0, 0, 0])
    halos = catalog_of(path, kith.read(path), False)
    with h5py.File(halos.path, "r+") as file:
        assert file["Header"].attrs["InputCounts"].tolist() == [0, 120, 0, 0, 0, 0, 0]
        del file["Header"].attrs["InputCounts"]
    old = kith.read_catalog(halos.path)
    with pytest.raises(ValueError, match="does not state how many of each type"):
        old.members_of(0)
    assert (old.members_of(0, kith.read(path)) == halos.members_of(0)).all()
    with h5py.File(halos.path, "r+") as file:
        file["Header"].attrs.update(InputCounts=[0, 120], SortedSnapshot="sorted.hdf5")
    with pytest.raises(ValueError, match="not of its copy in group order, sorted.hdf5"):
        kith.read_catalog(halos.path).members_of(0)


def test_groups_and_parts_of_a_catalog(tmp_path):
    snapshot = kith.read(write(tmp_path / "one.hdf5", [0, 120, 0, 0, 0, 0]))
    _, memory = kith.fof(snapshot, 0.5, min_members=5, return_catalog=True)
    for halos in (memory, catalog_of(tmp_path / "one.hdf5", snapshot, False)):
        group = halos[-1]
        assert group.count == halos.count[2] and (group["center"] == halos.center[2]).all() and "40 members" in repr(group)
        assert (group.ids == halos.ids_of(2)).all() and (group.members == halos.members_of(2)).all()
        assert [each.mass for each in halos] == halos.mass.tolist() and "center" in dir(group)
        assert (halos.members_of(group, snapshot) == halos.members_of(2)).all() and (halos.ids_of(group) == group.ids).all()
        with pytest.raises(ValueError, match="must be one of this catalog"):
            halos[1:].members_of(group)
        with pytest.raises(IndexError, match="no group -1; there are 3.*; -1 is the label of no group, the last is 2"):
            halos.members_of(-1)
        by_x = halos.center[:, 0] > 4
        for part, groups in ((halos[by_x], numpy.flatnonzero(by_x)), (halos[1:], [1, 2]), (halos[[2, 0]], [2, 0]),
                             (halos[:0], []), (halos[[]], [])):
            assert isinstance(part, kith.Catalog) and len(part) == len(groups) and part.columns == halos.columns
            for name in part.columns:
                assert (part[name] == halos[name][groups]).all(), name
            for row, group in enumerate(groups):
                assert (part.members_of(row) == halos.members_of(group)).all()
                assert (part.ids_of(row) == halos.ids_of(group)).all()
        for wrong, error in ((3, IndexError), (1.5, TypeError), ([True], IndexError), ([0.5], TypeError), ("color", KeyError)):
            with pytest.raises(error):
                halos[wrong]
        pandas = pytest.importorskip("pandas")
        assert (halos[pandas.Series(by_x)].center == halos.center[by_x]).all()
        with pytest.raises(ValueError, match="which has masked values"):
            halos[numpy.ma.array(by_x, mask=~by_x)]
    kith.write_catalog(tmp_path / "part.hdf5", memory[1:], snapshot)
    assert (kith.read_catalog(tmp_path / "part.hdf5").ids_of(0) == memory.ids_of(1)).all()
