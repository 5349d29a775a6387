"""Points of one coordinate: plain loops over all pairs give the same, and calls that need two or more refuse them."""

import pickle

import numpy
import pytest

import kith

RANDOM = numpy.random.default_rng(8)
SETS = {
    "uniform": RANDOM.random((200, 1)),
    "float32": RANDOM.normal(size=(150, 1)).astype(numpy.float32),
    "lattice": RANDOM.integers(0, 12, (90, 1)) / 12,
    "coincident": numpy.full((30, 1), 0.25),
    "outlier": numpy.concatenate((RANDOM.random((60, 1)), [[1e6], [-0.0], [0.0]])),
    "two": numpy.array([[0.5], [0.75]]),
    "none": numpy.empty((0, 1)),
}


def squares(queries, points, box):
    """All squared distances, in the type of the points, nearest image."""
    distances = abs(queries - points.T)
    if box is not None:
        period = points.dtype.type(box)
        distances = numpy.minimum(distances, period - distances)
    return distances * distances


def rows(d2, k, without_self):
    """Distances and indices of the first k of each row, ordered by distance and index."""
    distances, indices = numpy.full((len(d2), k), numpy.inf, d2.dtype), numpy.full((len(d2), k), -1)
    for row, of_row in enumerate(d2):
        order = [other for other in numpy.lexsort((range(len(of_row)), of_row)) if not (without_self and other == row)][:k]
        distances[row, :len(order)], indices[row, :len(order)] = numpy.sqrt(of_row[order]), order
    return distances, indices


def components(is_near):
    """The smallest index that each point is connected with."""
    first = numpy.arange(len(is_near))
    while len(first):
        lowest = numpy.where(is_near, first, len(first)).min(axis=1)
        if (lowest == first).all():
            break
        first = lowest
    return first


def same_partition(labels, first):
    return len(set(zip(labels, first))) == len(set(labels)) == len(set(first))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("box", [None, 1.0])
def test_neighbors_and_groups_are_those_of_all_pairs(name, box):
    points = SETS[name]
    if box is not None and name in ("float32", "outlier"):
        points = numpy.abs(points) % points.dtype.type(1)
    queries = numpy.concatenate((points[:20], RANDOM.random((10, 1)))).astype(points.dtype)
    tree = kith.Tree(points, box=box)
    assert tree.dimension == 1 and tree.points.shape == tree.sorted_points.shape == points.shape
    assert tree.points.tolist() == points.tolist() and tree.sorted_points.tolist() == points[tree.order].tolist()
    own = squares(points, points, box)
    for k in (1, 5, 40):
        for without_self in (False, True):
            distances, indices = rows(own, k, without_self)
            for found in (kith.knn(points, k, box=box, exclude_self=without_self), tree.query(k=k, exclude_self=without_self),
                          kith.knn(points, k, box=[box or 0], exclude_self=without_self, engine="brute")):
                assert found[0].dtype == points.dtype
                assert found[0].tolist() == distances.tolist() and found[1].tolist() == indices.tolist()
        distances, indices = rows(squares(queries, points, box), k, False)
        for found in (kith.knn(points, k, queries, box=box), tree.query(queries, k)):
            assert found[0].tolist() == distances.tolist() and found[1].tolist() == indices.tolist()
        blocks = list(kith.knn_blocks(tree, k, queries, block_rows=7))
        assert numpy.concatenate([block.indices for block in blocks]).tolist() == indices.tolist()
    radius = points.dtype.type(1 / 12 if name == "lattice" else 0.01)
    is_near = own <= radius * radius
    found = kith.radius_search(points, float(radius), box=box, sort="index")
    assert [found[row][1].tolist() for row in range(len(found))] == [numpy.flatnonzero(row).tolist() for row in is_near]
    assert kith.radius_count(points, float(radius), box=box).tolist() == is_near.sum(axis=1).tolist()
    assert tree.radius_count(float(radius), queries).tolist() == (
        squares(queries, points, box) <= radius * radius).sum(axis=1).tolist()
    first = components(is_near)
    labels = kith.fof(points, float(radius), box=box)
    assert same_partition(labels.tolist(), first.tolist()) and (labels == tree.fof(float(radius))).all()
    clusters, is_core = kith.dbscan(points, float(radius), 3, box=box, return_core=True)
    assert is_core.tolist() == (is_near.sum(axis=1) >= 3).tolist() and (clusters == tree.dbscan(float(radius), 3)).all()
    core = components(is_near[is_core][:, is_core])
    assert same_partition(clusters[is_core].tolist(), core.tolist())
    border = ~is_core & is_near[:, is_core].any(axis=1)
    assert ((clusters >= 0) == (is_core | border)).all()
    edges = kith.mst(points, box=box).edges
    assert len(edges) == max(len(points) - 1, 0) and (edges == tree.mst().edges).all()
    if box is None and name == "uniform":  # the tree is the points in their order
        order = points[:, 0].argsort().tolist()
        assert set(map(frozenset, edges.tolist())) == set(map(frozenset, zip(order, order[1:])))


def test_trees_keep_one_coordinate():
    points = SETS["uniform"]
    for box in (None, 1.0, kith.Box([1.0], [0.0]), kith.Box(1.0, 0.0)):
        tree = kith.Tree(points, box=box)
        again = pickle.loads(pickle.dumps(tree))
        assert "1 dimensions" not in repr(tree) and "1 dimension" in repr(tree)
        assert tree.box == again.box and numpy.ravel(tree.box.period).tolist() == [0.0 if box is None else 1.0]
        assert (tree.query(k=3)[1] == again.query(k=3)[1]).all()
        assert (tree.query(points + 2, 3)[1] == kith.knn(points, 3, points + 2, box=box)[1]).all()
    shifted = kith.knn(points - 0.5, 3, box=kith.Box([1.0], [-0.5]))
    assert (shifted[1] == kith.knn(points - 0.5, 3, box=1.0)[1]).all()


@pytest.mark.parametrize("library", ["jax.numpy", "torch"])
def test_other_libraries(library):
    module = pytest.importorskip(library)
    points = SETS["float32"]
    theirs = module.asarray(points)
    indices = kith.knn(theirs, 4)[1]
    assert type(indices) is type(theirs) and numpy.asarray(indices).tolist() == kith.knn(points, 4)[1].tolist()


def test_other_calls_refuse_them():
    points = SETS["uniform"]
    tree = kith.Tree(points)
    for call in (lambda source: kith.hierarchy(source), lambda source: kith.fof_ladder(source, [0.1]),
                 lambda source: kith.pair_counts(source, edges=[0, 0.1]), lambda source: kith.density(source),
                 lambda source: kith.hdbscan(source),
                 lambda source: kith.halos(source, 0.1) if source is points else kith.density(source),
                 lambda source: kith.mst(source, linking_length=0.1, psi=1.0, velocities=points),
                 lambda source: kith.fof(source, 0.1, psi=1.0, velocities=points)):
        for source in (points, tree):
            with pytest.raises(NotImplementedError, match="1 dimension.*2 to 8.*column of zeros"):
                call(source)
    with pytest.raises(NotImplementedError, match="1 dimension.*2 to 8.*linking_length"):
        kith.fof(points, b=0.2)
    with pytest.raises(NotImplementedError, match="1 dimension.*2 to 8"):
        kith.fof(points, 0.1, return_catalog=True)
    for wrong in (numpy.zeros((3, 2)), numpy.zeros((3, 3))):
        with pytest.raises(ValueError, match="queries have [23] dimensions, the points 1"):
            kith.knn(points, 1, wrong)
    with pytest.raises(ValueError, match="2 periods but the points have 1 axis"):
        kith.knn(points, 1, box=[1.0, 1.0])
    with pytest.raises(ValueError, match="queries"):
        kith.knn(points, 1, points[0])
