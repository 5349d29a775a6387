"""The hierarchy of groups and groups at several linking lengths: SciPy's view of them, shapes, types and errors. The
answers are the C++ tests' affair."""

import copy
import pickle

import numpy
import pytest

import kith
from built import DIMENSIONS

hierarchies = pytest.importorskip("scipy.cluster.hierarchy")

random = numpy.random.default_rng(13)
POINTS = random.random((300, 3))
LATTICE = random.permutation(numpy.stack(numpy.meshgrid(*3 * [numpy.arange(5.0)]), axis=-1).reshape(-1, 3))
CASES = [POINTS, POINTS.astype(numpy.float32), LATTICE, numpy.repeat(POINTS[:40], 3, axis=0), POINTS[:2], POINTS[:1]]


def numbered(clusters):
    """Labels by decreasing size, ties by first member."""
    _, first, inverse, counts = numpy.unique(clusters, return_index=True, return_inverse=True, return_counts=True)
    rank = numpy.empty(len(first), dtype=int)
    rank[numpy.lexsort((first, -counts))] = numpy.arange(len(first))
    return rank[inverse]


@pytest.mark.parametrize("points", CASES, ids=["uniform", "float32", "lattice", "repeated", "two", "one"])
@pytest.mark.parametrize("box", [None, 1.0])
def test_scipy_cuts_as_fof_groups(points, box):
    if points is LATTICE and box is not None:
        box = 5.0
    found = kith.hierarchy(points, box=box)
    linkage = found.linkage
    assert linkage.shape == (len(points) - 1, 4) and linkage.dtype == numpy.float64 and len(found) == len(points)
    if len(points) == 1:
        assert found.cut(1).tolist() == [0]
        return
    assert hierarchies.is_valid_linkage(linkage) and linkage[-1, 3] == len(points)
    for height in linkage[[0, len(linkage) // 2, -1], 2]:
        height = points.dtype.type(height)
        for length in (numpy.nextafter(height, points.dtype.type(0)), height, numpy.nextafter(height, height + 1)):
            if 0 < length < 1e-100:  # fof() refuses it, beside coordinates of order one
                continue
            expected = kith.fof(points, length, box=box)
            assert found.cut(length).tolist() == expected.tolist()
            assert numbered(hierarchies.fcluster(linkage, float(length), "distance")).tolist() == expected.tolist()


def test_scipy_has_the_same_matrix():
    ours = kith.hierarchy(POINTS).linkage
    theirs = hierarchies.linkage(POINTS, "single")
    assert (ours[:, [0, 1, 3]] == theirs[:, [0, 1, 3]]).all()
    numpy.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-14)


@pytest.mark.parametrize("min_members", [1, 3])
def test_ladder(min_members):
    bs = [0.1, 0.5, 0.5, 0.9]
    ladder = kith.fof_ladder(POINTS, b=bs, box=1, min_members=min_members)
    assert len(ladder) == 4 and len(ladder.parents) == 3 and ladder.min_members == min_members
    for level, b in enumerate(bs):
        labels = kith.fof(POINTS, b=b, box=1, min_members=min_members)
        assert ladder.linking_lengths[level] == pytest.approx(b * 300 ** (-1 / 3), rel=1e-14)
        assert ladder.labels(level).tolist() == labels.tolist()
        assert ladder.groups[level] == len(set(kith.fof(POINTS, b=b, box=1)))
        assert ladder.sizes[level].tolist() == numpy.bincount(labels[labels >= 0]).tolist()
        assert labels[ladder.first_members[level]].tolist() == list(range(len(ladder.sizes[level])))
        if level > 0:
            before = ladder.labels(level - 1)
            assert (ladder.parents[level - 1][before[before >= 0]] == labels[before >= 0]).all()
    assert ladder.labels(-1).tolist() == labels.tolist()
    with pytest.raises(ValueError):
        ladder.sizes[-1][0] = 1
    hierarchy = kith.hierarchy(POINTS, box=1)
    for other in (hierarchy.ladder(b=bs, min_members=min_members),
                  kith.Tree(POINTS, box=1).fof_ladder(b=bs, min_members=min_members),
                  kith.fof_ladder(POINTS, ladder.linking_lengths, box=1, min_members=min_members)):
        for mine, others in zip(ladder.sizes + ladder.parents, other.sizes + other.parents):
            assert mine.tolist() == others.tolist()
        assert (ladder.linking_lengths == other.linking_lengths).all()


def test_hierarchy_of_a_tree():
    tree = kith.Tree(POINTS, box=1)
    found = tree.hierarchy(threads=1)
    assert (found.linkage == kith.hierarchy(POINTS, box=1).linkage).all()
    assert found.box == tree.box and found.mean_separation == pytest.approx(300 ** (-1 / 3), rel=1e-14)
    assert found.cut(b=0.7, min_members=2).tolist() == tree.fof(b=0.7, min_members=2).tolist()
    assert found.cut(found.linkage[-1, 2]).max() == 0


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_are_copied_and_pickled(dtype, count):
    points = POINTS[:count].astype(dtype)
    found = kith.hierarchy(points, box=1)
    ladder = kith.fof_ladder(points, [0.05, 0.1], box=1, min_members=2)
    for clone in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (clone.linkage == found.linkage).all() and clone.box == found.box and len(clone) == count
        assert clone.mean_separation == found.mean_separation
        assert clone.cut(0.1).tolist() == found.cut(0.1).tolist()
    for clone in (pickle.loads(pickle.dumps(ladder)), copy.deepcopy(ladder)):
        assert (clone.linking_lengths == ladder.linking_lengths).all() and clone.min_members == 2
        assert (clone.groups == ladder.groups).all() and clone.box == ladder.box
        for mine, other in zip(clone.sizes + clone.parents, ladder.sizes + ladder.parents):
            assert mine.tolist() == other.tolist()
        assert clone.labels(0).tolist() == ladder.labels(0).tolist()


@pytest.mark.skipif(6 not in DIMENSIONS, reason="needs points in 6 dimensions")
@pytest.mark.filterwarnings("ignore:the masses are unequal")
def test_in_phase_space():
    velocities = random.normal(size=POINTS.shape)
    masses = random.random(300)
    for space in ({"psi": 2.0}, {"psi_sigma": 0.8}, {"psi_sigma": 0.8, "masses": masses}):
        for length in ({"linking_length": 0.15}, {"b": 1.0}):
            expected = kith.fof(POINTS, box=1, velocities=velocities, **space, **length)
            found = kith.hierarchy(POINTS, box=1, velocities=velocities, **space, **length)
            assert found.cut(**length).tolist() == expected.tolist()
            assert pickle.loads(pickle.dumps(found)).cut(**length).tolist() == expected.tolist()
            tree = kith.mst(POINTS, box=1, velocities=velocities, **space, **length)
            assert (tree.heights == found.linkage[:, 2]).all()
            assert 1 < expected.max() < 299
    lengths = [0.075, 0.15, 0.3]  # psi is scaled as they are, here by powers of two
    found = kith.hierarchy(POINTS, linking_length=0.15, box=1, velocities=velocities, psi=2.0)
    ladder = found.ladder(lengths, min_members=2)
    for level, psi in enumerate([1.0, 2.0, 4.0]):
        expected = kith.fof(POINTS, lengths[level], box=1, velocities=velocities, psi=psi, min_members=2)
        assert ladder.labels(level).tolist() == expected.tolist()
    assert ladder.groups[0] > ladder.groups[1] > 1
    for wrong, says in (({"psi": 1.0, "b": 0.2}, "no velocities"),
                        ({"psi": -1.0, "b": 0.2, "velocities": velocities}, "psi.*-1")):
        with pytest.raises(ValueError, match=says):
            kith.hierarchy(POINTS, **wrong)
    for wrong, says in (({"velocities": velocities}, "velocities is for phase space"), ({"b": 1}, "b is for phase space"),
                        ({"psi": 1.0, "velocities": velocities}, "linking_length"),
                        ({"psi": 1.0, "psi_sigma": 1.0, "b": 1, "velocities": velocities}, "either psi")):
        with pytest.raises(TypeError, match=says):
            kith.mst(POINTS, **wrong)


def test_no_points():
    found = kith.hierarchy(numpy.empty((0, 3)))
    assert found.linkage.shape == (0, 4) and found.cut(1).shape == (0,)
    ladder = kith.fof_ladder(numpy.empty((0, 3)), [1, 2])
    assert ladder.groups.tolist() == [0, 0] and ladder.labels(0).shape == (0,)


def test_units():
    u = pytest.importorskip("astropy.units")
    found = kith.hierarchy(POINTS * u.Mpc)
    assert found.cut(100 * u.kpc).tolist() == found.cut(0.1 * u.Mpc).tolist() == kith.fof(POINTS, 0.1).tolist()
    assert found.mean_separation.unit == u.Mpc
    ladder = kith.fof_ladder(POINTS * u.Mpc, [50, 100] * u.kpc)
    assert ladder.linking_lengths.unit == u.Mpc and ladder.linking_lengths[1] == 100 * u.kpc
    with pytest.raises(TypeError, match="linking_length carries no unit"):
        found.cut(0.1)
    with pytest.raises(TypeError, match="linking_lengths carries no unit"):
        found.ladder([0.1])


def test_labels_are_of_the_library_of_the_points():
    torch = pytest.importorskip("torch")
    points = torch.from_numpy(POINTS)
    assert isinstance(kith.hierarchy(points).cut(0.1), torch.Tensor)
    labels = kith.fof_ladder(points, [0.1], min_members=2).labels(0)
    assert isinstance(labels, torch.Tensor) and labels.tolist() == kith.fof(POINTS, 0.1, min_members=2).tolist()


def test_refusals():
    for lengths, says in (([], "no linking lengths"), ([0.2, 0.1], "0.1 follows 0.2.*ascending"), ([-1.0], "is -1"),
                          ([numpy.nan], "nan"), ([[0.1]], "2 axes")):
        with pytest.raises(ValueError, match=says):
            kith.fof_ladder(POINTS, lengths)
    with pytest.raises(ValueError, match="b descends: 0.1 follows 0.2; give the lengths in ascending order"):
        kith.fof_ladder(POINTS, b=[0.1, 0.2, 0.1])
    for both in ({}, {"linking_lengths": [0.1], "b": [0.1]}):
        with pytest.raises(TypeError, match="either linking_lengths.* or b"):
            kith.fof_ladder(POINTS, **both)
    ladder = kith.fof_ladder(POINTS, [0.1])
    for level in (1, -2):
        with pytest.raises(IndexError, match="there is no level"):
            ladder.labels(level)


@pytest.mark.skipif(2 not in DIMENSIONS, reason="needs points in 2 dimensions")
def test_repr():
    points = [[0, 0], [0, 1], [3, 0]]
    assert repr(kith.hierarchy(points)) == "<kith.Hierarchy of 3 points>"
    assert repr(kith.fof_ladder(points, [1, 3], min_members=2)) == (
        "<kith.FofLadder of 3 points: 1, 1 groups of 2 and more>")
