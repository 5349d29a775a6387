"""The Euclidean minimum spanning tree."""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import over_ranks
from kith._hints import takes_own_names
from kith._phase_space import phase_space_at


class SpanningTree:
    """The edges of a minimum spanning tree, shortest first.

    `len(tree)` is the number of edges. The sparse matrix of SciPy's `minimum_spanning_tree` is
    `scipy.sparse.csr_array((tree.weights, tree.edges.T), shape=(n, n))`.

    Attributes
    ----------
    edges : array of int32, over processes of int64, shape (n - 1, 2)
        Rows of the points that an edge joins, the smaller one first. Equally long edges are ordered by the smaller row,
        then by the larger one. Over processes, global indices or ids: each process holds the edges whose larger index is
        a point of its own.
    weights : array, shape (n - 1,)
        The length of each edge, in the units and type of the points.
    heights : array, shape (n - 1,)
        The smallest linking length at which `kith.fof` makes friends of the two, of the same type: the weight or the
        number after it, except where squares are subnormal; infinity if no number is long enough. The edges with
        `heights <= r` connect exactly the groups of `kith.fof(points, r)`.
    engine : str
        Engine used: "tree" or "brute".
    """

    def __init__(self, edges: Any, weights: Any, heights: Any, engine: str) -> None:
        self.edges = edges
        self.weights = weights
        self.heights = heights
        self.engine = engine

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"<kith.SpanningTree of {len(self)} edges>"


@takes_own_names
@over_ranks
def mst(points: AnyArray, *, box: BoxLike = None, linking_length: float | None = None, b: float | None = None,
        psi: float | None = None, psi_sigma: float | None = None, velocities: AnyArray | None = None,
        masses: AnyArray | None = None, engine: str = "auto", device: str | None = None, threads: int | None = None,
        progress: ProgressLike = False, comm: Any = None) -> SpanningTree:
    """The exact Euclidean minimum spanning tree (EMST) of the points: their single-linkage hierarchy.

    Parameters
    ----------
    points, box, engine, device, threads, progress, comm
        As for `kith.knn`. The engines "kdtree" and "clover" do not find the tree, and on a GPU only "tree" does. The
        results of a GPU are copied to the host.
    linking_length, b, psi, psi_sigma, velocities, masses
        For a tree in phase space, as for `kith.fof`: velocities times linking_length / psi count as lengths. The edges
        whose `heights` are at most the linking length connect the groups of `kith.fof` with the same arguments.

    Returns
    -------
    SpanningTree
        `edges`, `weights` and `heights`, shortest edge first: n - 1 edges, none of fewer than two points. They are
        arrays of PyTorch or JAX if the points are, else of NumPy; in the host's memory, also where a GPU found them.
        They own their memory, without a copy; JAX makes one where it puts arrays by default. Over the processes of a
        `comm`, the edges whose larger index is one of this process's points, in the same order: those of all processes,
        merged, are the tree.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `kith.knn`.
    NotImplementedError
        For points of other dimensions, an engine that does not find the tree on the device, and a GPU where kith was
        built without CUDA.

    Notes
    -----
    Exact: edges are ordered by (squared distance, smaller row, larger row), and the tree of that order is unique. So it
    is the same whatever the device and the number of threads, also where distances are equal. Coincident points are
    joined to the first of them. Close to O(n log n) in low dimensions. Source: Boruvka's method, as in Prokopenko, Sao
    and Lebrun-Grandie, ICPP 2022 (arXiv:2207.00514), with rows of nearest neighbors.
    Where squared distances underflow relative to the largest coordinate, such as a placeholder of 1e37 in float32,
    edges have height 0. This call then warns, except in phase space.

    Examples
    --------
    >>> import kith
    >>> tree = kith.mst([[0, 0], [5, 0], [1, 0], [5, 2]])
    >>> tree.edges.tolist(), tree.weights.tolist()
    ([[0, 2], [1, 3], [1, 2]], [1.0, 2.0, 4.0])
    """
    source, length, phase_space = phase_space_at(points, box, linking_length, b, psi, psi_sigma, velocities, masses,
                                                 one_dimension=True)
    if comm is not None:
        _arrays.require_type(source.like, numpy.int64)
    *arrays, used = _core.span(source.call(device, threads, progress, engine, comm=comm), length, phase_space)
    edges, weights, heights = (_arrays.in_library_of(source.like, array) for array in arrays)
    return SpanningTree(edges, _units.with_unit(weights, source.unit), _units.with_unit(heights, source.unit), used)
