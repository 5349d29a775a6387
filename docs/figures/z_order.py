"""The z-order curve through a lattice and through points anywhere: the order that kith's tree sorts by."""

import numpy
from matplotlib import pyplot
from matplotlib.collections import LineCollection

import kith
import style


def curve(axes, points, width, size):
    """The points joined in the tree's order, colored along it."""
    order = numpy.asarray(kith.Tree(points).order)
    path = points[order]
    place = numpy.linspace(0, 1, len(path))
    steps = numpy.stack([path[:-1], path[1:]], axis=1)
    axes.add_collection(LineCollection(steps, colors=style.ALONG(place[1:]), linewidths=width, capstyle="round"))
    axes.scatter(*path.T, c=style.ALONG(place), s=size, linewidths=0, zorder=2)


def draw():
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.2, 4.8), layout="constrained")
    axis = (numpy.arange(16, dtype=numpy.float32) + 0.5) / 16
    lattice = numpy.stack(numpy.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    curve(left, lattice, 1.4, 12)
    style.square(left, "a lattice of 16 × 16 points")
    curve(right, style.clumps(700, seed=4), 1.0, 7)
    style.square(right, "700 points in clumps")
    bar = figure.colorbar(pyplot.cm.ScalarMappable(cmap=style.ALONG), ax=(left, right), location="bottom", aspect=60,
                          shrink=0.5, pad=0.02, ticks=[0, 1])
    bar.set_ticklabels(["first in the order", "last"])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure


if __name__ == "__main__":
    style.main(draw)
