"""Pictures of points, groups and densities, by Matplotlib, which pip installs by `pip install matplotlib`.

Every function draws on the Axes it is given, or on new ones, and returns them. Lengths and masses are in the units of the
arrays; `unit` only adds the name of that of lengths.

>>> import kith
>>> points = kith.datasets.clustered(5000)
>>> labels, halos = kith.fof(points, b=0.2, box=1, return_catalog=True)
>>> axes = kith.plot.density(points, halos, box=1)
>>> axes.figure.savefig("map.png")                                     # doctest: +SKIP
"""

import math
import os

import numpy

try:
    import matplotlib.pyplot as pyplot
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kith.plot draws by Matplotlib, and there is no {error.name}: pip install matplotlib",
                              name=error.name) from error

from kith import _arrays, _colors, _ladder_plot, mass_function as theory
from kith._map_layout import Words, circle_groups, color_map, decades_of_mass, decades_of_space, draw
from kith._projection import View, plane_of, project
from kith._units import refuse as refuse_units
from kith.files import read_catalog
from kith.linkage import FofLadder
from kith.search import Tree, unpacked

__all__ = ["color_map", "density", "levels", "mass_function", "merger_tree", "neighbor_density"]


def density(points, catalog=None, axes=None, *, box=None, masses=None, plane=(0, 1), circles=40, pixels=1088, title=None,
            unit=""):
    """The projected density of points, the largest groups circled: the picture of `kith fof --map`.

    Parameters
    ----------
    points : array, shape (n, d)
        In the memory of the CPU. A `kith.Snapshot`, or what has the same attributes, stands for its positions, masses
        and box.
    catalog : Catalog, or path of a catalog file, optional
        Circles have the radius of the group's farthest member, and continue on the other side of a periodic edge.
    axes : matplotlib.axes.Axes, optional
    box : float, sequence of d floats or Box, optional
        By default that of the snapshot or the catalog.
    masses : array, shape (n,), optional
        By default those of the snapshot, or 1 each.
    plane : two ints
        Which coordinates run to the right and upwards.
    circles : int
        Of more groups than these only the largest are circled.
    pixels : int
        Along the longer side; a multiple of 64.
    title : str, optional
        By default the name of the snapshot's file.
    unit : str
        Of lengths, for the bar at the lower left.

    Returns
    -------
    matplotlib.axes.Axes
        Its image holds the density in units of its mean.

    Examples
    --------
    >>> import kith
    >>> universe = kith.datasets.cosmic_box(16, 32)
    >>> labels, halos = kith.fof(universe, b=0.2, return_catalog=True)
    >>> axes = kith.plot.density(universe, halos, unit="Mpc/h")
    >>> [float(edge) for edge in axes.get_xlim()]
    [0.0, 32.0]
    """
    masses = getattr(points, "masses", None) if masses is None else masses
    catalog = _catalog_of(catalog)
    circles, pixels = _arrays.as_whole(circles, "circles"), _arrays.as_whole(pixels, "pixels")
    points, box, title = _opened(points, box, title, axes, unit, catalog)
    masses = None if masses is None else _arrays.as_real(masses, "masses")
    if masses is not None and masses.ndim != 1:
        raise ValueError(f"masses has {masses.ndim} axes; it must be one-dimensional, a number for each point")
    if masses is not None and len(masses) != len(points):
        raise ValueError(f"masses has {len(masses)} rows for {len(points)} points")
    if catalog is not None and catalog.center.shape[1] != points.shape[1]:
        raise ValueError(f"the groups are in {catalog.center.shape[1]} dimensions, the points in {points.shape[1]}")
    if catalog is not None and not hasattr(catalog, "max_radius"):
        raise ValueError(f"'{catalog.path}' does not say how far its groups reach (column max_radius), so that no "
                         "circles can be drawn; leave the catalog out")
    chosen, box = plane_of(points, box, plane)
    tree = Tree(chosen, box)
    view = View(chosen, tree.box)
    shape = view.fit(pixels)
    mass = project(tree, chosen, masses, view, shape)
    mean = mass.mean()
    values = mass / mean if mean > 0 else mass
    count = f"{len(points):,} point{'s' * (len(points) != 1)}"
    if catalog is None:
        return draw(axes, values, decades_of_mass(values), view, Words(title, "", count, "density / mean", unit))
    groups = len(catalog)
    subtitle = f"{groups:,} group{'s' * (groups != 1)} of {catalog._core.min_members:,} or more"
    subtitle += f", the {circles} largest circled" * (groups > circles)
    length = catalog.linking_length
    caption = count if length is None else f"{count}, linking length {length:.4g}"
    axes = draw(axes, values, decades_of_mass(values), view, Words(title, subtitle, caption, "density / mean", unit))
    circle_groups(axes, catalog, view, plane, circles)
    return axes


def neighbor_density(points, k=16, axes=None, *, box=None, plane=(0, 1), at=None, pixels=512, title=None,
                     unit=""):
    """The density of points in a plane, from the distance of every pixel to its k-th nearest point.

    Parameters
    ----------
    points, axes, box, plane, title, unit
        As for `density`.
    k : int
        2 or more. Noise falls as 1 / sqrt(k - 2), detail is lost in proportion to k^(1/d).
    at : sequence of d - 2 floats, optional
        Where the plane cuts the other axes; by default in the middle, of the box or of the points.
    pixels : int
        Along the longer side; a multiple of 64.

    Returns
    -------
    matplotlib.axes.Axes
        Its image holds the number of points in a volume over the mean of the box (of the extent of the points along
        open axes); where that has no volume, the number itself.

    Notes
    -----
    (k - 1) / V_k with the volume V_k of the sphere that reaches to the k-th point has no bias where points are evenly
    random. Source: Casertano & Hut 1985 (ApJ 298, 80).

    Examples
    --------
    >>> import kith
    >>> axes = kith.plot.neighbor_density(kith.datasets.clustered(5000), k=8, box=1, at=[0.5])
    >>> axes.figure.texts[2].get_text()
    'from the 8th nearest of 5,000 points, at 0.5'
    """
    k, pixels = _arrays.as_whole(k, "k"), _arrays.as_whole(pixels, "pixels")
    points, box, title = _opened(points, box, title, axes, unit)
    if not 2 <= k <= len(points):
        raise ValueError(f"k is {k}; it must be from 2 to the number of points, {len(points)}")
    tree = Tree(points, box)
    view = View(*plane_of(points, tree.box, plane))
    width, height = view.fit(pixels)
    lower, upper = _extent(points, tree.box)
    others = [axis for axis in range(tree.dimension) if axis not in plane]
    at = (lower + upper)[others] / 2 if at is None else numpy.atleast_1d(_arrays.as_real(at, "at"))
    if len(at) != len(others):
        raise ValueError(f"at has {len(at)} coordinates; there are {len(others)} axes besides those of the plane")
    places = numpy.empty((height, width, tree.dimension), dtype=points.dtype)
    places[..., plane[0]] = view.lower[0] + (numpy.arange(width) + 0.5) / width * view.span[0]
    places[..., plane[1]] = (view.lower[1] + (numpy.arange(height) + 0.5) / height * view.span[1])[:, None]
    places[..., others] = at
    reach = tree.query(places.reshape(-1, tree.dimension), k)[0][:, -1].astype(numpy.float64)
    unit_ball = math.pi ** (tree.dimension / 2) / math.gamma(tree.dimension / 2 + 1)
    with numpy.errstate(divide="ignore"):  # where k points are in one place
        values = (k - 1) / (unit_ball * reach.reshape(height, width) ** tree.dimension)
    values[numpy.isinf(values)] = values[numpy.isfinite(values)].max(initial=0)
    volume = numpy.prod(upper - lower)
    ending = "th" if k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    caption = f"from the {k}{ending} nearest of {len(points):,} points"
    caption += (", at " + ", ".join(f"{place:.6g}" for place in at)) if others else ""
    values, meaning = ((values * volume / len(points), "density / mean") if volume > 0 else (values, "points / volume"))
    return draw(axes, values, decades_of_space(values), view, Words(title, "", caption, meaning, unit))


def merger_tree(ladder, axes=None, *, groups=8, branches=60, title=None, unit=""):
    """How the largest groups come together as the linking length grows: a dendrogram of groups at several lengths.

    Parameters
    ----------
    ladder : FofLadder
    axes : matplotlib.axes.Axes, optional
    groups : int
        How many of the largest groups of the last level are shown.
    branches : int
        Groups are shown down to the size at which so many of them are made of no others.
    title : str, optional
    unit : str
        Of lengths.

    Returns
    -------
    matplotlib.axes.Axes
        Linking lengths run upwards, logarithmic unless the first is 0. Dots are groups, larger for more points; the
        largest part of a group stands below it. The numbers are those of points.

    Examples
    --------
    >>> import kith
    >>> ladder = kith.fof_ladder(kith.datasets.clustered(5000), b=[0.05, 0.1, 0.2], box=1, min_members=5)
    >>> axes = kith.plot.merger_tree(ladder, groups=3)
    >>> axes.get_ylabel()
    'linking length'
    """
    _require_ladder(ladder)
    _require_axes(axes)
    _require_texts(title=title, unit=unit)
    groups, branches = _arrays.as_whole(groups, "groups"), _arrays.as_whole(branches, "branches")
    for name, value in (("groups", groups), ("branches", branches)):
        if value < 1:
            raise ValueError(f"{name} is {value}; it must be 1 or more")
    forest = _ladder_plot.Forest(ladder.sizes, ladder.parents, groups, branches)
    if axes is None:
        axes = _ladder_plot.page(1300, 850, (0.08, 0.03, 0.9, 0.91))
        axes.set_title(f"The {len(forest.kept[-1])} largest groups, and their parts of {forest.smallest:,} points or more",
                       fontsize=9)
    _ladder_plot.draw_forest(axes, forest, ladder.sizes, numpy.asarray(ladder.linking_lengths))
    axes.set_ylabel(f"linking length [{unit}]" if unit else "linking length", fontsize=8)
    if title is not None:
        axes.set_title(title)
    _ladder_plot.darken(axes)
    return axes


def levels(points, ladder, axes=None, *, box=None, plane=(0, 1), title=None, unit=""):
    """Points in the color of the shortest linking length at which they are in a group.

    Parameters
    ----------
    points, box, plane, title
        As for `density`.
    ladder : FofLadder
        Of these points. What counts are its groups of `min_members`, 2 at least.
    axes : matplotlib.axes.Axes, optional
    unit : str
        Of lengths.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import kith
    >>> points = kith.datasets.clustered(5000)
    >>> ladder = kith.fof_ladder(points, b=[0.05, 0.1, 0.2], box=1, min_members=20)
    >>> axes = kith.plot.levels(points, ladder)
    >>> len(axes.get_legend().get_texts())
    4
    """
    _require_ladder(ladder)
    points, box, title = _opened(points, box, title, axes, unit)
    box = ladder.box if box is None else box
    if len(points) != ladder._core.points:
        raise ValueError(f"points has {len(points)} rows, but the ladder is of {ladder._core.points} points")
    chosen, box = plane_of(points, box, plane)
    view = View(chosen, Tree(chosen, box).box)
    lowest = numpy.full(len(points), -1)
    for level in reversed(range(len(ladder))):
        labels = numpy.asarray(ladder.labels(level))
        lowest[(labels >= 0) & (labels < numpy.count_nonzero(ladder.sizes[level] > 1))] = level
    names = [f"{length:.4g} {unit}".strip() + f": {numpy.count_nonzero(sizes > 1):,} groups"
             for length, sizes in zip(numpy.asarray(ladder.linking_lengths), ladder.sizes)]
    axes = _ladder_plot.page(1300, 1040, (0.02, 0.025, 0.76, 0.935)) if axes is None else axes
    _ladder_plot.draw_levels(axes, chosen, lowest, view, names)
    axes.set_title(title, fontsize=9)
    _ladder_plot.darken(axes)
    return axes


def mass_function(catalog, axes=None, *, cumulative=False, volume=None, bins=None, cosmology=None, redshift=None,
                  mass_unit=1e10, length_unit=1.0):
    """How many groups there are of each mass, in a volume; and how many theory expects.

    Parameters
    ----------
    catalog : Catalog, or path of a catalog file
    axes : matplotlib.axes.Axes, optional
    cumulative : bool
        Draw the number of groups of a mass or more, n(>M); otherwise the number in an interval of its logarithm,
        dn/dlnM.
    volume : float, optional
        That the groups are of; by default that of their box.
    bins : array, optional
        Edges of the intervals; by default five to a factor of ten. Not for n(>M).
    cosmology : kith.datasets.Cosmology, optional
        Draw what Press & Schechter and Sheth & Tormen expect in it, too (`kith.mass_function`).
    redshift : float, optional
        Of the catalog, for these; by default what its file says, or 0.
    mass_unit, length_unit : float
        What masses are multiplied by to be in Msun/h, and lengths to be in Mpc/h; only used with a cosmology. By
        default they are as in the snapshots of Gadget-4 and `kith.datasets.cosmic_box`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Groups are counted as independent: the error bars, or the band, reach from the mean of which so many or more to that
    of which so few or fewer have a probability of 16 %, as beyond one standard deviation. Source of the approximations:
    Gehrels 1986 (ApJ 303, 336), equations 7 and 12. Groups without mass are left out.

    Examples
    --------
    >>> import kith
    >>> universe = kith.datasets.cosmic_box(16, 32)
    >>> labels, halos = kith.fof(universe, b=0.2, return_catalog=True)
    >>> axes = kith.plot.mass_function(halos, cosmology=universe.cosmology)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['Press & Schechter', 'Sheth & Tormen', 'groups']
    """
    catalog = _catalog_of(catalog)
    _require_groups(catalog)
    _require_axes(axes)
    cumulative = _arrays.flag(cumulative, "cumulative")
    if redshift is None:
        redshift = getattr(catalog, "redshift", None)
        redshift = 0.0 if redshift is None else redshift
    redshift, mass_unit, length_unit = (_arrays.as_number(value, name) for name, value in (
        ("redshift", redshift), ("mass_unit", mass_unit), ("length_unit", length_unit)))
    mass = numpy.sort(catalog.mass[catalog.mass > 0])
    volume = _volume_of(catalog) if volume is None else _arrays.as_number(volume, "volume")
    if not 0 < volume < math.inf:
        raise ValueError(f"volume is {volume}; it must be above 0")
    if cosmology is not None and catalog.center.shape[1] != 3:
        raise ValueError(f"theory is of groups in 3 dimensions, not {catalog.center.shape[1]}; give no cosmology")
    if axes is None:
        axes = pyplot.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
    axes.set(xscale="log", yscale="log")
    if cumulative or bins is None:
        edges = _edges(mass)
    else:
        edges = numpy.asarray(_arrays.as_real(bins, "bins"), dtype=numpy.float64)
        if edges.ndim != 1 or len(edges) < 2 or not edges[0] > 0 or not (numpy.diff(edges) > 0).all():
            raise ValueError("bins must be two edges or more, ascending, above 0")
    counts, _ = numpy.histogram(mass, edges) if len(edges) else (numpy.empty(0), None)
    if cosmology is not None and len(edges):
        _draw_theory(axes, edges, cumulative, cosmology, redshift, mass_unit / 1e10, length_unit)
    color = _colors.colors_at([0.15])[0]
    if not counts.any():
        axes.text(0.5, 0.5, "no groups", transform=axes.transAxes, ha="center", va="center", color=_colors.FAINT_INK)
    elif cumulative:
        # Over every mass between two neighboring ones there are as many groups as from the larger one on.
        masses = numpy.unique(numpy.append(edges[0], mass))
        counts = len(mass) - numpy.searchsorted(mass, masses)
        low, high = _poisson_limits(counts)
        axes.fill_between(masses, low / volume, high / volume, step="pre", color=color, alpha=0.25, linewidth=0)
        axes.step(masses, counts / volume, where="pre", color=color, linewidth=1.6, label="groups")
    else:
        filled = counts > 0
        counts, scale = counts[filled], (volume * numpy.diff(numpy.log(edges)))[filled]
        low, high = _poisson_limits(counts)
        axes.errorbar(numpy.sqrt(edges[1:] * edges[:-1])[filled], counts / scale,
                      yerr=((counts - low) / scale, (high - counts) / scale), fmt="o", color=color, markersize=5,
                      elinewidth=1.2, capsize=2.5, label="groups", zorder=3)
        axes.update_datalim([(edge, counts[0] / scale[0]) for edge in edges[[0, -1]]])
        axes.autoscale_view()
        axes.set_ylim(0.5 * (low / scale).min(), 2 * (high / scale).max())  # theory alone may go far lower
    in_mass, in_volume = ("", "") if cosmology is None else _units(mass_unit, length_unit)
    axes.set(xlabel=f"$M$ {in_mass}", ylabel=("$n({>}M)$ " if cumulative else r"$dn\,/\,d\ln M$ ") + in_volume)
    axes.grid(alpha=0.2)
    if len(axes.get_legend_handles_labels()[0]):
        axes.legend(frameon=False)
    return axes


def _draw_theory(axes, edges, cumulative, cosmology, redshift, mass_unit, length_unit):
    masses = numpy.geomspace(edges[0], edges[-1], 200)
    for place, dashes, expected, label in ((0.68, (4, 2), theory.press_schechter, "Press & Schechter"),
                                           (0.45, (), theory.sheth_tormen, "Sheth & Tormen")):
        arguments = (masses * mass_unit, cosmology, redshift)
        numbers = theory.more_massive(expected, *arguments) if cumulative else expected(*arguments)
        axes.plot(masses, numbers * length_unit**3, color=_colors.colors_at([place])[0], dashes=dashes, linewidth=1.6,
                  label=label)


def _units(mass_unit, length_unit):
    """Names of the units of mass and of numbers in a volume, where they are known."""
    power = math.log10(mass_unit)
    factor = "" if mass_unit == 1 else f"10^{{{power:.0f}}}\\,"
    mass = rf"$[{factor}M_\odot/h]$" if power == round(power) else rf"$[{mass_unit:g}\,M_\odot/h]$"
    return mass, r"$[(h/\mathrm{Mpc})^3]$" if length_unit == 1 else rf"$[(h/({length_unit:g}\,\mathrm{{Mpc}}))^3]$"


def _edges(mass):
    """Five intervals to a factor of ten, from the least mass to the largest."""
    if not len(mass):
        return mass
    if mass[0] == mass[-1]:
        return mass[0] * 10 ** numpy.array([-0.1, 0.1])
    intervals = max(1, math.ceil(5 * math.log10(mass[-1] / mass[0])))
    return numpy.append(mass[0] * 10 ** (numpy.arange(intervals) / 5), mass[0] * 10 ** (intervals / 5) * (1 + 1e-12))


def _poisson_limits(counts):
    """The least and the largest mean of which such counts are no more improbable than one standard deviation."""
    low = counts * (1 - 1 / (9 * counts) - 1 / (3 * numpy.sqrt(counts))) ** 3
    return low, counts + numpy.sqrt(counts + 0.75) + 1


def _catalog_of(catalog):
    return read_catalog(catalog, members=False) if isinstance(catalog, (str, bytes, os.PathLike)) else catalog


def _volume_of(catalog):
    volume = math.prod(catalog.box.period)
    if not volume > 0:
        raise ValueError("the groups are in open space, which has no volume; give volume=")
    return volume


def _extent(points, box):
    """Lower and upper edges: of the box, or of the points along open axes."""
    lower, upper = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    for axis, (period, origin) in enumerate(zip(box.period, box.origin)):
        if period > 0:
            lower[axis], upper[axis] = origin, origin + period
    return lower, upper


def _require_groups(catalog):
    if not hasattr(catalog, "mass") or not hasattr(catalog, "center"):
        raise TypeError(f"catalog is of type {type(catalog).__name__}; it must be a kith.Catalog")
    if any(not isinstance(unit, str) for unit in getattr(catalog, "units", {}).values()):  # a file has names of units
        raise TypeError("catalog has columns with units; kith.plot draws plain numbers: find the groups of points without "
                        "units, as by points.to_value(unit)")


def _require_axes(axes):
    if axes is not None and not hasattr(axes, "imshow"):
        raise TypeError(f"axes is of type {type(axes).__name__}; it must be Axes of Matplotlib")


def _require_ladder(ladder):
    if not isinstance(ladder, FofLadder):
        raise TypeError(f"ladder is of type {type(ladder).__name__}; it must be a kith.FofLadder")


def _require_texts(**texts):
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it must be a text")


def _opened(points, box, title, axes, unit, catalog=None):
    """Points as an array of NumPy, their box, and a title."""
    _require_axes(axes)
    _require_texts(title=title, unit=unit)
    if catalog is not None:
        _require_groups(catalog)
    if title is None:
        title = os.path.basename(getattr(points, "path", ""))
    refuse_units(points, "points", "kith.plot draws plain numbers: give points.to_value(unit)")
    _, points, box = unpacked(points, box)
    if box is None and catalog is not None:
        box = catalog.box
    points = numpy.asarray(_arrays.as_real(points, "points"))
    if points.ndim != 2 or not 2 <= points.shape[1] <= 8:
        raise ValueError(f"points are of shape {points.shape}; they must be of shape (n, d) with d from 2 to 8")
    return points, box, title
