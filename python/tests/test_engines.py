"""The engine of a call: a name that changes nothing but who searches."""

import copy
import pickle

import numpy
import pytest

import kith
from built import DIMENSIONS

random = numpy.random.default_rng(23)
POINTS = random.random((700, 3))
QUERIES = random.random((90, 3))
ENGINES = ["tree", "brute", "kdtree"]
KNN_ENGINES = [*ENGINES, "clover"]


@pytest.mark.parametrize("engine", KNN_ENGINES)
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
def test_every_engine_finds_the_same_neighbors(engine, queries):
    tree = kith.Tree(POINTS, box=1)
    for found in (kith.knn(POINTS, 9, queries, box=1, engine=engine), tree.query(queries, 9, engine=engine)):
        for one, other in zip(found, kith.knn(POINTS, 9, queries, box=1)):
            assert (one == other).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
def test_every_engine_finds_the_same_within_a_radius(engine, queries):
    tree = kith.Tree(POINTS, box=1)
    for found in (kith.radius_search(POINTS, 0.1, queries, box=1, engine=engine),
                  tree.radius_search(0.1, queries, engine=engine)):
        expected = kith.radius_search(POINTS, 0.1, queries, box=1)
        assert (found.offsets == expected.offsets).all()
        assert (found.indices == expected.indices).all() and (found.distances == expected.distances).all()
    for found in (kith.radius_count(POINTS, 0.1, queries, box=1, engine=engine),
                  tree.radius_count(0.1, queries, engine=engine)):
        assert (found == expected.counts).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_same_groups(engine):
    expected = kith.fof(POINTS, 0.06, box=1)
    assert 20 < expected.max() < 650
    assert (kith.fof(POINTS, 0.06, box=1, engine=engine) == expected).all()
    assert (kith.Tree(POINTS, box=1).fof(0.06, engine=engine) == expected).all()


@pytest.mark.skipif(6 not in DIMENSIONS, reason="phase space has 6 dimensions")
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_same_groups_in_phase_space(engine):
    call = {"velocities": POINTS, "psi": 0.4, "box": 1}
    assert (kith.fof(POINTS, 0.06, engine=engine, **call) == kith.fof(POINTS, 0.06, **call)).all()


CONNECTING_ENGINES = ["tree", "brute"]


@pytest.mark.parametrize("engine", CONNECTING_ENGINES)
def test_every_engine_finds_the_same_clusters(engine):
    call = {"eps": 0.06, "min_samples": 2, "return_core": True}
    expected = kith.dbscan(POINTS, box=1, **call)
    assert expected[0].min() == -1 and expected[0].max() > 20
    for found in (kith.dbscan(POINTS, box=1, engine=engine, **call),
                  kith.Tree(POINTS, box=1).dbscan(engine=engine, **call)):
        for one, other in zip(found, expected):
            assert (one == other).all()


@pytest.mark.parametrize("engine", CONNECTING_ENGINES)
def test_every_engine_finds_the_same_spanning_tree(engine):
    expected = kith.mst(POINTS, box=1)
    for found in (kith.mst(POINTS, box=1, engine=engine), kith.Tree(POINTS, box=1).mst(engine=engine)):
        assert (found.edges == expected.edges).all()
        assert (found.weights == expected.weights).all() and (found.heights == expected.heights).all()


@pytest.mark.parametrize("engine", ["auto", *KNN_ENGINES])
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
def test_neighbors_name_the_engine_that_found_them(engine, queries):
    chosen = {"auto": "tree" if queries is None else "brute"}
    found = kith.knn(POINTS, 3, queries, engine=engine)
    assert found.engine == chosen.get(engine, engine)
    assert kith.Tree(POINTS).query(queries, 3, engine=engine).engine == {"auto": "tree"}.get(engine, engine)
    assert found.distances is found[0] and found.indices is found[1] and len(found) == 2
    for twin in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert twin.engine == found.engine and (twin.indices == found.indices).all()


@pytest.mark.parametrize("points, chosen", [(POINTS, "tree"), (POINTS[:20], "brute")], ids=["many", "few"])
def test_every_result_names_the_engine_that_found_it(points, chosen):
    radius = {"auto": chosen, "tree": "tree", "brute": "brute", "kdtree": "kdtree"}
    for engine, answering in radius.items():
        assert kith.knn(points, 3, engine=engine).engine == answering
        assert kith.radius_search(points, 0.1, engine=engine).engine == answering
        _, catalog = kith.fof(points, 0.1, return_catalog=True, engine=engine)
        assert catalog.engine == answering and copy.copy(catalog).engine == answering
    for engine in ("auto", "tree", "brute"):
        assert kith.mst(points, engine=engine).engine == radius[engine]
    assert kith.hierarchy(points).engine == kith.fof_ladder(points, [0.1, 0.2]).engine == chosen


def test_an_engine_without_a_call_says_so():
    with pytest.raises(Exception, match="'clover' does not support radius search; use one of: auto, tree, brute, kdtree"):
        kith.radius_search(POINTS, 0.1, engine="clover")
    with pytest.raises(Exception, match="'clover' does not support friends-of-friends; use one of: auto, tree, brute, kdtree"):
        kith.fof(POINTS, 0.1, engine="clover")
    tree = kith.Tree(POINTS)
    for engine in ("kdtree", "clover"):
        for call in (lambda: kith.dbscan(POINTS, 0.1, engine=engine), lambda: tree.dbscan(0.1, engine=engine)):
            with pytest.raises(NotImplementedError, match=f"'{engine}' does not support DBSCAN; use one of: auto, tree, brute"):
                call()
        for call in (lambda: kith.mst(POINTS, engine=engine), lambda: tree.mst(engine=engine)):
            with pytest.raises(NotImplementedError,
                               match=f"'{engine}' does not support the spanning tree; use one of: auto, tree, brute"):
                call()


def test_other_engines_are_refused():
    def mst(points, _, engine):
        kith.mst(points, engine=engine)

    for call in (kith.knn, kith.radius_search, kith.radius_count, kith.fof, kith.dbscan, mst):
        with pytest.raises(ValueError, match="engine is 'magic'; it must be one of 'auto', 'tree', 'brute', 'kdtree', 'clover'"):
            call(POINTS, 1, engine="magic")
        with pytest.raises(TypeError, match="engine is None"):
            call(POINTS, 1, engine=None)
