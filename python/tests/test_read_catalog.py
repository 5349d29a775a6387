"""Catalogs in files: read back, passed on, drawn."""

import doctest
import os

import numpy
import pytest

import kith
import kith._files

h5py = pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def snapshot_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("box") / "snapshot.hdf5"
    kith.datasets.cosmic_box(12, 20.0).write(path)
    return path


@pytest.fixture(scope="module")
def found(snapshot_path):
    snapshot = kith.read(snapshot_path)
    labels, halos = kith.fof(snapshot, b=0.2, min_members=5, return_catalog=True)
    assert len(halos) > 3
    return snapshot, labels, halos


@pytest.fixture
def path(found, tmp_path):
    snapshot, _, halos = found
    kith.write_catalog(tmp_path / "halos.hdf5", halos, snapshot, command="a test")
    return tmp_path / "halos.hdf5"


def test_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder().find(kith._files.read_catalog, globs={})
    assert tests and all(doctest.DocTestRunner().run(test).failed == 0 for test in tests)


def test_what_was_written_is_read(found, path):
    snapshot, labels, halos = found
    read = kith.read_catalog(path)
    assert isinstance(read, kith.Catalog) and len(read) == len(halos) and read.columns == halos.columns
    width = snapshot.positions.dtype
    for name in halos.columns:
        exact = name.startswith(("mass", "count", "is_ambiguous"))
        expected = halos[name] if exact else halos[name].astype(width).astype(numpy.float64)
        assert read[name].dtype == halos[name].dtype and (read[name] == expected).all(), name
    for group in range(len(read)):
        assert (read.members_of(group) == snapshot.file_rows[halos.members_of(group)]).all()
        assert (read.ids_of(group) == snapshot.ids[halos.members_of(group)]).all()
        assert (labels[read.members_of(group)] == group).all()
    assert read.linking_length == halos.linking_length and read.path == str(path)
    assert read.box.period == (20.0, 20.0, 20.0)
    assert (read.time, read.redshift) == (snapshot.header.time, snapshot.header.redshift)
    assert read.parameters == snapshot.header.parameters
    assert read.provenance["Command"] == "a test" and read.provenance["Input"] == "snapshot.hdf5"
    assert set(read.units) == set(read.columns)
    assert repr(read) == repr(halos)
    with pytest.raises(ValueError, match="read-only"):
        read.mass[0] = 0


def test_tables(found, path):
    _, _, halos = found
    read = kith.read_catalog(path)
    assert (read.to_structured()["count"] == halos.count).all()
    pandas = pytest.importorskip("pandas")
    assert isinstance(read.to_pandas(), pandas.DataFrame) and "center_x" in read.to_pandas()
    pytest.importorskip("astropy")
    table = read.to_astropy()
    assert len(table) == len(halos)
    assert table.meta == {"linking_length": halos.linking_length, "time": read.time, "redshift": read.redshift}


def test_members_may_be_left_out(path):
    read = kith.read_catalog(path, members=False)
    assert read.members is None and read.ids is None
    with pytest.raises(ValueError, match="has no rows of its snapshot"):
        read.members_of(0)
    with pytest.raises(ValueError, match="has no ids"):
        read.ids_of(0)


def test_catalogs_that_were_not_read_have_no_file(found):
    _, _, halos = found
    assert halos.path is None and halos.provenance == {}
    _, halos = kith.fof(found[0].positions, b=0.2, return_catalog=True)
    assert halos.path is None and halos.ids is None and halos.redshift is None and halos.provenance == {}
    with pytest.raises(ValueError, match="has no ids"):
        halos.ids_of(0)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        halos.nonsense


def test_written_again(found, path, tmp_path):
    read = kith.read_catalog(path)
    with pytest.raises(ValueError, match="was read from .*halos.hdf5'; copy that file"):
        kith.write_catalog(tmp_path / "again.hdf5", read)
    with pytest.raises(ValueError, match="leave snapshot and ids out"):
        kith.write_catalog(tmp_path / "again.gtp", read, found[0])
    kith.write_catalog(tmp_path / "again.gtp", read)
    kith.write_catalog(tmp_path / "first.gtp", found[2], found[0])
    assert (tmp_path / "again.gtp").read_bytes() == (tmp_path / "first.gtp").read_bytes()
    assert not os.path.exists(tmp_path / "again.hdf5")


def test_catalogs_of_other_codes(tmp_path):
    with h5py.File(tmp_path / "fof_subhalo_tab_003.hdf5", "w") as file:
        header = file.create_group("Header")
        header.attrs.update(Ngroups_ThisFile=2, Ngroups_Total=2, NumFiles=1, BoxSize=50.0, Redshift=1.0, Time=0.5)
        file["Group/GroupLen"] = numpy.array([30, 20], dtype=numpy.uint32)
        file["Group/GroupMass"] = numpy.array([3, 2], dtype=numpy.float32)
        file["Group/GroupPos"] = numpy.ones((2, 3), dtype=numpy.float32)
        file["Group/Group_M_Crit200"] = numpy.ones(2, dtype=numpy.float32)
    read = kith.read_catalog(tmp_path / "fof_subhalo_tab_003.hdf5")
    assert read.columns == ("count", "mass", "center") and read.mass.tolist() == [3, 2] and read.redshift == 1
    assert read.linking_length is None and read.members is None and read.offset.tolist() == [0, 30]
    with pytest.raises(AttributeError, match="no column 'velocity'; there are count, mass, center"):
        read.velocity
    with pytest.raises(ValueError, match="has no max_radius"):
        kith.write_catalog(tmp_path / "a.gtp", read)
    plot = pytest.importorskip("kith.plot")
    with pytest.raises(ValueError, match="does not say how far"):
        plot.density(numpy.random.default_rng(1).random((100, 3)), read)


def test_what_is_wrong_is_said(tmp_path, snapshot_path):
    with pytest.raises(FileNotFoundError, match="missing.hdf5"):
        kith.read_catalog(tmp_path / "missing.hdf5")
    with pytest.raises(OSError, match="is a snapshot"):
        kith.read_catalog(snapshot_path)
    with pytest.raises(TypeError, match="members"):
        kith.read_catalog(snapshot_path, members=1)
    with h5py.File(tmp_path / "wrong.hdf5", "w") as file:
        file.create_group("Header").attrs.update(BoxSize=1.0)
        file["Group/GroupLen"] = [3, 2]
        file["Group/GroupMass"] = [1.0]
    with pytest.raises(OSError, match="Group/GroupMass is 1 x 1, but there are 2 groups"):
        kith.read_catalog(tmp_path / "wrong.hdf5")


def test_warnings(tmp_path):
    with h5py.File(tmp_path / "more.hdf5", "w") as file:
        file.create_group("Header").attrs.update(BoxSize=1.0, Ngroups_Total=5)
        file["Group/GroupLen"] = [3, 2]
    with pytest.warns(UserWarning, match="announces 5 groups"):
        kith.read_catalog(tmp_path / "more.hdf5")


def test_pictures(found, path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    snapshot, _, halos = found
    for catalog in (kith.read_catalog(path), path, str(path)):
        axes = kith.plot.density(snapshot, catalog, pixels=64)
        assert f"{len(halos)} groups of 5 or more" in " ".join(text.get_text() for text in axes.figure.texts)
        axes = kith.plot.mass_function(catalog, cumulative=True)
        same = kith.plot.mass_function(halos, cumulative=True)
        assert (axes.lines[0].get_xydata() == same.lines[0].get_xydata()).all()
    pyplot.close("all")


def test_theory_is_drawn_at_the_redshift_of_the_file(found, path, monkeypatch):
    pytest.importorskip("matplotlib")
    import kith.plot
    asked = []
    monkeypatch.setattr(kith._mass_plot, "_draw_theory", lambda *arguments: asked.append(arguments[4]))
    with h5py.File(path, "r+") as file:
        file["Header"].attrs["Redshift"] = 2.0
    kith.plot.mass_function(path, cosmology=kith.datasets.Cosmology())
    kith.plot.mass_function(path, cosmology=kith.datasets.Cosmology(), redshift=1.0)
    kith.plot.mass_function(found[2], cosmology=kith.datasets.Cosmology())
    assert asked == [2.0, 1.0, 0.0]
