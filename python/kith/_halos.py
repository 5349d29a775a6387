"""Bound halos of groups: what is asked for, and what the input states.

Gravity and expansion are given, or follow from a snapshot's header or the units of the arrays. What cannot be computed
without them is left out, and one warning names it. docs/semantics.md, "Bound halos", defines every number.
"""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _frames, _universe
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import is_snapshot, normalize_arguments, over_ranks
from kith._fof import at_least_one
from kith._halo_catalog import Halos, HalosPart
from kith._hints import takes_own_names
from kith._linked_points import linked
from kith._warnings import warn_of_infinite

_KERNELS = ("spline", "plummer")


@takes_own_names
@over_ranks
def halos(points: AnyArray, linking_length: float | None = None, *, b: float | None = None, labels: AnyArray | None = None,
          box: BoxLike = None, velocities: AnyArray | None = None, masses: AnyArray | None = None,
          types: AnyArray | None = None, secondary_types: Any = None, mean_separation: str = "box",
          internal_energies: AnyArray | None = None, unbind: bool = True,
          min_members: int = 20, softening: Any = None,
          overdensities: Any = ("200m", "200c", "500c", "2500c", "vir"), outermost: bool = False, bound_only: bool = False,
          least_radius: float | None = None, G: float | None = None, scale_factor: float | None = None,
          hubble: float | None = None, omega_matter: float | None = None, device: str | None = None,
          threads: int | None = None, progress: ProgressLike = False, comm: Any = None) -> Halos:
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
    types : whole numbers from 0 to 6, shape (n,), optional
        By default those of the snapshot; without them every point is of type 1.
    secondary_types, mean_separation
        Of the groups, as for `kith.fof`: points of secondary types join groups of `min_members` others and more. Not with
        `labels`, and within one process.
    internal_energies : array, shape (n,), optional
        Of gas per unit of mass, in units of velocities squared, physical; 0 for other points. They count where members are
        unbound. By default those of the snapshot.
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
    device : str, optional
        "cuda" finds groups and halos on a GPU, "cuda:1" on the second one; particles and results are arrays of the host.
    threads, progress, comm
        As for `kith.knn`. Over the processes of a `comm` halos are found on the CPU, and groups by the call, not given by
        `labels`.

    Returns
    -------
    Halos
        Over processes a `HalosPart`, which has some of the halos.

    Raises
    ------
    ValueError
        As `kith.fof`; for labels that are not numbered by decreasing size, names of overdensities that are none, a
        softening, G or scale factor that is not above 0, other numbers that are negative or not finite, and points without
        volume if there is no softening.
    TypeError
        As `kith.fof`; for `labels` beside a linking length, and for trees, whose points may have lost digits.
    NotImplementedError
        For points in memory of a GPU; for a GPU, `labels`, `secondary_types` and the mean separation "cosmology" over
        processes.

    Warns
    -----
    UserWarning
        If velocities, G, H or the density of matter are neither given nor stated: once, naming the properties that are
        left out and the arguments to pass. Centers, masses and half-mass radii need none of them.

    Notes
    -----
    Close to O(n log n). The numbers do not depend on `threads` or `device`. Sources: Springel et al. 2001 (MNRAS 328, 726), section
    4.2, for unbinding; SOAP for spheres. Releases the GIL.

    Examples
    --------
    >>> import kith
    >>> mock = kith.datasets.halo(2000, seed=1)
    >>> halos = kith.halos(mock, mean_separation="cosmology")
    >>> halos
    <kith.Halos of 1 halo of 20 and more bound members, the largest of 1925>
    >>> mass, radius = mock.spherical_mass(0, 200, "critical")
    >>> bool(abs(halos.m200c[0] / mass - 1) < 0.02)
    True
    >>> [name for name in halos.columns if "200c" in name]
    ['m200c', 'r200c', 'c200c', 'cv200c']
    """
    if comm is not None:
        _refuse_over_processes(labels, secondary_types, mean_separation, device)
    if isinstance(getattr(getattr(points, "_source", None), "core", None), _core.Tree):
        raise TypeError("points is a kith.Tree, whose points may have lost digits; halos are of points: give these")
    snapshot = points if is_snapshot(points) else None
    unbind, outermost = _arrays.flag(unbind, "unbind"), _arrays.flag(outermost, "outermost")
    bound_only, min_members = _arrays.flag(bound_only, "bound_only"), at_least_one(min_members)
    if labels is not None and (linking_length is not None or b is not None):
        raise TypeError("labels are given, and a linking length, too; give one of them")
    if labels is not None and secondary_types is not None:
        raise TypeError("labels are given, and secondary_types, too, which join groups that are found; give one of them")
    if snapshot is not None and labels is None and linking_length is None:
        b = 0.2 if b is None else b
    has_softening = softening is not None
    kernel, softening = _kernel_and_length(softening if has_softening else _universe.softening_of(snapshot))
    source, linking_length, softening, least_radius = normalize_arguments(
        points, box, linking_length=linking_length, softening=softening, least_radius=least_radius)
    stated = _universe.stated_by(snapshot)
    particles = _universe.particles_of(source, snapshot, velocities, masses, types, internal_energies, stated)
    universe = _universe.resolve(stated, particles, G, scale_factor, hubble, omega_matter)
    asked = _overdensities(overdensities)
    known = {name: each for name, each in asked.items() if universe.has_density(each[0])}
    _universe.warn_of_what_is_left_out(universe, particles, unbind, asked, known)
    link = linked(source.shape, linking_length, b, mean_separation, particles.types, secondary_types, snapshot,
                  particles.masses, particles.uniform_mass if particles.has_masses else None, labels is not None)
    is_unbound = unbind and particles.velocities is not None and universe.gravity is not None
    softening = None if softening is None else (kernel, _universe.above_zero(softening, "softening"))
    least_radius = None if least_radius is None else _universe.not_negative(least_radius, "least_radius")
    call, groups = source.call(device, threads, progress, comm=comm), None
    if comm is None:
        labels = numpy.empty(source.shape[:1], numpy.int32) if labels is None else _labels(labels, source.shape)
    else:
        for name, number in zip(("G", "scale_factor", "hubble", "omega_matter"), universe):  # or None, unlike the core's
            comm.require_same(name, number)
        comm.require_same("the units of velocities and masses", [particles.units[kind] for kind in ("velocity", "mass")])
        comm.require_same("the frame of the snapshot", _frames.of_points(snapshot))
        comm.share("softening", None if has_softening else softening)
        groups = _core.find_groups_over_ranks(call, link.length, None)
        if not has_softening:
            softening = max((each for each in comm.shared("softening") if each is not None), default=None)
    core = _core.halos(call, labels, groups, link.length, link.is_secondary, particles.velocities, particles.masses,
                       particles.uniform_mass, particles.types, particles.internal_energies, universe.of_core(), softening,
                       list(known.values()), is_unbound, min_members, outermost, bound_only, least_radius)
    if comm is None:
        link.warn_of_other_separation(core, source.shape)
    linking_length = None if link.length is None else core.linking_length
    kind, labels = (Halos, labels) if comm is None else (HalosPart, groups.labels)
    halos = kind(core, labels, linking_length, min_members, is_unbound, list(known), universe, particles, snapshot)
    warn_of_infinite(halos.mass, "halos")
    return halos


def _refuse_over_processes(labels, secondary_types, mean_separation, device):
    for is_given, what, remedy in (
            (labels is not None, "labels", "give linking_length or b, with which the call finds the groups"),
            (secondary_types is not None, "secondary_types", "leave one of them out"),
            (mean_separation == "cosmology", "mean_separation='cosmology'", "give linking_length instead"),
            (device not in (None, "cpu"), f"device={device!r}", "leave it out; halos over processes are found on the CPU")):
        if is_given:
            raise NotImplementedError(f"{what} and comm are given; {remedy}")


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
    if isinstance(labels, numpy.ndarray) and labels.min(initial=0) < -1:
        row = int((labels < -1).argmax())
        raise ValueError(f"labels: row {row} has label {labels[row]}; labels are numbers of groups, from 0, or -1 for no "
                         "group")
    return labels if not isinstance(labels, numpy.ndarray) or labels.flags.writeable else labels.copy()

