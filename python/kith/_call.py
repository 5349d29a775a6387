"""The arguments that calls share, as the core takes them: points, a snapshot or a tree; box, device, threads, progress,
engine and the processes that make a call together; and lengths as plain numbers in the unit of the points.
"""

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy

from kith import _arrays, _core, _frames, _units
from kith._warnings import warn


class Source(NamedTuple):
    """The points of a call, or a tree of them, and the properties that results take from them."""

    core: Any  # an array, or the core's tree
    box: Any
    unit: Any  # of astropy, or None
    like: Any  # an array of the library and in the memory of results
    shape: tuple
    real_type: type  # numpy.float32 or numpy.float64
    length_name: Any  # of a snapshot's unit of length, or None

    @property
    def on_line(self):
        """Whether points have one coordinate; the core then has them in the plane."""
        return len(self.shape) == 2 and self.shape[1] == 1

    def call(self, device=None, threads=None, progress=None, engine="auto", queries=None, comm=None):
        """The arguments of the core that all calls share."""
        if comm is not None:
            comm.require_same("the unit of the points", self.unit)
        if not isinstance(self.core, _core.Tree):
            device = _device_for(device, self.core, queries)
        return _core.Call(self.core, self.box, device, threads, progress_function(progress), _engine_name(engine),
                          comm)

    def prototype(self, queries):
        """An array of the library of results: that of the queries, if they are of PyTorch, CuPy or JAX."""
        is_like_numpy = queries is None or type(queries) is numpy.ndarray
        return self.like if is_like_numpy or _arrays.library_of(queries) not in _arrays.LIBRARIES else queries


_Function = TypeVar("_Function", bound=Callable[..., Any])


def over_ranks(function: _Function) -> _Function:
    """The function, whose `comm` is an object of `kith.mpi` where it has one: all processes return, or all raise."""
    @functools.wraps(function)
    def over(*arguments, **options):
        if options.get("comm") is None:
            return function(*arguments, **options)
        return importlib.import_module("kith.mpi").call_together(function, *arguments, **options)

    return over  # type: ignore[return-value]


def of_all(comm, value):
    """The values of all processes of a team, by rank, once all have come here or one has failed; of one process its own."""
    if comm is None:
        return [value]
    comm.share("of all", value)
    comm.enter()
    comm.leave()
    return comm.shared("of all")


def index_type(index_dtype, comm):
    """int32 or int64, by default int32; over processes int64 alone."""
    if comm is None:
        return _arrays.index_type(numpy.int32 if index_dtype is None else index_dtype)
    if index_dtype is not None and _arrays.index_type(index_dtype) != numpy.int64:
        raise ValueError("index_dtype is int32, but indices over processes are int64; leave it out")
    return numpy.dtype(numpy.int64)


def normalize_arguments(points, box=None, *, one_dimension=False, **lengths):
    """The source of a call, and other lengths as plain numbers in the unit of its points.

    A snapshot gives its positions and, if no box is given, its box. The core refuses a box in addition to a tree. Calls
    with `one_dimension` also take points of one coordinate.
    """
    source = getattr(points, "_source", None)
    is_tree = type(source) is Source
    name = source.length_name if is_tree else _frames.length_name(points)
    queries = lengths.get("queries")
    if queries is not None:
        lengths["queries"] = positions_of(queries, name)
    if is_tree:
        _warn_of_another_box_of(queries, source.core.box, source.unit, "queries")
        if source.on_line and not one_dimension:
            raise NotImplementedError("the points of the tree have 1 dimension; this call takes points of 2 to 8 dimensions; "
                                      "for points on a line add a column of zeros, which makes volumes those of a plane")
        return (source if box is None else source._replace(box=box), *_units.in_unit(source.unit, **lengths))
    has_box = is_snapshot(points)
    array, own_box = (points.positions, points.box if box is None else box) if has_box else (points, box)
    unit, array, own_box, *lengths = _units.shared(array, box=own_box, **lengths)
    if has_box and box is not None:
        _warn_of_another_box(own_box, points, unit)
    _warn_of_another_box_of(queries, own_box, unit, "queries")
    array = _arrays.as_real(array, "points")
    real_type = numpy.float64 if _arrays.is_float64(array) else numpy.float32
    source = Source(array, own_box, unit, array, tuple(array.shape), real_type, name)
    if one_dimension and source.on_line:
        source = source._replace(core=_arrays.in_plane(array), box=_box_in_plane(own_box))
    return (source, *lengths)


def _box_in_plane(box):
    """The box of points of one coordinate, with a second axis, which is open."""
    if box is None:
        return None
    box = box_on_line(box)
    return _core.Box([box.period[0], 0.0], [box.origin[0], None])


def box_on_line(box):
    """A box of one axis, and maybe of others that are open."""
    box = _core.Box(box)
    periods, origins = ((each if isinstance(each, tuple) else (each,)) for each in (box.period, box.origin))
    if any(periods[1:]):
        raise ValueError(f"the box has {len(periods)} periods but the points have 1 axis; give one per axis")
    return _core.Box(periods[:1], origins[:1] if origins[0] is not None else None)


def as_queries(queries, source, what="queries"):
    """None, or points to search around of the type of the source, with as many coordinates as the core has of it."""
    if queries is None:
        return None
    queries = _arrays.as_queries(queries, source.real_type, what)
    if not source.on_line:
        return queries
    if queries.ndim == 2 and queries.shape[1] != 1:
        raise ValueError(f"{what} have {queries.shape[1]} dimensions, the points 1; both must agree")
    return _arrays.in_plane(queries)


def as_other_set(points, source, what):
    """None, or a second set of points, or of a snapshot's, of the type and dimension of the source."""
    _warn_of_another_box_of(points, getattr(source.core, "box", source.box), source.unit, what)
    other = positions_of(*_units.in_unit(source.unit, **{what: points}), source.length_name, what)
    other = None if other is None else _arrays.as_queries(other, source.real_type, what)
    if other is not None and len(source.shape) == 2 and tuple(other.shape)[1:] != source.shape[1:]:
        raise ValueError(f"{what} is of shape {tuple(other.shape)}; it must have a row of {source.shape[1]} coordinates for "
                         "each point, as the points have")
    return other


def is_snapshot(points):
    """Whether these are a `kith.Snapshot`, or an object with its attributes, such as a `kith.datasets.CosmicBox`."""
    return hasattr(points, "positions") and hasattr(points, "box")


def positions_of(queries, unit, what="queries"):
    """Other queries as they are; a snapshot's positions, refused in another unit than that of the points, where both are
    known."""
    if queries is None or type(queries) is numpy.ndarray or not is_snapshot(queries):
        return queries
    name = _frames.length_name(queries)
    if None not in (name, unit) and name != unit:
        raise ValueError(f"the snapshot of the {what} is in {name}, the points in {unit}; give its positions in {unit}")
    return queries.positions


def _warn_of_another_box(given, snapshot, unit):
    """Periods that contradict those of the snapshot."""
    if (boxes := _contradiction(given, snapshot, unit)) is not None:
        warn(f"box is {boxes[0]}, but the snapshot states a box of {boxes[1]}; the box given is taken. "
             "Is it in other units than the points (Mpc, Mpc/h)? Without box= the snapshot's is taken")


def _warn_of_another_box_of(points, box, unit, what):
    """The same of a second set of points, which is searched in the box of the first."""
    if points is None or type(points) is numpy.ndarray or not is_snapshot(points) or box is None:
        return
    if (boxes := _contradiction(box, points, unit)) is not None:
        warn(f"the box is {boxes[0]}, but the snapshot of the {what} states a box of {boxes[1]}; its points are wrapped into "
             "the first one. Are both in the same units (Mpc, Mpc/h)?")


def _contradiction(given, snapshot, unit):
    """Both boxes as text where their periods differ, but for digits that float32 has not; 0 is no period. Else None."""
    try:
        stated, = _units.in_unit(unit, box=snapshot.box)
        if stated is None:
            return None
        theirs = numpy.atleast_1d(_core.Box(stated).period)
    except (TypeError, ValueError):  # it states one that has no meaning, or in no such unit
        return None
    ours = numpy.atleast_1d(_core.Box(given).period)
    if len(ours) != len(theirs) and 1 not in (len(ours), len(theirs)):
        return None  # which the core refuses
    differ = (ours > 0) & (theirs > 0) & (abs(ours - theirs) > 1e-6 * numpy.maximum(ours, theirs))
    return (_shown(ours), _shown(theirs)) if differ.any() else None


def _shown(periods):
    return " x ".join(f"{period:.10g}" for period in periods)


def require_rows(shape, **columns):
    """Refuses columns that have no row for each of the points of this shape."""
    for name, column in columns.items():
        if column is not None and numpy.ndim(column) == 0:
            raise TypeError(f"{name} must be an array with a row for each point")
        if column is not None and shape and len(column) != shape[0]:
            raise ValueError(f"{name} has {len(column)} rows for {shape[0]} points")


def _device_for(device, points, queries):
    """The device given, or else that of the points."""
    device = _core.device_of(points) if device is None else device
    if str(device) == "cpu":
        for array, what in ((points, "points"), (queries, "queries")):
            if array is not None and (there := str(_core.device_of(array))) != "cpu":
                raise ValueError(f"{what} is in the memory of {there}, but the call runs on the CPU; copy it to the host, or "
                                 f"run the call there: device={there!r}")
    return device


def _engine_name(engine):
    """Checks that a search algorithm is given by name; the core checks the name."""
    if not isinstance(engine, str):
        raise TypeError(f"engine is {engine!r}; it must be a name, such as 'auto'")
    return engine


def progress_function(progress):
    """None, or a function of a stage's name and the fraction of it that is done."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _Bar()
    if not callable(progress):
        raise TypeError("progress must be True, False, or a function of (stage, fraction)")
    return progress


class _Bar:
    """One line on the standard error."""

    def __init__(self):
        self.stage = None

    def __call__(self, stage, fraction):
        end = "\n" if fraction >= 1 else ""
        if sys.stderr is None:  # a program without any
            return
        if stage != self.stage or fraction < 1 or end:
            filled = round(30 * fraction)
            print(f"\r{stage:>10} [{'#' * filled}{'.' * (30 - filled)}] {fraction:4.0%}", end=end, file=sys.stderr,
                  flush=True)
        self.stage = stage
