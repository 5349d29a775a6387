"""Jackknife samples of a correlation function: the pairs that are left without each region of space.

The pairs that a region's points take part in are found alone, in a walk of a tree of all points, so that all samples
together cost about three times as much as the function itself, for any number of regions. Over processes, which hold no tree
of all points, each region costs a few pair counts, of all points with a part of them.
"""

from typing import Any, NamedTuple

import numpy

from kith import _arrays
from kith._call import of_all
from kith._knn import knn
from kith._z_order import gather, z_order


class Regions(NamedTuple):
    """The number of regions, and the region of each point and of each random point, from 0."""

    count: int
    of_points: numpy.ndarray
    of_randoms: numpy.ndarray


class Sample(NamedTuple):
    """A set of points: a tree of them, or over processes themselves; themselves, their weights or None, and the region of
    each."""

    searched: Any
    points: Any
    weights: Any
    regions: numpy.ndarray

    def part(self, chosen):
        """Points and weights of some."""
        return self.points[chosen], None if self.weights is None else self.weights[chosen]


def as_regions(regions, random_regions, points, randoms, box, comm=None):
    """Checked regions: given as a number, parts of the z-order of the randoms, and each point in that of the nearest one.

    Over processes, which all come here, regions are those of the points of all.
    """
    if numpy.ndim(regions) == 0:
        count = _arrays.as_whole(regions, "regions")
        if random_regions is not None:
            raise ValueError("random_regions are given with a number of regions, which divides the randoms by itself; leave "
                             "them out, or give the region of each point")
        if comm is not None:
            comm.require_same("the number of regions", count)
        rows = of_all(comm, len(randoms))
        if not 2 <= count <= sum(rows):
            raise ValueError(f"regions is {count}; it must be from 2 to the number of randoms, {sum(rows)}")
        return _parts_of_space(count, points, randoms, box) if comm is None else _parts_over_ranks(
            count, points, randoms, box, rows, comm)
    if random_regions is None:
        raise ValueError("regions of points are given without random_regions; the randoms lie in the same regions")
    columns = []
    for name, labels, rows in (("regions", regions, len(points)), ("random_regions", random_regions, len(randoms))):
        labels = _arrays.as_integers(labels, numpy.int64, name)
        if labels.shape != (rows,):
            raise ValueError(f"{name} is of shape {labels.shape}; it must have the region of each of {rows} points")
        columns.append(labels)
    if comm is not None:
        comm.require_same("the number of regions", "a region of each point")
    names = numpy.unique(numpy.concatenate(of_all(comm, numpy.unique(columns[1]))))
    found = numpy.minimum(numpy.searchsorted(names, columns[0]), max(len(names) - 1, 0))
    missing = columns[0][names[found] != columns[0]] if len(names) else columns[0]
    if len(missing) > 0:
        raise ValueError(f"region {missing[0]} has points but no randoms; every region needs some")
    if len(names) < 2:
        raise ValueError("all randoms lie in one region; the jackknife needs two or more")
    return Regions(len(names), found, numpy.searchsorted(names, columns[1]))


def _parts_of_space(count, points, randoms, box):
    of_randoms = numpy.empty(len(randoms), numpy.int64)
    of_randoms[z_order(randoms, box=box)] = numpy.arange(len(randoms)) * count // len(randoms)
    _, nearest = knn(randoms, 1, queries=points, box=box, index_dtype=numpy.int64)
    return Regions(count, of_randoms[nearest[:, 0]], of_randoms)


def _parts_over_ranks(count, points, randoms, box, rows, comm):
    """The same, of the randoms of all processes: each finds the regions of a part of their order, and sends them."""
    ends = numpy.cumsum(rows)
    with comm.inside() as ranks:  # from here on all fail together
        order = z_order(randoms, box=box, comm=ranks)
        nearest = knn(randoms, 1, queries=points, box=box, comm=ranks).indices[:, 0]
    parts = of_all(comm, len(order))
    order = numpy.asarray(order)
    region = (sum(parts[:comm.rank]) + numpy.arange(len(order))) * count // ends[-1]
    owner = numpy.searchsorted(ends, order, side="right")
    messages = [(rank, numpy.stack([order[owner == rank], region[owner == rank]]).tobytes()) for rank in numpy.unique(owner)]
    of_randoms = numpy.empty(len(randoms), numpy.int64)
    for _, message in comm.exchange(messages):
        index, value = numpy.frombuffer(message, numpy.int64).reshape(2, -1)
        of_randoms[index - (ends[comm.rank] - len(randoms))] = value
    with comm.inside() as ranks:
        of_points = gather(numpy.asarray(nearest), of_randoms, comm=ranks)
    return Regions(count, of_points, of_randoms)


def without_each_region(points, randoms, count, sums, pairs_of, own, totals):
    """For each region the sums DD, DR and RR of what lies outside it, and the weights of both sets there.

    `sums` are those of all, and pairs_of(points, other, weights, other_weights) are sums, too; `own` is 1 in the bin
    that holds the pairs at distance 0, and else 0. All are of one box. `totals` are of all processes.
    """
    dd, dr, rr = sums
    for region in range(count):
        parts = {}
        for name, sample in (("points", points), ("randoms", randoms)):
            inside = sample.regions == region
            parts[name] = sample.part(inside)
            totals.note(f"{name} inside", *_counted(parts[name]))
            totals.note(f"{name} outside", *_counted(sample.part(~inside)))
        of_points, of_randoms = parts["points"], parts["randoms"]
        left = dr - _pairs(pairs_of, points, of_randoms) - _pairs(pairs_of, randoms, of_points)
        both = pairs_of(of_points[0], of_randoms[0], of_points[1], of_randoms[1])
        yield (dd - _pairs_touching(pairs_of, points, of_points, own * totals.squares("points inside")), left + both,
               rr - _pairs_touching(pairs_of, randoms, of_randoms, own * totals.squares("randoms inside")),
               totals.of("points outside"), totals.of("randoms outside"))


def _counted(part):
    points, weights = part
    return len(points), weights


def _pairs(pairs_of, sample, part):
    return pairs_of(sample.searched, part[0], sample.weights, part[1])


def _pairs_touching(pairs_of, sample, part, with_themselves):
    """Unordered pairs of the sample of which one or both are in this part of it.

    All pairs of a point and one of the part hold those within the part twice, and each of its points with itself.
    """
    points, weights = part
    return _pairs(pairs_of, sample, part) - pairs_of(points, None, weights, None) - with_themselves
