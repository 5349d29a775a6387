"""Friends-of-friends groups and their catalog."""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _frames, _units
from kith._warnings import warn
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._hints import takes_own_names
from kith._catalog import Catalog
from kith._knn import Tree
from kith._call import is_snapshot, unpacked


@takes_own_names
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
        As for `kith.knn`. Of a `kith.Snapshot` positions, box, velocities, masses and types are used. Columns of the
        catalog keep the units of points, velocities and masses where these are astropy Quantities.
    linking_length : float
        In the units of the points. Give this or `b`.
    b : float
        The linking length in units of the mean separation (V / n)^(1/d); V is the volume of the box, or of the extent
        of the points along open axes. The usual choice for halos is 0.2, which a snapshot's default is, as that of
        `kith fof`; other points have none.
    psi : float, optional
        Groups in phase space: two points are friends if dx.dx / linking_length^2 + dv.dv / psi^2 is at most 1. Above 0;
        with infinity the groups are those of the positions. Of a snapshot it is a peculiar velocity, as that of
        `kith fof --psi`: the frame that the file states (`header.frame`) converts the stored velocities, which are taken
        as they are if it states none. Beside `velocities` it is in their units. Positions have 2 to 4 dimensions. On the
        CPU.
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
        For groups in phase space, and for the catalog; by default those of the snapshot.
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
        above 0 whose square underflows relative to the largest coordinate, such as a placeholder of 1e37 in float32; a psi that
        is not above 0, is given without velocities, or beside a linking length of 0; `psi_sigma` if all velocities are
        alike.
    TypeError
        If both `linking_length` and `b` are given, or neither and the points are no snapshot; if both `psi` and
        `psi_sigma` are.
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
    uniform_mass, snapshot, own_velocities = None, None, False
    if is_snapshot(points):
        snapshot = points
        own_velocities = velocities is None and snapshot.velocities is not None
        velocities = snapshot.velocities if velocities is None else velocities
        b = 0.2 if b is None and linking_length is None else b
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
                            phase_space(velocities, unit_of_velocities, psi, psi_sigma, masses,
                                        _frames.peculiar_factor(getattr(snapshot, "header", None)) if own_velocities else 1.0))
    if not return_catalog:
        return masked(labels, summary, labeled)
    core = _core.describe_groups(
        _writeable(labels), summary, points, velocities, masses, 1.0 if uniform_mass is None else uniform_mass,
        None if types is None else _arrays.as_integers(types, numpy.uint8, "types"), listed,
        _arrays.device_for(device, points), threads, _arrays.progress_function(progress))
    units = {"length": unit, "mass": unit_of_masses, "velocity": unit_of_velocities}
    catalog = Catalog(core, summary, summary.box, points, velocities is not None, units, snapshot, own_velocities,
                      masses is not None or uniform_mass is not None)
    if own_velocities and psi is not None:
        catalog.psi = float(psi)  # as given, to the last digit
    return masked(labels, summary, labeled), catalog


def _warn_of_unequal_masses(b, masses, types):
    if b is None or masses is None or len(masses) == 0 or masses.min() == masses.max():
        return
    types = numpy.asarray(types) if isinstance(types, (list, tuple)) else types
    several = types is not None and numpy.ndim(types) == 1 and types.min() != types.max()
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


def phase_space(velocities, unit, psi, psi_sigma, masses, peculiar=1.0):
    """Velocities, psi, whether that is in dispersions, and masses, as the core takes them; no velocities for groups of
    positions. `peculiar`: what the velocities are multiplied by to be those that psi is of."""
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
    return velocities, length if psi is None else length / peculiar, psi is None, masses if psi is None else None


def phase_space_at(points, linking_length, b, psi, psi_sigma, velocities, masses, box):
    """For a spanning tree: the points, their unit, the box, and the further arguments of the core."""
    peculiar = 1.0
    if psi is None and psi_sigma is None:
        given = {"linking_length": linking_length, "b": b, "velocities": velocities, "masses": masses}
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise TypeError(f"{extra[0]} is for phase space; give psi or psi_sigma, too, or leave it out")
        linking_length = 0.0
    elif is_snapshot(points):
        if velocities is None:
            velocities, peculiar = points.velocities, _frames.peculiar_factor(getattr(points, "header", None))
        masses = points.masses if masses is None else masses
    unit, points, box, linking_length = unpacked(points, box, linking_length=linking_length)
    velocities, unit_of_velocities = _units.split(velocities, "velocities")
    points = _arrays.as_real(points, "points")
    require_rows(points, velocities=velocities, masses=masses)
    masses = None if masses is None else _arrays.as_column(_units.split(masses, "masses")[0], "masses")
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    _warn_of_unequal_masses(b, masses, None)
    return points, unit, box, (*_arrays.length(linking_length, b),
                               *phase_space(velocities, unit_of_velocities, psi, psi_sigma, masses, peculiar))


def label(source, linking_length, b, box, engine, device, threads, progress, phase_space=(None, 0.0, False, None)):
    """Labels of all groups, and what else is known of them."""
    length, is_relative = _arrays.length(linking_length, b)
    progress = _arrays.progress_function(progress)
    if isinstance(source, Tree):
        labels, finish = _arrays.empty_like(source._like, (len(source),), numpy.int32)
        summary = _core.label_tree(labels, source._core, length, is_relative, threads, progress,
                                   _arrays.engine_name(engine))
    else:
        device = _arrays.device_for(device, source)
        labels, finish = _arrays.empty_like(source, tuple(source.shape[:1]), numpy.int32)
        summary = _core.label_points(labels, source, length, is_relative, *phase_space, box,
                                     device, threads, progress, _arrays.engine_name(engine))
    return finish(labels), summary


def masked(labels, summary, min_members):
    """The same with -1 for all in groups of fewer members."""
    min_members = at_least_one(min_members)
    if min_members > 1:
        groups = summary.of_at_least(min_members)
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
