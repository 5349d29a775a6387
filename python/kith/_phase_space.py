"""Phase space, for groups and spanning trees: velocities, their linking length and masses, as the core takes them."""

import numpy

from kith import _arrays, _frames, _units
from kith._call import is_snapshot, normalize_arguments, require_rows
from kith._warnings import warn


def phase_space(velocities, unit, psi, psi_sigma, masses, peculiar=1.0):
    """Velocities, psi, whether psi is in dispersions, and masses, as the core takes them; None for groups of positions.

    `peculiar` is the factor from the velocities to those that psi refers to.
    """
    if psi is None and psi_sigma is None:
        return None
    if psi is not None and psi_sigma is not None:
        raise TypeError("give either psi, in the units of the velocities, or psi_sigma, in dispersions of theirs")
    name = "psi_sigma" if psi is None else "psi"
    if psi is not None:
        psi, = _units.in_unit(unit, of="velocities", psi=psi)
    length = _arrays.as_number(psi_sigma if psi is None else psi, name)
    if velocities is None:
        raise ValueError(f"{name} is given, but there are no velocities; give them, too, or leave it out")
    return velocities, length if psi is None else length / peculiar, psi is None, masses if psi is None else None


def phase_space_at(points, box, linking_length, b, psi, psi_sigma, velocities, masses, one_dimension=False):
    """For a spanning tree: the source of the call, the linking length, and phase space as the core takes it."""
    peculiar = 1.0
    in_phase_space = psi is not None or psi_sigma is not None
    if not in_phase_space:
        given = {"linking_length": linking_length, "b": b, "velocities": velocities, "masses": masses}
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise TypeError(f"{extra[0]} is for phase space; give psi or psi_sigma, too, or leave it out")
        linking_length = 0.0
    elif is_snapshot(points):
        if velocities is None:
            velocities, peculiar = points.velocities, _frames.peculiar_factor(getattr(points, "header", None))
        masses = points.masses if masses is None else masses
    source, linking_length = normalize_arguments(points, box, one_dimension=one_dimension and not in_phase_space,
                                                 linking_length=linking_length)
    velocities, unit = _units.split(velocities, "velocities")
    require_rows(source.shape, velocities=velocities, masses=masses)
    masses = None if masses is None else _arrays.as_column(_units.split(masses, "masses")[0], "masses")
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    warn_of_unequal_masses(b, masses, None)
    return source, _arrays.length(linking_length, b), phase_space(velocities, unit, psi, psi_sigma, masses, peculiar)


def warn_of_unequal_masses(b, masses, types):
    if b is None or masses is None or len(masses) == 0 or masses.min() == masses.max():
        return
    types = numpy.asarray(types) if isinstance(types, (list, tuple)) else types
    several = types is not None and numpy.ndim(types) == 1 and types.min() != types.max()
    remedy = "choose points of one type, or give linking_length" if several else "give linking_length"
    warn(f"the masses are unequal, but a relative linking length counts every point alike; {remedy}")
