"""Tables of pandas and arrays of Arrow whose numbers may be missing, as plain arrays of NumPy.

pandas' nullable types (Float64, Int64) and those that Arrow backs come out of `numpy.asarray` as objects, and Arrow's lists
of fixed size as arrays of arrays. Here they become numbers, of the type that NumPy would give plain columns. A missing
number is refused: it is no point.
"""

import numpy


def plain(table, what):
    """The same as an array of numbers where it can be; what else it is comes back as it is."""
    return _of_arrow(table, what) if type(table).__module__.partition(".")[0] == "pyarrow" else _of_pandas(table, what)


def _of_pandas(table, what):
    types = list(table.dtypes) if getattr(table, "ndim", 0) == 2 else [getattr(table, "dtype", None)]
    if all(isinstance(each, numpy.dtype) for each in types):
        return table
    numbers = [getattr(each, "numpy_dtype", each) for each in types]
    if not all(isinstance(each, numpy.dtype) and each.kind in "iuf" for each in numbers):
        return table
    _refuse_missing(int(numpy.count_nonzero(table.isna())), what, "leave those rows out, as by dropna()")
    return table.to_numpy(dtype=numpy.result_type(*numbers))


def _of_arrow(array, what):
    array = array.combine_chunks() if hasattr(array, "combine_chunks") and not hasattr(array, "columns") else array
    width = getattr(getattr(array, "type", None), "list_size", None)
    if hasattr(array, "null_count"):
        _refuse_missing(array.null_count, what, "leave those rows out, as by drop_null()")
    if width is not None:
        numbers = array.flatten()
        _refuse_missing(numbers.null_count, what, "leave those rows out")
        return numbers.to_numpy(zero_copy_only=False).reshape(-1, width)
    return array.to_numpy(zero_copy_only=False) if hasattr(array, "type") else numpy.asarray(array)


def _refuse_missing(count, what, remedy):
    if count:
        raise ValueError(f"{what} has {count} missing number{'s' * (count != 1)}; {remedy}")
