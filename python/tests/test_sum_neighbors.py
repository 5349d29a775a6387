"""Sums over neighbors against formulas of smoothed particle hydrodynamics, by NumPy from the rows of knn and by SciPy."""

import subprocess
import warnings

import numpy
import pytest
import scipy.spatial
import scipy.special

import kith
from built import program

RANDOM = numpy.random.default_rng(8)
POINTS = RANDOM.random((500, 3))
MASSES = RANDOM.random(500)
FIELD = RANDOM.normal(size=500)


def cubic(u):
    return 8 / numpy.pi * numpy.where(u < 0.5, 1 - 6 * u**2 + 6 * u**3, 2 * (1 - u)**3)


def wendland_c2(u):
    return 21 / (2 * numpy.pi) * (1 - u)**4 * (1 + 4 * u)


def gaussian(u):
    x = 3 / numpy.sqrt(2)
    volume = 4 * numpy.pi / 9 * (numpy.sqrt(numpy.pi / 2) * float(scipy.special.erf(x)) / 3 - numpy.exp(-4.5))
    return numpy.exp(-4.5 * u**2) / volume


KERNELS = {"cubic": cubic, "wendland-c2": wendland_c2, "gaussian": gaussian, "top-hat": lambda u: 0 * u + 3 / (4 * numpy.pi)}


@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_are_those_of_the_rows(kernel):
    distances, rows = kith.knn(POINTS, 20, box=1)
    h = distances[:, -1:]
    weights = MASSES[rows] * KERNELS[kernel](distances / h) / h**3
    sums = kith.sum_neighbors(POINTS, 20, kernel=kernel, masses=MASSES, fields={"a": FIELD}, box=1,
                              statistics=["sum", "mean", "variance", "least", "greatest"])
    density = weights.sum(axis=1)
    mean = (weights * FIELD[rows]).sum(axis=1) / density
    numpy.testing.assert_allclose(sums.density, density, rtol=1e-12)
    numpy.testing.assert_allclose(sums.fields["a"].sum, (weights * FIELD[rows]).sum(axis=1), rtol=1e-9)
    numpy.testing.assert_allclose(sums.fields["a"].mean, mean, rtol=1e-9)
    variance = (weights * (FIELD[rows] - mean[:, None])**2).sum(axis=1) / density
    numpy.testing.assert_allclose(sums.fields["a"].variance, variance, rtol=1e-9)
    assert (sums.fields["a"].least == FIELD[rows].min(axis=1)).all()
    assert (sums.fields["a"].greatest == FIELD[rows].max(axis=1)).all()
    assert (sums.reach == h[:, 0]).all() and sums.counts is None and sums.fields["a"].gradient is None
    assert (sums.density == kith.density(POINTS, 20, kernel=kernel, masses=MASSES, box=1)).all()


def test_sums_within_a_radius_are_scipys():
    tree = scipy.spatial.cKDTree(POINTS)
    queries = RANDOM.random((40, 3))
    sums = kith.sum_neighbors(POINTS, queries=queries, r=0.2, masses=MASSES)
    for query, density, count in zip(queries, sums.density, sums.counts):
        near = tree.query_ball_point(query, 0.2)
        u = numpy.linalg.norm(POINTS[near] - query, axis=1) / 0.2
        assert count == len(near)
        numpy.testing.assert_allclose(density, (MASSES[near] * cubic(u)).sum() / 0.2**3, rtol=1e-12)


def test_gradients_are_differences():
    """Of a density within a fixed radius, which does not change with the position."""
    queries, step = RANDOM.random((30, 3)), 1e-6
    for kernel in ("cubic", "quintic", "wendland-c2", "wendland-c4"):
        def density(at):
            return kith.sum_neighbors(POINTS, queries=at, r=0.3, kernel=kernel, box=1).density
        found = kith.sum_neighbors(POINTS, queries=queries, r=0.3, kernel=kernel, box=1, density_gradient=True)
        for axis in range(3):
            moved = numpy.zeros(3)
            moved[axis] = step
            expected = (density(queries + moved) - density(queries - moved)) / (2 * step)
            numpy.testing.assert_allclose(found.density_gradient[:, axis], expected, rtol=1e-4, atol=0.1)


def test_a_linear_field_has_its_gradient():
    axis = (numpy.arange(12) + 0.5) / 12
    lattice = numpy.stack(numpy.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    inner = ((lattice > 0.35) & (lattice < 0.65)).all(axis=1)
    field = 3 * lattice[:, 0] - lattice[:, 2]
    sums = kith.sum_neighbors(lattice, r=0.3, fields={"a": field}, statistics=["gradient"])
    numpy.testing.assert_allclose(sums.fields["a"].gradient[inner], [[3, 0, -1]] * inner.sum(), atol=0.03)


def test_units_and_snapshots():
    units = pytest.importorskip("astropy.units")
    sums = kith.sum_neighbors(POINTS * units.kpc, 8, masses=MASSES * units.kg, fields={"T": FIELD * units.K},
                              statistics=["mean", "variance", "gradient"], density_gradient=True)
    assert sums.density.unit == units.kg / units.kpc**3 and sums.reach.unit == units.kpc
    assert sums.density_gradient.unit == units.kg / units.kpc**4
    assert sums.fields["T"].variance.unit == units.K**2 and sums.fields["T"].gradient.unit == units.K / units.kpc
    with pytest.raises(TypeError, match="r carries a unit"):
        kith.sum_neighbors(POINTS, r=1 * units.kpc)

    class Snapshot:
        positions, box, masses, uniform_mass = POINTS, 1.0, None, 2.0
    assert (kith.density(Snapshot) == kith.density(POINTS, box=1, masses=2)).all()
    assert (kith.density(Snapshot, masses=1) == kith.density(POINTS, box=1)).all()


def test_k_or_r():
    for wrong in ({}, {"k": 4, "r": 0.1}):
        with pytest.raises(TypeError, match="either k"):
            kith.sum_neighbors(POINTS, **wrong)
    with pytest.raises(ValueError, match="top hat"):
        kith.sum_neighbors(POINTS, 4, kernel="top-hat", density_gradient=True)
    with pytest.raises(ValueError, match="row 3"):
        kith.density(POINTS, masses=numpy.where(numpy.arange(500) == 3, -1, MASSES))
    with pytest.raises(ValueError, match=r"fields\['T'\]: row 2 is nan"):
        kith.sum_neighbors(POINTS, 4, fields={"a": FIELD, "T": numpy.where(numpy.arange(500) == 2, numpy.nan, FIELD)})
    assert kith.density(POINTS[:0]).shape == (0,)
    assert numpy.isinf(kith.density(POINTS[:1])).all()
    assert (kith.density(POINTS[:2], exclude_self=True, kernel="cubic") == 0).all()  # the kernel vanishes at its reach


def test_numbers_that_float64_cannot_multiply_are_warned_of():
    expected = kith.sum_neighbors(POINTS, 8, fields={"a": FIELD}, masses=MASSES).fields["a"].mean
    says = "the masses times the numbers of a field are below about 1e-290: too small for float64"
    with pytest.warns(UserWarning, match=says) as caught:
        wrong = kith.sum_neighbors(POINTS, 8, fields={"a": FIELD * 1e-305}, masses=MASSES * 1e-20).fields["a"].mean
    assert caught[0].filename == __file__ and not numpy.allclose(wrong / 1e-305, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for field, mass in ((1e-268, 1e-20), (1e-288, 1), (0, 1), (1, 0)):
            sums = kith.sum_neighbors(POINTS, 8, fields={"a": FIELD * field}, masses=MASSES * mass).fields["a"]
            assert 0 in (field, mass) or numpy.allclose(sums.mean / field, expected, rtol=1e-9)
        kith.sum_neighbors(POINTS, r=0.1, fields={"a": FIELD * 1e-305}, masses=MASSES)


def test_one_neighbor_is_warned_of():
    with pytest.warns(UserWarning, match="densities are infinite; take a larger k"):
        assert numpy.isinf(kith.density(POINTS, 1)).all()
    for options in ({"exclude_self": True}, {"queries": POINTS[:3]}):
        with pytest.warns(UserWarning, match="densities are 0, or infinite where a query is at a point; take a larger k"):
            kith.sum_neighbors(POINTS, 1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numpy.isfinite(kith.density(POINTS, 1, exclude_self=True, kernel="gaussian")).all()
        kith.sum_neighbors(POINTS, r=1e-9)


@pytest.mark.parametrize("name", ["universe.hdf5", "table.csv"])
def test_the_program_finds_the_same_bytes(name, tmp_path):
    path, found = tmp_path / name, tmp_path / "found.npz"
    if name == "table.csv":  # a mass for each
        numbers = numpy.column_stack((POINTS, RANDOM.normal(size=POINTS.shape), MASSES))
        numpy.savetxt(path, numbers, "%.17g", ",", header="x,y,z,vx,vy,vz,mass", comments="")
    else:  # one for all, and a box
        kith.datasets.cosmic_box(8, 20).write(path)
    snapshot = kith.read(path)
    assert (snapshot.masses is None) == (name == "universe.hdf5")
    masses = numpy.full(len(snapshot), snapshot.uniform_mass) if snapshot.masses is None else snapshot.masses
    fields = {f"velocity_{axis}": snapshot.velocities[:, k] for k, axis in enumerate("xyz")} | {"mass": masses}
    radius = float(kith.knn(snapshot, 12)[0][:, -1].mean())
    for options, neighbors in ((["-k", "7"], {"k": 7}), (["-r", repr(radius)], {"r": radius})):
        subprocess.run([program(), "density", path, *options, "-o", found, "--fields", "velocity,mass", "--statistics",
                        "sum,mean,variance,gradient", "--density-gradient", "--kernel", "wendland-c2"], check=True,
                       stdout=subprocess.DEVNULL)
        with numpy.load(found) as file:
            theirs = {member: file[member] for member in file.files}
        for points, given in ((snapshot, {}), (snapshot.positions, {"masses": masses, "box": snapshot.box})):
            ours = kith.sum_neighbors(points, **neighbors, **given, kernel="wendland-c2", fields=fields,
                                      statistics=["sum", "mean", "variance", "gradient"], density_gradient=True)
            arrays = {name: getattr(ours, name) for name in ("density", "density_gradient", "reach", "counts")}
            for field, sums in ours.fields.items():
                arrays |= {f"{field}_{name}": getattr(sums, name) for name in ("sum", "mean", "variance", "gradient")}
            for column, array in arrays.items():
                assert array is None or array.shape == theirs[column].shape and array.tobytes() == theirs[column].tobytes()


@pytest.mark.parametrize("exclude_self", [False, True])
def test_blocks_are_the_rows(exclude_self):
    points = numpy.concatenate([POINTS, POINTS[:40], [POINTS[0]] * 9]).astype(numpy.float32)
    for given, options in ((points, {"box": 1}), (kith.Tree(points, box=1), {})):
        expected = kith.knn(points, 5, box=1, exclude_self=exclude_self, max_distance=0.12)
        seen = numpy.zeros(len(points), dtype=int)
        for rows, distances, indices in kith.knn_blocks(given, 5, block_rows=100, exclude_self=exclude_self,
                                                        max_distance=0.12, **options):
            assert len(rows) <= 100
            assert (distances == expected[0][rows]).all() and (indices == expected[1][rows]).all()
            seen[rows] += 1
        assert (seen == 1).all()
    queries = RANDOM.random((30, 3), dtype=numpy.float32)
    found = list(kith.knn_blocks(points, 3, queries, block_rows=16))
    assert [len(block.query_indices) for block in found] == [16, 14]
    assert (numpy.concatenate([block.indices for block in found]) == kith.knn(points, 3, queries)[1]).all()
