"""How many halos of a mass theory expects in a universe.

Where the linear density, smoothed over a mass, exceeds a threshold, there is a halo of that mass or more. The function of
Press & Schechter follows from Gaussian waves and spherical collapse; that of Sheth & Tormen has the form of ellipsoidal
collapse, fitted to simulations.

Sources:
  Press & Schechter 1974 (ApJ 187, 425)
  Sheth & Tormen 1999 (MNRAS 308, 119), equation 10
  Kitayama & Suto 1996 (ApJ 469, 480), appendix A: the threshold in a flat universe

Masses are in 1e10 Msun/h and lengths in comoving Mpc/h, as in the snapshots of Gadget-4 and `kith.datasets.cosmic_box`.
A cosmology is a `kith.datasets.Cosmology`, or any object with its `mean_density`, `matter_fraction`, `growth` and `power`.

>>> import kith
>>> cosmology = kith.datasets.Cosmology()
>>> float(kith.mass_function.sheth_tormen([1e4], cosmology)[0]) > float(kith.mass_function.sheth_tormen([1e5], cosmology)[0])
True
"""

import math

import numpy

from kith import _arrays

_STEP = 0.005  # in the logarithm of the wave number
_LONGEST_WAVE = 1e-5  # h/Mpc


def collapse_threshold(cosmology, redshift=0.0):
    """Linear density, over the mean, of a sphere at the time when it has collapsed; 1.686 if there is only matter."""
    _require_cosmology(cosmology)
    redshift = _arrays.as_number(redshift, "redshift")
    in_matter = 3 / 20 * (12 * math.pi) ** (2 / 3)
    return in_matter * (1 + 0.0123 * math.log10(cosmology.matter_fraction(1 / (1 + redshift))))


def density_rms(masses, cosmology, redshift=0.0):
    """How strongly the linear density varies between spheres that hold a mass on average.

    Parameters
    ----------
    masses : array
        In 1e10 Msun/h.
    cosmology : Cosmology
    redshift : float

    Returns
    -------
    rms : array
        Root mean square of the density over its mean.
    slope : array
        d ln rms / d ln mass.
    """
    masses = _doubles(masses)
    _require_cosmology(cosmology)
    redshift = _arrays.as_number(redshift, "redshift")
    if not (masses > 0).all() or not numpy.isfinite(masses).all():
        raise ValueError("masses must be above 0")
    if not -1 < redshift < math.inf:
        raise ValueError(f"redshift is {redshift}; it must be above -1")
    radii = numpy.cbrt(3 * masses / (4 * math.pi * cosmology.mean_density))
    # Waves much shorter than the smallest sphere average out within it.
    shortest_wave = 300 / radii.min() if masses.size else 1.0
    k = numpy.exp(numpy.arange(math.log(_LONGEST_WAVE), math.log(shortest_wave), _STEP))
    strength = cosmology.power(k) * k**3 / (2 * math.pi**2) * _STEP
    variance, change = numpy.empty((2, masses.size))
    for i, radius in enumerate(radii.flat):
        x = k * radius
        window = 3 * (numpy.sin(x) - x * numpy.cos(x)) / x**3
        variance[i] = numpy.sum(strength * window**2)
        change[i] = numpy.sum(strength * 2 * window * 3 * (numpy.sin(x) / x - window))  # d variance / d ln radius
    rms = cosmology.growth(1 / (1 + redshift)) * numpy.sqrt(variance)
    return rms.reshape(masses.shape), (change / (6 * variance)).reshape(masses.shape)


def press_schechter(masses, cosmology, redshift=0.0):
    """Number of halos in a comoving volume and a logarithmic interval of mass, dn/dlnM, in (h/Mpc)^3.

    Parameters
    ----------
    masses : array
        In 1e10 Msun/h.
    cosmology : Cosmology
    redshift : float
    """
    return _abundance(masses, cosmology, redshift, _of_spheres)


def sheth_tormen(masses, cosmology, redshift=0.0):
    """As `press_schechter`, but fitted to simulations."""
    return _abundance(masses, cosmology, redshift, _of_ellipsoids)


def more_massive(abundance, masses, cosmology, redshift=0.0):
    """Number of all halos above each mass in a comoving volume, n(>M), in (h/Mpc)^3.

    Parameters
    ----------
    abundance : `press_schechter`, `sheth_tormen`, or any function of masses, cosmology and redshift
    masses, cosmology, redshift
        As they take them.
    """
    if not callable(abundance):
        raise TypeError(f"abundance is of type {type(abundance).__name__}; it must be a function of masses, cosmology and "
                        "redshift, such as sheth_tormen")
    masses = _doubles(masses)
    _require_cosmology(cosmology)
    if masses.size == 0:
        return numpy.empty(masses.shape)
    most = 1e3 * masses.max()
    while abundance([most], cosmology, redshift)[0] > 1e-12 * abundance([masses.max()], cosmology, redshift)[0]:
        most *= 1e3
    logarithms = numpy.linspace(math.log(masses.min()), math.log(most), 1000)
    density = abundance(numpy.exp(logarithms), cosmology, redshift)
    pieces = 0.5 * (density[1:] + density[:-1]) * numpy.diff(logarithms)
    above = numpy.append(numpy.cumsum(pieces[::-1])[::-1], 0.0)
    smallest = numpy.finfo(numpy.float64).tiny  # numbers are interpolated by their logarithms
    return numpy.exp(numpy.interp(numpy.log(masses), logarithms, numpy.log(numpy.maximum(above, smallest))))


def _doubles(masses):
    return numpy.asarray(_arrays.as_real(masses, "masses"), dtype=numpy.float64)


def _require_cosmology(cosmology):
    if not hasattr(cosmology, "mean_density") or not hasattr(cosmology, "power"):
        raise TypeError(f"cosmology is of type {type(cosmology).__name__}; it must be a kith.datasets.Cosmology, or any "
                        "object with its mean_density, matter_fraction, growth and power")


def _abundance(masses, cosmology, redshift, share):
    masses = _doubles(masses)
    rms, slope = density_rms(masses, cosmology, redshift)
    return cosmology.mean_density / masses * share(collapse_threshold(cosmology, redshift) / rms) * -slope


def _of_spheres(peak):
    """Share of all mass that is in halos, in a logarithmic interval of the height of their peaks, threshold / rms."""
    return math.sqrt(2 / math.pi) * peak * numpy.exp(-0.5 * peak**2)


def _of_ellipsoids(peak):
    stretch, power = 0.707, 0.3
    everything = 1 / (1 + 2**-power * math.gamma(0.5 - power) / math.sqrt(math.pi))  # so that all mass is in halos
    squared = stretch * peak**2
    return everything * (1 + squared**-power) * math.sqrt(2 / math.pi) * numpy.sqrt(squared) * numpy.exp(-0.5 * squared)
