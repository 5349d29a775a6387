"""The catalog of groups: columns, members, tables.

Numbers are the core's, which views show. Three things depend on where a catalog is from. Rows: those of the points that
were grouped, and, if these are of a file, those of the file; the two differ where only some of its particles were read.
Velocities: a times peculiar where a file states its cosmology, otherwise as given. Units: those of astropy that the points
carried, or the names that a file has for them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy

from kith import _arrays, _catalog_rows, _column_tables, _core, _frames, _units
from kith._catalog_rows import Group
from kith._column_tables import Column
from kith._halo_catalog import Halos
from kith._snapshot import Snapshot


# Those by type are last. `offset`, the only index, belongs to the members.
_COLUMNS = {column.name: column for column in sorted((Column(*row) for row in _core.catalog_columns),
                                                     key=lambda column: column.is_by_type) if column.kind != "index"}


class Catalog:
    """What is known of each group: columns with a row for each, in the order of their labels.

    All arrays are views of its memory and cannot be written to. Without masses every point counts as mass 1. Catalogs
    can be copied and pickled. Source: the jz-tree paper, section IV-B.

    Attributes
    ----------
    COLUMNS
    members : int32, or int64 from a file
        Rows of the points, group after group: those of group g are `members_of(g)`. Of a catalog from a file, rows of
        what `kith.read` loads of its snapshot by default; raises ValueError where they are not (gas stands before dark
        matter, or the file does not say), and is None if the file lists no members.
    file_rows : int64, or None
        The same particles as rows among all particles of the snapshot's file, types ascending
        (`kith.Snapshot.file_rows`). None if no file is known.
    offset : int64, shape (g,)
        Where each group begins in `members`, `file_rows` and `ids`.
    ids : uint64, or None
        Of the particles in `members`; from a snapshot or a file that has them.
    linking_length : float
        In the units of the points, as it was used; None if a file does not say.
    psi : float, or None
        The linking length of velocities, as it was used; infinity for groups of positions alone; None if a file does not
        say. Of peculiar velocities where the points were a snapshot with its own velocities, in the units of the
        velocities where these were given as an array.
    box : Box
        Numbers in the units of the points.
    engine : str, or None
        Engine used: "tree", "brute" or "kdtree". None of a catalog from a file.
    path : str, or None
        The file from which the catalog was read.
    time, redshift : float, or None
        From the header of the file, or of the snapshot.
    parameters : dict
        Numbers by name from the same header: Omega0, HubbleParam, UnitLength_in_cm, ...
    provenance : dict
        How the file came to be, by name: Program, Command, Input, b, min_members, ... Numbers are numbers.
    halos : Halos, or None
        The bound halos of the groups, of a catalog from a file that has them.
    units : dict
        Units of the columns that have one, by name: those of points, velocities and masses that are astropy Quantities;
        of a catalog from a file the unit of each column as a text, as the file or the Quantity names it. For velocities
        the text says which convention holds.

    Notes
    -----
    `velocity` and `velocity_dispersion` are a times those of peculiar velocities, a being the scale factor, where the
    snapshot or the file states its cosmology: divide by a for peculiar velocities. That is GroupVel of Gadget-4 and
    AREPO, and of kith's files, so that catalogs of all of them compare. Of arrays, and where no cosmology is stated, they
    are of the velocities as given.

    `halos[g]` and a loop give single groups, whose attributes are the columns, `members` and `ids`. `halos[10:20]` and
    `halos[halos.mass > 100]` are catalogs of some of the groups, as `kith.plot` takes them, and `kith.write_catalog` unless
    they are from a file; their rows are numbered anew, so that labels no longer fit.
    """

    _is_part = False  # of the groups of several processes
    _ROW = "group"  # in messages
    halos = None

    def __init__(self, core, summary, box, points, has_velocities, units, source=None, own_velocities=False,
                 has_masses=False):
        header = getattr(source, "header", None)
        self._core = core
        self.columns = tuple(name for name, column in _COLUMNS.items() if has_velocities or not column.needs)
        self.units = {name: units[column.kind] for name, column in _COLUMNS.items()
                      if units.get(column.kind) is not None}
        if units["length"] is not None:
            self.units["linking_length"] = units["length"]
        self._frame = _frames.of_points(source)
        self._velocities_are_own, self._has_masses = own_velocities, has_masses
        self._velocity_factor = _frames.catalog_factor(self._frame) if own_velocities else 1.0
        if own_velocities and self._frame is not None:
            self.units.update(_units_of_velocities(self.columns, ""))
        self.linking_length = _units.with_unit(summary.linking_length, units["length"])
        peculiar = _frames.peculiar_factor(header) if own_velocities else 1.0
        self.psi = _units.with_unit(summary.velocity_length * peculiar, units["velocity"])
        self.box = box
        self.engine = summary.engine
        self._rows = len(points)
        self._is_float64 = _arrays.is_float64(points)
        self.path = None
        self.time, self.redshift = getattr(header, "time", None), getattr(header, "redshift", None)
        self.parameters, self.provenance = dict(getattr(header, "parameters", {})), {}
        rows, ids = getattr(source, "file_rows", None), getattr(source, "ids", None)
        self._counts = None if rows is None else tuple(header.counts)
        self.file_rows = None if rows is None else _read_only(rows[core.members])
        self.ids = None if rows is None or ids is None else _read_only(ids[core.members])
        self._view_core()

    @classmethod
    def _of_file(cls, core, path):
        """The catalog that `kith.read_catalog` returns."""
        self = cls.__new__(cls)
        self._core = core.catalog
        self.path, self.engine = path, None
        for name in ("linking_length", "box", "time", "redshift", "parameters"):
            setattr(self, name, getattr(core, name))
        self.provenance = dict(core.provenance)
        counts = self.provenance.pop("InputCounts", None)
        counts = tuple(int(count) for count in counts.split()) if counts else ()
        self._counts = counts if any(counts) else None
        for name in _NUMBERS.intersection(self.provenance):
            self.provenance[name] = _number(self.provenance[name])
        is_own = "linking_length" in self.provenance
        self.psi = next((float(self.provenance[name]) for name in ("psi", "psi_as_stored") if name in self.provenance),
                        numpy.inf if is_own else None)
        self._frame = _frames.of_file(core)
        self.units = {name: unit for name, unit in core.units.items() if name in _COLUMNS}
        # A file without groups may have no columns; those of no rows stand for them.
        self.columns = tuple(name for name, column in _COLUMNS.items()
                             if name in self.units or (len(self) == 0 and not column.needs))
        is_mean = core.scalings.get("velocity", ("",))[0] == "GroupVelStored"
        self._velocity_factor = _frames.catalog_factor(self._frame) if is_mean else 1.0
        if not is_mean or (self._frame is not None and self.time is not None):
            self.units.update({name: unit for name, unit in _units_of_velocities(
                self.columns, self.units.get("velocity", "")).items() if is_mean or name == "velocity"})
        for text in self.provenance.pop("units", "").split(", "):  # of arrays that carried units
            name, _, unit = text.partition(": ")
            if unit and name in (*self.units, "linking_length"):
                self.units[name] = unit
        self.file_rows = core.file_rows if len(core.file_rows) or len(self) == 0 else None
        self.ids = core.ids if len(core.ids) else None
        self._view_core()
        if core.halos is not None:
            self.halos = Halos._of_file(core, self)
        return self

    def _view_core(self):
        """Sets the arrays that view the core's memory."""
        for name in (*self.columns, "offset"):
            unit = self.units.get(name)
            setattr(self, name, _units.with_unit(self._numbers(name), None if isinstance(unit, str) else unit))
        self._members = None if self.path is not None else self._core.members

    def _numbers(self, name):
        """A column without unit."""
        array = getattr(self._core, name)
        if self._velocity_factor != 1 and name in _COLUMNS and _COLUMNS[name].kind == "velocity":
            array = _read_only(array * self._velocity_factor)
        return array

    def __getstate__(self):
        views = {*self.columns, "offset", "_members"}
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._view_core()
        for array in (self.file_rows, self.ids):
            if array is not None:
                array.flags.writeable = False

    def __getattr__(self, name: str) -> numpy.ndarray:
        if name in _COLUMNS:
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(self.columns)}", name=name, obj=self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __len__(self) -> int:
        return self._core.groups

    def __iter__(self) -> Iterator[Group]:
        return (Group(self, group) for group in range(len(self)))

    def __contains__(self, column) -> bool:
        return column in self.columns

    def __repr__(self) -> str:
        largest = f", the largest of {self.count[0]}" if len(self) else ""
        return f"<kith.Catalog of {len(self)} groups of {self._core.min_members} and more{largest}>"

    def __getitem__(self, which: Any) -> Any:
        chosen = _catalog_rows.chosen(self, which)
        if isinstance(chosen, str):
            return getattr(self, chosen)
        return Group(self, chosen) if isinstance(chosen, int) else self._of_groups(chosen)

    def _of_groups(self, groups):
        """The catalog of some of the groups."""
        if type(self) is not Catalog:
            raise TypeError(f"a {type(self).__name__} is a part already; take rows of its columns")
        counts = self.count[groups]
        offset = numpy.cumsum(counts) - counts
        where = numpy.repeat(self.offset[groups] - offset, counts) + numpy.arange(counts.sum())
        state = dict(self._core.__getstate__())
        for name in (*_COLUMNS, "offset"):
            if len(state[name]):
                state[name] = numpy.ascontiguousarray(state[name].reshape(len(self), -1)[groups]).ravel()
        state["offset"] = offset.astype(numpy.int64)
        state["groups"] = len(groups)
        if len(state["members"]):
            state["members"] = state["members"][where]
        part = Catalog.__new__(Catalog)
        core = _core.Catalog.__new__(_core.Catalog)
        core.__setstate__(state)
        listed = {name: None if getattr(self, name) is None else _read_only(getattr(self, name)[where])
                  for name in ("file_rows", "ids")}
        part.__setstate__({**self.__getstate__(), "_core": core, **listed, "halos": None})
        return part

    @property
    def members(self) -> numpy.ndarray | None:
        if self.path is None or self.file_rows is None:
            return self._members
        problem = _catalog_rows.meaning_something_else(self)
        if problem:
            raise ValueError(problem)
        return self.file_rows

    def members_of(self, group: int | Group, snapshot: Snapshot | None = None) -> numpy.ndarray:
        """Rows of the points that are in a group, by type, then ascending.

        Parameters
        ----------
        group : int or Group
            A label, from 0, or a group of this catalog. Unlike `halos[-1]`, the last group, -1 is the label of no group.
        snapshot : Snapshot, optional
            Return rows of these particles, whatever types were read. Needed for a catalog from a file if `kith.read`
            loads only some of the particles of its snapshot by default, and these are not the first of the file.

        Raises
        ------
        ValueError
            If the file lists no members; without a snapshot, where rows of the file are not those that `kith.read` loads
            by default; with one, if it is of another file, or if a member was not read.
        """
        if snapshot is not None:
            return _catalog_rows.rows_in(self, snapshot, group)
        return self._of_group(self.members, group, "rows of its snapshot", "")

    def file_rows_of(self, group: int | Group) -> numpy.ndarray:
        """The same particles as rows among all particles of the snapshot's file, types ascending: rows of
        `kith.read(file, types="all")`, and of arrays in the order of the file. Raises ValueError if no file is known."""
        return self._of_group(self.file_rows, group, "rows of a file" if self.path is None else "rows of its snapshot",
                              "members_of(group) gives rows of the arrays that were grouped")

    def ids_of(self, group: int | Group) -> numpy.ndarray:
        """Ids of the particles of a group, in the order of `members_of`; raises ValueError without ids."""
        return self._of_group(self.ids, group, "ids", "take those of the arrays that were grouped: ids[members_of(group)]")

    def _of_group(self, listed, group, what, of_arrays):
        if listed is None and self.path is None:
            raise ValueError(f"the catalog has no {what}: {of_arrays}, or group a snapshot that has them, kith.fof(snapshot)")
        if listed is None:
            raise ValueError(f"'{self.path}', as it was read, has no {what}")
        group = _catalog_rows.label_of(self, group)
        begin = self.offset[group]
        return listed[begin:begin + self.count[group]]

    def to_structured(self) -> numpy.ndarray:
        """A NumPy structured array with the columns as fields: plain numbers, in `units`."""
        return _column_tables.structured({name: self._numbers(name) for name in self.columns})

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; columns of several numbers become several columns: center_x, center_y, ...

        Plain numbers, in `units`.
        """
        axes = "xyz" if self._core.dimension <= 3 else range(self._core.dimension)
        return _column_tables.data_frame(
            {name: self._numbers(name) for name in self.columns},
            {name: range(7) if column.is_by_type else axes for name, column in _COLUMNS.items()})

    def to_astropy(self) -> Any:
        """An astropy.table.Table, whose columns keep their units.

        Of a snapshot or file that states its units, columns have the unit that makes them physical. Those that a power of
        the scale factor has to be applied to, such as comoving lengths, have none, unless it is 1.
        """
        from astropy.table import Table
        known = {name: getattr(self, name) for name in ("linking_length", "time", "redshift")}
        table = Table({name: self[name] for name in self.columns},
                      meta={name: value for name, value in known.items() if value is not None})
        for name in self.columns:
            if table[name].unit is None:
                kind = _COLUMNS[name].kind
                a_power = -1 if kind == "velocity" else None  # a times peculiar
                table[name].unit = _frames.physical_unit(self._frame, kind, self.parameters.get("HubbleParam"), a_power)
        return table


_NUMBERS = frozenset({"b", "linking_length", "mean_separation", "min_members", "min_overdensity", "omega_sim", "psi",
                      "psi_as_stored", "psi_sigma", "sample", "seed", "velocity_scale", "volume"})


def _number(text):
    """A text of the provenance as the number that it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _units_of_velocities(columns, unit):
    return {name: f"{unit or 'code velocity'}, a times peculiar" for name in columns if _COLUMNS[name].kind == "velocity"}


def _read_only(array):
    array.flags.writeable = False
    return array


def _described(column):
    return _column_tables.described(column, column.description.replace(
        "as the input stores them", "(a times peculiar ones where a cosmology is stated: Notes)"))


if Catalog.__doc__ is not None:  # as it is under python -OO
    Catalog.__doc__ = inspect.cleandoc(Catalog.__doc__).replace("COLUMNS\n",
                                                                "".join(map(_described, _COLUMNS.values())))
