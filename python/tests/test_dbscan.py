"""DBSCAN: shapes, types, memory and errors, as the documentation has them; the answers are the C++ tests' affair, and
test_sklearn.py compares them with scikit-learn's."""

import subprocess
import sys
import warnings

import numpy
import pytest

import kith

random = numpy.random.default_rng(17)
POINTS = random.integers(0, 16, (400, 3)).astype(numpy.float32) / 16  # squares of distances are exact


def by_definition(points, eps, min_samples, star, box=0.0):
    """Labels and core flags."""
    apart = numpy.abs(points[:, None, :].astype(float) - points[None, :, :])
    if box:
        apart = numpy.minimum(apart, box - apart)
    near = (apart**2).sum(axis=2) <= float(eps)**2
    is_core = near.sum(axis=1) >= min_samples
    labels = numpy.full(len(points), -1)
    clusters = 0
    for first in numpy.flatnonzero(is_core):
        if labels[first] >= 0:
            continue
        members = near[first] & is_core
        while True:
            more = near[members].any(axis=0) & is_core
            if (more == members).all():
                break
            members = more
        labels[members] = clusters
        clusters += 1
    if not star:
        for i in numpy.flatnonzero(~is_core):
            labels[i] = min(labels[near[i] & is_core], default=-1)
    return labels, is_core


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("eps, min_samples", [(0, 2), (0.125, 4), (numpy.float32(0.1875), 9), (0.25, numpy.int64(14)),
                                              (3, 5.0)])
@pytest.mark.parametrize("options", [{}, {"star": True}, {"box": 1}, {"box": 1, "star": True, "threads": 2}])
def test_labels_and_core_points(dtype, eps, min_samples, options):
    points = POINTS.astype(dtype)
    labels, is_core = by_definition(points, eps, min_samples, options.get("star", False), options.get("box", 0))
    found, core = kith.dbscan(points, eps, min_samples, return_core=True, **options)
    assert found.dtype == numpy.int32 and found.tolist() == labels.tolist()
    assert core.dtype == bool and core.tolist() == is_core.tolist()
    assert (kith.dbscan(points, eps, min_samples, **options) == found).all()
    tree = kith.Tree(points, box=options.pop("box", None))
    found, core = tree.dbscan(eps, min_samples, return_core=True, **options)
    assert found.tolist() == labels.tolist() and core.tolist() == is_core.tolist()


def test_one_sample_is_friends_of_friends():
    groups, labels = kith.fof(POINTS, 0.1), kith.dbscan(POINTS, 0.1, 1)
    assert len(set(zip(groups.tolist(), labels.tolist()))) == groups.max() + 1 == labels.max() + 1
    assert (numpy.diff(numpy.unique(labels, return_index=True)[1]) > 0).all()


def test_no_points():
    labels, is_core = kith.dbscan(numpy.empty((0, 3)), 1, return_core=True)
    assert labels.shape == is_core.shape == (0,)


def test_more_samples_than_points():
    with pytest.warns(UserWarning, match="min_samples is 401, but there are 400 points: no core point is possible") as caught:
        assert (kith.dbscan(POINTS, 3, 401) == -1).all()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kith.dbscan(POINTS, 3, 400), kith.dbscan(POINTS[:0], 3, 400)


def test_units_and_snapshots():
    units = pytest.importorskip("astropy.units")
    expected = kith.dbscan(POINTS, 0.125, 4, box=1)
    assert (kith.dbscan(POINTS * units.km, 125 * units.m, 4, box=1 * units.km) == expected).all()

    class Snapshot:
        positions, box = POINTS, 1.0
    assert (kith.dbscan(Snapshot(), 0.125, 4) == expected).all()


@pytest.mark.parametrize("arguments, error, text", [
    ({"eps": -0.5}, ValueError, "eps is -0.5"),
    ({"eps": numpy.nan}, ValueError, "eps is nan"),
    ({"eps": numpy.inf}, ValueError, "finite"),
    ({"eps": "1"}, TypeError, "eps is '1'"),
    ({"min_samples": 0}, ValueError, "min_samples is 0"),
    ({"min_samples": 2.5}, TypeError, "min_samples is 2.5"),
    ({"star": 1}, TypeError, "star is 1"),
    ({"return_core": "no"}, TypeError, "return_core"),
    ({"threads": -1}, ValueError, "threads is -1"),
    ({"points": [[0, numpy.nan]]}, ValueError, "NaN"),
    ({"points": [1, 2]}, ValueError, "points"),
    ({"points": numpy.zeros((5, 9))}, NotImplementedError, "9 dimensions"),
])
def test_refusals(arguments, error, text):
    with pytest.raises(error, match=text):
        kith.dbscan(**{"points": POINTS, "eps": 0.1, **arguments})


def test_arrays_of_other_libraries():
    jax = pytest.importorskip("jax")
    array = jax.device_put(POINTS, jax.devices("cpu")[0])
    found, is_core = kith.dbscan(array, 0.125, 4, return_core=True)
    labels, core = kith.dbscan(POINTS, 0.125, 4, return_core=True)
    assert isinstance(found, jax.Array) and (numpy.asarray(found) == labels).all()
    assert isinstance(is_core, jax.Array) and (numpy.asarray(is_core) == core).all()


def test_progress_and_cancellation():
    many = numpy.random.default_rng(18).random((1_000_000, 3))  # long enough to be asked on any machine
    heard = []
    kith.dbscan(many, 0.01, 3, threads=1, progress=lambda *each: heard.append(each))
    assert heard[-1] == ("border", 1)
    with pytest.raises(kith.Canceled, match="canceled during"):
        kith.dbscan(many, 0.01, 3, threads=1, progress=lambda *_: False)


BLOBS = """
import resource, time
import numpy
import kith

random = numpy.random.default_rng(5)
places = numpy.array([0, 100, 200, 300, 400, 500, 900, 1300, 1700, 2100, 2500, 2900])  # six blobs in a chain, six apart
points = numpy.stack([numpy.repeat(places, 15_000), numpy.zeros(180_000)], axis=1) + random.normal(0, 15, (180_000, 2))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
labels = kith.dbscan(points, 40, 10)
seconds = time.perf_counter() - start
mebibytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
assert mebibytes < 64, mebibytes
assert seconds < 10, seconds  # hundredths as a rule; other work may be running
assert (labels == numpy.repeat([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6], 15_000)).all()
"""


def test_dense_blobs_take_little_memory():
    """180,000 points with thousands of neighbors each, which would fill gigabytes if they were stored."""
    subprocess.run([sys.executable, "-c", BLOBS], check=True)
