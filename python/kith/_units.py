"""Lengths with units of astropy's. Nothing here imports astropy: only a Quantity brings it along.

Points that carry a unit give it to all lengths of a call: queries, box, radius, linking length and largest distance
must carry units, too, are converted to that of the points, and distances are returned in it. What carries a unit where
none can be kept is refused; no unit is dropped silently.
"""

import math

import numpy

from kith import _core

_PLAIN = (numpy.ndarray, float, int, type(None), numpy.float64, numpy.float32)


def unit_of(value, what):
    """The unit of a Quantity or of a column of a table; None of plain numbers."""
    if type(value) in _PLAIN:
        return None
    if isinstance(value, (list, tuple)):  # of a box 0 may be the first; of points one tells for all
        units = (unit_of(each, what) for each in value[:8])
        return next((unit for unit in units if unit is not None), None)
    if hasattr(value, "unit") and (hasattr(value, "to_value") or hasattr(value, "quantity")):
        return value.unit
    if hasattr(value, "units") and (hasattr(value, "to_value") or hasattr(value, "magnitude")):
        raise TypeError(f"{what} carries a unit of {type(value).__module__.partition('.')[0]}; kith keeps those of astropy "
                        "alone: give an astropy Quantity, or plain numbers")
    return None


def refuse(value, what, remedy="give plain numbers, as by to_value(unit)"):
    """TypeError for what carries a unit, where none can be kept."""
    unit = unit_of(value, what)
    if unit is not None:
        raise TypeError(f"{what} carries a unit, {unit}, which would be lost; {remedy}")


def shared(points, **lengths):
    """The unit of the points, or None; then points and lengths as plain numbers in it."""
    unit = unit_of(points, "points")
    if unit is None:
        return (None, points, *in_unit(None, **lengths))
    if isinstance(points, (list, tuple)):
        raise TypeError(f"points is a {type(points).__name__} of quantities; make it one, astropy.units.Quantity(points)")
    return (unit, _converted(points, unit, "points"), *in_unit(unit, **lengths))


def in_unit(unit, of="points", **lengths):
    """Lengths as plain numbers in that unit, which is the points' or of what is named; without one they must not carry
    any."""
    if unit is None:
        for name, value in lengths.items():
            refuse(value, name, f"the {of} carry none: give them their unit, too, or plain numbers in theirs")
        return list(lengths.values())
    return [_converted(value, unit, name, of) for name, value in lengths.items()]


def split(values, what):
    """Plain numbers and the unit that they carry, or None."""
    unit = unit_of(values, what)
    return (values, None) if unit is None else (_converted(values, unit, what), unit)


def attached(array, unit):
    """The array as a Quantity that views it, or itself if there is no unit."""
    return array if unit is None else array << unit


def _converted(value, unit, name, of="points"):
    if value is None or isinstance(value, _core.Box) and value.is_open:
        return value
    if isinstance(value, (list, tuple)) and unit_of(value, name) is not None:
        return [_converted(each, unit, name, of) for each in value]
    own = unit_of(value, name)
    if own is not None:
        try:
            return getattr(value, "quantity", value).to_value(unit)
        except (TypeError, ValueError):
            raise TypeError(f"{name} is in {own}, which cannot be converted to the unit of the {of}, {unit}") from None
    if isinstance(value, (int, float)) and value in (0, math.inf):  # the same in all units
        return value
    raise TypeError(f"{name} carries no unit, but the {of} are in {unit}; give it as a Quantity, too, or the {of} as "
                    f"plain numbers: {of}.to_value({str(unit)!r})")
