"""Snapshots where points or queries are taken: their positions and box, and units that fit those of the other lengths."""

import numpy

from kith import _core, _frames, _units
from kith._warnings import warn


def is_snapshot(points):
    """Whether these are a `kith.Snapshot`, or what has the same attributes, such as a `kith.datasets.CosmicBox`."""
    return hasattr(points, "positions") and hasattr(points, "box")


def positions_of(queries, unit):
    """Positions of a snapshot that are searched around, refused in another unit than that of the points, where both are
    known; or other queries as they are."""
    if queries is None or type(queries) is numpy.ndarray or not is_snapshot(queries):
        return queries
    name = _frames.length_name(queries)
    if None not in (name, unit) and name != unit:
        raise ValueError(f"the snapshot of the queries is in {name}, the points in {unit}; give its positions in {unit}")
    return queries.positions


def unpacked(points, box, **lengths):
    """The unit of the points, or None; the points, or a snapshot's positions; the box, by default the snapshot's; and
    other lengths. All are plain numbers in that unit."""
    if "queries" in lengths:
        lengths["queries"] = positions_of(lengths["queries"], _frames.length_name(points))
    if not is_snapshot(points):
        return _units.shared(points, box=box, **lengths)
    snapshot = points
    found = _units.shared(snapshot.positions, box=snapshot.box if box is None else box, **lengths)
    if box is not None:
        _warn_of_another_box(found[2], snapshot)
    return found


def _warn_of_another_box(given, snapshot):
    """Periods that contradict those of the snapshot, but for digits that float32 has not; 0 is no period."""
    try:
        stated = snapshot.box
    except ValueError:  # it states one that has no meaning
        return
    ours, theirs = (numpy.atleast_1d(_core.Box(box).period) for box in (given, stated))
    if len(ours) != len(theirs) and 1 not in (len(ours), len(theirs)):
        return  # which the core refuses
    if ((ours > 0) & (theirs > 0) & (abs(ours - theirs) > 1e-6 * numpy.maximum(ours, theirs))).any():
        warn(f"box is {_shown(ours)}, but the snapshot states a box of {_shown(theirs)}; the box given is taken. "
             "Is it in other units than the points (Mpc, Mpc/h)? Without box= the snapshot's is taken")


def _shown(periods):
    return " x ".join(f"{period:.10g}" for period in periods)
