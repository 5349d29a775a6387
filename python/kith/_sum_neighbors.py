"""Sums over neighbors: densities, means and gradients by a smoothing kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import as_queries, is_snapshot, normalize_arguments, over_ranks, require_rows
from kith._hints import takes_own_names
from kith._radius import radii_of

KERNELS = ("cubic", "quintic", "wendland-c2", "wendland-c4", "top-hat", "gaussian")
_STATISTICS = ("sum", "mean", "variance", "least", "greatest", "gradient")


class FieldSums(NamedTuple):
    """What `kith.sum_neighbors` finds of one field: an array of float64 each, shape (n,); None where it was not asked for.

    Attributes
    ----------
    sum : of mass times value times kernel, a density
    mean, variance : weighted by mass times kernel
    least, greatest : of all neighbors
    gradient : of the interpolated field, shape (n, d)
    """

    sum: Any
    mean: Any
    variance: Any
    least: Any
    greatest: Any
    gradient: Any


class NeighborSums:
    """The answer of `kith.sum_neighbors`, float64, a row for each query.

    Attributes
    ----------
    density : array, shape (n,)
        Sum of mass times kernel; infinite where the reach is 0.
    reach : array, shape (n,), or None
        Distance of the last of k neighbors, to which the kernel reaches. None: within radii.
    counts : array of int64, shape (n,), or None
        Number of neighbors within the radius. None: of k neighbors.
    density_gradient : array, shape (n, d), or None
        At fixed reach.
    fields : dict of FieldSums
        By the names of the fields.
    engine : str
        Engine used: "tree", "brute", "kdtree" or "clover".
    """

    def __init__(self, density: Any, reach: Any, counts: Any, density_gradient: Any, fields: dict[str, FieldSums],
                 engine: str) -> None:
        self.density = density
        self.reach = reach
        self.counts = counts
        self.density_gradient = density_gradient
        self.fields = fields
        self.engine = engine

    def __repr__(self) -> str:
        return f"<kith.NeighborSums of {len(self.density)} rows and {len(self.fields)} fields>"


@takes_own_names
@over_ranks
def sum_neighbors(points: AnyArray, k: int | None = None, queries: AnyArray | None = None, *,
                  r: float | AnyArray | None = None, kernel: str = "cubic", masses: AnyArray | float | None = None,
                  fields: Mapping[str, AnyArray] | None = None, statistics: Iterable[str] = ("mean",),
                  density_gradient: bool = False, box: BoxLike = None, exclude_self: bool = False, engine: str = "auto",
                  device: str | None = None, threads: int | None = None, progress: ProgressLike = False,
                  comm: Any = None) -> NeighborSums:
    """Densities, and means and gradients of fields, by sums over the neighbors of every point or query.

    The sums are those of smoothed particle hydrodynamics. They never need a list of neighbors.

    Parameters
    ----------
    points, queries, box, engine, device, threads, progress, comm
        As for `kith.knn`. Of a `kith.Snapshot` masses are used, too. On a GPU the engine is "tree", and points and queries
        may be arrays there. Over processes, on their CPUs, each passes the masses and fields of its own points, of the
        same types on all, and gets the sums of its own points or queries.
    k : int
        Neighbors to sum over, 1 or more; the kernel reaches to the last of them. The point itself is one of them, unless
        `exclude_self`. Instead, `r`:
    r : float or array, shape (n,) or (m,)
        Radius to which the kernel reaches, one for all or one for each query; finite, 0 or more.
    kernel : "cubic", "quintic", "wendland-c2", "wendland-c4", "top-hat" or "gaussian"
        Shape of the kernel: splines, Wendland functions, a constant, or a Gaussian of standard deviation reach/3 that is
        cut there. All are normalized.
    masses : array, shape (n,), or float, optional
        Of the points, 0 or more, in the host's memory; a number is the mass of each. By default those of a snapshot that
        has them, else 1.
    fields : dict of arrays, shape (n,) each, optional
        Finite numbers of the points, by name, in the host's memory.
    statistics : some of "sum", "mean", "variance", "least", "greatest" and "gradient"
        What is found of every field. A gradient, sum m/rho (A_j - A_i) grad W, finds densities first, and is not that at
        queries.
    density_gradient : bool
        Find the gradient of the density at fixed reach, sum m grad W, too.
    exclude_self : bool
        Leave the point itself out, by index. Not with queries.

    Returns
    -------
    NeighborSums
        With `density`, `reach` or `counts`, `density_gradient`, `fields` and `engine`. Arrays are float64, of the library
        of the points or of the queries (NumPy for CuPy), in the host's memory. With astropy Quantities they carry units.

    Raises
    ------
    ValueError
        For masses that are negative, masses or fields that are not finite or do not have a row for each point, gradients
        of a top hat, and as `kith.knn` and `kith.radius_search`.
    TypeError
        For types that are not numbers, or complex, or wider than float64; for both k and r, or neither.
    NotImplementedError
        For columns in memory of a GPU, engine "clover" within radii, other engines than "tree" on a GPU, and a GPU over
        processes.

    Warns
    -----
    UserWarning
        As `kith.knn`; by k, for k = 1, and for a field whose products with the masses are below about 1e-290, where
        float64 runs out of digits: scale one of them. Over processes on the first one.

    Notes
    -----
    The bits do not depend on the number of threads, the number of processes, the processor or the device:
    docs/semantics.md, "Sums over neighbors", has all formulas. A row with fewer than k neighbors is summed as it is. Cost as
    the neighbor search's. Source: Monaghan 1992 (ARA&A 30, 543), Dehnen and Aly 2012 (MNRAS 425, 1068).

    Examples
    --------
    >>> import numpy, kith
    >>> points = numpy.random.default_rng(1).random((10_000, 3))
    >>> sums = kith.sum_neighbors(points, 32, box=1, fields={"x": points[:, 0]}, statistics=["mean", "gradient"])
    >>> round(float(numpy.median(sums.density)), -4)
    10000.0
    >>> sums.fields["x"].gradient.shape
    (10000, 3)
    """
    if (k is None) == (r is None):
        raise TypeError("give either k, the number of neighbors to sum over, or r, the radius within which")
    if masses is None and is_snapshot(points):
        masses = getattr(points, "masses", None)
        masses = getattr(points, "uniform_mass", None) if masses is None else masses
    source, queries, r = normalize_arguments(points, box, queries=queries, r=r)
    queries = as_queries(queries, source)
    masses, mass_unit = _units.split(masses, "masses")
    if masses is not None:
        masses = _masses(masses, source.shape)
    names, columns, field_units = _columns(fields, source.shape)
    statistics = _statistics(statistics)
    if comm is not None:
        comm.require_same("the names of the fields", names)
        comm.require_same("the units of masses and fields", (mass_unit, field_units))
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}; it must be one of {', '.join(map(repr, KERNELS))}")
    if k is not None:
        k = _arrays.at_least(1, k, "k")
    density, reach, counts, gradient, sums, used = _core.sum_neighbors(
        source.call(device, threads, progress, engine, queries, comm), queries, k, None if r is None else radii_of(r), kernel,
        _arrays.flag(exclude_self, "exclude_self"), masses, columns, [_name(name) for name in names],
        statistics, _arrays.flag(density_gradient, "density_gradient"))
    like, dimension, length = source.prototype(queries), len(source.shape) and source.shape[1], source.unit
    per_volume = _unit((mass_unit, 1), (length, -dimension))

    def finished(array, unit=None):
        return None if array is None else _units.with_unit(_arrays.in_library_of(like, array), unit)

    of_fields = {}
    for name, unit, (total, mean, variance, least, greatest, slope) in zip(names, field_units, sums):
        of_fields[name] = FieldSums(finished(total, _unit((per_volume, 1), (unit, 1))), finished(mean, unit),
                                    finished(variance, _unit((unit, 2))), finished(least, unit), finished(greatest, unit),
                                    finished(slope, _unit((unit, 1), (length, -1))))
    return NeighborSums(finished(density, per_volume), finished(reach, length), finished(counts),
                        finished(gradient, _unit((per_volume, 1), (length, -1))), of_fields, used)


@takes_own_names
def density(points: AnyArray, k: int = 32, queries: AnyArray | None = None, *, kernel: str = "cubic",
            masses: AnyArray | float | None = None, box: BoxLike = None, exclude_self: bool = False,
            engine: str = "auto", device: str | None = None, threads: int | None = None,
            progress: ProgressLike = False, comm: Any = None) -> Any:
    """The density at every point, or at every query, from its k nearest points.

    Parameters
    ----------
    points, k, queries, kernel, masses, box, exclude_self, engine, device, threads, progress, comm
        As for `kith.sum_neighbors`.

    Returns
    -------
    density : array of float64, shape (n,) or (m,)
        Mass per volume; without masses points per volume. Infinite where all k points coincide with the query.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        As `kith.sum_neighbors`.

    Examples
    --------
    >>> import numpy, kith
    >>> points = numpy.random.default_rng(1).random((10_000, 3))
    >>> round(float(numpy.median(kith.density(points, box=1))), -4)
    10000.0
    """
    return sum_neighbors(points, k, queries, kernel=kernel, masses=masses, box=box, exclude_self=exclude_self,
                         engine=engine, device=device, threads=threads, progress=progress, comm=comm).density


def _masses(masses, shape):
    if numpy.ndim(masses) == 0 and not hasattr(masses, "__dlpack__") or isinstance(masses, numpy.generic):
        return numpy.full(shape[:1], _arrays.as_number(masses, "masses"))
    require_rows(shape, masses=masses)
    return _arrays.as_column(masses, "masses")


def _columns(fields, shape):
    """Names, columns and units of fields."""
    if fields is None:
        return [], [], []
    if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
        raise TypeError("fields must be a dict of arrays, with their names as keys")
    columns, units = [], []
    for name, field in fields.items():
        what = _name(name)
        field, unit = _units.split(field, what)
        require_rows(shape, **{what: field})
        column = _arrays.as_column(field, what)
        if column.ndim != 1:
            raise ValueError(f"{what} has the shape {tuple(column.shape)}; it must be one-dimensional")
        columns.append(column)
        units.append(unit)
    return list(fields), columns, units


def _name(field):
    """What errors call a field."""
    return f"fields[{field!r}]"


def _statistics(names):
    names = None if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if names is None or any(name not in _STATISTICS for name in names):
        raise ValueError(f"statistics must be a list of some of {', '.join(map(repr, _STATISTICS))}")
    return names


def _unit(*powers):
    """The product of powers of units; None if none of them has any."""
    product = None
    for unit, power in powers:
        if unit is not None:
            product = unit**power if product is None else product * unit**power
    return product
