"""Points to try things on: seeded, so that the same call gives the same points, always.

Sets that fill a periodic box say so: `box_of` gives what the argument `box` of `kith.knn` and `kith.fof` takes.

| set             | what it is                                             | box     |
|-----------------|--------------------------------------------------------|---------|
| uniform         | evenly random                                          | 1       |
| gaussian        | one normal distribution                                | open    |
| lattice         | integer coordinates: ties everywhere                   | a side  |
| duplicates      | many points in few places                              | 1       |
| hills           | a ground with heights around a thousand peaks          | open    |
| clustered       | halos with Navarro-Frenk-White profiles in a field     | 1       |
| virialized      | the same with velocities: a flow, and dispersions      | 1       |
| soneira_peebles | clumps within clumps                                   | 1       |
| halo, halos     | halos in equilibrium, with their truth                 | in Mpc/h|
| cosmic_box      | a simulated universe, with velocities and masses       | in Mpc/h|

>>> import kith
>>> points = kith.datasets.clustered(10_000, seed=1)
>>> labels, halos = kith.fof(points, b=0.2, box=1, return_catalog=True)
>>> len(halos) > 50
True
"""

# Imports are relative, and of nothing else of kith: the benchmarks load this folder where kith is not built.
from .arguments import whole
from .clumps import clustered, soneira_peebles, virialized
from .cosmic import CosmicBox, cosmic_box
from .cosmology import Cosmology
from .mock_halos import MockHalos, halo, halos
from .plain import duplicates, gaussian, hills, lattice, uniform
from .random_points import lattice_side

POINT_SETS = {make.__name__: make for make in (uniform, gaussian, lattice, clustered, soneira_peebles, hills, duplicates)}


def box_of(name, count, dimension=3):
    """The periodic box that a set of points fills.

    Parameters
    ----------
    name : str
        One of `POINT_SETS`.
    count, dimension : int
        As they are given to the set.

    Returns
    -------
    float or None
        The period of every axis, with the origin at 0; None for sets in open space.

    Examples
    --------
    >>> import kith
    >>> kith.datasets.box_of("uniform", 1000)
    1.0
    >>> kith.datasets.box_of("lattice", 1000)
    10.0
    >>> kith.datasets.box_of("gaussian", 1000) is None
    True
    """
    count, dimension = whole(count, "count", 0), whole(dimension, "dimension", 1)
    if not isinstance(name, str) or name not in POINT_SETS:
        raise ValueError(f"there is no set {name!r}; the name must be one of {', '.join(POINT_SETS)}")
    if name == "lattice":
        return float(lattice_side(count, dimension))
    return None if name in ("gaussian", "hills") else 1.0


__all__ = ["CosmicBox", "Cosmology", "MockHalos", "POINT_SETS", "box_of", "clustered", "cosmic_box", "duplicates",
           "gaussian", "halo", "halos", "hills", "lattice", "soneira_peebles", "uniform", "virialized"]
