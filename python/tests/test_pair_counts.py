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


def test_separations_by_loops():
    first, second = numpy.triu_indices(len(POINTS), 1)
    t = separations(POINTS, POINTS)[first, second]
    r = numpy.sqrt((t**2).sum(axis=1))
    found = kith.pair_counts(POINTS, edges=EDGES, box=1, separations=True)
    in_bins = numpy.histogram(r, EDGES)[0]
    assert found.counts.tolist() == in_bins.tolist()
    assert found.separations == pytest.approx(numpy.histogram(r, EDGES, weights=r)[0] / in_bins, rel=1e-13)
    weights = RANDOM.random(len(POINTS))
    products = weights[first] * weights[second]
    found = kith.pair_counts(POINTS, edges=EDGES, box=1, weights=weights, separations=True)
    expected = numpy.histogram(r, EDGES, weights=r * products)[0] / numpy.histogram(r, EDGES, weights=products)[0]
    assert found.separations == pytest.approx(expected, rel=1e-8)  # as weights are rounded
    rp = numpy.hypot(t[:, 0], t[:, 1])
    bins = EDGES, [0, 0.2, 0.3]
    found = kith.pair_counts(POINTS, edges=EDGES, pi_edges=bins[1], box=1, separations=True)
    expected = numpy.histogram2d(rp, t[:, 2], bins, weights=rp)[0] / numpy.histogram2d(rp, t[:, 2], bins)[0]
    assert found.separations == pytest.approx(expected, rel=1e-13)
    assert kith.pair_counts(POINTS, edges=EDGES).separations is None
    assert numpy.isnan(kith.pair_counts(POINTS, edges=[2, 3], separations=True).separations).all()
    with pytest.raises(ValueError, match=r"edges\[1\] is inf; mean separations need a finite last edge"):
        kith.pair_counts(POINTS, edges=[0, numpy.inf], separations=True)


def test_separations_of_a_correlation_are_those_of_its_pairs():
    expected = kith.pair_counts(POINTS, edges=EDGES, box=1, separations=True).separations
    for randoms in (None, OTHERS):
        found = kith.correlation(POINTS, randoms, edges=EDGES, box=1, separations=True)
        assert numpy.array_equal(found.separations, expected)
        assert kith.correlation(POINTS, randoms, edges=EDGES, box=1).separations is None


def test_two_sets_with_weights():
    r = numpy.sqrt((separations(POINTS, OTHERS)**2).sum(axis=2))
    weights, of_others = RANDOM.random(len(POINTS)), RANDOM.integers(0, 9, len(OTHERS))
    found = kith.pair_counts(POINTS, OTHERS, edges=EDGES, box=1, weights=weights, other_weights=of_others)
    assert found.counts.tolist() == numpy.histogram(r, EDGES)[0].tolist()
    products = numpy.outer(weights, of_others)
    assert found.weighted == pytest.approx(numpy.histogram(r, EDGES, weights=products)[0], rel=1e-8)
    uneven = [1.0] + [1e-12] * 399
    with pytest.warns(UserWarning, match="399 weights count as 0"):
        assert kith.pair_counts(POINTS, OTHERS, edges=EDGES, weights=uneven).vanished_weights == 399
    with pytest.raises(ValueError, match="399 weights are less than"):
        kith.correlation(POINTS, OTHERS, edges=EDGES, weights=uneven)


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


@pytest.mark.parametrize("bins", [{"edges": [0, 0.05, 0.2]}, {"edges": [0, 0.1, 0.2], "pi_edges": [0, 0.1, 0.3]},
                                  {"edges": [0.1, 0.3], "mu_edges": [0, 0.5, 1]}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("box", [None, 1.0])
def test_jackknife_samples_are_functions_without_a_region(bins, weighted, box):
    points = numpy.concatenate([POINTS, POINTS[:50]]).astype(numpy.float32)  # some twice
    randoms = RANDOM.random((900, 3), dtype=numpy.float32)
    regions, of_randoms = ((part[:, 0] * 3).astype(int) * 7 for part in (points, randoms))
    weights = {"weights": RANDOM.random(len(points)), "random_weights": RANDOM.random(len(randoms))} if weighted else {}
    found = kith.correlation(points, randoms, **bins, box=box, regions=regions, random_regions=of_randoms, **weights)
    assert numpy.array_equal(found.xi, kith.correlation(points, randoms, **bins, box=box, **weights).xi)
    for sample, region in zip(found.samples, [0, 7, 14], strict=True):
        left = {name: values[(regions if name == "weights" else of_randoms) != region] for name, values in weights.items()}
        expected = kith.correlation(points[regions != region], randoms[of_randoms != region], **bins, box=box, **left).xi
        assert sample == pytest.approx(expected, rel=1e-6) if weighted else numpy.array_equal(sample, expected)
    deviations = (found.samples - found.samples.mean(axis=0)).reshape(3, -1)
    assert found.covariance == pytest.approx(2 / 3 * deviations.T @ deviations)
    assert "pi_edges" not in bins or found.wp_covariance.shape == (2, 2)


def test_jackknife_errors_are_those_of_many_samples():
    edges, randoms = [0.05, 0.1, 0.2], RANDOM.random((8000, 3))
    found = [kith.correlation(RANDOM.random((2000, 3)), randoms, edges=edges, regions=24) for _ in range(12)]
    scatter = numpy.std([one.xi for one in found], axis=0)
    errors = numpy.mean([numpy.sqrt(numpy.diag(one.covariance)) for one in found], axis=0)
    assert ((errors > scatter / 2) & (errors < 3 * scatter)).all()
    assert len(found[0].samples) == 24


def test_what_the_jackknife_refuses():
    of_points, of_others = numpy.arange(400) % 2, numpy.arange(150) % 2
    for given, text in (({"regions": 1}, "from 2"), ({"regions": 151}, "randoms, 150"),
                        ({"regions": of_points}, "without random_regions"),
                        ({"random_regions": of_others}, "without regions"),
                        ({"regions": of_points * 5, "random_regions": of_others}, "region 5 has points but no randoms"),
                        ({"regions": of_points * 0, "random_regions": of_others * 0}, "lie in one region"),
                        ({"regions": of_points[1:], "random_regions": of_others}, "each of 400 points"),
                        ({"regions": 2, "random_regions": of_others}, "leave them out")):
        with pytest.raises(ValueError, match=text):
            kith.correlation(POINTS, OTHERS, edges=[0, 0.1], **given)
    with pytest.raises(ValueError, match="regions are given without randoms"):
        kith.correlation(POINTS, edges=[0, 0.1], box=1, regions=2)
    with pytest.raises(ValueError, match="give regions"):
        kith.correlation(POINTS, edges=[0, 0.1], box=1).covariance


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
    for pairs in (found.pairs, found.cross_pairs, found.random_pairs):
        assert pairs.edges.unit == units.Mpc and pairs.edges.value.tolist() == plain.edges.tolist()


def test_lengths_of_pairs_carry_units():
    units = pytest.importorskip("astropy.units")
    points, edges, box = POINTS * units.Mpc, EDGES * 1000 * units.kpc, 1 * units.Mpc
    for bins in ({}, {"pi_edges": [0, 0.2, 0.3] * units.Mpc}, {"mu_edges": [0, 0.5, 1]}):
        plain_bins = {name: numpy.asarray(getattr(values, "value", values)) for name, values in bins.items()}
        plain = kith.correlation(POINTS, edges=EDGES, box=1, separations=True, **plain_bins)
        found = kith.correlation(points, edges=edges, box=box, separations=True, **bins)
        for lengths, expected in ((found.edges, plain.edges), (found.separations, plain.separations),
                                  (found.centers, plain.centers), (found.pairs.edges, plain.edges)):
            assert lengths.unit == units.Mpc and lengths.value == pytest.approx(expected, rel=1e-14)
        assert isinstance(found.xi, numpy.ndarray) and not hasattr(found.xi, "unit")
        assert hasattr(found.second_edges, "unit") == ("pi_edges" in bins)
        if "pi_edges" in bins:
            assert found.second_edges.unit == found.wp.unit == units.Mpc
            assert found.wp.value == pytest.approx(plain.wp, rel=1e-12)
    assert kith.pair_counts(kith.Tree(points), edges=edges).edges.unit == units.Mpc
    by_regions = kith.correlation(points, OTHERS * units.Mpc, edges=edges, pi_edges=[0, 0.2, 0.3] * units.Mpc, regions=3)
    assert by_regions.wp_covariance.unit == units.Mpc**2 and by_regions.covariance.shape == (6, 6)


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


def test_weights_of_correlations_stay_within_float64():
    weights = RANDOM.random(len(POINTS))
    expected = kith.correlation(POINTS, OTHERS, edges=EDGES, weights=weights).xi
    for factor in (2.0**460, 2.0**-460):  # about 3e138
        found = kith.correlation(POINTS, OTHERS, edges=EDGES, weights=weights * factor, random_weights=[factor] * 150)
        assert found.xi.tolist() == expected.tolist() and numpy.isfinite(found.xi).all()
    for largest in (1e160, 1e308, 1e-160, 1e-308):
        with pytest.raises(ValueError, match="the largest of weights is .*changes no correlation"):
            kith.correlation(POINTS, edges=EDGES, box=1, weights=weights / weights.max() * largest)
        with pytest.raises(ValueError, match="the largest of random_weights is"):
            kith.correlation(POINTS, OTHERS, edges=EDGES, random_weights=[largest] * 150)


def test_errors_name_the_arguments():
    broken = OTHERS.copy()
    broken[7, 1] = numpy.nan
    for call, text in ((lambda: kith.pair_counts(POINTS, broken, edges=EDGES), "^other: point 7 has NaN"),
                       (lambda: kith.correlation(POINTS, broken, edges=EDGES), "^randoms: point 7 has NaN"),
                       (lambda: kith.correlation(POINTS, OTHERS * 9, edges=EDGES, box=1), "^the randoms extend over"),
                       (lambda: kith.correlation(POINTS, OTHERS, edges=EDGES, random_weights=OTHERS[1:, 0]),
                        "^random_weights holds 149 numbers for 150 points"),
                       (lambda: kith.correlation(POINTS, OTHERS, edges=EDGES, random_weights=-OTHERS[:, 0]),
                        "^the weight of point 0 in random_weights is -0")):
        with pytest.raises(ValueError, match=text):
            call()
    tree = kith.spatial.cKDTree(POINTS)
    for radii, name in ((1e-200, "r is 1e-200"), ([0.5, 0.1, 1e-200, 0.1], r"r\[2\] is 1e-200")):
        with pytest.raises(ValueError, match=name):
            tree.count_neighbors(tree, radii)


def test_small_bins_behind_large_ones_keep_their_weight():
    points = numpy.array([[0.0, 0, 0], [1, 0, 0], [0, 5, 0]])
    tree, r = kith.spatial.cKDTree(points), [0.5, 0.5, 2, 6]
    weights = numpy.array([2.0**29, 2.0**29, 1])
    bins = tree.count_neighbors(tree, r, weights=weights, cumulative=False)
    assert bins.tolist() == [2 * 2.0**58 + 1, 0, 2 * 2.0**58, 4 * 2.0**29]
