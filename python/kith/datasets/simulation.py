"""How cold matter falls together: initial conditions and steps in time.

Sources, cited at the place of use:
  Bouchet et al. 1995; Scoccimarro 1998        second-order initial conditions
  Feng et al. 2016 (FastPM, MNRAS 463, 2273)   kick and drift factors that keep linear growth exact at any step length

Lengths are comoving Mpc/h, momenta p = a^2 dx/dt are in H0 Mpc/h = 100 km/s, times in 1/H0.
Cost: the Fourier transforms of the mesh, four a step.
"""

import numpy


def initial_conditions(mesh, cosmology, a, seed):
    """Positions and momenta at expansion factor a: a lattice of one particle per cell, moved by 2LPT.

    Lattice points are a quarter of a spacing into the cell, the center of a cell of the twice finer force mesh: there
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


def evolve(gravity, cosmology, positions, momenta, expansion_factors, progress=None):
    """Kick, drift, kick between the given expansion factors, in place. Feng et al. 2016, section 2.3.

    To first order momenta are G psi and positions are q + D psi for a constant psi. The factors are the changes of G
    and D, divided by the D or G at which pull and momenta are known: linear growth has no error for any step.
    `progress` is a function of the redshift and the fraction of the steps that is done.
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
        if progress is not None:
            progress(1 / end - 1, step / (len(expansion_factors) - 1))


def steps_between(a_begin, a_end, steps):
    """Steps of equal length in the root of a: finer in ln a early, finer in a late."""
    return numpy.linspace(a_begin**0.5, a_end**0.5, steps + 1) ** 2
