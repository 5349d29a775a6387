#!/usr/bin/env python3
"""Remakes the evaluation of the CLOVER paper on this machine: clover.py [--quick], figures 2, 13 to 22 and tables 1 to 3.

Source: V. Kamel, H. Yan, S. Chester, CLOVER: A GPU-native, Spatio-graph-based Approach to Exact kNN (ICS 2025). The paper
has a GPU; here it is a CPU, so seconds are not comparable, but work and curves are. Its synthetic points (UNI, GMM) are
drawn as it says. Its real points are not at hand: others like them are made (SETS below says which), and real scans are
added where the folder of test data is present.

What is compared (a method that is missing or not built for a dimension is named and left out):
  clover           kith's engine, cells on several levels; flat:H is the published form with H hubs, and skips cells by
                   their boxes; flat-plain:H does not
  tree, kdtree, brute                kith's other engines: its default, a k-d tree, all pairs
  ..., GPU         with --device, and then only these, in figures 13 to 16 and 22 and tables 2 and 3: engines and the flat
                   form on a GPU, by the Python package, with points and rows in its memory if CuPy is installed, else
                   with copies from and to host memory
  nanoflann, grid  contest_nanoflann, a k-d tree, and contest_grid, a uniform grid
Rows of kith's methods must be the same bits; those of a GPU are compared with the CPU's, of large sets a sample. The
distances of the other two must agree with them.

Results go to bench/results/clover/figures.json, figures to docs/images. --plot FILE only draws. --quick takes about a
minute.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environment  # noqa: E402

environment.require("matplotlib", "numpy")
import contest
import figures
import numpy
import point_sets
from clover_drawing import DRAW, K, is_of_gpu, on_gpu, print_tables

HUBS = 1024  # the paper's default
PARTS = ("meshes", "sets", "sizes", "neighbors", "work", "hubs", "queries")
PEERS = ("nanoflann", "grid")
ON_GPU = ("sets", "sizes", "neighbors", "queries")  # parts with rows of a GPU
PATIENCE = 120  # seconds for a run of a peer
MOST_PAIRS = {False: 1.7e5**2, True: 2e4**2}  # of brute force; what is more is left out
MOST_FLAT = {False: 2_100_000**2, True: 300_000**2}  # the same of the flat form, whose time grows alike


def uniform(n, random):
    """UNI of section 4.1.2: even in (-5, 5), as its program has it."""
    return random.uniform(-5, 5, (n, 3))


def hills(n, random):
    """GMM of section 4.1.2."""
    return point_sets.datasets.hills(n, seed=int(random.integers(1 << 31)), dtype=numpy.float64)


def surface(n, random):
    """Points on a closed surface, in place of a scan: a sphere, dented at random and stretched."""
    unit = random.standard_normal((n, 3))
    unit /= numpy.linalg.norm(unit, axis=1, keepdims=True)
    radius = numpy.ones(n)
    for wave in range(1, 13):
        radius += 0.25 / wave * numpy.sin(unit @ (wave * random.standard_normal(3)) + random.uniform(0, 6.28))
    return unit * numpy.maximum(radius, 0.1)[:, None] * random.uniform(0.4, 1, 3)


def street(n, random):
    """What a laser that turns on a car sees, in place of KITTI: 64 beams, the ground, walls at both sides, cars."""
    azimuth = random.uniform(0, 2 * numpy.pi, n)
    slope = numpy.tan(numpy.radians(random.integers(64, size=n) * (26.8 / 63) - 24.8))
    across = numpy.abs(numpy.sin(azimuth)) + 1e-9
    wall = random.uniform(6, 30, 128)[(azimuth / (2 * numpy.pi) * 128).astype(int)] / across
    cars = random.uniform(4, 60, 400)[(azimuth / (2 * numpy.pi) * 400).astype(int)]
    reach = numpy.minimum(wall, numpy.where(random.random(n) < 0.5, cars, numpy.inf))
    reach = numpy.where(slope < 0, numpy.minimum(reach, -1.73 / numpy.minimum(slope, -1e-9)), reach)
    reach = numpy.minimum(reach, 120) + 0.02 * random.standard_normal(n)
    return numpy.stack([reach * numpy.cos(azimuth), reach * numpy.sin(azimuth), reach * slope], axis=1)


def household(n, random):
    """Readings of a meter, rounded as it rounds them, in place of Household: many of them are equal."""
    power = numpy.exp(0.6 * random.standard_normal(n)) * numpy.where(random.random(n) < 0.6, 0.3, 1.6)
    volts = 240 + 3 * random.standard_normal(n)
    reactive = numpy.where(random.random(n) < 0.2, 0, numpy.abs(0.15 * random.standard_normal(n)))
    rows = (power / 0.002, reactive / 0.002, volts / 0.01, 1000 * power / volts / 0.2)
    return numpy.round(numpy.stack(rows, axis=1)) * (0.002, 0.002, 0.01, 0.2)


def galaxies(n, random):
    """A fractal of clusters (Soneira and Peebles), in place of the Millennium simulation's galaxies."""
    return point_sets.datasets.soneira_peebles(n, seed=int(random.integers(1 << 31)), dtype=numpy.float64)


# Table 1: the paper's abbreviation, its points, ours, how many, how many with --quick.
SETS = [("BUN", "Stanford Bunny", surface, 362_272, 36_000), ("KIT", "KITTI-1M", street, 1_000_000, 50_000),
        ("BUD", "Happy Buddha", surface, 4_586_124, 100_000), ("GXY", "Galaxy-10M", galaxies, 9_925_229, 100_000),
        ("HH", "Household", household, 2_049_280, 50_000), ("UNI", "uniform", uniform, 1_000_000, 50_000),
        ("GMM", "hills", hills, 1_000_000, 50_000)]
REAL = ["file:scan", "file:landscape", "file:bunny"]


class Measurements:
    def __init__(self, arguments, scratch):
        self.quick, self.threads, self.scratch = arguments.quick, arguments.threads, scratch
        self.program, self.peers = arguments.program, arguments.peers
        self.chosen, self.device = arguments.sets, arguments.device
        if self.device:
            self.kith, self.gpu = figures.require_kith("clover.py", self.device), figures.Gpu(self.device)
        self.rows, self.left_out, self.saved = [], {}, {}

    def file(self, name, make, n):
        """A file of n points, made once."""
        key = f"{name}-{n}"
        if key not in self.saved:
            points = make(n, numpy.random.default_rng([7, n]))
            path = self.scratch / f"{key}.npy"
            numpy.save(path, numpy.ascontiguousarray(points, dtype=numpy.float32))
            self.saved[key] = path
        return self.saved[key]

    def real_file(self, name):
        path = self.scratch / (name.replace(":", "-") + ".npy")
        if not path.exists():
            numpy.save(path, point_sets.make(name, 0, 3, numpy.float32).points)
        return path

    def sets(self, real=True):
        for name, _, make, n, quick_n in SETS:
            if name not in self.chosen:
                continue
            yield name, self.file(name, make, quick_n if self.quick else n)
        for name in REAL if real else ():
            if name not in self.chosen:
                continue
            if name in point_sets.files_present():
                yield name, self.real_file(name)
            else:
                self.left_out[f"13: {name}"] = "not in the folder of test data"

    def ask(self, **settings):
        """One answer of bench_clover; None, and why, where it has none."""
        command = [self.program, *(f"{name}={value}" for name, value in settings.items()), f"threads={self.threads}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 and "dimensions" in done.stderr:
            return None, done.stderr.strip().removeprefix("bench_clover: ")
        if done.returncode != 0:
            sys.exit(f"clover.py: {done.stderr.strip()}")
        return json.loads(done.stdout), None

    def time(self, figure, name, path, methods, k=K, queries=0, peers=True, **more):
        """A row for each method, in one run of the program, and one for each peer."""
        points = numpy.load(path, mmap_mode="r")
        n, d = points.shape
        asked = min(queries, n) if queries else n
        if n * asked > MOST_PAIRS[self.quick]:
            methods = [method for method in methods if method != "brute"]
        if n * asked > MOST_FLAT[self.quick]:
            methods = [method for method in methods if not method.startswith("flat")]
        if self.device:
            self.time_on_gpu(figure, name, points, methods, k, queries, more.get("long", 1))
            return
        distances = self.scratch / "expected.npy"
        answers, trouble = self.ask(points=path, k=k, methods=",".join(methods), queries=queries, rows=distances, **more)
        if answers is None:
            self.left_out[f"{figure}: {name}"] = trouble
            print(f"  {figure}: {name} is left out: {trouble}")
            return
        for answer in answers:
            self.add(figure, name, n, d, k, asked, answer.pop("method"), answer.pop("seconds"), **answer)
        for peer, program in self.peers.items() if peers else ():
            try:
                seconds = self.time_peer(peer, program, path, k, queries, points, distances, more.get("long", 1))
                self.add(figure, name, n, d, k, asked, peer, seconds)
            except contest.Trouble as trouble:
                self.left_out[f"{figure}: {name}, {peer}"] = str(trouble)
                print(f"  {figure}: {name}, {peer} is left out: {trouble}")

    def time_on_gpu(self, figure, name, points, methods, k, queries, long):
        asked = queries or len(points)
        some = figures.compared(min(asked, len(points)))
        try:
            expected = self.kith.knn(numpy.array(points), k, numpy.array(points[:asked][some]))  # not timed
        except NotImplementedError as reason:
            self.left_out[f"{figure}: {name}"] = str(reason)
            print(f"  {figure}: {name} is left out: {reason}")
            return
        arrays = [self.gpu.array(points), self.gpu.array(points[:queries]) if queries else None]
        for method in methods:
            engine, _, hubs = method.partition(":")

            def search():
                if not hubs:
                    return self.kith.knn(arrays[0], k, arrays[1], engine=engine, device=self.device)
                return self.kith.Tree(arrays[0], engine="clover", clover="flat", hubs=int(hubs),
                                      device=self.device).query(arrays[1], k)

            try:
                first, found = self.gpu.timed(search)
            except (NotImplementedError, MemoryError, RuntimeError) as reason:
                self.left_out[f"{figure}: {name}, {on_gpu(engine)}"] = str(reason)
                print(f"  {figure}: {name}, {on_gpu(engine)} is left out: {reason}")
                continue
            if not all(numpy.array_equal(ours, figures.on_host(theirs[some])) for ours, theirs in zip(expected, found)):
                sys.exit(f"clover.py: the rows of {method} on a GPU are others; this is a defect of kith")
            del found
            seconds = [first] if first > long else [self.gpu.timed(search)[0] for _ in range(3)]
            self.add(figure, name, *points.shape, k, min(asked, len(points)), on_gpu(engine), seconds,
                     memory=self.gpu.memory)

    def time_peer(self, name, program, path, k, queries, points, distances, long):
        command = [program, f"points={path}", f"threads={self.threads}", f"k={k}"]
        if queries:
            numpy.save(self.scratch / "queries.npy", points[:queries])
            command.append(f"queries={self.scratch / 'queries.npy'}")
        peer = contest.Contestant(name, command, self.threads)
        try:
            seconds = [peer.ask("run", PATIENCE)["seconds"]]
            if seconds[0] <= long:
                seconds = [peer.ask("run", PATIENCE)["seconds"] for _ in range(3)]
            peer.ask(f"answer {self.scratch / 'theirs'}", 600)
        finally:
            peer.stop()
        theirs = numpy.load(self.scratch / "theirs.distances.npy", mmap_mode="r")
        if not numpy.allclose(theirs, numpy.load(distances, mmap_mode="r"), rtol=1e-5):
            sys.exit(f"clover.py: the distances of {name} are others")
        return seconds

    def add(self, figure, name, n, d, k, queries, method, seconds, **more):
        row = {"figure": figure, "set": name, "n": n, "d": d, "k": k, "queries": queries, "method": method,
               "median": statistics.median(seconds), "min": min(seconds), "max": max(seconds), "runs": len(seconds),
               "threads": self.threads, **more}
        self.rows.append(row)
        print(f"  {figure}: {name:<14} {n:>9,} points, k = {k:<3} {method:<10} {row['median']:.4f} s", flush=True)

    def count(self, figure, name, path, k, hubs, **settings):
        answers, trouble = self.ask(points=path, k=",".join(map(str, k)), work=hubs, **settings)
        if answers is None:
            self.left_out[f"{figure}: {name}"] = trouble
            return
        n, d = numpy.load(path, mmap_mode="r").shape
        for answer in answers:
            self.rows.append({"figure": figure, "set": name, "n": n, "d": d, "hubs": hubs, **settings, **answer})
            print(f"  {figure}: {name:<14} {n:>9,} points, k = {answer['k']:<3} {answer['points_per_query']:.0f} points and "
                  f"{answer['cells_per_query']:.1f} cells a query {settings or ''}", flush=True)

    def meshes(self):
        """Figure 2: 94 surfaces in place of those of Thingi10k, and the real scans of 100,000 points or more."""
        count, n = (6, 20_000) if self.quick else (94, 100_000)
        for mesh in range(count):
            path = self.scratch / "mesh.npy"
            numpy.save(path, surface(n, numpy.random.default_rng([11, mesh])).astype(numpy.float32))
            self.share(f"surface {mesh}", path)
        for name in REAL[:2]:
            if name in point_sets.files_present():
                self.share(name, self.real_file(name))

    def share(self, name, path):
        answers, _ = self.ask(points=path, k=K, work=HUBS, every=50)
        n = len(numpy.load(path, mmap_mode="r"))
        self.rows.append({"figure": "2", "set": name, "n": n, "d": 3, "hubs": HUBS, "k": K,
                          "points_per_query": answers[0]["points_per_query"]})
        print(f"  2: {name:<14} {n:>9,} points, {100 * answers[0]['points_per_query'] / n:.2f} % scanned", flush=True)

    def all_sets(self):
        """Figure 13 and tables 1 and 2, scans of these with fewer queries; with 10,000 queries, table 3."""
        for name, path in self.sets():
            self.time("13", name, path, ["clover", "tree", "kdtree", f"flat:{HUBS}", "brute"])
            if name in ("UNI", "GMM"):
                self.time("table 2", name, path, ["brute"], K, 5_000 if self.quick else 20_000, peers=False, long=10)
            for k in (10, 30):  # ratios: all warm
                self.time("table 3", name, path, ["clover", "tree", "kdtree", f"flat:{HUBS}"], k, 10_000, long=20)

    def sizes(self):
        """Figures 14 and 15; the largest sets only by methods whose time is near linear."""
        sizes = (10_000, 100_000) if self.quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
        for figure, name, make in (("14", "UNI", uniform), ("15", "GMM", hills)):
            for n in sizes:
                self.time(figure, name, self.file(name, make, n), ["clover", "tree", "kdtree", f"flat:{HUBS}", "brute"])
        if not self.quick:
            self.time("14", "UNI", self.file("UNI", uniform, 10_000_000), ["clover", "tree", "kdtree"], peers=False,
                      runs=1, long=60)

    def neighbors(self):
        """Figure 16."""
        path = self.file("UNI", uniform, 20_000 if self.quick else 1_000_000)
        for k in (10, 32, 64, 128):
            self.time("16", "UNI", path, ["clover", "tree", "kdtree", f"flat:{HUBS}"], k)

    def work(self):
        """Figures 17, 18 and 19: as published; then with cells skipped by their boxes, and with hubs spread."""
        for name, make in (("UNI", uniform), ("GMM", hills)):
            path = self.file(name, make, 20_000 if self.quick else 100_000)
            for settings in ({}, {"skip": 1}, {"spread": 1}):
                k = (16, 32, 64, 128) if not settings and name == "UNI" else (16,)
                self.count("17", name, path, k, 512, **settings)
        # The design's counts for k = 8, and what the library scans.
        path = self.file("UNI", uniform, 20_000 if self.quick else 100_000)
        for settings in ({}, {"skip": 1}):
            self.count("17", "UNI", path, (8,), 512, **settings)

    def hubs(self):
        """Figure 20, and 21: distances a second, which need points of all sizes."""
        for n in (20_000,) if self.quick else (100_000, 1_000_000):
            hubs = (128, 256, 512, 1024, 2048) if n < 1_000_000 else (512, 1024, 2048, 4096)
            path = self.file("UNI", uniform, n)
            self.time("20", "UNI", path, [f"flat:{h}" for h in hubs], peers=False)
            if n < 1_000_000:
                self.time("21", "UNI", path, ["brute", f"flat:{HUBS}", f"flat-plain:{HUBS}", f"spread:{HUBS}"],
                          peers=False)

    def queries(self):
        """Figure 22, k = 10."""
        for name, path in self.sets(real=False):
            n, d = numpy.load(path, mmap_mode="r").shape
            if d == 3:
                for share in (0.001, 0.01, 0.1, 1):
                    self.time("22", name, path, ["clover", "tree", "kdtree"], 10, max(1, round(share * n)))


MEASURE = {"meshes": Measurements.meshes, "sets": Measurements.all_sets, "sizes": Measurements.sizes,
           "neighbors": Measurements.neighbors, "work": Measurements.work, "hubs": Measurements.hubs,
           "queries": Measurements.queries}


def part_of(row):
    return {"2": "meshes", "13": "sets", "table 2": "sets", "table 3": "sets", "14": "sizes", "15": "sizes",
            "16": "neighbors", "17": "work", "20": "hubs", "21": "hubs", "22": "queries"}[row["figure"]]


def measure(arguments):
    arguments.peers = {}
    if not arguments.device:
        arguments.program = figures.program_at(arguments.program, "bench_clover")
        if arguments.program is None:
            sys.exit("clover.py: bench_clover is not built; configure with -DKITH_BENCHMARKS=ON, or give --program")
        found = {name: figures.program_at(getattr(arguments, name), f"contest_{name}") for name in PEERS}
        arguments.peers = {name: program for name, program in found.items() if program is not None}
        for name in found.keys() - arguments.peers.keys():
            print(f"{name} is left out: contest_{name} is not built")
    about = figures.about(arguments)
    with tempfile.TemporaryDirectory(prefix="kith-clover-") as folder:
        measurements = Measurements(arguments, pathlib.Path(folder))
        for part in arguments.parts:
            start = time.perf_counter()
            MEASURE[part](measurements)
            print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)
    return {**about, "left_out": measurements.left_out, "rows": measurements.rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures.add_options(parser, "clover", PARTS, "kith's methods, in figures 13 to 16 and 22 and tables 2 and 3")
    names = [*(row[0] for row in SETS), *REAL]
    parser.add_argument("--sets", nargs="+", choices=names, default=names,
                        help="of figure 13, 22 and the tables, these only; other rows are kept")
    parser.add_argument("--threads", type=int, default=2, help="of all methods (%(default)s)")
    parser.add_argument("--program", type=pathlib.Path, help="bench_clover (that of build/)")
    for name in PEERS:
        parser.add_argument(f"--{name}", type=pathlib.Path, help=f"contest_{name} (that of build/)")
    arguments = parser.parse_args()
    if arguments.plot:
        report = json.loads(arguments.plot.read_text())
    else:
        if arguments.device:
            arguments.parts = [part for part in arguments.parts if part in ON_GPU]
        before = figures.earlier(arguments)

        def is_measured(row):
            part = part_of(row)
            return part in arguments.parts and (row["set"] in arguments.sets or part not in ("sets", "queries"))

        report = figures.merged(figures.rounded(measure(arguments)), before, arguments.device,
                                lambda row: is_of_gpu(row.get("method", "")), is_measured)
        report = figures.write(report, arguments.output)
    print_tables(report["rows"])
    arguments.images.mkdir(parents=True, exist_ok=True)
    for first, draw in DRAW.items():
        if not any(row["figure"] == first for row in report["rows"]):
            print(f"{draw.__name__}: its rows are not among the results")
            continue
        for name, figure in draw(report["rows"]):
            path = arguments.images / f"{name}.png"
            figure.savefig(path, dpi=80)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
