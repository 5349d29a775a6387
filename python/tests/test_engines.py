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
    tree = kith.Tree(POINTS, box=1, engine=engine)
    for found in (kith.knn(POINTS, 9, queries, box=1, engine=engine), tree.query(queries, 9, engine=engine),
                  tree.query(queries, 9)):
        for one, other in zip(found, kith.knn(POINTS, 9, queries, box=1)):
            assert (one == other).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
def test_every_engine_finds_the_same_within_a_radius(engine, queries):
    tree = kith.Tree(POINTS, box=1, engine=engine)
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
    assert (kith.Tree(POINTS, box=1, engine=engine).fof(0.06, engine=engine) == expected).all()


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
                  kith.Tree(POINTS, box=1, engine=engine).dbscan(engine=engine, **call)):
        for one, other in zip(found, expected):
            assert (one == other).all()


@pytest.mark.parametrize("engine", CONNECTING_ENGINES)
def test_every_engine_finds_the_same_spanning_tree(engine):
    expected = kith.mst(POINTS, box=1)
    for found in (kith.mst(POINTS, box=1, engine=engine), kith.Tree(POINTS, box=1, engine=engine).mst()):
        assert (found.edges == expected.edges).all()
        assert (found.weights == expected.weights).all() and (found.heights == expected.heights).all()


@pytest.mark.parametrize("engine", ["auto", *KNN_ENGINES])
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
def test_neighbors_name_the_engine_that_found_them(engine, queries):
    chosen = {"auto": "tree" if queries is None else "brute"}
    found = kith.knn(POINTS, 3, queries, engine=engine)
    assert found.engine == chosen.get(engine, engine)
    tree = kith.Tree(POINTS, engine=engine)
    assert tree.engine == tree.query(queries, 3, engine=engine).engine == {"auto": "tree"}.get(engine, engine)
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


FLAT = {"engine": "clover", "clover": "flat", "hubs": 30, "hub_selection": "kmeans++", "seed": 2**64 - 1}


@pytest.mark.parametrize("queries", [None, QUERIES], ids=["self", "queries"])
@pytest.mark.parametrize("options", [{"clover": "hierarchical", "seed": 0}, {"clover": "flat"}, FLAT,
                                     {**FLAT, "hubs": 1e9}],
                         ids=["hierarchical", "flat", "kmeans++", "many hubs"])
def test_the_forms_of_clover_find_the_same_neighbors(options, queries):
    tree = kith.Tree(POINTS, 1, **{"engine": "clover", **options})
    for one, other in zip(tree.query(queries, 9), kith.knn(POINTS, 9, queries, box=1)):
        assert (one == other).all()


@pytest.mark.parametrize("options", [{}, {"leaf_size": 5}, {"engine": "brute"}, {"engine": "kdtree", "leaf_size": 7}, FLAT],
                         ids=["tree", "leaf_size", "brute", "kdtree", "clover"])
def test_an_index_is_pickled_with_its_engine(options):
    tree = kith.Tree(POINTS, [1, 0, 2], **options)
    again = pickle.loads(pickle.dumps(tree))
    assert again.engine == tree.engine and again.box == tree.box and repr(again) == repr(tree)
    assert (again.points == tree.points).all() and (tree.points == POINTS).all()
    assert again._options == tree._options
    for one, other in zip(again.query(QUERIES, 4), tree.query(QUERIES, 4)):
        assert (one == other).all()


def test_an_index_says_its_engine():
    assert repr(kith.Tree(POINTS)) == "<kith.Tree of 700 points in 3 dimensions, float64, on cpu>"
    assert repr(kith.Tree(POINTS, engine="kdtree")) == (
        "<kith.Tree of 700 points in 3 dimensions, float64, on cpu, engine 'kdtree'>")


@pytest.mark.parametrize("engine", KNN_ENGINES)
def test_another_engine_than_that_of_the_index_is_refused(engine):
    tree = kith.Tree(POINTS, engine=engine)
    for other in set(KNN_ENGINES) - {engine}:
        out = (numpy.full((700, 2), -7.0), numpy.full((700, 2), -7))
        with pytest.raises(ValueError,
                           match=f"'{other}' was asked for, but the index of the points is of the engine '{engine}'"):
            tree.query(k=2, engine=other, out=out)
        assert (out[0] == -7).all() and (out[1] == -7).all()


def test_an_index_refuses_calls_that_its_engine_does_not_support():
    clover = kith.Tree(POINTS, engine="clover")
    for call in (lambda: clover.radius_search(0.1), lambda: clover.radius_count(0.1, QUERIES), lambda: clover.fof(0.1),
                 lambda: clover.dbscan(0.1), lambda: clover.mst(), lambda: clover.hierarchy(),
                 lambda: clover.fof_ladder([0.1])):
        with pytest.raises(NotImplementedError, match="'clover' does not support"):
            call()
    for name in ("order", "sorted_points"):
        with pytest.raises(NotImplementedError, match="'clover', which has no planes"):
            getattr(clover, name)
    with pytest.raises(NotImplementedError, match="'clover', which has no planes"):
        clover.planes()


@pytest.mark.parametrize("options, text", [
    ({"engine": "magic"}, "engine is 'magic'; it must be one of 'auto', 'tree'"),
    ({"engine": "brute", "leaf_size": 40}, "leaf_size is an option of engine='tree', but engine is 'brute'"),
    ({"engine": "kdtree", "leaf_size": 0}, "leaf_size is 0"),
    ({"hubs": 1024}, "hubs is an option of engine='clover', but engine is 'auto'"),
    ({"engine": "brute", "seed": 1}, "seed is an option of engine='clover'"),
    ({**FLAT, "seed": -1}, "seed is -1; it must be 0 or more"),
    ({**FLAT, "seed": 2**64}, "seed is 18446744073709551616"),
    ({**FLAT, "hubs": 0}, "hubs is 0"),
    ({**FLAT, "clover": "round"}, "clover is 'round'; it must be one of 'hierarchical', 'flat'"),
    ({**FLAT, "hub_selection": "best"}, "hub_selection is 'best'; it must be one of 'random', 'kmeans[+][+]'"),
    ({**FLAT, "clover": "hierarchical"}, "use the flat form"),
])
def test_options_that_mean_nothing_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        kith.Tree(POINTS, **options)


def test_other_engines_are_refused():
    def mst(points, _, engine):
        kith.mst(points, engine=engine)

    for call in (kith.knn, kith.radius_search, kith.radius_count, kith.fof, kith.dbscan, mst):
        with pytest.raises(ValueError, match="engine is 'magic'; it must be one of 'auto', 'tree', 'brute', 'kdtree', 'clover'"):
            call(POINTS, 1, engine="magic")
        with pytest.raises(TypeError, match="engine is None"):
            call(POINTS, 1, engine=None)
