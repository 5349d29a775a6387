"""The point sets that benchmarks run on. Same name, count, dimension and seed: same points, always.

make(name, count, dimension, dtype, seed) gives a PointSet: points in no order (all are shuffled), and the period of the
box they lie in, 0 for open space. The sets and where they come from:

  uniform          the unit box
  gaussian         one normal distribution
  lattice          integer coordinates: ties everywhere
  clustered        3/10 uniform, 7/10 in halos: dn/dm ~ m^-1.9, Navarro-Frenk-White profiles (ApJ 462, 563) of
                   concentration 8 and mean density 200
  soneira_peebles  a hierarchy of clumps within clumps (AJ 83, 845): 4 in each, 1.9 times smaller
  hilly            the Gaussian mixture of the CLOVER paper, section 4.1.2: uniform over the ground, heights around 1000
                   random peaks
  duplicates       nine tenths of the points share a hundredth as many places, the densest place holds a hundredth
  cosmic           a simulated universe today (cosmic_box.py), 3-D
and files of real points (FILES), where the folder of test data is present; or the path of any .npy file.
"""

import os
import pathlib
import types
from typing import NamedTuple

import numpy

SHARED_DATA = pathlib.Path(os.environ.get("KITH_SHARED_DATA") or
                           pathlib.Path(__file__).resolve().parents[2] / "shared" / "data")


class PointSet(NamedTuple):
    points: numpy.ndarray
    period: float


def _wrapped(places, dtype):
    points = (places - numpy.floor(places)).astype(dtype)
    points[points >= 1] = 0  # what rounding lifted onto the upper edge
    return PointSet(points, 1.0)


def _directions(random, count, dimension):
    normals = random.standard_normal((count, dimension))
    return normals / numpy.linalg.norm(normals, axis=1, keepdims=True)


def uniform(random, count, dimension, dtype):
    return PointSet(random.random((count, dimension), dtype=dtype), 1.0)


def gaussian(random, count, dimension, dtype):
    return PointSet(random.standard_normal((count, dimension), dtype=dtype), 0.0)


def lattice(random, count, dimension, dtype):
    side = int(numpy.ceil(count ** (1 / dimension)))
    while side**dimension < count:
        side += 1
    sites = random.permutation(side**dimension)[:count]
    return PointSet(numpy.stack(numpy.unravel_index(sites, (side,) * dimension), axis=1).astype(dtype), float(side))


def clustered(random, count, dimension, dtype):
    smallest, concentration, overdensity = 20.0, 8.0, 200.0
    largest = max(smallest, count / 20)
    in_halos = count - count * 3 // 10
    members = numpy.empty(0, dtype=numpy.int64)
    while members.sum() < in_halos:
        draws = random.random(max(16, in_halos // 50))
        masses = smallest * (1 - draws * (1 - (largest / smallest) ** -0.9)) ** (-1 / 0.9)
        members = numpy.append(members, numpy.ceil(masses).astype(numpy.int64))
    halo = numpy.repeat(numpy.arange(len(members)), members)[:in_halos]

    def enclosed(x):
        return numpy.log1p(x) - x / (1 + x)

    radii = numpy.linspace(0, concentration, 4097)
    shares = random.random(in_halos) * enclosed(concentration)
    radius = numpy.interp(shares, enclosed(radii), radii) / concentration
    virial_radius = (members / (overdensity * count) * 3 / (4 * numpy.pi)) ** (1 / dimension)
    places = random.random((len(members), dimension))[halo]
    places += (radius * virial_radius[halo])[:, None] * _directions(random, in_halos, dimension)
    return _wrapped(numpy.concatenate((random.random((count - in_halos, dimension)), places)), dtype)


def soneira_peebles(random, count, dimension, dtype):
    in_each, shrink, radius = 4, 1.9, 0.25
    levels = max(1, int(numpy.log(max(count / 16, 1)) / numpy.log(in_each)))
    places = random.random((-(-count // in_each**levels), dimension))
    for _ in range(levels):
        places = numpy.repeat(places, in_each, axis=0)
        distance = radius * random.random(len(places)) ** (1 / dimension)
        places += distance[:, None] * _directions(random, len(places), dimension)
        radius /= shrink
    return _wrapped(random.permutation(places)[:count], dtype)


def hilly(random, count, dimension, dtype):
    places = random.uniform(-1000, 1000, (count, dimension))
    peaks = random.uniform(-1000, 1000, 1000)
    places[:, -1] = peaks[random.integers(len(peaks), size=count)] + 100 * random.standard_normal(count)
    return PointSet(places.astype(dtype), 0.0)


def duplicates(random, count, dimension, dtype):
    sites = random.random((max(1, count // 100), dimension))
    places = sites[random.integers(len(sites), size=count)]
    alone = random.random(count) < 0.1
    places[alone] = random.random((int(alone.sum()), dimension))
    places[:count // 100] = 0.5
    return _wrapped(places, dtype)


def cosmic(random, count, dimension, dtype):
    """A random choice from the smallest box that has as many particles."""
    import cosmic_box

    side = max(2, round(count ** (1 / 3)))
    side += side**3 < count
    if dimension != 3 or side > 160:
        raise ValueError("cosmic boxes are 3-D and have at most 160^3 = 4,096,000 points here")
    arguments = types.SimpleNamespace(n=side, box=float(side), seed=2018, steps=40, start_redshift=49.0, backend="numpy")
    _, positions, _ = cosmic_box.simulate(arguments, lambda step, a: None, cosmic_box.Cosmology())
    return _wrapped(positions[random.permutation(len(positions))[:count]] / side, dtype)


SETS = {make.__name__: make for make in (uniform, gaussian, lattice, clustered, soneira_peebles, hilly, duplicates, cosmic)}


def _tipsy_dark(path):
    header = numpy.fromfile(path, dtype=">i4", count=7, offset=8)
    gas, dark = int(header[2]), int(header[3])
    rows = numpy.fromfile(path, dtype=">f4", count=9 * dark, offset=32 + 48 * gas)
    return (rows.reshape(-1, 9)[:, 1:4] + 0.5) % 1.0, 1.0  # the box is centred on 0


def _igea(path):
    data = path.read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    header = data[:start].decode()
    count = int(header.split("element vertex ")[1].split()[0])
    fields = [line.split() for line in header.split("element vertex")[1].split("element")[0].splitlines()[1:]]
    order = ">" if "big_endian" in header else "<"
    kinds = {"float": "f4", "double": "f8", "uchar": "u1", "int": "i4"}
    record = numpy.dtype([(name, order + kinds[kind]) for _, kind, name in (f for f in fields if len(f) == 3)])
    vertices = numpy.frombuffer(data, dtype=record, count=count, offset=start)
    return numpy.stack([vertices[axis] for axis in "xyz"], axis=1), 0.0


def _bunny(path):
    rows = [line.split()[1:4] for line in path.read_text().splitlines() if line.startswith("v ")]
    return numpy.array(rows, dtype=numpy.float64), 0.0


def _galaxies(path):
    """Right ascension, declination, redshift as a velocity: a Fortran record of float64 each."""
    data = path.read_bytes()
    columns, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        columns.append(data[at + 4:at + 4 + size])
        at += size + 8
    ra, dec, velocity = (numpy.frombuffer(c, dtype="<f8") for c in [c for c in columns if len(c) > 1000][:3])
    ra, dec, distance = numpy.radians(ra), numpy.radians(dec), velocity / 100
    unit = numpy.stack((numpy.cos(dec) * numpy.cos(ra), numpy.cos(dec) * numpy.sin(ra), numpy.sin(dec)), axis=1)
    return distance[:, None] * unit, 0.0


def _airborne_laser(path):
    data = path.read_bytes()
    start, = numpy.frombuffer(data, dtype="<u4", count=1, offset=96)
    length, count = int.from_bytes(data[105:107], "little"), int.from_bytes(data[107:111], "little")
    scale = numpy.frombuffer(data, dtype="<f8", count=3, offset=131)
    records = numpy.frombuffer(data, dtype=numpy.uint8, count=count * length, offset=int(start)).reshape(count, length)
    places = records[:, :12].copy().view("<i4") * scale
    return places - places.min(axis=0), 0.0


FILES = {
    "file:halos": ("tipsy/lambs30K_density.std", _tipsy_dark),
    "file:cosmological": ("particles/hfof_cosmo32768.u16",
                          lambda path: (numpy.fromfile(path, dtype="<u2").reshape(-1, 3) / 65536.0, 1.0)),
    "file:plummer": ("particles/amuse_plummer16k.in",
                     lambda path: (numpy.loadtxt(path, skiprows=3, usecols=(2, 3, 4)), 0.0)),
    "file:galaxies": ("particles/corrfunc_Mr19_rdcz.ff", _galaxies),
    "file:plane": ("particles/hdbscan_clusterable_data.npy", lambda path: (numpy.load(path), 0.0)),
    "file:scan": ("pointcloud/igea.ply", _igea),
    "file:bunny": ("pointcloud/stanford_bunny.obj", _bunny),
    "file:landscape": ("pointcloud/autzen_trim_7.las", _airborne_laser),
}


def files_present():
    return [name for name, (path, _) in FILES.items() if (SHARED_DATA / path).exists()]


def _from_file(path, read, dtype, seed):
    points, period = read(path)
    if points.ndim != 2 or not 2 <= points.shape[1] <= 8:
        raise ValueError(f"{path} is no array of points in 2 to 8 dimensions; its shape is {points.shape}")
    points = numpy.ascontiguousarray(points, dtype=dtype)
    return PointSet(numpy.random.default_rng(seed).permutation(points), period)


def make(name, count, dimension, dtype, seed=1):
    if name in SETS:
        random = numpy.random.default_rng([seed, dimension])
        points, period = SETS[name](random, count, dimension, numpy.dtype(dtype))
        return PointSet(random.permutation(points), period)
    if name in FILES:
        path, read = FILES[name]
        if name not in files_present():
            raise ValueError(f"{SHARED_DATA / path} is absent; set KITH_SHARED_DATA to the folder of test data")
        return _from_file(SHARED_DATA / path, read, dtype, seed)
    if name.endswith(".npy"):
        return _from_file(pathlib.Path(name), lambda path: (numpy.load(path), 0.0), dtype, seed)
    raise ValueError(f"there are no points '{name}'; there are {', '.join(SETS)}, {', '.join(FILES)}, and .npy files")
