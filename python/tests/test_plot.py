"""Pictures: what is drawn, where, and how much of it."""

import doctest
import json
import math
import subprocess
import sys
import warnings

import numpy
import pytest

import kith
from built import DIMENSIONS, program
from kith import _projection

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

import kith.plot

POINTS = kith.datasets.clustered(5000, seed=2)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def halos():
    return kith.fof(POINTS, b=0.2, box=1, return_catalog=True)[1]


def image_of(axes):
    image, = axes.images
    return numpy.asarray(image.get_array())


def rings_of(axes):
    from matplotlib.collections import EllipseCollection
    return [collection for collection in axes.collections if isinstance(collection, EllipseCollection)]


def test_examples():
    failed, tried = doctest.testmod(kith.plot, optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0


def test_without_matplotlib():
    program = "import sys; sys.modules['matplotlib'] = None; import kith; kith.knn([[0, 0]], 1); kith.plot"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ModuleNotFoundError" in ran.stderr and "pip install matplotlib" in ran.stderr


def test_colors():
    colors = kith.plot.color_map(numpy.linspace(0, 1, 100))[:, :3]
    lightness = colors @ [0.2126, 0.7152, 0.0722]
    assert (numpy.diff(lightness) > 0).all() and lightness[0] < 0.02 and lightness[-1] > 0.9
    assert (kith.plot.color_map(numpy.ma.masked) == kith.plot.color_map(0.0))


def test_density_of_a_box(halos):
    axes = kith.plot.density(POINTS, halos, box=1, pixels=256)
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)
    image = image_of(axes)
    assert image.shape == (256, 256) and image.mean() == pytest.approx(1) and (image >= 0).all()
    x, y = (numpy.average(numpy.arange(256) + 0.5, weights=image.sum(axis=axis)) / 256 for axis in (0, 1))
    assert x == pytest.approx(POINTS[:, 0].mean(), abs=0.01) and y == pytest.approx(POINTS[:, 1].mean(), abs=0.01)
    assert f"{len(halos)} groups of 20 or more, the 40 largest circled" in [text.get_text() for text in axes.figure.texts]
    shades, rings = rings_of(axes)
    assert 40 <= len(rings.get_offsets()) == len(shades.get_offsets()) < 60
    assert rings.get_widths().max() == pytest.approx(2 * halos.max_radius[:40].max(), rel=1e-6)
    assert numpy.abs(rings.get_offsets() - halos.center[0, :2]).sum(axis=1).min() < 1e-6
    axes.figure.canvas.draw()


def test_slices(halos):
    axes = kith.plot.density(POINTS, halos, box=1, plane=(0, 2), depth=(0, 0.25), pixels=128)
    shown = (POINTS[:, 1] % 1 < 0.25).sum()
    assert numpy.array_equal(image_of(axes), image_of(kith.plot.density(POINTS[POINTS[:, 1] % 1 < 0.25], box=1, plane=(0, 2),
                                                                        pixels=128)))
    texts = " ".join(text.get_text() for text in axes.figure.texts)
    assert f"{shown:,} of {len(POINTS):,} points, summed along y from 0 to 0.25" in texts
    assert f"{(halos.center[:, 1] < 0.25).sum()} of {len(halos)} groups of 20 or more" in texts
    wrapped = kith.plot.density(POINTS, box=1, plane=(0, 2), depth=(1, 1.25), pixels=128)
    assert numpy.array_equal(image_of(wrapped), image_of(axes))
    with pytest.raises(ValueError, match="the points have 2 dimensions"):
        kith.plot.density(POINTS[:, :2], depth=(0, 1))
    with pytest.raises(ValueError, match="depth is .2, 3., but no point has y in that range: the points are from .* along it"):
        kith.plot.density(POINTS, plane=(0, 2), depth=(2, 3))
    with pytest.raises(ValueError, match="give the range within the box"):
        kith.plot.density(POINTS, box=1, depth=(1e300, 1e301))
    with pytest.raises(TypeError, match="catalog is of type Group; it must be a kith.Catalog"):
        kith.plot.density(POINTS, halos[0], box=1)
    assert not image_of(kith.plot.density(POINTS[:0], depth=(2, 3), pixels=64)).any()  # there are no points at all


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_slices_hold_the_points_that_they_hold_in_the_program(dtype, tmp_path):
    random = numpy.random.default_rng(3)
    points = random.uniform(-3, 13, (400, 3))
    points[:150, 2] = random.integers(-30, 130, 150) / 10  # many on the edges of slices
    points = points.astype(dtype)
    points[-1, 2] = 0.049999992  # just below 0.35 with the period 0.3, just above with its float32
    for box, limits in ((None, (0.3, 0.7)), (None, (-5, 2.5)), (10, (0.3, 0.7)), (10, (-0.1, 0.1)), (10, (9.5, 10.25)),
                        (10, (-35.3, -34.1)), (0.3, (0.1, 0.2)), (0.3, (0.25, 0.35)), (10, (3, 30))):
        stored = points % dtype(box) if box == 0.3 else points
        numpy.save(tmp_path / "points.npy", stored)
        found = subprocess.run(
            [program(), "fof", "points.npy", "--linking-length", "0", "-o", "groups.hdf5", "--map", "map.png", "--json",
             "--slice", f"{limits[0]}:{limits[1]}", "--box", "none" if box is None else str(box)],
            cwd=tmp_path, capture_output=True, text=True, check=True)
        held = _projection.in_slice(stored, box, (0, 1), limits, stored.dtype).sum()
        assert json.loads(found.stdout)["in_slice"] == held > 0, (box, limits)


def test_planes_and_masses(halos):
    masses = numpy.where(POINTS[:, 2] < 0.5, 3.0, 1.0)
    axes = kith.plot.density(POINTS, halos, box=1, plane=(2, 0), masses=masses, pixels=128)
    image = image_of(axes)
    heavy = (POINTS[:, 2] < 0.5).sum()
    ratio = image[:, :64].mean() / image[:, 64:].mean()
    assert ratio == pytest.approx(3 * heavy / (len(POINTS) - heavy), rel=0.1)  # some is smoothed over the middle
    assert numpy.abs(rings_of(axes)[1].get_offsets() - halos.center[0, [2, 0]]).sum(axis=1).min() < 1e-6


@pytest.mark.parametrize("mass", [1e307, 1e-307, 0.75])
def test_masses_of_any_size(mass):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image = image_of(kith.plot.density(POINTS, masses=numpy.full(5000, mass), box=1, pixels=64))
    assert image == pytest.approx(image_of(kith.plot.density(POINTS, box=1, pixels=64)), rel=1e-12)


def test_rings_continue_beyond_the_edge():
    random = numpy.random.default_rng(1)
    points = (random.normal(0, 0.02, (100, 3)) % 1).astype(numpy.float32)
    _, groups = kith.fof(points, 0.1, box=1, return_catalog=True)
    points = numpy.concatenate((points, random.random((500, 3), dtype=numpy.float32)))
    axes = kith.plot.density(points, groups, box=1, pixels=64)
    center = groups.center[0, :2]
    offsets = rings_of(axes)[1].get_offsets()
    assert len(offsets) == 4 and numpy.allclose(numpy.abs(offsets - center) % 1, 0)


def test_shapes_of_views():
    slab = POINTS * numpy.array([1, 0.25, 1], dtype=numpy.float32)
    axes = kith.plot.density(slab, box=(1, 0.25, 1), pixels=256)
    assert image_of(axes).shape == (64, 256) and axes.get_ylim() == (0, 0.25)
    open_axes = kith.plot.density(kith.datasets.gaussian(3000), pixels=128)
    (left, right), (lower, upper) = open_axes.get_xlim(), open_axes.get_ylim()
    assert left < -2 and right > 2 and (right - left) / (upper - lower) == pytest.approx(
        image_of(open_axes).shape[1] / image_of(open_axes).shape[0])
    moved = kith.plot.density(POINTS - 0.5, box=kith.Box(1, -0.5), pixels=64)
    assert moved.get_xlim() == (-0.5, 0.5)
    corner = kith.plot.density(POINTS * 0.3, box=1, pixels=64)  # most of the box is empty
    assert corner.get_xlim()[1] < 0.5


@pytest.mark.parametrize("points", [
    numpy.empty((0, 3)), [[1, 2, 3]], [[0, 0], [0, 0]], [[5, 5], [6, 5]], numpy.full((100, 2), 1e30),
    numpy.full((100, 2), 1e-30), kith.datasets.lattice(27), kith.datasets.duplicates(500, 2), kith.datasets.gaussian(50, 8)])
def test_nasty_points(points):
    axes = kith.plot.density(points, pixels=64)
    image = image_of(axes)
    assert numpy.isfinite(image).all() and (len(points) == 0 or image.mean() == pytest.approx(1))
    axes.figure.canvas.draw()


def test_no_groups():
    points = kith.datasets.uniform(200, 2)
    _, none = kith.fof(points, 1e-6, box=1, return_catalog=True)
    axes = kith.plot.density(points, none, pixels=64)
    assert not rings_of(axes) and "0 groups of 20 or more" in [text.get_text() for text in axes.figure.texts]
    for cumulative in (False, True):
        axes = kith.plot.mass_function(none, cumulative=cumulative)
        assert [text.get_text() for text in axes.texts] == ["no groups"]
        axes.figure.canvas.draw()


def test_axes_that_are_given(halos):
    figure, places = pyplot.subplots(1, 3)
    assert kith.plot.density(POINTS, halos, places[0], title="points", pixels=64) is places[0]
    assert kith.plot.neighbor_density(POINTS, 4, places[1], box=1, pixels=64) is places[1]
    assert kith.plot.mass_function(halos, places[2]) is places[2]
    assert places[0].get_title() == "points" and len(pyplot.get_fignums()) == 1
    figure.canvas.draw()


def test_snapshots_stand_for_their_arrays(tmp_path):
    universe = kith.datasets.cosmic_box(8, 16, steps=5)
    assert kith.plot.density(universe, pixels=64).get_xlim() == (0, 16)
    numpy.save(tmp_path / "points.npy", POINTS)
    axes = kith.plot.density(kith.read(tmp_path / "points.npy"), pixels=64, unit="kpc")
    assert axes.figure.texts[0].get_text() == "points.npy" and axes.texts[0].get_text().endswith(" kpc")


@pytest.mark.parametrize("dimension", [dimension for dimension in (2, 3, 5, 6) if dimension in DIMENSIONS])
def test_neighbor_density(dimension):
    points = kith.datasets.uniform(20_000, dimension)
    image = image_of(kith.plot.neighbor_density(points, 32, box=1, pixels=64))
    assert image.shape == (64, 64) and image.mean() == pytest.approx(1, abs=0.1)
    assert image.std() == pytest.approx(1 / math.sqrt(30), rel=0.35)


def test_neighbor_density_where_it_is_asked_for():
    random = numpy.random.default_rng(1)
    clump = random.normal(0.25, 0.02, (500, 3)) + [0, 0.25, 0.5]  # around 0.25, 0.5, 0.75
    points = numpy.concatenate((clump, random.random((2000, 3))))
    through, beside = (image_of(kith.plot.neighbor_density(points, 8, box=1, at=[z], pixels=64)) for z in (0.75, 0.25))
    row, column = numpy.unravel_index(through.argmax(), through.shape)
    assert abs(column / 64 - 0.25) < 0.05 and abs(row / 64 - 0.5) < 0.05 and through.max() > 20 * beside.max()
    turned = image_of(kith.plot.neighbor_density(points, 8, box=1, plane=(2, 1), at=[0.25], pixels=64))
    row, column = numpy.unravel_index(turned.argmax(), turned.shape)
    assert abs(column / 64 - 0.75) < 0.05 and abs(row / 64 - 0.5) < 0.05


def test_neighbor_density_of_nasty_points():
    for points, box in ((kith.datasets.duplicates(500, 2), 1), ([[0, 0], [1, 0], [2, 0]], None), ([[1, 1], [1, 1]], None),
                        (kith.datasets.lattice(64), 4)):
        axes = kith.plot.neighbor_density(points, 2, box=box, pixels=64)
        assert numpy.isfinite(image_of(axes)).all() and (image_of(axes) > 0).all()
        axes.figure.canvas.draw()


@pytest.mark.parametrize("k", [0, 1, 11])
def test_neighbors_that_are_not_there(k):
    with pytest.raises(ValueError, match="pixels is 0; it must be 64 or more"):
        kith.plot.neighbor_density(kith.datasets.uniform(10), 2, pixels=0)
    with pytest.raises(ValueError, match="from 2 to the number of points, 10"):
        kith.plot.neighbor_density(kith.datasets.uniform(10), k)


@pytest.mark.parametrize("wrong, word", [
    ({"points": numpy.ma.masked_greater(POINTS, 0.5)}, "masked"), ({"plane": (0, 0)}, "plane"), ({"plane": (0, 3)}, "plane"), ({"masses": [1, 2]}, "masses has 2 rows"),
    ({"points": [1, 2, 3]}, "shape"), ({"points": [[0, math.nan]]}, "finite|NaN|nan"), ({"box": 0.1}, "box|period"),
    ({"points": [[0, 0, 0], [0, 1, math.nan]]}, "point 1 has nan as coordinate 2"),
    ({"points": [[0, 0, 0], [0, 1, math.inf]], "depth": (0, 1)}, "point 1 has inf as coordinate 2"),
    ({"masses": numpy.where(numpy.arange(5000) == 7, -2, 1)}, "masses: row 7 is -2; masses must be finite and not negative"),
    ({"masses": numpy.full(5000, math.nan)}, "masses: row 0 is nan"),
    ({"pixels": 63}, "pixels is 63; it must be 64 or more"), ({"circles": -1}, "circles is -1; it must be 0 or more")])
def test_what_is_wrong_is_said(wrong, word):
    with pytest.raises(ValueError, match=word):
        kith.plot.density(**{"points": POINTS, **wrong})
    with pytest.raises(ValueError, match="groups are in 2 dimensions"):
        kith.plot.density(POINTS, Groups([1], (1.0, 1.0)))
    with pytest.raises(ValueError, match="at has 2"):
        kith.plot.neighbor_density(POINTS, at=[0, 0])


def test_groups_of_another_box_are_refused(halos):
    for points, box, says in ((POINTS, 2, "along x is 1, that of the points has the period 2"),
                              (POINTS, (1, 3, 1), "along y is 1, that of the points has the period 3"),
                              (POINTS, (1, 1, 0), "along z is 1, that of the points is open")):
        with pytest.raises(ValueError, match="the groups are of another box: its period " + says):
            kith.plot.density(points, halos, box=box, pixels=64)
    for box in (None, 1, 1 + 1e-9, kith.Box(1, -0.5)):
        assert rings_of(kith.plot.density(POINTS, halos, box=box, pixels=64))
    in_open_space = kith.fof(POINTS, 0.01, return_catalog=True)[1]
    assert rings_of(kith.plot.density(POINTS, in_open_space, box=1, pixels=64))
    assert not rings_of(kith.plot.density(POINTS, halos, circles=0, pixels=64))


class Groups:
    """As much of a catalog as a mass function needs."""

    def __init__(self, mass, period=(10.0, 10.0, 10.0)):
        self.mass = numpy.asarray(mass, dtype=float)
        self.box = kith.Box(period)
        self.center = numpy.zeros((len(self.mass), len(period)))


def test_differential_mass_function():
    axes = kith.plot.mass_function(Groups([1, 2, 3, 20, 30, 200]), bins=[1, 10, 100, 1000])
    points, = [container for container in axes.containers if len(container.lines) == 3]
    x, y = points.lines[0].get_data()
    assert x == pytest.approx([10**0.5, 10**1.5, 10**2.5])
    assert y * 1000 * math.log(10) == pytest.approx([3, 2, 1])
    bars = [segment[:, 1] for segment in points.lines[2][0].get_segments()]
    # The limits for one event, exact to a percent: 0.173 and 3.30.
    assert bars[2] * 1000 * math.log(10) == pytest.approx([0.173, 3.30], rel=0.02)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_every_group_counts_once(halos):
    axes = kith.plot.mass_function(halos)
    points, = [container for container in axes.containers if len(container.lines) == 3]
    x, y = points.lines[0].get_data()
    edges = halos.mass.min() * 10 ** (numpy.arange(30) / 5)
    widths = numpy.full(len(y), math.log(10) / 5)
    assert (y * widths).sum() == pytest.approx(len(halos)) and edges[0] < x[0] < edges[1]


def test_cumulative_mass_function():
    axes = kith.plot.mass_function(Groups([3, 1, 2, 2]), cumulative=True, volume=2)
    x, y = axes.lines[0].get_data()
    assert x.tolist() == [1, 2, 3] and (2 * y).tolist() == [4, 3, 1]


@pytest.mark.parametrize("cumulative", [False, True])
def test_groups_of_one_mass(cumulative):
    for masses in ([7], [7, 7, 7]):
        axes = kith.plot.mass_function(Groups(masses), cumulative=cumulative, volume=1, bins=None)
        x, y = axes.lines[0].get_data()
        assert y[0] * (1 if cumulative else math.log(10) / 5) == pytest.approx(len(masses))
        assert axes.get_xlim()[0] < 7 < axes.get_xlim()[1]
        axes.figure.canvas.draw()


def test_bins():
    axes = kith.plot.mass_function(Groups([1, 2]), bins=[10, 100])
    assert [text.get_text() for text in axes.texts] == ["no groups"]
    for bins in ([1], [0, 1], [2, 1], [[1, 2]]):
        with pytest.raises(ValueError, match="bins"):
            kith.plot.mass_function(Groups([1, 2]), bins=bins)


@pytest.mark.parametrize("cumulative", [False, True])
def test_theory_beside_groups(cumulative):
    cosmology = kith.datasets.Cosmology()
    with pytest.warns(UserWarning, match="does not state its units.*mass_unit=1e\\+10 and length_unit=1 is taken"):
        axes = kith.plot.mass_function(Groups([100, 1000, 5000]), cumulative=cumulative, cosmology=cosmology, redshift=0.5)
    for line, expected in zip(axes.lines, (kith.mass_function.press_schechter, kith.mass_function.sheth_tormen)):
        x, y = line.get_data()
        assert x[0] == pytest.approx(100) and x[-1] >= 5000 * (1 - 1e-9)
        numbers = expected(x, cosmology, 0.5)
        if cumulative:
            numbers = kith.mass_function.more_massive(expected, x, cosmology, 0.5)
        assert y == pytest.approx(numbers, rel=1e-6)
    assert "10^{10}" in axes.get_xlabel() and "Mpc" in axes.get_ylabel()
    in_kpc = kith.plot.mass_function(Groups([1e12, 1e13], (1e4, 1e4, 1e4)), cumulative=cumulative, cosmology=cosmology,
                                     mass_unit=1, length_unit=1e-3)
    x, y = in_kpc.lines[0].get_data()
    numbers = kith.mass_function.press_schechter(x / 1e10, cosmology) * 1e-9
    assert cumulative or y == pytest.approx(numbers, rel=1e-6)
    assert "10^" not in in_kpc.get_xlabel() and "0.001" in in_kpc.get_ylabel()
    in_kpc.figure.canvas.draw()


def test_volumes():
    with pytest.raises(ValueError, match="volume="):
        kith.plot.mass_function(Groups([1, 2], (10.0, 0.0, 10.0)))
    with pytest.raises(ValueError, match="volume is -1"):
        kith.plot.mass_function(Groups([1, 2]), volume=-1)
    with pytest.raises(ValueError, match="3 dimensions, not 2"):
        kith.plot.mass_function(Groups([1, 2], (10.0, 10.0)), cosmology=kith.datasets.Cosmology(), mass_unit=1, length_unit=1)
    kith.plot.mass_function(Groups([1, 2], (10.0, 10.0)))
    kith.plot.mass_function(Groups([1, 2], (0.0, 0.0)), volume=5)


class OfAFile(Groups):
    """Groups whose file states units, as SWIFT's and Gadget's do."""

    def __init__(self, masses, side, length, mass, h=0.7, a=1.0):
        super().__init__(masses, (side,) * 3)
        self._frame = {"scale_factor": a, "length": length, "mass": mass, "velocity": (0.5, 0.0, None)}
        self.parameters = {"HubbleParam": h}


MPC, MSUN = 3.085678e24, 1.989e33


def test_units_are_compared_before_boxes():
    class InKpc:
        positions, box, _length_name = POINTS * 1000, 1000, "kpc"

    groups = OfAFile([1], 1, (1.0, 0.0, MPC), (0.0, 0.0, MSUN))
    with pytest.raises(ValueError, match="the points are in kpc, the groups of the catalog in Mpc"):
        kith.plot.density(InKpc(), groups)


@pytest.mark.parametrize("side, masses, length, mass, in_mass, in_volume", [
    (70.0, 1.0, (1.0, -1.0, MPC), (0.0, -1.0, 1e10 * MSUN), r"$10^{10}\,M_\odot/h$", r"$(h/\mathrm{Mpc})^3$"),
    (70e3, 1.0, (1.0, -1.0, MPC / 1e3), (0.0, -1.0, 1e10 * MSUN), r"$10^{10}\,M_\odot/h$", r"$(h/\mathrm{kpc})^3$"),
    (100.0, 1 / 0.7, (1.0, 0.0, MPC), (0.0, 0.0, 1e10 * MSUN), r"$10^{10}\,M_\odot$", r"$\mathrm{Mpc}^{-3}$"),
    (100.0, 1e10 / 0.7, (1.0, 0.0, MPC), (0.0, 0.0, MSUN), r"$M_\odot$", r"$\mathrm{Mpc}^{-3}$"),
])
def test_mass_functions_are_in_the_units_of_the_file(side, masses, length, mass, in_mass, in_volume):
    """One universe in four units: theory goes with the points."""
    cosmology = kith.datasets.Cosmology(hubble=0.7)
    found = OfAFile(numpy.array([1e3, 5e3, 1e4]) * masses, side, length, mass, a=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = kith.plot.mass_function(found, cosmology=cosmology, redshift=1)
    assert axes.get_xlabel() == f"$M$ [{in_mass}]" and axes.get_ylabel().endswith(f"[{in_volume}]")
    x, y = axes.lines[0].get_data()
    numbers = kith.mass_function.press_schechter(x / masses, cosmology, 1) * 70.0**3
    assert y * side**3 == pytest.approx(numbers, rel=1e-3)
    axes.figure.canvas.draw()


@pytest.mark.parametrize("cumulative", [False, True])
def test_a_second_mass_function_is_in_the_units_of_the_first(cumulative):
    """One universe in two units: the same marks."""
    masses, gadget = numpy.geomspace(1e3, 1e4, 20), ((1.0, -1.0, MPC / 1e3), (0.0, -1.0, 1e10 * MSUN))
    bins = None if cumulative else numpy.array([900, 2e4])
    axes = kith.plot.mass_function(OfAFile(masses, 70e3, *gadget), cumulative=cumulative, bins=bins)
    labels = axes.get_xlabel(), axes.get_ylabel()
    swift = OfAFile(masses * 1e10 / 0.7, 100.0, (1.0, 0.0, MPC), (0.0, 0.0, MSUN))
    kith.plot.mass_function(swift, axes, cumulative=cumulative, bins=None if cumulative else bins * 1e10 / 0.7)
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    first, second = (line.get_data() for line in (axes.lines if cumulative else [bars[0] for bars in axes.containers]))
    assert first[0] == pytest.approx(second[0], rel=1e-3) and first[1] == pytest.approx(second[1], rel=1e-3)
    with pytest.raises(ValueError, match="catalog is in code units, but the axes show .* in 10.*Msun/h; give mass_unit"):
        kith.plot.mass_function(Groups([1, 2]), axes, cumulative=cumulative)
    with pytest.raises(ValueError, match="the axes show"):
        kith.plot.mass_function(swift, axes, cumulative=not cumulative)
    axes.clear()
    assert kith.plot.mass_function(Groups([1, 2]), axes).get_xlabel() == "$M$ [code units]"


def test_units_that_are_not_known_are_code_units():
    axes = kith.plot.mass_function(Groups([1, 2]))
    assert axes.get_xlabel() == "$M$ [code units]" and axes.get_ylabel().endswith("[code units]")
    axes = kith.plot.density(POINTS, box=1, pixels=64)
    assert axes.texts[0].get_text().endswith(" code units") and (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    assert "5,000 points, summed along z" in [text.get_text() for text in axes.figure.texts]
    assert kith.plot.density(POINTS, box=1, pixels=64, unit="").texts[0].get_text().replace(".", "").isdigit()


def test_pictures_take_units_from_snapshots():
    universe = kith.datasets.cosmic_box(8, 16)
    halos = kith.fof(universe, b=0.4, psi=500, min_members=5, return_catalog=True)[1]
    axes = kith.plot.density(universe, halos, plane=(0, 2), pixels=64)
    assert axes.texts[0].get_text().endswith(" Mpc/h") and (axes.get_xlabel(), axes.get_ylabel()) == ("x", "z")
    assert any("summed along y, linking length" in text.get_text() and "psi = 500" in text.get_text() for text in axes.figure.texts)
    axes = kith.plot.neighbor_density(universe, 4, at=[3.0], pixels=64)
    assert any(text.get_text().endswith("at z = 3 Mpc/h") for text in axes.figure.texts)
    for ladder in (kith.fof_ladder(universe, b=[0.2, 0.4]), kith.Tree(universe).fof_ladder(b=[0.2, 0.4]),
                   kith.hierarchy(universe).ladder(b=[0.2, 0.4])):
        assert kith.plot.dendrogram(ladder).get_ylabel() == "linking length [Mpc/h]"
    assert kith.plot.levels(universe, ladder).get_legend().get_title().get_text() == "linking length [Mpc/h]"


def test_groups_in_other_units_than_the_points_are_refused():
    universe = kith.datasets.cosmic_box(8, 16)
    halos = kith.fof(universe, b=0.4, min_members=5, return_catalog=True)[1]
    halos._frame = {**halos._frame, "length": (1.0, -1.0, MPC / 1e3)}
    with pytest.raises(ValueError, match="the points are in Mpc/h, the groups of the catalog in kpc/h"):
        kith.plot.density(universe, halos, pixels=64)
