"""Two-point correlation functions from pair counts."""

from __future__ import annotations

import math
from typing import Any

import numpy

from kith import _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_other_set, normalize_arguments
from kith._hints import takes_own_names
from kith._pairs import PairCounts, as_weights, pair_counts


class Correlation:
    """A correlation function and the counts that it was made of.

    Attributes
    ----------
    xi : NumPy array of float64, shape (bins,) or (bins, second bins)
        NaN where nothing is expected: a bin without volume, or without random pairs.
    edges, second_edges : NumPy arrays of float64
        Those of the counts.
    pairs : PairCounts
        DD, the pairs of the points.
    cross_pairs, random_pairs : PairCounts, or None
        DR and RR, of the estimator of Landy and Szalay.
    estimator : str
        "natural" or "landy-szalay".
    """

    def __init__(self, xi: numpy.ndarray, estimator: str, pairs: PairCounts, cross_pairs: PairCounts | None = None,
                 random_pairs: PairCounts | None = None) -> None:
        self.xi = xi
        self.estimator = estimator
        self.pairs = pairs
        self.cross_pairs = cross_pairs
        self.random_pairs = random_pairs
        self.edges = pairs.edges
        self.second_edges = pairs.second_edges

    @property
    def centers(self) -> numpy.ndarray:
        """The middle of each bin of r, rp or s: the geometric mean of its edges, of a bin from 0 their mean."""
        low, high = self.edges[:-1], self.edges[1:]
        return numpy.where(low > 0, numpy.sqrt(low * high), (low + high) / 2)

    @property
    def wp(self) -> numpy.ndarray:
        """The projected function, twice the sum of xi times the width of the bins of pi: shape (bins,)."""
        if self.pairs.binning != "rp_pi":
            raise ValueError(f"the pairs are binned by {self.pairs.binning}; wp is of bins of (rp, pi): give pi_edges")
        return 2 * (self.xi * numpy.diff(self.second_edges)).sum(axis=1)

    def __repr__(self) -> str:
        return f"<kith.Correlation, {self.estimator}, of {self.pairs!r}>"


@takes_own_names
def correlation(points: AnyArray, randoms: AnyArray | None = None, *, edges: AnyArray, pi_edges: AnyArray | None = None,
                mu_edges: AnyArray | None = None, line_of_sight: int | None = None, box: BoxLike = None,
                weights: AnyArray | None = None, random_weights: AnyArray | None = None, threads: int | None = None,
                progress: ProgressLike = False) -> Correlation:
    """The two-point correlation function of points: xi(r), xi(rp, pi) with wp(rp), or xi(s, mu).

    In a periodic box, DD/RR - 1: RR, the pairs expected without clustering, is known from the volume of each bin (the
    natural estimator). With `randoms`, the estimator of Landy and Szalay (1993), (DD - 2 DR + RR)/RR, each divided by its
    sum of all pairs: for surveys, open boxes and any shape.

    Parameters
    ----------
    points, edges, pi_edges, mu_edges, line_of_sight, weights, threads, progress
        As for `kith.pair_counts`; points not as a `kith.Tree`.
    randoms : array, shape (m, d), optional
        Points without clustering that fill the volume of the points; several times as many.
    box : float, sequence of d or kith.Box, optional
        Periods. Without `randoms` every axis must be periodic, and the edges must not exceed half a period, beyond which
        the volume of a bin is not known.
    random_weights : array, shape (m,), optional
        Weights of the randoms.

    Returns
    -------
    Correlation
        `xi`, `centers`, the edges, the counts, and `wp` of bins of (rp, pi).

    Raises
    ------
    ValueError
        Without `randoms`: for an open axis, an edge beyond half a period, or bins of (s, mu) in other than three
        dimensions; and as `kith.pair_counts`.

    Examples
    --------
    >>> import kith, numpy
    >>> points = numpy.random.default_rng(1).random((20_000, 3))
    >>> found = kith.correlation(points, edges=[0.05, 0.1, 0.2], box=1)
    >>> bool((abs(found.xi) < 0.02).all())
    True
    """
    bins: dict[str, Any] = {"edges": edges, "pi_edges": pi_edges, "mu_edges": mu_edges, "line_of_sight": line_of_sight}
    run: dict[str, Any] = {"threads": threads, "progress": progress}
    if isinstance(points, _core.Tree) or hasattr(points, "_source"):
        raise TypeError("points is a tree; the correlation needs the points themselves")
    source, = normalize_arguments(points, box)
    dimension = source.shape[1] if len(source.shape) == 2 else 0
    if randoms is None and random_weights is not None:
        raise ValueError("random_weights are given without randoms")
    if randoms is None:
        periods = _periods(source.box, dimension)
        # What the edges will be, and whether the volumes of the bins are known, before any pair is counted.
        none = source.core[:0] if source.shape else source.core  # which is refused
        volumes = _volumes(_counts(source, none, None, bins, {}), periods, source.real_type)
        pairs = _counts(source, source.core, None, bins, run, weights)
        expected = _all_pairs(source.shape[0], weights) * volumes / math.prod(periods)
        return Correlation(_ratio(_sums(pairs), expected) - 1, "natural", pairs)
    randoms = as_other_set(randoms, source, "randoms")
    random_weights = as_weights(random_weights, "random_weights")
    among = _counts(source, randoms, None, bins, run, random_weights)  # first, since an error is likeliest here
    pairs = _counts(source, source.core, None, bins, run, weights)
    cross = _counts(source, source.core, randoms, bins, run, weights, random_weights)
    count = randoms.shape[0]
    dd = _sums(pairs) / _all_pairs(source.shape[0], weights)
    dr = _sums(cross) / (_total(source.shape[0], weights) * _total(count, random_weights))
    rr = _sums(among) / _all_pairs(count, random_weights)
    return Correlation(_ratio(dd - 2 * dr + rr, rr), "landy-szalay", pairs, cross, among)


def _counts(source, points, other, bins, run, weights=None, other_weights=None):
    """Of plain points, in the unit of the source, which the edges may carry."""
    lengths = {name: bins[name] for name in ("edges", "pi_edges")}
    plain = dict(zip(lengths, _units.in_unit(source.unit, **lengths)))
    return pair_counts(points, other, box=source.box, weights=weights, other_weights=other_weights,
                       **{**bins, **plain}, **run)


def _sums(pairs):
    return pairs.counts.astype(numpy.float64) if pairs.weighted is None else pairs.weighted


def _total(count, weights):
    return float(count) if weights is None else math.fsum(as_weights(weights, "weights"))


def _all_pairs(count, weights):
    """The weights of all pairs; NaN if there is none."""
    if weights is None:
        pairs = count * (count - 1) / 2
    else:
        weights = as_weights(weights, "weights")
        pairs = (math.fsum(weights)**2 - math.fsum(weights**2)) / 2
    return pairs if pairs > 0 else math.nan


def _ratio(found, expected):
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where(expected > 0, found / expected, numpy.nan)


def _periods(box, dimension):
    if box is None:
        raise ValueError("without randoms the estimator needs a periodic box, whose volume gives the expected number of pairs; give "
                         "box or randoms")
    given = numpy.atleast_1d((box if isinstance(box, _core.Box) else _core.Box(box)).period)
    periods = numpy.broadcast_to(given, (dimension,)) if len(given) == 1 else given
    if (periods == 0).any():
        raise ValueError(f"axis {int(numpy.argmin(periods != 0))} of the box is open; without randoms every axis must be "
                         "periodic: give randoms")
    return [float(period) for period in periods]


def _volumes(pairs, periods, real_type):
    """Of each bin around a point; refused where nearest images do not fill it."""
    dimension = len(periods)
    along = 0 if pairs.line_of_sight is None else pairs.line_of_sight
    across = [period for axis, period in enumerate(periods) if axis != along]
    is_projected = pairs.binning == "rp_pi"
    _require_half(pairs.edges, real_type(min(across) if is_projected else min(periods)), "edges")
    if is_projected:
        _require_half(pairs.second_edges, real_type(periods[along]), "pi_edges")
        return numpy.outer(_balls(pairs.edges, dimension - 1), 2 * numpy.diff(pairs.second_edges))
    volumes = _balls(pairs.edges, dimension)
    if pairs.binning == "r":
        return volumes
    if dimension != 3:
        raise ValueError(f"bins of (s, mu) of points of {dimension} dimensions; without randoms their volume is known in "
                         "three: give randoms")
    return numpy.outer(volumes, numpy.diff(pairs.second_edges))


def _balls(edges, dimension):
    return math.pi**(dimension / 2) / math.gamma(dimension / 2 + 1) * numpy.diff(edges**dimension)


def _require_half(edges, period, what):
    if edges[-1] > period / 2:  # both rounded to the type of the points
        raise ValueError(f"the last of {what} is {edges[-1]:.10g}, more than half the period {period:.10g}: beyond it the "
                         "nearest images do not fill a bin; take shorter ones, or give randoms")
