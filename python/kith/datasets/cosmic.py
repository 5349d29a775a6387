"""A cosmological box to find halos in: dark matter only, flat LCDM, from the first growth of structure to today.

n^3 particles start from a lattice, displaced by second-order Lagrangian perturbation theory, and fall under their own
gravity, solved on a particle mesh of 2n cells per side (simulation.py and particle_mesh.py name the sources). The halos
are as sharp as the mesh, half the mean separation: good for finding groups, too puffy for their inner profiles.
"""

import importlib
import os
import pathlib
from types import SimpleNamespace

import numpy

from .arguments import positive, real_type, whole
from .cosmology import Cosmology
from .particle_mesh import Gravity, Mesh
from .simulation import evolve, initial_conditions, steps_between

HUBBLE = 100.0  # km/s per Mpc/h


def cosmic_box(n=64, box=None, *, seed=2018, steps=40, start_redshift=49.0, cosmology=None, backend="numpy", dtype=None,
               progress=None):
    """Simulates a universe of n^3 particles of dark matter in a periodic box, until today.

    Parameters
    ----------
    n : int
        Particles per side, 2 or more. 64 takes about 20 seconds on one core.
    box : float, optional
        Side of the box in comoving Mpc/h; by default n, with which a particle has 8.6e10 Msun/h.
    seed : int
        Which universe.
    steps : int
        In time, 1 or more.
    start_redshift : float
        Where perturbation theory hands over.
    cosmology : Cosmology, optional
        By default that of Planck 2018.
    backend : "numpy" or "cupy"
        Who computes, and whose arrays the result has. CuPy computes in single precision, on the GPU.
    dtype : float32 or float64, optional
        Of the result; by default float32, as snapshots have it.
    progress : callable, optional
        A function of the redshift that has been reached and the fraction of the steps that is done.

    Returns
    -------
    CosmicBox
        Which `kith.fof` and `kith.knn` take as it is.

    Examples
    --------
    >>> import kith
    >>> universe = kith.datasets.cosmic_box(16, 32)
    >>> universe
    <CosmicBox of 4096 particles, 32 Mpc/h wide>
    >>> labels, halos = kith.fof(universe, b=0.2, return_catalog=True)
    >>> halos.velocity.shape[1]
    3
    """
    n, steps, seed = whole(n, "n", 2), whole(steps, "steps", 1), whole(seed, "seed", 0)
    box = positive(n if box is None else box, "box")
    start_redshift = positive(start_redshift, "start_redshift")
    dtype = real_type(numpy.float32 if dtype is None else dtype)
    if backend not in ("numpy", "cupy"):
        raise ValueError(f"backend is {backend!r}; it must be numpy or cupy")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is {progress!r}; it must be a function of (redshift, fraction)")
    if cosmology is not None and not isinstance(cosmology, Cosmology):
        raise TypeError(f"cosmology is of type {type(cosmology).__name__}; it must be a kith.datasets.Cosmology")
    cosmology = Cosmology() if cosmology is None else cosmology
    library = importlib.import_module(backend)
    real = library.float32 if backend == "cupy" else library.float64
    a_begin = 1.0 / (1.0 + start_redshift)
    positions, momenta = initial_conditions(Mesh(library, n, box, real), cosmology, a_begin, seed)
    gravity = Gravity(Mesh(library, 2 * n, box, real))
    evolve(gravity, cosmology, positions, momenta, steps_between(a_begin, 1.0, steps), progress)
    positions = positions.astype(dtype, copy=False)
    positions[positions >= dtype.type(box)] = 0.0  # what rounding lifted onto the upper edge
    momenta *= HUBBLE
    return CosmicBox(positions, momenta.astype(dtype, copy=False), box, cosmology)


class CosmicBox:
    """A universe today. Its attributes are named as those of `kith.Snapshot`.

    Attributes
    ----------
    positions : shape (n, 3)
        In comoving Mpc/h, in [0, box).
    velocities : shape (n, 3)
        Peculiar, in km/s.
    uniform_mass : float
        Of a particle, in 1e10 Msun/h.
    box : float
        Its period, in comoving Mpc/h.
    cosmology : Cosmology
    """

    masses = None
    types = None

    def __init__(self, positions, velocities, box, cosmology):
        self.positions = positions
        self.velocities = velocities
        self.box = box
        self.cosmology = cosmology
        self.uniform_mass = cosmology.mean_density * box**3 / len(positions)

    @property
    def header(self):
        """As that of the snapshot which `write` makes, as far as units and cosmology go."""
        return SimpleNamespace(time=1.0, redshift=0.0, parameters={
            "Omega0": self.cosmology.omega_matter, "OmegaLambda": 1.0 - self.cosmology.omega_matter,
            "HubbleParam": self.cosmology.hubble}, frame={
                "scale_factor": 1.0, "length": (1.0, -1.0, 3.085678e24), "mass": (0.0, -1.0, 1.989e43),
                "velocity": (0.5, 0.0, 1e5)})

    def __len__(self):
        return len(self.positions)

    def __repr__(self):
        return f"<CosmicBox of {len(self)} particles, {self.box:g} Mpc/h wide>"

    def write(self, path):
        """Writes a snapshot in the HDF5 layout of Gadget-4, by h5py; positions and velocities as float32.

        Parameters
        ----------
        path : str or path

        Examples
        --------
        >>> import kith
        >>> kith.datasets.cosmic_box(16).write("universe.hdf5")     # doctest: +SKIP
        >>> snapshot = kith.read("universe.hdf5")                   # doctest: +SKIP
        """
        import h5py

        count = len(self)
        positions = _on_host(self.positions).astype(numpy.float32)
        positions[positions >= numpy.float32(self.box)] = 0.0
        particles = numpy.array([0, count, 0, 0, 0, 0], dtype=numpy.uint64)
        masses = numpy.zeros(6)
        masses[1] = self.uniform_mass
        header = {"NumPart_ThisFile": particles, "NumPart_Total": particles, "MassTable": masses, "Time": 1.0,
                  "Redshift": 0.0, "BoxSize": self.box, "NumFilesPerSnapshot": numpy.int32(1)}
        cosmology = self.cosmology
        parameters = {"Omega0": cosmology.omega_matter, "OmegaLambda": 1.0 - cosmology.omega_matter,
                      "OmegaBaryon": cosmology.omega_baryon, "HubbleParam": cosmology.hubble,
                      "UnitLength_in_cm": 3.085678e24, "UnitMass_in_g": 1.989e43, "UnitVelocity_in_cm_per_s": 1e5,
                      "ComovingIntegrationOn": numpy.int32(1)}
        unfinished = pathlib.Path(f"{os.fspath(path)}.part")
        try:
            with h5py.File(unfinished, "w") as file:
                file.create_group("Header").attrs.update(header)
                file.create_group("Parameters").attrs.update(parameters)
                file.create_group("Config").attrs["PERIODIC"] = numpy.bytes_("")  # readers recognize Gadget-4 by it
                group = file.create_group("PartType1")
                group["Coordinates"] = positions
                # Gadget's velocities are peculiar ones over the root of the expansion factor, which is 1 today.
                group["Velocities"] = _on_host(self.velocities).astype(numpy.float32)
                group["ParticleIDs"] = numpy.arange(1, count + 1, dtype=numpy.uint32 if count < 2**32 else numpy.uint64)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def _on_host(array):
    return array.get() if hasattr(array, "get") else array
