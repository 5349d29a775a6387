"""Run by test_mpi.py over several processes: a wrong argument on one of them, the last, must be an error on all."""

import re

import kith.mpi
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
points = numpy.random.default_rng(world.rank).random((50, 3)).astype(numpy.float32)


def over(function, options):
    """Calls the function over all processes; those of kith.mpi.Ranks are among the options."""
    names = ("ids", "rebalance", "weights", "imbalance", "device_memory")
    of_ranks = {name: options.pop(name) for name in names if name in options}
    return function(threads=options.pop("threads", 1), comm=kith.mpi.Ranks(world, **of_ranks), **options)


def knn(**options):
    return over(kith.knn, {"points": points, "k": 3, **options})


def knn_blocks(**options):
    return list(over(kith.knn_blocks, {"points": points, "k": 3, "block_rows": 30, **options}))


def radius_search(**options):
    return over(kith.radius_search, {"points": points, "r": 0.1, **options})


def sum_neighbors(**options):
    return over(kith.sum_neighbors, {"points": points, "k": 3, "masses": points[:, 0], "fields": {"x": points[:, 1]},
                                     **options})


def pair_counts(ids=None, **options):  # whose weights are those of pairs
    options = {"points": points, "edges": [0, 0.1], "weights": points[:, 0], "threads": 1, **options}
    return kith.pair_counts(comm=kith.mpi.Ranks(world, ids=ids), **options)


def correlation(**options):
    options = {"points": points, "randoms": points, "edges": [0, 0.1], "threads": 1, **options}
    return kith.correlation(comm=world, **options)


def jackknife(**options):
    return correlation(**{"regions": 3, **options})


def fof(**options):
    return over(kith.fof, {"points": points, "b": 0.2, **options})


def halos(**options):
    return over(kith.halos, {"points": points, "b": 0.2, "velocities": points, "G": 1.0, "hubble": 0, "overdensities": (),
                             **options})


def dbscan(**options):
    return over(kith.dbscan, {"points": points, "eps": 0.1, **options})


def hdbscan(**options):
    return over(kith.hdbscan, {"points": points, **options})


def mst(**options):
    return over(kith.mst, {"points": points, **options})


def z_order(**options):
    return over(kith.z_order, {"points": points, **options})


def gather(indices=(3, 1), array=points, **options):
    return kith.gather(indices, array, comm=kith.mpi.Ranks(world, **options))


class Odd:
    """What raises an exception of a kind that other processes may not know."""

    def __array__(self, *_, **__):
        class Strange(KeyError):
            pass
        raise Strange("no array")


class Undecodable:
    """What raises an exception that cannot be made from a text."""

    def __array__(self, *_, **__):
        return b"\xff".decode()


SLIPS = [(call, slip) for call in (
    knn, knn_blocks, radius_search, sum_neighbors, pair_counts, correlation, jackknife, fof, halos, dbscan, hdbscan, mst,
    z_order) for slip in (
    {"points": None}, {"points": points[0]}, {"points": "words"}, {"points": points.astype(complex)},
    {"points": points[:, :1]}, {"points": points[:, :2]}, {"points": points.astype(numpy.float64)},
    {"points": points * numpy.nan}, {"points": Odd()}, {"points": Undecodable()}, {"box": "wide"}, {"box": -1},
    {"box": [1, 1]}, {"box": 2.0},
    {"threads": -1}, {"threads": "two"})]
SLIPS += [(call, slip) for call in (knn, knn_blocks, radius_search, sum_neighbors) for slip in (
    {"ids": numpy.arange(50)}, {"ids": numpy.arange(50) + 0.5}, {"ids": numpy.arange(49)}, {"queries": points[0]},
    {"queries": "words"}, {"queries": points[:, :2]}, {"queries": points},
    {"exclude_self": 3}, {"exclude_self": None})]
SLIPS += [(call, slip) for call in (knn, radius_search, sum_neighbors, fof) for slip in (
    {"rebalance": 3}, {"rebalance": True}, {"weights": "words"}, {"weights": points})]
SLIPS += [(call, slip) for call in (knn, radius_search, fof, z_order) for slip in (
    {"imbalance": 0.5}, {"imbalance": -1}, {"imbalance": "fair"}, {"imbalance": numpy.nan},
    {"device_memory": True}, {"device_memory": "yes"})]
SLIPS += [(z_order, slip) for slip in (
    {"weights": -numpy.ones(50)}, {"weights": numpy.ones(49)}, {"ids": numpy.arange(49)})]
SLIPS += [(gather, slip) for slip in (
    {"indices": [50 * world.size]}, {"indices": [-2]}, {"indices": "words"}, {"indices": [0.5]},
    {"array": points[:, :2]}, {"array": points.astype(numpy.float64)}, {"array": numpy.array([None] * 50)}, {"array": 5})]
SLIPS += [(knn, slip) for slip in (
    {"k": None}, {"k": 2.5}, {"k": "3"}, {"k": 0}, {"k": 4}, {"max_distance": "far"}, {"max_distance": -1},
    {"max_distance": 0.5}, {"exclude_self": True}, {"exclude_labels": numpy.zeros(50, int)})]
SLIPS += [(knn_blocks, slip) for slip in (
    {"k": None}, {"k": 0}, {"k": 4}, {"block_rows": 0}, {"block_rows": 31}, {"max_distance": "far"}, {"max_distance": 0.5})]
SLIPS += [(jackknife, slip) for slip in (
    {"regions": None}, {"regions": 4}, {"regions": 1}, {"regions": 10**6}, {"regions": "some"}, {"regions": numpy.arange(50)},
    {"regions": numpy.arange(50), "random_regions": numpy.arange(50)}, {"random_regions": numpy.arange(50)},
    {"randoms": points * numpy.nan}, {"randoms": points[:, :2]}, {"weights": -points[:, 0]})]
SLIPS += [(radius_search, slip) for slip in (
    {"r": None}, {"r": "wide"}, {"r": -1}, {"r": 0.2}, {"r": numpy.full(3, 0.1)}, {"r": numpy.full((50, 2), 0.1)})]
SLIPS += [(sum_neighbors, slip) for slip in (
    {"k": None}, {"k": 0}, {"k": 4}, {"k": None, "r": 0.1}, {"kernel": "quintic"}, {"kernel": "round"}, {"masses": None},
    {"masses": 1.0}, {"masses": -points[:, 0]}, {"masses": points[:3, 0]}, {"fields": None}, {"fields": {"y": points[:, 1]}},
    {"fields": {"x": points[:, 1].astype(numpy.float64)}}, {"fields": {"x": points}}, {"statistics": ["sum"]},
    {"statistics": "mean"}, {"density_gradient": True}, {"density_gradient": 3})]
SLIPS += [(pair_counts, slip) for slip in (
    {"edges": [0, 0.2]}, {"edges": [0.2, 0]}, {"edges": "words"}, {"edges": [0, 0.1, 0.2]}, {"mu_edges": [0, 1]},
    {"pi_edges": [0, 1]}, {"line_of_sight": 0}, {"weights": None}, {"weights": -points[:, 0]}, {"weights": points[:3, 0]},
    {"other": points}, {"other": "words"}, {"other_weights": points[:, 0]}, {"ids": numpy.arange(49)})]
SLIPS += [(correlation, slip) for slip in (
    {"randoms": None}, {"randoms": None, "box": 1.0}, {"randoms": "words"}, {"random_weights": points[:, 0]}, {"weights": points[:, 0]},
    {"weights": points[:3, 0]}, {"edges": [0.2, 0]}, {"edges": [0, 0.2]})]
SLIPS += [(fof, slip) for slip in (
    {"psi": 1}, {"psi": 1, "velocities": points}, {"psi": "fast", "velocities": points},
    {"return_catalog": True}, {"min_members": 5}, {"masses": points[:3, 0]},
    {"types": numpy.full(50, 0.5)}, {"min_members": 0}, {"return_catalog": 3},
    {"b": None}, {"b": "wide"}, {"b": -1}, {"b": 0.3}, {"b": 0.2, "linking_length": 0.1})]

SLIPS += [(halos, slip) for slip in (
    {"velocities": "fast"}, {"velocities": points[:3]}, {"velocities": points.astype(numpy.float64)},
    {"masses": points[:, 0]}, {"types": numpy.ones(50, numpy.uint8)}, {"internal_energies": points[:, 0]},
    {"labels": numpy.zeros(50, numpy.int32)}, {"secondary_types": [0]}, {"mean_separation": "cosmology"},
    {"unbind": False}, {"unbind": 3}, {"outermost": True}, {"bound_only": True}, {"min_members": 5}, {"softening": 0.1},
    {"softening": ("cubic", 1)}, {"G": 2.0}, {"G": None}, {"hubble": 1.0}, {"omega_matter": 0}, {"scale_factor": 0.5},
    {"overdensities": "words"}, {"least_radius": 0.1}, {"b": 0.3})]
SLIPS += [(dbscan, slip) for slip in (
    {"eps": None}, {"eps": "wide"}, {"eps": -1}, {"eps": 0.2}, {"min_samples": 0}, {"min_samples": 7}, {"star": True},
    {"star": 3}, {"return_core": True}, {"ids": numpy.arange(49)})]

SLIPS += [(hdbscan, slip) for slip in (
    {"min_cluster_size": 1}, {"min_cluster_size": 7}, {"min_samples": 0}, {"min_samples": 7},
    {"cluster_selection_method": "leaf"}, {"cluster_selection_epsilon": 0.5}, {"cluster_selection_epsilon": -1},
    {"max_cluster_size": 9}, {"allow_single_cluster": True}, {"ids": numpy.arange(49)})]

SLIPS += [(mst, slip) for slip in (
    {"psi": 1}, {"psi": 1, "b": 0.2, "velocities": points}, {"velocities": points}, {"b": 0.2}, {"ids": numpy.arange(49)})]

SLIPS += [(call, {"device": device}) for call in (knn, radius_search, fof, dbscan, hdbscan, mst) for device in ("cuda:1000", "gpu", 3)]

for call, slip in SLIPS:
    name = f"{call.__name__}({', '.join(f'{key}={value!r:.40}' for key, value in slip.items())})"
    try:
        call(**slip if world.rank == world.size - 1 else {})
        text = None
    except Exception as error:
        text = str(error.args[0])  # str() of a KeyError adds quotes
    texts = world.allgather(text)  # hangs where a process still waits within kith
    assert all(texts), f"{name}: {texts}"
    assert len(set(texts)) == 1, f"{name}: {texts}"
    assert re.match(r"rank \d: ", texts[0]) or "all ranks must" in texts[0], f"{name}: {texts[0]}"
    if world.rank == 0:
        print(name, flush=True)
for call in (knn, knn_blocks, radius_search, sum_neighbors, pair_counts, correlation, jackknife, fof, halos, dbscan, hdbscan,
             mst, z_order, gather):
    call()  # and all goes on
if world.rank == 0:
    print(len(SLIPS), "slips were raised everywhere")
