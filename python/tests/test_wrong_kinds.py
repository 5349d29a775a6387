"""Arguments of the wrong kind: every function names the argument, by TypeError or ValueError, and what it must be."""

import importlib.util
import inspect
import tempfile
import warnings

import numpy
import pytest

import kith
import kith.datasets
import kith.mass_function
import kith.spatial
from built import DIMENSIONS

POINTS = numpy.random.default_rng(3).random((60, 3))
LABELS, GROUPS = kith.fof(POINTS, 0.3, min_members=2, return_catalog=True)
HALOS = kith.halos(POINTS, 0.3, unbind=False, min_members=2, G=1.0, overdensities=())
TREE = kith.Tree(POINTS)
HIERARCHY = kith.hierarchy(POINTS)
LADDER = HIERARCHY.ladder([0.1])
CLUSTERS = kith.hdbscan(POINTS)
with tempfile.TemporaryDirectory() as folder:
    numpy.save(folder + "/points.npy", POINTS)
    SNAPSHOT = kith.read(folder + "/points.npy")
TREE_OF_SCIPY = kith.spatial.cKDTree(POINTS)
COSMOLOGY = kith.datasets.Cosmology()


class Strange:
    def __repr__(self):
        return "<strange>"


STRANGE = Strange()
NUMBERS = ["a", [1.0, 2.0], {}, STRANGE]
OPTIONAL_NUMBERS = NUMBERS
ARRAYS = ["a", 5, {}, STRANGE, [[1.0, 2.0], [3.0]], [["a", "b"], ["c", "d"]]]
WHOLE = ["a", 2.5, None, [1], {}, STRANGE, True]
OPTIONAL_WHOLE = [wrong for wrong in WHOLE if wrong is not None]
FLAGS = ["no", None, 1, [True], STRANGE]
BOXES = ["a", {}, STRANGE, [1.0, 2.0], ["a", "b", "c"], [[1.0, 1.0, 1.0]], -1, numpy.nan]
DEVICES = [5, "gpu", STRANGE, []]
PATHS = [None, 5, {}, STRANGE, [None], [], "a\0b"]
COLUMNS = [5, 2.5, {}, STRANGE, [], [1.5], [True], [None], "x,y", [1, 2]]  # the last two: points.npy has no columns
INDEX_TYPES = ["int16", "no type", STRANGE, 5]
DTYPES = [None, *INDEX_TYPES]
COMMUNICATORS = ["world", 5, STRANGE, [None]] if importlib.util.find_spec("mpi4py") else []
ENGINES = [None, 5, "fast", STRANGE, [], True]

CALL = {"device": DEVICES, "threads": OPTIONAL_WHOLE, "progress": ["yes", 5, STRANGE]}
SEARCH = {"k": WHOLE, "queries": [*ARRAYS, [1.0, 2.0, 3.0], [[1.0, 2.0]]], "exclude_self": FLAGS, "max_distance": NUMBERS,
          "return_distances": FLAGS, "index_dtype": INDEX_TYPES, "z_order": FLAGS, "engine": ENGINES,
          "exclude_labels": ["a", 5, {}, STRANGE, [0.5] * 60, [1, 2], [[1]] * 60, [2**31] * 60],
          "out": ["a", 5, STRANGE, (None, None)]}
RADIUS = {"r": [*NUMBERS[:1], {}, STRANGE, None, [1.0, 2.0], [[1.0] * 60], ["a"] * 60, -1.0, numpy.nan],
          "queries": SEARCH["queries"], "exclude_self": FLAGS, "engine": ENGINES, "threads": OPTIONAL_WHOLE,
          "progress": CALL["progress"]}
ROWS = {"squared": FLAGS, "sort": ["a", None, 5, STRANGE, ["index"]], "index_dtype": INDEX_TYPES,
        "max_result_bytes": [*OPTIONAL_WHOLE, 0, -1]}
SUMS = {"points": [*ARRAYS, None, [1.0, 2.0]], "queries": SEARCH["queries"], "kernel": [None, 5, "spline", STRANGE, ["cubic"]],
        "masses": ["a", STRANGE, {}, POINTS, POINTS[:5, 0], -1.0, numpy.inf], "box": BOXES, "exclude_self": FLAGS,
        "engine": ENGINES, "comm": COMMUNICATORS, **CALL}
OF_FIELDS = {"fields": ["a", 5, STRANGE, [POINTS[:, 0]], {5: POINTS[:, 0]}, {"a": 5}, {"a": POINTS}, {"a": POINTS[:5, 0]},
                        {"a": ["b"] * 60}],
             "statistics": [None, 5, "mean", STRANGE, ["median"], [5]], "density_gradient": FLAGS}
LINKING = {"linking_length": [*NUMBERS, None, -1.0], "min_members": [*OPTIONAL_WHOLE, 0]}
ALONE = {"threads": OPTIONAL_WHOLE, "progress": CALL["progress"]}  # of what runs on the CPU only
IN_PHASE_SPACE = {"points": POINTS, "velocities": POINTS, "linking_length": 0.3, "psi_sigma": 1.0}
PHASE_SPACE = {"linking_length": [*NUMBERS, None, -1.0], "b": NUMBERS, "psi": NUMBERS, "psi_sigma": [*NUMBERS, None],
               "velocities": [None, "a", 5, STRANGE, POINTS[:5], POINTS[:, 0]], "masses": ["a", 5, STRANGE, POINTS]}
RUNGS = {"linking_lengths": ["a", 5, {}, STRANGE, None, [-1.0], [], [[1.0]], ["a"]], "b": [[0.1]],
         "min_members": [*OPTIONAL_WHOLE, 0]}
DENSITY = {"eps": [*NUMBERS, None, -1.0, numpy.inf], "min_samples": [*WHOLE, 0], "star": FLAGS, "return_core": FLAGS,
           "engine": ENGINES, "threads": OPTIONAL_WHOLE, "progress": CALL["progress"]}
SELECTION = {"min_cluster_size": [*WHOLE, 1], "min_samples": [*OPTIONAL_WHOLE, 0],
             "cluster_selection_method": [None, 5, "mass", STRANGE, []], "cluster_selection_epsilon": [*NUMBERS, None, -1.0],
             "max_cluster_size": [*OPTIONAL_WHOLE, 0], "allow_single_cluster": FLAGS, "engine": ENGINES,
             "threads": OPTIONAL_WHOLE, "progress": CALL["progress"]}
PARTICLES = {"velocities": ["a", 5, STRANGE, POINTS[:5], POINTS[:, 0]], "masses": ["a", 5, STRANGE, POINTS, POINTS[:5, 0]],
             "types": ["a", 5, STRANGE, POINTS[:, 0], POINTS[:5].astype(int)]}
LINKED = {"secondary_types": [5, "a", STRANGE, ["a"], [9], [0]], "mean_separation": [None, 5, "a", "cosmology", STRANGE]}
EDGES = [None, "a", 5, {}, STRANGE, [0.1], [1.0, 0.5], [-1.0, 1.0], [0.0, numpy.nan], [[0.0, 1.0]], ["a", "b"]]
WEIGHTS = ["a", 5, {}, STRANGE, [1.0], -POINTS[:, 0], POINTS]
BALL = {"p": [1, "a", STRANGE], "eps": [*NUMBERS, -1]}
WORKERS = ["a", 2.5, [], STRANGE, 0]
RADII_OF_SCIPY = ["a", {}, STRANGE, ["a"], numpy.nan]
CLOVER = {"clover": ["a", 5, STRANGE, []], "hubs": OPTIONAL_WHOLE, "hub_selection": ["a", 5, STRANGE, []],
          "seed": [*OPTIONAL_WHOLE, -1]}
OTHERS = [None, "a", POINTS, TREE, kith.spatial.cKDTree(POINTS[:, :2].copy())]
OUTPUT_TYPES = [None, "list", STRANGE, ["dict"]]
GENERATOR = {"count": WHOLE + [-1], "dimension": WHOLE + [0], "seed": WHOLE + [-1], "dtype": DTYPES}
THEORY = {"masses": ["a", None, {}, STRANGE, [-1.0]], "cosmology": ["a", None, STRANGE], "redshift": NUMBERS + [-2]}
PICTURE = {"points": ["a", None, 5, {}, STRANGE], "axes": ["a", 5, STRANGE], "box": BOXES, "title": [5, STRANGE],
           "unit": [5, STRANGE], "plane": ["a", None, 5, (0, 0), (0, 7), (0.5, 1), STRANGE], "pixels": WHOLE}

# function, arguments that are right, wrong values of each argument
FUNCTIONS = {
    "knn": (kith.knn, {"points": POINTS, "k": 2}, {"points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, **SEARCH, **CALL}),
    "fof": (kith.fof, {"points": POINTS, "linking_length": 0.1, "return_catalog": True},
            {"points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, "return_catalog": FLAGS, "b": NUMBERS, "psi": NUMBERS,
             "psi_sigma": NUMBERS, "engine": ENGINES, **LINKING, **LINKED, **PARTICLES, **CALL}),
    "kith.halos": (kith.halos, {"points": POINTS, "linking_length": 0.3, "velocities": POINTS, "min_members": 2, "G": 1.0}, {
        "points": [*ARRAYS, None, [1.0, 2.0], TREE], "box": BOXES, "comm": COMMUNICATORS, "b": NUMBERS,
        "labels": ["a", 5, {}, STRANGE, [[1], [2]], POINTS[:, 0], LABELS[:5], LABELS - 2], "unbind": FLAGS,
        "softening": [*NUMBERS, 0, ("cubic", 1.0), ("spline", "a")], "outermost": FLAGS, "bound_only": FLAGS,
        "overdensities": [5, None, STRANGE, [200], ["200"], "c200", ["0c"]], "least_radius": [*NUMBERS, -1],
        "G": [*NUMBERS, 0], "scale_factor": [*NUMBERS, 0], "hubble": [*NUMBERS, -1], "omega_matter": [*NUMBERS, -1],
        "internal_energies": PARTICLES["masses"], "device": DEVICES, **PARTICLES, **LINKING, **LINKED, **ALONE}),
    "hierarchy": (kith.hierarchy, IN_PHASE_SPACE, {"points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, **PHASE_SPACE,
                                                   **ALONE}),
    "Hierarchy.cut": (HIERARCHY.cut, {"linking_length": 0.1}, {
        **LINKING, "b": NUMBERS, "comm": COMMUNICATORS, **ALONE}),
    "Hierarchy.ladder": (HIERARCHY.ladder, {"linking_lengths": [0.1]}, {**RUNGS, "comm": COMMUNICATORS, **ALONE}),
    "fof_ladder": (kith.fof_ladder, {"points": POINTS, "linking_lengths": [0.1]}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, **RUNGS, **ALONE}),
    "FofLadder.labels": (LADDER.labels, {"level": 0}, {"level": WHOLE, "comm": COMMUNICATORS, **ALONE}),
    "Tree.hierarchy": (TREE.hierarchy, {}, ALONE),
    "Tree.fof_ladder": (TREE.fof_ladder, {"linking_lengths": [0.1]}, {**RUNGS, **ALONE}),
    "Tree": (kith.Tree, {"points": POINTS}, {"points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES,
                                             "leaf_size": [*OPTIONAL_WHOLE, 0], "engine": ENGINES, **CLOVER, **CALL}),
    "kdtree_order": (kith.kdtree_order, {"points": POINTS}, {"points": [*ARRAYS, None, [1.0, 2.0], TREE],
                                                             "split": [None, 5, "a", STRANGE, ["widest"]], **CALL}),
    "z_order": (kith.z_order, {"points": POINTS}, {"points": [*ARRAYS, None, [1.0, 2.0], TREE], "box": BOXES,
                                                   "comm": COMMUNICATORS, "threads": CALL["threads"],
                                                   "progress": CALL["progress"]}),
    "group_order": (kith.group_order, {"labels": [0, 1, 0]}, {"labels": ["a", 5, {}, STRANGE, None, [[1], [2]], [0.5]],
                                                                    "groups": OPTIONAL_WHOLE, **CALL}),
    "GroupOrder.take": (kith.group_order([0, 1, 0]).take, {"array": [5, 6, 7]}, {
        "array": [STRANGE, None, 5, "a"], "others": FLAGS, "threads": CALL["threads"]}),
    "Tree.query": (TREE.query, {"k": 2}, {**SEARCH, "threads": CALL["threads"], "progress": CALL["progress"]}),
    "sum_neighbors": (kith.sum_neighbors, {"points": POINTS, "k": 4}, {
        "k": [*OPTIONAL_WHOLE, 0], "r": [0.1, "a"], **SUMS, **OF_FIELDS}),
    "sum_neighbors within r": (kith.sum_neighbors, {"points": POINTS, "r": 0.1}, {
        "k": [4, "a"], "r": [*RADIUS["r"][:2], STRANGE, [1.0, 2.0], [[1.0] * 60], ["a"] * 60, -1.0, numpy.nan, numpy.inf],
        **SUMS, **OF_FIELDS}),
    "density": (kith.density, {"points": POINTS}, {"k": [*WHOLE, 0], **SUMS}),
    "knn_blocks": (kith.knn_blocks, {"points": POINTS, "k": 2}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "k": [*WHOLE, 0], "block_rows": [*WHOLE, 0],
        "queries": SEARCH["queries"], "exclude_self": FLAGS, "max_distance": NUMBERS, "comm": COMMUNICATORS, **ALONE}),
    "radius_search": (kith.radius_search, {"points": POINTS, "r": 0.1}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, "device": DEVICES, **RADIUS, **ROWS}),
    "radius_count": (kith.radius_count, {"points": POINTS, "r": 0.1}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, "device": DEVICES, **RADIUS}),
    "Tree.radius_search": (TREE.radius_search, {"r": 0.1}, {**RADIUS, **ROWS}),
    "Tree.radius_count": (TREE.radius_count, {"r": 0.1}, RADIUS),
    "Tree.plane_boxes": (TREE.plane_boxes, {"plane": 0}, {"plane": [*WHOLE, -1]}),
    "pair_counts": (kith.pair_counts, {"points": POINTS, "edges": [0, 0.1]}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "other": SEARCH["queries"], "box": BOXES, "comm": COMMUNICATORS,
        "edges": EDGES, "pi_edges": EDGES[1:], "mu_edges": [*EDGES[1:], [0, 1.5]], "line_of_sight": [0, 2.5, "a", -1, 3, STRANGE],
        "weights": WEIGHTS, "other_weights": WEIGHTS, "separations": FLAGS, "engine": ENGINES, "device": DEVICES, **ALONE}),
    "correlation": (kith.correlation, {"points": POINTS, "edges": [0, 0.1], "box": 1.0}, {
        "points": [*ARRAYS, None, [1.0, 2.0], TREE], "randoms": [*ARRAYS, [1.0, 2.0, 3.0], [[1.0, 2.0]]],
        "box": [None, *BOXES, [1.0, 0.0, 1.0]], "edges": [*EDGES, [0, 0.6]], "pi_edges": [*EDGES[1:], [0, 0.6]],
        "mu_edges": EDGES[1:], "line_of_sight": [0, 2.5], "weights": WEIGHTS, "random_weights": WEIGHTS,
        "regions": [*OPTIONAL_WHOLE, 1, 10**6, POINTS], "random_regions": [*OPTIONAL_WHOLE, POINTS], "separations": FLAGS,
        "comm": COMMUNICATORS, **ALONE}),
    "mst": (kith.mst, IN_PHASE_SPACE, {"points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, **PHASE_SPACE,
                                     "engine": ENGINES, "device": DEVICES, **ALONE}),
    "Tree.mst": (TREE.mst, {}, {"engine": ENGINES, "threads": CALL["threads"], "progress": CALL["progress"]}),
    "Tree.fof": (TREE.fof, {"linking_length": 0.1}, {**LINKING, "b": NUMBERS, "engine": ENGINES, "threads": CALL["threads"],
                                                     "progress": CALL["progress"]}),
    "dbscan": (kith.dbscan, {"points": POINTS, "eps": 0.1}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, "device": DEVICES, **DENSITY}),
    "hdbscan": (kith.hdbscan, {"points": POINTS}, {
        "points": [*ARRAYS, None, [1.0, 2.0]], "box": BOXES, "comm": COMMUNICATORS, "device": DEVICES, **SELECTION}),
    "Tree.hdbscan": (TREE.hdbscan, {}, SELECTION),
    "approximate_predict": (kith.approximate_predict, {"clusters": CLUSTERS, "points": POINTS, "new_points": POINTS}, {
        "clusters": [None, 5, "a", LABELS, STRANGE], "points": [*ARRAYS, None, [1.0, 2.0], POINTS[:5]],
        "new_points": [*ARRAYS, None, [1.0, 2.0, 3.0], [[1.0, 2.0]]], **ALONE}),
    "HdbscanResult.cut": (CLUSTERS.cut, {"eps": 0.1}, {"eps": [*NUMBERS, None, -1.0, numpy.inf], **ALONE}),
    "Tree.dbscan": (TREE.dbscan, {"eps": 0.1}, DENSITY),
    "Box": (kith.Box, {"period": 1.0}, {"period": ["a", {}, STRANGE, -1, [], [1.0] * 9, ["a"]],
                                        "origin": ["a", {}, STRANGE, [], ["a", "b"], numpy.inf]}),
    "Halos.members_of": (HALOS.members_of, {"halo": 0}, {"halo": WHOLE, "snapshot": ["a", POINTS, STRANGE]}),
    "Halos.unbound_members_of": (HALOS.unbound_members_of, {"halo": 0}, {"halo": WHOLE}),
    "members_of": (GROUPS.members_of, {"group": 0}, {"group": WHOLE, "snapshot": ["a", POINTS, STRANGE]}),
    "read": (kith.read, {"path": "points.npy"}, {"path": PATHS, "types": ["gas", 2.5, 9, [1.5], {}, STRANGE],
                                                 "velocities": FLAGS, "masses": FLAGS, "ids": FLAGS, "internal_energies": FLAGS, "columns": COLUMNS, "sample": [*OPTIONAL_WHOLE, 0],
                                                 "seed": [*WHOLE, -1]}),
    "read_header": (kith.read_header, {"path": "points.npy"}, {"path": PATHS, "columns": COLUMNS}),
    "read_tipsy_array": (kith.read_tipsy_array, {"path": "points.npy"}, {"path": PATHS, "integers": [flag for flag in FLAGS if flag is not None]}),
    "write_tipsy": (kith.write_tipsy, {"path": "points.std", "snapshot": SNAPSHOT},
                    {"path": PATHS, "snapshot": ["a", None, POINTS, STRANGE]}),
    "write_catalog": (kith.write_catalog, {"path": "groups.hdf5", "catalog": GROUPS},
                        {"path": [None, 5, STRANGE, "a\0b", "a.txt"], "catalog": ["a", None, LABELS],
                         "snapshot": ["a", POINTS, STRANGE], "ids": ["a", 5, STRANGE, POINTS[:, 0], [1]],
                         "command": [5, STRANGE]}),
    "cKDTree": (kith.spatial.cKDTree, {"data": POINTS}, {
        "data": ["a", None, 5, {}, STRANGE, [[1.0, 2.0], [3.0]]], "leafsize": [*WHOLE, 0],
        "boxsize": ["a", {}, STRANGE, [1.0, 2.0], -1]}),
    "cKDTree.query": (TREE_OF_SCIPY.query, {"x": POINTS[:4]}, {
        "x": ["a", None, 5, {}, STRANGE, [1.0]], "k": ["a", 2.5, None, {}, STRANGE, [[1]], ["a"]], "eps": NUMBERS + [-1],
        "p": BALL["p"], "distance_upper_bound": NUMBERS, "workers": WORKERS}),
    "cKDTree.query_ball_point": (TREE_OF_SCIPY.query_ball_point, {"x": POINTS[:4], "r": 0.1}, {
        "x": ["a", None, 5, {}, STRANGE, [1.0]], "r": [*RADII_OF_SCIPY, [1.0, 2.0]], **BALL, "workers": WORKERS,
        "return_length": FLAGS}),
    "cKDTree.query_ball_tree": (TREE_OF_SCIPY.query_ball_tree, {"other": TREE_OF_SCIPY, "r": 0.1}, {
        "other": OTHERS, "r": RADII_OF_SCIPY, **BALL}),
    "cKDTree.query_pairs": (TREE_OF_SCIPY.query_pairs, {"r": 0.1}, {"r": RADII_OF_SCIPY, **BALL,
                                                                   "output_type": OUTPUT_TYPES}),
    "cKDTree.count_neighbors": (TREE_OF_SCIPY.count_neighbors, {"other": TREE_OF_SCIPY, "r": 0.1}, {
        "other": OTHERS, "r": [*RADII_OF_SCIPY, [[1.0]]], "p": BALL["p"], "weights": [1, [1.0], STRANGE],
        "cumulative": FLAGS}),
    "cKDTree.sparse_distance_matrix": (TREE_OF_SCIPY.sparse_distance_matrix,
                                       {"other": TREE_OF_SCIPY, "max_distance": 0.1},
                                       {"other": OTHERS, "max_distance": RADII_OF_SCIPY, "p": BALL["p"],
                                        "output_type": OUTPUT_TYPES}),
    "press_schechter": (kith.mass_function.press_schechter, {"masses": [1e4], "cosmology": COSMOLOGY}, THEORY),
    "sheth_tormen": (kith.mass_function.sheth_tormen, {"masses": [1e4], "cosmology": COSMOLOGY}, THEORY),
    "density_rms": (kith.mass_function.density_rms, {"masses": [1e4], "cosmology": COSMOLOGY}, THEORY),
    "collapse_threshold": (kith.mass_function.collapse_threshold, {"cosmology": COSMOLOGY},
                           {"cosmology": THEORY["cosmology"], "redshift": NUMBERS}),
    "more_massive": (kith.mass_function.more_massive, {"abundance": kith.mass_function.sheth_tormen, "masses": [1e4],
                                                       "cosmology": COSMOLOGY}, {"abundance": ["a", None, 5], **THEORY}),
    **{name: (make, {"count": 10}, GENERATOR) for name, make in kith.datasets.POINT_SETS.items()},
    "box_of": (kith.datasets.box_of, {"name": "lattice", "count": 10},
               {"name": ["no set", None, 5, []], "count": GENERATOR["count"], "dimension": GENERATOR["dimension"]}),
    "Cosmology": (kith.datasets.Cosmology, {}, {name: [*NUMBERS, None, numpy.inf] for name in (
        "omega_matter", "omega_baryon", "hubble", "spectral_index", "sigma8")}),
    "cosmic_box": (kith.datasets.cosmic_box, {"n": 4, "steps": 1}, {
        "n": [*WHOLE, 1], "box": [*NUMBERS, 0], "seed": [*WHOLE, -1], "steps": [*WHOLE, 0], "start_redshift": [*NUMBERS, 0],
        "cosmology": ["a", STRANGE], "backend": ["torch", None, 5], "dtype": ["int16", "no type", STRANGE],
        "progress": ["yes", 5]}),
    "halo": (kith.datasets.halo, {"count": 10}, {
        "count": [*WHOLE, 0], "profile": ["king", None, 5], "concentration": [*NUMBERS, 0], "particle_mass": [*NUMBERS, 0],
        "seed": GENERATOR["seed"], "dtype": GENERATOR["dtype"]}),
    "halos": (kith.datasets.halos, {"count": 100}, {
        "count": [*WHOLE, 0], "box": [*NUMBERS, 0], "profile": ["king", None, 5], "concentration": [*NUMBERS, 0],
        "in_halos": [*NUMBERS, 2], "smallest": [*WHOLE, 0], "largest": [*OPTIONAL_WHOLE, 1],
        "cosmology": ["a", STRANGE], "seed": GENERATOR["seed"], "dtype": GENERATOR["dtype"]}),
}


def functions():
    yield from FUNCTIONS.items()
    try:
        from kith import plot
    except ImportError:
        return
    yield "plot.density", (plot.density, {"points": POINTS}, {
        **PICTURE, "catalog": [{}, 5, LABELS], "masses": ["a", 5, STRANGE, [1.0]], "circles": WHOLE,
        "depth": ["a", 5, {}, STRANGE, [1.0], (1, 0), (0, numpy.nan), ("a", "b")]})
    yield "plot.neighbor_density", (plot.neighbor_density, {"points": POINTS}, {
        **PICTURE, "k": [*WHOLE, 1], "at": ["a", {}, STRANGE, [1.0, 2.0]]})
    yield "plot.condensed_tree", (plot.condensed_tree, {"tree": CLUSTERS}, {
        "tree": [None, 5, {}, LABELS], "axes": PICTURE["axes"], "title": PICTURE["title"]})
    yield "plot.dendrogram", (plot.dendrogram, {"ladder": LADDER}, {
        "ladder": [None, 5, {}, LABELS], "axes": PICTURE["axes"], "groups": [*WHOLE, 0], "branches": [*WHOLE, 0],
        "title": PICTURE["title"], "unit": PICTURE["unit"]})
    yield "plot.levels", (plot.levels, {"points": POINTS, "ladder": LADDER}, {
        **{name: wrong for name, wrong in PICTURE.items() if name != "pixels"}, "ladder": [None, 5, {}, LABELS]})
    yield "plot.mass_function", (plot.mass_function, {"catalog": GROUPS, "volume": 1.0}, {
        "catalog": [{}, None, 5, LABELS], "axes": PICTURE["axes"], "cumulative": FLAGS, "volume": [*NUMBERS, 0],
        "bins": ["a", 5, STRANGE, [1.0]], "cosmology": ["a", STRANGE], "mass_unit": NUMBERS,
        "length_unit": NUMBERS, "redshift": NUMBERS})


def calls_of_jax():
    jax = pytest.importorskip("jax")
    kith_jax = pytest.importorskip("kith.jax")
    points = jax.numpy.asarray(POINTS, dtype=jax.numpy.float32)
    of_sums = {"points": ["a", None, 5, {}, STRANGE], "k": [*WHOLE, 0], "queries": ["a", 5, {}, STRANGE, [[1.0, 2.0]]],
               "kernel": ["a", None, 5, STRANGE], "masses": ["a", STRANGE, POINTS[:5]], "box": BOXES,
               "exclude_self": FLAGS}
    return {"jax.knn": (kith_jax.knn, {"points": points, "k": 2}, {
                "points": ["a", None, 5, {}, STRANGE], "k": WHOLE, "queries": ["a", 5, {}, STRANGE, [[1.0, 2.0]]],
                "box": BOXES, "exclude_self": FLAGS, "max_distance": NUMBERS, "index_dtype": INDEX_TYPES,
                "comm": ["a", 5, STRANGE]}),
            "jax.fof": (kith_jax.fof, {"points": points, "linking_length": 0.1}, {
                "points": ["a", None, 5, {}, STRANGE], "linking_length": [*NUMBERS, None], "b": NUMBERS, "box": BOXES,
                "comm": ["a", 5, STRANGE]}),
            "jax.reduce_neighbors": (kith_jax.reduce_neighbors, {
                "function": lambda distances, own, other: distances, "points": points, "k": 2, "fields": points}, {
                "points": ["a", None, 5, {}, STRANGE], "k": [*WHOLE, 0], "fields": ["a", 5, STRANGE, POINTS[:5]],
                "block_rows": [*OPTIONAL_WHOLE, 0], "box": BOXES, "exclude_self": FLAGS, "max_distance": NUMBERS,
                "index_dtype": INDEX_TYPES, "comm": ["a", 5, STRANGE]}),
            "jax.Tree": (kith_jax.Tree, {"points": points}, {"points": ["a", None, 5, {}, STRANGE], "box": BOXES}),
            "jax.sum_neighbors": (kith_jax.sum_neighbors, {"points": points, "k": 2}, of_sums | {
                "fields": ["a", 5, STRANGE, {"a": POINTS}, {"a": "a"}, {3: points[:, 0]}]}),
            "jax.density": (kith_jax.density, {"points": points}, of_sums),
            "jax.fof_catalog": (kith_jax.fof_catalog, {"points": points, "linking_length": 0.1}, {
                "points": ["a", None, 5, {}, STRANGE], "linking_length": [*NUMBERS, None], "b": NUMBERS, "box": BOXES,
                "min_members": [*WHOLE, 0], "max_groups": [*OPTIONAL_WHOLE, -1], "comm": ["a", 5, STRANGE], **PARTICLES}),
            "jax.group_order": (kith_jax.group_order, {"labels": LABELS, "max_groups": 5}, {
                "labels": ["a", 5, None, {}, STRANGE, POINTS], "max_groups": [*WHOLE, -1],
                "arrays": ["a", 5, STRANGE, POINTS[:5]]})}


# What an argument is called where the message has another word for it.
ALSO = {"linking_length": ["linking length"], "linking_lengths": ["linking length"], "b": ["linking_length"],
        "queries": ["queries"], "period": ["box"], "origin": ["origins"], "path": ["name", "file"], "out": ["the array for"], "masses": ["mass"], "types": ["type"],
        "group": ["no group"], "r": ["radius", "radii"], "data": ["points"], "index_dtype": ["index_dtype"], "snapshot": ["snapshot"],
        "boxsize": ["box"], "min_members": ["minimum"]}


def wrong_calls(table):
    for name, (function, right, wrongs) in table:
        for argument, values in wrongs.items():
            for value in values:
                arguments = {**right, argument: value}
                if argument in ("b", "labels"):
                    arguments.pop("linking_length", None)
                yield name, function, argument, value, arguments


def complaint(function, argument, value, arguments):
    """What is wrong with how a call refuses its wrong argument; nothing if it refuses well."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except (TypeError, ValueError, NotImplementedError) as error:
        says = str(error)
        if any(raw in says for raw in ("incompatible function arguments", "object has no", "object is not", "unhashable",
                                       "unsupported operand", "ufunc", "cannot be interpreted", "not supported between")):
            return f"a raw message: {says}"
        if not any(word in says for word in [argument, *ALSO.get(argument, [])]):
            return f"does not name it: {says}"
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "takes it"


@pytest.mark.parametrize("name", [name for name, _ in functions()])
def test_arguments_of_the_wrong_kind_are_named(name, tmp_path, monkeypatch):
    if "velocities" in dict(functions())[name][1] and 6 not in DIMENSIONS:
        pytest.skip("phase space has 6 dimensions")
    monkeypatch.chdir(tmp_path)
    numpy.save("points.npy", POINTS)
    table = [(name, dict(functions())[name])]
    found = {f"{argument}={value!r}": says for _, function, argument, value, arguments in wrong_calls(table)
             if (says := complaint(function, argument, value, arguments)) is not None}
    assert not found


def test_arguments_of_the_wrong_kind_are_named_under_jax():
    found = {f"{name}, {argument}={value!r}": says
             for name, function, argument, value, arguments in wrong_calls(calls_of_jax().items())
             if (says := complaint(function, argument, value, arguments)) is not None}
    assert not found


def test_every_argument_is_tried():
    """A new argument of a public function needs its wrong kinds above."""
    for name, (function, right, wrongs) in functions():
        if name == "Box":  # of the core, without a signature
            continue
        taken = set(inspect.signature(function).parameters)
        assert taken - set(wrongs) <= {"compact_nodes", "copy_data", "balanced_tree", "return_sorted"}, name


@pytest.mark.parametrize("k", [5, 5.0, numpy.int16(5), numpy.float32(5), numpy.float64(5)])
def test_whole_floats_count(k):
    assert kith.knn(POINTS, k)[1].shape == (60, 5)
    assert TREE.query(k=k)[1].shape == (60, 5)
    assert (kith.fof(POINTS, 0.2, min_members=k) == kith.fof(POINTS, 0.2, min_members=5)).all()
    assert kith.knn(POINTS, 2, threads=k)[1].shape == (60, 2)
    assert len(kith.Tree(POINTS, leaf_size=k)) == 60
    assert kith.datasets.uniform(k).shape == (5, 3)


@pytest.mark.parametrize("k", [5.5, numpy.float32(5.5), numpy.nan, numpy.inf])
def test_broken_floats_are_named(k):
    with pytest.raises(TypeError, match=f"k is .*{k}.*; it must be a whole number"):
        kith.knn(POINTS, k)


def test_names_of_files_are_not_points():
    with pytest.raises(TypeError, match="points is 'snap.hdf5'; it must be an array: read a file by kith.read"):
        kith.fof("snap.hdf5", 1)


@pytest.mark.parametrize("columns, says", [(1, "1 dimension; this call takes points of 2 to 8 dimensions.*column of zeros"),
                                           (9, "9 dimensions; this call takes points of 2 to 8 dimensions.*transpose")])
def test_dimensions_beyond_the_limit_name_it(columns, says):
    for call in (kith.density, lambda points: kith.pair_counts(points, edges=[0, 1]),
                 lambda points: kith.fof(points, 1, return_catalog=True)):
        with pytest.raises(NotImplementedError, match=says) as error:
            call(numpy.zeros((5, columns)))
        assert "KITH" not in str(error.value)
