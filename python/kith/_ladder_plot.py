"""Pictures of groups at several linking lengths: how they merge, and where they are.

Both have the same colors: the shorter the linking length, the lighter.
"""

import math

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kith import _colors

_PIXELS_PER_INCH = 150
_NOWHERE = (0.34, 0.33, 0.40)  # points in no group


def level_colors(count):
    """A color for each level, that of the shortest linking length first."""
    return _colors.colors_at(numpy.linspace(0.93, 0.36, count) if count > 1 else [0.7])


class Forest:
    """The largest groups of the last level and what they are made of, down to a least size.

    kept : for each level, labels of the groups that are drawn
    parents : for each level but the last, the place of the parent among those kept at the next level
    columns : for each level, where each of them stands, from the left; that of a group's largest part is its own
    """

    def __init__(self, sizes, parents, groups, branches):
        last = len(sizes) - 1
        chosen = [None] * len(sizes)
        chosen[last] = numpy.arange(len(sizes[last])) < groups
        for level in reversed(range(last)):
            chosen[level] = chosen[level + 1][parents[level]]
        self.smallest = _least_size(sizes, parents, chosen, branches)
        self.kept = [numpy.flatnonzero(which & (size >= self.smallest)) for which, size in zip(chosen, sizes)]
        self.parents = [numpy.searchsorted(self.kept[level + 1], parents[level][self.kept[level]]) for level in range(last)]
        self.columns = self._columns()

    def _columns(self):
        """Every group takes as many columns as it has branches, its parts side by side, the largest first."""
        widths = [numpy.ones(len(self.kept[0]))]
        for level, parents in enumerate(self.parents):
            widths.append(numpy.maximum(1, numpy.bincount(parents, widths[level], len(self.kept[level + 1]))))
        columns = [None] * len(self.kept)
        columns[-1] = numpy.cumsum(widths[-1] + 1) - widths[-1] - 1  # a gap between trees
        for level in reversed(range(len(self.parents))):
            order = numpy.argsort(self.parents[level], kind="stable")
            parents, before = self.parents[level][order], numpy.cumsum(widths[level][order]) - widths[level][order]
            first = numpy.searchsorted(parents, parents)
            columns[level] = numpy.empty(len(order))
            columns[level][order] = columns[level + 1][parents] + before - before[first]
        return columns


def _least_size(sizes, parents, chosen, branches):
    """The smallest size with at most so many groups that have no part of it or more."""
    own, largest_part = [], []
    for level, which in enumerate(chosen):
        part = numpy.zeros(len(which), dtype=numpy.int64)
        if level > 0:
            numpy.maximum.at(part, parents[level - 1], sizes[level - 1])
        own.append(sizes[level][which])
        largest_part.append(part[which])
    own, largest_part = numpy.sort(numpy.concatenate(own)), numpy.sort(numpy.concatenate(largest_part))
    candidates = numpy.unique(own)
    ends = (len(own) - numpy.searchsorted(own, candidates)) - (len(own) - numpy.searchsorted(largest_part, candidates))
    few = numpy.flatnonzero(ends <= branches)
    return int(candidates[few[0]] if len(few) else candidates[-1]) if len(candidates) else 1


def draw_forest(axes, forest, sizes, lengths):
    """Branches and groups; linking lengths upwards."""
    colors = level_colors(len(sizes))
    largest = max((size[kept].max(initial=1) for size, kept in zip(sizes, forest.kept)), default=1)
    scale = math.log(max(largest, forest.smallest + 1) / forest.smallest)
    for level, kept in enumerate(forest.kept):
        weight = numpy.log(sizes[level][kept] / forest.smallest) / scale
        at, column = lengths[level], forest.columns[level]
        if level < len(forest.parents):
            above = forest.columns[level + 1][forest.parents[level]]
            corners = [[(x, at), (x, lengths[level + 1]), (to, lengths[level + 1])] for x, to in zip(column, above)]
            axes.add_collection(LineCollection(corners, colors=[colors[level]], linewidths=0.5 + 2.5 * weight,
                                               capstyle="round", joinstyle="round", zorder=2))
        axes.scatter(column, numpy.full(len(column), at), 5 + 90 * weight**2, color=[colors[level]], linewidths=0.6,
                     edgecolors=[_colors.PAGE], zorder=3)
    if lengths[0] > 0:
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(FixedLocator(_apart(lengths)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    for column, size in zip(forest.columns[-1], sizes[-1][forest.kept[-1]]):
        axes.annotate(f"{size:,}", (column, lengths[-1]), (0, 9), textcoords="offset points", ha="center", fontsize=7,
                      color=_colors.INK)
    columns = max(column.max(initial=0) for column in forest.columns)
    axes.set(xticks=[], xlim=(-0.03 * columns - 0.5, 1.03 * columns + 0.5))
    axes.margins(y=0.1)


def _apart(lengths):
    """The lengths of the levels that have room for a number beside each other, the last one among them."""
    places = numpy.log(lengths) if lengths[0] > 0 else numpy.asarray(lengths)
    room = 0.025 * (places[-1] - places[0])
    chosen = [len(places) - 1]
    for level in reversed(range(len(places) - 1)):
        if places[chosen[-1]] - places[level] > room:
            chosen.append(level)
    return [float(lengths[level]) for level in reversed(chosen)]


def draw_levels(axes, points, levels, view, names, unit):
    """Points in the colors of their levels, the lightest on top; -1 is none."""
    colors = level_colors(len(names))
    places = view.lower + view.places(points) * view.span
    side = axes.get_window_extent().width * 72 / axes.figure.dpi  # in points of print
    area = numpy.clip((0.35 * side / math.sqrt(max(len(points), 1))) ** 2, 0.05, 9)
    for level in (-1, *reversed(range(len(names)))):
        x, y = places[levels == level].T
        axes.scatter(x, y, area, color=[_NOWHERE if level < 0 else colors[level]], linewidths=0, rasterized=True)
    axes.set(xlim=view.extent[:2], ylim=view.extent[2:], xticks=[], yticks=[], aspect="equal")
    dots = [Line2D([], [], linestyle="", marker="o", markersize=4, color=color) for color in (*colors, _NOWHERE)]
    axes.legend(dots, [*names, "in no group"], loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, fontsize=7.5,
                labelcolor=_colors.INK, frameon=False, title_fontsize=8,
                title=f"linking length [{unit}]" if unit else "linking length")
    axes.get_legend().get_title().set_color(_colors.FAINT_INK)


def page(width, height, place):
    """Axes on a dark page of so many pixels; `place` is left, lower edge, width and height as parts of it."""
    figure = pyplot.figure(figsize=(width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH), dpi=_PIXELS_PER_INCH,
                           facecolor=_colors.PAGE)
    return figure.add_axes(place)


def darken(axes):
    """Axes in the colors of the page."""
    axes.set_facecolor(_colors.PAGE)
    axes.spines[:].set_color(_colors.FRAME)
    axes.tick_params(which="both", colors=_colors.FAINT_INK, labelsize=7.5)
    axes.yaxis.label.set_color(_colors.FAINT_INK)
    axes.xaxis.label.set_color(_colors.FAINT_INK)
    axes.title.set_color(_colors.INK)
