#!/usr/bin/env python3
"""Measures bound halos of a mock beside Rockstar: whole processes, reading and writing included, and what they find.

    bench/halos.py                                      kith alone, 1e6 particles
    bench/halos.py --rockstar FOLDER/rockstar           both, and their halos compared
    bench/halos.py -n 4e6 --rounds 3 --output halos.json

The mock (kith.datasets.halos: half of the particles in halos, which move, in a uniform background) is written as a Gadget-2
snapshot, which both read. All commands run once a round, in turn, after a first round that warms up:

  kith fof       groups, b = 0.28 as Rockstar links, with a catalog
  kith halos     bound halos of these; on all cores, on one; with --unbind no
  rockstar       P. Behroozi's halo finder (https://bitbucket.org/gfcstanford/rockstar), one process: one core, no periods.
                 Halos at the edges of the box are cut for it, so those are left out of every comparison

Found is a true halo whose members are most of a halo's, and of which that halo has half. For each range of sizes: the share
found, the median and the scatter of M200c over the truth (by brute force on the realization), and the median distance of
the centers in R200c. Between both: numbers of halos above each mass, and the share of kith's halos whose members are most
of one of Rockstar's.
"""

import argparse
import datetime
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import environment

environment.require("numpy", "h5py")
if importlib.util.find_spec("kith") is None:
    sys.exit("halos.py: this Python has no kith; install it, or name the folder of a build: "
             "PYTHONPATH=build/dev/python bench/halos.py")
import h5py
import kith
import numpy

B, MIN_MEMBERS, EDGE = 0.28, 20, 2.0  # EDGE: of the box, in Mpc/h, within which Rockstar's halos are cut
RANGES = ((20, 30), (30, 100), (100, 1000), (1000, 10_000), (10_000, 10**9))
MASSES = (20, 50, 100, 300, 1000, 3000)  # particles
# A halo in Rockstar's binary output: what of it is used.
ROCKSTAR_HALO = numpy.dtype({"names": ["pos", "m200c", "num_p"], "formats": [("<f4", 3), "<f4", "<i8"],
                             "offsets": [8, 8 + 4 * 28, 200], "itemsize": 264})
ROCKSTAR_SETTINGS = """FILE_FORMAT = "GADGET2"
GADGET_LENGTH_CONVERSION = 1e-3
GADGET_MASS_CONVERSION = 1e10
FORCE_RES = {softening}
PERIODIC = 0
MIN_HALO_OUTPUT_SIZE = 20
OUTBASE = "{folder}"
OUTPUT_FORMAT = "BOTH"
"""


def write_gadget(path, mock):
    """Format 1, dark matter, in Gadget's usual units: kpc/h, 1e10 Msun/h, km/s."""
    count = len(mock)
    header = numpy.zeros(1, dtype=[("npart", "<u4", 6), ("mass", "<f8", 6), ("time", "<f8"), ("redshift", "<f8"),
                                   ("flags", "<i4", 2), ("total", "<u4", 6), ("more_flags", "<i4"), ("files", "<i4"),
                                   ("box", "<f8"), ("omega0", "<f8"), ("lambda", "<f8"), ("h", "<f8"), ("rest", "V96")])
    header["npart"][0, 1] = header["total"][0, 1] = count
    header["mass"][0, 1] = mock.uniform_mass
    header["time"], header["files"], header["box"] = 1, 1, 1e3 * mock.box
    cosmology = mock.cosmology
    header["omega0"], header["lambda"] = cosmology.omega_matter, 1 - cosmology.omega_matter
    header["h"] = cosmology.hubble
    blocks = (header.tobytes(), (1e3 * mock.positions).astype("<f4").tobytes(), mock.velocities.astype("<f4").tobytes(),
              numpy.arange(count, dtype="<u4").tobytes())
    with open(path, "wb") as file:
        for block in blocks:
            length = numpy.uint32(len(block)).tobytes()
            file.write(length + block + length)


# A small process starts what is measured, since Linux counts the memory of the one that starts another as the other's.
MEASURE = """
import json, os, sys, time
begin = time.perf_counter()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)])
_, status, usage = os.wait4(pid, 0)
print(json.dumps([time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status]))
"""


def run(command, folder):
    """Seconds by the clock, of all processors, and the peak of resident memory in MiB."""
    said = folder / "said"
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, said, *map(str, command)], cwd=folder, check=True,
                          capture_output=True, text=True)
    *measured, status = json.loads(done.stdout)
    if status != 0:
        raise RuntimeError(f"{command[0]} failed: {said.read_text(errors='replace').strip()[-300:]}")
    return measured


def kith_halos(path):
    """Centers in Mpc/h, M200c in 1e10 Msun/h, and the members of each bound halo: rows of the snapshot."""
    with h5py.File(path) as file:
        halos, groups = file["Subhalo"], file["Group"]
        of_group = halos["SubhaloGroupNr"][:]
        index, first = file["Members/Index"][:], numpy.concatenate([[0], numpy.cumsum(groups["GroupLen"][:])])
        members = [index[first[g]:first[g] + n] for g, n in zip(of_group, halos["SubhaloLen"][:])]
        return halos["SubhaloPos"][:] / 1e3, groups["Group_M_Crit200"][:][of_group], members


def rockstar_halos(folder):
    """The same of Rockstar, of the halos that it prints; members by the ids of the snapshot, which are its rows."""
    raw = (folder / "halos_0.0.bin").read_bytes()
    count = int(numpy.frombuffer(raw, "<i8", 1, 64)[0])
    halos = numpy.frombuffer(raw, ROCKSTAR_HALO, count, 256)
    ids = numpy.frombuffer(raw, "<i8", int(halos["num_p"].sum()), 256 + 264 * count)
    first = numpy.concatenate([[0], numpy.cumsum(halos["num_p"])])
    members = [ids[first[i]:first[i + 1]] for i in range(count)]
    return halos["pos"], halos["m200c"] / 1e10, members


def matches(members, halo_of, sizes):
    """Of each true halo, the row of the one that has at least half of its members and is mostly of them; or none."""
    rows = {}
    for row, own in enumerate(members):
        of_halos = halo_of[own][halo_of[own] >= 0]
        if len(of_halos) == 0:
            continue
        counts = numpy.bincount(of_halos)
        halo = int(counts.argmax())
        if 2 * counts[halo] >= sizes[halo] and 2 * counts[halo] > len(own):
            rows.setdefault(halo, row)
    return rows


class Truth:
    def __init__(self, mock, most):
        self.mock, self.most = mock, most
        self.sizes = numpy.bincount(mock.halo[mock.halo >= 0], minlength=len(mock.centers))
        inside = ((mock.centers > EDGE) & (mock.centers < mock.box - EDGE)).all(axis=1)
        self.ranges = [(least, end, numpy.flatnonzero(inside & (self.sizes >= least) & (self.sizes < end)))
                       for least, end in RANGES]
        self.spheres = {int(halo): mock.spherical_mass(int(halo)) for _, _, halos in self.ranges
                        for halo in halos[:most]}

    def recovery(self, found):
        centers, masses, members = found
        rows = matches(members, self.mock.halo, self.sizes)
        lines = []
        for least, end, halos in self.ranges:
            measured = [int(halo) for halo in halos[:self.most] if halo in rows]
            if not measured:
                continue
            ratios = numpy.array([masses[rows[halo]] / self.spheres[halo][0] for halo in measured])
            away = [numpy.linalg.norm(centers[rows[halo]] - self.mock.centers[halo]) / self.spheres[halo][1]
                    for halo in measured]
            lines.append({"from": least, "below": end, "halos": len(halos),
                          "found": sum(halo in rows for halo in halos) / len(halos),
                          "m200c_median": float(numpy.median(ratios)), "m200c_scatter": float(ratios.std()),
                          "center_median": float(numpy.median(away))})
        return lines


def compare(ours, theirs, box, particle_mass, count):
    """Numbers of halos above masses, and of kith's above 300 members that Rockstar has, too."""
    def counted(found):
        centers, masses, _ = found
        inside = ((centers > EDGE) & (centers < box - EDGE)).all(axis=1)
        return [int((masses[inside] >= least * particle_mass).sum()) for least in MASSES]

    owner = numpy.full(count, -1)
    for row, own in enumerate(theirs[2]):
        owner[own] = row
    large = [own for center, own in zip(ours[0], ours[2])
             if len(own) >= 300 and (center > EDGE).all() and (center < box - EDGE).all()]
    matched = 0
    for own in large:
        owners = owner[own][owner[own] >= 0]
        if len(owners):
            best = numpy.bincount(owners).argmax()
            shared = int((owners == best).sum())
            matched += 2 * shared > len(own) and 2 * shared > len(theirs[2][best])
    return {"above_particles": list(MASSES), "kith": counted(ours), "rockstar": counted(theirs),
            "kith_above_300": len(large), "of_them_in_rockstar": matched}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=lambda text: int(float(text)), default=1_000_000, help="particles (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the mock (%(default)s)")
    parser.add_argument("--program", type=pathlib.Path, help="kith (that of build/)")
    parser.add_argument("--rockstar", type=pathlib.Path, help="Rockstar's program; without it, kith alone")
    parser.add_argument("--rounds", type=int, default=5, help="after the first (%(default)s)")
    parser.add_argument("--halos", type=int, default=50, help="whose truth is found, of each range (%(default)s)")
    parser.add_argument("--output", type=pathlib.Path, help="results as JSON")
    options = parser.parse_args()
    places = [options.program] if options.program else [environment.ROOT / "build" / name / "bin" / "kith"
                                                        for name in ("release", "dev")]
    program = next((place.resolve() for place in places if place.exists()), None)
    if program is None:
        sys.exit(f"halos.py: there is no {places[0]}; build it, or name another with --program")
    if options.rockstar and not options.rockstar.exists():
        sys.exit(f"halos.py: there is no {options.rockstar}; build Rockstar, or leave --rockstar out")
    mock = kith.datasets.halos(options.n, seed=options.seed)
    softening = mock.box / options.n ** (1 / 3) / 30

    with tempfile.TemporaryDirectory(prefix="kith-halos-") as name:
        folder = pathlib.Path(name)
        snapshot = folder / "snapshot"
        write_gadget(snapshot, mock)
        finds = ("-b", B, "--min-members", MIN_MEMBERS)
        # Gadget-2 files state no units.
        units = ("--G", 43009.17, "--hubble", 0.1, "--omega-matter", mock.cosmology.omega_matter)
        halos = (program, "halos", snapshot, *finds, *units, "-o", folder / "halos.hdf5")
        commands = {"kith fof": (program, "fof", snapshot, *finds, "-o", folder / "groups.hdf5"),
                    "kith halos": halos, "kith halos, one thread": (*halos, "--threads", 1),
                    "kith halos --unbind no": (program, "halos", snapshot, *finds, *units, "--unbind", "no", "-o",
                                               folder / "whole.hdf5")}
        if options.rockstar:
            settings = ROCKSTAR_SETTINGS.format(softening=softening, folder=folder)
            (folder / "rockstar.cfg").write_text(settings)
            commands["rockstar"] = (options.rockstar.resolve(), "-c", folder / "rockstar.cfg", snapshot)
        runs = {name: [] for name in commands}
        for _ in range(options.rounds + 1):
            for name, command in commands.items():
                runs[name].append(run(command, folder))
        found = {"kith": kith_halos(folder / "halos.hdf5")}
        if options.rockstar:
            found["rockstar"] = rockstar_halos(folder)

    report = {"date": datetime.datetime.now().isoformat(timespec="minutes"), "commit": environment.commit(),
              "machine": environment.machine(), "n": options.n, "seed": options.seed, "rows": {}}
    first = [row[0] for row in runs["kith halos"][1:]]
    print(f"{options.n:,} particles{'':33} s   times   processors     MiB")
    for name, all_runs in runs.items():
        rows = all_runs[1:] or all_runs
        median = [statistics.median(row[i] for row in rows) for i in range(3)]
        times = statistics.median(row[0] / base for row, base in zip(rows, first or [rows[0][0]]))
        report["rows"][name] = {"seconds": [row[0] for row in rows], "median": median[0], "times_first": times,
                                "cpu_median": median[1], "peak_mib": median[2]}
        print(f"  {name:40} {median[0]:8.3f} {times:7.2f} {median[1]:10.3f} s {median[2]:7.0f}")
    truth = Truth(mock, options.halos)
    report["recovery"] = {name: truth.recovery(halos) for name, halos in found.items()}
    for name, lines in report["recovery"].items():
        print(f"{name}, by particles of the true halos: number, share found, M200c over the truth, centers' offset in R200c")
        for line in lines:
            end = "" if line["below"] == 10**9 else f" to {line['below']:,}"
            print(f"  {line['from']:,}{end}: {line['halos']:,}, {line['found']:.1%}, {line['m200c_median']:.4f} +- "
                  f"{line['m200c_scatter']:.4f}, {line['center_median']:.4f}")
    if options.rockstar:
        both = report["both"] = compare(found["kith"], found["rockstar"], mock.box, mock.uniform_mass, options.n)
        print("halos of kith and Rockstar by least M200c, in particles: "
              + ", ".join(f"{n}: {a} and {b}" for n, a, b in zip(MASSES, both["kith"], both["rockstar"])))
        print(f"of kith's {both['kith_above_300']} halos of 300 members and more, Rockstar has {both['of_them_in_rockstar']}")
    if options.output:
        options.output.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
