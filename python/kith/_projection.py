"""The part of a plane that a picture shows, and the density of points on its pixels, smooth where points are few.

Every point is spread over about the square in which it has eight neighbors. Squares are the cells of a pyramid of grids,
each twice as coarse as the one below: a point is shared between the two grids whose cells are just smaller and just larger
than its square (cloud in cell), and the coarse grids are then added to the finer ones, smoothed on the way by quadratic
B-splines (Chaikin's weights 3/4 and 1/4). Cost: a search for neighbors in the plane, and O(points + pixels x levels).
Mass is kept, except what is smoothed over an open edge. The program, too, spreads points over squares of eight neighbors
for `kith fof --map`, but finds these by the points in cells of the pyramid, not by a search: shades differ a little.
"""

import math

import numpy

from kith import _arrays, _core

LEVELS = 7
GRAIN = 1 << (LEVELS - 1)  # widths and heights are multiples of it
_ENOUGH_NEIGHBORS = 8


class View:
    """A part of the plane, and which of its axes are periodic.

    lower, span : its lower edges and its sides
    origin, period : of the box, 0 where the axis is open
    """

    def __init__(self, points, box):
        """The box on periodic axes, but where the points are on open ones and where they fill less than half a period;
        widened until it is not too slim. Points have two coordinates."""
        self.period = numpy.broadcast_to(box.period, 2).astype(float)
        self.origin = numpy.array([origin or 0.0 for origin in numpy.broadcast_to(box.origin, 2)])
        self.lower, self.span = numpy.zeros(2), numpy.ones(2)
        sample = self.places(points[::max(1, len(points) // 1_000_000)])
        for axis in range(2):
            low, high = _range_of_most(sample[:, axis], self.period[axis] > 0)
            if self.period[axis] > 0 and high - low > self.period[axis] / 2:
                self.lower[axis], self.span[axis] = self.origin[axis], self.period[axis]
            else:
                margin = 0.04 * (high - low)
                self.lower[axis], self.span[axis] = low - margin, high - low + 2 * margin
        # A plane much longer than wide would be a thread; points in one place have no width at all.
        longer = self.span.max()
        least = (longer / 4 if longer > 0 else abs(self.lower).max()) or 1.0
        self._widen(numpy.maximum(self.span, least))

    def fit(self, pixels):
        """Widens the open axes so that pixels are square; returns how many there are along each axis, at most `pixels`."""
        longer = self.span.max()
        grains = max(1, pixels // GRAIN)
        wanted = self.span / longer * grains
        counts = numpy.where(self.repeats, numpy.round(wanted), numpy.ceil(wanted - 1e-9)).astype(int).clip(1)
        self._widen(numpy.where(self.repeats, self.span, longer * counts / grains))
        return tuple(int(count) * GRAIN for count in counts)

    @property
    def repeats(self):
        """For each axis, whether opposite edges of the picture are the same place."""
        return (self.period > 0) & (self.span == self.period)

    @property
    def extent(self):
        """Left, right, lower and upper edge."""
        (left, lower), (right, upper) = self.lower, self.lower + self.span
        return left, right, lower, upper

    def places(self, points):
        """Where points are in the view: 0 at its lower edges, 1 at the upper ones."""
        points = numpy.asarray(points, dtype=numpy.float64)
        turns = numpy.zeros_like(points)
        periodic = self.period > 0
        turns[:, periodic] = numpy.floor((points - self.origin)[:, periodic] / self.period[periodic])
        places = (points - turns * self.period - self.lower) / self.span
        places[(places >= 1) & self.repeats] = 0  # rounded up to the upper edge
        return places

    def _widen(self, wanted):
        self.lower -= (wanted - self.span) / 2
        self.span = wanted


def _range_of_most(ordinates, is_periodic):
    """Without a share of the points at either end, widened by a share of the rest, but never beyond the data."""
    if not len(ordinates):
        return 0.0, 0.0
    # In a box only strays are left out: the box is what is shown, if it is not mostly empty. Open points have a middle
    # and thin outskirts, which would take all the room.
    tail, reach = (0.001, 0.25) if is_periodic else (0.02, 0.5)
    ordinates = numpy.sort(ordinates)
    strays = int(tail * len(ordinates))
    low, high = ordinates[strays], ordinates[len(ordinates) - 1 - strays]
    reach *= high - low
    return max(ordinates[0], low - reach), min(ordinates[-1], high + reach)


def project(tree, points, masses, view, shape):
    """Mass in every pixel, an array of (height, width) from the lower edge, of points of a plane and a tree of them."""
    places = view.places(points)
    x, y = places.T
    shown = (x >= 0) & (x < 1) & (y >= 0) & (y < 1)
    width, height = shape
    cell = view.span[0] / width
    if len(points):
        reach = tree.query(k=_ENOUGH_NEIGHBORS)[0][shown, -1].astype(numpy.float64)
    else:
        reach = numpy.empty(0)
    with numpy.errstate(divide="ignore"):  # points in one place
        levels = numpy.clip(numpy.log2(math.sqrt(math.pi) * reach / cell), 0, LEVELS - 1)
    places = places[shown]
    masses = numpy.ones(len(places)) if masses is None else numpy.asarray(masses, dtype=numpy.float64)[shown]
    finer = levels.astype(int)
    coarse_share = levels - finer
    density = None
    for level in range(LEVELS - 1, -1, -1):
        here, above = finer == level, finer == level - 1
        chosen = here | above
        share = numpy.where(here, 1 - coarse_share, coarse_share)[chosen]
        grid = _deposited(places[chosen], masses[chosen] * share, (width >> level, height >> level), view.repeats)
        density = grid if density is None else grid + _refined(_refined(density, 0, view.repeats[1]), 1, view.repeats[0])
    return density


def _deposited(places, masses, shape, repeats):
    """Cloud in cell: every mass is shared among the four cells around it. What falls beyond an open edge is lost."""
    grid = numpy.zeros(shape[0] * shape[1])
    corners = []
    for axis in (0, 1):
        scaled = places[:, axis] * shape[axis] - 0.5
        lower = numpy.floor(scaled).astype(numpy.int32)
        upper_share = scaled - lower
        corners.append([_on_grid(lower, 1 - upper_share, shape[axis], repeats[axis]),
                        _on_grid(lower + 1, upper_share, shape[axis], repeats[axis])])
    for column, share_x in corners[0]:
        share_x = share_x * masses
        for row, share_y in corners[1]:
            grid += numpy.bincount(row * shape[0] + column, share_x * share_y, len(grid))
    return grid.reshape(shape[1], shape[0])


def _on_grid(cells, shares, count, repeats):
    """Cells beside the grid are those they repeat, or have no share."""
    if repeats:
        return cells % count, shares
    return cells.clip(0, count - 1), shares * ((cells >= 0) & (cells < count))


def _refined(coarse, axis, repeats):
    """Twice as many cells along an axis: each takes 3/4 and 1/4 of the nearest two, of each half, its part of their area."""
    before, after = numpy.roll(coarse, 1, axis), numpy.roll(coarse, -1, axis)
    if not repeats:
        numpy.moveaxis(before, axis, 0)[0] = 0
        numpy.moveaxis(after, axis, 0)[-1] = 0
    halves = numpy.stack((3 * coarse + before, 3 * coarse + after), axis=axis + 1) / 8
    return halves.reshape([size * (1 + (i == axis)) for i, size in enumerate(coarse.shape)])


def in_slice(positions, box, plane, limits, dtype):
    """Which positions have lower <= x < upper along the axis across the plane; in a periodic box x is that of the first
    image that is not below the lower limit, with the period rounded to the type of the points, as searches do."""
    if positions.shape[1] != 3:
        raise ValueError(f"depth is given, but the points have {positions.shape[1]} dimensions; it is of 3")
    try:
        lower, upper = (_arrays.as_number(limit, "depth") for limit in limits)
    except (TypeError, ValueError):
        raise TypeError(f"depth is {limits!r}; it must be two numbers") from None
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        raise ValueError(f"depth is {limits!r}; it must be two finite numbers, the lower one first")
    axis, = {0, 1, 2}.difference(plane)
    x = numpy.asarray(positions[:, axis], dtype=numpy.float64)
    period = float(dtype.type(periods_of(box, 3)[axis]))
    farthest = max(abs(lower), abs(upper))
    spacing = farthest - math.nextafter(farthest, 0)
    if 0 < period <= spacing:
        raise ValueError(f"depth is {limits!r}, but numbers there are {spacing:.6g} apart, and the period of that axis is "
                         f"{period:.6g}; give the range within the box")
    if period > 0:
        x = numpy.maximum(lower, x - period * numpy.floor((x - lower) / period))  # not below by rounding
    return (x >= lower) & (x < upper)


def points_in_slice(points, box, plane, limits):
    """The same of points, some of which must be there."""
    shown = in_slice(points, box, plane, limits, points.dtype)
    if len(points) > 0 and not shown.any():
        axis, = {0, 1, 2}.difference(plane)
        x = points[:, axis]
        raise ValueError(f"depth is {limits!r}, but no point has {'xyz'[axis]} in that range: the points are from "
                         f"{x.min():.9g} to {x.max():.9g} along it")
    return shown


def periods_of(box, dimension):
    """Of each axis; 0: open."""
    period = _core.Box(box).period
    if isinstance(period, tuple) and len(period) != dimension:
        raise ValueError(f"the box has {len(period)} periods but the points have {dimension} axes; give one per axis")
    return numpy.broadcast_to(period, dimension)


def plane_of(points, box, plane):
    """The coordinates of points along two of their axes, and the box of these axes."""
    try:
        plane = [_arrays.as_whole(axis, "plane") for axis in plane]
    except TypeError:
        raise TypeError(f"plane is {plane!r}; it must be two numbers of axes") from None
    if len(plane) != 2 or plane[0] == plane[1] or not all(0 <= axis < points.shape[1] for axis in plane):
        raise ValueError(f"plane is {plane}; it must be two of the axes 0 to {points.shape[1] - 1}")
    periods = [float(period) for period in periods_of(box, points.shape[1])[plane]]
    origin = _core.Box(box).origin
    origins = [origin[axis] if isinstance(origin, tuple) else origin for axis in plane]
    return numpy.ascontiguousarray(points[:, list(plane)]), _core.Box(periods, origins)
