"""Arrays of any library in, arrays of the same library out.

The core takes float32 and float64 in place, with any strides. Other arrays are copied here: integers become float64, half
precision float32, and the other byte order this machine's. A copy that would lose digits is refused, except of lists, whose
numbers have no type, and of queries, which take the type of the points.
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy

from kith import _core, _tables, _units

AnyArray = Any  # a NumPy array, an array of a library that speaks DLPack, a list, a snapshot, a tree
BoxLike = Union[None, float, Sequence[float], numpy.ndarray, _core.Box]
ProgressLike = Union[bool, None, Callable[[str, float], Any]]

_INT32 = numpy.dtype(numpy.int32)
_REAL = (numpy.dtype(numpy.float32), numpy.dtype(numpy.float64))
_TABLES = ("pandas", "pyarrow")
LIBRARIES = ("torch", "cupy", "jax", "jaxlib")  # whose arrays are taken and given as they are


def as_queries(array, real_type, what="queries"):
    """Points to search around, as numbers of the type of the points: wider ones are rounded to it."""
    if type(array) is numpy.ndarray and array.dtype == real_type and array.ndim == 2:
        return _readable(array)
    array = as_real(array, what, like=real_type)
    if array.ndim == 1 and array.shape[0] > 0:
        raise ValueError(f"{what} has 1 axis; it must be m x d, a row for each point: a single point is [point]")
    if is_float64(array) == (numpy.dtype(real_type) == numpy.float64):
        return array
    if library_of(array) == "torch":
        import torch
        return array.to(getattr(torch, numpy.dtype(real_type).name))
    with numpy.errstate(over="ignore"):
        converted = array.astype(real_type)
    if isinstance(array, numpy.ndarray):
        lost = numpy.isinf(converted) & numpy.isfinite(array)
        if lost.any():
            raise ValueError(f"{what} holds {array[lost][0]}, which {numpy.dtype(real_type)}, the type of the points, cannot "
                             "hold; give the points as float64")
    return converted


def as_real(array, what, like=None):
    """An array that the core can read: float32 or float64, aligned, in this machine's byte order.

    `like` is the type that numbers without one (lists, integers) take, if not float64.
    """
    if type(array) is numpy.ndarray and array.dtype in _REAL:
        return _readable(array)
    if not isinstance(array, numpy.ndarray):
        if "Tracer" in type(array).__name__:
            raise TypeError(f"{what} is traced by JAX; under jit and grad use kith.jax")
        if library_of(array) in LIBRARIES:
            return _with_memory(_as_real_there(array, what), what)
        _refuse_tables(array, what)
        array = _units.plain(array, what)
        if library_of(array) in _TABLES:
            array = _tables.plain(array, what)
        elif hasattr(array, "__dlpack__"):
            array = _from_dlpack(array)
        elif hasattr(array, "__cuda_array_interface__"):
            import cupy
            return cupy.asarray(array)
        if library_of(array) in LIBRARIES:
            return _with_memory(_as_real_there(array, what), what)
    if isinstance(array, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} is {array!r}; it must be an array: read a file by kith.read")
    _refuse_tables(array, what)
    array = _units.plain(array, what)
    has_type = hasattr(array, "dtype") or hasattr(array, "dtypes")  # arrays, tables
    given = type(array)
    try:
        array = numpy.asarray(array)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{what} has rows of different lengths; it must be an array of shape (n, d)") from None
    dtype = array.dtype.newbyteorder("=")
    if dtype == numpy.float16:
        dtype = numpy.dtype(numpy.float32)
    elif array.size == 0 and not has_type or dtype.kind in "iu":
        dtype = numpy.dtype(like or numpy.float64)
    elif dtype in _REAL and not has_type:
        dtype = numpy.dtype(like or dtype)
    elif dtype not in _REAL:
        if array.dtype == object:
            first = next(iter(array.flat), None)
            if hasattr(first, "unit") or hasattr(first, "units"):
                raise TypeError(f"{what} holds numbers that carry units, each by itself, such as {first!r}; give one array of "
                                "plain numbers")
            raise TypeError(f"{what} is of type {given.__module__}.{given.__qualname__} and not all numbers; it must be "
                            "an array of float32 or float64, or integers")
        raise TypeError(f"{what} is of type {array.dtype}; it must be float32 or float64, or integers")
    if dtype.kind == "f" and array.dtype.kind in "iu":
        _require_exact(array, dtype, what)
    return _readable(array.astype(dtype, copy=False))


def _refuse_tables(array, what):
    """Structured arrays, and tables of astropy."""
    names = getattr(getattr(array, "dtype", None), "names", None)
    if names:
        masked = getattr(array, "has_masked_values", False) or numpy.ma.is_masked(getattr(array, "mask", None))
        remedy = f"give one array of shape (n, d), numpy.stack([table[name] for name in {list(names[:3])}], axis=1)"
        raise TypeError(f"{what} is a table with the columns {', '.join(names)}; "
                        f"{'leave out its masked rows and ' if masked else ''}{remedy}")


def _as_real_there(array, what):
    """An array of PyTorch, CuPy or JAX as float32 or float64: where it is, and of its library."""
    if getattr(array, "requires_grad", False) and _records_gradients():
        raise TypeError(f"{what} requires a gradient, which kith does not compute and the result would not have: give "
                        f"{what}.detach(), or use kith.jax, whose knn can be differentiated")
    kind = str(getattr(array, "dtype", "")).rpartition(".")[2]
    wider = "float32" if kind in ("float16", "bfloat16") else "float64" if kind.strip("u").startswith("int") else None
    if wider is None or library_of(array) in ("jax", "jaxlib") and wider == "float64":
        return array  # the core refuses what is no real number; JAX may have no float64
    if kind.endswith("int64") and 0 not in array.shape:
        for number in (int(array.min()), int(array.max())):
            if abs(number) > 2**53:
                raise ValueError(f"{what} holds {number}, and whole numbers above 2**53 may not fit float64; make it float64 "
                                 "yourself, and it is rounded")
    if library_of(array) == "torch":
        import torch
        return array.to(getattr(torch, wider))
    return array.astype(wider)


def _records_gradients():
    import torch
    return torch.is_grad_enabled()


def _with_memory(array, what):
    """The array itself; refuses those that do not give their memory by DLPack."""
    try:
        _core.device_of(array)
    except TypeError:
        raise TypeError(f"{what} is of type {type(array).__module__}.{type(array).__qualname__} and does not say by DLPack "
                        "where its numbers lie; is it sparse, or without memory?") from None
    return array


def _require_exact(integers, dtype, what):
    """Refuses whole numbers that have more digits than the type."""
    limit = 2 ** (numpy.finfo(dtype).nmant + 1)
    for number in integers[(integers > limit) | (integers < -limit)].tolist():
        if int(dtype.type(number)) != number:
            raise ValueError(f"{what} holds {number}, which {dtype} cannot hold; make it {dtype} yourself, and it is "
                             "rounded")


def library_of(array):
    return type(array).__module__.partition(".")[0]


def _from_dlpack(array):
    """An array of a library that is not known here, as NumPy or CuPy sees it: the same memory."""
    if str(_core.device_of(array)) == "cpu":
        return numpy.from_dlpack(array)
    import cupy
    return cupy.from_dlpack(array)


def _readable(array):
    """Strides that count numbers, and numbers where the processor can load them."""
    size = array.itemsize
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    if array.flags.aligned and all(stride % size == 0 for stride in array.strides):
        return array
    return array.copy()


def in_plane(array):
    """Points of one coordinate as points of two, the second 0; others as they are. No distance changes by that."""
    if array.ndim != 2 or array.shape[1] != 1:
        return array
    library = library_of(array)
    if library == "torch":
        import torch
        return torch.nn.functional.pad(array, (0, 1))
    module = {"cupy": "cupy", "jax": "jax.numpy", "jaxlib": "jax.numpy"}.get(library, "numpy")
    return importlib.import_module(module).pad(array, ((0, 0), (0, 1)))


def as_column(array, what):
    """A one-dimensional array without gaps."""
    array = as_real(array, what)
    if isinstance(array, numpy.ndarray):
        return numpy.ascontiguousarray(array)
    library = library_of(array)
    if library == "torch":
        return array.contiguous()
    if library == "cupy":
        import cupy
        return cupy.ascontiguousarray(array)
    return array


def as_integers(array, dtype, what, flaw="{what} must be from {least} to {most}; row {row} is {value}"):
    """Whole numbers as another type of whole numbers, if none changes by that; else ValueError, whose text is `flaw`."""
    if not isinstance(array, numpy.ndarray) and hasattr(array, "__dlpack__") and str(_core.device_of(array)) != "cpu":
        return array
    array = _units.plain(array, what)
    array = numpy.asarray(_tables.plain(array, what) if library_of(array) in _TABLES else array)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} is of type {array.dtype}; it must be whole numbers")
    least, most = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    if array.size and (int(array.min()) < least or int(array.max()) > most):
        first = tuple(numpy.argwhere((array < least) | (array > most))[0])
        row = int(first[0]) if first else 0
        raise ValueError(flaw.format(what=what, least=least, most=most, row=row, value=int(array[first])))
    return numpy.ascontiguousarray(array, dtype=dtype)


def as_types(array):
    """Particle types as bytes. The core refuses those above 6, in these words."""
    return as_integers(array, numpy.uint8, "types", "types: row {row} has type {value}; types are 0 to 6")


def as_number(value, what):
    """A float; texts, which Python would read as one, are refused."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} is {value!r}; it must be a number")
    if type(value) not in (float, int):
        value = _units.plain(value, what)
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{what} is larger than any float64") from None
    except (TypeError, ValueError):
        raise TypeError(f"{what} is of type {type(value).__name__}; it must be a number") from None


def as_whole(value, what):
    """A whole number; floats that are whole count as such."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{what} is {value}; it must be a whole number")
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, (float, numpy.floating)) and float(value).is_integer():
            return int(value)
    shown = repr(value) if isinstance(value, (str, float, numpy.floating)) else f"of type {type(value).__name__}"
    raise TypeError(f"{what} is {shown}; it must be a whole number")


def at_least(least, value, what, why=""):
    """A whole number of that or more; beyond the core's limit it is the limit."""
    value = as_whole(value, what)
    if value < least:
        raise ValueError(f"{what} is {value}; it must be {least} or more{why}")
    return min(value, 2**63 - 1)


def is_float64(array):
    return str(array.dtype).endswith("float64")


def empty_like(array, shape, dtype):
    """An uninitialized array of the same library in the same memory, and a function from the filled array to the result."""
    if type(array) is numpy.ndarray:
        return _empty(shape, dtype), identity
    library = library_of(array)
    dtype = numpy.dtype(dtype)
    if library == "torch":
        import torch
        try:
            return torch.empty(shape, dtype=getattr(torch, dtype.name), device=array.device), identity
        except torch.cuda.OutOfMemoryError as reason:
            raise MemoryError(str(reason)) from reason
    if library == "cupy":
        import cupy
        with array.device:
            return cupy.empty(shape, dtype=dtype), identity
    if library in ("jax", "jaxlib"):
        if str(_core.device_of(array)) != "cpu":
            raise NotImplementedError("JAX's arrays cannot be written to, and these are a GPU's; use kith.jax")
        require_type(array, dtype)
        return _empty(shape, dtype), functools.partial(in_library_of, array)
    return _empty(shape, dtype), identity


def from_device(like, view):
    """Memory of a GPU that the core gives for DLPack, as an array of the library of `like`."""
    library = library_of(like)
    if library not in ("torch", "cupy"):
        raise NotImplementedError(f"memory of a GPU is shown as arrays of PyTorch and CuPy, not of {library}; use to_host()")
    return importlib.import_module(library).from_dlpack(view)


def prototype_of(array):
    """An empty array of the same library and device, to make later results like. A slice would keep all memory alive."""
    return array[:0] if library_of(array) in ("jax", "jaxlib") else empty_like(array, (0, 1), numpy.float32)[0]


def require_type(array, dtype):
    """Refuses types of results that the library of this array does not have."""
    if library_of(array) in ("jax", "jaxlib") and numpy.dtype(dtype).itemsize == 8:
        import jax
        if not jax.config.jax_enable_x64:
            raise ValueError(f"JAX has no {dtype} unless jax_enable_x64 is set")


def in_library_of(array, result):
    """A NumPy array as one of the library of `array`, of the same memory where that can be."""
    library = library_of(array)
    if library == "torch":
        import torch
        return torch.from_numpy(result if result.flags.writeable else result.copy())  # which has no such flag
    if library in ("jax", "jaxlib"):
        import jax
        if array.committed and str(_core.device_of(array)) == "cpu":  # by default JAX makes arrays on a GPU if there is one
            return jax.device_put(result, min(array.devices(), key=lambda device: device.id))
        return jax.numpy.asarray(result)
    return result


def wait_for_pytorch(gpu):
    """Makes the default stream of a GPU, on which kith works, wait for the current one of PyTorch, whose arrays do not see
    to that when they are handed over, as those of CuPy and JAX do."""
    cuda = getattr(sys.modules["torch"], "cuda", None)  # None while it is imported
    if cuda is not None and cuda.is_initialized():
        current, default = cuda.current_stream(gpu), cuda.default_stream(gpu)
        if current != default:
            default.wait_stream(current)


def _empty(shape, dtype):
    try:
        return numpy.empty(shape, dtype=dtype)
    except ValueError:  # NumPy's error for sizes that overflow
        raise MemoryError(f"an array of shape {shape} and type {dtype} is larger than any memory") from None


def identity(array):
    return array


def flag(value, name):
    """True or False, NumPy's own included."""
    if type(value) is not bool and not isinstance(value, numpy.bool_):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def length(linking_length, b):
    """The linking length that was given, and whether it is relative."""
    if (linking_length is None) == (b is None):
        raise TypeError("give either linking_length, in the units of the points, or b, in mean separations")
    return (as_number(linking_length, "linking_length"), False) if b is None else (as_number(b, "b"), True)


def index_type(index_dtype):
    """int32 or int64."""
    if index_dtype is numpy.int32:
        return _INT32
    try:
        dtype = numpy.dtype(index_dtype)
    except TypeError:
        dtype = None
    if index_dtype is None or dtype not in (numpy.int32, numpy.int64):
        raise ValueError(f"index_dtype is {index_dtype!r}; it must be int32 or int64")
    return dtype


def require_out(array, shape, dtypes, what):
    """Refuses an array that results of this shape cannot be written to as they are."""
    names = [numpy.dtype(dtype).name for dtype in dtypes]
    _units.plain(array, what, "give one without; what is returned has the unit of the points")
    if not hasattr(array, "shape") or not hasattr(array, "dtype") or library_of(array) == "pandas":
        raise TypeError(f"{what} is of type {type(array).__name__}; it must be an array")
    if library_of(array) in ("jax", "jaxlib"):
        raise TypeError(f"{what} is JAX's, which cannot be written to; leave out=, or use kith.jax")
    if tuple(array.shape) != tuple(shape) or str(array.dtype).rpartition(".")[2] not in names:
        raise ValueError(f"{what} must be of shape {tuple(shape)} and type {' or '.join(names)}; it is of shape "
                         f"{tuple(array.shape)} and type {array.dtype}")
    if isinstance(array, numpy.ndarray) and not array.flags.writeable:
        raise ValueError(f"{what} must be writeable")
