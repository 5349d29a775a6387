"""What pictures are of: catalogs, axes, texts, and the names of units and axes, checked before anything is drawn."""

import os

from kith import _frames
from kith._files import read_catalog

UNKNOWN = "code units"


def catalog_of(catalog):
    return read_catalog(catalog, members=False) if isinstance(catalog, (str, bytes, os.PathLike)) else catalog


def require_groups(catalog):
    if not hasattr(catalog, "mass") or not hasattr(catalog, "center"):
        raise TypeError(f"catalog is of type {type(catalog).__name__}; it must be a kith.Catalog")
    if any(not isinstance(unit, str) for unit in getattr(catalog, "units", {}).values()):  # a file has names of units
        raise TypeError("catalog has columns with units; kith.plot draws plain numbers: find the groups of points without "
                        "units, as by points.to_value(unit)")


def require_axes(axes):
    if axes is not None and not hasattr(axes, "imshow"):
        raise TypeError(f"axes is of type {type(axes).__name__}; it must be Axes of Matplotlib")


def name_of_lengths(unit, *subjects):
    """The name of the unit of lengths: as given, or as the first of these that knows it; else that of unknown ones."""
    if unit is not None:
        return unit
    names = (_name_of_lengths(subject) for subject in subjects if subject is not None)
    return next((name for name in names if name), UNKNOWN)


def require_same_lengths(points, catalog):
    """Refuses groups in another unit of length than the points, where both are known."""
    names = [_name_of_lengths(subject) for subject in (points, catalog)]
    if None not in names and names[0] != names[1]:
        raise ValueError(f"the points are in {names[0]}, the groups of the catalog in {names[1]}; give the snapshot that was "
                         "grouped")


def _name_of_lengths(subject):
    name = getattr(subject, "_length_name", None)
    if name is not None:
        return name
    if hasattr(subject, "_frame"):  # a catalog
        found = _frames.length_unit(subject._frame, subject.parameters.get("HubbleParam"))
        return found and found.name
    return _frames.length_name(subject)


def name_of_axis(axis, dimension):
    return "xyz"[axis] if dimension <= 3 else f"axis {axis}"


def other_axes(plane, dimension):
    return [axis for axis in range(dimension) if axis not in plane]
