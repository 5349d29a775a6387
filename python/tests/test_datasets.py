"""Points to try things on: what is said of them is so, and they never change."""

import hashlib
import pathlib
import subprocess
import sys

import numpy
import pytest

import kith
from built import DIMENSIONS

datasets = kith.datasets
SETS = datasets.POINT_SETS


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("dimension", [1, 2, 3, 6, 8])
def test_shapes_types_and_boxes(name, dtype, dimension):
    for count in (0, 1, 2, 19, 1000):
        points = SETS[name](count, dimension, dtype=dtype)
        assert points.shape == (count, dimension) and points.dtype == dtype and points.flags.c_contiguous
        assert numpy.isfinite(points).all()
        box = datasets.box_of(name, count, dimension)
        if box is not None:
            assert (points >= 0).all() and (points < box).all()
        if dimension in DIMENSIONS:
            assert len(kith.fof(points, 0.1, box=box)) == count


@pytest.mark.parametrize("name", SETS)
def test_seeds(name):
    make = SETS[name]
    assert (make(500, seed=3) == make(500, seed=3)).all()
    assert (make(500, seed=3) != make(500, seed=4)).any()
    assert (make(500) == make(500, 3, seed=0, dtype=numpy.float32)).all()


@pytest.mark.parametrize("name, digest", [("uniform", "03deedbf"), ("lattice", "4c036aa7"), ("duplicates", "07fb997a")])
def test_the_points_are_those_of_ever(name, digest):
    """Recorded results rest on them. These three use no function whose last bit depends on the processor."""
    points = SETS[name](1000, 3, seed=1, dtype=numpy.float64)
    assert hashlib.sha256(points.tobytes()).hexdigest()[:8] == digest


def test_what_each_set_is():
    lattice = datasets.lattice(1000)
    assert len(numpy.unique(lattice, axis=0)) == 1000 and lattice.max() == 9
    assert len(numpy.unique(datasets.duplicates(1000), axis=0)) < 150
    normal = datasets.gaussian(20_000, 2, dtype=numpy.float64)
    assert abs(normal.mean()) < 0.02 and abs(normal.std() - 1) < 0.02
    ground = datasets.hills(20_000)
    assert abs(ground[:, :2].mean()) < 15 and abs(ground[:, :2].std() - 1000 / 3**0.5) < 10
    labels, halos = kith.fof(datasets.clustered(20_000), b=0.2, box=1, min_members=20, return_catalog=True)
    assert 0.5 < (labels >= 0).mean() < 0.8 and halos.count[0] > 300


def test_halos_in_motion():
    positions, velocities = datasets.virialized(20_000)
    assert positions.shape == velocities.shape == (20_000, 3) and positions.dtype == velocities.dtype == numpy.float32
    again = datasets.virialized(20_000)
    assert (positions == again[0]).all() and (velocities == again[1]).all()
    assert (datasets.virialized(20_000, seed=1)[1] != velocities).any()
    labels, halos = kith.fof(positions, b=0.2, box=1, return_catalog=True, velocities=velocities, psi=numpy.inf)
    assert halos.velocity_dispersion[0] > 2 * numpy.median(halos.velocity_dispersion)
    radius = (halos.count[0] / (200 * 20_000) * 3 / (4 * numpy.pi)) ** (1 / 3)
    assert 0.7 < halos.velocity_dispersion[0] / (39000 * radius) < 1.4
    assert [len(each) for each in datasets.virialized(0)] == [0, 0]


def test_shuffled():
    """Neighbors in memory are not neighbors in space."""
    for name, make in SETS.items():
        points = make(2000, 2, dtype=numpy.float64)
        steps = numpy.linalg.norm(numpy.diff(points, axis=0), axis=1)
        assert numpy.median(steps) > 0.2 * points.std(), name


@pytest.mark.parametrize("arguments, word", [((-1,), "count"), ((10, 0), "dimension")])
def test_what_is_wrong_is_said(arguments, word):
    for make in SETS.values():
        with pytest.raises(ValueError, match=word):
            make(*arguments)
        with pytest.raises(TypeError):
            make(10.5)
        with pytest.raises(ValueError, match="float16"):
            make(10, dtype=numpy.float16)
    with pytest.raises(ValueError, match="no set 'cosmic'"):
        datasets.box_of("cosmic", 10)


@pytest.fixture(scope="module")
def universe():
    return datasets.cosmic_box(16, 40, steps=15)


def test_a_universe(universe):
    assert universe.positions.shape == universe.velocities.shape == (4096, 3)
    assert universe.positions.dtype == universe.velocities.dtype == numpy.float32
    assert (universe.positions >= 0).all() and (universe.positions < 40).all()
    mean_density = universe.uniform_mass * len(universe) / universe.box**3
    assert mean_density == pytest.approx(0.3111 * 27.7536627)
    assert abs(universe.velocities.mean(axis=0)).max() < 0.1  # momentum is conserved
    assert 100 < universe.velocities.std() < 1000
    again = datasets.cosmic_box(16, 40, steps=15, dtype=numpy.float64)
    assert (again.positions.astype(numpy.float32) == universe.positions).all()
    assert (datasets.cosmic_box(16, 40, steps=15, seed=1).positions != universe.positions).any()


def test_a_universe_is_taken_as_it_is(universe):
    labels, halos = kith.fof(universe, b=0.2, min_members=8, return_catalog=True)
    assert (labels == kith.fof(universe.positions, b=0.2, box=40, min_members=8)).all()
    assert len(halos) > 5 and halos.mass == pytest.approx(halos.count * universe.uniform_mass)
    assert halos.velocity.shape == (len(halos), 3)
    assert (kith.knn(universe, 3)[1] == kith.knn(universe.positions, 3, box=40)[1]).all()


def test_a_universe_in_a_file(universe, tmp_path):
    pytest.importorskip("h5py")
    path = tmp_path / "universe.hdf5"
    universe.write(path)
    snapshot = kith.read(path)
    assert "Gadget-4" in snapshot.header.format and snapshot.box.period == (40, 40, 40)
    assert (snapshot.positions == universe.positions).all() and (snapshot.velocities == universe.velocities).all()
    assert snapshot.uniform_mass == universe.uniform_mass
    assert (kith.fof(snapshot, b=0.2) == kith.fof(universe, b=0.2)).all()


def test_progress_of_a_universe():
    heard = []
    datasets.cosmic_box(4, steps=5, progress=lambda redshift, fraction: heard.append((redshift, fraction)))
    assert [fraction for _, fraction in heard] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert heard[0][0] > heard[1][0] and heard[-1][0] == pytest.approx(0)


@pytest.mark.parametrize("wrong", [{"n": 1}, {"box": 0}, {"box": float("nan")}, {"steps": 0}, {"start_redshift": 0},
                                   {"backend": "torch"}, {"dtype": "int32"}])
def test_impossible_universes(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        datasets.cosmic_box(**wrong)


def test_growth_and_spectrum():
    cosmology = datasets.Cosmology()
    assert cosmology.growth(1.0) == pytest.approx(1)
    early = numpy.array([0.001, 0.002])
    assert cosmology.growth(early[1]) / cosmology.growth(early[0]) == pytest.approx(2, rel=1e-3)
    step = 1e-5
    slope = (cosmology.growth(0.5 + step) - cosmology.growth(0.5 - step)) / (2 * step)
    assert cosmology.growth_rate(0.5) == pytest.approx(slope, rel=1e-3)
    assert datasets.Cosmology(sigma8=0.9).rms_in_sphere(8.0) == pytest.approx(0.9)
    flat = datasets.Cosmology(omega_matter=1.0)
    assert flat.growth(0.25) == pytest.approx(0.25, rel=1e-4)
    k = numpy.array([1e-4, 2e-4])  # longer than the horizon was: the initial spectrum
    assert numpy.diff(numpy.log(cosmology.power(k)))[0] / numpy.log(2) == pytest.approx(0.9665, abs=0.01)


def test_the_folder_stands_alone():
    """The benchmarks load it where the rest of kith is not built."""
    folder = pathlib.Path(datasets.__file__).resolve().parent
    program = f"""
import importlib.util, sys
found = importlib.util.spec_from_file_location("alone", {str(folder / "__init__.py")!r},
                                               submodule_search_locations=[{str(folder)!r}])
alone = sys.modules["alone"] = importlib.util.module_from_spec(found)
found.loader.exec_module(alone)
assert alone.uniform(10).shape == (10, 3) and not any(name.partition(".")[0] == "kith" for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("wrong", [{"omega_matter": -1}, {"sigma8": numpy.nan}, {"hubble": 0}, {"omega_baryon": 0.5}])
def test_universes_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is "):
        datasets.Cosmology(**wrong)
    with pytest.raises(ValueError, match="redshift is -2"):
        kith.mass_function.press_schechter([1.0], datasets.Cosmology(), redshift=-2)
