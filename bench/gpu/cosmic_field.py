#!/usr/bin/env python3
"""A simulated universe today (kith.datasets.cosmic_box, on the GPU by CuPy) as raw float32, for bench_gpu --positions.

The width of the periodic box is 1; the particles are in random order. 256^3 particles take less than a minute on a large
GPU, most of it for the random numbers and the copies.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy

import environment


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=256, help="particles per side (%(default)s)")
    parser.add_argument("--steps", type=int, default=25, help="(%(default)s)")
    parser.add_argument("--backend", choices=("cupy", "numpy"), default="cupy")
    chosen = parser.parse_args()
    if chosen.n < 2 or chosen.steps < 1:
        parser.error("--n must be 2 or more, --steps 1 or more")
    universe = environment.datasets().cosmic_box(chosen.n, steps=chosen.steps, backend=chosen.backend, dtype="float64")
    positions = universe.positions.get() if chosen.backend == "cupy" else universe.positions
    points = (positions / chosen.n).astype(numpy.float32)
    points[(points >= 1) | (points < 0)] = 0  # what rounding lifted over an edge
    numpy.random.default_rng(1).permutation(points).tofile(chosen.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
