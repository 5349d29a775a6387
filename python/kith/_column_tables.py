"""Columns of a catalog as tables of other libraries."""

import numpy


def structured(columns):
    """A structured array of NumPy; its fields are the columns, arrays of the same number of rows by name."""
    rows = len(next(iter(columns.values())))
    table = numpy.empty(rows, dtype=[(name, column.dtype, column.shape[1:]) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table


def data_frame(columns, suffixes):
    """A DataFrame of pandas. A column of several numbers becomes several: its name with its suffixes, as far as there are
    numbers."""
    import pandas
    table = {}
    for name, column in columns.items():
        if column.ndim == 1:
            table[name] = column
        else:
            table.update({f"{name}_{suffix}": numbers for suffix, numbers in zip(suffixes[name], column.T)})
    return pandas.DataFrame(table)
