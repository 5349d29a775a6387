"""What the scripts that remake the figures of papers share: their options, programs, and files of results."""

import argparse
import json
import pathlib
import re

import environment


def add_options(parser, name, parts):
    """--quick, --parts, --plot, --output and --images of the script whose results are in bench/results/NAME."""
    parser.add_argument("--quick", action="store_true", help="small sets")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts),
                        help="measure these only, and keep the other rows of the results that are there")
    parser.add_argument("--plot", type=pathlib.Path, metavar="FILE", help="draw these results, and measure nothing")
    parser.add_argument("--output", type=pathlib.Path,
                        default=environment.ROOT / "bench" / "results" / name / "figures.json",
                        help=f"results (bench/results/{name}/figures.json)")
    parser.add_argument("--images", type=pathlib.Path, default=environment.ROOT / "docs" / "images",
                        help="folder of the figures (docs/images)")


def gpu(name):
    """The value of --device: what is measured on a GPU stands beside what is measured on the CPU."""
    if not re.fullmatch(r"cuda(:\d+)?", name):
        raise argparse.ArgumentTypeError(f"{name!r} is no GPU; write cuda, or cuda:1 for the second")
    return name


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


def write(report, path):
    """A row a line. Returns the report as it is read from the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(json.dumps(row) for row in report["rows"])
    rest = {name: value for name, value in report.items() if name != "rows"}
    path.write_text(json.dumps(rest, indent=1)[:-2] + f',\n "rows": [\n{rows}\n]}}\n')
    print(path)
    return json.loads(path.read_text())
