"""Jackknife samples of a correlation function: the pairs that are left without each region of space.

The pairs that a region's points take part in are found alone, in a walk of a tree of all points, so that all samples
together cost about three times as much as the function itself, for any number of regions.
"""

from typing import Any, NamedTuple

import numpy

from kith import _arrays
from kith._knn import knn
from kith._z_order import z_order


class Regions(NamedTuple):
    """The number of regions, and the region of each point and of each random point, from 0."""

    count: int
    of_points: numpy.ndarray
    of_randoms: numpy.ndarray


class Sample(NamedTuple):
    """A set of points: a tree of them, themselves, their weights or None, and the region of each."""

    tree: Any
    points: Any
    weights: Any
    regions: numpy.ndarray

    def part(self, chosen):
        """Points and weights of some."""
        return self.points[chosen], None if self.weights is None else self.weights[chosen]


def as_regions(regions, random_regions, points, randoms, box):
    """Checked regions: given as a number, parts of the z-order of the randoms, and each point in that of the nearest one."""
    if numpy.ndim(regions) == 0:
        count = _arrays.as_whole(regions, "regions")
        if random_regions is not None:
            raise ValueError("random_regions are given with a number of regions, which divides the randoms by itself; leave "
                             "them out, or give the region of each point")
        if not 2 <= count <= len(randoms):
            raise ValueError(f"regions is {count}; it must be from 2 to the number of randoms, {len(randoms)}")
        of_randoms = numpy.empty(len(randoms), numpy.int64)
        of_randoms[z_order(randoms, box=box)] = numpy.arange(len(randoms)) * count // len(randoms)
        _, nearest = knn(randoms, 1, queries=points, box=box, index_dtype=numpy.int64)
        return Regions(count, of_randoms[nearest[:, 0]], of_randoms)
    if random_regions is None:
        raise ValueError("regions of points are given without random_regions; the randoms lie in the same regions")
    columns = []
    for name, labels, rows in (("regions", regions, len(points)), ("random_regions", random_regions, len(randoms))):
        labels = _arrays.as_integers(labels, numpy.int64, name)
        if labels.shape != (rows,):
            raise ValueError(f"{name} is of shape {labels.shape}; it must have the region of each of {rows} points")
        columns.append(labels)
    names, numbers = numpy.unique(columns[1], return_inverse=True)
    found = numpy.minimum(numpy.searchsorted(names, columns[0]), max(len(names) - 1, 0))
    missing = columns[0][names[found] != columns[0]] if len(names) else columns[0]
    if len(missing) > 0:
        raise ValueError(f"region {missing[0]} has points but no randoms; every region needs some")
    if len(names) < 2:
        raise ValueError("all randoms lie in one region; the jackknife needs two or more")
    return Regions(len(names), found, numbers.reshape(-1))


def without_each_region(points, randoms, count, sums, pairs_of, own):
    """For each region the sums DD, DR and RR of what lies outside it, and which of both sets that is.

    `sums` are those of all, and pairs_of(points, other, weights, other_weights) are sums, too; `own` is 1 in the bin
    that holds the pairs at distance 0, and else 0. All are of one box.
    """
    dd, dr, rr = sums
    for region in range(count):
        inside = [sample.regions == region for sample in (points, randoms)]
        of_points, of_randoms = points.part(inside[0]), randoms.part(inside[1])
        left = dr - _pairs(pairs_of, points, of_randoms) - _pairs(pairs_of, randoms, of_points)
        both = pairs_of(of_points[0], of_randoms[0], of_points[1], of_randoms[1])
        yield (dd - _pairs_touching(pairs_of, points, of_points, own), left + both,
               rr - _pairs_touching(pairs_of, randoms, of_randoms, own), ~inside[0], ~inside[1])


def _pairs(pairs_of, sample, part):
    return pairs_of(sample.tree, part[0], sample.weights, part[1])


def _pairs_touching(pairs_of, sample, part, own):
    """Unordered pairs of the sample of which one or both are in this part of it.

    All pairs of a point and one of the part hold those within the part twice, and each of its points with itself.
    """
    points, weights = part
    squares = float(len(points)) if weights is None else float((weights * weights).sum())
    return _pairs(pairs_of, sample, part) - pairs_of(points, None, weights, None) - squares * own
