"""Friends and neighbors: exact k nearest neighbors, neighbors within a radius, friends-of-friends groups and their
hierarchy, DBSCAN and HDBSCAN* clusters, minimum spanning trees and halos.

Points are n x d arrays with d from 2 to 8 (searches, labels and spanning trees also take 1), float32 or float64, of NumPy or
any library that speaks DLPack; results are arrays of the same library. Answers are exact and the same bits whatever the
number of threads, the processor or the GPU.

>>> import numpy, kith
>>> points = numpy.random.default_rng(1).random((10_000, 3), dtype=numpy.float32)
>>> distances, indices = kith.knn(points, 8, box=1)
>>> labels = kith.fof(points, b=0.2, box=1)

`kith.spatial` answers SciPy's calls, `kith.sklearn` scikit-learn's estimators, `kith.jax` works under `jax.jit`, and `comm=`
makes a call over MPI processes, each with its own points (`kith.mpi`).
`kith.datasets` makes points to try things on, `kith.plot` draws maps, mass functions of halos and the hierarchy of groups
(by Matplotlib), and `kith.mass_function` is what theory expects of these.
"""

import importlib

from kith import _core
from kith._blocks import KnnBlock, knn_blocks
from kith._catalog import Catalog
from kith._core import Box
from kith._correlation import Correlation, correlation
from kith._dbscan import dbscan
from kith._device_catalog import DeviceCatalog
from kith._devices import has_cuda, release_memory
from kith._files import read, read_catalog, read_header, read_tipsy_array, write_catalog, write_tipsy
from kith._fof import CatalogPart, b_of_overdensity, fof
from kith._group_order import GroupOrder, group_order
from kith._halo_catalog import Halos, HalosPart
from kith._halos import halos
from kith._hdbscan import CondensedTree, HdbscanPrediction, HdbscanResult, approximate_predict, hdbscan
from kith._hierarchy import FofLadder, Hierarchy, fof_ladder, hierarchy
from kith._kdtree import KdTreeOrder, kdtree_order
from kith._knn import KnnResult, knn
from kith._pairs import PairCounts, pair_counts
from kith._radius import RadiusResult, radius_count, radius_search
from kith._snapshot import Snapshot
from kith._spanning_tree import SpanningTree, mst
from kith._sum_neighbors import FieldSums, NeighborSums, density, sum_neighbors
from kith._tree import Tree
from kith._z_order import gather, z_order

Canceled: type[RuntimeError] = getattr(_core, "Canceled")
__version__ = _core.version
__all__ = ["Box", "Canceled", "Catalog", "CatalogPart", "CondensedTree", "Correlation", "DeviceCatalog", "FieldSums",
           "FofLadder", "GroupOrder", "Halos", "HalosPart", "HdbscanPrediction", "HdbscanResult", "Hierarchy", "KdTreeOrder", "KnnBlock",
           "KnnResult", "NeighborSums", "PairCounts", "RadiusResult", "Snapshot", "SpanningTree", "Tree", "approximate_predict", "b_of_overdensity", "correlation",
           "dbscan", "density", "fof", "fof_ladder", "gather", "group_order", "halos", "has_cuda", "hdbscan", "hierarchy",
           "kdtree_order", "knn", "knn_blocks", "mst", "pair_counts", "radius_count", "radius_search", "read",
           "read_catalog", "read_header", "read_tipsy_array", "release_memory", "sum_neighbors", "write_catalog",
           "write_tipsy", "z_order"]

_ON_DEMAND = ("datasets", "jax", "mass_function", "mpi", "plot", "sklearn", "spatial")
_MEANT = {"radius": "radius_search and radius_count", "KDTree": "Tree, and kith.spatial.KDTree with SciPy's methods",
          "cKDTree": "Tree, and kith.spatial.cKDTree with SciPy's methods",
          "DBSCAN": "dbscan, and kith.sklearn.DBSCAN with scikit-learn's methods",
          "NearestNeighbors": "knn and Tree, and kith.sklearn.NearestNeighbors with scikit-learn's methods",
          "HDBSCAN": "hdbscan, and kith.sklearn.HDBSCAN with scikit-learn's methods"}


def __getattr__(name):
    """Modules that only some programs use are loaded when they are named."""
    if name in _ON_DEMAND:
        return importlib.import_module(f"kith.{name}")
    hint = f"; there are {_MEANT[name]}" if name in _MEANT else ""
    raise AttributeError(f"module 'kith' has no attribute {name!r}{hint}")


def __dir__():
    return sorted({*__all__, "__version__", *_ON_DEMAND} - {"jax", "mpi", "sklearn"})  # which may not be installed
