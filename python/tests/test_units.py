"""Quantities of astropy: every length is in the unit of the points, or refused. Nothing is stripped in silence."""

import numpy
import pytest

import kith
import kith.spatial

u = pytest.importorskip("astropy.units")

POINTS = numpy.random.default_rng(5).random((200, 3))
IN_MPC = POINTS * u.Mpc


def test_distances_are_in_the_unit_of_the_points():
    plain = kith.knn(POINTS, 3, POINTS[:5], box=1, max_distance=0.2)
    distances, indices = kith.knn(IN_MPC, 3, (POINTS[:5] * 1000) * u.kpc, box=1000 * u.kpc, max_distance=200 * u.kpc)
    assert distances.unit == u.Mpc and type(indices) is numpy.ndarray
    numpy.testing.assert_allclose(distances.value, plain[0], rtol=1e-12, atol=1e-15)
    assert (indices == plain[1]).all()
    assert (kith.knn(IN_MPC, 3)[0].value == kith.knn(POINTS, 3)[0]).all()
    assert kith.knn(IN_MPC.astype("f4"), 3)[0].dtype == numpy.float32
    assert type(kith.knn(IN_MPC, 3, return_distances=False)) is numpy.ndarray


def test_boxes_of_nodes_are_in_the_unit_of_the_points():
    plain_tree = kith.Tree(POINTS, box=1)
    for found, plain in zip(kith.Tree(IN_MPC, box=1 * u.Mpc).plane_boxes(), plain_tree.plane_boxes(), strict=True):
        assert found.unit == u.Mpc and (found.value == plain).all() and type(plain) is numpy.ndarray


@pytest.mark.parametrize("box", [[1, 1, 1] * u.Mpc, [1 * u.Mpc, 1000 * u.kpc, 1 * u.Mpc], (0, 1 * u.Mpc, 0)])
def test_boxes_for_each_axis(box):
    plain = [1, 1, 1] if not isinstance(box, tuple) else [0, 1, 0]
    assert (kith.fof(IN_MPC, 0.1 * u.Mpc, box=box) == kith.fof(POINTS, 0.1, box=plain)).all()


def test_lengths_that_are_the_same_in_all_units_need_none():
    kith.knn(IN_MPC, 2, box=0, max_distance=numpy.inf)
    kith.knn(IN_MPC, 2, box=kith.Box())
    assert (kith.fof(IN_MPC, 0) == kith.fof(POINTS, 0)).all()
    assert (kith.fof(IN_MPC, b=0.5) == kith.fof(POINTS, b=0.5)).all()


def test_a_tree_keeps_the_unit():
    tree = kith.Tree(IN_MPC, box=1 * u.Mpc)
    assert tree.query(k=2)[0].unit == u.Mpc
    distances, _ = tree.query([[500, 500, 500]] * u.kpc, 2, max_distance=1 * u.Gpc)
    numpy.testing.assert_allclose(distances.value, kith.knn(POINTS, 2, [[0.5] * 3], box=1)[0])
    assert (tree.fof(100 * u.kpc) == kith.fof(POINTS, 0.1, box=1)).all()
    with pytest.raises(TypeError, match="queries carries no unit, but the points are in Mpc"):
        tree.query(POINTS[:1], 2)
    with pytest.raises(TypeError, match="linking_length carries no unit"):
        tree.fof(0.1)
    with pytest.raises(TypeError, match="queries carries a unit, Mpc.*points carry none"):
        kith.Tree(POINTS).query(IN_MPC[:1], 2)


def test_radii_carry_the_unit_too():
    plain = kith.radius_search(POINTS, 0.2, POINTS[:5], box=1)
    queries, box = (POINTS[:5] * 1000) * u.kpc, 1 * u.Mpc
    for r in (200 * u.kpc, [0.2] * 5 * u.Mpc, [200 * u.kpc] * 5):
        found = kith.radius_search(IN_MPC, r, queries, box=box)
        assert found.distances.unit == u.Mpc and found[0][0].unit == u.Mpc and type(found.indices) is numpy.ndarray
        assert (found.indices == plain.indices).all()
        assert (kith.Tree(IN_MPC, box=box).radius_count(r, queries) == plain.counts).all()
        assert (kith.radius_count(IN_MPC, r, queries, box=box) == plain.counts).all()
    assert kith.Tree(IN_MPC).radius_search(0.1 * u.Mpc, squared=True).distances.unit == u.Mpc**2
    kith.radius_count(IN_MPC, numpy.inf)


def test_columns_of_the_catalog_keep_units(tmp_path):
    labels, halos = kith.fof(IN_MPC, 100 * u.kpc, min_members=2, return_catalog=True, velocities=POINTS * (u.km / u.s),
                             masses=numpy.ones(200) * u.Msun)
    plain = kith.fof(POINTS, 0.1, min_members=2, return_catalog=True, velocities=POINTS)[1]
    units = {"center": u.Mpc, "rms_radius": u.Mpc, "max_radius": u.Mpc, "lower": u.Mpc, "upper": u.Mpc,
             "linking_length": u.Mpc, "velocity": u.km / u.s, "velocity_dispersion": u.km / u.s, "mass": u.Msun,
             "mass_by_type": u.Msun}
    assert halos.units == units
    for name in (*plain.columns, "linking_length"):
        column = getattr(halos, name)
        assert getattr(column, "unit", None) == units.get(name)
        assert (getattr(column, "value", column) == getattr(plain, name)).all()
    assert halos.to_astropy()["center"].unit == u.Mpc
    assert (halos.to_structured()["center"] == plain.center).all()
    kith.write_catalog(tmp_path / "groups.hdf5", halos)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "groups.hdf5") as file:
        assert any("center: Mpc" in str(value) for value in file["Header"].attrs.values())
        assert "Masses" not in file["Header"].attrs and "no masses" not in file["Group/GroupMass"].attrs["description"]
        for name, unit in (("GroupMass", u.Msun.to("g")), ("GroupPos", u.Mpc.to("cm")), ("GroupVel", 1e5)):
            attributes = file["Group"][name].attrs
            assert (attributes["a_scaling"], attributes["h_scaling"]) == (0, 0)
            assert attributes["to_cgs"] == pytest.approx(unit, rel=1e-12)
    read = kith.read_catalog(tmp_path / "groups.hdf5")
    assert {name: unit for name, unit in read.units.items() if unit != "none"} == {
        name: str(unit) for name, unit in units.items()}
    assert read.to_astropy()["velocity"].unit.to("km/s") == pytest.approx(1)
    plot = pytest.importorskip("kith.plot")
    assert plot.density(POINTS, read, pixels=64).texts[0].get_text().endswith(" Mpc")
    assert plot.mass_function(read, volume=1).get_xlabel() == r"$M$ [$M_\odot$]"
    for name in plain.columns:
        assert getattr(read, name) == pytest.approx(getattr(plain, name), rel=1e-12)


def test_units_in_catalog_files(tmp_path):
    """Nothing is claimed of plain numbers and of units that are none of length, mass or velocity."""
    h5py = pytest.importorskip("h5py")
    halos = kith.fof(POINTS * u.kpc, 0.1 * u.kpc, return_catalog=True)[1]
    kith.write_catalog(tmp_path / "groups.hdf5", halos)  # without groups, which columns describe as well
    assert kith.read_catalog(tmp_path / "groups.hdf5").units["center"] == "kpc"
    for points, length, expected in ((POINTS, 0.1, None), (POINTS * u.deg, 0.1 * u.deg, "deg")):
        halos = kith.fof(points, length, min_members=2, return_catalog=True)[1]
        kith.write_catalog(tmp_path / "groups.hdf5", halos)
        with h5py.File(tmp_path / "groups.hdf5") as file:
            assert "to_cgs" not in file["Group/GroupPos"].attrs
            assert file["Group/GroupPos"].attrs["frame"] in (b"as in the input", "as in the input")
        assert expected is None or kith.read_catalog(tmp_path / "groups.hdf5").units["center"] == expected
    numpy.save(tmp_path / "points.npy", POINTS)
    with pytest.raises(ValueError, match=r"carry units \(mass: solMass\).*ids=snapshot.ids"):
        snapshot = kith.read(tmp_path / "points.npy")
        halos = kith.fof(snapshot, 0.1, masses=numpy.ones(200) * u.Msun, return_catalog=True)[1]
        kith.write_catalog(tmp_path / "never.hdf5", halos, snapshot)


def test_columns_of_tables_have_units():
    table = pytest.importorskip("astropy.table")
    column = table.Column(POINTS, unit=u.Mpc)
    assert kith.knn(column, 2, box=1 * u.Mpc)[0].unit == u.Mpc
    assert type(kith.knn(table.Column(POINTS), 2)[0]) is numpy.ndarray


@pytest.mark.parametrize("wrong, says", [
    (lambda: kith.knn(POINTS, 2, box=1 * u.Mpc), "box carries a unit, Mpc.*points carry none"),
    (lambda: kith.knn(IN_MPC, 2, box=1), "box carries no unit, but the points are in Mpc.*to_value"),
    (lambda: kith.knn(IN_MPC, 2, box=kith.Box(1)), "box carries no unit"),
    (lambda: kith.knn(IN_MPC, 2, box=[1, 1, 1]), "box carries no unit"),
    (lambda: kith.knn(IN_MPC, 2, box=1 * u.s), "box is in s, which cannot be converted to the unit of the points, Mpc"),
    (lambda: kith.knn(IN_MPC, 2, POINTS), "queries carries no unit"),
    (lambda: kith.knn(POINTS, 2, IN_MPC), "queries carries a unit"),
    (lambda: kith.knn(POINTS, 2, max_distance=1 * u.Mpc), "max_distance carries a unit"),
    (lambda: kith.radius_search(IN_MPC, 0.1), "r carries no unit, but the points are in Mpc"),
    (lambda: kith.radius_count(IN_MPC, [0.1] * 200), "r carries no unit"),
    (lambda: kith.radius_search(POINTS, 0.1 * u.Mpc), "r carries a unit, Mpc.*points carry none"),
    (lambda: kith.Tree(POINTS).radius_count([0.1] * u.Mpc, POINTS[:1]), "r carries a unit"),
    (lambda: kith.fof(IN_MPC, 0.1), "linking_length carries no unit"),
    (lambda: kith.fof(POINTS, 0.1 * u.Mpc), "linking_length carries a unit"),
    (lambda: kith.fof(POINTS, b=0.1 * u.Mpc), "b carries a unit, Mpc"),
    (lambda: kith.knn(list(IN_MPC), 2), "points is a list of quantities"),
    (lambda: kith.Box(1 * u.Mpc), "box carries a unit, Mpc"),
    (lambda: kith.Box([1, 1, 1] * u.Mpc), "box carries a unit, Mpc"),
    (lambda: kith.Box(1, [0 * u.Mpc] * 3), "box carries a unit, Mpc"),
    (lambda: kith.knn(IN_MPC, 2, out=(IN_MPC[:, :2].copy(), numpy.empty((200, 2), dtype=numpy.int32))), "distances.*unit"),
    (lambda: kith.spatial.cKDTree(IN_MPC), "data carries a unit"),
    (lambda: kith.spatial.cKDTree(POINTS, boxsize=1 * u.Mpc), "boxsize carries a unit"),
    (lambda: kith.spatial.cKDTree(POINTS).query(IN_MPC), "x carries a unit"),
    (lambda: kith.mass_function.sheth_tormen([1e4] * u.Msun, kith.datasets.Cosmology()), "masses carries a unit"),
])
def test_what_would_lose_a_unit_is_refused(wrong, says):
    with pytest.raises(TypeError, match=says):
        wrong()


def test_quantities_without_dimension_are_plain_numbers():
    expected = kith.fof(POINTS, b=0.2, box=1)
    assert (kith.fof(POINTS * u.one, b=20 * u.percent, box=[100, 100, 100] * u.percent) == expected).all()
    assert (kith.fof(IN_MPC, b=0.2 * u.one, box=1 * u.Mpc) == expected).all()
    counts = kith.radius_count(POINTS, 0.1)
    assert (kith.radius_count(100 * POINTS * u.percent, numpy.full(200, 10.0) * u.percent) == counts).all()
    assert (kith.spatial.cKDTree(POINTS).query_ball_point(POINTS, 10 * u.percent, return_length=True) == counts).all()


@pytest.mark.parametrize("wrong, says", [
    (lambda masked: kith.knn(IN_MPC, 2, max_distance=masked(0.1 * u.Mpc, mask=True)), "max_distance has masked"),
    (lambda masked: kith.fof(POINTS, masked(0.1, mask=True)), "linking_length has masked"),
    (lambda masked: kith.fof(IN_MPC, 0.1 * u.Mpc, box=masked([1, 1, 1] * u.Mpc, mask=[True, False, False])), "box has masked"),
    (lambda masked: kith.Box(masked([1.0, 1.0, 1.0], mask=[True, False, False])), "box has masked"),
    (lambda masked: kith.knn(masked(POINTS, mask=POINTS > 0.9), 2), "points has masked values; leave those out"),
    (lambda masked: kith.radius_count(POINTS, numpy.ma.masked), "r has masked values; give a number"),
    (lambda masked: kith.spatial.cKDTree(POINTS, boxsize=numpy.ma.array([1, 1, 1.0], mask=[1, 0, 0])), "boxsize has masked"),
])
def test_masked_numbers_are_refused(wrong, says):
    from astropy.utils.masked import Masked
    with pytest.raises(ValueError, match=f"^{says}"):
        wrong(Masked)


def test_masks_of_nothing_are_taken():
    from astropy.utils.masked import Masked
    assert (kith.knn(Masked(IN_MPC, mask=False), 2).indices == kith.knn(POINTS, 2).indices).all()


def test_tables_are_refused_with_a_remedy():
    table = pytest.importorskip("astropy.table")
    columns = table.Table(POINTS, names=["x", "y", "z"])
    remedy = r"the columns x, y, z; {}give one array.*numpy.stack\(\[table\[name\] for name in \['x', 'y', 'z'\]\], axis=1\)"
    with pytest.raises(TypeError, match=remedy.format("")):
        kith.knn(columns, 2)
    masked = table.Table(numpy.ma.array(POINTS, mask=POINTS > 0.9), names=["x", "y", "z"])
    with pytest.raises(TypeError, match=remedy.format("leave out its masked rows and ")):
        kith.knn(masked, 2)
    with pytest.raises(TypeError, match="points holds numbers that carry units, each by itself.*Mpc"):
        kith.knn(numpy.array([[1 * u.Mpc, 2 * u.Mpc], [3 * u.Mpc, 4 * u.Mpc]], dtype=object), 2)


def test_pictures_are_of_plain_numbers():
    plot = pytest.importorskip("kith.plot")
    with pytest.raises(TypeError, match="points carries a unit, Mpc.*to_value"):
        plot.density(IN_MPC)
    halos = kith.fof(IN_MPC, 0.1 * u.Mpc, return_catalog=True)[1]
    with pytest.raises(TypeError, match="catalog has columns with units"):
        plot.mass_function(halos)


def test_jax_refuses_units():
    pytest.importorskip("jax")
    kith_jax = pytest.importorskip("kith.jax")
    with pytest.raises(TypeError, match="points carries a unit"):
        kith_jax.knn(IN_MPC, 2)


def test_scikit_learns_estimator_refuses_units():
    kith_sklearn = pytest.importorskip("kith.sklearn")
    with pytest.raises(TypeError, match="X carries a unit"):
        kith_sklearn.DBSCAN(0.1).fit(IN_MPC)


def test_psi_is_in_the_unit_of_the_velocities():
    velocities = numpy.random.default_rng(6).normal(0, 100, (200, 3))
    plain = kith.fof(POINTS, 0.2, velocities=velocities, psi=100)
    of_units = {"velocities": velocities * u.km / u.s, "psi": 1e5 * u.m / u.s}
    assert (kith.fof(POINTS, 0.2, **of_units) == plain).all()
    labels, halos = kith.fof(IN_MPC, 0.2 * u.Mpc, return_catalog=True, **of_units)
    assert (labels == plain).all() and halos.psi == 100 * u.km / u.s
    assert (kith.fof(POINTS, 0.2, velocities=velocities * u.km / u.s, psi=numpy.inf) == kith.fof(POINTS, 0.2)).all()
    with pytest.raises(TypeError, match="psi carries no unit, but the velocities are in km / s"):
        kith.fof(POINTS, 0.2, velocities=velocities * u.km / u.s, psi=100)
    with pytest.raises(TypeError, match="psi carries a unit, km / s.*velocities carry none"):
        kith.fof(POINTS, 0.2, velocities=velocities, psi=100 * u.km / u.s)
