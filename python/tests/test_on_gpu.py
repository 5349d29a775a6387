"""Each call on a GPU against the same call on the CPU, which other tests compare with the definition: the same bits."""

import numpy
import pytest

import kith
from built import DIMENSIONS

GPU = "cuda"
pytestmark = pytest.mark.skipif(not kith.has_cuda(), reason="there is no GPU, or kith was built without CUDA")


def random_set(count, dimension, dtype, seed=1):
    return numpy.random.default_rng(seed).random((count, dimension)).astype(dtype)


def clumps(count, dimension, dtype):
    """Half of the points around 40 centers, the nearer the denser; in the unit box."""
    random = numpy.random.default_rng(3)
    points = random.random((count, dimension))
    centers = random.random((40, dimension))[random.integers(40, size=count // 2)]
    away = random.standard_normal((count // 2, dimension)) * 10 ** random.uniform(-6, -1.5, (count // 2, 1))
    points[: count // 2] = (centers + away) % 1
    return points.astype(dtype) % dtype(1)


def lattice(side, dimension, dtype):
    return numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * dimension), axis=-1).reshape(-1, dimension).astype(dtype)


def sets():
    """name: points, box, a linking length with some dozens of friends."""
    single, double = numpy.float32, numpy.float64
    given = {
        "uniform": (random_set(40_000, 3, single), None, 0.04),
        "periodic": (random_set(40_000, 3, single), 1.0, 0.04),
        "float64": (random_set(30_000, 3, double), 1.0, 0.04),
        "clumps": (clumps(60_000, 3, single), 1.0, 0.003),
        "clumps, one axis open": (clumps(40_000, 3, double), (1.0, 0.0, 1.0), 0.003),
        "coincident": (numpy.repeat(random_set(300, 3, single), 50, axis=0), 1.0, 0.02),
        "one place": (numpy.full((5000, 3), 0.25, single), 1.0, 0.02),
        "lattice": (lattice(24, 3, single), 24.0, 1.0),
        "far away": (numpy.concatenate([random_set(20_000, 3, single), 1e9 * random_set(9, 3, single, 2)]), None, 0.04),
        "a hundred": (random_set(100, 3, single), 1.0, 0.3),
        "one": (random_set(1, 3, single), None, 0.1),
        "none": (numpy.zeros((0, 3), single), 1.0, 0.1),
        "2-D": (clumps(50_000, 2, single), 1.0, 0.003),
        "6-D": (random_set(20_000, 6, single), 1.0, 0.25),
    }
    return {name: what for name, what in given.items() if what[0].shape[1] in DIMENSIONS}


SETS = sets()
of_all_sets = pytest.mark.parametrize("name", SETS)
INDICES = {"tree": {}, "kdtree": {}, "clover": {}, "flat": {"engine": "clover", "clover": "flat", "hubs": 300},
           "kmeans": {"engine": "clover", "clover": "flat", "hubs": 50, "hub_selection": "kmeans++", "seed": 4}}


def host(array):
    """A copy of any array in the memory of the host."""
    return array.get() if hasattr(array, "get") else array.cpu().numpy() if hasattr(array, "cpu") else numpy.asarray(array)


def same(found, expected, what=""):
    """The same bits."""
    found, expected = host(found), host(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype, what
    differ = numpy.flatnonzero((found != expected) & ((found == found) | (expected == expected)))
    assert differ.size == 0, f"{what}: {differ.size} of {found.size} differ; at {differ[0]} {found.flat[differ[0]]} is " \
                             f"found, {expected.flat[differ[0]]} is right"


def same_rows(found, expected, what=""):
    same(found.distances, expected.distances, what)
    same(found.indices, expected.indices, what)


def queries_of(points):
    return numpy.concatenate([points[:500], points[:700] * points.dtype.type(0.9) + points.dtype.type(0.03)])


@of_all_sets
@pytest.mark.parametrize("engine", ["tree", "brute", "kdtree", "clover"])
def test_neighbors(name, engine):
    points, box, _ = SETS[name]
    for k in (1, 8, 16, 40) if engine != "brute" else (16,):
        expected = kith.knn(points, k, box=box)
        same_rows(kith.knn(points, k, box=box, engine=engine, device=GPU), expected, f"k = {k}")
    k, queries = 5, queries_of(points)
    for options in ({"exclude_self": True}, {"max_distance": 0.02}, {"queries": queries},
                    {"queries": queries, "max_distance": 0.01}, {"index_dtype": numpy.int64}):
        same_rows(kith.knn(points, k, box=box, engine=engine, device=GPU, **options),
                  kith.knn(points, k, box=box, **options), options.keys())


@of_all_sets
def test_long_rows_and_rows_in_z_order(name):
    points, box, _ = SETS[name]
    few = points[:3000]
    for k in (100, 300):
        same_rows(kith.knn(few, k, box=box, device=GPU, engine="tree"), kith.knn(few, k, box=box), f"k = {k}")
    for queries in (None, queries_of(points)):
        expected = kith.knn(points, 7, queries, box=box)
        found = kith.knn(points, 7, queries, box=box, device=GPU, engine="tree", z_order=True)
        order = host(found.query_indices)
        assert sorted(order) == list(range(len(expected[0])))
        same(found.distances, expected[0][order])
        same(found.indices, expected[1][order])


@of_all_sets
@pytest.mark.parametrize("index", INDICES)
def test_a_kept_index(name, index):
    points, box, length = SETS[name]
    tree = kith.Tree(points, box, device=GPU, **{"engine": index, **INDICES[index]})
    queries = queries_of(points)
    for _ in range(2):
        for k in (4, 20):
            same_rows(tree.query(k=k), kith.knn(points, k, box=box), f"k = {k}")
            same_rows(tree.query(queries, k), kith.knn(points, k, queries, box=box), f"queries, k = {k}")
    if index in ("tree", "kdtree"):
        same(tree.radius_count(length), kith.radius_count(points, length, box=box))
        same(tree.fof(length), kith.fof(points, length, box=box))
    if index == "tree":
        same(tree.dbscan(length, 4), kith.dbscan(points, length, 4, box=box))
        same(tree.mst().edges, kith.mst(points, box=box).edges)
        rows = kith.knn(tree, 6, z_order=True)
        order = host(rows.query_indices)
        assert sorted(order) == list(range(len(points)))
        same(rows.indices, kith.knn(points, 6, box=box)[1][order])


def test_the_order_of_a_kept_tree_is_shown_by_libraries():
    points = SETS["uniform"][0]
    for library in ("cupy", "torch"):
        module = pytest.importorskip(library, reason=f"{library} is not installed")
        tree = kith.Tree(module.asarray(points, **({"device": GPU} if library == "torch" else {})), 1.0)
        order = module.from_dlpack(tree.order)
        assert sorted(host(order)) == list(range(len(points)))
        same(kith.knn(tree, 6, z_order=True).query_indices, order)


@of_all_sets
@pytest.mark.parametrize("engine", ["tree", "kdtree"])
def test_neighbors_within_a_radius(name, engine):
    points, box, length = SETS[name]
    queries, where = queries_of(points), {"engine": engine, "device": GPU}
    radii = numpy.linspace(0, length, len(queries)).astype(points.dtype)
    same(kith.radius_count(points, length, box=box, **where), kith.radius_count(points, length, box=box))
    for r in (length, radii):
        found, expected = (kith.radius_search(points, r, queries, box=box, **more) for more in (where, {}))
        same(found.offsets, expected.offsets)
        same(found.indices, expected.indices)
        same(found.distances, expected.distances)


@of_all_sets
@pytest.mark.parametrize("engine", ["tree", "brute", "kdtree"])
def test_groups_and_their_catalog(name, engine):
    points, box, length = SETS[name]
    random = numpy.random.default_rng(5)
    columns = {"velocities": random.standard_normal(points.shape), "masses": random.random(len(points)) + 0.5}
    for share in (0.3, 1.0):
        labels, halos = kith.fof(points, share * length, box=box, engine=engine, device=GPU, return_catalog=True,
                                 min_members=2, **columns)
        expected, catalog = kith.fof(points, share * length, box=box, return_catalog=True, min_members=2, **columns)
        same(labels, expected)
        assert halos.columns == catalog.columns and len(halos) == len(catalog)
        for column in (*catalog.columns, "members", "offset"):
            same(getattr(halos, column), getattr(catalog, column), column)


def test_bound_halos():
    mock = kith.datasets.halos(8000, 30, seed=5)
    expected = kith.halos(mock)
    found = kith.halos(mock, device=GPU)
    assert found.columns == expected.columns and len(found) > 20
    for column in (*expected.columns, "members", "offset"):
        same(getattr(found, column), getattr(expected, column), column)


@of_all_sets
def test_clusters_and_the_spanning_tree(name):
    points, box, length = SETS[name]
    for star in (False, True):
        for found, expected in zip(*(kith.dbscan(points, length, 8, box=box, star=star, return_core=True, **more)
                                     for more in ({"device": GPU}, {}))):
            same(found, expected)
    found, expected = (kith.mst(points, box=box, **more) for more in ({"device": GPU}, {}))
    same(found.edges, expected.edges)
    same(found.heights, expected.heights)


@of_all_sets
def test_clusters_of_different_densities(name):
    points, box, _ = SETS[name]
    for min_samples in (1, 5, 70):
        found, expected = (kith.hdbscan(points, 5, min_samples=min_samples, box=box, **more)
                           for more in ({"device": GPU}, {}))
        for array in ("labels", "probabilities", "outlier_scores", "core_distances", "edges", "heights"):
            same(getattr(found, array), getattr(expected, array))


@pytest.mark.skipif(not {2, 3} & set(DIMENSIONS), reason="neither two nor three dimensions are built")
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("engine", ["tree", "brute", "kdtree"])
def test_phase_space(dtype, engine):
    for dimension in {2, 3} & set(DIMENSIONS):
        if 2 * dimension not in DIMENSIONS:
            continue
        points = clumps(20_000, dimension, dtype)
        velocities = 100 * clumps(20_000, dimension, dtype)[::-1].copy()
        for psi in ({"psi": 3.0}, {"psi_sigma": 0.2}, {"psi": numpy.inf}):
            given = {"linking_length": 0.02, "box": 1.0, "velocities": velocities, **psi}
            found, expected = (kith.fof(points, return_catalog=True, min_members=2, **given, **more)
                               for more in ({"device": GPU, "engine": engine}, {}))
            same(found[0], expected[0], psi)
            for column in expected[1].columns:
                same(getattr(found[1], column), getattr(expected[1], column), column)
        if engine == "tree":
            found, expected = (kith.mst(points, linking_length=0.02, box=1.0, psi=3.0, velocities=velocities, **more)
                               for more in ({"device": GPU}, {}))
            same(found.edges, expected.edges)
            same(found.heights, expected.heights)


@of_all_sets
@pytest.mark.parametrize("split", ["widest", "cyclic"])
def test_the_order_of_a_left_balanced_tree(name, split):
    points = SETS[name][0]
    for found, expected in zip(kith.kdtree_order(points, split, device=GPU), kith.kdtree_order(points, split)):
        same(found, expected)


@of_all_sets
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_of_a_gpu_in_the_order_of_groups(name, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    points, box, length = SETS[name]

    def there(array):
        return module.asarray(array, device="cuda") if library == "torch" else module.asarray(array)

    given, masses = there(points), numpy.linspace(1, 2, len(points))
    labels, halos = kith.fof(given, length, box=box, return_catalog=True, min_members=3, masses=there(masses))
    expected, catalog = kith.fof(points, length, box=box, return_catalog=True, min_members=3, masses=masses)
    assert type(labels) is type(given) and type(halos.mass) is type(given)
    same(labels, expected)
    for column in catalog.columns:
        same(getattr(halos, column), getattr(catalog, column), column)
        same(getattr(halos.to_host(), column), getattr(catalog, column), column)
    order, wanted = kith.group_order(labels), kith.group_order(expected)
    same(order.indices, wanted.indices)
    same(order.offsets, wanted.offsets)
    assert order.members == wanted.members and type(order.indices) is type(given)
    for array in (points, masses, numpy.arange(len(points), dtype=numpy.int16)):
        same(order.take(there(array)), wanted.take(array))
        same(order.take(there(array), others=False), wanted.take(array, others=False))
    same_rows(kith.knn(given, 9, there(queries_of(points)), box=box), kith.knn(points, 9, queries_of(points), box=box))
    for found, right in zip(kith.kdtree_order(given), kith.kdtree_order(points)):
        assert type(found) is type(given)
        same(found, right)


@of_all_sets
def test_sums_over_neighbors(name):
    points, box, length = SETS[name]
    points = points[:20_000]
    columns = {"masses": random_set(len(points), 1, numpy.float64)[:, 0],
               "fields": {"a": random_set(len(points), 1, numpy.float32, 4)[:, 0]}}
    everything = {"statistics": ["sum", "mean", "variance", "least", "greatest", "gradient"], "density_gradient": True}
    for kernel, around, options in (("cubic", {"k": 32}, columns | everything), ("gaussian", {"k": 7}, {}),
                                    ("quintic", {"r": length}, columns | everything),
                                    ("wendland-c4", {"r": length, "queries": queries_of(points)}, columns)):
        found, expected = (kith.sum_neighbors(points, box=box, kernel=kernel, device=device, **around, **options)
                           for device in (GPU, None))
        for what in ("density", "reach", "counts", "density_gradient"):
            if getattr(expected, what) is not None:
                same(getattr(found, what), getattr(expected, what), f"{what}, {kernel}")
        for what, wanted in zip(expected.fields, expected.fields.values()):
            for column, right in zip(found.fields[what], wanted):
                if right is not None:
                    same(column, right, kernel)
    same(kith.density(kith.Tree(points, box, device=GPU)), kith.density(points, box=box))


@of_all_sets
def test_pair_counts(name):
    points, box, length = SETS[name]
    points = points[:20_000]
    other = queries_of(points)
    weights, other_weights = (random_set(len(rows), 1, numpy.float64)[:, 0] for rows in (points, other))
    edges = [0, length / 2, length, 2 * length]
    for options in ({}, {"weights": weights}, {"pi_edges": edges, "line_of_sight": 0}, {"mu_edges": [0, 0.5, 1]},
                    {"other": other, "weights": weights, "other_weights": other_weights},
                    {"weights": weights, "separations": True}):
        found = kith.pair_counts(points, edges=edges, box=box, device=GPU, **options)
        expected = kith.pair_counts(points, edges=edges, box=box, **options)
        same(found.counts, expected.counts, options.keys())
        if "weights" in options:
            same(found.weighted, expected.weighted, options.keys())
        if "separations" in options:
            same(found.separations, expected.separations, options.keys())
    tree = kith.Tree(points, box, device=GPU)
    same(kith.pair_counts(tree, edges=edges).counts, kith.pair_counts(points, edges=edges, box=box).counts)


@pytest.mark.parametrize("call", [
    lambda points: kith.knn(points, 3, device=GPU), lambda points: kith.fof(points, 0.1, device=GPU),
    lambda points: kith.radius_count(points, 0.1, device=GPU), lambda points: kith.dbscan(points, 0.1, device=GPU),
    lambda points: kith.mst(points, device=GPU), lambda points: kith.Tree(points, device=GPU),
    lambda points: kith.Tree(points, device=GPU, engine="clover"),
    lambda points: kith.Tree(points, device=GPU, engine="kdtree"), lambda points: kith.kdtree_order(points, device=GPU)])
def test_points_that_are_not_finite_are_named(call):
    points = random_set(30_000, 3, numpy.float32)
    points[12_345, 1] = numpy.nan
    with pytest.raises(ValueError, match="point 12345 has NaN as coordinate 1"):
        call(points)
    assert kith.knn(points[:100], 2, device=GPU).indices.shape == (100, 2)  # the GPU goes on


def test_a_million_points():
    points = clumps(1_000_000, 3, numpy.float32)
    same_rows(kith.knn(points, 16, box=1.0, device=GPU), kith.knn(points, 16, box=1.0))
    for engine in ("tree", "kdtree"):
        same(kith.fof(points, 0.002, box=1.0, engine=engine, device=GPU), kith.fof(points, 0.002, box=1.0))
    same(kith.mst(points, device=GPU).edges, kith.mst(points).edges)
    same(kith.hdbscan(points, 20, device=GPU).labels, kith.hdbscan(points, 20).labels)
    for found, expected in zip(kith.kdtree_order(points, device=GPU), kith.kdtree_order(points)):
        same(found, expected)
    for index in ("kdtree", "clover"):
        tree = kith.Tree(points, 1.0, engine=index, device=GPU)
        same_rows(tree.query(k=10), kith.knn(points, 10, box=1.0), index)
