"""Lengths with units. Nothing here imports a library of units: what is given brings its own.

Points that carry a unit of astropy's give it to all lengths of a call: queries, box, radius, linking length and largest
distance must carry units, too, are converted to that of the points, and distances are returned in it. Units where none can
be kept, and those of all other libraries, are refused: no unit is dropped silently. Quantities without dimension are plain
numbers. Masked numbers are refused here, too, because every argument passes through.

Other libraries are recognized by a common trait: an attribute `units` or `unit` in addition to one that gives plain
numbers (pint's `magnitude`, `to_value` of unyt and swiftsimio, `in_units` of pynbody), on arrays, on scalars, and, for
pynbody, on units that stand for a length themselves; or on the data that an xarray.DataArray wraps. Texts that only describe
a file's column, such as `attrs["units"]` of xarray and pandas, are no units: these libraries lose them in arithmetic, too.
"""

import math

import numpy

from kith import _core

_PLAIN = (numpy.ndarray, float, int, type(None), numpy.float64, numpy.float32)
_TABLES = ("pandas", "polars", "pyarrow")  # whose columns may be called unit and units
_NO_UNIT = ("", "1", "1.00e+00", "None", "NoUnit()", "dimensionless")
# How each kind gives plain numbers; the first that an object has is named.
_TO_PLAIN = (("magnitude", "{0}.to(unit).magnitude"), ("to_value", "{0}.to_value(unit)"),
             ("in_units", "numpy.asarray({0}.in_units(unit))"))


def unit_of(value, what):
    """The unit of a Quantity of astropy or of a column of its tables; None of plain numbers, and without dimension.

    TypeError for other units, ValueError for masked numbers."""
    if type(value) in _PLAIN or type(value).__module__.partition(".")[0] in _TABLES:
        return None
    if isinstance(value, (list, tuple)):  # of a box the first may be 0; all points have one unit
        units = (unit_of(each, what) for each in value[:8])
        return next((unit for unit in units if unit is not None), None)
    _refuse_masked(value, what)
    if hasattr(value, "unit") and (hasattr(value, "to_value") or hasattr(value, "quantity")):
        return None if _has_no_dimension(value.unit) else value.unit
    foreign = _foreign_unit(value)
    if foreign is not None:
        unit, plain = foreign
        raise TypeError(f"{what} carries a unit of {type(value).__module__.partition('.')[0]}, {unit}, which would be lost: "
                        f"give plain numbers, {plain.format(what)} with one unit for all lengths of a call, or "
                        "an astropy Quantity, whose unit kith keeps")
    return None


def _foreign_unit(value):
    """The unit of another library, and how to get plain numbers; None if there is none."""
    if isinstance(value, (str, bytes, dict, numpy.generic)):
        return None
    plain = next((plain for name, plain in _TO_PLAIN if hasattr(value, name)), None)
    unit = next((found for name in ("units", "unit") if (found := getattr(value, name, None)) is not None), None)
    if unit is not None and not hasattr(unit, "__array__") and not callable(getattr(value, "keys", None)):
        if plain is None and isinstance(value, numpy.ndarray):
            plain = "numpy.asarray({0})"
        if plain is not None and str(unit).strip() not in _NO_UNIT:
            return unit, plain
    elif unit is None and hasattr(value, "in_units"):  # pynbody's own units: 64 Mpc is one
        return value, "float({0}.in_units(unit))"
    data = getattr(value, "data", None)
    if hasattr(value, "dims") and data is not None and data is not value:  # xarray
        found = _foreign_unit(data)
        return None if found is None else (found[0], found[1].replace("{0}", "{0}.data"))
    return None


def _refuse_masked(value, what):
    """Of numpy.ma and of astropy's Masked; methods called mask (pandas, xarray) and masks of tables are none."""
    mask = getattr(value, "mask", None)
    if isinstance(mask, (bool, numpy.bool_, numpy.ndarray)) and numpy.asarray(mask).dtype == bool and numpy.any(mask):
        raise ValueError(f"{what} has masked values; " + ("leave those out" if numpy.ndim(value) else "give a number"))


def _has_no_dimension(unit):
    return getattr(unit, "physical_type", None) == "dimensionless"


def plain(value, what, remedy="give plain numbers, as by to_value(unit)"):
    """Numbers without a unit; TypeError for what carries one, where none can be kept."""
    if type(value) in _PLAIN or type(value).__module__.partition(".")[0] in _TABLES:
        return value
    unit = unit_of(value, what)
    if unit is not None:
        raise TypeError(f"{what} carries a unit, {unit}, which would be lost; {remedy}")
    if _has_no_dimension(getattr(value, "unit", None)):  # 20 % are 0.2
        return getattr(value, "quantity", value).to_value("")
    is_pints = hasattr(value, "magnitude") and hasattr(value, "units") and not isinstance(value, numpy.ndarray)
    return value.magnitude if is_pints else value


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
        remedy = f"the {of} carry none: give them their unit, too, or plain numbers in theirs"
        return [plain(value, name, remedy) for name, value in lengths.items()]
    return [_converted(value, unit, name, of) for name, value in lengths.items()]


def split(values, what):
    """Plain numbers and the unit that they carry, or None."""
    unit = unit_of(values, what)
    return (values, None) if unit is None else (_converted(values, unit, what), unit)


def with_unit(array, unit):
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
