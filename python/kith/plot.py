"""Pictures of points, groups and densities, by Matplotlib, which pip installs by `pip install matplotlib`.

Every function draws on the Axes it is given, or on new ones, and returns them. Lengths and masses stay in the units of the
arrays. Snapshots and catalogs that state theirs give the pictures their names; `unit` names that of lengths otherwise, and
without it they are code units.

>>> import kith
>>> points = kith.datasets.clustered(5000)
>>> labels, halos = kith.fof(points, b=0.2, box=1, return_catalog=True)
>>> axes = kith.plot.density(points, halos, box=1)
>>> axes.figure.savefig("map.png")                                     # doctest: +SKIP
"""

import math
import os
import warnings

import numpy

try:
    import matplotlib.pyplot as pyplot
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kith.plot draws by Matplotlib, and there is no {error.name}: pip install matplotlib",
                              name=error.name) from error

from kith import _arrays, _condensed_plot, _ladder_plot
from kith._call import normalize_arguments
from kith._hdbscan import CondensedTree, HdbscanResult
from kith._hierarchy import FofLadder
from kith._levels_file import LevelsFile
from kith._map_layout import Words, circle_groups, color_map, decades_of_mass, decades_of_space, draw
from kith._mass_plot import mass_function
from kith._projection import GRAIN, View, in_slice, plane_of, points_in_slice, project
from kith._subjects import (catalog_of, masses_of, name_of_axis, name_of_lengths, other_axes, require_axes,
                            require_finite, require_groups, require_groups_of, require_labels_of, require_same_lengths,
                            require_texts)
from kith._tree import Tree
from kith._units import plain as without_units

__all__ = ["color_map", "condensed_tree", "dendrogram", "density", "levels", "mass_function", "neighbor_density"]


def density(points, catalog=None, axes=None, *, box=None, masses=None, plane=(0, 1), depth=None, circles=40, pixels=1088,
            title=None, unit=None):
    """The projected density of points, the largest groups circled, as `kith fof --map` draws it.

    Points, slice, groups and circles are those of the program's picture. Shades differ a little: here every point is spread
    over the square of its eighth neighbor in the plane, there over that of eight points by the numbers in cells.

    Parameters
    ----------
    points : array, shape (n, d)
        In the memory of the CPU. A `kith.Snapshot`, or any object with its attributes, can be passed instead; its
        positions, masses and box are used.
    catalog : Catalog, or path of a catalog file, optional
        Circles have the radius of the group's farthest member, and continue on the other side of a periodic edge.
    axes : matplotlib.axes.Axes, optional
    box : float, sequence of d floats or Box, optional
        By default that of the snapshot or the catalog.
    masses : array, shape (n,), optional
        By default those of the snapshot, or 1 each.
    plane : two ints
        Which coordinates run to the right and upwards.
    depth : two floats, optional
        In three dimensions: only points and groups from the first to the second along the other axis are drawn, in a
        periodic box images of them, too. ValueError if no point is there.
    circles : int
        Of more groups than these only the largest are circled.
    pixels : int
        Along the longer side, 64 or more; rounded down to a multiple of 64.
    title : str, optional
        By default the name of the snapshot's file.
    unit : str, optional
        Of lengths, for the bar at the lower left; by default as the snapshot or the catalog states it.

    Returns
    -------
    matplotlib.axes.Axes
        Its image holds the density in units of its mean.

    Examples
    --------
    >>> import kith
    >>> universe = kith.datasets.cosmic_box(16, 32)
    >>> labels, halos = kith.fof(universe, b=0.2, return_catalog=True)
    >>> axes = kith.plot.density(universe, halos)
    >>> [float(edge) for edge in axes.get_xlim()]
    [0.0, 32.0]
    """
    masses = getattr(points, "masses", None) if masses is None else masses
    catalog = catalog_of(catalog)
    circles, pixels = _arrays.at_least(0, circles, "circles"), _arrays.at_least(GRAIN, pixels, "pixels")
    snapshot = points
    points, box, title = _opened(points, box, title, axes, unit, catalog)
    unit = name_of_lengths(unit, snapshot, catalog)
    masses = masses_of(points, masses)
    if catalog is not None:
        require_same_lengths(snapshot, catalog)  # first: other units explain groups that lie elsewhere
        require_groups_of(points, box, catalog)
    (chosen, plane_box), in_all = plane_of(points, box, plane), len(points)
    plane = [int(axis) for axis in plane]
    in_all_groups = None if catalog is None else len(catalog)
    if depth is not None:
        shown = points_in_slice(points, box, plane, depth)
        chosen, masses = chosen[shown], None if masses is None else masses[shown]
        catalog = None if catalog is None else catalog[in_slice(catalog.center, box, plane, depth, points.dtype)]
    tree = Tree(chosen, plane_box)
    view = View(chosen, tree.box)
    shape = view.fit(pixels)
    mass = project(tree, chosen, masses, view, shape)
    mean = mass.mean()
    values = mass / mean if mean > 0 else mass
    caption = f"{in_all:,} point{'s' * (in_all != 1)}{_along(plane, points.shape[1])}"
    if depth is not None:
        caption = f"{len(chosen):,} of {caption} from {depth[0]:.6g} to {depth[1]:.6g}"
    if catalog is None:
        return draw(axes, values, decades_of_mass(values), view,
                    Words(title, "", caption, "density / mean", unit, _names(plane, points.shape[1])))
    groups = len(catalog)
    drawn = f"{groups:,}" if depth is None else f"{groups:,} of {in_all_groups:,}"
    subtitle = f"{drawn} group{'s' * (in_all_groups != 1)} of {catalog._core.min_members:,} or more"
    subtitle += f", the {circles} largest circled" * (groups > circles)
    if catalog.linking_length is not None:
        caption += f", linking length {catalog.linking_length:.4g}"
    if "b" in catalog.provenance:
        caption += f" (b = {catalog.provenance['b']:.6g})"
    if catalog.psi is not None and catalog.psi != math.inf:
        caption += f", psi = {catalog.psi:.4g}"
    axes = draw(axes, values, decades_of_mass(values), view,
                Words(title, subtitle, caption, "density / mean", unit, _names(plane, points.shape[1])))
    circle_groups(axes, catalog, view, plane, circles)
    return axes


def _names(plane, dimension):
    return [name_of_axis(axis, dimension) for axis in plane]


def _along(plane, dimension):
    """Over which axes a map adds up."""
    others = [name_of_axis(axis, dimension) for axis in other_axes(plane, dimension)]
    return f", summed along {' and '.join(others)}" if others else ""


def neighbor_density(points, k=16, axes=None, *, box=None, plane=(0, 1), at=None, pixels=512, title=None,
                     unit=None):
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
        As for `density`.

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
    'from the 8th nearest of 5,000 points, at z = 0.5 code units'
    """
    k, pixels = _arrays.as_whole(k, "k"), _arrays.at_least(GRAIN, pixels, "pixels")
    snapshot = points
    points, box, title = _opened(points, box, title, axes, unit)
    unit = name_of_lengths(unit, snapshot)
    if not 2 <= k <= len(points):
        raise ValueError(f"k is {k}; it must be from 2 to the number of points, {len(points)}")
    tree = Tree(points, box)
    view = View(*plane_of(points, tree.box, plane))
    width, height = view.fit(pixels)
    lower, upper = _extent(points, tree.box)
    others = other_axes(plane, tree.dimension)
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
    caption += "".join(f", at {name_of_axis(axis, tree.dimension)} = {place:.6g} {unit}".rstrip()
                       for axis, place in zip(others, at))
    values, meaning = ((values * volume / len(points), "density / mean") if volume > 0 else (values, "points / volume"))
    return draw(axes, values, decades_of_space(values), view,
                Words(title, "", caption, meaning, unit, _names(plane, tree.dimension)))


def dendrogram(ladder, axes=None, *, groups=8, branches=60, title=None, unit=None):
    """How the largest groups come together as the linking length grows: a dendrogram of groups at several lengths.

    It is of one snapshot; a merger tree of halos would be in time.

    Parameters
    ----------
    ladder : FofLadder, or path of a file of `kith hierarchy`
    axes : matplotlib.axes.Axes, optional
    groups : int
        How many of the largest groups of the last level are shown.
    branches : int
        The smallest groups are left out, so that at most this many branches end.
    title : str, optional
    unit : str, optional
        Of lengths; by default as the snapshot states it.

    Returns
    -------
    matplotlib.axes.Axes
        Linking lengths run upwards, logarithmic unless the first is 0. Dots are groups, larger for more points; the
        largest part of a group stands below it. The numbers are those of points.

    Examples
    --------
    >>> import kith
    >>> ladder = kith.fof_ladder(kith.datasets.clustered(5000), b=[0.05, 0.1, 0.2], box=1, min_members=5)
    >>> axes = kith.plot.dendrogram(ladder, groups=3)
    >>> axes.get_ylabel()
    'linking length [code units]'
    """
    ladder = _ladder_of(ladder)
    require_axes(axes)
    require_texts(title=title, unit=unit)
    groups, branches = _arrays.at_least(1, groups, "groups"), _arrays.at_least(1, branches, "branches")
    forest = _ladder_plot.Forest(ladder.sizes, ladder.parents, groups, branches)
    unit = name_of_lengths(unit, ladder)
    if axes is None:
        axes = _ladder_plot.page(1300, 850, (0.08, 0.03, 0.9, 0.91))
        axes.set_title(_title(forest), fontsize=9)
    _ladder_plot.draw_forest(axes, forest, ladder.sizes, numpy.asarray(ladder.linking_lengths))
    axes.set_ylabel(f"linking length [{unit}]" if unit else "linking length", fontsize=8)
    if title is not None:
        axes.set_title(title)
    _ladder_plot.darken(axes)
    return axes


def _title(forest):
    groups = len(forest.kept[-1])
    which = "No group" if groups == 0 else "The largest group" if groups == 1 else f"The {groups} largest groups"
    if groups == 0 or forest.smallest == 1:
        return which
    return f"{which}; parts of fewer than {forest.smallest:,} points are not shown"


def condensed_tree(tree, axes=None, *, title=None):
    """The condensed tree of `kith.hdbscan`: how clusters lose points and split as density grows.

    Parameters
    ----------
    tree : HdbscanResult or CondensedTree
    axes : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        lambda = 1 / distance grows downwards, in one over the units of the points. The width of a cluster is its number
        of points. Selected clusters are in color, framed and with their labels if there are 40 at most; where points
        coincide and lambda is infinite, clusters end at the lower edge.

    Examples
    --------
    >>> import kith
    >>> axes = kith.plot.condensed_tree(kith.hdbscan(kith.datasets.clustered(5000), 50))
    >>> axes.get_ylabel()
    'lambda = 1 / distance'
    """
    tree = tree.condensed_tree if isinstance(tree, HdbscanResult) else tree
    if not isinstance(tree, CondensedTree):
        raise TypeError(f"tree is {tree!r}; it must be what kith.hdbscan returns, or its condensed_tree")
    require_axes(axes)
    require_texts(title=title)
    if axes is None:
        axes = _ladder_plot.page(1300, 850, (0.08, 0.03, 0.9, 0.91))
    _condensed_plot.draw_condensed_tree(axes, tree)
    if title is not None:
        axes.set_title(title)
    _ladder_plot.darken(axes)
    return axes


def merger_tree(*arguments, **options):
    """The former name of `dendrogram`."""
    warnings.warn("kith.plot.merger_tree is called kith.plot.dendrogram now", DeprecationWarning, stacklevel=2)
    return dendrogram(*arguments, **options)


def levels(points, ladder, axes=None, *, box=None, plane=(0, 1), title=None, unit=None):
    """Points in the color of the shortest linking length at which they are in a group.

    Parameters
    ----------
    points, box, plane, title
        As for `density`.
    ladder : FofLadder, or path of a file of `kith hierarchy --with-labels`
        Of these points: ValueError for groups of others. What counts are its groups of `min_members`, 2 at least.
    axes : matplotlib.axes.Axes, optional
    unit : str, optional
        Of lengths; by default as the snapshot states it.

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
    ladder = _ladder_of(ladder)
    snapshot = points
    points, box, title = _opened(points, box, title, axes, unit)
    require_same_lengths(snapshot, ladder, "groups")
    unit = name_of_lengths(unit, snapshot, ladder)
    is_file = isinstance(ladder, LevelsFile)
    if not is_file and len(points) != ladder._core.points:
        raise ValueError(f"points has {len(points)} rows, but the ladder is of {ladder._core.points} points")
    lengths = numpy.asarray(ladder.linking_lengths)
    lowest = numpy.full(len(points), -1)
    for level in reversed(range(len(ladder))):
        labels = ladder.labels_of(snapshot, level) if is_file else numpy.asarray(ladder.labels(level))
        if level == 0 or (ladder.sizes[level - 1] < 2).all():  # the first level with groups
            require_labels_of(points, box if is_file else ladder.box, labels, ladder.sizes[level], lengths[level],
                              ladder._is_in_phase_space)
        lowest[(labels >= 0) & (labels < numpy.count_nonzero(ladder.sizes[level] > 1))] = level
    names = [f"{length:.4g}: {numpy.count_nonzero(sizes > 1):,} groups" for length, sizes in zip(lengths, ladder.sizes)]
    chosen, box = plane_of(points, ladder.box if box is None else box, plane)
    view = View(chosen, Tree(chosen, box).box)
    axes = _ladder_plot.page(1300, 1040, (0.02, 0.025, 0.76, 0.935)) if axes is None else axes
    _ladder_plot.draw_levels(axes, chosen, lowest, view, names, unit)
    axes.set(**dict(zip(("xlabel", "ylabel"), _names([int(axis) for axis in plane], points.shape[1]))))
    axes.set_title(title, fontsize=9)
    _ladder_plot.darken(axes)
    return axes


def _extent(points, box):
    """Lower and upper edges: of the box, or of the points along open axes."""
    lower, upper = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    for axis, (period, origin) in enumerate(zip(box.period, box.origin)):
        if period > 0:
            lower[axis], upper[axis] = origin, origin + period
    return lower, upper


def _ladder_of(ladder):
    if isinstance(ladder, (str, bytes, os.PathLike)):
        return LevelsFile(ladder)
    if not isinstance(ladder, FofLadder):
        raise TypeError(f"ladder is of type {type(ladder).__name__}; it must be a kith.FofLadder, or the path of a file of "
                        "kith hierarchy")
    return ladder


def _opened(points, box, title, axes, unit, catalog=None):
    """Points as an array of NumPy, their box, and a title."""
    require_axes(axes)
    require_texts(title=title, unit=unit)
    if catalog is not None:
        require_groups(catalog)
    if title is None:
        title = os.path.basename(getattr(points, "path", ""))
    points = without_units(points, "points", "kith.plot draws plain numbers: give points.to_value(unit)")
    source, = normalize_arguments(points, box)
    box = catalog.box if source.box is None and catalog is not None else source.box
    points = numpy.asarray(source.core)
    if points.ndim != 2 or not 2 <= points.shape[1] <= 8:
        raise ValueError(f"points are of shape {points.shape}; they must be of shape (n, d) with d from 2 to 8")
    require_finite(points)
    return points, box, title
