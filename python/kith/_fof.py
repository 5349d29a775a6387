"""Friends-of-friends groups and their catalog."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy

from kith import _arrays, _core, _frames, _units
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import is_snapshot, normalize_arguments, over_ranks, require_rows
from kith._catalog import Catalog
from kith._device_catalog import DeviceCatalog
from kith._hints import takes_own_names
from kith._linked_points import linked
from kith._phase_space import phase_space
from kith._warnings import warn_of_infinite


@takes_own_names
@over_ranks
def fof(points: AnyArray, linking_length: float | None = None, *, b: float | None = None, psi: float | None = None,
        psi_sigma: float | None = None, box: BoxLike = None, min_members: int | None = None,
        return_catalog: bool = False, velocities: AnyArray | None = None, masses: AnyArray | None = None,
        types: AnyArray | None = None, secondary_types: Any = None, mean_separation: str = "box", engine: str = "auto", device: str | None = None,
        threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Any:
    """Labels of friends-of-friends groups, and on request their catalog.

    Two points are friends if they are within the linking length of each other, inclusive; the groups are the connected
    components of friendship.

    Parameters
    ----------
    points : array, shape (n, d)
        As for `kith.knn`. Of a `kith.Snapshot` positions, box, velocities, masses and types are used. Columns of the
        catalog keep the units of points, velocities and masses where these are astropy Quantities. Of a `kith.Tree` there
        are labels only, without a catalog, and groups of positions.
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
        as they are if it states none. Beside `velocities` it is in their units. Positions have 2 to 4 dimensions.
    psi_sigma : float, optional
        The same, with a psi in units of the dispersion of all velocities: the root of the mean square of v - mean(v),
        weighted by mass and summed over components.
    box : float, sequence of d floats or Box, optional
        Periods, as for `kith.knn`; 0 is open space, also for a snapshot that has a box.
    min_members : int, optional
        Points of smaller groups are labeled -1, and the catalog leaves these groups out. By default all groups are
        labeled, and the catalog has those of at least 20 members. With `secondary_types` it is 20 by default, and counts
        points of other types.
    return_catalog : bool
        Return the catalog, too. The labels are the same with and without it.
    velocities : array, shape (n, d), optional
        For groups in phase space, and for the catalog; by default those of the snapshot.
    masses : array, shape (n,), optional
        For `psi_sigma`, then in the host's memory, and the catalog; without them every point counts as 1.
    types : whole numbers from 0 to 6, shape (n,), optional
        For the catalog, which lists the members of a group by type, and for `secondary_types`; by default those of the
        snapshot.
    secondary_types : sequence of int, optional
        Points of these types are not linked: each joins the group of its nearest point of another type within the linking
        length, ties by lowest index, and without one is in no group. On the CPU, within one process, without `psi`.
    mean_separation : "box" or "cosmology"
        What `b` multiplies: that of the points in the box, or, of a snapshot that states masses and cosmology, that in the
        universe, (m/rho)^(1/3), with their mean mass and the mean density of matter; of dark matter alone if the snapshot
        has gas or stars, but the points are none. The two differ in zoom simulations.
    engine, device, threads, progress, comm
        As for `kith.knn`. The engine "clover" does not find groups. Over processes `b` and `psi_sigma` refer to the
        points of all of them.

    Returns
    -------
    labels : array of int32, over processes of int64, shape (n,)
        Groups are numbered from 0 by decreasing size, ties by their first member. Of the library of the points.
    catalog : Catalog
        If `return_catalog`: its row g is the group of label g. Labels of `len(catalog)` and more are of groups that
        are too small for it. Over processes a `CatalogPart`, which has some of the groups; of points in memory of a GPU a
        `DeviceCatalog`, which stays there.

    Raises
    ------
    ValueError
        For points or velocities that are not finite; a negative linking length; a relative one if the volume is zero; one
        above 0 whose square underflows relative to the largest coordinate, such as a placeholder of 1e37 in float32; a psi that
        is not above 0, is given without velocities, or with a linking length of 0; `psi_sigma` if all velocities are
        alike.
    TypeError
        If both `linking_length` and `b` are given, or neither and the points are no snapshot; if both `psi` and
        `psi_sigma` are; for `secondary_types` without types.
    NotImplementedError
        For points of other dimensions, and for `secondary_types` with `psi`, on a GPU, of a tree or over processes.

    Warns
    -----
    UserWarning
        If a relative linking length counts points of unequal masses alike, or the mean separation in the box of a snapshot
        differs by more than 1 % from that in the universe.

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
    labels, catalog, summary, labeled = _grouped(
        points, linking_length, b, psi, psi_sigma, box, min_members, return_catalog, velocities, masses, types,
        secondary_types, mean_separation, engine, device, threads, progress, comm)
    labels = drop_small_groups(labels, summary, labeled)
    return labels if catalog is None else (labels, catalog)


@over_ranks
def fof_with_all_labels(points, linking_length, *, b, box, min_members, velocities, masses, types, return_catalog, comm):
    """Labels of all groups, and the catalog of those of min_members or more."""
    labels, catalog, _, _ = _grouped(points, linking_length, b, None, None, box, min_members, return_catalog, velocities,
                                     masses, types, None, "box", "auto", None, None, False, comm)
    return labels, catalog


def _grouped(points, linking_length, b, psi, psi_sigma, box, min_members, return_catalog, velocities, masses, types,
             secondary_types, mean_separation, engine, device, threads, progress, comm):
    """Labels, the catalog or None, the summary of the groups, and the least number of members whose labels `fof` keeps."""
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
    labels_only = not return_catalog and psi is None and psi_sigma is None
    source, linking_length = normalize_arguments(points, box, one_dimension=labels_only, linking_length=linking_length)
    if source.on_line and labels_only and b is not None:
        raise NotImplementedError("the points have 1 dimension, but b refers to mean separations in 2 to 8 dimensions; give "
                                  "linking_length")
    if return_catalog and isinstance(source.core, _core.Tree):
        raise TypeError("a catalog is of points, not of a tree, whose points may have lost digits; give the points")
    velocities, unit_of_velocities = _units.split(velocities, "velocities")
    masses, unit_of_masses = _units.split(masses, "masses")
    require_rows(source.shape, velocities=velocities, masses=masses, types=types)
    labeled, listed = (1, 20) if min_members is None else [at_least_one(min_members)] * 2
    masses = None if masses is None else _arrays.as_column(masses, "masses")
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    types = None if types is None else _arrays.as_types(types)
    if comm is not None and mean_separation == "cosmology":
        raise NotImplementedError("mean_separation='cosmology' and comm are given; give linking_length instead")
    link = linked(source.shape, linking_length, b, mean_separation, types, secondary_types, snapshot, masses, uniform_mass)
    if link.is_secondary is not None:
        _refuse_secondaries(source, psi, psi_sigma, comm)
        labeled = listed
    peculiar = _frames.peculiar_factor(getattr(snapshot, "header", None)) if own_velocities else 1.0
    length = link.length
    velocity_space = phase_space(velocities, unit_of_velocities, psi, psi_sigma, masses, peculiar)
    call = source.call(device, threads, progress, engine, comm=comm)
    if comm is None:
        labels, finish = _arrays.empty_like(source.like, source.shape[:1], numpy.int32)
        if link.is_secondary is None:
            summary = _core.find_groups(call, labels, length, velocity_space)
        else:
            summary = _core.find_groups_with_secondaries(call, labels, length, link.is_secondary, labeled)
        labels = finish(labels)
        link.warn_of_other_separation(summary, source.shape)
    else:
        frame = _frames.of_points(snapshot)
        comm.require_same("min_members", None if min_members is None else labeled)
        comm.require_same("return_catalog", return_catalog)
        comm.require_same("the unit of the velocities", unit_of_velocities)
        comm.require_same("the unit of the masses", unit_of_masses)
        comm.require_same("the frame of the velocities", (own_velocities, peculiar, _frames.catalog_factor(frame)))
        comm.require_same("uniform_mass", uniform_mass)
        _arrays.require_type(source.like, numpy.int64)
        summary = _core.find_groups_over_ranks(call, length, velocity_space)
        labels = _arrays.in_library_of(source.like, summary.labels)
    if not return_catalog:
        return labels, None, summary, labeled
    stays = comm is None and str(_core.device_of(labels)) != "cpu"
    core = _core.describe_groups(call, _writeable(labels) if comm is None else None, summary, velocities, masses,
                                 1.0 if uniform_mass is None else uniform_mass, types, listed, stays)
    units = {"length": source.unit, "mass": unit_of_masses, "velocity": unit_of_velocities}
    of_points = numpy.broadcast_to(source.real_type(0), source.shape[:1])  # their number and type, without their memory
    has_velocities, has_masses = velocities is not None, masses is not None or uniform_mass is not None

    def catalog_of(core):
        catalog = (Catalog if comm is None else CatalogPart)(core, summary, summary.box, of_points, has_velocities, units,
                                                             snapshot, own_velocities, has_masses)
        if own_velocities and psi is not None:
            catalog.psi = float(psi)  # as given, to the last digit
        return catalog

    if stays:
        factor = _frames.catalog_factor(_frames.of_points(snapshot)) if own_velocities else 1.0
        catalog = DeviceCatalog(core, _arrays.prototype_of(labels), catalog_of, has_velocities, factor)
    else:
        catalog = catalog_of(core)
        warn_of_infinite(catalog.mass, "groups")
    return labels, catalog, summary, labeled


class CatalogPart(Catalog):
    """The groups of a catalog that one process describes: a `kith.Catalog` whose row 0 is group `first_group`.

    The columns of the parts of all processes, in the order of ranks, are those of the catalog of one process, if
    `first_member` is added to `offset`. Without rows and ids of a file.

    Attributes
    ----------
    members : int64
        Global indices of the points, or ids, group after group.
    first_group : int
        The label of the first group here.
    groups : int
        In all parts.
    first_member : int
        The number of members in the parts of lower ranks.
    """

    _is_part = True

    def __init__(self, core, summary, box, points, has_velocities, units, snapshot, own_velocities, has_masses):
        header = getattr(snapshot, "header", None)  # what else it has is of the points of this process
        super().__init__(core, summary, box, points, has_velocities, units, SimpleNamespace(header=header), own_velocities,
                         has_masses)
        (self.first_group, self.groups), self.first_member = core.place, core.first_member

    def __repr__(self) -> str:
        return f"<kith.CatalogPart of {len(self)} groups from {self.first_group} on, of {self.groups}>"


def b_of_overdensity(overdensity: float, dimension: int = 3, *, omega_sim: float = 1.0) -> float:
    """The relative linking length at which two points in a sphere of that radius have this overdensity.

    Parameters
    ----------
    overdensity : float
        Above 0, in units of the mean density of the universe.
    dimension : int
        Of the points, 1 to 8.
    omega_sim : float
        Mean density of the points in units of that of the universe: 1 for a box that stands for the universe, above 1
        for a zoom on a dense region.

    Returns
    -------
    b : float
        (3 omega_sim / (2 pi overdensity))^(1/3) in three dimensions: for the argument `b` of `kith.fof`.

    Raises
    ------
    ValueError
        For an overdensity or omega_sim that is not a finite number above 0, and for other dimensions.

    Notes
    -----
    Source: the GPU halo-finding thesis, equation 3.1. Roughly, this is the density at the edge of a group.

    Examples
    --------
    >>> import kith
    >>> round(kith.b_of_overdensity(59.68), 3)
    0.2
    """
    return _core.b_of_overdensity(_arrays.as_number(overdensity, "overdensity"),
                                  _arrays.as_whole(dimension, "dimension"), _arrays.as_number(omega_sim, "omega_sim"))


def drop_small_groups(labels, summary, min_members):
    """The labels with -1 for points in groups of fewer members."""
    min_members = at_least_one(min_members)
    if min_members > 1:
        groups = summary.of_at_least(min_members)
        if _arrays.library_of(labels) in ("jax", "jaxlib"):
            return labels.at[labels >= groups].set(-1)
        labels[labels >= groups] = -1
    return labels


def _refuse_secondaries(source, psi, psi_sigma, comm):
    for is_given, what in ((comm is not None, "comm"), (psi is not None or psi_sigma is not None, "psi"),
                           (isinstance(source.core, _core.Tree), "a tree")):
        if is_given:
            raise NotImplementedError(f"secondary_types and {what} are given; leave one of them out")


def at_least_one(min_members):
    return _arrays.at_least(1, min_members, "min_members")


def _writeable(labels):
    """JAX's arrays cannot be written to, and the core takes labels as it gives them."""
    return numpy.array(labels) if _arrays.library_of(labels) in ("jax", "jaxlib") else labels
