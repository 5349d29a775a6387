"""Trees: indices of points to build once and query many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import numpy.typing

from kith import _arrays, _core, _dbscan, _fof, _hdbscan, _hierarchy, _knn, _radius, _spanning_tree, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import box_on_line, normalize_arguments
from kith._hdbscan import HdbscanResult
from kith._hierarchy import FofLadder, Hierarchy
from kith._hints import attribute_error_of_tree, takes_own_names
from kith._radius import RadiusResult
from kith._spanning_tree import SpanningTree


class Tree:
    """An index of points to build once and query many times.

    Parameters
    ----------
    points, box, device, threads, progress
        As for `kith.knn`. The points are copied.
    engine : "auto", "tree", "brute", "kdtree" or "clover"
        The search algorithm that the index is for; answers do not depend on it. "auto" is "tree": planes of boxes, the
        only ones that answer every call. "brute" keeps the points alone, and not on a GPU; "kdtree" is a k-d tree, and
        "clover" cells around random hubs. A call that the engine does not support raises NotImplementedError, one with
        another engine than "auto" and this one ValueError.
    leaf_size : int, optional
        Most points in a leaf of engine "tree" (40), points in a leaf of engine "kdtree" (32; a multiple of 16).
    clover : "hierarchical" or "flat", optional
        Form of engine "clover": hubs on several levels, the default, or as published: one level of hubs, and edges between
        all cells.
    hubs : int, optional
        Hubs of the flat form; 1024 by default. No more are taken than there are points.
    hub_selection : "random" or "kmeans++", optional
        How the flat form selects hubs among the points; "random" by default.
    seed : int, optional
        Of the random hubs of engine "clover", 0 or more.

    Notes
    -----
    A tree cannot change: copies are the same tree. A tree in host memory is pickled as its points and options, and built
    anew on the CPU from the pickle; its results are then NumPy's.

    Examples
    --------
    >>> import kith
    >>> tree = kith.Tree([[0.25, 0.25], [0.875, 0.875], [0.5, 0.5]], box=1)
    >>> distances, indices = tree.query([[0.0, 0.0]], 2)
    >>> indices.tolist()
    [[1, 0]]
    >>> tree.fof(0.4).tolist()
    [0, 1, 0]
    """

    @takes_own_names
    def __init__(self, points: AnyArray, box: BoxLike = None, *, engine: str = "auto", leaf_size: int | None = None,
                 clover: str | None = None, hubs: int | None = None, hub_selection: str | None = None,
                 seed: int | None = None, device: str | None = None, threads: int | None = None,
                 progress: ProgressLike = False) -> None:
        if isinstance(points, Tree):
            raise TypeError("points is a kith.Tree; it must be an array")
        source, = normalize_arguments(points, box, one_dimension=True)
        call = source.call(device, threads, progress, engine)
        self._options = {"leaf_size": _as_count(leaf_size, "leaf_size"), "clover": _as_name(clover, "clover"),
                         "hubs": _as_count(hubs, "hubs"), "hub_selection": _as_name(hub_selection, "hub_selection"),
                         "seed": _as_seed(seed)}
        for name, value in self._options.items():
            engines = ("auto", "kdtree", "tree") if name == "leaf_size" else ("clover",)
            if value is not None and engine not in engines:
                raise ValueError(f"{name} is an option of engine={engines[-1]!r}, but engine is {engine!r}; leave it out")
        self._core = _core.Tree(call, *self._options.values())
        self._source = source._replace(core=self._core, box=None, like=_arrays.prototype_of(source.like))

    if not TYPE_CHECKING:  # checkers would take any name
        def __getattr__(self, name):
            raise attribute_error_of_tree(self, name)

    def __reduce__(self):
        options = {"engine": self.engine, **self._options}
        return _rebuilt, (self.points, self._source.unit, self.box, options, self._source.length_name)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: Any) -> Tree:
        return self

    def __len__(self) -> int:
        return self._core.size

    def __repr__(self) -> str:
        engine = "" if self.engine == "tree" else f", engine {self.engine!r}"
        axes = f"{self.dimension} dimension{'s' * (self.dimension != 1)}"
        return (f"<kith.Tree of {len(self)} points in {axes}, {self.dtype}, on "
                f"{self._core.device}{engine}>")

    @property
    def dimension(self) -> int:
        """Numbers of a point."""
        return self._source.shape[1]

    @property
    def dtype(self) -> numpy.dtype:
        """float32 or float64: that of the points."""
        return numpy.dtype(numpy.float64 if self._core.is_float64 else numpy.float32)

    @property
    def engine(self) -> str:
        """The engine that answers: "tree", "brute", "kdtree" or "clover"."""
        return self._core.engine

    @property
    def box(self) -> _core.Box:
        """The box, with every origin resolved."""
        return box_on_line(self._core.box) if self._source.on_line else self._core.box

    @property
    def points(self) -> numpy.ndarray:
        """A copy of the points in the order given, shape (n, d), wrapped into the box; plain numbers.

        Coordinates below 2**-173 of the largest one (2**-1053 in float64) may lose digits.
        """
        return self._core.points[:, :self.dimension]

    @property
    def order(self) -> Any:
        """Index of each point along the z-order curve, which engine "tree" sorts by.

        A view that cannot be written to; of a tree on a GPU, an object that CuPy and PyTorch take by DLPack.
        """
        return self._core.order

    @property
    def sorted_points(self) -> numpy.ndarray:
        """The same along the z-order curve, of engine "tree"."""
        return self._core.sorted_points[:, :self.dimension]

    def planes(self) -> list:
        """Planes of engine "tree" from the leaves up: for each, the first sorted position of every node, and the number of points."""
        return [self._core.plane(index) for index in range(self._core.plane_count)]

    def plane_boxes(self, plane: int = 0) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Boxes of the nodes of a plane of engine "tree": the least and the greatest coordinates of their points.

        Parameters
        ----------
        plane : int
            Index in `planes()`: 0, the default, is the plane of the leaves.

        Returns
        -------
        lower, upper : ndarray, shape (nodes, d), of the tree's dtype
            Copies, in the units of the points: Quantities if the points were. Node i holds the points
            ``sorted_points[first[i]:first[i + 1]]``, where ``first = planes()[plane]``. Its children on the plane below are
            the nodes from ``numpy.searchsorted(planes()[plane - 1], first[i])`` on.

        Raises
        ------
        ValueError
            A plane that does not exist.
        NotImplementedError
            A tree of another engine, or on a GPU.
        """
        boxes = self._core.node_boxes(max(-1, min(_arrays.as_whole(plane, "plane"), 2**31 - 1)))
        return tuple(_units.with_unit(faces[:, :self.dimension], self._source.unit) for faces in boxes)

    @takes_own_names
    def query(self, queries: AnyArray | None = None, k: int = 1, *, exclude_self: bool = False,
              max_distance: float | None = None, engine: str = "auto", threads: int | None = None,
              return_distances: bool = True, index_dtype: numpy.typing.DTypeLike = None, z_order: bool = False,
              exclude_labels: Any = None, out: Any = None, progress: ProgressLike = False) -> Any:
        """The k nearest points of every query, or of every point of the tree. As `kith.knn`."""
        return _knn.knn(self, k, queries, exclude_self=exclude_self, max_distance=max_distance, engine=engine,
                        threads=threads, return_distances=return_distances, index_dtype=index_dtype, z_order=z_order,
                        exclude_labels=exclude_labels, out=out, progress=progress)

    @takes_own_names
    def radius_search(self, r: float | AnyArray, queries: AnyArray | None = None, *, exclude_self: bool = False,
                      squared: bool = False, sort: str = "distance",
                      index_dtype: numpy.typing.DTypeLike = None, max_result_bytes: int | None = None,
                      engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> RadiusResult:
        """All points within a radius of every query, or of every point of the tree. As `kith.radius_search`."""
        return _radius.radius_search(self, r, queries, exclude_self=exclude_self, squared=squared, sort=sort,
                                     index_dtype=index_dtype, max_result_bytes=max_result_bytes, engine=engine,
                                     threads=threads, progress=progress)

    @takes_own_names
    def radius_count(self, r: float | AnyArray, queries: AnyArray | None = None, *, exclude_self: bool = False,
                     engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> numpy.ndarray:
        """The number of points within a radius of every query, or of every point of the tree. As
        `kith.radius_count`."""
        return _radius.radius_count(self, r, queries, exclude_self=exclude_self, engine=engine, threads=threads,
                                    progress=progress)

    @takes_own_names
    def fof(self, linking_length: float | None = None, *, b: float | None = None, min_members: int = 1,
            engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> Any:
        """Labels of friends-of-friends groups of positions, without a catalog. Otherwise as `kith.fof`."""
        return _fof.fof(self, linking_length, b=b, min_members=min_members, engine=engine, threads=threads,
                        progress=progress)

    @takes_own_names
    def dbscan(self, eps: float, min_samples: int = 5, *, star: bool = False, return_core: bool = False,
               engine: str = "auto", threads: int | None = None, progress: ProgressLike = False) -> Any:
        """Labels of DBSCAN's clusters. As `kith.dbscan`."""
        return _dbscan.dbscan(self, eps, min_samples, star=star, return_core=return_core, engine=engine, threads=threads,
                              progress=progress)

    @takes_own_names
    def hdbscan(self, min_cluster_size: int = 5, *, min_samples: int | None = None, cluster_selection_method: str = "eom",
                cluster_selection_epsilon: float = 0.0, max_cluster_size: int | None = None,
                allow_single_cluster: bool = False, engine: str = "auto", threads: int | None = None,
                progress: ProgressLike = False) -> HdbscanResult:
        """Clusters of different densities. As `kith.hdbscan`."""
        return _hdbscan.hdbscan(self, min_cluster_size, min_samples=min_samples,
                                cluster_selection_method=cluster_selection_method,
                                cluster_selection_epsilon=cluster_selection_epsilon, max_cluster_size=max_cluster_size,
                                allow_single_cluster=allow_single_cluster, engine=engine, threads=threads,
                                progress=progress)

    @takes_own_names
    def hierarchy(self, *, threads: int | None = None, progress: ProgressLike = False) -> Hierarchy:
        """All friends-of-friends groups, at every linking length. As `kith.hierarchy`."""
        return _hierarchy.hierarchy(self, threads=threads, progress=progress)

    @takes_own_names
    def fof_ladder(self, linking_lengths: Any = None, *, b: Any = None, min_members: int = 1, threads: int | None = None,
                   progress: ProgressLike = False) -> FofLadder:
        """Groups at several linking lengths. As `kith.fof_ladder`."""
        return _hierarchy.fof_ladder(self, linking_lengths, b=b, min_members=min_members, threads=threads, progress=progress)

    @takes_own_names
    def mst(self, *, engine: str = "auto", threads: int | None = None,
            progress: ProgressLike = False) -> SpanningTree:
        """The minimum spanning tree of the points. As `kith.mst`."""
        return _spanning_tree.mst(self, engine=engine, threads=threads, progress=progress)


def _as_count(value, name):
    """None, or a whole number; one beyond the core's limits becomes the limit."""
    return None if value is None else max(-1, min(_arrays.as_whole(value, name), 2**31 - 1))


def _as_name(value, name):
    """None, or a name, which the core checks."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a name, or None")
    return value


def _as_seed(seed):
    if seed is not None and not 0 <= (seed := _arrays.as_whole(seed, "seed")) < 2**64:
        raise ValueError(f"seed is {seed}; it must be 0 or more and below 2**64")
    return seed


def _rebuilt(points, unit, box, options, length_name=None):
    """A tree that was pickled; older pickles have a leaf size for the options."""
    tree = Tree(points, box, **(options if isinstance(options, dict) else {"leaf_size": options}))
    tree._source = tree._source._replace(unit=unit, length_name=length_name)
    return tree
