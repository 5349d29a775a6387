"""Two-point correlation functions from pair counts."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core, _jackknife, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_other_set, normalize_arguments, of_all, over_ranks
from kith._hints import takes_own_names
from kith._pairs import PairCounts, as_weights, counted
from kith._tree import Tree


_LEAST_WEIGHT = 1e-140  # of the largest; 1 over it is the greatest
# What errors of pair counts call a set of points and its weights, and what it is here if the points are the randoms.
_ABOUT_A_SET = re.compile(r"\bpoints(?=: point | extend over )|\bweights(?= holds | is )")
_OF_RANDOMS = {"points": "randoms", "weights": "random_weights"}


class Correlation:
    """A correlation function and the counts that it was made of. Of points that are astropy Quantities, lengths are, too.

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
    samples : NumPy array of float64, shape (regions,) + xi.shape, or None
        With `regions`: the function without each of them.
    """

    def __init__(self, xi: numpy.ndarray, estimator: str, pairs: PairCounts, cross_pairs: PairCounts | None = None,
                 random_pairs: PairCounts | None = None, samples: numpy.ndarray | None = None) -> None:
        self.xi = xi
        self.samples = samples
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
    def separations(self) -> numpy.ndarray | None:
        """The mean separation of the pairs of points of each bin, of r, rp or s, if asked for: shape of xi."""
        return self.pairs.separations

    @property
    def wp(self) -> numpy.ndarray:
        """The projected function, twice the sum of xi times the width of the bins of pi: shape (bins,)."""
        return self._projected(self.xi)

    @property
    def covariance(self) -> numpy.ndarray:
        """Jackknife covariance of xi, shape (bins, bins); of bins of two axes those of `xi.ravel()`."""
        return _covariance(self._samples().reshape(len(self._samples()), -1))

    @property
    def wp_covariance(self) -> numpy.ndarray:
        """Jackknife covariance of wp, shape (bins, bins)."""
        return _covariance(self._projected(self._samples()))

    def _samples(self):
        if self.samples is None:
            raise ValueError("the correlation function was found without regions; give regions for its covariance")
        return self.samples

    def _projected(self, xi):
        if self.pairs.binning != "rp_pi":
            raise ValueError(f"the pairs are binned by {self.pairs.binning}; wp is of bins of (rp, pi): give pi_edges")
        return 2 * (xi * numpy.diff(self.second_edges)).sum(axis=-1)

    def __repr__(self) -> str:
        return f"<kith.Correlation, {self.estimator}, of {self.pairs!r}>"


@takes_own_names
@over_ranks
def correlation(points: AnyArray, randoms: AnyArray | None = None, *, edges: AnyArray, pi_edges: AnyArray | None = None,
                mu_edges: AnyArray | None = None, line_of_sight: int | None = None, box: BoxLike = None,
                weights: AnyArray | None = None, random_weights: AnyArray | None = None,
                regions: AnyArray | int | None = None, random_regions: AnyArray | None = None, separations: bool = False,
                threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Correlation:
    """The two-point correlation function of points: xi(r), xi(rp, pi) with wp(rp), or xi(s, mu).

    In a periodic box, DD/RR - 1: RR, the pairs expected without clustering, is known from the volume of each bin (the
    natural estimator). With `randoms`, the estimator of Landy and Szalay (1993), (DD - 2 DR + RR)/RR, each divided by its
    sum of all pairs: for surveys, open boxes and any shape.

    Parameters
    ----------
    points, edges, pi_edges, mu_edges, line_of_sight, threads, progress, comm
        As for `kith.pair_counts`; points not as a `kith.Tree`. Over processes each passes its own points and randoms, with
        the regions of these, and all get the same result.
    randoms : array, shape (m, d), optional
        Points without clustering that fill the volume of the points; several times as many.
    box : float, sequence of d or kith.Box, optional
        Periods. Without `randoms` every axis must be periodic, and the edges must not exceed half a period, beyond which
        the volume of a bin is not known.
    weights : array, shape (n,), optional
        As for `kith.pair_counts`, the largest 1e-140 to 1e140.
    random_weights : array, shape (m,), optional
        Weights of the randoms, likewise.
    regions : array of integers, shape (n,), or int, optional
        With `randoms`: the region of space of each point, of any numbers, for the jackknife: the function is found
        without each of the regions, too, and its covariance follows. A number K of regions divides the randoms into K
        parts of equal numbers along the z-order; each point is in the region of the random nearest to it.
    random_regions : array of integers, shape (m,), optional
        The region of each random, unless `regions` is a number.
    separations : bool
        Also find the mean separation of the pairs of points (DD) of each bin, as `kith.pair_counts` does.

    Returns
    -------
    Correlation
        `xi`, `centers`, `separations`, the edges, the counts, `wp` of bins of (rp, pi), and with `regions` `samples` and `covariance`.

    Raises
    ------
    ValueError
        Without `randoms`: for an open axis, an edge beyond half a period, bins of (s, mu) in other than three
        dimensions, or `regions`; for less than two regions, and one that has points but no randoms; and as
        `kith.pair_counts`.
    NotImplementedError
        As `kith.pair_counts`.

    Notes
    -----
    All jackknife samples together take about three times as long as the function, for any number of regions: for each
    the pairs of which a point lies in it are counted, and subtracted from all. Unweighted samples are exact. Over processes
    each region takes seven pair counts of its own, which exchange points.

    Examples
    --------
    >>> import kith, numpy
    >>> points = numpy.random.default_rng(1).random((20_000, 3))
    >>> found = kith.correlation(points, edges=[0.05, 0.1, 0.2], box=1)
    >>> bool((abs(found.xi) < 0.02).all())
    True
    """
    bins: dict[str, Any] = {"edges": edges, "pi_edges": pi_edges, "mu_edges": mu_edges, "line_of_sight": line_of_sight}
    run: dict[str, Any] = {"threads": threads, "progress": progress, "comm": comm}
    if isinstance(points, _core.Tree) or hasattr(points, "_source"):
        raise TypeError("points is a tree; the correlation needs the points themselves")
    source, = normalize_arguments(points, box)
    dimension = source.shape[1] if len(source.shape) == 2 else 0
    if randoms is None:
        of_randoms = {"random_weights": random_weights, "regions": regions, "random_regions": random_regions}
        for name in (name for name, value in of_randoms.items() if value is not None):
            raise ValueError(f"{name} are given without randoms")
    if comm is not None:
        comm.require_same("whether there are randoms", randoms is not None)
        comm.require_same("whether there are regions", regions is not None)
        comm.leave_points()
    weights = _weights(weights, "weights")
    totals = _Totals(comm)
    totals.note("points", source.shape[0] if source.shape else 0, weights)
    if randoms is None:
        periods = _periods(source.box, dimension)
        # What the edges will be, and whether the volumes of the bins are known, before any pair is counted.
        none = source.core[:0] if source.shape else source.core  # which is refused
        volumes = _volumes(_counts(source, none, None, bins, {}, separations=separations), periods, source.real_type)
        pairs = _counts(source, source.core, None, bins, run, weights, separations=separations)
        expected = totals.of("points").pairs * volumes / math.prod(periods)
        return Correlation(_ratio(_sums(pairs), expected) - 1, "natural", pairs._in_unit(source.unit))
    randoms = as_other_set(randoms, source, "randoms")
    random_weights = _weights(random_weights, "random_weights")
    totals.note("randoms", randoms.shape[0], random_weights)
    if regions is None and random_regions is not None:
        raise ValueError("random_regions are given without regions of the points")
    if regions is not None:
        regions = _jackknife.as_regions(regions, random_regions, source.core, randoms, source.box, comm)
    if _arrays.flag(separations, "separations"):  # refuses an infinite last edge before any pair is counted
        _counts(source, source.core[:0] if source.shape else source.core, None, bins, {}, separations=True)
    # First, since an error is likeliest here.
    among = _counts(source, randoms, None, bins, run, random_weights, names=_OF_RANDOMS)
    pairs = _counts(source, source.core, None, bins, run, weights, separations=separations)
    cross = _counts(source, source.core, randoms, bins, run, weights, random_weights)
    sums = [_sums(counts) for counts in (pairs, cross, among)]
    xi = _landy_szalay(*sums, totals.of("points"), totals.of("randoms"))
    samples = None
    if regions is not None:
        holds_zero = all(edges is None or edges[0] == 0 for edges in (pairs.edges, pairs.second_edges))
        samples = _samples(source, randoms, weights, random_weights, regions, bins, run, sums, holds_zero)
    return Correlation(xi, "landy-szalay", *(counts._in_unit(source.unit) for counts in (pairs, cross, among)), samples)


def _samples(source, randoms, weights, random_weights, regions, bins, run, sums, holds_zero):
    """The function without each region."""
    points, others = source.core, randoms
    if run["comm"] is None:
        points = Tree(source.core, box=source.box, threads=run["threads"])
        box = points.box
        others = Tree(randoms, box=box, threads=run["threads"])
    else:
        box = _box_of_all(source, run["comm"])
    of_box = source._replace(box=box)  # with the origin that all sets are wrapped by
    points = _jackknife.Sample(points, numpy.asarray(source.core), weights, regions.of_points)
    others = _jackknife.Sample(others, numpy.asarray(randoms), random_weights, regions.of_randoms)

    def pairs_of(first, second, *both_weights):
        return _sums(_counts(of_box, first, second, bins, run, *both_weights))

    own = numpy.zeros_like(sums[0])
    own.flat[0] = holds_zero
    without = _jackknife.without_each_region(points, others, regions.count, sums, pairs_of, own, _Totals(run["comm"]))
    return numpy.array([_landy_szalay(*of_region) for of_region in without])


def _box_of_all(source, comm):
    """The box, with the origins that the points of all processes have: they follow from the least and the greatest
    coordinates."""
    points = numpy.asarray(source.core)
    corners = of_all(comm, numpy.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else points)
    corners = numpy.concatenate(corners)
    return source.box if source.box is None or len(corners) == 0 else Tree(corners, box=source.box, device="cpu").box


class _Weights(NamedTuple):
    """Of a set: the weight of all points, and of all unordered pairs; NaN if there is none."""

    total: float
    pairs: float


class _Totals:
    """The weights of sets of points, rounded once, whatever processes hold them: a process notes an exact sum."""

    def __init__(self, comm):
        self._comm = comm
        self._noted = {}

    def note(self, name, count, weights):
        """The others know it once all have begun to count."""
        noted: tuple[list, list] = [count], [count]
        if weights is not None:
            with numpy.errstate(over="ignore"):  # of weights that the core refuses
                noted = _exact_parts(weights), _exact_parts(weights**2)
        self._noted[name] = noted
        if self._comm is not None:
            self._comm.share(name, noted)

    def of(self, name):
        total = self._sum(name, 0)
        pairs = (total**2 - self._sum(name, 1)) / 2
        return _Weights(float(total), pairs if pairs > 0 else math.nan)

    def squares(self, name):
        """The sum of the squares of the weights."""
        return float(self._sum(name, 1))

    def _sum(self, name, of_squares):
        noted = [self._noted[name]] if self._comm is None else self._comm.shared(name)
        parts = [part for of_process in noted for part in of_process[of_squares]]
        return sum(parts) if all(isinstance(part, int) for part in parts) else math.fsum(parts)


def _exact_parts(numbers):
    """A few numbers with the same sum, without any rounding; NaN for numbers that the core refuses."""
    if not numpy.isfinite(numbers).all():
        return [math.nan]
    parts: list[float] = []
    while rest := math.fsum(itertools.chain(numbers, (-part for part in parts))):
        parts.append(rest)
    return parts


def _weights(weights, what):
    """None, or numbers of float64 whose products and sums of squares are neither infinite nor 0."""
    weights = as_weights(weights, what)
    largest = 0.0 if weights is None else float(abs(weights).max(initial=0.0))
    if 0 < largest < math.inf and not _LEAST_WEIGHT <= largest <= 1 / _LEAST_WEIGHT:
        raise ValueError(f"the largest of {what} is {largest:.6g}, and squares of weights would be beyond float64; multiply "
                         f"all by one number, which changes no correlation, so that it is {_LEAST_WEIGHT:g} to "
                         f"{1 / _LEAST_WEIGHT:g}")
    return weights


def _landy_szalay(dd, dr, rr, points, randoms):
    with numpy.errstate(invalid="ignore"):  # of no points
        dd, dr, rr = dd / points.pairs, dr / (points.total * randoms.total), rr / randoms.pairs
    return _ratio(dd - 2 * dr + rr, rr)


def _covariance(samples):
    """(K - 1)/K times the sum of the products of deviations from the mean of K samples."""
    deviations = samples - samples.mean(axis=0)
    return (len(samples) - 1) / len(samples) * (deviations.T @ deviations)


def _counts(source, points, other, bins, run, weights=None, other_weights=None, separations=False, names=None):
    """Of plain points, in the unit of the source, which the edges may carry. `names` are those of the sets in errors."""
    lengths = {name: bins[name] for name in ("edges", "pi_edges")}
    plain = dict(zip(lengths, _units.in_unit(source.unit, **lengths)))
    box = None if isinstance(points, Tree) else source.box
    try:
        found = counted(points, other, box=box, weights=weights, other_weights=other_weights, separations=separations,
                        **{**bins, **plain}, **run)
    except ValueError as error:
        if names is None:
            raise
        raise ValueError(_ABOUT_A_SET.sub(lambda what: names.get(what[0], what[0]), str(error))) from None
    if found.vanished_weights > 0:
        raise ValueError(f"{found.vanished_weights} weights are less than about 2^-31 of the largest one and count as 0 in "
                         "pairs; leave these points out, or the ones with the largest weights")
    return found


def _sums(pairs):
    return pairs.counts.astype(numpy.float64) if pairs.weighted is None else pairs.weighted


def _ratio(found, expected):
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where(expected > 0, found / expected, numpy.nan)


def _periods(box, dimension):
    if box is None:
        raise ValueError("without randoms the estimator needs a periodic box, whose volume gives the expected number of "
                         "pairs; give box or randoms")
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
