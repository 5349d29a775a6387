"""The bound halos of groups: columns, members, single halos, tables.

Numbers are those of the core, of a call or of a file. What a file lacks, a catalog of halos from it lacks, too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy

from kith import _catalog_rows, _column_tables, _core, _frames, _units
from kith._catalog_rows import Group
from kith._column_tables import Column
from kith._snapshot import Snapshot

_COLUMNS = {row[0]: Column(*row) for row in _core.halo_columns}
_SPHERES = {"m": _COLUMNS.pop("sphere_mass"), "r": _COLUMNS.pop("sphere_radius"),  # by what is before an overdensity
            "c": _COLUMNS.pop("sphere_concentration"), "cv": _COLUMNS.pop("peak_concentration")}
_OF_SPHERE = re.compile(r"(cv|[mrc])(vir|[0-9.e+]+[cm])")


class Halos:
    """The bound halos of groups, as `kith.halos` finds them and `kith.read_catalog` reads them (its `halos`): columns with
    a row for each, in the order of their groups.

    Columns are attributes and items: `halos.mass`, `halos["mass"]`. They are NumPy arrays that cannot be written to,
    Quantities where the points, velocities and masses are, and are in the units of these. Lengths are comoving, velocities
    physical. Without masses every point counts as 1.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns that there are.
    COLUMNS
    m200c, r200c, ... : float64, shape (h,)
        Mass and radius of the sphere with that mean density, for each overdensity asked for; 0 if no sphere has it.
    c200c, cv200c, ... : float64, shape (h,)
        Concentration of that sphere, were it one of Navarro, Frenk and White: by the mean distance of the mass in it, and
        by the largest circular velocity; NaN if it has none from 1 to 1000.
    labels : int32, shape (n,), or None
        The group of each point. None from a file, as are `members` and `energies`.
    members : int32, or None
        Rows of the members of groups: of each group the bound ones by energy, then the others, ascending.
    energies : float64, or None
        Of `members`, per unit of mass: of bound ones alone, of others 0. Without unbinding, potentials. None if G is not
        known.
    file_rows : int64, or None
        The same particles as rows among all particles of the snapshot's file, types ascending. From a file the bound
        members of each group come by type, and then by energy. None if no file is known.
    ids : uint64, or None
        Of the same particles; of a snapshot or file that has them.
    offset : int64, shape (h,)
        Where the bound members of each halo begin in `members`, `file_rows` and `ids`.
    group_offset, first_of_group : int64
        Where each group that is large enough for a halo begins there, and their end; its first halo, or -1 if nothing is
        bound.
    unbind : bool
        Whether members were unbound.
    min_members : int
    softening : tuple, or None
        Kernel and length, as they were used; None if a file does not say, as below.
    least_radius : float, or None
        Of circular velocities, as it was used.
    linking_length : float, or None
        In the units of the points; None of labels.
    G, scale_factor, hubble, omega_matter : float, or None
        As they were used; None: not known.
    box : Box
        Numbers in the units of the points.
    path : str, or None
        The file from which the halos were read.
    time : float, or None
        From the header of the file, or of the snapshot.
    provenance : dict
        How the file came to be, by name, as in `kith.Catalog`.
    units : dict
        Units of the columns that have one, by name: those of points, velocities and masses that are astropy Quantities;
        from a file the unit of each column as a text, as the file names it.

    Notes
    -----
    `halos[h]` and a loop give single halos, whose attributes are the columns, `members`, `unbound_members`, `file_rows`
    and `ids`. `halos[:10]` and `halos[halos.mass > 100]` are some of the halos, of the same groups.
    """

    _ROW = "halo"  # in messages
    first_group = 0  # whose members are the first

    def __init__(self, core, labels, linking_length, min_members, unbind, spheres, universe, particles, snapshot):
        units, has_velocities = particles.units, particles.velocities is not None
        if None not in (units["length"], units["velocity"]):
            units = units | {"momentum": units["length"] * units["velocity"]}
        known = {"": True, "velocities": has_velocities, "gravity": universe.gravity is not None}
        known["both"] = all(known.values())
        numbers = {name: getattr(core, name) for name, column in _COLUMNS.items() if known[column.needs]}
        for place, name in enumerate(spheres):
            numbers |= {letter + name: getattr(core, column.name)[:, place] for letter, column in _SPHERES.items()}
        self._set_columns(numbers)
        self.units = {name: units[_column(name).measures] for name in numbers
                      if units.get(_column(name).measures) is not None}
        header = getattr(snapshot, "header", None)
        self._frame = _frames.of_points(snapshot)
        self._h = getattr(header, "parameters", {}).get("HubbleParam")
        self.path, self.time, self.provenance = None, getattr(header, "time", None), {}
        rows, ids = getattr(snapshot, "file_rows", None), getattr(snapshot, "ids", None)
        self._counts = None if rows is None else tuple(header.counts)
        self.file_rows = None if rows is None else rows[core.members]
        self.ids = None if rows is None or ids is None else ids[core.members]
        for name in ("members", "offset", "group_offset", "first_of_group"):
            setattr(self, name, getattr(core, name))
        self.energies = None
        if universe.gravity is not None:
            unit = None if units["velocity"] is None else units["velocity"] ** 2
            self.energies = _units.with_unit(core.energies, unit)
        self.labels = labels.view()
        self.unbind, self.min_members, self.box = unbind, min_members, core.box
        self.linking_length = None if linking_length is None else _units.with_unit(linking_length, units["length"])
        self.softening = core.softening[0], _units.with_unit(core.softening[1], units["length"])
        self.least_radius = _units.with_unit(core.least_radius, units["length"])
        self.scale_factor, self.omega_matter = universe.scale_factor, universe.omega_matter
        self.G, self.hubble = (None if number is None else _units.with_unit(number, unit) for number, unit in (
            (universe.gravity, universe.unit_of_gravity), (universe.hubble, universe.unit_of_hubble)))
        self._protect()

    @classmethod
    def _of_file(cls, core, catalog):
        """Those that a file has beside the catalog of its groups."""
        self = cls.__new__(cls)
        group = core.halos.group
        # A file without halos has no columns of them; those of no rows stand for them.
        numbers = {name: getattr(core.halos, name) for name in _COLUMNS if name in core.halo_units or len(group) == 0}
        for place, name in enumerate(core.halos.overdensities):
            spheres = {letter + name: getattr(core.halos, column.name) for letter, column in _SPHERES.items()}
            rows = len(spheres["m" + name])
            numbers |= {each: values[:, place] for each, values in spheres.items() if len(values) == rows}
        self._set_columns(numbers)
        self.units = {name: core.halo_units.get(name) or f"code {_column(name).measures}" for name in numbers
                      if _column(name).measures is not None}
        self._frame, self._h = catalog._frame, catalog.parameters.get("HubbleParam")
        self._counts, self.time, self.provenance = catalog._counts, catalog.time, catalog.provenance
        stated = {name: _number(catalog.provenance.get(name)) for name in (
            "G", "H", "omega_matter", "softening", "least_radius")}
        self.path, self.box, self.linking_length = catalog.path, catalog.box, catalog.linking_length
        self.min_members = catalog._core.min_members
        self.unbind = catalog.provenance.get("unbind", "yes") == "yes"
        self.G, self.hubble, self.omega_matter = stated["G"], stated["H"], stated["omega_matter"]
        self.scale_factor = None if self._frame is None else self._frame["scale_factor"]
        kernel, self.least_radius = catalog.provenance.get("softening_kernel"), stated["least_radius"]
        self.softening = None if stated["softening"] is None else (kernel, stated["softening"])
        self.labels = self.members = self.energies = None
        self.group_offset, self.first_of_group = core.halos.group_offset, core.halos.first_of_group
        self.offset = self.group_offset[group]
        order = _bound_first(catalog, numbers.get("count_by_type"), self.first_of_group)
        self.file_rows, self.ids = (None if array is None or order is None else array[order]
                                    for array in (catalog.file_rows, catalog.ids))
        self._protect()
        return self

    def _set_columns(self, numbers):
        self._numbers, self.columns = numbers, tuple(numbers)

    def _protect(self):
        """Sets the columns as attributes, and makes all arrays read-only."""
        for array in (*self._numbers.values(), self.members, self.file_rows, self.ids, self.offset, self.group_offset,
                      self.first_of_group, self.energies, self.labels):
            if array is not None:
                array.flags.writeable = False
        for name, numbers in self._numbers.items():
            unit = self.units.get(name)
            setattr(self, name, _units.with_unit(numbers, None if isinstance(unit, str) else unit))

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in self.columns}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._protect()

    def __getattr__(self, name: str) -> numpy.ndarray:
        columns = self.__dict__.get("columns", ())
        if name in _COLUMNS or _OF_SPHERE.fullmatch(name):
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(columns)}", name=name, obj=self)
        raise AttributeError(f"'Halos' object has no attribute {name!r}", name=name, obj=self)

    def __len__(self) -> int:
        return len(self.offset)

    def __contains__(self, column) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[Halo]:
        return (Halo(self, halo) for halo in range(len(self)))

    def __getitem__(self, which: Any) -> Any:
        chosen = _catalog_rows.chosen(self, which)
        if isinstance(chosen, str):
            return getattr(self, chosen)
        return Halo(self, chosen) if isinstance(chosen, int) else self._of_halos(chosen)

    def _of_halos(self, halos):
        """Some of the halos, of the same groups."""
        if type(self) is not Halos:
            raise TypeError(f"a {type(self).__name__} is a part already; take rows of its columns")
        part = Halos.__new__(Halos)
        number = numpy.full(len(self) + 1, -1)  # of each halo in the part; the last entry for those of -1
        number[halos] = numpy.arange(len(halos))
        numbers = {name: values[halos] for name, values in self._numbers.items()}
        if "parent" in numbers:
            numbers["parent"] = number[numbers["parent"]]
        part.__setstate__({**self.__getstate__(), "_numbers": numbers, "offset": self.offset[halos],
                           "first_of_group": number[self.first_of_group]})
        return part

    def __repr__(self) -> str:
        largest = f", the largest of {self.count.max()}" if len(self) else ""
        return (f"<kith.Halos of {len(self)} halo{'s' * (len(self) != 1)} of {self.min_members} and more "
                f"{'bound ' * self.unbind}members{largest}>")

    def members_of(self, halo: int | Halo, snapshot: Snapshot | None = None) -> numpy.ndarray:
        """Rows of the bound members of a halo, the most bound first.

        Parameters
        ----------
        halo : int or Halo
            A number, from 0, or a halo of these.
        snapshot : Snapshot, optional
            Return rows of these particles, whatever types were read. Needed for halos from a file.

        Raises
        ------
        IndexError
            If there is no such halo.
        ValueError
            For halos from a file without a snapshot, or if it is of another file, or a member was not read.
        """
        if snapshot is not None:
            return _catalog_rows.rows_in(self, snapshot, halo)
        return self._listed(self.members, halo, "rows of points; give the snapshot: members_of(halo, snapshot)")

    def unbound_members_of(self, halo: int | Halo) -> numpy.ndarray:
        """Rows of the members of its group that are not bound, ascending. Raises IndexError if there is no such halo, and
        ValueError for halos from a file."""
        return self._listed(self.members, halo, "rows of points", bound=False)

    def file_rows_of(self, halo: int | Halo) -> numpy.ndarray:
        """The bound members as rows among all particles of the snapshot's file, types ascending: rows of
        `kith.read(file, types="all")`. Raises ValueError if no file is known."""
        return self._listed(self.file_rows, halo, "rows of a file")

    def ids_of(self, halo: int | Halo) -> numpy.ndarray:
        """Ids of the bound members, in the order of `file_rows_of`; raises ValueError without ids."""
        return self._listed(self.ids, halo, "ids")

    def _listed(self, listed, halo, what, bound=True):
        halo = _catalog_rows.label_of(self, halo)
        if listed is None:
            raise ValueError(f"the halos have no {what}")
        middle = self.offset[halo] + self.count[halo]
        if bound:
            return listed[self.offset[halo]:middle]
        return listed[middle:self.group_offset[self.group[halo] - self.first_group + 1]]

    def to_structured(self) -> numpy.ndarray:
        """A NumPy structured array with the columns as fields: plain numbers, in `units`."""
        return _column_tables.structured(self._numbers)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; columns of several numbers become several columns: center_x, center_y, ...

        Plain numbers, in `units`.
        """
        return _column_tables.data_frame(
            self._numbers, {name: range(7) if _column(name).is_by_type else "xyz" for name in self.columns})

    def to_astropy(self) -> Any:
        """An astropy.table.Table, whose columns keep their units.

        Of a snapshot that states its units, columns have the unit that makes them physical. Those that a power of the
        scale factor has to be applied to, such as comoving lengths, have none, unless it is 1.
        """
        from astropy.table import Table
        table = Table({name: self[name] for name in self.columns}, meta={"scale_factor": self.scale_factor})
        for name in self.columns:
            if table[name].unit is None:
                table[name].unit = _frames.physical_unit(self._frame, _column(name).kind, self._h)
        return table


class HalosPart(Halos):
    """The halos that one process has: `kith.Halos` of the groups from `first_group` on.

    The columns of the parts of all processes, in the order of ranks, are those of the halos of one process, and so are
    `members` and `energies`. `first_member` and `first_halo` count those before the part: `offset` and `group_offset` begin
    at 0 with its members, `first_of_group` and `parent` with its halos. Without rows and ids of a file.

    Attributes
    ----------
    members, center_row : int64
        Global indices of the points, or ids.
    labels : int64, shape (n,)
        Of the points of this process.
    first_group : int
        The label of the first group here.
    first_halo : int
        The number of halos in the parts of lower ranks.
    halos : int
        In all parts.
    first_member : int
        The number of members in the parts of lower ranks.
    """

    _is_part = True

    def __init__(self, core, labels, linking_length, min_members, unbind, spheres, universe, particles, snapshot):
        header = getattr(snapshot, "header", None)  # what else it has is of the points of this process
        super().__init__(core, labels, linking_length, min_members, unbind, spheres, universe, particles,
                         SimpleNamespace(header=header))
        self.first_group, self.first_member = core.first_group, core.first_member
        self.first_halo, self.halos = core.place

    def __repr__(self) -> str:
        return f"<kith.HalosPart of {len(self)} halos from {self.first_halo} on, of {self.halos}>"


class Halo(Group):
    """One halo: `halos[h]`. Its attributes are its row of each column, and `members`, `unbound_members`, `file_rows` and
    `ids`, as the methods of the same names give them."""

    __slots__ = ()
    _LISTS = ("file_rows", "ids", "members", "unbound_members")

    def __repr__(self):
        return f"<halo {self._group} of {self._catalog!r}: {self.count} members>"


def _bound_first(catalog, bound_by_type, first_of_group):
    """The order that puts the bound members of each group, by type in a file, before its others; None if the file lists
    no members."""
    if catalog.file_rows is None or bound_by_type is None or "count_by_type" not in catalog:
        return None
    counts = catalog.count_by_type.ravel()
    bound = numpy.zeros_like(catalog.count_by_type)
    has_halo = first_of_group >= 0
    bound[has_halo] = bound_by_type[first_of_group[has_halo]]
    place = numpy.arange(counts.sum()) - numpy.repeat(numpy.cumsum(counts) - counts, counts)  # within group and type
    is_other = place >= numpy.repeat(bound.ravel(), counts)
    return numpy.argsort(2 * numpy.repeat(numpy.arange(len(catalog)), catalog.count) + is_other, kind="stable")


def _number(text):
    return None if text is None else float(text)


def _column(name):
    """The row of the table that a column is of."""
    return _COLUMNS[name] if name in _COLUMNS else _SPHERES[_OF_SPHERE.fullmatch(name)[1]]


if Halos.__doc__ is not None:  # as it is under python -OO
    Halos.__doc__ = inspect.cleandoc(Halos.__doc__).replace("COLUMNS\n", "".join(
        _column_tables.described(column, column.description) for column in _COLUMNS.values()))
