"""Members of groups as rows: of the file that was grouped, of a snapshot that was read from it, and of single groups.

A catalog file lists members as rows among all particles of its snapshot, types ascending, while `kith.read` loads type 1
alone by default, if there is any. The two agree only if all members are of what is loaded by default and nothing stands
before it in the file, which the counts of types (InputCounts) tell. Otherwise rows without a snapshot are refused, never
guessed: the same numbers are other particles there.
"""

import os
import warnings

import numpy

from kith import _arrays, _units
from kith._snapshot import Snapshot


def meaning_something_else(catalog):
    """Why rows of the file are not rows of what `kith.read` loads by default; an empty text if they are."""
    remedy = ("; give the snapshot that you read, members_of(group, snapshot), or take file_rows_of(group), rows of "
              "kith.read(file, types='all')")
    if "SortedSnapshot" in catalog.provenance:
        return (f"the members in '{catalog.path}' are rows of {_input(catalog)}, not of its copy in group order, "
                f"{catalog.provenance['SortedSnapshot']}{remedy}")
    if catalog._counts is None or len(catalog._counts) < 2:
        return (f"the members in '{catalog.path}' are rows among all particles of {_input(catalog)}, and the catalog does not "
                f"state how many of each type these are, so that kith.read may load others by default{remedy}")
    of_default = catalog._counts[1] or sum(catalog._counts)
    if (catalog._counts[1] > 0 and catalog._counts[0] > 0) or not (catalog.file_rows < of_default).all():
        return (f"the members in '{catalog.path}' are rows among all {sum(catalog._counts):,} particles of {_input(catalog)}, "
                f"of which kith.read loads type 1 alone by default: the same numbers are other particles there{remedy}")
    return ""


def _input(catalog):
    name = os.path.basename(catalog.provenance.get("Input", ""))
    return f"'{name}'" if name else "its snapshot"


def rows_in(catalog, snapshot, group):
    """Rows of the members of a group in a snapshot."""
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"snapshot is of type {type(snapshot).__name__}; it must be a kith.Snapshot, or left out")
    wanted = catalog.file_rows_of(group)
    group = label_of(catalog, group)
    header = snapshot.header
    if catalog._counts is not None and tuple(header.counts) != catalog._counts:
        raise ValueError(f"the snapshot is of another file: it holds {_counted(header.counts)}, but {_input(catalog)}, of "
                         f"which the catalog is, {_counted(catalog._counts)}")
    if None not in (catalog.time, header.time) and abs(catalog.time - header.time) > 1e-6 * abs(catalog.time):
        raise ValueError(f"the snapshot is of another file: its time is {header.time}, that of the catalog {catalog.time}")
    if catalog.provenance.get("SortedSnapshot") == os.path.basename(snapshot.path):
        raise ValueError(f"the members are rows of {_input(catalog)}; '{snapshot.path}' is its copy in group order, in "
                         "which group 0 comes first: read the other")
    rows = numpy.searchsorted(snapshot.file_rows, wanted)  # which ascend
    rows[rows == len(snapshot)] = 0
    missing = numpy.count_nonzero(snapshot.file_rows[rows] != wanted) if len(snapshot) else len(wanted)
    if missing:
        raise ValueError(f"{missing} of the {len(wanted)} members of {catalog._ROW} {group} are not among the particles that were "
                         "read; read all: kith.read(file, types='all')")
    if catalog.ids is not None and snapshot.ids is not None and (snapshot.ids[rows] != catalog.ids_of(group)).any():
        raise ValueError(f"the snapshot is of another file, or in another order: the ids of the members of group {group} "
                         "are not those of the catalog")
    name = os.path.basename(catalog.provenance.get("Input", ""))
    if name and name != os.path.basename(snapshot.path) and (catalog.ids is None or snapshot.ids is None):
        warnings.warn(f"the catalog is of '{name}' and the snapshot is '{snapshot.path}'; without ids nothing tells whether "
                      "its rows are the same particles", stacklevel=3)
    return rows


def label_of(catalog, group):
    """The number of a group, given as such or as one of the catalog. The label of no group, -1, is refused."""
    row = catalog._ROW
    if isinstance(group, Group):
        if group._catalog is not catalog:
            raise ValueError(f"{row} is {group!r}; it must be one of this catalog")
        return group._group
    group = _arrays.as_whole(group, row)
    if not 0 <= group < len(catalog):
        no_group = f"; -1 is the label of no group, the last is {len(catalog) - 1}" if group < 0 and row == "group" else ""
        raise IndexError(f"there is no {row} {group}; there are {len(catalog)}, numbered from 0{no_group}")
    return group


def chosen(catalog, which):
    """What an index means: the name of a column, the number of a row, or an array of numbers of rows."""
    row = catalog._ROW
    if isinstance(which, str):
        if which not in catalog.columns:
            raise KeyError(f"there is no column {which!r}; there are {', '.join(catalog.columns)}")
        return which
    if isinstance(which, (int, numpy.integer)) and not isinstance(which, bool):
        if not -len(catalog) <= which < len(catalog):
            raise IndexError(f"there is no {row} {which}; there are {len(catalog)}, numbered from 0")
        return int(which) % len(catalog)
    if hasattr(which, "to_numpy"):  # of pandas, polars, Arrow
        which = which.to_numpy()
    if not isinstance(which, (slice, list, numpy.ndarray)):
        raise TypeError(f"{row}s are chosen by the name of a column, a number, a slice, or an array of numbers or of True and "
                        f"False for each {row}, but not by {type(which).__name__}")
    if not isinstance(which, slice):
        which = numpy.asarray(_units.plain(which, "which"))
        if which.size and which.dtype.kind not in "biu":
            raise TypeError(f"{row}s are chosen by whole numbers, or by True and False, not by {which.dtype}")
        which = which if which.size else which.astype(int)
    try:
        return numpy.arange(len(catalog))[which]
    except IndexError as error:
        raise IndexError(f"there are {len(catalog)} {row}s, numbered from 0: {error}") from None


def _counted(counts):
    """2 of type 0 and 5 of type 1."""
    return " and ".join(f"{count:,} of type {kind}" for kind, count in enumerate(counts) if count) or "no particles"


class Group:
    """One group of a catalog: `halos[g]`. Its attributes are its row of each column, and `members`, `file_rows` and
    `ids`, as `members_of`, `file_rows_of` and `ids_of` of the catalog give them."""

    __slots__ = ("_catalog", "_group")
    _LISTS = ("file_rows", "ids", "members")  # of the catalog's methods

    def __init__(self, catalog, group):
        self._catalog, self._group = catalog, group

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        catalog, group = self._catalog, self._group
        if name in self._LISTS:
            return getattr(catalog, f"{name}_of")(group)
        return getattr(catalog, name)[group] if name in catalog.columns else getattr(catalog, name)

    def __getitem__(self, column):
        return self._catalog[column][self._group]

    def __reduce__(self):
        return type(self), (self._catalog, self._group)

    def __dir__(self):
        return [*self._catalog.columns, *self._LISTS]

    def __repr__(self):
        return f"<group {self._group} of {self._catalog!r}: {self.count} members>"
