"""What theory expects, against what is known of it in closed form."""

import math
import types

import numpy
import pytest

import kith

theory = kith.mass_function
COSMOLOGY = kith.datasets.Cosmology()


def power_law(slope, amplitude=1.0):
    """A universe of matter alone whose waves have a spectrum without any scale of its own."""
    return types.SimpleNamespace(mean_density=27.75, matter_fraction=lambda a: 1.0, growth=lambda a: a,
                                 power=lambda k: amplitude * k**slope)


def integral(values, logarithms):
    return float(numpy.sum(0.5 * (values[1:] + values[:-1]) * numpy.diff(logarithms)))


def test_threshold():
    assert theory.collapse_threshold(power_law(-1)) == pytest.approx(1.68647, abs=1e-5)
    assert theory.collapse_threshold(COSMOLOGY) == pytest.approx(1.67587, abs=1e-4)  # a sphere's radius, integrated
    assert theory.collapse_threshold(COSMOLOGY, 20) == pytest.approx(1.6865, abs=1e-4)


def test_rms_of_the_density():
    radii = numpy.array([1.0, 8.0, 30.0])
    masses = 4 / 3 * math.pi * radii**3 * COSMOLOGY.mean_density
    rms, slope = theory.density_rms(masses, COSMOLOGY)
    assert rms == pytest.approx([COSMOLOGY.rms_in_sphere(radius) for radius in radii], rel=1e-4)
    assert rms[1] == pytest.approx(0.8102, rel=1e-4)
    step = 1.001
    higher, lower = (theory.density_rms(masses * factor, COSMOLOGY)[0] for factor in (step, 1 / step))
    assert slope == pytest.approx(numpy.log(higher / lower) / (2 * math.log(step)), rel=1e-4)
    assert theory.density_rms(masses, COSMOLOGY, 1.0)[0] == pytest.approx(rms * COSMOLOGY.growth(0.5))


@pytest.mark.parametrize("slope", [-2, -1.5, -1])
def test_power_laws(slope):
    """rms ~ M^(-(n + 3) / 6), so Press and Schechter's dn/dlnM ~ M^((n + 3) / 6 - 1) far below the heaviest halos."""
    universe = power_law(slope, amplitude=1e4)
    masses = numpy.array([1.0, 10.0, 100.0])
    rms, derivative = theory.density_rms(masses, universe)
    exponent = (slope + 3) / 6
    assert derivative == pytest.approx(numpy.full(3, -exponent), rel=2e-3)
    assert rms[0] / rms[2] == pytest.approx(100**exponent, rel=2e-3)
    peak = theory.collapse_threshold(universe) / rms
    expected = 27.75 / masses * math.sqrt(2 / math.pi) * peak * numpy.exp(-peak**2 / 2) * exponent
    assert theory.press_schechter(masses, universe) == pytest.approx(expected, rel=2e-3)
    few = numpy.log(theory.press_schechter(masses, power_law(slope, 1e8)))
    assert numpy.diff(few) / math.log(10) == pytest.approx(numpy.full(2, exponent - 1), abs=2e-3)


@pytest.mark.parametrize("redshift", [0.0, 1.0, 3.0])
def test_collapsed_fraction(redshift):
    """All mass in halos above M is, of Press and Schechter, erfc(threshold / (sqrt 2 rms(M)))."""
    least = 1e3
    logarithms = numpy.linspace(math.log(least), math.log(1e8), 1000)
    masses = numpy.exp(logarithms)
    mass = integral(masses * theory.press_schechter(masses, COSMOLOGY, redshift), logarithms)
    peak = theory.collapse_threshold(COSMOLOGY, redshift) / theory.density_rms([least], COSMOLOGY, redshift)[0][0]
    assert mass / COSMOLOGY.mean_density == pytest.approx(math.erfc(peak / math.sqrt(2)), rel=1e-3)


def test_all_mass_is_in_halos():
    for share in (theory._of_spheres, theory._of_ellipsoids):
        logarithms = numpy.linspace(-60, 4, 20_001)  # Sheth and Tormen's tail of small halos is long
        assert integral(share(numpy.exp(logarithms)), logarithms) == pytest.approx(1, abs=1e-4)


def test_ellipsoids_against_spheres():
    """More heavy halos, fewer of the middle."""
    ratio = theory.sheth_tormen([1e3, 1e6], COSMOLOGY) / theory.press_schechter([1e3, 1e6], COSMOLOGY)
    assert ratio[0] < 0.8 and ratio[1] > 2


def test_more_massive():
    masses = numpy.array([[1e2, 1e5], [1e3, 1e4]])
    numbers = theory.more_massive(theory.sheth_tormen, masses, COSMOLOGY)
    assert numbers.shape == masses.shape
    for mass, number in zip(masses.flat, numbers.flat):
        logarithms = numpy.linspace(math.log(mass), math.log(1e8), 800)
        assert number == pytest.approx(integral(theory.sheth_tormen(numpy.exp(logarithms), COSMOLOGY), logarithms), rel=2e-3)
    assert len(theory.more_massive(theory.sheth_tormen, [], COSMOLOGY)) == 0


@pytest.mark.parametrize("masses", [[0.0], [-1.0], [math.nan], [math.inf]])
def test_masses_that_are_none(masses):
    with pytest.raises(ValueError, match="above 0"):
        theory.press_schechter(masses, COSMOLOGY)


def test_no_masses():
    assert theory.sheth_tormen([], COSMOLOGY).shape == (0,)


def test_the_halos_of_a_simulation():
    """Friends-of-friends groups are about as many as Sheth and Tormen expect."""
    universe = kith.datasets.cosmic_box(32, 64)
    _, halos = kith.fof(universe, b=0.2, return_catalog=True)
    least = 30 * universe.uniform_mass
    expected = theory.more_massive(theory.sheth_tormen, [least], universe.cosmology)[0] * universe.box**3
    assert 0.6 < numpy.count_nonzero(halos.mass >= least) / expected < 1.5
