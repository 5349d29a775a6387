"""The condensed tree of HDBSCAN* as a picture: the width of a cluster is its number of points, density grows downwards."""

import numpy
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from kith import _colors

_MAX_STEPS = 100  # of the outline of a cluster
_NOT_SELECTED = (0.34, 0.33, 0.40)


class Icicles:
    """Where clusters stand, and how wide they are.

    lower, upper : the part of the axis that belongs to a cluster and all below it, in points; that of the root is [0, n]
    densest : the largest lambda that is drawn; where points coincide, it stands for an infinite one
    """

    def __init__(self, tree):
        clusters = tree.clusters
        self.lower, self.upper = numpy.zeros(len(clusters)), numpy.zeros(len(clusters))
        self.upper[:1] = len(tree.lambdas)
        children = numpy.arange(1, len(clusters)).reshape(-1, 2)  # which are born in pairs
        for left, right in children:
            parent = clusters["parent"][left]
            sizes = clusters["size"][[left, right]]
            middle = self.lower[parent] + (self.upper[parent] - self.lower[parent]) * sizes[0] / sizes.sum()
            self.lower[left], self.upper[left] = self.lower[parent], middle
            self.lower[right], self.upper[right] = middle, self.upper[parent]
        finite = numpy.concatenate((clusters["birth"], clusters["death"], tree.lambdas))
        finite = finite[finite < numpy.finfo(numpy.float64).max]
        self.densest = 1.1 * finite.max(initial=0) or 1.0
        order = numpy.lexsort((tree.lambdas, tree.last_clusters))
        self._ends = numpy.searchsorted(tree.last_clusters[order], numpy.arange(len(clusters) + 1))
        self._lambdas = tree.lambdas[order]
        self._clusters = clusters

    def outline(self, cluster):
        """Corners of a cluster, shape (corners, 2), symmetric about the middle of its part."""
        first, last = self._ends[cluster:cluster + 2]
        leaves = numpy.minimum(self._lambdas[first:last], self.densest)
        birth, death = (min(self._clusters[name][cluster], self.densest) for name in ("birth", "death"))
        chosen = numpy.unique(numpy.linspace(0, len(leaves), _MAX_STEPS + 1).astype(int))
        left_before = chosen[:-1]  # points that have left when those of a step leave
        at = numpy.concatenate(([birth], leaves[chosen[1:] - 1] if len(leaves) else [], [death]))
        width = self._clusters["size"][cluster] - numpy.concatenate((left_before, [len(leaves)]))
        half = numpy.repeat(width, 2) / 2
        height = numpy.repeat(at, 2)[1:-1]
        middle = (self.lower[cluster] + self.upper[cluster]) / 2
        right = numpy.column_stack((middle + half, height))
        return numpy.concatenate((right, numpy.column_stack((middle - half, height))[::-1]))


def draw_condensed_tree(axes, tree):
    """Selected clusters in colors, in frames with their labels if these are few."""
    icicles = Icicles(tree)
    labels = tree.clusters["label"]
    colors = _colors.colors_at(numpy.linspace(0.45, 0.93, max(labels.max(initial=-1) + 1, 1)))
    faces = [_NOT_SELECTED if label < 0 else colors[label] for label in labels]
    outlines = [icicles.outline(cluster) for cluster in range(len(tree.clusters))]
    axes.add_collection(PolyCollection(outlines, facecolors=faces, linewidths=0))
    selected = numpy.flatnonzero(labels >= 0)
    if len(selected) <= 40:
        for cluster in selected:
            lower, upper = icicles.lower[cluster], icicles.upper[cluster]
            birth = tree.clusters["birth"][cluster]
            axes.add_patch(Rectangle((lower, birth), upper - lower, icicles.densest - birth, fill=False, linewidth=0.6,
                                     edgecolor=_colors.FRAME))
            axes.annotate(str(labels[cluster]), ((lower + upper) / 2, birth), (0, 4), textcoords="offset points",
                          ha="center", fontsize=7, color=_colors.INK)
    axes.set(xlim=(0, max(len(tree.lambdas), 1)), ylim=(icicles.densest, 0), xticks=[])
    axes.set_ylabel("lambda = 1 / distance", fontsize=8)
