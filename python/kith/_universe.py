"""Particles, and gravity and expansion in their units: given, stated by a snapshot, or from units.

What is neither is None, and a warning names what depends on it.
"""

from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core, _units
from kith._call import require_rows
from kith._warnings import warn


class Stated(NamedTuple):
    """What a snapshot states; None of what it does not, and a text that says what it lacks for that."""

    gravity: Any = None
    scale_factor: float = 1.0
    hubble: Any = None
    omega_matter: Any = None
    velocity_factor: float = 1.0  # from stored to peculiar velocities
    energy_factor: float = 1.0  # from stored internal energies to the square of their unit
    lacks: tuple = ("", "", "")  # for G, H and the density of matter


class Universe(NamedTuple):
    """Numbers of a call, in its units; None: not known."""

    gravity: Any
    scale_factor: float
    hubble: Any
    omega_matter: Any
    lacks: tuple
    unit_of_gravity: Any
    unit_of_hubble: Any

    def has_density(self, reference):
        return bool(self.gravity and self.hubble and (reference == "critical" or self.omega_matter))

    def of_core(self):
        return 1.0 if self.gravity is None else self.gravity, self.scale_factor, self.hubble or 0.0, self.omega_matter or 0.0


def stated_by(snapshot):
    header = getattr(snapshot, "header", None)
    if not hasattr(header, "frame"):
        return Stated()
    (gravity, scale_factor, hubble, omega_matter), *factors, lacks = _core.universe_of(header.frame, header.parameters)
    known = [None if lack else number for number, lack in zip((gravity, hubble, omega_matter), lacks)]
    return Stated(known[0], scale_factor, known[1], known[2], *factors, lacks)


def softening_of(snapshot):
    """The largest that a snapshot states for the types of its particles; None if it states none."""
    core = getattr(snapshot, "_core", None)
    return None if core is None else _core.softening_of(core)


class Particles(NamedTuple):
    """What points are besides their positions: plain numbers, and the units that they carry by kind."""

    velocities: Any  # peculiar, or None
    masses: Any
    uniform_mass: float
    has_masses: bool
    types: Any
    internal_energies: Any  # in the square of the unit of velocities, or None
    units: dict


def particles_of(source, snapshot, velocities, masses, types, internal_energies, stated):
    """What arrays or a snapshot say of particles; what a snapshot stores times its factors is peculiar."""
    uniform_mass = None
    if snapshot is not None:
        remedy = "give plain numbers in the units of the snapshot"
        if velocities is None and snapshot.velocities is not None:
            velocities = _times(stated.velocity_factor, snapshot.velocities)
        velocities = _units.plain(velocities, "velocities", remedy)
        if masses is None:
            masses, uniform_mass = snapshot.masses, snapshot.uniform_mass
        masses = _units.plain(masses, "masses", remedy)
        types = snapshot.types if types is None else types
        stored = getattr(snapshot, "internal_energies", None)
        if internal_energies is None and stored is not None:
            internal_energies = _times(stated.energy_factor, stored)
    velocities, unit_of_velocities = _units.split(velocities, "velocities")
    masses, unit_of_masses = _units.split(masses, "masses")
    internal_energies, = _units.in_unit(None if unit_of_velocities is None else unit_of_velocities**2, of="velocities",
                                        internal_energies=internal_energies)
    require_rows(source.shape, velocities=velocities, masses=masses, types=types, internal_energies=internal_energies)
    velocities = None if velocities is None else _arrays.as_real(velocities, "velocities")
    masses = None if masses is None else _arrays.as_column(masses, "masses")
    types = None if types is None else _arrays.as_types(types)
    internal_energies = None if internal_energies is None else _arrays.as_column(internal_energies, "internal_energies")
    units = {"length": source.unit, "mass": unit_of_masses, "velocity": unit_of_velocities}
    if velocities is None and None not in (source.unit, unit_of_masses):
        from astropy.units import Unit
        units["velocity"] = Unit("km / s")
    has_masses = masses is not None or uniform_mass is not None
    return Particles(velocities, masses, 1.0 if uniform_mass is None else uniform_mass, has_masses, types,
                     internal_energies, units)


def _times(factor, values):
    return values if factor == 1 else values * factor


def resolve(stated, particles, G, scale_factor, hubble, omega_matter):
    """The universe of a call with these particles."""
    units = particles.units
    of_gravity = of_hubble = None
    if all(unit is not None for unit in units.values()):
        of_gravity = units["velocity"] ** 2 * units["length"] / units["mass"]
    if units["velocity"] is not None and units["length"] is not None:
        of_hubble = units["velocity"] / units["length"]
    G = _number(G, "G", of_gravity, units)
    hubble = _number(hubble, "hubble", of_hubble, {kind: units[kind] for kind in ("length", "velocity")})
    if G is None and particles.has_masses:
        G = stated.gravity if of_gravity is None else _gravity_in(units)
    return Universe(
        None if G is None else above_zero(G, "G"),
        stated.scale_factor if scale_factor is None else above_zero(scale_factor, "scale_factor"),
        stated.hubble if hubble is None else not_negative(hubble, "hubble"),
        stated.omega_matter if omega_matter is None else not_negative(omega_matter, "omega_matter"),
        stated.lacks, of_gravity, of_hubble)


def _number(value, name, unit, units):
    """A number as a plain one in that unit, which those of the kinds give together."""
    if value is None:
        return None
    of = " and ".join(({"length": "points", "mass": "masses", "velocity": "velocities"}[kind] for kind in units))
    if unit is None and any(each is not None for each in units.values()):
        raise TypeError(f"{name} is given, but only some of {of} carry a unit; give all of them as Quantities, or none")
    if unit is not None and _units.unit_of(value, name) is None:
        raise TypeError(f"{name} carries no unit, but {of} do; give a Quantity, in {unit} or a unit like it")
    return _units.in_unit(unit, of=of, **{name: value})[0]


def _gravity_in(units):
    try:
        return _core.gravity_in(units["length"].to("pc"), units["mass"].to("solMass"), units["velocity"].to("km / s"))
    except (TypeError, ValueError):  # units that have no size in these, such as those with h
        return None


def warn_of_what_is_left_out(universe, particles, unbind, asked, known):
    """One warning for all that is not known. `asked` and `known` are the spheres asked for, and those with a density."""
    left_out = []
    spheres = [f"the spheres {', '.join(name for name in asked if name not in known)}"] * (len(known) < len(asked))
    unbinding = ["unbinding, so that halos are whole groups"] * unbind
    lacks = [f"; the snapshot does not state {lack}" if lack else "" for lack in universe.lacks]
    if unbind and particles.velocities is None:
        left_out.append((unbinding, "pass velocities, or unbind=False"))
        unbinding = []
    if universe.gravity is None:
        masses = "" if particles.has_masses else "masses and "
        left_out.append((unbinding + ["the largest circular velocities", *spheres],
                         f"pass {masses}G, in the units of points, velocities and masses{lacks[0]}"))
    elif universe.hubble is None and (spheres or unbinding):
        left_out.append((["the expansion in energies"] * len(unbinding) + spheres,
                         f"pass hubble and omega_matter; 0 for space that does not expand{lacks[1]}"))
    elif spheres:
        left_out.append((spheres, f"pass omega_matter{lacks[2]}" if universe.hubble else
                         "hubble is 0, and there is no density to compare with; pass overdensities=()"))
    if left_out:
        warn("left out: " + "; ".join(f"{' and '.join(what)} ({remedy})" for what, remedy in left_out))


def above_zero(value, name):
    value = _arrays.as_number(value, name)
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} is {value:g}; it must be above 0 and finite")
    return value


def not_negative(value, name):
    value = _arrays.as_number(value, name)
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} is {value:g}; it must be 0 or more and finite")
    return value
