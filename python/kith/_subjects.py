"""What pictures are of: catalogs, axes, texts, and the names of units and axes, checked before anything is drawn."""

import os

import numpy

from kith import _arrays, _frames
from kith._catalog_rows import Group
from kith._device_catalog import DeviceCatalog
from kith._files import read_catalog
from kith._fof import fof
from kith._projection import periods_of

UNKNOWN = "code units"


def catalog_of(catalog):
    if isinstance(catalog, DeviceCatalog):
        return catalog.to_host()
    return read_catalog(catalog, members=False) if isinstance(catalog, (str, bytes, os.PathLike)) else catalog


def require_groups(catalog):
    if isinstance(catalog, Group) or not hasattr(catalog, "mass") or not hasattr(catalog, "center"):
        raise TypeError(f"catalog is of type {type(catalog).__name__}; it must be a kith.Catalog")
    if getattr(catalog, "_is_part", False):
        raise TypeError("catalog is the part that one process describes, and not all groups; gather its columns, as by "
                        "comm.allgather(catalog.mass)")
    if any(not isinstance(unit, str) for unit in getattr(catalog, "units", {}).values()):  # a file has names of units
        raise TypeError("catalog has columns with units; kith.plot draws plain numbers: find the groups of points without "
                        "units, as by points.to_value(unit)")


def require_finite(points):
    """Also along axes that a picture sums over: which points lie in a slice would otherwise be chance."""
    if not numpy.isfinite(points).all():
        row, axis = (int(number) for number in numpy.argwhere(~numpy.isfinite(points))[0])
        raise ValueError(f"points: point {row} has {points[row, axis]} as coordinate {axis}; remove such points or make "
                         "their coordinates finite")


def masses_of(points, masses):
    """A mass for each point, or None, times a power of two that takes the largest near 1: pictures are relative to the
    mean, and no sum overflows."""
    if masses is None:
        return None
    masses = _arrays.as_real(masses, "masses")
    if masses.ndim != 1:
        raise ValueError(f"masses has {masses.ndim} axes; it must be one-dimensional, a number for each point")
    if len(masses) != len(points):
        raise ValueError(f"masses has {len(masses)} rows for {len(points)} points")
    masses = numpy.asarray(masses, dtype=numpy.float64)
    is_mass = (masses >= 0) & (masses < numpy.inf)
    if not is_mass.all():
        row = int(is_mass.argmin())
        raise ValueError(f"masses: row {row} is {masses[row]:.9g}; masses must be finite and not negative")
    return numpy.ldexp(masses, -numpy.frexp(masses.max(initial=0))[1])


def require_groups_of(points, box, catalog):
    """Refuses groups that cannot be circled among these points, whose box is given."""
    dimension = points.shape[1]
    if catalog.center.shape[1] != dimension:
        raise ValueError(f"the groups are in {catalog.center.shape[1]} dimensions, the points in {dimension}")
    if not hasattr(catalog, "max_radius"):
        raise ValueError(f"'{catalog.path}' does not say how far its groups reach (column max_radius), so that no "
                         "circles can be drawn; leave the catalog out")
    own, of_groups = (periods_of(each, dimension) for each in (box, catalog.box))
    differs = (of_groups > 0) & (abs(of_groups - own) > 1e-6 * of_groups)
    if differs.any():
        axis = int(differs.argmax())
        period = f"has the period {own[axis]:.9g}" if own[axis] > 0 else "is open"
        raise ValueError(f"the groups are of another box: its period along {name_of_axis(axis, dimension)} is "
                         f"{of_groups[axis]:.9g}, that of the points {period}; give the points that were grouped, and their "
                         "box")


def require_axes(axes):
    if axes is not None and not hasattr(axes, "imshow"):
        raise TypeError(f"axes is of type {type(axes).__name__}; it must be Axes of Matplotlib")


def require_texts(**texts):
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it must be a text")


def name_of_lengths(unit, *subjects):
    """The name of the unit of lengths: as given, or as the first of these that knows it; else that of unknown ones."""
    if unit is not None:
        return unit
    names = (_name_of_lengths(subject) for subject in subjects if subject is not None)
    return next((name for name in names if name), UNKNOWN)


def require_same_lengths(points, groups, what="groups of the catalog"):
    """Refuses groups in another unit of length than the points, where both are known."""
    names = [_name_of_lengths(subject) for subject in (points, groups)]
    if None not in names and names[0] != names[1]:
        raise ValueError(f"the points are in {names[0]}, the {what} in {names[1]}; give the snapshot that was grouped")


def require_labels_of(points, box, labels, sizes, length, is_in_phase_space):
    """Refuses labels of a level that are not those of these points: members of its groups alone fall into the same groups
    again. A hundredth of them may not, for digits of the points. Groups in phase space may come together, never apart."""
    listed = (labels >= 0) & (labels < numpy.count_nonzero(sizes > 1))
    groups = numpy.count_nonzero(sizes > 1)
    if groups == 0 or numpy.count_nonzero(listed) != sizes[:groups].sum():  # other particles were read
        return
    found = int(fof(points[listed], length, box=box).max()) + 1
    if found > 1.01 * groups or (found < 0.99 * groups and not is_in_phase_space):
        raise ValueError(f"the groups are of other points, of another unit or box: at the linking length {length:.6g} there "
                         f"are {groups:,}, but their members among these points are {found:,}; give the points that were "
                         "grouped, and their box")


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
