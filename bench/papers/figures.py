"""What the scripts that remake the figures of papers share: options, programs, files of results, and rows of a GPU.

A file has the rows of a CPU and those of a GPU, which are measured by calls of their own, maybe on different machines.
Its member "gpu" describes the GPU's rows, the members beside it describe the CPU's. So does "parts" in both: when, with
which commit and on what machine each part was measured last. What is called "others" there are rows of parts without a
name there, from the time when a file described its latest call only.
"""

import argparse
import datetime
import importlib.util
import json
import pathlib
import re
import sys
import time

import environment
import numpy

MOST_COMPARED = 1_000_000  # rows of an answer; of a longer one a sample is compared


def add_options(parser, name, parts, device):
    """Common options of the script whose results are in bench/results/NAME; `device` says what --device measures."""
    parser.add_argument("--quick", action="store_true",
                        help="small sets; needs an --output of its own beside results of large ones")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts),
                        help="measure these only, and keep the other rows of the results that are there")
    parser.add_argument("--plot", type=pathlib.Path, metavar="FILE", help="draw these results, and measure nothing")
    parser.add_argument("--output", type=pathlib.Path,
                        default=environment.ROOT / "bench" / "results" / name / "figures.json",
                        help=f"results (bench/results/{name}/figures.json)")
    parser.add_argument("--images", type=pathlib.Path, default=environment.ROOT / "docs" / "images",
                        help="folder of the figures (docs/images)")
    parser.add_argument("--device", type=gpu_name, metavar="cuda[:I]",
                        help=f"measure on a GPU, and nothing on the CPU, whose rows of the results are kept: {device}; "
                             "needs the Python package kith. Without it, rows of a GPU are kept")


def gpu_name(name):
    """The value of --device."""
    if not re.fullmatch(r"cuda(:\d+)?", name):
        raise argparse.ArgumentTypeError(f"{name!r} is no GPU; write cuda, or cuda:1 for the second")
    return name


class Gpu:
    """The GPU of --device, for the Python package: arrays are in its memory if CuPy is installed, else in the host's."""

    def __init__(self, device):
        self.device, self.cupy = device, None
        if importlib.util.find_spec("cupy"):
            import cupy
            cupy.cuda.Device(int(device.partition(":")[2] or 0)).use()
            self.cupy = cupy
        self.memory = "the GPU" if self.cupy else "the host"

    def array(self, rows):
        return self.cupy.asarray(rows) if self.cupy else numpy.array(rows)

    def timed(self, run):
        """Seconds, and the answer."""
        begin = time.perf_counter()
        answer = run()
        if self.cupy:
            self.cupy.cuda.Device().synchronize()
        return time.perf_counter() - begin, answer


def on_host(rows):
    return rows.get() if hasattr(rows, "get") else rows


def compared(count):
    """Those of `count` rows that are compared with the CPU's: at most MOST_COMPARED, at equal distances."""
    return slice(None, None, max(1, -(-count // MOST_COMPARED)))


def require_kith(script, device=None):
    """The Python package; if it is to run on a GPU, one that does. Else nothing is measured, and no results are lost."""
    if importlib.util.find_spec("kith") is None:
        sys.exit(f"{script}: this Python has no kith; install it, or name the folder of a build: "
                 f"PYTHONPATH=build/dev/python bench/papers/{script}")
    import kith
    if device:
        try:
            kith.knn(numpy.zeros((2, 3), dtype=numpy.float32), 1, device=device)
        except (NotImplementedError, RuntimeError, ValueError) as refusal:
            sys.exit(f"{script}: {device} cannot be measured, and the results stay as they are: {refusal}")
    return kith


def program_at(given, name):
    """A program that was given, or where a build puts it; None if there is none."""
    places = [given] if given else [environment.ROOT / "build" / folder / "bin" / name
                                    for folder in ("bench", "release", "dev")]
    return next((place for place in places if place.exists()), None)


def rounded(value):
    """Four digits of every number."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: rounded(member) for name, member in value.items()}
    return [rounded(member) for member in value] if isinstance(value, list) else value


def about(arguments):
    """Date, commit and machine of the parts that are measured now. To be called before, since it notes the load."""
    machine = environment.machine() | ({"gpu": environment.gpu(arguments.device)} if arguments.device else {})
    now = {"date": datetime.datetime.now().isoformat(timespec="minutes"), "commit": environment.commit(), "machine": machine}
    return {"parts": dict.fromkeys(arguments.parts, now), "quick": arguments.quick}


def earlier(arguments):
    """What the file of results holds, rows of the other device among it. Small and large sets are not mixed."""
    before = json.loads(arguments.output.read_text()) if arguments.output.exists() else {"rows": []}
    if before["rows"] and before.get("quick", arguments.quick) != arguments.quick:
        sys.exit(f"{arguments.output} has rows of {'small' if before['quick'] else 'large'} sets; name another --output")
    return before


def merged(report, before, device, is_on_gpu, is_measured):
    """The report of a call with the rows it did not measure: those of the other device, and those of other parts.

    What is left out begins with its figure and set: "13: UNI, brute"; of what is measured anew, old reasons go.
    """
    old = before.get("gpu", {}) if device else before
    rows = [row for row in before["rows"] if is_on_gpu(row) != bool(device) or not is_measured(row)]
    if any(is_on_gpu(row) == bool(device) for row in rows):
        others = {name: old[name] for name in ("date", "commit", "machine") if name in old}
        report["parts"] = {**old.get("parts", {"others": others} if others else {}), **report["parts"]}
    rows += report.pop("rows")
    kept = {}
    for what, why in old.get("left_out", {}).items():
        figure, _, rest = what.partition(": ")
        if not is_measured({"figure": figure, "set": rest.split(", ")[0]}):
            kept[what] = why
    report["left_out"] = {**kept, **report["left_out"]}
    if "versions" in report:
        report["versions"] = {**old.get("versions", {}), **report["versions"]}
    if device:
        report = {**before, "quick": report["quick"], "gpu": report}
    elif "gpu" in before:
        report["gpu"] = before["gpu"]
    return {**report, "rows": rows}


def write(report, path):
    """A row a line. Returns the report as it is read from the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(json.dumps(row) for row in report["rows"])
    rest = {name: value for name, value in report.items() if name != "rows"}
    path.write_text(json.dumps(rest, indent=1)[:-2] + f',\n "rows": [\n{rows}\n]}}\n')
    print(path)
    return json.loads(path.read_text())
