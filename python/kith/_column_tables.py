"""Columns of a catalog or of halos: the core's tables of them, their documentation, and tables of other libraries."""

import textwrap
from typing import NamedTuple

import numpy


class Column(NamedTuple):
    """A row of one of the core's tables of columns, kith/catalog_columns.hpp."""

    name: str
    shape: str
    dtype: str
    kind: str
    needs: str  # "velocities", "gravity", "both", or nothing
    description: str

    @property
    def is_by_type(self):
        return self.shape.endswith("7)")

    @property
    def measures(self):
        """What has its unit: "length", "mass", "velocity" or "momentum"; None if there is none."""
        kind = self.kind.split("_")[-1]
        return kind if kind in ("length", "mass", "velocity", "momentum") else None


_NEEDED = {"velocities": "; only if there are velocities", "gravity": "; only if G is known",
           "both": "; only if there are velocities and G is known"}


def described(column, description):
    """The entry of a column in the documentation of a class."""
    text = description.replace("|", "\\|")  # which would begin a substitution in Sphinx
    if "(" not in text.split()[0]:  # no formula
        text = text[0].upper() + text[1:]
    text = textwrap.fill(text + _NEEDED.get(column.needs, "") + ".", 116, initial_indent="    ", subsequent_indent="    ")
    return f"{column.name} : {column.dtype}, shape {column.shape}\n{text}\n"


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
