"""HDBSCAN*: clusters of different densities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_queries, normalize_arguments, over_ranks, progress_function
from kith._hints import takes_own_names
from kith._warnings import warn_of_few_points, warn_of_small_set

_METHODS = ("eom", "leaf")
_CLUSTERS = numpy.dtype([("parent", numpy.int32), ("size", numpy.int32), ("label", numpy.int32),
                         ("birth", numpy.float64), ("death", numpy.float64), ("stability", numpy.float64)])


@takes_own_names
@over_ranks
def hdbscan(points: AnyArray, min_cluster_size: int = 5, *, min_samples: int | None = None, box: BoxLike = None,
            cluster_selection_method: str = "eom", cluster_selection_epsilon: float = 0.0,
            max_cluster_size: int | None = None, allow_single_cluster: bool = False, engine: str = "auto",
            device: str | None = None, threads: int | None = None, progress: ProgressLike = False,
            comm: Any = None) -> HdbscanResult:
    """Clusters of different densities by HDBSCAN*, with probabilities, outlier scores and the condensed tree.

    The hierarchy holds the clusters of DBSCAN* at every eps; of those that have `min_cluster_size` points or more, the
    ones that last longest are selected. `kith.sklearn.HDBSCAN` has scikit-learn's interface.

    Parameters
    ----------
    points, box, engine, device, threads, progress, comm
        As for `kith.knn`. The engines are "tree" and "brute", on a GPU and over processes "tree" alone. A GPU finds core
        distances and the spanning tree; the hierarchy and its clusters are made on the host. Over processes, on the CPU,
        the labels, scores and core distances are those of this process's points, clusters and sizes those of all; edges
        and heights are on the first one, with global rows. That one needs about 130 bytes for each point of all.
    min_cluster_size : int
        Smallest cluster, 2 or more.
    min_samples : int, optional
        Points, itself included, that make a core point; the more, the more points are noise. By default
        `min_cluster_size`. scikit-learn counts alike; in the package `hdbscan` the same number is one less.
    cluster_selection_method : str
        "eom", clusters of the largest excess of mass; or "leaf", the smallest clusters of the tree.
    cluster_selection_epsilon : float
        Clusters that are born at a smaller distance are joined up to the first that is not. In the units of the points.
    max_cluster_size : int, optional
        Largest cluster that "eom" selects, `min_cluster_size` or more unless `allow_single_cluster`, as all points may be
        fewer. Not with "leaf", where scikit-learn and the package `hdbscan` ignore it.
    allow_single_cluster : bool
        All points may be one cluster.

    Returns
    -------
    HdbscanResult

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `kith.knn`, for numbers out of range, and for `max_cluster_size` with "leaf" or, unless `allow_single_cluster`,
        below `min_cluster_size`.
    NotImplementedError
        For points of other dimensions, an engine that does not find clusters on the device, a GPU where kith was built
        without CUDA, and a GPU with a `comm`.

    Warns
    -----
    UserWarning
        As `kith.knn`; within one process, where `min_samples` or `min_cluster_size` is larger than the number of points, so
        that all are noise.

    Notes
    -----
    Exact and unique: edges of the spanning tree are ordered by (mutual reachability distance, distance, smaller row,
    larger row), so that labels do not depend on threads, engine or device, and on the order of points only through exact
    ties.
    Close to O(n log n) in low dimensions, plus a search for `min_samples` neighbors; some 160 bytes of memory per point.
    Sources: Campello, Moulavi & Sander 2013 (PAKDD); outlier scores: Campello et al. 2015 (TKDD 10, 5).

    Examples
    --------
    >>> import kith
    >>> points = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 10], [10, 9], [10, 10], [50, 50]]
    >>> found = kith.hdbscan(points, 3)
    >>> found.labels.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, -1]
    >>> found.cut(1).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, -1]
    """
    source, epsilon = normalize_arguments(points, box, cluster_selection_epsilon=cluster_selection_epsilon)
    min_cluster_size = _arrays.at_least(2, min_cluster_size, "min_cluster_size")
    min_samples = 0 if min_samples is None else _arrays.at_least(1, min_samples, "min_samples")
    max_cluster_size = 0 if max_cluster_size is None else _arrays.at_least(1, max_cluster_size, "max_cluster_size")
    if not isinstance(cluster_selection_method, str) or cluster_selection_method not in _METHODS:
        raise ValueError(f"cluster_selection_method is {cluster_selection_method!r}; it must be 'eom' or 'leaf'")
    if max_cluster_size > 0 and cluster_selection_method == "leaf":
        raise ValueError(f"max_cluster_size is {max_cluster_size}, but limits only the clusters that 'eom' selects, and "
                         "cluster_selection_method is 'leaf'; leave one of them out")
    epsilon = _arrays.as_number(epsilon, "cluster_selection_epsilon")
    if not epsilon >= 0:
        raise ValueError(f"cluster_selection_epsilon is {epsilon}; it must be 0 or more")
    allow_single_cluster = _arrays.flag(allow_single_cluster, "allow_single_cluster")
    if 0 < max_cluster_size < min_cluster_size and not allow_single_cluster:
        raise ValueError(f"max_cluster_size is {max_cluster_size}, less than min_cluster_size, {min_cluster_size}, so that "
                         f"no cluster could be selected; give {min_cluster_size} or more, or leave it out")
    core = _core.find_density_clusters(source.call(device, threads, progress, engine, comm=comm), min_cluster_size,
                                       min_samples, cluster_selection_method == "leaf", epsilon, max_cluster_size,
                                       allow_single_cluster)
    if comm is None and min_samples > core.points:
        warn_of_few_points(min_samples, core.points)
    elif comm is None and len(core.sizes) == 0:
        warn_of_small_set(min_cluster_size, core.points)
    return HdbscanResult(core, _arrays.prototype_of(source.like), source.unit)


class HdbscanPrediction(NamedTuple):
    """The clusters of new points, as `kith.approximate_predict` finds them: arrays of shape (m,).

    Attributes
    ----------
    labels : array of int32
        Cluster of each new point, -1 for noise.
    probabilities : array of float64
        How close each is to the densest part of its cluster, from 0 (noise) to 1.
    neighbors : NumPy array of int32
        Row of the clustered point that is nearest by mutual reachability distance; -1 if there are none.
    distances : array
        That distance, in the units and type of the points; infinite if there are fewer points than `min_samples`.
    """

    labels: Any
    probabilities: Any
    neighbors: numpy.ndarray
    distances: Any


@takes_own_names
def approximate_predict(clusters: HdbscanResult, points: AnyArray, new_points: AnyArray, *, threads: int | None = None,
                        progress: ProgressLike = False) -> HdbscanPrediction:
    """The clusters that new points would join, without a change of the clusters that `kith.hdbscan` has found.

    A new point joins the clustered point that is nearest by mutual reachability distance, in the cluster that holds this
    one at that distance.

    Parameters
    ----------
    clusters : HdbscanResult
        Found within one process, without ids.
    points : array_like, Snapshot or Tree
        The points of the clusters, in the same order and units; only their number, type and units are compared. A
        `kith.Tree` of them saves the time to build one in each call.
    new_points : array_like, shape (m, d)
        In the units of the points; converted to their type.
    threads, progress
        As for `kith.knn`.

    Returns
    -------
    HdbscanPrediction

    Raises
    ------
    ValueError
        For points of another number, type, unit or box than those of the clusters, and new points that are not finite.
    TypeError, MemoryError
        As `kith.knn`.
    NotImplementedError
        For arrays in the memory of a GPU, and trees of other engines than "tree".

    Notes
    -----
    The package `hdbscan` has the same method, but looks for the nearest point among 2 `min_samples` candidates; here it is
    the nearest of all. O(n), and close to O(m log n). Source: McInnes, Healy & Astels 2017 (JOSS 2, 205).

    Examples
    --------
    >>> import kith
    >>> points = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 10], [10, 9], [10, 10], [50, 50]]
    >>> found = kith.hdbscan(points, 3)
    >>> kith.approximate_predict(found, points, [[0.5, 0.5], [9, 9.5], [30, 30]]).labels.tolist()
    [0, 1, -1]
    """
    if not isinstance(clusters, HdbscanResult):
        raise TypeError(f"clusters is of type {type(clusters).__name__}; it must be a kith.HdbscanResult, as kith.hdbscan "
                        "returns it")
    source, new_points = normalize_arguments(points, None, new_points=new_points)
    new_points = as_queries(new_points, source, "new_points")
    if new_points is None:
        raise TypeError("new_points is None; it must be an array of points")
    if len(source.shape) == 2 and tuple(new_points.shape)[1:] != source.shape[1:]:
        raise ValueError(f"new_points is of shape {tuple(new_points.shape)}; it must have a row of {source.shape[1]} "
                         "coordinates for each point, as the points have")
    if source.unit != clusters._unit:
        raise ValueError(f"points carry {source.unit or 'no unit'}, but were clustered with {clusters._unit or 'none'}; give "
                         "the points that were clustered")
    if not isinstance(source.core, _core.Tree):
        source = source._replace(box=clusters.box)
    found = _core.predict_density_clusters(source.call("cpu", threads, progress), clusters._core, new_points)
    like = source.prototype(new_points)

    def in_library(numbers):
        return _arrays.in_library_of(like, numbers)

    return HdbscanPrediction(in_library(found.labels), in_library(found.probabilities), found.neighbors,
                             _units.with_unit(in_library(found.distances.astype(source.real_type, copy=False)), source.unit))


class HdbscanResult:
    """The clusters of `kith.hdbscan`. `len(result)` is the number of points. Results can be copied and pickled if
    they are of all points of one process, without ids.

    Attributes
    ----------
    labels : array of int32, shape (n,)
        Cluster of each point, -1 for noise; clusters are numbered from 0 by their smallest member. Of the library of the
        points, as are all arrays of points and edges; in the host's memory, also where a GPU found the tree.
    probabilities : array of float64, shape (n,)
        How close each point is to the densest part of its cluster, from 0 (noise) to 1.
    outlier_scores : array of float64, shape (n,)
        GLOSH: from 0, in the densest part of the surroundings, toward 1.
    sizes : NumPy array of int64
        Number of members of each cluster.
    core_distances : array, shape (n,)
        The smallest eps at which each point is a core point of `kith.dbscan`, in the units and type of the points;
        infinite if there are fewer points than `min_samples`.
    edges : array of int32, shape (n - 1, 2)
        Rows of the points that each edge of the spanning tree joins, the smaller one first.
    heights : array, shape (n - 1,)
        The smallest eps at which each edge connects clusters of DBSCAN*: the mutual reachability distance, or the number
        after it. Ascending.
    condensed_tree : CondensedTree
    min_samples : int
    box : Box
        With every origin resolved.
    engine : str
        Engine used: "tree" or "brute".
    """

    def __init__(self, core, like, unit):
        self._core, self._like, self._unit = core, like, unit
        real_type = numpy.float64 if core.is_float64 else numpy.float32

        def lengths(numbers):
            return _units.with_unit(_arrays.in_library_of(like, numbers.astype(real_type, copy=False)), unit)

        self.labels = _arrays.in_library_of(like, core.labels)
        self.probabilities = _arrays.in_library_of(like, core.probabilities)
        self.outlier_scores = _arrays.in_library_of(like, core.outlier_scores)
        self.sizes = core.sizes
        self.core_distances, self.heights = lengths(core.core_distances), lengths(core.heights)
        self.edges = _arrays.in_library_of(like, core.edges)
        self.condensed_tree = CondensedTree(core)
        self.min_samples, self.box, self.engine = core.min_samples, core.box, core.engine

    def __getstate__(self):
        _require_whole(self._core, "copied and pickled")
        return self._core, self._like, self._unit

    def __setstate__(self, state):
        self.__init__(*state)

    def __len__(self) -> int:
        return self._core.points

    def __repr__(self) -> str:
        noise = int((self._core.labels < 0).sum())
        return f"<kith.HdbscanResult of {len(self)} point{'s' * (len(self) != 1)}: {len(self.sizes)} " \
               f"cluster{'s' * (len(self.sizes) != 1)}, {noise} noise point{'s' * (noise != 1)}>"

    @property
    def linkage(self) -> numpy.ndarray:
        """SciPy's linkage matrix of the hierarchy by mutual reachability distances: float64, shape (n - 1, 4)."""
        _require_whole(self._core, "listed")
        return self._core.linkage()

    def cut(self, eps: float, *, threads: int | None = None, progress: ProgressLike = False) -> Any:
        """Labels of DBSCAN* at `eps`: those of `kith.dbscan(points, eps, min_samples, star=True)`, without a search.

        An array of int32, shape (n,), of the library of the points; -1 for points that are not core points. Raises as
        `kith.dbscan`.
        """
        eps, = _units.in_unit(self._unit, eps=eps)
        labels, finish = _arrays.empty_like(self._like, (len(self),), numpy.int32)
        _core.cut_density(labels, self._core, _arrays.as_number(eps, "eps"), threads, progress_function(progress))
        return finish(labels)


class CondensedTree:
    """Clusters of `min_cluster_size` points or more, which split into two or lose points as density grows.

    Density is lambda, 1 / distance: 0 at the root, and the largest float64 where points coincide.

    Attributes
    ----------
    clusters : structured NumPy array, shape (clusters,)
        `parent`, the cluster that split into it, -1 for the root, which is cluster 0; `size`, its number of points;
        `label`, that of its members if it is selected, else -1; `birth`, lambda at which its parent split; `death`, the
        largest lambda at which a point leaves it or it splits; `stability`, the sum over its points of the lambda at
        which each leaves it, less `birth`. Parents come first.
    last_clusters : NumPy array of int32, shape (n,)
        The last cluster that each point leaves.
    lambdas : NumPy array of float64, shape (n,)
        At which it does.
    """

    def __init__(self, core):
        columns = core.clusters()
        self.clusters = numpy.empty(len(columns["parent"]), dtype=_CLUSTERS)
        for name in _CLUSTERS.names:
            self.clusters[name] = columns[name]
        self._core, self.last_clusters, self.lambdas = core, core.last_clusters, core.lambdas

    def __len__(self) -> int:
        return len(self.clusters)

    def __repr__(self) -> str:
        return f"<kith.CondensedTree of {len(self)} clusters and {len(self.lambdas)} points>"

    def rows(self) -> numpy.ndarray:
        """The tree as rows of (parent, child, lambda_val, child_size), as the package `hdbscan` lists it: points are
        numbered from 0, the root is n, and other clusters follow."""
        _require_whole(self._core, "listed")
        points, below = len(self.lambdas), self.clusters[1:]
        rows = numpy.empty(points + len(below), dtype=[("parent", numpy.int64), ("child", numpy.int64),
                                                       ("lambda_val", numpy.float64), ("child_size", numpy.int64)])
        rows["parent"] = numpy.concatenate((self.last_clusters, below["parent"])) + points
        rows["child"] = numpy.concatenate((numpy.arange(points), points + 1 + numpy.arange(len(below))))
        rows["lambda_val"] = numpy.concatenate((self.lambdas, below["birth"]))
        rows["child_size"] = numpy.concatenate((numpy.ones(points, dtype=numpy.int64), below["size"]))
        return rows


def _require_whole(core, done):
    if core.is_part:
        raise NotImplementedError(f"these are the clusters of one process's points, or of points with ids; only those of all "
                                  f"points of one process, without ids, can be {done}")
