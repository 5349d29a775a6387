"""How a flat universe of cold dark matter expands, how small waves grow in it, and how strong they are.

Sources: Heath 1977 (MNRAS 179, 351) for the growth; Eisenstein & Hu 1998 (ApJ 496, 605) for the shape of the spectrum,
without baryon wiggles. Lengths are comoving Mpc/h, masses 1e10 Msun/h.
"""

import numpy

from .arguments import number, positive

CRITICAL_DENSITY = 27.7536627  # 1e10 Msun/h per (Mpc/h)^3, 3 H0^2 / (8 pi G)


class Cosmology:
    """A flat universe of matter and a cosmological constant: its expansion, linear growth and linear spectrum.

    Parameters
    ----------
    omega_matter, omega_baryon : float
        Densities today over the critical one: of all matter, and of baryons.
    hubble : float
        In 100 km/s/Mpc.
    spectral_index : float
        Of the initial spectrum.
    sigma8 : float
        Root mean square of the linear density today in spheres of 8 Mpc/h.

    The defaults are those of Planck 2018 VI (A&A 641, A6), table 2, TT,TE,EE+lowE+lensing+BAO. Expansion factors a are 1
    today.

    Examples
    --------
    >>> import kith
    >>> cosmology = kith.datasets.Cosmology()
    >>> round(float(cosmology.growth(0.5)), 2)
    0.61
    >>> round(float(cosmology.rms_in_sphere(8.0)), 4)
    0.8102
    """

    def __init__(self, *, omega_matter=0.3111, omega_baryon=0.0490, hubble=0.6766, spectral_index=0.9665, sigma8=0.8102):
        omega_matter, hubble = positive(omega_matter, "omega_matter"), positive(hubble, "hubble")
        sigma8 = positive(sigma8, "sigma8")
        spectral_index = number(spectral_index, "spectral_index")
        if not 0 <= number(omega_baryon, "omega_baryon") <= omega_matter:
            raise ValueError(f"omega_baryon is {omega_baryon}; it must be from 0 to omega_matter, {omega_matter}")
        self.omega_matter = omega_matter
        self.omega_baryon = omega_baryon
        self.hubble = hubble
        self.spectral_index = spectral_index
        self.sigma8 = sigma8
        self._a = numpy.linspace(0.0, 1.0, 20001)[1:]
        integrand = (self._a * self.expansion(self._a)) ** -3.0
        # The integral from 0 to the first node is that of matter domination, where (a E)^-3 = (a / omega)^1.5.
        first = 0.4 * self._a[0] * integrand[0]
        self._integral = first + numpy.concatenate(
            ([0.0], numpy.cumsum(0.5 * (integrand[1:] + integrand[:-1]) * numpy.diff(self._a))))
        self._growth_today = self.expansion(1.0) * self._integral[-1]
        self._amplitude = 1.0
        self._amplitude = (self.sigma8 / self.rms_in_sphere(8.0)) ** 2

    def __repr__(self):
        names = ("omega_matter", "omega_baryon", "hubble", "spectral_index", "sigma8")
        return f"Cosmology({', '.join(f'{name}={getattr(self, name):g}' for name in names)})"

    @property
    def mean_density(self):
        """Of matter, in comoving 1e10 Msun/h per (Mpc/h)^3."""
        return self.omega_matter * CRITICAL_DENSITY

    def expansion(self, a):
        """E(a) = H / H0."""
        return numpy.sqrt(self.omega_matter * a**-3.0 + 1.0 - self.omega_matter)

    def matter_fraction(self, a):
        """Density of matter over the critical one at expansion factor a."""
        return self.omega_matter * a**-3.0 / self.expansion(a) ** 2

    def growth(self, a):
        """D(a), 1 today: E times the integral of (a E)^-3 (Heath 1977)."""
        return self.expansion(a) * numpy.interp(a, self._a, self._integral) / self._growth_today

    def growth_rate(self, a):
        """dD/da, the derivative of the line above."""
        e = self.expansion(a)
        slope_of_e = -1.5 * self.omega_matter * a**-4.0 / e
        return slope_of_e / e * self.growth(a) + e * (a * e) ** -3.0 / self._growth_today

    def momentum_growth(self, a):
        """G(a) = a^3 E dD/da: linear momenta are G times the linear displacement today."""
        return a**3 * self.expansion(a) * self.growth_rate(a)

    def power(self, k):
        """Linear spectrum today in (Mpc/h)^3, k in h/Mpc: Eisenstein & Hu 1998, equations 26, 28 to 31."""
        matter = self.omega_matter * self.hubble**2
        baryon = self.omega_baryon * self.hubble**2
        fraction = self.omega_baryon / self.omega_matter
        theta = 2.7255 / 2.7
        sound_horizon = 44.5 * numpy.log(9.83 / matter) / numpy.sqrt(1.0 + 10.0 * baryon**0.75) * self.hubble
        alpha = 1.0 - 0.328 * numpy.log(431.0 * matter) * fraction + 0.38 * numpy.log(22.3 * matter) * fraction**2
        shape = self.omega_matter * self.hubble * (alpha + (1.0 - alpha) / (1.0 + (0.43 * k * sound_horizon) ** 4))
        q = k * theta**2 / shape
        log_term = numpy.log(2.0 * numpy.e + 1.8 * q)
        transfer = log_term / (log_term + (14.2 + 731.0 / (1.0 + 62.5 * q)) * q**2)
        return self._amplitude * k**self.spectral_index * transfer**2

    def rms_in_sphere(self, radius):
        """Root mean square of the linear density today in spheres of this radius in Mpc/h."""
        log_k = numpy.linspace(numpy.log(1e-5), numpy.log(1e2), 20001)
        k = numpy.exp(log_k)
        window = 3.0 * (numpy.sin(k * radius) - k * radius * numpy.cos(k * radius)) / (k * radius) ** 3
        integrand = self.power(k) * window**2 * k**3 / (2.0 * numpy.pi**2)
        return numpy.sqrt(numpy.sum(0.5 * (integrand[1:] + integrand[:-1])) * (log_k[1] - log_k[0]))
