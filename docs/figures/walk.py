"""The walk of one leaf: the nodes of each plane that it looks at, and those that it keeps.

The bounds are computed here as the library computes them: on each plane, the greatest distances to the nearest nodes
guarantee k points, and what lies beyond the radius that they give is dropped, children and all.
"""

import numpy
from matplotlib import pyplot

import kith
import style

COUNT, SEED, LEAF, NEIGHBORS = 6000, 3, 4, 8
PLACE = (0.585, 0.52)  # the leaf of the point that is nearest to it is the one that is drawn


def least_and_greatest(lower, upper, plane, nodes):
    """Bounds of the distances between a box and nodes of a plane."""
    apart = numpy.maximum(plane.lower[nodes] - upper, lower - plane.upper[nodes])
    across = numpy.maximum(plane.upper[nodes] - lower, upper - plane.lower[nodes])
    return (numpy.sqrt((numpy.maximum(apart, 0.0) ** 2).sum(axis=1)), numpy.sqrt((across**2).sum(axis=1)))


class Step:
    """What happens on one plane: a receiving node, the nodes it is tested against, its bound, and what it keeps."""

    def __init__(self, plane, receiver, tested, bound, k):
        self.plane, self.receiver, self.tested = plane, receiver, tested
        self.lower, self.upper = plane.lower[receiver], plane.upper[receiver]
        least, greatest = least_and_greatest(self.lower, self.upper, plane, tested)
        nearest = numpy.argsort(greatest)
        enough = numpy.searchsorted(numpy.cumsum(plane.count[tested][nearest]), k)
        self.bound = min(bound, greatest[nearest][enough]) if enough < len(nearest) else bound
        self.kept = tested[least <= self.bound]


def walk(planes, position, k):
    """The steps from the top plane to the leaf that holds a sorted position."""
    steps = []
    tested = numpy.arange(len(planes[-1]))
    bound = numpy.inf
    for number in reversed(range(len(planes))):
        plane = planes[number]
        step = Step(plane, plane.node_of(position), tested, bound, k)
        steps.append(step)
        bound = step.bound
        if number > 0:
            finer = planes[number - 1]
            begins = numpy.searchsorted(finer.first, plane.first[step.kept])
            ends = numpy.searchsorted(finer.first, plane.first[step.kept + 1])
            tested = numpy.concatenate([numpy.arange(begin, end) for begin, end in zip(begins, ends)])
    return steps


def around(lower, upper, radius):
    """The line of all places at a distance from a box."""
    quarter = numpy.linspace(0, 0.5 * numpy.pi, 24)
    corners = (upper, (lower[0], upper[1]), lower, (upper[0], lower[1]))
    arcs = [corner + radius * numpy.c_[numpy.cos(quarter + turn), numpy.sin(quarter + turn)]
            for corner, turn in zip(corners, 0.5 * numpy.pi * numpy.arange(4))]
    return numpy.concatenate([*arcs, arcs[0][:1]])


def draw_step(axes, step, points, window):
    """One plane within a window, which is (corner, side)."""
    everything = numpy.arange(len(step.plane))
    room = 0.002 * window[1]
    for nodes, look in (
            (numpy.setdiff1d(everything, step.tested), dict(facecolors="none", edgecolors=style.FAINT, linewidths=0.6)),
            (numpy.setdiff1d(step.tested, step.kept),
             dict(facecolors="#eef2f6", edgecolors=style.QUIET, linewidths=0.9)),
            (step.kept, dict(facecolors="#cfe3f0", edgecolors=style.KEPT, linewidths=1.1))):
        style.boxes(axes, step.plane.lower[nodes], step.plane.upper[nodes], room=room, **look)
    style.boxes(axes, [step.lower], [step.upper], room=room, facecolors=style.HERE, edgecolors=style.HERE, alpha=0.7)
    axes.scatter(*points.T, s=min(1.0 / window[1], 9), color=style.INK, alpha=0.5, linewidths=0)
    axes.plot(*around(step.lower, step.upper, step.bound).T, color=style.HERE, linewidth=1.3, linestyle=(0, (4, 2)))
    corner, side = window
    axes.set(xlim=(corner[0], corner[0] + side), ylim=(corner[1], corner[1] + side), aspect="equal", xticks=[],
             yticks=[])


def window_on(step, room):
    """A square around what a step may keep."""
    middle = 0.5 * (step.lower + step.upper)
    half = 0.5 * (step.upper - step.lower).max() + room * step.bound
    return middle - half, 2 * half


def draw():
    points = style.clumps(COUNT, SEED)
    tree = kith.Tree(points, leaf_size=LEAF)
    planes = style.planes_of(tree, points)
    order = numpy.asarray(tree.order)
    distances, _ = tree.query(k=NEIGHBORS)
    _, at = tree.query([PLACE], 1)
    steps = walk(planes, int(numpy.flatnonzero(order == at[0, 0])[0]), NEIGHBORS)

    figure, panels = pyplot.subplots(2, 2, figsize=(9.2, 9.9), layout="constrained")
    windows = [(numpy.array([-0.01, -0.01]), 1.02), window_on(steps[0], 1.0), window_on(steps[1], 1.0),
               window_on(steps[2], 1.25)]
    shown = [*steps, steps[-1]]
    for place, (axes, step, window) in enumerate(zip(panels.flat, shown, windows)):
        draw_step(axes, step, points, window)
        if place + 1 < len(windows):
            corner, side = windows[place + 1]
            style.boxes(axes, [corner], [corner + side], facecolors="none", edgecolors=style.INK, linewidths=0.8)
            number = len(planes) - 1 - place
            axes.set_title(f"plane {number}{' (leaves)' if number == 0 else ''}: {len(step.tested)} of "
                           f"{len(step.plane):,} nodes looked at, {len(step.kept)} kept", loc="left")
    leaf, axes = steps[-1], panels.flat[-1]
    rows = order[leaf.plane.first[leaf.receiver]:leaf.plane.first[leaf.receiver + 1]]
    needed = float(distances[rows, -1].max())
    axes.plot(*around(leaf.lower, leaf.upper, needed).T, color=style.INK, linewidth=1.3)
    axes.set_title(f"the leaf from near: what is sure to hold {NEIGHBORS} points\n"
                   f"(dashed), and how far its points had to reach (line)", loc="left")
    return figure


if __name__ == "__main__":
    style.main(draw)
