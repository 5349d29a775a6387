"""The picture of a mass function: how many groups there are of each mass, and how many theory expects.

Masses and volumes stay in the units of the catalog, which its axes name; theory is converted from 1e10 Msun/h and comoving
Mpc/h. The units are those that the file or the snapshot states (_frames.py), or what the caller says that they are.
"""

import math
import weakref

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.ticker import FuncFormatter, LogLocator

from kith import _arrays, _colors, _frames, _subjects, mass_function as theory
from kith._warnings import warn


def mass_function(catalog, axes=None, *, cumulative=False, volume=None, bins=None, cosmology=None, redshift=None,
                  mass_unit=None, length_unit=None):
    """How many groups there are of each mass, in a volume; and how many theory expects.

    Parameters
    ----------
    catalog : Catalog, or path of a catalog file
    axes : matplotlib.axes.Axes, optional
        Beside another mass function this one is drawn in the units of that.
    cumulative : bool
        Draw the number of groups of a mass or more, n(>M); otherwise the number in an interval of its logarithm,
        dn/dlnM.
    volume : float, optional
        That the groups are of; by default that of their box.
    bins : array, optional
        Edges of the intervals; by default five to a factor of ten. Not for n(>M).
    cosmology : kith.datasets.Cosmology, optional
        Draw what Press & Schechter and Sheth & Tormen expect in it, too (`kith.mass_function`).
    redshift : float, optional
        Of the catalog, for these; by default what its file says, or 0.
    mass_unit, length_unit : float, optional
        What masses are multiplied by to be in Msun/h, and lengths to be in comoving Mpc/h. By default as the file or the
        snapshot states (units, h and a). Where it states none the axes are in code units; a cosmology then needs these,
        or a warning says that they are taken to be 1e10 and 1, as in the snapshots of Gadget-4.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Error bars, or the band, are the 16 % and 84 % Poisson limits, by the approximations of Gehrels 1986 (ApJ 303, 336),
    equations 7 and 12. Groups without mass are left out.

    Examples
    --------
    >>> import kith
    >>> universe = kith.datasets.cosmic_box(16, 32)
    >>> labels, halos = kith.fof(universe, b=0.2, return_catalog=True)
    >>> axes = kith.plot.mass_function(halos, cosmology=universe.cosmology)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['Press & Schechter', 'Sheth & Tormen', 'groups']
    """
    catalog = _subjects.catalog_of(catalog)
    _subjects.require_groups(catalog)
    _subjects.require_axes(axes)
    cumulative = _arrays.flag(cumulative, "cumulative")
    if redshift is None:
        redshift = getattr(catalog, "redshift", None)
        redshift = 0.0 if redshift is None else redshift
    redshift = _arrays.as_number(redshift, "redshift")
    units = _Units(catalog, mass_unit, length_unit, cosmology)
    volume = _volume_of(catalog) if volume is None else _arrays.as_number(volume, "volume")
    if not 0 < volume < math.inf:
        raise ValueError(f"volume is {volume}; it must be above 0")
    units, of_mass, of_length = _as_drawn_before(axes, units, cumulative)
    mass = numpy.sort(catalog.mass[catalog.mass > 0]) * of_mass
    volume *= of_length**3
    if cosmology is not None and catalog.center.shape[1] != 3:
        raise ValueError(f"theory is of groups in 3 dimensions, not {catalog.center.shape[1]}; give no cosmology")
    if axes is None:
        axes = pyplot.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
    _drawn[axes] = units, cumulative
    axes.set(xscale="log", yscale="log")
    if cumulative or bins is None:
        edges = _edges(mass)
    else:
        edges = numpy.asarray(_arrays.as_real(bins, "bins"), dtype=numpy.float64) * of_mass
        if edges.ndim != 1 or len(edges) < 2 or not edges[0] > 0 or not (numpy.diff(edges) > 0).all():
            raise ValueError("bins must be two edges or more, ascending, above 0")
    counts, _ = numpy.histogram(mass, edges) if len(edges) else (numpy.empty(0), None)
    if cosmology is not None and len(edges):
        _draw_theory(axes, edges, cumulative, cosmology, redshift, units.mass / 1e10, units.length)
    color = _colors.colors_at([0.15])[0]
    if not counts.any():
        axes.text(0.5, 0.5, "no groups", transform=axes.transAxes, ha="center", va="center", color=_colors.FAINT_INK)
    elif cumulative:
        # Over every mass between two neighboring ones there are as many groups as from the larger one on.
        masses = numpy.unique(numpy.append(edges[0], mass))
        counts = len(mass) - numpy.searchsorted(mass, masses)
        low, high = _poisson_limits(counts)
        axes.fill_between(masses, low / volume, high / volume, step="pre", color=color, alpha=0.25, linewidth=0)
        axes.step(masses, counts / volume, where="pre", color=color, linewidth=1.6, label="groups")
    else:
        filled = counts > 0
        counts, scale = counts[filled], (volume * numpy.diff(numpy.log(edges)))[filled]
        low, high = _poisson_limits(counts)
        axes.errorbar(numpy.sqrt(edges[1:] * edges[:-1])[filled], counts / scale,
                      yerr=((counts - low) / scale, (high - counts) / scale), fmt="o", color=color, markersize=5,
                      elinewidth=1.2, capsize=2.5, label="groups", zorder=3)
        axes.update_datalim([(edge, counts[0] / scale[0]) for edge in edges[[0, -1]]])
        axes.autoscale_view()
        axes.set_ylim(0.5 * (low / scale).min(), 2 * (high / scale).max())  # theory alone may go far lower
    axes.set(xlabel=f"$M$ [{units.of_masses}]",
             ylabel=("$n({>}M)$ " if cumulative else r"$dn\,/\,d\ln M$ ") + f"[{units.of_numbers}]")
    if len(edges) and edges[-1] < 1e2 * edges[0]:  # else whole powers of ten are enough
        axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        axes.xaxis.set_minor_formatter(FuncFormatter(_as_power))
    axes.grid(alpha=0.2)
    if len(axes.get_legend_handles_labels()[0]):
        axes.legend(frameon=False)
    return axes


_drawn = weakref.WeakKeyDictionary()  # what the axes of a mass function show


def _as_drawn_before(axes, units, cumulative):
    """The units of what the axes show, if that is a mass function, and what masses and lengths are multiplied by there."""
    if axes not in _drawn or not axes.has_data():
        return units, 1.0, 1.0
    before, was_cumulative = _drawn[axes]
    if was_cumulative != cumulative:
        shown = "n(>M)" if was_cumulative else "dn/dlnM"
        raise ValueError(f"the axes show {shown}; give others, or cumulative={was_cumulative}")
    factors = []
    for kind, name in (("mass", "of_masses"), ("length", "of_numbers")):
        ours, theirs = getattr(units, name), getattr(before, name)
        if ours != theirs and not (units.is_known[kind] and before.is_known[kind]):
            raise ValueError(f"the catalog is in {_as_text(ours)}, but the axes show a mass function in "
                             f"{_as_text(theirs)}; give {kind}_unit for each, or other axes")
        factors.append(1.0 if ours == theirs else getattr(units, kind) / getattr(before, kind))
    return before, *factors


def _as_text(formula):
    plain = formula.replace(r"M_\odot", "Msun").replace(r"\mathrm", "").replace(r"\,", " ")
    return plain.translate(str.maketrans("", "", "${}"))


def _draw_theory(axes, edges, cumulative, cosmology, redshift, mass_unit, length_unit):
    masses = numpy.geomspace(edges[0], edges[-1], 200)
    for place, dashes, expected, label in ((0.68, (4, 2), theory.press_schechter, "Press & Schechter"),
                                           (0.45, (), theory.sheth_tormen, "Sheth & Tormen")):
        arguments = (masses * mass_unit, cosmology, redshift)
        numbers = theory.more_massive(expected, *arguments) if cumulative else expected(*arguments)
        axes.plot(masses, numbers * length_unit**3, color=_colors.colors_at([place])[0], dashes=dashes, linewidth=1.6,
                  label=label)


class _Units:
    """What a catalog's masses and lengths are multiplied by to be in Msun/h and comoving Mpc/h, and the names on the axes.

    mass, length : the factors, for theory; 1e10 and 1 where they are not known
    of_masses, of_numbers : names of the units of masses, and of numbers in a volume
    is_known : of "mass" and "length", whether they are
    """

    def __init__(self, catalog, mass, length, cosmology):
        frame, h = getattr(catalog, "_frame", None), getattr(catalog, "parameters", {}).get("HubbleParam")
        found = _frames.mass_unit(frame, h), _frames.length_unit(frame, h)
        h = getattr(cosmology, "hubble", None) if h is None else h
        known = [unit is not None and h is not None for unit in found]
        self.mass, self.length = (each.size * h if is_known else default
                                  for each, is_known, default in zip(found, known, (1e10, 1.0)))
        self.of_masses = "code units" if found[0] is None else _as_math(found[0].name)
        self.of_numbers = "code units" if found[1] is None else _inverse_volume(found[1].name)
        assumed = [f"{name}={value:g}" for name, value, given, is_known in (
            ("mass_unit", 1e10, mass, known[0]), ("length_unit", 1, length, known[1])) if given is None and not is_known]
        if cosmology is not None and assumed:
            warn(f"the catalog does not state its units, which theory needs; {' and '.join(assumed)} is taken (in Msun/h and "
                 "comoving Mpc/h): give these arguments")
            mass, length = (default if given is None and not is_known else given for given, is_known, default in zip(
                (mass, length), known, (1e10, 1.0)))
        if mass is not None:
            self.mass = _arrays.as_number(mass, "mass_unit")
            self.of_masses = _as_math(("" if self.mass == 1 else f"{self.mass:.6g} ") + "Msun/h")
        if length is not None:
            self.length = _arrays.as_number(length, "length_unit")
            self.of_numbers = _inverse_volume(("" if self.length == 1 else f"{self.length:.6g} ") + "Mpc/h")
        self.is_known = {"mass": mass is not None or known[0], "length": length is not None or known[1]}
        # 8.6e10 / 0.68 * 0.68 is not 8.6e10 to the last digit.
        self.mass, self.length = (float(f"{factor:.12g}") for factor in (self.mass, self.length))


def _as_power(number, _):
    power = math.floor(math.log10(number) + 1e-9)
    return rf"${number / 10.0**power:.0f}\times 10^{{{power}}}$"


def _as_math(name):
    """1e+10 Msun/h as a formula."""
    number, _, unit = name.rpartition(" ") if name.count(" ") == 1 else ("", "", name)
    unit = unit.replace("Msun", r"M_\odot").replace(" ", r"\,")
    if not number:
        return f"${unit}$"
    power = math.log10(float(number))
    number = f"10^{{{power:.0f}}}" if power == round(power) else f"{float(number):g}"
    return rf"${number}\,{unit}$"


def _inverse_volume(name):
    """Mpc/h as the unit of numbers in a comoving volume: (h/Mpc)^3."""
    unit, _, h = name.partition("/")
    text = " ".join(unit.split())
    text = rf"\mathrm{{{text}}}".replace(" ", r"\ ")
    return rf"$(h/{text})^3$" if h and " " not in unit else rf"$(h/({text}))^3$" if h else rf"$({text})^{{-3}}$" \
        if " " in unit else rf"${text}^{{-3}}$"


def _edges(mass):
    """Five intervals to a factor of ten, from the least mass to the largest."""
    if not len(mass):
        return mass
    if mass[0] == mass[-1]:
        return mass[0] * 10 ** numpy.array([-0.1, 0.1])
    intervals = max(1, math.ceil(5 * math.log10(mass[-1] / mass[0])))
    return numpy.append(mass[0] * 10 ** (numpy.arange(intervals) / 5), mass[0] * 10 ** (intervals / 5) * (1 + 1e-12))


def _poisson_limits(counts):
    """The least and the largest mean of which such counts are no more improbable than one standard deviation."""
    low = counts * (1 - 1 / (9 * counts) - 1 / (3 * numpy.sqrt(counts))) ** 3
    return low, counts + numpy.sqrt(counts + 0.75) + 1


def _volume_of(catalog):
    volume = math.prod(catalog.box.period)
    if not volume > 0:
        raise ValueError("the groups are in open space, which has no volume; give volume=")
    return volume
