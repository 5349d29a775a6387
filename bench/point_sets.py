"""The point sets that benchmarks run on. Same name, count, dimension and seed: same points, always.

make(name, count, dimension, dtype, seed) gives a PointSet: points in no order (all are shuffled), and the period of the
box they lie in, 0 for open space. The sets and where they come from:

  uniform, gaussian, lattice, clustered, soneira_peebles, duplicates
                   those of kith.datasets
  hilly            its hills
  cosmic           its cosmic_box, in the unit box: a simulated universe today, 3-D
and files of real points (FILES), where the folder of test data is present; or the path of any .npy file.
"""

import os
import pathlib
from typing import NamedTuple

import environment
import numpy

datasets = environment.datasets()

SHARED_DATA = pathlib.Path(os.environ.get("KITH_SHARED_DATA") or
                           pathlib.Path(__file__).resolve().parents[2] / "shared" / "data")


class PointSet(NamedTuple):
    points: numpy.ndarray
    period: float


def _cosmic(count, dimension, seed, dtype):
    """A random choice from the smallest box that has as many particles, in the unit box."""
    side = max(2, round(count ** (1 / 3)))
    side += side**3 < count
    if dimension != 3 or side > 160:
        raise ValueError("cosmic boxes are 3-D and have at most 160^3 = 4,096,000 points here")
    random = numpy.random.default_rng([seed, dimension])
    positions = datasets.cosmic_box(side, dtype=numpy.float64).positions
    chosen = positions[random.permutation(len(positions))[:count]]
    return random.permutation(datasets.random_points.wrapped(chosen / side, dtype))


SETS = ("uniform", "gaussian", "lattice", "clustered", "soneira_peebles", "hilly", "duplicates", "cosmic")


def _tipsy_dark(path):
    header = numpy.fromfile(path, dtype=">i4", count=7, offset=8)
    gas, dark = int(header[2]), int(header[3])
    rows = numpy.fromfile(path, dtype=">f4", count=9 * dark, offset=32 + 48 * gas)
    return (rows.reshape(-1, 9)[:, 1:4] + 0.5) % 1.0, 1.0  # the box is centerd on 0


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
    if name == "cosmic":
        return PointSet(_cosmic(count, dimension, seed, dtype), 1.0)
    if name in SETS:
        name = "hills" if name == "hilly" else name
        points = datasets.POINT_SETS[name](count, dimension, seed=seed, dtype=dtype)
        return PointSet(points, datasets.box_of(name, count, dimension) or 0.0)
    if name in FILES:
        path, read = FILES[name]
        if name not in files_present():
            raise ValueError(f"{SHARED_DATA / path} is absent; set KITH_SHARED_DATA to the folder of test data")
        return _from_file(SHARED_DATA / path, read, dtype, seed)
    if name.endswith(".npy"):
        return _from_file(pathlib.Path(name), lambda path: (numpy.load(path), 0.0), dtype, seed)
    raise ValueError(f"there are no points '{name}'; there are {', '.join(SETS)}, {', '.join(FILES)}, and .npy files")
