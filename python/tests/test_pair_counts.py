"""Pair counts and correlation functions, against loops, SciPy and the clustering that points were given."""

import numpy
import pytest

import kith
import kith.spatial

scipy_spatial = pytest.importorskip("scipy.spatial")
RANDOM = numpy.random.default_rng(5)
POINTS = RANDOM.random((400, 3))
OTHERS = RANDOM.random((150, 3))
EDGES = numpy.array([0.05, 0.1, 0.2, 0.4])


def separations(first, second, box=1.0):
    """Per axis, nearest image."""
    t = abs(first[:, None] - second[None])
    return numpy.minimum(t, box - t)


def test_counts_by_loops():
    first, second = numpy.triu_indices(len(POINTS), 1)
    t = separations(POINTS, POINTS)[first, second]
    r, pi = numpy.sqrt((t**2).sum(axis=1)), t[:, 1]
    found = kith.pair_counts(POINTS, edges=EDGES, box=1)
    assert found.counts.dtype == numpy.int64 and found.counts.tolist() == numpy.histogram(r, EDGES)[0].tolist()
    assert found.weighted is None and found.binning == "r" and found.line_of_sight is None and found.engine == "tree"
    rp = numpy.sqrt(t[:, 0]**2 + t[:, 2]**2)
    found = kith.pair_counts(POINTS, edges=EDGES, pi_edges=[0, 0.2, 0.3], line_of_sight=1, box=1)
    assert found.counts.tolist() == numpy.histogram2d(rp, pi, (EDGES, [0, 0.2, 0.3]))[0].tolist()
    assert found.line_of_sight == 1 and found.second_edges.tolist() == [0, 0.2, 0.3]
    mu_edges = [0, 0.3, 0.8, 1]
    found = kith.pair_counts(POINTS, edges=EDGES, mu_edges=mu_edges, line_of_sight=1, box=1)
    assert found.counts.tolist() == numpy.histogram2d(r, pi / r, (EDGES, mu_edges))[0].tolist()


def test_two_sets_with_weights():
    r = numpy.sqrt((separations(POINTS, OTHERS)**2).sum(axis=2))
    weights, of_others = RANDOM.random(len(POINTS)), RANDOM.integers(0, 9, len(OTHERS))
    found = kith.pair_counts(POINTS, OTHERS, edges=EDGES, box=1, weights=weights, other_weights=of_others)
    assert found.counts.tolist() == numpy.histogram(r, EDGES)[0].tolist()
    products = numpy.outer(weights, of_others)
    assert found.weighted == pytest.approx(numpy.histogram(r, EDGES, weights=products)[0], rel=1e-8)
    assert kith.pair_counts(POINTS, OTHERS, edges=EDGES, weights=[1.0] + [1e-12] * 399).vanished_weights == 399


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_trees_threads_and_types(dtype):
    points = POINTS.astype(dtype)
    expected = kith.pair_counts(points, edges=EDGES, box=1, threads=1).counts.tolist()
    assert kith.pair_counts(kith.Tree(points, box=1), edges=EDGES, threads=2).counts.tolist() == expected
    assert kith.pair_counts(points.tolist() if dtype == numpy.float64 else points, edges=EDGES.tolist(),
                            box=1).counts.tolist() == expected


@pytest.mark.parametrize("boxsize", [None, 1.0])
@pytest.mark.parametrize("cumulative", [True, False])
@pytest.mark.parametrize("given", ["none", "both", "one", "other"])
def test_count_neighbors_with_weights_as_scipy(boxsize, cumulative, given):
    ours = [kith.spatial.cKDTree(points, boxsize=boxsize) for points in (POINTS, OTHERS)]
    theirs = [scipy_spatial.cKDTree(points, boxsize=boxsize) for points in (POINTS, OTHERS)]
    first, second = RANDOM.random(len(POINTS)), RANDOM.random(len(OTHERS))
    weights = {"none": None, "both": (first, second), "one": (first, None), "other": (None, second)}[given]
    radii = [0, 0.1, 0.1, 0.3, 0.7]
    found, expected = (trees[0].count_neighbors(trees[1], radii, weights=weights, cumulative=cumulative)
                       for trees in (ours, theirs))
    assert found.dtype == expected.dtype and found == pytest.approx(expected, rel=1e-8, abs=1e-8)
    # A tree with itself; SciPy takes one array for both trees.
    weights = None if given == "none" else first
    found, expected = (trees[0].count_neighbors(trees[0], radii, weights=weights, cumulative=cumulative)
                       for trees in (ours, theirs))
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)
    weights = None if given == "none" else (first, second)
    assert type(ours[0].count_neighbors(ours[1], 0.2, weights=weights)) is (int if weights is None else float)


def test_natural_estimator_of_points_without_clustering():
    points = RANDOM.random((20_000, 3), dtype=numpy.float32)
    edges = [0.02, 0.05, 0.1, 0.2]
    assert abs(kith.correlation(points, edges=edges, box=1).xi).max() < 0.03
    found = kith.correlation(points, edges=edges, pi_edges=numpy.linspace(0, 0.4, 5), box=1)
    assert found.xi.shape == (3, 4) and abs(found.xi).max() < 0.1
    assert found.wp == pytest.approx(2 * 0.1 * found.xi.sum(axis=1), abs=1e-6)
    found = kith.correlation(points, edges=edges, mu_edges=[0, 0.5, 1], box=1, weights=numpy.full(20_000, 3.0))
    assert abs(found.xi).max() < 0.05


def pairs_at_a_distance():
    """Pairs of points 0.03 apart in an empty, else random box: xi(0.02 to 0.04) is the excess alone."""
    first = RANDOM.random((3000, 3))
    step = RANDOM.normal(size=(3000, 3))
    return numpy.concatenate([first, (first + 0.03 * step / numpy.linalg.norm(step, axis=1)[:, None]) % 1])


def test_estimators_find_the_clustering_that_is_there():
    points = pairs_at_a_distance()
    edges = [0.01, 0.02, 0.04, 0.1]
    natural = kith.correlation(points, edges=edges, box=1)
    # 3000 pairs more than n^2 / 2 times the volume of the bin
    expected = 3000 / (6000 * 5999 / 2 * 4 / 3 * numpy.pi * (0.04**3 - 0.02**3))
    assert natural.estimator == "natural" and natural.xi[1] == pytest.approx(expected, rel=0.1)
    assert abs(natural.xi[[0, 2]]).max() < 0.2
    found = kith.correlation(points, RANDOM.random((12_000, 3)), edges=edges, box=1)
    assert found.estimator == "landy-szalay" and found.xi[1] == pytest.approx(expected, rel=0.15)
    assert found.random_pairs.counts.sum() > 0 and found.cross_pairs.counts.sum() > 0
    assert found.centers == pytest.approx(numpy.sqrt([0.01 * 0.02, 0.02 * 0.04, 0.04 * 0.1]))


def test_what_the_estimators_refuse():
    for box, edges, text in ((None, [0, 0.1], "needs a periodic box"), ([1, 0, 1], [0, 0.1], "axis 1 of the box is open"),
                             ([1, 0.6, 1], [0, 0.4], "half the period 0.6")):
        with pytest.raises(ValueError, match=text):
            kith.correlation(POINTS, edges=edges, box=box)
    with pytest.raises(ValueError, match="half the period 1"):
        kith.correlation(POINTS, edges=[0, 0.1], pi_edges=[0, 0.6], box=1)
    with pytest.raises(ValueError, match="give pi_edges"):
        kith.correlation(POINTS, edges=[0, 0.1], box=1).wp


def test_what_pair_counts_refuse():
    for given, text in (({"edges": [1]}, "two edges"), ({"edges": [1, 0.5]}, "must not descend"),
                        ({"edges": [0, 1], "weights": [1.0]}, "400 points"),
                        ({"edges": [0, 1], "pi_edges": [0, 1], "mu_edges": [0, 1]}, "both given"),
                        ({"edges": [0, 1], "line_of_sight": 0}, "binned by"),
                        ({"edges": [0, 1], "other_weights": [1.0]}, "without another set")):
        with pytest.raises(ValueError, match=text):
            kith.pair_counts(POINTS, **given)
    with pytest.raises(NotImplementedError, match="use one of: auto, tree"):
        kith.pair_counts(POINTS, edges=[0, 1], engine="kdtree")


def test_correlations_carry_units_with_randoms():
    units = pytest.importorskip("astropy.units")
    plain = kith.correlation(POINTS, OTHERS, edges=EDGES, box=1)
    found = kith.correlation(POINTS * units.Mpc, OTHERS * 1000 * units.kpc, edges=EDGES * units.Mpc, box=1 * units.Mpc)
    assert numpy.array_equal(found.xi, plain.xi) and found.random_pairs.counts.tolist() == plain.random_pairs.counts.tolist()


@pytest.mark.parametrize("box", [0.1, 0.3, 1.1, 2.2])
def test_bins_may_end_at_half_the_period(box):
    points = (POINTS * box).astype(numpy.float32)
    assert kith.correlation(points, edges=[0, box / 4, box / 2], box=box).xi.shape == (2,)
    with pytest.raises(ValueError, match="more than half the period"):
        kith.correlation(points, edges=[0, box / 4, box * 0.501], box=box)


def test_correlations_refuse_before_pairs_are_counted():
    def progress(stage, fraction):
        raise AssertionError("pairs were counted")

    for slip in ({"edges": [0, 0.6], "box": 1}, {"edges": [0, 0.2], "mu_edges": [0, 2], "box": 1}):
        with pytest.raises(ValueError):
            kith.correlation(POINTS, progress=progress, **slip)


def test_small_bins_behind_large_ones_keep_their_weight():
    points = numpy.array([[0.0, 0, 0], [1, 0, 0], [0, 5, 0]])
    tree, r = kith.spatial.cKDTree(points), [0.5, 0.5, 2, 6]
    weights = numpy.array([2.0**29, 2.0**29, 1])
    bins = tree.count_neighbors(tree, r, weights=weights, cumulative=False)
    assert bins.tolist() == [2 * 2.0**58 + 1, 0, 2 * 2.0**58, 4 * 2.0**29]
