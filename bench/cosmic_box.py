#!/usr/bin/env python3
"""Simulates a universe (kith.datasets.cosmic_box) and writes it as a Gadget-4 style HDF5 snapshot, or checks how it grows.

n = 64 takes about 20 seconds on one core. --backend cupy runs on a GPU, in single precision.
"""

import argparse
import sys
import time

import environment
import numpy

datasets = environment.datasets()
Mesh = datasets.particle_mesh.Mesh


def measured_growth(n, box, start, end, k_limit):
    """Root of the ratio of powers, end over start, over all modes up to k_limit; and the number of modes."""
    mesh = Mesh(numpy, n, box, numpy.float64)
    k_squared = mesh.k_squared()
    large = (k_squared > 0) & (k_squared <= k_limit**2)
    powers = [numpy.sum(numpy.abs(mesh.forward(mesh.density(positions))[large]) ** 2) for positions in (start, end)]
    return numpy.sqrt(powers[1] / powers[0]), int(numpy.count_nonzero(large))


def check():
    """A small box of long waves, which stay linear: its power must grow as theory says, its momentum must stay."""
    n, box, seed, redshift = 32, 1024.0, 7, 49.0
    universe = datasets.cosmic_box(n, box, seed=seed, steps=20, start_redshift=redshift, dtype="float64")
    cosmology = universe.cosmology
    lattice = Mesh(numpy, n, box, numpy.float64)
    start, _ = datasets.simulation.initial_conditions(lattice, cosmology, 1 / (1 + redshift), seed)
    k_limit = 0.03
    growth, modes = measured_growth(n, box, start, universe.positions, k_limit)
    expected = cosmology.growth(1.0) / cosmology.growth(1 / (1 + redshift))
    drift = numpy.abs(universe.velocities.mean(axis=0)).max() / numpy.sqrt((universe.velocities**2).mean())
    outcomes = (
        ("sigma_8 of the spectrum", cosmology.rms_in_sphere(8.0), cosmology.sigma8, 1e-6),
        ("growth suppression today, against Carroll et al. 1992", cosmology.growth(0.001) / 0.001, growth_boost(cosmology),
         0.01),
        (f"growth of {modes} modes up to k = {k_limit} h/Mpc", growth, expected, 0.03),
        ("mean momentum over its root mean square, plus 1", 1.0 + drift, 1.0, 1e-6),
    )
    good = True
    for name, value, wanted, tolerance in outcomes:
        fits = abs(value / wanted - 1.0) <= tolerance
        good = good and fits
        print(f"{'ok  ' if fits else 'FAIL'} {name}: {value:.7g}, expected {wanted:.7g} to {tolerance:g}")
    return 0 if good else 1


def growth_boost(cosmology):
    """How much more growth an Einstein-de Sitter universe would show today: Carroll, Press & Turner 1992, equation 29."""
    matter, vacuum = cosmology.omega_matter, 1.0 - cosmology.omega_matter
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

    def progress(redshift, fraction):
        if fraction == 1 or sys.stderr.isatty():
            print(f"\rstep {round(fraction * arguments.steps)} of {arguments.steps}, redshift {redshift:.2f}, "
                  f"{time.monotonic() - began:.0f} s ", end="\n" if fraction == 1 else "", file=sys.stderr, flush=True)

    print(f"{arguments.n}^3 particles in a box of {arguments.box:g} Mpc/h, from redshift {arguments.start_redshift:g}",
          file=sys.stderr)
    universe = datasets.cosmic_box(arguments.n, arguments.box, seed=arguments.seed, steps=arguments.steps,
                                   start_redshift=arguments.start_redshift, backend=arguments.backend, progress=progress)
    universe.write(arguments.output)
    print(f"wrote {arguments.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
