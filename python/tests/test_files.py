"""Files: real ones where the folder of test data is there, and our own."""

import os
import pathlib
import warnings

import numpy
import pytest

import kith

DATA = pathlib.Path(os.environ.get("KITH_SHARED_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared/data")


@pytest.fixture
def particles(tmp_path):
    path = tmp_path / "points.npy"
    numpy.save(path, numpy.random.default_rng(1).random((300, 3)).astype(numpy.float32))
    return path


def test_arrays(particles):
    snapshot = kith.read(particles)
    assert len(snapshot) == 300 and snapshot.positions.dtype == numpy.float32
    assert (snapshot.positions == numpy.load(particles)).all()
    assert snapshot.velocities is None and snapshot.types is None and snapshot.ids is None and snapshot.box is None
    assert kith.read_header(str(particles)).format == "npy"
    assert (kith.knn(snapshot, 2)[1] == kith.knn(numpy.load(particles), 2)[1]).all()
    with pytest.raises(ValueError, match="read-only"):
        snapshot.positions[0] = 0


def test_positions_outlive_the_snapshot(particles):
    positions = kith.read(particles).positions
    assert (positions == numpy.load(particles)).all()


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.npy"):
        kith.read(tmp_path / "missing.npy")
    (tmp_path / "short.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(OSError, match="short.npy"):
        kith.read(tmp_path / "short.npy")
    numpy.save(tmp_path / "text.npy", numpy.array(["a", "b"]))
    with pytest.raises(OSError, match="text.npy"):
        kith.read(tmp_path / "text.npy")


def test_names_of_files(particles):
    assert len(kith.read(str(particles))) == len(kith.read(os.fsencode(particles))) == 300
    for wrong, error in ((None, TypeError), (5, TypeError), ("a\0b", ValueError)):
        with pytest.raises(error):
            kith.read(wrong)
    with pytest.raises(TypeError, match="must be a kith.Catalog"):
        kith.write_catalog("halos.hdf5", None)


@pytest.mark.parametrize("types", ["dark", [7], [-1]])
def test_wrong_types_are_refused(particles, types):
    with pytest.raises(ValueError, match="types"):
        kith.read(particles, types=types)


@pytest.mark.parametrize("types", [1.5, [1.5], [None]])
def test_types_that_are_no_numbers_are_refused(particles, types):
    with pytest.raises(TypeError, match="types must be|iterable"):
        kith.read(particles, types=types)


def test_tables_by_name(tmp_path):
    h5py = pytest.importorskip("h5py")
    points = numpy.random.default_rng(1).random((20, 3))
    with h5py.File(tmp_path / "halo.h5", "w") as file:
        file["Coordinates"], file["Masses"], file["Group/GroupPos"] = points, points[:, 0], points[:5].astype(numpy.float32)
    assert (kith.read(f"{tmp_path}/halo.h5:/Coordinates").positions == points).all()
    assert kith.read_header(f"{tmp_path}/halo.h5:/Group/GroupPos").counts[1] == 5
    for save in (numpy.savez, numpy.savez_compressed):
        save(tmp_path / "points.npz", masses=points[:, 0], positions=points)
        for name in ("points.npz", "points.npz:positions"):
            assert (kith.read(tmp_path / name).positions == points).all()
    for name, says in (("halo.h5:/Positions", r"/Coordinates \(20 x 3\), /Group/GroupPos \(5 x 3\), /Masses \(20\)"),
                       ("points.npz:velocities", r"masses \(20\), positions \(20 x 3\)")):
        with pytest.raises(OSError, match=says) as error:
            kith.read(tmp_path / name)
        assert not isinstance(error.value, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        kith.read(tmp_path / "absent.h5:/Coordinates")
    snapshot = kith.read(tmp_path / "halo.h5:/Coordinates")
    kith.write_catalog(tmp_path / "groups.hdf5", kith.fof(snapshot, 0.1, return_catalog=True)[1], snapshot)
    with h5py.File(tmp_path / "groups.hdf5") as file:
        assert any("halo.h5:/Coordinates" in str(value) for value in file["Header"].attrs.values())


def test_lists_of_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    for number in range(3):
        with h5py.File(tmp_path / f"snap_007.{number}.hdf5", "w") as file:
            file.create_group("Header").attrs["NumFilesPerSnapshot"] = 3
            file["PartType1/Coordinates"] = numpy.full((2, 3), float(number))
    paths = [tmp_path / f"snap_007.{number}.hdf5" for number in (2, 0, 1)]
    for read in (lambda path: kith.read(path).positions[:, 0].tolist(),
                 lambda path: sorted(os.path.basename(file) for file in kith.read_header(path).files)):
        assert read(paths) == read(str(tmp_path / "snap_007")) == read(tuple(map(str, paths)))
    with pytest.raises(ValueError, match="2 of the 3 files.*snap_007.0.hdf5 is left out"):
        kith.read([paths[0], paths[2]])
    numpy.save(tmp_path / "points.npy", numpy.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"2 files are not those of one snapshot.*\[kith.read\(path\) for path in paths\]"):
        kith.read([tmp_path / "points.npy", paths[0]])
    with pytest.raises(TypeError, match="path is of type generator"):
        kith.read(path for path in paths)


def test_catalogs_of_arrays(tmp_path):
    h5py = pytest.importorskip("h5py")
    points = numpy.concatenate([numpy.random.default_rng(s).normal(s, 0.01, (40, 3)) for s in (1, 2)])
    _, halos = kith.fof(points, 0.2, return_catalog=True)
    path = tmp_path / "halos.hdf5"
    kith.write_catalog(path, halos, ids=numpy.arange(80) + 1000)
    with h5py.File(path) as file:
        assert file["Group/GroupLen"][:].tolist() == [40, 40]
        assert file["Group/GroupPos"].dtype == numpy.float64
        assert (file["IDs/ID"][:] == file["Members/Index"][:] + 1000).all()
    kith.write_catalog(tmp_path / "halos.gtp", halos)
    assert (tmp_path / "halos.gtp").stat().st_size > 0
    with pytest.raises(ValueError, match=".hdf5, .h5 or .gtp"):
        kith.write_catalog(tmp_path / "halos.txt", halos)
    with pytest.raises(ValueError, match="ids"):
        kith.write_catalog(path, halos, ids=[1, 2, 3])
    with pytest.raises(OSError):
        kith.write_catalog(tmp_path / "no" / "halos.hdf5", halos)
    before = sorted(tmp_path.iterdir())
    for name in ("nul\0l.hdf5", "nul\0.gtp"):
        with pytest.raises(ValueError, match="cannot be the name"):
            kith.write_catalog(os.path.join(tmp_path, name), halos)
    with pytest.raises(ValueError, match="no place for ids"):
        kith.write_catalog(tmp_path / "other.gtp", halos, ids=numpy.arange(80))
    with pytest.raises(TypeError, match="command is of type int"):
        kith.write_catalog(tmp_path / "other.hdf5", halos, command=5)
    assert sorted(tmp_path.iterdir()) == before
    for wrong in ({"ids": 0}, {"masses": "no"}, {"types": numpy.array([1.5])}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            kith.read(path, **wrong)


def test_catalogs_of_another_snapshot_are_refused(tmp_path):
    pytest.importorskip("h5py")
    box = kith.datasets.cosmic_box(8, 10.0, steps=2)
    path = tmp_path / "snapshot.hdf5"
    box.write(path)
    content = path.read_bytes()
    snapshot = kith.read(path)
    _, halos = kith.fof(snapshot, 100.0, return_catalog=True)
    with pytest.raises(ValueError, match="a file of the snapshot itself"):
        kith.write_catalog(path, halos, snapshot)
    assert path.read_bytes() == content
    kith.write_catalog(tmp_path / "halos.hdf5", halos, snapshot)
    _, halos = kith.fof(snapshot.positions[:-1], 100.0, return_catalog=True)
    with pytest.raises(ValueError, match="of 511 points, but the snapshot has 512 particles"):
        kith.write_catalog(tmp_path / "halos.hdf5", halos, snapshot)
    with pytest.raises(ValueError, match="ids has 3 rows for 511 points"):
        kith.write_catalog(tmp_path / "halos.hdf5", halos, ids=[1, 2, 3])


def test_texts_and_names_that_are_not_utf8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.csv")
    with pytest.raises(FileNotFoundError, match="xff.csv"):
        kith.read(path)
    try:
        with open(path, "wb") as file:
            file.write("a [\N{MICRO SIGN}m],b,c\n1,2,3\n4,5,6\n".encode("latin-1"))
    except OSError:
        pytest.skip("this file system has names in UTF-8 alone")
    with pytest.warns(UserWarning, match=r"a \[\\xb5m\]"):
        snapshot = kith.read(path)
    assert len(snapshot) == 2 and snapshot.header.files == [os.fsdecode(path)]
    with open(path, "wb") as file:
        file.write(b"1,2\n\xfe,3\n")
    with pytest.raises(OSError, match=r"line 2, column 1: '\\xfe'"):
        kith.read(path)
    for types in (9, 2**40, [1, -1], numpy.array([0, 9])):
        with pytest.raises(ValueError, match=f"types holds {numpy.ravel(types)[-1]};"):
            kith.read(path, types)


def test_samples(particles):
    whole = kith.read(particles)
    sample = kith.read(particles, sample=50, seed=7)
    assert len(sample) == 50 and (numpy.diff(sample.file_rows) > 0).all()
    assert (sample.positions == whole.positions[sample.file_rows]).all()
    assert (kith.read(particles, sample=50, seed=7).file_rows == sample.file_rows).all()
    assert (kith.read(particles, sample=50).file_rows != sample.file_rows).any()
    assert len(kith.read(particles, sample=1000)) == 300
    for wrong in ({"sample": 0}, {"seed": -1}, {"sample": 2**63}):
        with pytest.raises(ValueError, match="must be from"):
            kith.read(particles, **wrong)


def test_tipsy_snapshots(particles, tmp_path):
    sample = kith.read(particles, sample=50)
    kith.write_tipsy(tmp_path / "sample.std", sample)
    written = kith.read(tmp_path / "sample.std")
    assert written.header.format.startswith("Tipsy") and written.header.counts[1] == 50
    assert (written.positions == sample.positions).all() and not written.velocities.any()
    with pytest.raises(ValueError, match="file of the snapshot itself"):
        kith.write_tipsy(particles, sample)
    numpy.save(tmp_path / "flat.npy", numpy.zeros((3, 2)))
    with pytest.raises(ValueError, match="3 dimensions"):
        kith.write_tipsy(tmp_path / "flat.std", kith.read(tmp_path / "flat.npy"))
    assert not (tmp_path / "flat.std").exists()


def test_tipsy_arrays(tmp_path):
    path = tmp_path / "snapshot.grp"
    path.write_text("4\n0\n3\n1\n0\n")
    labels = kith.read_tipsy_array(path, integers=True)
    assert labels.dtype == numpy.int64 and labels.tolist() == [0, 3, 1, 0]
    path = tmp_path / "snapshot.den"
    numpy.array([3], dtype=">i4").tofile(path)
    with open(path, "ab") as file:
        numpy.array([1.5, 2.5, -1], dtype=">f4").tofile(file)
    density = kith.read_tipsy_array(path)
    assert density.dtype == numpy.float32 and density.tolist() == [1.5, 2.5, -1]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OSError, match="snapshot.den"):
        kith.read_tipsy_array(path)
    with pytest.raises(FileNotFoundError):
        kith.read_tipsy_array(tmp_path / "missing.grp")


@pytest.mark.parametrize("order", [">", "<"])
def test_whole_numbers_of_tipsy_arrays_are_found(tmp_path, order):
    def write(name, values, kind):
        with open(tmp_path / name, "wb") as file:
            numpy.array([len(values)], dtype=f"{order}i4").tofile(file)
            numpy.array(values, dtype=f"{order}{kind}4").tofile(file)
        return tmp_path / name

    for name in ("a.grp", "a.amiga.grp", "a.iord", "A.IORD", "a.igasorder", "a.status"):
        found = kith.read_tipsy_array(write(name, [0, 5, -1, 70000], "i"))
        assert found.dtype == numpy.int64 and found.tolist() == [0, 5, -1, 70000], name
    large = [0, 2**30]
    assert kith.read_tipsy_array(write("a.iord", large, "i")).tolist() == large
    for values in ([0.0, 1.5, 1e-39], [0.0, 0.0], [numpy.inf, 1.0]):
        found = kith.read_tipsy_array(write("a.den", values, "f"))
        assert found.dtype == numpy.float32 and found.tolist() == numpy.float32(values).tolist()
    assert kith.read_tipsy_array(write("a.status", [3, 4], "i"), integers=False).dtype == numpy.float32


def test_snapshots_in_other_formats(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("x,y,z,mass\n0,0,0,1\n1,0,0,2\n0,3,0,1\n")
    snapshot = kith.read(table)
    assert snapshot.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 3, 0]] and snapshot.masses.tolist() == [1, 2, 1]
    assert snapshot.header.files == [str(table)]
    assert kith.fof(snapshot, 1).tolist() == [0, 0, 1]
    table.write_text("7 1 2 3\n8 4 5 6\n")
    with pytest.raises(OSError, match="columns="):
        kith.read(table)
    assert kith.read(table, columns=[2, 3]).positions.tolist() == [[1, 2], [4, 5]]
    assert kith.read(table, columns="all").positions.shape == (2, 4)
    assert kith.read_header(table, columns="2,4").dimension == 2
    table.write_text("id,ra,dec,z\n7,1,2,3\n")
    assert kith.read(table, columns=["ra", "dec"]).positions.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="no column glon"):
        kith.read(table, columns=["glon", "glat"])
    for wrong in (2, [2.0, 3.0], [True, 2]):
        with pytest.raises(TypeError, match="columns"):
            kith.read(table, columns=wrong)
    mesh = tmp_path / "points.ply"
    mesh.write_text("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
                    "property float z\nend_header\n0 0 0\n3 4 0\n")
    assert kith.knn(kith.read(mesh), 2)[0].tolist() == [[0, 5], [0, 5]]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of test data is not there ({DATA})")
def test_real_snapshots():
    read = 0
    for path in sorted(DATA.rglob("*")):
        if not path.is_file():
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                snapshot = kith.read(path, types="all")
        except (OSError, ValueError, NotImplementedError) as error:
            assert path.name in str(error) or "box" in str(error) or "types" in str(error), f"{path}: {error}"
            continue
        read += 1
        assert len(snapshot) == sum(snapshot.header.counts)
        if 0 < len(snapshot) < 300_000 and (numpy.ptp(snapshot.positions, axis=0) > 0).all():
            labels = kith.fof(snapshot.positions, b=0.2, box=snapshot.box, min_members=20)
            assert len(labels) == len(snapshot)
    assert read > 0
