"""What the numbers of a snapshot or a catalog mean, where the file is known to be of a cosmological run.

A frame is the dict of `kith.Snapshot.header.frame`: the scale factor a, and for lengths, masses and velocities the powers
of a and h and the factor to cgs units that make a number physical: physical = number * a^a_power * h^h_power * to_cgs.
Velocities become peculiar velocities. Without a frame nothing is known: numbers are as they were given.

Catalogs of Gadget-4 and AREPO hold a times the mean peculiar velocity (GroupVel). kith's own hold the mean of the stored
velocities; `catalog_factor` turns one into the other.
"""

import math
from typing import NamedTuple

SOLAR_MASS = 1.98848e33  # g
MEGAPARSEC = 3.0856776e24  # cm
_CGS = {"length": "cm", "mass": "g", "velocity": "cm / s"}
_LENGTHS = {"Gpc": 1e3, "Mpc": 1.0, "kpc": 1e-3, "pc": 1e-6}
_DIGITS = 2e-3  # relative; in which codes differ about the sun and the parsec


def of_points(points):
    """The frame that a snapshot states; None of other points."""
    return getattr(getattr(points, "header", None), "frame", None)


def peculiar_factor(header):
    """What stored velocities are multiplied by to be peculiar: 1 where no frame is known."""
    frame = getattr(header, "frame", None)
    if frame is None:
        return 1.0
    a_power, h_power, _ = frame["velocity"]
    h = header.parameters.get("HubbleParam") if h_power else None
    return frame["scale_factor"] ** a_power * (1.0 if h is None else h**h_power)


def catalog_factor(frame):
    """What means of stored velocities are multiplied by to be a times peculiar ones, in the order of GroupVel's writer."""
    if frame is None:
        return 1.0
    a, power = frame["scale_factor"], frame["velocity"][0]
    return a * (math.sqrt(a) if power == 0.5 else a**power)


def of_file(core):
    """The frame of a catalog file, from the attributes of its columns, or from its header if the code writes none."""
    scalings = {name: (a_power, h_power, _positive(to_cgs))
                for name, (_, (a_power, h_power, to_cgs)) in core.scalings.items()}
    a, parameters = core.time, core.parameters
    stated = {kind: scalings.get(column) for kind, column in (
        ("length", "center"), ("mass", "mass"), ("velocity", "velocity"))}
    if a is None and all(scaling is None or scaling[:2] == (0, 0) for scaling in stated.values()):
        a = 1.0  # of arrays with units, as they are at any time
    if a is None or not a > 0:
        return None
    if all(stated[kind] is not None and None not in stated[kind][:2] for kind in ("length", "mass")):
        velocity = stated["velocity"]
        known = velocity is not None and None not in velocity[:2]
        return {"scale_factor": a, "length": stated["length"], "mass": stated["mass"],
                "velocity": velocity if known else (0.5, 0.0, None)}
    if core.provenance.get("Program", "").startswith("kith"):  # which states all that it knows
        return None
    agrees = core.redshift is not None and abs(a * (1 + core.redshift) - 1) < 1e-6
    if not agrees or not parameters.get("Omega0", 0) > 0 or not parameters.get("HubbleParam", 0) > 0:
        return None
    units = [_positive(parameters.get(name)) for name in ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s")]
    return {"scale_factor": a, "length": (1.0, -1.0, units[0]), "mass": (0.0, -1.0, units[1]),
            "velocity": (0.5, 0.0, units[2])}


def _positive(unit):
    """A factor to cgs units; None for the 0 that Gadget-4 writes where there is no unit."""
    return unit if unit is not None and 0 < unit < math.inf else None


class Unit(NamedTuple):
    """A unit of numbers: its size in comoving Mpc or in solar masses without h, and its name as plain text."""

    size: float
    name: str
    h_power: float


def length_unit(frame, h):
    """Of lengths in comoving space; None if it is not known."""
    found = _known(frame, "length", h)
    if found is None:
        return None
    (a_power, h_power, to_cgs), scale = found
    size = to_cgs / MEGAPARSEC
    name = next((unit for unit, megaparsecs in _LENGTHS.items() if abs(size / megaparsecs - 1) < _DIGITS), None)
    if name is not None:
        size = _LENGTHS[name]
    to_comoving = frame["scale_factor"] ** (a_power - 1)
    if name is None or abs(to_comoving - 1) > 1e-9:
        size *= to_comoving
        name = f"{size:.4g} Mpc"
    return Unit(size * scale, name + _per_h(h_power), h_power)


def length_name(points):
    """Of a snapshot's lengths; None of other points, and where it is not known."""
    found = length_unit(of_points(points), getattr(getattr(points, "header", None), "parameters", {}).get("HubbleParam"))
    return found and found.name


def mass_unit(frame, h):
    """Of masses; None if it is not known."""
    found = _known(frame, "mass", h)
    if found is None:
        return None
    (a_power, h_power, to_cgs), scale = found
    size = to_cgs / SOLAR_MASS * frame["scale_factor"] ** a_power
    power = round(math.log10(size))
    if abs(size / 10.0**power - 1) < _DIGITS:
        size = 10.0**power
    return Unit(size * scale, (f"{size:.6g} Msun" if size != 1 else "Msun") + _per_h(h_power), h_power)


def physical_unit(frame, kind, h, a_power=None):
    """The unit of astropy that makes numbers physical; None if it is not known, or if a power of the scale factor, the
    frame's or the one given, has to be applied to them first."""
    if kind == "peculiar_velocity":
        kind, a_power = "velocity", 0
    if kind == "angular_momentum":
        length, velocity = (physical_unit(frame, of, h, 0) for of in ("length", "velocity"))
        return None if length is None or velocity is None else length * velocity
    if frame is None or kind not in _CGS:
        return None
    own_power, h_power, to_cgs = frame[kind]
    a_power = own_power if a_power is None else a_power
    if to_cgs is None or (a_power != 0 and frame["scale_factor"] != 1) or (h_power != 0 and h is None):
        return None
    from astropy.units import Unit
    return Unit(f"{to_cgs * (h**h_power if h_power else 1):.10g} {_CGS[kind]}")


def _known(frame, kind, h):
    if frame is None or frame[kind][2] is None:
        return None
    h_power = frame[kind][1]
    if h_power != 0 and h is None:
        return None
    return frame[kind], 1.0 if h_power == 0 else h**h_power


def _per_h(h_power):
    return "" if h_power == 0 else "/h" if h_power == -1 else f" h^{h_power:g}"
