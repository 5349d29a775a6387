"""The hierarchy of friends-of-friends groups: which groups join, and at which linking length."""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import normalize_arguments, over_ranks, progress_function
from kith._fof import at_least_one, drop_small_groups
from kith._hints import takes_own_names
from kith._phase_space import phase_space_at


@takes_own_names
@over_ranks
def hierarchy(points: AnyArray, *, box: BoxLike = None, linking_length: float | None = None, b: float | None = None,
              psi: float | None = None, psi_sigma: float | None = None, velocities: AnyArray | None = None,
              masses: AnyArray | None = None, threads: int | None = None, progress: ProgressLike = False,
              comm: Any = None) -> Hierarchy:
    """The single-linkage hierarchy of points: all friends-of-friends groups, at every linking length.

    Also known as hierarchical friends-of-friends and as agglomerative clustering with single linkage. It is found by the
    minimum spanning tree of the points.

    Parameters
    ----------
    points, box, threads, progress, comm
        As for `kith.knn`, but in the host's memory: the hierarchy is found on the CPU only. Over the processes of a `comm`
        the first one makes all merges, for which it needs 8 bytes for each point of all processes.
    linking_length, b, psi, psi_sigma, velocities, masses
        For groups in phase space, as for `kith.fof`: velocities times linking_length / psi count as lengths. Cut at the
        linking length, the hierarchy gives the groups of `kith.fof` with the same arguments; cut at another length, psi
        is scaled by the same factor.

    Returns
    -------
    Hierarchy
        Its `linkage` is the matrix that `scipy.cluster.hierarchy` takes, and its `cut` gives the groups at any linking
        length. Over processes each has consecutive rows of that matrix, and cuts label its own points.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `kith.knn`.
    NotImplementedError
        For arrays in the memory of a GPU, and points of other dimensions.

    Notes
    -----
    Exact: a cut has the labels of `kith.fof`, bit for bit. Ties between equal distances are broken by index. Beyond the spanning
    tree it costs close to O(n). Source: Gower & Ross 1969 (Applied Statistics 18, 54).

    Examples
    --------
    >>> import kith
    >>> found = kith.hierarchy([[0, 0], [0, 1], [3, 0], [8, 0]])
    >>> found.linkage.tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 4.0, 3.0, 3.0], [3.0, 5.0, 5.0, 4.0]]
    >>> found.cut(3).tolist()
    [0, 0, 0, 1]
    """
    source, length, phase_space = phase_space_at(points, box, linking_length, b, psi, psi_sigma, velocities, masses)
    core = _core.hierarchy(source.call(None, threads, progress, comm=comm), length, phase_space)
    if comm is not None:
        _arrays.require_type(source.like, numpy.int64)
    return Hierarchy(core, _arrays.prototype_of(source.like), source.unit, source.length_name)


class Hierarchy:
    """All friends-of-friends groups of points, at every linking length, as `kith.hierarchy` finds them.

    `len(hierarchy)` is the number of points. Hierarchies can be copied and pickled, but not those over processes.

    Attributes
    ----------
    linkage : NumPy array of float64, shape (n - 1, 4)
        SciPy's linkage matrix, for `scipy.cluster.hierarchy.fcluster`, `dendrogram` and others: row i joins two
        clusters into cluster n + i. Its columns are the smaller and the larger number of the two, the linking length at
        which they join (in the units of the points), and the number of points of both. Cluster i < n is point i. Over
        processes the rows of this one's merges.
    first_merge : int
        The number of the first of these rows: 0, unless found over processes.
    box : Box
        With every origin resolved.
    mean_separation : float
        (V / n)^(1/d): what relative linking lengths are relative to. 0 if V is.
    engine : str
        Engine used for the spanning tree: "tree" or "brute".
    """

    def __init__(self, core, like, unit, length_name):
        self._core, self._like, self._unit, self._length_name = core, like, unit, length_name
        self._linkage = None
        self.box = core.box
        self.engine = core.engine
        self.first_merge = core.first_merge
        self.mean_separation = _units.with_unit(core.mean_separation, unit)

    def __len__(self) -> int:
        return self._core.points

    def __repr__(self) -> str:
        return f"<kith.Hierarchy of {len(self)} points>"

    @property
    def linkage(self) -> numpy.ndarray:
        if self._linkage is None:
            self._linkage = self._core.linkage()
        return self._linkage

    @over_ranks
    def cut(self, linking_length: float | None = None, *, b: float | None = None, min_members: int = 1,
            threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Any:
        """Labels of the groups at a linking length: those of `kith.fof`, without a search.

        The parameters are those of `kith.fof`; the result is an array of int32, shape (n,), of the library of the
        points. A hierarchy that was found over processes is cut by all of them, with the same `comm` and the ids of the
        points, if they had any: int64 labels of this process's points. Raises as `kith.fof`.
        """
        linking_length, = _units.in_unit(self._unit, linking_length=linking_length)
        length = _arrays.length(linking_length, b)
        if comm is not None:
            comm.require_same("min_members", at_least_one(min_members))
            summary = _core.cut_over_ranks(self._core, length, threads, progress_function(progress), comm)
            return drop_small_groups(_arrays.in_library_of(self._like, summary.labels), summary, min_members)
        labels, finish = _arrays.empty_like(self._like, (len(self),), numpy.int32)
        summary = _core.cut(labels, self._core, length, threads, progress_function(progress))
        return drop_small_groups(finish(labels), summary, min_members)

    @over_ranks
    def ladder(self, linking_lengths: Any = None, *, b: Any = None, min_members: int = 1, threads: int | None = None,
               progress: ProgressLike = False, comm: Any = None) -> FofLadder:
        """Groups at several linking lengths. As `kith.fof_ladder`; over processes with the `comm` of the hierarchy."""
        linking_lengths, = _units.in_unit(self._unit, linking_lengths=linking_lengths)
        rungs = _Rungs(linking_lengths, b, min_members)
        core = _core.ladder_of_hierarchy(self._core, *rungs.of_core, threads, progress_function(progress), comm)
        return FofLadder(core, rungs.min_members, self._like, self._unit, self._length_name)


@takes_own_names
@over_ranks
def fof_ladder(points: AnyArray, linking_lengths: Any = None, *, b: Any = None, box: BoxLike = None, min_members: int = 1,
               threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> FofLadder:
    """Friends-of-friends groups at several linking lengths, and how those of one lie within those of the next.

    Parameters
    ----------
    points, box, threads, progress, comm
        As for `kith.knn`, but in the host's memory.
    linking_lengths : sequence of floats
        Ascending, in the units of the points. Give these or `b`.
    b : sequence of floats
        The same in units of the mean separation, as for `kith.fof`.
    min_members : int
        Smallest size of a listed group.

    Returns
    -------
    FofLadder

    Raises
    ------
    ValueError
        For linking lengths that descend, none at all, and as `kith.fof`.
    TypeError, MemoryError, NotImplementedError
        As `kith.hierarchy`.

    Notes
    -----
    One minimum spanning tree serves all lengths: ten of them take little longer than one. Labels of a level take memory
    only on request.

    Examples
    --------
    >>> import kith
    >>> ladder = kith.fof_ladder([[0, 0], [0, 1], [3, 0], [8, 0], [8, 1]], [1, 3, 5])
    >>> [sizes.tolist() for sizes in ladder.sizes]
    [[2, 2, 1], [3, 2], [5]]
    >>> [parents.tolist() for parents in ladder.parents]
    [[0, 1, 0], [0, 0]]
    >>> ladder.labels(1).tolist()
    [0, 0, 0, 1, 1]
    """
    source, linking_lengths = normalize_arguments(points, box, linking_lengths=linking_lengths)
    rungs = _Rungs(linking_lengths, b, min_members)
    core = _core.ladder(source.call(None, threads, progress, comm=comm), *rungs.of_core)
    if comm is not None:
        _arrays.require_type(source.like, numpy.int64)
    return FofLadder(core, rungs.min_members, _arrays.prototype_of(source.like), source.unit, source.length_name)


class _Rungs:
    """The linking lengths of a ladder and its least group, as the core takes them."""

    def __init__(self, linking_lengths, b, min_members):
        if (linking_lengths is None) == (b is None):
            raise TypeError("give either linking_lengths, in the units of the points, or b, in mean separations")
        name, given = ("linking_lengths", linking_lengths) if b is None else ("b", b)
        lengths = _arrays.as_real(given, name)
        if lengths.ndim != 1:
            raise ValueError(f"{name} has {lengths.ndim} axes; it must be a sequence of numbers")
        lengths = [float(length) for length in lengths]
        for before, after in zip(lengths, lengths[1:]):
            if after < before:
                raise ValueError(f"{name} descends: {after:.9g} follows {before:.9g}; give the lengths in ascending order")
        self.min_members = at_least_one(min_members)
        self.of_core = lengths, b is not None, self.min_members


class FofLadder:
    """Friends-of-friends groups at several linking lengths, as `kith.fof_ladder` finds them: a level for each.

    Groups of a level are numbered as by `kith.fof`: by decreasing size, ties by their first member. Those of
    `min_members` and more are listed. `len(ladder)` is the number of levels. The arrays of int32 are views that cannot be
    written to. Ladders can be copied and pickled, but not those over processes, of which each has consecutive groups of
    every level, in arrays of int64; those of all processes, one after the other, are the level's.

    Attributes
    ----------
    linking_lengths : array of float64, shape (levels,)
        As they were used, in the units of the points.
    groups : array of int64, shape (levels,)
        The number of all groups at each level, single points and others that are not listed included.
    listed : array of int64, shape (levels,)
        The number of listed groups of each level, of all processes.
    first_groups : array of int64, shape (levels,)
        The label of the first group of each level here: 0, unless found over processes.
    sizes : list of arrays of int32
        For each level, the number of points of every group listed.
    first_members : list of arrays of int32
        For each level, the smallest member of every group listed: a row of the points, over processes a global index or an
        id.
    parents : list of arrays of int32
        For each level but the last, the group at the next level that contains each of its groups.
    min_members : int
    box : Box
        With every origin resolved.
    engine : str
        Engine used for the spanning tree: "tree" or "brute".
    """

    def __init__(self, core, min_members, like, unit, length_name=None):
        self._core, self._like = core, like
        self._length_name = length_name if unit is None else str(unit)  # for pictures
        self.min_members = min_members
        self.linking_lengths = _units.with_unit(numpy.array(core.linking_lengths, dtype=numpy.float64), unit)
        self.groups = numpy.array(core.groups, dtype=numpy.int64)
        self.listed = numpy.array(core.listed, dtype=numpy.int64)
        self.first_groups = numpy.array(core.first_groups, dtype=numpy.int64)
        self.box = core.box
        self.engine = core.engine
        self._view_core()

    def _view_core(self):
        """Sets the arrays that view the core's memory."""
        core = self._core
        self.sizes, self.first_members, self.parents = core.sizes, core.first_members, core.parents[:-1]

    def __getstate__(self):
        views = ("_core", "sizes", "first_members", "parents")
        state = {name: value for name, value in self.__dict__.items() if name not in views}
        return {**state, "_tree": self._core.tree_state(), "_lengths": self._core.linking_lengths}

    def __setstate__(self, state):
        tree, lengths = state.pop("_tree"), state.pop("_lengths")
        self.__dict__.update(state)
        self._core = _core.restored_ladder(tree, lengths, self.min_members)
        self._view_core()

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        counts = ", ".join(str(count) for count in self.listed)
        return f"<kith.FofLadder of {self._core.points} points: {counts} groups of {self.min_members} and more>"

    @property
    def _is_in_phase_space(self):
        return self._core.tree_state()["velocity_length"] != numpy.inf

    @over_ranks
    def labels(self, level: int, *, threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Any:
        """The group of every point at a level: an array of int32, shape (n,), of the library of the points; -1 in groups
        that are not listed.

        Made anew by every call, from the spanning tree. Levels count from 0; -1 is the last. Over processes with the
        `comm` of the ladder: int64 labels of this process's points. Raises IndexError if there is no such level.
        """
        level = _arrays.as_whole(level, "level")
        if not -len(self) <= level < len(self):
            raise IndexError(f"there is no level {level}; there are {len(self)}, numbered from 0")
        level %= len(self)
        if comm is not None:
            labels = _core.label_level_over_ranks(self._core, level, threads, progress_function(progress), comm)
            labels[labels >= self.listed[level]] = -1
            return _arrays.in_library_of(self._like, labels)
        labels, finish = _arrays.empty_like(self._like, (self._core.points,), numpy.int32)
        _core.label_level(labels, self._core, level, threads, progress_function(progress))
        if self.min_members > 1:
            labels[labels >= self.listed[level]] = -1
        return finish(labels)
