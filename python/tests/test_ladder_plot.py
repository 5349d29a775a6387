"""Pictures of groups at several linking lengths: what is drawn, and of which points."""

import numpy
import pytest

import kith

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

import kith.plot

POINTS = kith.datasets.clustered(5000, seed=2)
LADDER_B = [0.05, 0.1, 0.1, 0.2, 0.4]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def ladder_of(points, **options):
    return kith.fof_ladder(points, b=LADDER_B, box=1, **options)


@pytest.mark.parametrize("groups, branches", [(3, 1000), (8, 12), (1, 1), (10**6, 40)])
def test_dendrogram(groups, branches):
    ladder = ladder_of(POINTS, min_members=5)
    from kith._ladder_plot import Forest
    forest = Forest(ladder.sizes, ladder.parents, groups, branches)
    assert forest.kept[-1].tolist() == list(range(min(groups, numpy.count_nonzero(ladder.sizes[-1] >= forest.smallest))))
    places, ends = [], 0
    for level, kept in enumerate(forest.kept):
        assert (ladder.sizes[level][kept] >= forest.smallest).all()
        columns = forest.columns[level]
        assert len(numpy.unique(columns)) == len(columns)  # no group stands on another
        if level == 0:
            ends += len(kept)
            continue
        parents, below = forest.parents[level - 1], forest.columns[level - 1]
        assert (kept[parents] == ladder.parents[level - 1][forest.kept[level - 1]]).all()
        ends += len(kept) - len(numpy.unique(parents))
        for place in numpy.unique(parents):  # the largest part stands below, the others to the right in order
            assert below[parents == place][0] == columns[place] and (numpy.diff(below[parents == place]) > 0).all()
    assert ends <= max(branches, groups)
    axes = kith.plot.dendrogram(ladder, groups=groups, branches=branches, unit="Mpc")
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "linking length [Mpc]"
    drawn = sum(len(dots.get_offsets()) for dots in axes.collections if hasattr(dots, "get_sizes") and len(dots.get_sizes()))
    assert drawn == sum(map(len, forest.kept))
    axes.figure.canvas.draw()


def test_levels():
    ladder = ladder_of(POINTS, min_members=5)
    axes = kith.plot.levels(POINTS, ladder)
    counts = [len(dots.get_offsets()) for dots in axes.collections]
    lowest = numpy.full(len(POINTS), len(LADDER_B))
    for level in reversed(range(len(LADDER_B))):
        lowest[ladder.labels(level) >= 0] = level
    assert counts == numpy.bincount(lowest, minlength=len(LADDER_B) + 1)[::-1].tolist()
    assert kith.plot.levels(POINTS, ladder_of(POINTS), title="all").get_title() == "all"
    mine = pyplot.subplots()[1]
    assert kith.plot.levels(POINTS, ladder, mine, plane=(2, 0)) is mine
    assert kith.plot.dendrogram(ladder, mine, title="a tree") is mine and mine.get_title() == "a tree"
    mine.figure.canvas.draw()
    with pytest.raises(ValueError, match="the ladder is of 5000 points"):
        kith.plot.levels(POINTS[:10], ladder)


def test_levels_in_a_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    ladder = ladder_of(POINTS, min_members=5)
    path = tmp_path / "levels.hdf5"
    with h5py.File(path, "w") as file:  # as kith hierarchy writes it
        file.attrs["Program"] = "kith"
        file["linking_lengths"], file["groups"] = ladder.linking_lengths, ladder.groups
        file["offsets"] = numpy.cumsum([0, *map(len, ladder.sizes)])
        file["sizes"] = numpy.concatenate(ladder.sizes)
        file["parents"] = numpy.concatenate([*ladder.parents[:len(LADDER_B) - 1], numpy.full(len(ladder.sizes[-1]), -1)])
    drawn = [[dots.get_offsets().tolist() for dots in kith.plot.dendrogram(each).collections if hasattr(dots, "get_sizes")]
             for each in (path, ladder)]
    assert drawn[0] == drawn[1]
    with pytest.raises(ValueError, match="no labels of the points; kith hierarchy --with-labels"):
        kith.plot.levels(POINTS, str(path))
    with h5py.File(path, "a") as file:
        for level in range(len(LADDER_B)):
            labels = numpy.asarray(ladder.labels(level))
            file[f"labels/{level}"] = numpy.where(labels < len(ladder.sizes[level]), labels, -1)
    drawn = [[dots.get_offsets().tolist() for dots in kith.plot.levels(POINTS, each, box=1).collections]
             for each in (path, ladder)]
    assert drawn[0] == drawn[1]
    with pytest.raises(ValueError, match="points has 10 rows"):
        kith.plot.levels(POINTS[:10], path)
    with pytest.raises(OSError, match="groups at several linking lengths.* a result of kith"):
        kith.read_catalog(path)


@pytest.mark.parametrize("other", [lambda points: points[::-1], lambda points: 1000 * points, lambda points: points / 1000,
                                   lambda points: points + numpy.random.default_rng(3).normal(0, 0.01, points.shape)])
def test_levels_of_other_points_are_refused(other):
    ladder = kith.fof_ladder(POINTS, b=LADDER_B, box=None, min_members=5)
    kith.plot.levels(POINTS.astype(numpy.float64), ladder)
    with pytest.raises(ValueError, match="the groups are of other points.*their members among these points are [0-9,]+; give"):
        kith.plot.levels(other(POINTS), ladder)


def test_levels_in_phase_space():
    velocities = numpy.random.default_rng(4).normal(size=POINTS.shape)
    ladder = kith.hierarchy(POINTS, b=0.4, psi=2, velocities=velocities).ladder(b=[0.3, 0.4])
    kith.plot.levels(POINTS, ladder)
    with pytest.raises(ValueError, match="the groups are of other points"):
        kith.plot.levels(POINTS[::-1], ladder)


def test_ladders_of_nothing():
    for points in (numpy.empty((0, 3)), numpy.zeros((1, 3))):
        ladder = kith.fof_ladder(points, [0, 1], min_members=2)
        kith.plot.dendrogram(ladder).figure.canvas.draw()
        kith.plot.levels(points, ladder).figure.canvas.draw()


def test_the_former_name_of_the_dendrogram():
    with pytest.warns(DeprecationWarning, match="dendrogram"):
        kith.plot.merger_tree(ladder_of(POINTS))
