#!/usr/bin/env python3
"""A cosmological box to find halos in: dark matter only, flat LCDM, from the first growth of structure to today.

n^3 particles start from a lattice, displaced by second-order Lagrangian perturbation theory, and fall under their own
gravity, solved on a particle mesh of 2n cells per side. The result is written as a Gadget-4 style HDF5 snapshot. The
halos are as sharp as the mesh, half the mean separation: good for finding groups, too puffy for their inner profiles.

Sources, cited at the place of use:
  Eisenstein & Hu 1998 (ApJ 496, 605)          shape of the initial spectrum, without baryon wiggles
  Planck 2018 VI (A&A 641, A6), table 2        parameters
  Heath 1977; Carroll, Press & Turner 1992     linear growth
  Bouchet et al. 1995; Scoccimarro 1998        second-order initial conditions
  Hockney & Eastwood 1988, chapters 5 and 8    cloud-in-cell, its deconvolution, four-point differences
  Feng et al. 2016 (FastPM, MNRAS 463, 2273)   kick and drift factors that keep linear growth exact at any step length

Lengths are comoving Mpc/h, momenta p = a^2 dx/dt are in H0 Mpc/h = 100 km/s, times in 1/H0.
Cost: the Fourier transforms of the mesh, four a step; n = 64 takes about 20 seconds on one core. --backend cupy runs
on a GPU, in single precision.
"""

import argparse
import sys
import time

import numpy

HUBBLE = 100.0  # km/s per Mpc/h
CRITICAL_DENSITY = 27.7536627  # 1e10 Msun/h per (Mpc/h)^3, 3 H0^2 / (8 pi G)
CHUNK = 1 << 22  # particles handled at once, to bound scratch memory


class Cosmology:
    """Flat LCDM: expansion, linear growth, linear spectrum. Planck 2018, TT,TE,EE+lowE+lensing+BAO."""

    omega_matter = 0.3111
    omega_baryon = 0.0490
    hubble = 0.6766
    spectral_index = 0.9665
    sigma8 = 0.8102

    def __init__(self):
        self._a = numpy.linspace(0.0, 1.0, 20001)[1:]
        integrand = (self._a * self.expansion(self._a)) ** -3.0
        # The integral from 0 to the first node is that of matter domination, where (a E)^-3 = (a / omega)^1.5.
        first = 0.4 * self._a[0] * integrand[0]
        self._integral = first + numpy.concatenate(
            ([0.0], numpy.cumsum(0.5 * (integrand[1:] + integrand[:-1]) * numpy.diff(self._a))))
        self._growth_today = self.expansion(1.0) * self._integral[-1]
        self._amplitude = 1.0
        self._amplitude = (self.sigma8 / self.rms_in_sphere(8.0)) ** 2

    def expansion(self, a):
        """E(a) = H / H0."""
        return numpy.sqrt(self.omega_matter * a**-3.0 + 1.0 - self.omega_matter)

    def matter_fraction(self, a):
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
        """Linear spectrum today in (Mpc/h)^3: Eisenstein & Hu 1998, equations 26, 28 to 31."""
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
        """Root mean square of the linear density today in spheres of this radius."""
        log_k = numpy.linspace(numpy.log(1e-5), numpy.log(1e2), 20001)
        k = numpy.exp(log_k)
        window = 3.0 * (numpy.sin(k * radius) - k * radius * numpy.cos(k * radius)) / (k * radius) ** 3
        integrand = self.power(k) * window**2 * k**3 / (2.0 * numpy.pi**2)
        return numpy.sqrt(numpy.sum(0.5 * (integrand[1:] + integrand[:-1])) * (log_k[1] - log_k[0]))


class Mesh:
    """A periodic grid of `cells` per side: Fourier transforms, wave numbers, cloud-in-cell."""

    def __init__(self, xp, cells, box, real):
        self.xp, self.cells, self.box, self.real = xp, cells, box, real
        full = 2.0 * numpy.pi / box * numpy.fft.fftfreq(cells, 1.0 / cells)
        half = 2.0 * numpy.pi / box * numpy.fft.rfftfreq(cells, 1.0 / cells)
        shapes = ((-1, 1, 1), (1, -1, 1), (1, 1, -1))
        self.k = [xp.asarray(k, dtype=real).reshape(shape) for k, shape in zip((full, full, half), shapes)]

    def forward(self, field):
        return self.xp.fft.rfftn(field)

    def inverse(self, modes):
        return self.xp.fft.irfftn(modes, s=(self.cells,) * 3).astype(self.real, copy=False)

    def k_squared(self):
        return self.k[0] ** 2 + self.k[1] ** 2 + self.k[2] ** 2

    def inverse_laplacian(self):
        """1 / k^2, and 0 for the mean."""
        k_squared = self.k_squared()
        k_squared[0, 0, 0] = 1.0
        kernel = 1.0 / k_squared
        kernel[0, 0, 0] = 0.0
        return kernel

    def derivative(self):
        """Wave numbers of the exact first derivative, per axis; that of the Nyquist wave vanishes at the nodes."""
        nyquist = numpy.pi / self.box * self.cells
        return [self.xp.where(self.xp.abs(k) > 0.999 * nyquist, self.real(0), k) for k in self.k]

    def difference(self):
        """Wave numbers of the four-point difference (8 (f1 - f-1) - (f2 - f-2)) / 12h, per axis."""
        h = self.box / self.cells
        return [(8.0 * self.xp.sin(k * h) - self.xp.sin(2.0 * k * h)) / (6.0 * h) for k in self.k]

    def deconvolution(self):
        """Undoes the smoothing by a cloud-in-cell deposit, sinc^2 per axis."""
        window = 1.0
        for k in self.k:
            window = window * self.xp.sinc(k * (self.box / self.cells / (2.0 * numpy.pi)))
        return window**-2

    def corners(self, positions):
        """Flat cell index and weight of the eight cloud-in-cell neighbours of each particle."""
        xp, cells = self.xp, self.cells
        scaled = positions * (cells / self.box)
        lower = xp.floor(scaled)
        upper_weight = scaled - lower
        lower = lower.astype(xp.int64) % cells
        upper = (lower + 1) % cells
        axes = [((lower[:, i], 1 - upper_weight[:, i]), (upper[:, i], upper_weight[:, i])) for i in range(3)]
        for x, weight_x in axes[0]:
            for y, weight_y in axes[1]:
                plane = (x * cells + y) * cells
                weight_xy = weight_x * weight_y
                for z, weight_z in axes[2]:
                    yield plane + z, weight_xy * weight_z

    def density(self, positions):
        """Density contrast of the particles by cloud-in-cell."""
        total = self.xp.zeros(self.cells**3, dtype=self.real)
        for begin in range(0, len(positions), CHUNK):
            for cell, weight in self.corners(positions[begin:begin + CHUNK]):
                total += self.xp.bincount(cell, weights=weight, minlength=len(total)).astype(self.real, copy=False)
        total *= self.cells**3 / len(positions)
        total -= 1
        return total.reshape((self.cells,) * 3)

    def interpolate(self, field, positions):
        values = self.xp.zeros(len(positions), dtype=self.real)
        flat = field.reshape(-1)
        for begin in range(0, len(positions), CHUNK):
            for cell, weight in self.corners(positions[begin:begin + CHUNK]):
                values[begin:begin + CHUNK] += weight * flat[cell]
        return values


class Gravity:
    """The displacement field psi with div psi = -delta, at the particles: what pulls them, per unit of growth.

    The lattice of the particles is half as fine as the mesh, so a long wave also shows as a satellite near the mesh's
    Nyquist frequency, which pulls back at the long wave. Differences instead of the exact derivative silence it, and
    only the deposit is deconvolved. So the growth of long waves is right within 1 %, of waves of 5 spacings within 3 %.
    """

    def __init__(self, mesh):
        self.mesh = mesh
        self.kernel = mesh.inverse_laplacian() * mesh.deconvolution()
        self.difference = mesh.difference()

    def __call__(self, positions):
        modes = self.mesh.forward(self.mesh.density(positions)) * self.kernel
        pull = self.mesh.xp.empty_like(positions)
        for axis in range(3):
            pull[:, axis] = self.mesh.interpolate(self.mesh.inverse(1j * self.difference[axis] * modes), positions)
        return pull


def initial_conditions(mesh, cosmology, a, seed):
    """Positions and momenta at expansion factor a: a lattice of one particle per cell, moved by 2LPT.

    Lattice points are a quarter of a spacing into the cell, the centre of a cell of the twice finer force mesh: there
    each shares its mass evenly between the nodes, and the lattice itself is invisible.
    """
    xp, n, box, real = mesh.xp, mesh.cells, mesh.box, mesh.real
    # Noise is drawn by numpy, plane by plane, so that a seed means the same universe on every backend.
    random = numpy.random.default_rng(seed)
    noise = xp.empty((n, n, n), dtype=real)
    for plane in range(n):
        noise[plane] = xp.asarray(random.standard_normal((n, n)), dtype=real)
    k = xp.sqrt(mesh.k_squared())
    k[0, 0, 0] = 1.0
    modes = mesh.forward(noise) * xp.sqrt(cosmology.power(k) * (n / box) ** 3).astype(real)
    modes[0, 0, 0] = 0.0
    del noise, k

    # Scoccimarro 1998, appendix D: x = q - D1 grad phi1 + D2 grad phi2, laplacian phi1 = delta,
    # laplacian phi2 = sum over i < j of phi1,ii phi1,jj - phi1,ij^2, D2 = -3/7 D1^2 omega^(-1/143).
    potential = -modes * mesh.inverse_laplacian()
    derivative = mesh.derivative()
    second = xp.zeros((n, n, n), dtype=real)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        second += (mesh.inverse(-mesh.k[i] ** 2 * potential) * mesh.inverse(-mesh.k[j] ** 2 * potential)
                   - mesh.inverse(-derivative[i] * derivative[j] * potential) ** 2)
    second_potential = -mesh.forward(second) * mesh.inverse_laplacian()
    del second

    omega = cosmology.matter_fraction(a)
    growth1 = float(cosmology.growth(a))
    growth2 = float(-3.0 / 7.0 * growth1**2 * omega ** (-1.0 / 143.0))
    rate1 = float(cosmology.growth_rate(a))
    rate2 = float(growth2 / a * 2.0 * omega ** (6.0 / 11.0))
    to_momentum = float(a**3 * cosmology.expansion(a))
    lattice = (xp.arange(n, dtype=real) + real(0.25)) * (box / n)
    positions = xp.empty((n**3, 3), dtype=real)
    momenta = xp.empty((n**3, 3), dtype=real)
    for axis, shape in enumerate(((-1, 1, 1), (1, -1, 1), (1, 1, -1))):
        gradient1 = mesh.inverse(1j * derivative[axis] * potential)
        gradient2 = mesh.inverse(1j * derivative[axis] * second_potential)
        moved = lattice.reshape(shape) - growth1 * gradient1 + growth2 * gradient2
        positions[:, axis] = (moved % box).reshape(-1)
        momenta[:, axis] = (to_momentum * (-rate1 * gradient1 + rate2 * gradient2)).reshape(-1)
    return positions, momenta


def evolve(gravity, cosmology, positions, momenta, expansion_factors, progress):
    """Kick, drift, kick between the given expansion factors, in place. Feng et al. 2016, section 2.3.

    To first order momenta are G psi and positions are q + D psi for a constant psi. The factors are the changes of G
    and D, divided by the D or G at which pull and momenta are known: linear growth has no error for any step.
    """
    box = gravity.mesh.box
    growth, momentum_growth = cosmology.growth, cosmology.momentum_growth
    pull = gravity(positions)
    for step, (begin, end) in enumerate(zip(expansion_factors[:-1], expansion_factors[1:]), start=1):
        middle = 0.5 * (begin + end)
        momenta += pull * float((momentum_growth(middle) - momentum_growth(begin)) / growth(begin))
        positions += momenta * float((growth(end) - growth(begin)) / momentum_growth(middle))
        positions %= box
        pull = gravity(positions)
        momenta += pull * float((momentum_growth(end) - momentum_growth(middle)) / growth(end))
        progress(step, end)


def write_snapshot(path, cosmology, box, a, positions, momenta):
    """Gadget-4 layout; velocities in Gadget's convention, peculiar velocity over the root of a."""
    import h5py

    count = len(positions)
    coordinates = positions.astype(numpy.float32)
    coordinates[coordinates >= numpy.float32(box)] = 0.0  # what rounding lifted onto the upper edge
    particles = numpy.array([0, count, 0, 0, 0, 0], dtype=numpy.uint64)
    masses = numpy.zeros(6)
    masses[1] = cosmology.omega_matter * CRITICAL_DENSITY * box**3 / count
    header = {"NumPart_ThisFile": particles, "NumPart_Total": particles, "MassTable": masses, "Time": float(a),
              "Redshift": 1.0 / a - 1.0, "BoxSize": float(box), "NumFilesPerSnapshot": numpy.int32(1)}
    parameters = {"Omega0": cosmology.omega_matter, "OmegaLambda": 1.0 - cosmology.omega_matter,
                  "OmegaBaryon": cosmology.omega_baryon, "HubbleParam": cosmology.hubble,
                  "UnitLength_in_cm": 3.085678e24, "UnitMass_in_g": 1.989e43, "UnitVelocity_in_cm_per_s": 1e5,
                  "ComovingIntegrationOn": numpy.int32(1)}
    with h5py.File(path, "w") as file:
        file.create_group("Header").attrs.update(header)
        file.create_group("Parameters").attrs.update(parameters)
        file.create_group("Config")  # Gadget-4 always has one, and is told by it
        group = file.create_group("PartType1")
        group["Coordinates"] = coordinates
        group["Velocities"] = (momenta * (HUBBLE / a**1.5)).astype(numpy.float32)
        group["ParticleIDs"] = numpy.arange(1, count + 1, dtype=numpy.uint32 if count < 2**32 else numpy.uint64)


def steps_between(a_begin, a_end, steps):
    """Steps of equal length in the root of a: finer in ln a early, finer in a late."""
    return numpy.linspace(a_begin**0.5, a_end**0.5, steps + 1) ** 2


def simulate(arguments, progress, cosmology):
    """Runs one box; returns positions at the start, positions and momenta at the end, as numpy arrays."""
    xp, real = numpy, numpy.float64
    to_host = numpy.asarray
    if arguments.backend == "cupy":
        import cupy
        xp, real, to_host = cupy, numpy.float32, cupy.asnumpy
    a_begin = 1.0 / (1.0 + arguments.start_redshift)
    lattice_mesh = Mesh(xp, arguments.n, arguments.box, real)
    positions, momenta = initial_conditions(lattice_mesh, cosmology, a_begin, arguments.seed)
    del lattice_mesh
    start = to_host(positions.copy())
    gravity = Gravity(Mesh(xp, 2 * arguments.n, arguments.box, real))
    evolve(gravity, cosmology, positions, momenta, steps_between(a_begin, 1.0, arguments.steps), progress)
    return start, to_host(positions), to_host(momenta)


def measured_growth(n, box, start, end, k_limit):
    """Root of the ratio of powers, end over start, over all modes up to k_limit; and the number of modes."""
    mesh = Mesh(numpy, n, box, numpy.float64)
    k_squared = mesh.k_squared()
    large = (k_squared > 0) & (k_squared <= k_limit**2)
    powers = [numpy.sum(numpy.abs(mesh.forward(mesh.density(positions))[large]) ** 2) for positions in (start, end)]
    return numpy.sqrt(powers[1] / powers[0]), int(numpy.count_nonzero(large))


def check():
    """A small box of long waves, which stay linear: its power must grow as theory says, its momentum must stay."""
    arguments = argparse.Namespace(n=32, box=1024.0, seed=7, steps=20, start_redshift=49.0, backend="numpy")
    cosmology = Cosmology()
    start, end, momenta = simulate(arguments, lambda step, a: None, cosmology)
    k_limit = 0.03
    growth, modes = measured_growth(arguments.n, arguments.box, start, end, k_limit)
    expected = cosmology.growth(1.0) / cosmology.growth(1.0 / 50.0)
    drift = numpy.abs(momenta.mean(axis=0)).max() / numpy.sqrt((momenta**2).mean())
    outcomes = (
        ("sigma_8 of the spectrum", cosmology.rms_in_sphere(8.0), cosmology.sigma8, 1e-6),
        ("growth suppression today, against Carroll et al. 1992", cosmology.growth(0.001) / 0.001, growth_boost(), 0.01),
        (f"growth of {modes} modes up to k = {k_limit} h/Mpc", growth, expected, 0.03),
        ("mean momentum over its root mean square, plus 1", 1.0 + drift, 1.0, 1e-6),
    )
    good = True
    for name, value, wanted, tolerance in outcomes:
        fits = abs(value / wanted - 1.0) <= tolerance
        good = good and fits
        print(f"{'ok  ' if fits else 'FAIL'} {name}: {value:.7g}, expected {wanted:.7g} to {tolerance:g}")
    return 0 if good else 1


def growth_boost():
    """How much more growth an Einstein-de Sitter universe would show today: Carroll, Press & Turner 1992, equation 29."""
    matter, vacuum = Cosmology.omega_matter, 1.0 - Cosmology.omega_matter
    return 1.0 / (2.5 * matter / (matter ** (4.0 / 7.0) - vacuum + (1.0 + matter / 2.0) * (1.0 + vacuum / 70.0)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", nargs="?", default="cosmic_box.hdf5", help="snapshot to write (%(default)s)")
    parser.add_argument("--n", type=int, default=64, help="particles per side (%(default)s)")
    parser.add_argument("--box", type=float, help="side of the box in Mpc/h (default: n)")
    parser.add_argument("--steps", type=int, default=40, help="time steps (%(default)s)")
    parser.add_argument("--start-redshift", type=float, default=49.0, help="where 2LPT hands over (%(default)s)")
    parser.add_argument("--seed", type=int, default=2018, help="which universe (%(default)s)")
    parser.add_argument("--backend", choices=("numpy", "cupy"), default="numpy", help="who computes (%(default)s)")
    parser.add_argument("--check", action="store_true", help="measure growth and momentum in a small box, and exit")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    if arguments.box is None:
        arguments.box = float(arguments.n)
    if arguments.n < 2 or arguments.box <= 0 or arguments.steps < 1 or arguments.start_redshift <= 0:
        parser.error("--n must be 2 or more, --steps 1 or more, --box and --start-redshift above 0")

    began = time.monotonic()

    def progress(step, a):
        last = step == arguments.steps
        if last or sys.stderr.isatty():
            print(f"\rstep {step} of {arguments.steps}, redshift {1.0 / a - 1.0:.2f}, {time.monotonic() - began:.0f} s ",
                  end="\n" if last else "", file=sys.stderr, flush=True)

    cosmology = Cosmology()
    print(f"{arguments.n}^3 particles in a box of {arguments.box:g} Mpc/h, from redshift {arguments.start_redshift:g}",
          file=sys.stderr)
    _, positions, momenta = simulate(arguments, progress, cosmology)
    write_snapshot(arguments.output, cosmology, arguments.box, 1.0, positions, momenta)
    print(f"wrote {arguments.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
