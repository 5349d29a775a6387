"""Arguments of the wrong kind are named. Like the rest of this folder it imports nothing else of kith."""

import operator

import numpy


def whole(value, name, least):
    """A whole number of at least that; floats that are whole count as such."""
    if isinstance(value, (float, numpy.floating)) and float(value).is_integer():
        value = int(value)
    try:
        found = operator.index(value)
    except TypeError:
        found = None
    if found is None or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    if found < least:
        raise ValueError(f"{name} is {value}; it must be {least} or more")
    return found


def number(value, name):
    """A finite number, as float."""
    try:
        found = None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise TypeError(f"{name} is {value!r}; it must be a number")
    if not numpy.isfinite(found):
        raise ValueError(f"{name} is {value}; it must be a finite number")
    return found


def positive(value, name):
    """A number above 0, as float."""
    found = number(value, name)
    if not found > 0:
        raise ValueError(f"{name} is {value}; it must be above 0")
    return found


def real_type(dtype):
    """float32 or float64."""
    try:
        found = numpy.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found not in (numpy.float32, numpy.float64):
        raise ValueError(f"dtype is {dtype!r}; it must be float32 or float64")
    return found
