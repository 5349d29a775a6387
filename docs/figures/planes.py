"""The planes of a tree: the tight boxes of its nodes, from the top to the leaves."""

import numpy
from matplotlib import pyplot

import kith
import style

COUNT, SEED, LEAF = 6000, 3, 4


def draw():
    points = style.clumps(COUNT, SEED)
    tree = kith.Tree(points, leaf_size=LEAF)
    planes = style.planes_of(tree, points)
    figure, panels = pyplot.subplots(1, len(planes), figsize=(3.2 * len(planes), 3.8), layout="constrained")
    for axes, number in zip(panels, reversed(range(len(planes)))):
        plane = planes[number]
        place = 0.5 * (plane.first[:-1] + plane.first[1:]) / len(tree)
        axes.scatter(*points.T, s=1.0 if number else 0.5, color=style.INK, alpha=0.35 if number else 0.25, linewidths=0)
        colors = style.ALONG(place)
        faces = numpy.c_[colors[:, :3], [0.22] * len(plane)]
        style.boxes(axes, plane.lower, plane.upper, room=0.0012, facecolors=faces, edgecolors=colors,
                    linewidths=(0.45, 0.8, 1.2)[min(number, 2)])
        most = LEAF * 8**number
        style.square(axes, f"plane {number}{' (leaves)' if number == 0 else ''}: {len(plane):,} nodes\n"
                           f"of at most {most} points")
    return figure


if __name__ == "__main__":
    style.main(draw)
