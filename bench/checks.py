"""Whether two contestants gave the same answer, as far as rounding lets one tell.

Each check returns None if all is well, else a sentence. Neighbors: all distances agree; indices may differ where
distances tie, so for a sample of rows the distances are computed anew from the indices. Groups: the same partition, or
one that lies between those of a slightly shorter and a slightly longer linking length.
"""

import numpy

ROWS = 1 << 18  # rows compared at once, to bound memory
SAMPLE = 20_000  # rows whose indices are looked at
ORACLE = 8  # rows compared with all pairs
LENGTH_SLACK = 1e-5  # of the linking length: the rounding of float32


def _relative(dtype):
    return 16 * numpy.finfo(dtype).eps  # a difference, a square, a sum of up to 8 and a root round


def _distances(queries, points, period):
    """Of each query to its own row of points."""
    apart = numpy.abs(queries[:, None, :].astype(numpy.float64) - points)
    if period:
        apart = numpy.minimum(apart % period, period - apart % period)
    return numpy.sqrt((apart**2).sum(axis=-1))


def _differ(ours, theirs, relative, absolute, squared_slack):
    """Where two arrays of distances differ by more than rounding."""
    ours, theirs = ours.astype(numpy.float64), theirs.astype(numpy.float64)
    apart = ~(numpy.abs(ours - theirs) <= relative * ours + absolute)
    if squared_slack:
        apart &= ~(numpy.abs(ours**2 - theirs**2) <= squared_slack)
    return apart


class Neighbors:
    """An answer on disk, and what it answers."""

    def __init__(self, points, queries, k, period, dtype):
        self.points, self.k, self.period, self.dtype = points, k, period, dtype
        self.queries = points if queries is None else queries
        self.absolute = 8 * numpy.finfo(dtype).eps * period  # wrapping rounds to the scale of the box

    def in_itself(self, prefix, squared_slack=0.0):
        """Whether shapes are right, rows are distinct points, and distances are those of the indices."""
        distances = numpy.load(prefix + ".distances.npy", mmap_mode="r")
        indices = numpy.load(prefix + ".indices.npy", mmap_mode="r")
        shape = (len(self.queries), self.k)
        if distances.shape != shape or indices.shape != shape:
            return f"shapes are {distances.shape} and {indices.shape}, not {shape}"
        rows = numpy.random.default_rng(1).permutation(shape[0])[:SAMPLE]
        rows.sort()
        indices, distances = numpy.asarray(indices[rows], dtype=numpy.int64), numpy.asarray(distances[rows])
        if indices.min() < 0 or indices.max() >= len(self.points):
            return "an index lies outside the points"
        ordered = numpy.sort(indices, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            return "a row names a point twice"
        wanted = _distances(self.queries[rows], self.points[indices], self.period)
        wrong = _differ(wanted, distances, _relative(self.dtype), self.absolute, squared_slack)
        if wrong.any():
            row, column = numpy.argwhere(wrong)[0]
            return (f"row {rows[row]}, neighbor {column}: the distance to point {indices[row, column]} is "
                    f"{wanted[row, column]:.9g}, not {distances[row, column]:.9g}")
        return None

    def against_all_pairs(self, prefix):
        distances = numpy.load(prefix + ".distances.npy", mmap_mode="r")
        for row in numpy.random.default_rng(2).permutation(len(self.queries))[:ORACLE]:
            every = _distances(self.queries[row:row + 1], self.points, self.period)[0]
            nearest = numpy.sort(numpy.partition(every, self.k - 1)[:self.k])
            wrong = _differ(nearest, distances[row], _relative(self.dtype), self.absolute, 0)
            if wrong.any():
                column = numpy.argmax(wrong)
                return f"row {row}, neighbor {column}: {distances[row, column]:.9g}, but all pairs give {nearest[column]:.9g}"
        return None

    def against(self, prefix, other, squared_slack=0.0):
        ours = numpy.load(prefix + ".distances.npy", mmap_mode="r")
        theirs = numpy.load(other + ".distances.npy", mmap_mode="r")
        for begin in range(0, len(ours), ROWS):
            mine, yours = ours[begin:begin + ROWS], theirs[begin:begin + ROWS]
            wrong = _differ(mine, yours, _relative(self.dtype), self.absolute, squared_slack)
            if wrong.any():
                row, column = numpy.argwhere(wrong)[0]
                return (f"row {begin + row}, neighbor {column}: {yours[row, column]:.9g}, kith says "
                        f"{mine[row, column]:.9g} ({wrong.sum():,} such)")
        return None


def _refines(fine, coarse):
    """Whether every group of the first lies within one group of the second."""
    fine = numpy.unique(fine, return_inverse=True)[1]
    group_of = numpy.empty(fine.max() + 1, dtype=coarse.dtype)
    group_of[fine] = coarse
    return bool((group_of[fine] == coarse).all())


def groups_agree(ours, theirs, regroup):
    """regroup(factor) gives the peer's labels at that multiple of the linking length."""
    if ours.shape != theirs.shape:
        return f"{theirs.shape} labels, kith has {ours.shape}"
    if _refines(ours, theirs) and _refines(theirs, ours):
        return None
    if _refines(regroup(1 - LENGTH_SLACK), ours) and _refines(ours, regroup(1 + LENGTH_SLACK)):
        return None
    return (f"other groups: {len(numpy.unique(theirs)):,}, kith finds {len(numpy.unique(ours)):,}, and rounding of the "
            "linking length does not explain it")
