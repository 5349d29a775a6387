"""How maps are laid out on Axes: colors, a bar for lengths and one for colors, circles, words. As `kith fof --map`.

Positions are in pixels of a page of 1200 whose map has 1088 along its longer side, whatever its real size.
"""

import math
from typing import NamedTuple

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.collections import EllipseCollection
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from kith import _colors

_PANEL, _SIDE, _TOP, _BOTTOM = 1088, 56, 64, 72
_NARROWEST_PAGE = 900
_PIXELS_PER_INCH = 150

color_map = ListedColormap(_colors.colors_at(numpy.linspace(0, 1, 1024)), name="kith")
color_map = color_map.with_extremes(bad=color_map(0.0))  # where there is nothing


class Words(NamedTuple):
    """What is written around a map: above it at the left and right, below it, beside the colors, after lengths, and along
    its axes."""

    title: str
    subtitle: str
    caption: str
    meaning: str
    unit: str
    names: list


def draw(axes, values, decades, view, words):
    """A picture of values whose colors span the given decades; returns its Axes.

    Without Axes it has a page of its own, dark as the least density. On Axes that are given there is the title alone, and
    the colors are at the side: there may be no room for more.
    """
    width, height = (round(float(span / view.span.max()) * _PANEL) for span in view.span)
    page = None
    if axes is None:
        page = _Page(width, height)
        axes = page.axes
    image = axes.imshow(values, cmap=color_map, norm=LogNorm(*(10.0**decade for decade in decades), clip=True),
                        extent=view.extent, origin="lower", aspect="equal")
    axes.set(xlim=view.extent[:2], ylim=view.extent[2:], xticks=[], yticks=[], facecolor=color_map(0.0))
    axes.spines[:].set_color(_colors.FRAME)
    for label, name in ((axes.set_xlabel, words.names[0]), (axes.set_ylabel, words.names[1])):
        label(name, fontsize=8, labelpad=2, **({} if page is None else {"color": _colors.FAINT_INK}))
    _draw_length_bar(axes, view, width, words.unit)
    if page is None:
        axes.set_title(words.title)
        bar = axes.inset_axes((1.03, 0, 0.035, 1))
        axes.figure.colorbar(image, cax=bar, label=words.meaning)
        _finish_color_bar(bar.yaxis)
    else:
        page.write(words, image)
    return axes


class _Page:
    """A figure with a map, and room for words above and below, which needs a least width."""

    def __init__(self, width, height):
        left = max(_SIDE, (_NARROWEST_PAGE - width) // 2)
        self.size = numpy.array([2 * left + width, _TOP + height + _BOTTOM])
        self.figure = pyplot.figure(figsize=self.size / _PIXELS_PER_INCH, facecolor=_colors.PAGE)
        self.axes = self._axes(left, _BOTTOM, width, height)

    def write(self, words, image):
        left, right = _SIDE, self.size[0] - _SIDE
        above, below = self.size[1] - _TOP + 22, _BOTTOM - 38
        self._text(left, above, words.title, 10, _colors.INK)
        self._text(right, above, words.subtitle, 8, _colors.FAINT_INK, ha="right")
        caption = self._text(left, below, words.caption, 8, _colors.FAINT_INK)
        meaning = self._text(right - 274, below, words.meaning, 8, _colors.FAINT_INK, ha="right")
        own = caption.get_window_extent()
        free = meaning.get_window_extent().x0 - 0.02 * self.figure.bbox.width - own.x0
        caption.set_fontsize(8 * min(1, free / max(own.width, 1)))
        bar = self._axes(right - 260, below, 260, 12)
        self.figure.colorbar(image, cax=bar, orientation="horizontal")
        _finish_color_bar(bar.xaxis)
        bar.tick_params(colors=_colors.FAINT_INK, labelsize=6.5, length=2.5, width=0.6)
        bar.spines[:].set_color(_colors.FRAME)
        # A title of one's own is to be seen.
        self.axes.set_title("", color=_colors.INK)

    def _axes(self, left, lower, width, height):
        return self.figure.add_axes((left / self.size[0], lower / self.size[1], width / self.size[0], height / self.size[1]))

    def _text(self, x, y, words, size, color, ha="left"):
        return self.figure.text(x / self.size[0], y / self.size[1], words, fontsize=size, color=color, ha=ha)


def _finish_color_bar(axis):
    """Whole decades, as plain numbers."""
    axis.set_major_locator(LogLocator())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def decades_of_mass(values):
    """Logarithms of the densities that the colors span: from where all but a two hundredth of the mass is denser to where
    only a two thousandth of the pixels are, or a twentieth of the mass, whichever is denser. The latter counts where
    most of the mass is in few pixels, which would otherwise all be white."""
    ascending = numpy.sort(values, axis=None)
    below = numpy.cumsum(ascending)
    total, mean = below[-1], below[-1] / len(ascending)
    if not mean > 0:
        return -1.0, 1.0
    lightest = min(numpy.searchsorted(below, 0.005 * total), len(ascending) - 1)
    densest = numpy.searchsorted(below, 0.95 * total)
    densest = min(max(densest, len(ascending) - 1 - len(ascending) // 2000), len(ascending) - 1)
    mean = math.log10(mean)
    high = max(math.log10(ascending[densest]), mean + 0.7)
    return min(max(math.log10(ascending[lightest]), high - 4), high - 1.5), high


def decades_of_space(values):
    """The same for a field: all but a hundredth of the space is denser than the first, a two thousandth than the last."""
    positive = values[values > 0]
    if not positive.size:
        return -1.0, 1.0
    low, high = numpy.log10(numpy.quantile(positive, (0.01, 1 - 1 / 2000)))
    return min(low, high - 1.5), high


def circle_groups(axes, catalog, view, plane, most):
    """Rings around the largest groups, as large as they reach, with their repetitions beyond periodic edges."""
    smallest = 5 / _PANEL * view.span.max()
    places, radii, opacities = [], [], []
    for group in range(min(len(catalog), most)):
        radius = catalog.max_radius[group]
        place, = view.places(catalog.center[group:group + 1, list(plane)])
        images = [[place[axis] + turn for turn in ((-1, 0, 1) if view.repeats[axis] else (0,))
                   if -radius <= (place[axis] + turn) * view.span[axis] <= view.span[axis] + radius] for axis in (0, 1)]
        for x in images[0]:
            for y in images[1]:
                places.append(view.lower + (x, y) * view.span)
                radii.append(max(radius, smallest))
                opacities.append(0.95 - 0.45 * group / most)
    if not places:
        return
    diameters, opacities = 2 * numpy.array(radii), numpy.array(opacities)
    for color, opacity, line in (((0, 0, 0), 0.3 * opacities, 3.4), (_colors.CIRCLE, opacities, 1.5)):
        colors = numpy.column_stack((numpy.tile(color, (len(opacity), 1)), opacity))
        axes.add_collection(EllipseCollection(diameters, diameters, 0, units="xy", offsets=places,
                                              offset_transform=axes.transData, facecolors="none", edgecolors=colors,
                                              linewidths=_points(line)), autolim=False)


def _draw_length_bar(axes, view, width, unit):
    """In the lower left corner: a round length, about a fifth of the width."""
    length = _round_length(0.25 * float(view.span[0]))
    pixel = float(view.span[0]) / width
    left, middle = view.lower[0] + 28 * pixel, view.lower[1] + 28 * pixel
    outline = [withStroke(linewidth=_points(7), foreground=(*_colors.PAGE, 0.85))]
    ends = numpy.array([left, left + length])
    axes.plot([*ends[[0, 0, 0, 1, 1, 1]]], middle + pixel * numpy.array([-5, 5, 0, 0, 5, -5]), color=_colors.INK,
              linewidth=_points(1.8), path_effects=outline, scalex=False, scaley=False)
    axes.text(ends.mean(), middle + 12 * pixel, f"{length:.6g} {unit}".strip(), color=_colors.INK, fontsize=8.5,
              ha="center", va="bottom", path_effects=outline)


def _round_length(length):
    """1, 2 or 5 times a power of ten, at most `length`."""
    power = 10.0 ** math.floor(math.log10(length))
    lead = length / power
    return (5 if lead >= 5 else 2 if lead >= 2 else 1) * power


def _points(pixels):
    return pixels * 72 / _PIXELS_PER_INCH
