"""Where the benchmarks find things, what machine this is, and the installation of peers that are Python packages."""

import importlib.util
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench"
VENV = ROOT / "build" / "bench-venv"
PACKAGES = ("numpy", "matplotlib", "scipy", "pykdtree", "faiss-cpu", "scikit-learn", "hfof", "mlpack", "fast_hdbscan", "Corrfunc")
# Distributions lag behind, and nanoflann before 1.5 builds with one thread. This package's source carries a newer one.
NANOFLANN_CARRIER = "pynanoflann"
NANOFLANN = VENV / "nanoflann"


def python():
    """The interpreter that has the peers."""
    program = VENV / "bin" / "python"
    return program if program.exists() else pathlib.Path(sys.executable)


def require(*modules):
    """Starts the running script anew in the virtual environment if this interpreter lacks one of the modules."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing and pathlib.Path(sys.executable) != python():
        os.execv(python(), [str(python()), *sys.argv])
    if missing:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: this Python has no {missing[0]}; run bench/compare.py --install once")


def datasets():
    """kith.datasets of this clone, without the rest of kith, which need not be built."""
    name, folder = "kith_datasets", ROOT / "python" / "kith" / "datasets"
    if name not in sys.modules:
        found = importlib.util.spec_from_file_location(name, folder / "__init__.py",
                                                       submodule_search_locations=[str(folder)])
        sys.modules[name] = importlib.util.module_from_spec(found)
        found.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def install(more=()):
    """Makes the virtual environment. What cannot be had is named and left out. Returns the names of what is missing."""
    if not (VENV / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    missing = []
    for package in (*more, *PACKAGES):
        if not _pip("install", package):
            missing.append(package)
    if not (NANOFLANN / "nanoflann.hpp").exists() and not _unpack_nanoflann():
        missing.append("a nanoflann newer than the distribution's")
    return missing


def _pip(*words):
    command = [VENV / "bin" / "pip", words[0], "--quiet", "--disable-pip-version-check", *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True)
    name = words[-1]
    if done.returncode == 0:
        print(f"  {name}: there")
    else:
        reasons = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()[-1:]
        print(f"  {name}: cannot be had ({' '.join(reasons[-1:])})")
    return done.returncode == 0


def _unpack_nanoflann():
    with tempfile.TemporaryDirectory() as folder:
        if not _pip("download", "--no-deps", "--no-binary", NANOFLANN_CARRIER, "--dest", folder, NANOFLANN_CARRIER):
            return False
        for archive in pathlib.Path(folder).glob("*.tar.gz"):
            with tarfile.open(archive) as files:
                for member in files:
                    if member.name.endswith("/nanoflann.hpp"):
                        NANOFLANN.mkdir(exist_ok=True)
                        (NANOFLANN / "nanoflann.hpp").write_bytes(files.extractfile(member).read())
                        return True
    return False


def _git(*words):
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit():
    """The commit, with a + if sources differ from it; outside a clone that of bench/gpu_pack.sh's folder, or None."""
    name, packed = _git("rev-parse", "HEAD"), ROOT / "build" / "pack" / "commit"
    if name is None and packed.exists():
        return packed.read_text().strip()
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "include", "bench", "cmake", "CMakeLists.txt")
    return name and name + ("+" if changed else "")


def machine():
    model = platform.processor() or platform.machine()
    sets = []
    try:
        with open("/proc/cpuinfo") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        fields = {name.strip(): value.strip() for name, value in fields.items()}
        model = fields.get("model name", model)
        sets = [name for name in ("avx2", "avx512f", "neon", "asimd", "sve") if name in
                fields.get("flags", fields.get("Features", "")).split()]
    except OSError:
        pass
    return {"processor": model, "architecture": platform.machine(), "instruction_sets": sets,
            "cores": len(os.sched_getaffinity(0)), "load_at_start": os.getloadavg()[0],
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": f"{platform.system()} {platform.release()}", "python": platform.python_version()}


def gpu(device):
    """The GPU "cuda" or "cuda:I": what nvidia-smi and CuPy say of it."""
    index, found = device.partition(":")[2] or "0", {}
    asked = {"name": "name", "driver": "driver_version", "memory_mib": "memory.total", "compute_capability": "compute_cap"}
    try:
        done = subprocess.run(["nvidia-smi", f"--id={index}", f"--query-gpu={','.join(asked.values())}",
                               "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True)
        found = dict(zip(asked, done.stdout.strip().split(", ")))
    except (OSError, subprocess.CalledProcessError):
        pass
    if importlib.util.find_spec("cupy"):
        from cupy.cuda import runtime
        found |= {"name": runtime.getDeviceProperties(int(index))["name"].decode(),
                  "cuda_of_the_driver": runtime.driverGetVersion(), "cuda_of_cupy": runtime.runtimeGetVersion()}
    return found
