"""Bound halos of groups: what is asked for, what the input states, and the columns of the result.

Gravity and expansion are given, or follow from a snapshot's header or the units of the arrays. What cannot be computed
without them is left out, and one warning names it. docs/semantics.md, "Bound halos", defines every number.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy

from kith import _arrays, _column_tables, _core, _frames, _units, _universe
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import is_snapshot, normalize_arguments, over_ranks
from kith._column_tables import Column
from kith._fof import at_least_one
from kith._hints import takes_own_names
from kith._phase_space import warn_of_unequal_masses

_COLUMNS = {row[0]: Column(*row) for row in _core.halo_columns}
_SPHERES = {"m": _COLUMNS.pop("sphere_mass"), "r": _COLUMNS.pop("sphere_radius")}  # by the letter before an overdensity
_KERNELS = ("spline", "plummer")


@takes_own_names
@over_ranks
def halos(points: AnyArray, linking_length: float | None = None, *, b: float | None = None, labels: AnyArray | None = None,
          box: BoxLike = None, velocities: AnyArray | None = None, masses: AnyArray | None = None, unbind: bool = True,
          min_members: int = 20, softening: Any = None,
          overdensities: Any = ("200m", "200c", "500c", "2500c", "vir"), outermost: bool = False, bound_only: bool = False,
          least_radius: float | None = None, G: float | None = None, scale_factor: float | None = None,
          hubble: float | None = None, omega_matter: float | None = None, threads: int | None = None,
          progress: ProgressLike = False, comm: Any = None) -> Halos:
    """The bound halos of friends-of-friends groups: members, centers, masses and radii.

    The members of each group are unbound in the gravity of the group alone: those with positive energy leave it, the
    least bound first, until none is left. Spheres and circular velocities are about the member of lowest potential.

    Parameters
    ----------
    points : array, shape (n, 3)
        As for `kith.knn`, comoving, in the host's memory. Of a `kith.Snapshot` positions, box, velocities, masses, units
        and cosmology are used; its stored velocities become peculiar ones.
    linking_length, b
        Of the groups, as for `kith.fof`; a snapshot's default is `b` = 0.2.
    labels : array of int32, shape (n,), optional
        Groups that were found before, instead of a linking length: labels of `kith.fof` or of a cut of a hierarchy, with
        -1 for points of no group. Groups are numbered by decreasing size.
    box
        Periods, as for `kith.fof`; with `labels`, those of the box in which the groups were found.
    velocities : array, shape (n, 3), optional
        Peculiar; by default those of the snapshot.
    masses : array, shape (n,), optional
        By default those of the snapshot; without them every point counts as 1.
    unbind : bool
        False takes all members of a group as its halo; velocities are then not needed.
    min_members : int
        Bound members; groups with fewer have no halo.
    softening : float or (kernel, float), optional
        Length of the gravity between two points; the kernel is "spline", Gadget's, or "plummer". By default the
        spline with the largest length that the snapshot states for the types of its particles, else with 1/30 of the mean
        separation of the points.
    overdensities : sequence of str
        Spheres by their mean density: "200c" is 200 times the critical one, "200m" that of matter, "vir" the density of
        virialized spheres (Bryan & Norman 1998). Any number may stand before c and m.
    outermost : bool
        Spheres end at the last crossing of their density instead of the first.
    bound_only : bool
        Spheres and circular velocities of the bound members alone, not of all points.
    least_radius : float, optional
        Circular velocities are those at this radius or beyond it; by default at the softening's length.
    G : float, optional
        In the units of points, velocities and masses. By default it follows from the snapshot's units, or from those of
        arrays that are astropy Quantities.
    scale_factor : float, optional
        Turns lengths into physical ones; by default that of the snapshot, else 1.
    hubble : float, optional
        H at that scale factor, velocity per physical length, in the units of velocities and points; 0 for space that does
        not expand. By default that of the snapshot.
    omega_matter : float, optional
        Density of matter at that scale factor over the critical one; by default that of the snapshot.
    threads, progress, comm
        As for `kith.knn`; halos are found on the CPU only, and within one process, not over those of a `comm`.

    Returns
    -------
    Halos

    Raises
    ------
    ValueError
        As `kith.fof`; for labels that are not numbered by decreasing size, names of overdensities that are none, a
        softening, G or scale factor that is not above 0, other numbers that are negative or not finite, and points without
        volume if there is no softening.
    TypeError
        As `kith.fof`; for `labels` beside a linking length, and for trees, whose points may have lost digits.
    NotImplementedError
        For points in memory of a GPU, a `comm`, and other dimensions than 3.

    Warns
    -----
    UserWarning
        If velocities, G, H or the density of matter are neither given nor stated: once, naming the properties that are
        left out and the arguments to pass. Centers, masses and half-mass radii need none of them.

    Notes
    -----
    Close to O(n log n). The numbers do not depend on `threads`. Sources: Springel et al. 2001 (MNRAS 328, 726), section
    4.2, for unbinding; SOAP for spheres. Releases the GIL.

    Examples
    --------
    >>> import kith
    >>> mock = kith.datasets.halo(2000, seed=1)
    >>> halos = kith.halos(mock)
    >>> halos
    <kith.Halos of 1 halo of 20 and more bound members, the largest of 1999>
    >>> mass, radius = mock.spherical_mass(0, 200, "critical")
    >>> bool(abs(halos.m200c[0] / mass - 1) < 0.02)
    True
    >>> [name for name in halos.columns if "200c" in name]
    ['m200c', 'r200c']
    """
    if comm is not None:
        raise NotImplementedError("comm is given, but halos are found within one process; leave it out")
    if isinstance(getattr(getattr(points, "_source", None), "core", None), _core.Tree):
        raise TypeError("points is a kith.Tree, whose points may have lost digits; halos are of points: give these")
    snapshot = points if is_snapshot(points) else None
    unbind, outermost = _arrays.flag(unbind, "unbind"), _arrays.flag(outermost, "outermost")
    bound_only, min_members = _arrays.flag(bound_only, "bound_only"), at_least_one(min_members)
    if labels is not None and (linking_length is not None or b is not None):
        raise TypeError("labels are given, and a linking length, too; give one of them")
    if snapshot is not None and labels is None and linking_length is None:
        b = 0.2 if b is None else b
    kernel, softening = _kernel_and_length(_universe.softening_of(snapshot) if softening is None else softening)
    source, linking_length, softening, least_radius = normalize_arguments(
        points, box, linking_length=linking_length, softening=softening, least_radius=least_radius)
    length = None if labels is not None else _arrays.length(linking_length, b)
    stated = _universe.stated_by(snapshot)
    particles = _universe.particles_of(source, snapshot, velocities, masses, stated.velocity_factor)
    universe = _universe.resolve(stated, particles, G, scale_factor, hubble, omega_matter)
    asked = _overdensities(overdensities)
    known = {name: each for name, each in asked.items() if universe.has_density(each[0])}
    _universe.warn_of_what_is_left_out(universe, particles, unbind, asked, known)
    warn_of_unequal_masses(b, particles.masses, getattr(snapshot, "types", None))
    is_unbound = unbind and particles.velocities is not None and universe.gravity is not None
    softening = None if softening is None else (kernel, _universe.above_zero(softening, "softening"))
    least_radius = None if least_radius is None else _universe.not_negative(least_radius, "least_radius")
    labels = numpy.empty(source.shape[:1], numpy.int32) if labels is None else _labels(labels, source.shape)
    core = _core.halos(source.call(None, threads, progress), labels, length, particles.velocities,
                       particles.masses, particles.uniform_mass, universe.of_core(), softening, list(known.values()),
                       is_unbound, min_members, outermost, bound_only, least_radius)
    linking_length = None if length is None else core.linking_length
    return Halos(core, labels, linking_length, min_members, is_unbound, list(known), universe, particles, snapshot)


class Halos:
    """The bound halos of groups, as `kith.halos` finds them: columns with a row for each, in the order of their groups.

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
    labels : int32, shape (n,)
        The group of each point.
    members : int32
        Rows of the members of groups: of each group the bound ones by energy, then the others, ascending.
    energies : float64, or None
        Of `members`, per unit of mass: of bound ones alone, of others 0. Without unbinding, potentials. None if G is not
        known.
    offset : int64, shape (h,)
        Where the bound members of each halo begin in `members`.
    group_offset, first_of_group : int64
        Where each group that is large enough for a halo begins in `members`, and their end; its first halo, or -1 if
        nothing is bound.
    unbind : bool
        Whether members were unbound.
    min_members : int
    softening : tuple
        Kernel and length, as they were used.
    least_radius : float
        Of circular velocities, as it was used.
    linking_length : float, or None
        In the units of the points; None of labels.
    G, scale_factor, hubble, omega_matter : float, or None
        As they were used; None: not known.
    box : Box
        Numbers in the units of the points.
    units : dict
        Units of the columns that have one, by name, if points, velocities or masses are astropy Quantities.
    """

    def __init__(self, core, labels, linking_length, min_members, unbind, spheres, universe, particles, snapshot):
        units, has_velocities = particles.units, particles.velocities is not None
        known = {"": True, "velocities": has_velocities, "gravity": universe.gravity is not None}
        numbers = {name: getattr(core, name) for name, column in _COLUMNS.items() if known[column.needs]}
        for place, name in enumerate(spheres):
            numbers |= {letter + name: getattr(core, column.name)[:, place] for letter, column in _SPHERES.items()}
        self._numbers = numbers
        self.columns = tuple(numbers)
        self.units = {name: units[_column(name).measures] for name in numbers
                      if units.get(_column(name).measures) is not None}
        self._frame = _frames.of_points(snapshot)
        self._h = getattr(getattr(snapshot, "header", None), "parameters", {}).get("HubbleParam")
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

    def _protect(self):
        """Sets the columns as attributes, and makes all arrays read-only."""
        for array in (*self._numbers.values(), self.members, self.offset, self.group_offset, self.first_of_group,
                      self.energies, self.labels):
            if array is not None:
                array.flags.writeable = False
        for name, numbers in self._numbers.items():
            setattr(self, name, _units.with_unit(numbers, self.units.get(name)))

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in self.columns}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._protect()

    def __getattr__(self, name: str) -> numpy.ndarray:
        columns = self.__dict__.get("columns", ())
        if name in _COLUMNS or re.fullmatch(r"[mr](vir|[0-9.]+[cm])", name):
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(columns)}", name=name, obj=self)
        raise AttributeError(f"'Halos' object has no attribute {name!r}", name=name, obj=self)

    def __len__(self) -> int:
        return len(self.offset)

    def __contains__(self, column) -> bool:
        return column in self.columns

    def __getitem__(self, column: str) -> numpy.ndarray:
        if not isinstance(column, str):
            raise TypeError(f"halos take the name of a column, but not {type(column).__name__}; rows are those of the "
                            "columns and of to_structured()")
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return getattr(self, column)

    def __repr__(self) -> str:
        largest = f", the largest of {self.count.max()}" if len(self) else ""
        return (f"<kith.Halos of {len(self)} halo{'s' * (len(self) != 1)} of {self.min_members} and more "
                f"{'bound ' * self.unbind}members{largest}>")

    def members_of(self, halo: int) -> numpy.ndarray:
        """Rows of the bound members of a halo, the most bound first. Raises IndexError if there is no such halo."""
        halo = self._number(halo)
        return self.members[self.offset[halo]:self.offset[halo] + self.count[halo]]

    def unbound_members_of(self, halo: int) -> numpy.ndarray:
        """Rows of the members of its group that are not bound, ascending. Raises IndexError if there is no such halo."""
        halo = self._number(halo)
        return self.members[self.offset[halo] + self.count[halo]:self.group_offset[self.group[halo] + 1]]

    def _number(self, halo):
        halo = _arrays.as_whole(halo, "halo")
        if not 0 <= halo < len(self):
            raise IndexError(f"there is no halo {halo}; there are {len(self)}, numbered from 0")
        return halo

    def to_structured(self) -> numpy.ndarray:
        """A NumPy structured array with the columns as fields: plain numbers, in `units`."""
        return _column_tables.structured(self._numbers)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; columns of several numbers become several columns: center_x, center_y, ...

        Plain numbers, in `units`.
        """
        return _column_tables.data_frame(self._numbers, {name: "xyz" for name in self.columns})

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


def _column(name):
    """The row of the table that a column is of."""
    return _COLUMNS[name] if name in _COLUMNS else _SPHERES[name[0]]


if Halos.__doc__ is not None:  # as it is under python -OO
    Halos.__doc__ = inspect.cleandoc(Halos.__doc__).replace("COLUMNS\n", "".join(
        _column_tables.described(column, column.description) for column in _COLUMNS.values()))


def _kernel_and_length(softening):
    """A length alone is that of a spline."""
    if not isinstance(softening, (tuple, list)) or len(softening) == 0:
        return "spline", softening
    if len(softening) != 2 or softening[0] not in _KERNELS:
        raise ValueError(f"softening is {softening!r}; it must be a length, or one of the kernels {', '.join(_KERNELS)} and "
                         "a length")
    return softening


def _overdensities(names):
    """The reference and the factor of each, by name."""
    if isinstance(names, str):
        names = names.split(",")
    try:
        names = list(names)
    except TypeError:
        raise TypeError(f"overdensities is of type {type(names).__name__}; give a list of names, such as ['200c']") from None
    found = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"overdensities holds {name!r} of type {type(name).__name__}; give names, such as '200c'")
        overdensity = _core.overdensity_named(name)
        if overdensity is None:
            raise ValueError(f"overdensities holds {name!r}; give '200c' for 200 times the critical density, '200m' for that "
                             "of matter, or 'vir'")
        found[overdensity[0]] = overdensity[1:]
    return found


def _labels(labels, shape):
    if numpy.ndim(labels) == 0:
        raise TypeError(f"labels is of type {type(labels).__name__}; it must be an array with a number for each point")
    labels = _arrays.as_integers(labels, numpy.int32, "labels")
    if len(labels.shape) != 1 or labels.shape != shape[:1]:
        raise ValueError(f"labels is of shape {tuple(labels.shape)}; it must have a number for each of {shape[0]} points")
    return labels if not isinstance(labels, numpy.ndarray) or labels.flags.writeable else labels.copy()

