"""Friends-of-friends groups and their catalog."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core, _units
from kith._warnings import warn
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith.search import Tree, is_snapshot, unpacked


class _Column(NamedTuple):
    """A row of the core's table of columns, kith/catalog_columns.hpp."""

    name: str
    shape: str
    dtype: str
    kind: str
    of_velocities: bool
    description: str

    @property
    def is_by_type(self):
        return self.shape == "(g, 7)"


# Those by type are last. `offset`, the only index, belongs to the members.
_COLUMNS = {column.name: column for column in sorted((_Column(*row) for row in _core.catalog_columns),
                                                     key=lambda column: column.is_by_type) if column.kind != "index"}


def fof(points: AnyArray, linking_length: float | None = None, *, b: float | None = None, psi: float | None = None,
        psi_sigma: float | None = None, box: BoxLike = None, min_members: int | None = None,
        return_catalog: bool = False, velocities: AnyArray | None = None, masses: AnyArray | None = None,
        types: AnyArray | None = None, engine: str = "auto", device: str | None = None,
        threads: int | None = None, progress: ProgressLike = False) -> Any:
    """Labels of friends-of-friends groups, and on request their catalog.

    Two points are friends if they are within the linking length of each other, inclusive; the groups are the connected
    components of friendship.

    Parameters
    ----------
    points : array, shape (n, d)
        As for `kith.knn`. A `kith.Snapshot` stands for its positions, box, velocities, masses and types. Columns of the
        catalog keep the units of points, velocities and masses where these are astropy Quantities.
    linking_length : float
        In the units of the points. Give this or `b`.
    b : float
        The linking length in units of the mean separation (V / n)^(1/d); V is the volume of the box, or of the extent
        of the points along open axes. The usual choice for halos is 0.2.
    psi : float, optional
        Groups in phase space: two points are friends if dx.dx / linking_length^2 + dv.dv / psi^2 is at most 1. In the
        units of the velocities as given, above 0 (of a snapshot: as stored; `kith fof --psi` takes peculiar
        velocities); with infinity the groups are those of the positions. Positions have 2 to 4 dimensions. On the CPU.
    psi_sigma : float, optional
        The same, with a psi of so many times the dispersion of all velocities: the root of the mean square of v - mean(v),
        weighted by mass and summed over components.
    box : float, sequence of d floats or Box, optional
        Periods, as for `kith.knn`; 0 is open space, also for a snapshot that has a box.
    min_members : int, optional
        Points of smaller groups are labeled -1, and the catalog leaves these groups out. By default all groups are
        labeled, and the catalog has those of at least 20 members.
    return_catalog : bool
        Return the catalog, too. The labels are the same with and without it.
    velocities : array, shape (n, d), optional
        For groups in phase space, and for the catalog.
    masses : array, shape (n,), optional
        For `psi_sigma` and the catalog; without them every point counts as 1.
    types : whole numbers from 0 to 6, shape (n,), optional
        For the catalog, which lists the members of a group by type.
    engine, device, threads, progress
        As for `kith.knn`. The engine "clover" does not find groups, and "kdtree" does so on the CPU only.

    Returns
    -------
    labels : array of int32, shape (n,)
        Groups are numbered from 0 by decreasing size, ties by their first member. Of the library of the points.
    catalog : Catalog
        If `return_catalog`: its row g is the group of label g. Labels of `len(catalog)` and more are of groups that
        are too small for it.

    Raises
    ------
    ValueError
        For points or velocities that are not finite; a negative linking length; a relative one if the volume is zero; one
        above 0 whose square vanishes beside the largest coordinate, such as a placeholder of 1e37 in float32; a psi that
        is not above 0, is given without velocities, or beside a linking length of 0; `psi_sigma` if all velocities are
        alike.
    TypeError
        Unless exactly one of `linking_length` and `b` is given; if both `psi` and `psi_sigma` are.
    NotImplementedError
        For points of other dimensions, and for groups in phase space on a GPU.

    Notes
    -----
    Close to O(n) at the usual linking lengths. Sources: the jz-tree paper, section IV; in phase space the GPU
    halo-finding thesis, equation 3.3.

    Examples
    --------
    >>> import kith
    >>> kith.fof([[0, 0], [5, 5], [0, 1], [5, 6], [5, 7]], 1).tolist()
    [1, 0, 1, 0, 0]
    >>> labels, halos = kith.fof([[0, 0], [5, 5], [0, 1]], 1, min_members=2, return_catalog=True)
    >>> halos.center.tolist()
    [[0.0, 0.5]]

    Streams that meet in one place:

    >>> kith.fof([[0, 0, 0], [0, 0, 1], [0, 0, 1]], 1, velocities=[[9, 0, 0], [9, 0, 0], [0, 0, 0]], psi=5).tolist()
    [0, 0, 1]
    """
    uniform_mass = None
    if is_snapshot(points):
        snapshot = points
        velocities = snapshot.velocities if velocities is None else velocities
        if masses is None:
            masses, uniform_mass = snapshot.masses, snapshot.uniform_mass
        types = snapshot.types if types is None else types
    return_catalog = _arrays.flag(return_catalog, "return_catalog")
    unit, points, box, linking_length = unpacked(points, box, linking_length=linking_length)
    velocities, unit_of_velocities = _units.split(velocities, "velocities")
    masses, unit_of_masses = _units.split(masses, "masses")
    points = _arrays.as_real(points, "points")
    require_rows(points, velocities=velocities, masses=masses, types=types)
    labeled, listed = (1, 20) if min_members is None else [at_least_one(min_members)] * 2
    masses = None if masses is None else _arrays.as_column(masses, "masses")
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    _warn_of_unequal_masses(b, masses, types)
    labels, summary = label(points, linking_length, b, box, engine, device, threads, progress,
                            phase_space(velocities, unit_of_velocities, psi, psi_sigma, masses))
    if not return_catalog:
        return masked(labels, summary, labeled)
    core = _core.describe_groups(
        _writeable(labels), summary, points, velocities, masses, 1.0 if uniform_mass is None else uniform_mass,
        None if types is None else _arrays.as_integers(types, numpy.uint8, "types"), listed,
        _core.device_of(points) if device is None else device, threads,
        _arrays.progress_function(progress))
    units = {"length": unit, "mass": unit_of_masses, "velocity": unit_of_velocities}
    return (masked(labels, summary, labeled),
            Catalog(core, summary, summary.box, points, velocities is not None, units))


def _warn_of_unequal_masses(b, masses, types):
    if b is None or masses is None or len(masses) == 0 or masses.min() == masses.max():
        return
    several = types is not None and numpy.ndim(types) == 1 and len(numpy.unique(numpy.asarray(types))) > 1
    remedy = "choose points of one type, or give linking_length" if several else "give linking_length"
    warn(f"the masses are unequal, but a relative linking length counts every point alike; {remedy}")


def b_of_overdensity(overdensity: float, dimension: int = 3) -> float:
    """The relative linking length at which two points in a sphere of that radius are so many times as dense as the mean.

    Parameters
    ----------
    overdensity : float
        Above 0, in units of the mean density.
    dimension : int
        Of the points, 1 to 8.

    Returns
    -------
    b : float
        (3 / (2 pi overdensity))^(1/3) in three dimensions: for the argument `b` of `kith.fof`.

    Raises
    ------
    ValueError
        For an overdensity that is not a finite number above 0, and for other dimensions.

    Notes
    -----
    Source: the GPU halo-finding thesis, equation 3.1. Roughly, this is the density at the edge of a group.

    Examples
    --------
    >>> import kith
    >>> round(kith.b_of_overdensity(59.68), 3)
    0.2
    """
    return _core.b_of_overdensity(_arrays.as_number(overdensity, "overdensity"), _arrays.as_whole(dimension, "dimension"))


def phase_space(velocities, unit, psi, psi_sigma, masses):
    """Velocities, psi, whether that is in dispersions, and masses, as the core takes them; no velocities for groups of
    positions."""
    if psi is None and psi_sigma is None:
        return None, 0.0, False, None
    if psi is not None and psi_sigma is not None:
        raise TypeError("give either psi, in the units of the velocities, or psi_sigma, in dispersions of theirs")
    name = "psi_sigma" if psi is None else "psi"
    if psi is not None:
        psi, = _units.in_unit(unit, of="velocities", psi=psi)
    length = _arrays.as_number(psi_sigma if psi is None else psi, name)
    if velocities is None:
        raise ValueError(f"{name} is given, but there are no velocities; give them, too, or leave it out")
    return velocities, length, psi is None, masses if psi is None else None


def phase_space_at(points, linking_length, b, psi, psi_sigma, velocities, masses, box):
    """For a spanning tree: the points, their unit, the box, and the further arguments of the core."""
    if psi is None and psi_sigma is None:
        given = {"linking_length": linking_length, "b": b, "velocities": velocities, "masses": masses}
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise TypeError(f"{extra[0]} is for phase space; give psi or psi_sigma, too, or leave it out")
        linking_length = 0.0
    elif is_snapshot(points):
        velocities = points.velocities if velocities is None else velocities
        masses = points.masses if masses is None else masses
    unit, points, box, linking_length = unpacked(points, box, linking_length=linking_length)
    velocities, unit_of_velocities = _units.split(velocities, "velocities")
    points = _arrays.as_real(points, "points")
    require_rows(points, velocities=velocities, masses=masses)
    masses = None if masses is None else _arrays.as_column(_units.split(masses, "masses")[0], "masses")
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    _warn_of_unequal_masses(b, masses, None)
    return points, unit, box, (*_arrays.length(linking_length, b),
                               *phase_space(velocities, unit_of_velocities, psi, psi_sigma, masses))


def label(source, linking_length, b, box, engine, device, threads, progress, phase_space=(None, 0.0, False, None)):
    """Labels of all groups, and what else is known of them."""
    length, is_relative = _arrays.length(linking_length, b)
    progress = _arrays.progress_function(progress)
    if isinstance(source, Tree):
        labels, finish = _arrays.empty_like(source._like, (len(source),), numpy.int32)
        summary = _core.label_tree(labels, source._core, length, is_relative, threads, progress,
                                   _arrays.engine_name(engine))
    else:
        labels, finish = _arrays.empty_like(source, tuple(source.shape[:1]), numpy.int32)
        summary = _core.label_points(labels, source, length, is_relative, *phase_space, box,
                                     _core.device_of(source) if device is None else device, threads, progress,
                                     _arrays.engine_name(engine))
    return finish(labels), summary


def masked(labels, summary, min_members):
    """The same with -1 for all in groups of fewer members."""
    min_members = at_least_one(min_members)
    if min_members > 1:
        groups = int(numpy.count_nonzero(summary.sizes >= min_members))
        if _arrays.library_of(labels) in ("jax", "jaxlib"):
            return labels.at[labels >= groups].set(-1)
        labels[labels >= groups] = -1
    return labels


def at_least_one(min_members):
    min_members = _arrays.as_whole(min_members, "min_members")
    if min_members < 1:
        raise ValueError(f"min_members is {min_members}; it must be 1 or more")
    return min(min_members, 2**63 - 1)


def _writeable(labels):
    """JAX's arrays cannot be written to, and the core takes labels as it gives them."""
    return numpy.array(labels) if _arrays.library_of(labels) in ("jax", "jaxlib") else labels


def require_rows(points, **columns):
    for name, column in columns.items():
        if column is not None and numpy.ndim(column) == 0:
            raise TypeError(f"{name} must be an array with a row for each point")
        if column is not None and numpy.ndim(points) > 0 and len(column) != len(points):
            raise ValueError(f"{name} has {len(column)} rows for {len(points)} points")


class Catalog:
    """What is known of each group: columns with a row for each, in the order of their labels.

    All arrays are views of its memory and cannot be written to. Without masses every point counts as mass 1. Catalogs
    can be copied and pickled. Source: the jz-tree paper, section IV-B.

    Attributes
    ----------
    COLUMNS
    members : int32, or int64 from a file
        Rows of the points, group after group: those of group g are `members_of(g)`. Of a catalog from a file, rows among
        all particles of the snapshot's file, types ascending (`kith.Snapshot.file_rows`); None if it lists none.
    offset : int64, shape (g,)
        Where each group begins in `members` and `ids`.
    ids : uint64, or None
        Of the particles in `members`; only from a file that has them.
    linking_length : float
        In the units of the points, as it was used; None if a file does not say.
    psi : float, or None
        The linking length of velocities, in their units as given, as it was used; infinity for groups of positions alone. None of
        a catalog from a file, whose `provenance` names it.
    box : Box
        Numbers in the units of the points.
    engine : str, or None
        That found the groups: "tree", "brute" or "kdtree". None of a catalog from a file.
    path : str, or None
        The file from which the catalog was read.
    time, redshift : float, or None
        From the file's header.
    parameters : dict
        Numbers by name from the file's header: Omega0, HubbleParam, UnitLength_in_cm, ...
    provenance : dict
        Texts by name of how the file came to be: Program, Command, Input, types, ...
    units : dict
        Units of the columns that have one, by name: those of points, velocities and masses that are astropy Quantities;
        of a catalog from a file the unit of each column as a text, as the file names it.
    """

    def __init__(self, core, summary, box, points, has_velocities, units):
        self._core = core
        self.columns = tuple(name for name, column in _COLUMNS.items() if has_velocities or not column.of_velocities)
        self.units = {name: units[column.kind] for name, column in _COLUMNS.items()
                      if units.get(column.kind) is not None}
        if units["length"] is not None:
            self.units["linking_length"] = units["length"]
        self.linking_length = _units.attached(summary.linking_length, units["length"])
        self.psi = _units.attached(summary.velocity_length, units["velocity"])
        self.box = box
        self.engine = summary.engine
        self._rows = len(points)
        self._is_float64 = _arrays.is_float64(points)
        self.path = self.ids = self.time = self.redshift = None
        self.parameters, self.provenance = {}, {}
        self._view_core()

    @classmethod
    def _of_file(cls, core, path):
        """The catalog that `kith.read_catalog` returns."""
        self = cls.__new__(cls)
        self._core = core.catalog
        self.path, self.psi, self.engine = path, None, None
        for name in ("linking_length", "box", "time", "redshift", "parameters", "provenance"):
            setattr(self, name, getattr(core, name))
        self.units = {name: unit for name, unit in core.units.items() if name in _COLUMNS}
        # A file without groups may have no columns; those of no rows stand for them.
        self.columns = tuple(name for name, column in _COLUMNS.items()
                             if name in self.units or (len(self) == 0 and not column.of_velocities))
        self._view_core()
        self.members = core.file_rows if len(core.file_rows) or len(self) == 0 else None
        self.ids = core.ids if len(core.ids) else None
        return self

    def _view_core(self):
        """Sets the arrays that view the core's memory."""
        of_file = self.path is not None
        for name in (*self.columns, "offset", *(() if of_file else ("members",))):
            array = getattr(self._core, name)
            setattr(self, name, array if of_file else _units.attached(array, self.units.get(name)))

    def __getstate__(self):
        views = {*self.columns, "offset"} | (set() if self.path is not None else {"members"})
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._view_core()
        for array in (self.members, self.ids):
            if array is not None:
                array.flags.writeable = False

    def __getattr__(self, name: str) -> numpy.ndarray:
        if name in _COLUMNS:
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(self.columns)}", name=name, obj=self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    __iter__ = None  # over groups, or over columns? Neither is plain

    def __len__(self) -> int:
        return self._core.groups

    def __contains__(self, column) -> bool:
        return column in self.columns

    def __repr__(self) -> str:
        largest = f", the largest of {self.count[0]}" if len(self) else ""
        return f"<kith.Catalog of {len(self)} groups of {self._core.min_members} and more{largest}>"

    def __getitem__(self, column: str) -> numpy.ndarray:
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return getattr(self, column)

    def members_of(self, group: int) -> numpy.ndarray:
        """Rows of the points that are in a group, by type, then ascending.

        Of a catalog from a file they are rows of the snapshot's file; raises ValueError if it lists none.
        """
        return self._of_group(self.members, group, "rows of its snapshot")

    def ids_of(self, group: int) -> numpy.ndarray:
        """Ids of the particles of a group, in the order of `members_of`; raises ValueError without ids."""
        return self._of_group(self.ids, group, "ids")

    def _of_group(self, listed, group, what):
        if listed is None:
            whose = "the catalog" if self.path is None else f"'{self.path}', as it was read,"
            raise ValueError(f"{whose} has no {what}")
        group = _arrays.as_whole(group, "group")
        if not 0 <= group < len(self):
            raise IndexError(f"there is no group {group}; there are {len(self)}, numbered from 0")
        begin = self.offset[group]
        return listed[begin:begin + self.count[group]]

    def to_structured(self) -> numpy.ndarray:
        """A NumPy structured array with the columns as fields: plain numbers, in `units`."""
        table = numpy.empty(len(self), dtype=[(name, self[name].dtype, self[name].shape[1:]) for name in self.columns])
        for name in self.columns:
            table[name] = getattr(self._core, name)
        return table

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; columns of several numbers become several columns: center_x, center_y, ...

        Plain numbers, in `units`.
        """
        import pandas
        axes = "xyz" if self._core.dimension <= 3 else range(self._core.dimension)
        table = {}
        for name in self.columns:
            column = getattr(self._core, name)
            if column.ndim == 1:
                table[name] = column
            else:
                for place, suffix in enumerate(range(column.shape[1]) if _COLUMNS[name].is_by_type else axes):
                    if place < column.shape[1]:
                        table[f"{name}_{suffix}"] = column[:, place]
        return pandas.DataFrame(table)

    def to_astropy(self) -> Any:
        """An astropy.table.Table, whose columns keep their units."""
        from astropy.table import Table
        known = {name: getattr(self, name) for name in ("linking_length", "time", "redshift")}
        return Table({name: self[name] for name in self.columns},
                     meta={name: value for name, value in known.items() if value is not None})


def _described(column):
    """The entry of a column in the documentation of Catalog."""
    text = column.description
    if "(" not in text.split()[0]:  # no formula
        text = text[0].upper() + text[1:]
    text += "; only if there are velocities." if column.of_velocities else "."
    text = textwrap.fill(text, 116, initial_indent="    ", subsequent_indent="    ")
    return f"{column.name} : {column.dtype}, shape {column.shape}\n{text}\n"


if Catalog.__doc__ is not None:  # as it is under python -OO
    Catalog.__doc__ = inspect.cleandoc(Catalog.__doc__).replace("COLUMNS\n",
                                                                "".join(map(_described, _COLUMNS.values())))
