"""How the figures look, and the few things about trees that several of them need."""

import pathlib
import sys

import numpy
from matplotlib import colormaps, pyplot
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

INK = "#1d2733"
QUIET = "#8b97a5"
FAINT = "#d9dfe6"
KEPT = "#2a6f97"
HERE = "#d1495b"
# Along the curve: the part of viridis that is dark enough for thin lines on white.
ALONG = LinearSegmentedColormap.from_list("along", colormaps["viridis"](numpy.linspace(0.0, 0.88, 256)))

pyplot.rcParams.update({
    "figure.facecolor": "white", "savefig.facecolor": "white", "axes.edgecolor": FAINT, "axes.linewidth": 0.8,
    "axes.titlesize": 10, "axes.titlecolor": INK, "axes.titlepad": 8, "axes.labelcolor": INK, "axes.labelsize": 10,
    "text.color": INK, "xtick.color": QUIET, "ytick.color": QUIET, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "font.size": 10, "legend.frameon": False, "svg.hashsalt": "kith",
})


def square(axes, title=None, sides=(0.0, 1.0), margin=0.01):
    """A frame without ticks around a square of space."""
    room = margin * (sides[1] - sides[0])
    axes.set(xlim=(sides[0] - room, sides[1] + room), ylim=(sides[0] - room, sides[1] + room), aspect="equal",
             xticks=[], yticks=[])
    if title is not None:
        axes.set_title(title, loc="left")


def clumps(count, seed, clusters=9):
    """Points of the unit square: a third anywhere, the rest in clumps of many sizes."""
    random = numpy.random.default_rng(seed)
    anywhere = random.random((count // 3, 2))
    share = random.dirichlet(numpy.full(clusters, 1.5))
    sizes = random.multinomial(count - len(anywhere), share)
    parts = [anywhere]
    for size, center in zip(sizes, 0.08 + 0.84 * random.random((clusters, 2))):
        spread = 0.012 + 0.05 * random.random()
        parts.append(center + spread * random.standard_t(4, (size, 2)))
    points = numpy.concatenate(parts)
    outside = ((points < 0) | (points >= 1)).any(axis=1)
    points[outside] = random.random((numpy.count_nonzero(outside), 2))
    return points.astype(numpy.float32)


class Plane:
    """The nodes of one plane of a tree: points [first[i], first[i + 1]) of the sorted ones, and their tight boxes."""

    def __init__(self, first, ordered):
        self.first = numpy.asarray(first)
        self.lower = numpy.minimum.reduceat(ordered, self.first[:-1])
        self.upper = numpy.maximum.reduceat(ordered, self.first[:-1])
        self.count = numpy.diff(self.first)

    def __len__(self):
        return len(self.count)

    def node_of(self, position):
        """The node that holds a sorted position."""
        return numpy.searchsorted(self.first, position, side="right") - 1


def planes_of(tree, points):
    """The planes of a tree, from the leaves up."""
    ordered = points[numpy.asarray(tree.order)]
    return [Plane(first, ordered) for first in tree.planes()]


def boxes(axes, lower, upper, room=0.0, **style):
    """Draws rectangles; `room` keeps those without extent visible."""
    patches = [Rectangle(low - room, *(high - low + 2 * room)) for low, high in zip(lower, upper)]
    axes.add_collection(PatchCollection(patches, **style))


def main(draw):
    """For a figure's own script: `python z_order.py out.png`."""
    draw().savefig(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(sys.argv[0]).stem + ".png", dpi=150,
                   bbox_inches="tight")
