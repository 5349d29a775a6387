"""Pairs of points by distance."""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_other_set, normalize_arguments, over_ranks
from kith._hints import takes_own_names
from kith._warnings import warn


class PairCounts:
    """The number of pairs in each bin. Of points that are astropy Quantities, edges and separations are, too.

    Attributes
    ----------
    counts : NumPy array of int64, shape (bins,) or (bins, second bins)
        Exact, of every bin.
    weighted : NumPy array of float64 of the same shape, or None
        Sums of the products of weights.
    separations : NumPy array of float64 of the same shape, or None
        Mean of r, rp or s of the pairs of each bin, weighted as they are; NaN without pairs or weight.
    vanished_weights : int
        Weights above 0 that count as 0, being 2^-31 or less of the power of two at or below the largest.
    edges : NumPy array of float64, shape (bins + 1,)
        Edges of r, rp or s, rounded to the type of the points.
    second_edges : NumPy array of float64, or None
        Edges of pi or mu, rounded likewise.
    binning : str
        "r", "rp_pi" or "s_mu".
    line_of_sight : int or None
        Its axis.
    engine : str
        Engine used: "tree".
    """

    def __init__(self, counts: numpy.ndarray, weighted: numpy.ndarray | None, separations: numpy.ndarray | None,
                 vanished_weights: int, edges: numpy.ndarray, second_edges: numpy.ndarray | None, binning: str,
                 line_of_sight: int | None, engine: str) -> None:
        self.counts = counts
        self.weighted = weighted
        self.separations = separations
        self.vanished_weights = vanished_weights
        self.edges = edges
        self.second_edges = second_edges
        self.binning = binning
        self.line_of_sight = line_of_sight
        self.engine = engine

    def _in_unit(self, unit):
        """The same with lengths in that unit, or itself if it is None."""
        if unit is None:
            return self
        second = self.second_edges if self.binning == "s_mu" else _lengths(self.second_edges, unit)
        return PairCounts(self.counts, self.weighted, _lengths(self.separations, unit), self.vanished_weights,
                          _lengths(self.edges, unit), second, self.binning, self.line_of_sight, self.engine)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.counts.shape))
        return f"<kith.PairCounts of {int(self.counts.sum())} pairs in {shape} bins of {self.binning}>"


@takes_own_names
@over_ranks
def pair_counts(points: AnyArray, other: AnyArray | None = None, *, edges: AnyArray, pi_edges: AnyArray | None = None,
                mu_edges: AnyArray | None = None, line_of_sight: int | None = None, box: BoxLike = None,
                weights: AnyArray | None = None, other_weights: AnyArray | None = None, separations: bool = False,
                engine: str = "auto", device: str | None = None, threads: int | None = None,
                progress: ProgressLike = False, comm: Any = None) -> PairCounts:
    """The number of pairs of points in each bin of distance, all bins in one walk.

    Without `other` these are the unordered pairs of different points; with `other` all pairs of a point and one of
    `other`, also where both are the same points. Distances are to the nearest image. Bin k holds the pairs with
    edges[k] < r <= edges[k + 1], the first one also those at 0 if its lower edge is 0.

    Parameters
    ----------
    points, box, engine, threads, progress
        As for `kith.knn`. The engine is "auto" or "tree". Also a `kith.Tree`.
    device
        As for `kith.knn`; on a GPU, too. Weights are arrays of the host.
    comm : communicator of mpi4py or kith.mpi.Ranks, optional
        The processes that make this call together on their CPUs, each with its own points, others and weights. The pairs
        are those of the points of all processes, and all get the same result. See `kith.mpi`.
    other : array, shape (m, d), optional
        A second set, which is wrapped into the box of the points.
    edges : array, shape (bins + 1,)
        Edges of the separation r, with `pi_edges` of rp, the distance across the line of sight; with `mu_edges` of s,
        the separation. 0 or more, not descending; the last may be infinite. In the units of the points.
    pi_edges : array, optional
        Bins of (rp, pi): edges of the distance along the line of sight.
    mu_edges : array, optional
        Bins of (s, mu): edges from 0 to 1 of the cosine of the angle between pair and line of sight.
    line_of_sight : int, optional
        Its axis; by default the last one.
    weights, other_weights : array, shape (n,) and (m,), optional
        Weights of the points, finite and 0 or more; the weight of a pair is their product. They are rounded once to
        multiples of 2^-30 of the largest (of the power of two at or below it); sums are exact.
    separations : bool
        Also find the mean separation of the pairs of each bin: of r, rp or s, with weights weighted. The distance of every
        pair is then computed, which takes several times as long. The last of `edges` must be finite.

    Returns
    -------
    PairCounts
        `counts`, `weighted`, `separations` and the edges used.

    Raises
    ------
    ValueError
        For edges that descend, are negative or NaN, fewer than two, or above 0 with a square that underflows relative to
        the largest coordinate; for weights that are negative, not finite or not one per point; both kinds of second
        edges; for an infinite last edge with separations; and as `kith.knn`.
    NotImplementedError
        For another engine, a GPU over processes, and points of other dimensions.

    Notes
    -----
    Exact, the same bits for any number of threads and processes and on a GPU. Pairs of tree nodes that lie in one bin are
    counted without visiting their points, unless separations are wanted. Separations are summed in whole units of 2^-50
    of the power of two above the last edge, and the mean is rounded once. Over processes each holds the points of one
    other at a time. Source: Gray & Moore 2000 (NIPS).

    Examples
    --------
    >>> import kith
    >>> kith.pair_counts([[0, 0], [0, 1], [3, 0]], edges=[0, 1, 5]).counts.tolist()
    [1, 2]
    """
    found = counted(points, other, edges=edges, pi_edges=pi_edges, mu_edges=mu_edges, line_of_sight=line_of_sight, box=box,
                    weights=weights, other_weights=other_weights, separations=separations, engine=engine, device=device,
                    threads=threads, progress=progress, comm=comm)
    if found.vanished_weights > 0:
        count = f"{found.vanished_weights} weights count" if found.vanished_weights > 1 else "1 weight counts"
        warn(f"{count} as 0: less than about 2^-31 of the largest one")
    return found


def counted(points, other=None, *, edges, pi_edges=None, mu_edges=None, line_of_sight=None, box=None, weights=None,
            other_weights=None, separations=False, engine="auto", device=None, threads=None, progress=False, comm=None):
    """As `pair_counts`; `comm` is the team of a call over processes, or None."""
    source, edges = normalize_arguments(points, box, edges=edges)
    other = as_other_set(other, source, "other")
    if pi_edges is not None and mu_edges is not None:
        raise ValueError("pi_edges and mu_edges are both given; pairs are binned by (rp, pi) or by (s, mu)")
    binning, second = "r", numpy.empty(0)
    if pi_edges is not None:
        binning, second = "rp_pi", as_edges(*_units.in_unit(source.unit, pi_edges=pi_edges), "pi_edges")
    elif mu_edges is not None:
        binning, second = "s_mu", as_edges(mu_edges, "mu_edges")
    axis = -1 if line_of_sight is None else _arrays.as_whole(line_of_sight, "line_of_sight")
    if not -1 <= axis < 8 or (axis == -1 and line_of_sight is not None):
        raise ValueError(f"line_of_sight is {axis}; it must be an axis of the points, counted from 0")
    found = _core.count_pairs(source.call(device, threads, progress, engine, other, comm), other,
                              as_edges(edges, "edges"), binning, second, axis, as_weights(weights, "weights"),
                              as_weights(other_weights, "other_weights"),
                              _arrays.flag(separations, "separations"))
    counts, weighted, means, vanished, first, second, axis, used = found
    shape = (len(first) - 1, len(second) - 1) if binning != "r" else (len(first) - 1,)
    weighted, means = (None if sums is None else sums.reshape(shape) for sums in (weighted, means))
    found = PairCounts(counts.reshape(shape), weighted, means, vanished, first, second if binning != "r" else None, binning,
                       axis if axis >= 0 else None, used)
    return found._in_unit(source.unit)


def _lengths(numbers, unit):
    return None if numbers is None else _units.with_unit(numbers, unit)


def as_edges(edges, what):
    """Edges as numbers of float64."""
    edges = _arrays.as_column(edges, what)
    if edges.ndim != 1:
        raise ValueError(f"{what} has {edges.ndim} axes; it must be a list of numbers, the edges of bins")
    return numpy.ascontiguousarray(edges, dtype=numpy.float64)


def as_weights(weights, what):
    """None, or numbers of float64."""
    if weights is None:
        return None
    weights = _arrays.as_column(_units.plain(weights, what), what)
    if weights.ndim != 1:
        raise ValueError(f"{what} has {weights.ndim} axes; it must be one number per point")
    return numpy.ascontiguousarray(weights, dtype=numpy.float64)
