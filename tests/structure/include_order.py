#!/usr/bin/env python3
"""Fails if a module of src/ includes one that stands after it: python3 include_order.py PROJECT."""

import collections
import pathlib
import re
import sys

# The way that data flow. A module includes those before it; io and cli also see every public header.
MODULES = ("support cuda geometry points order tree walk neighbors groups pairs mst engines halos distributed calls io "
           "cli").split()

# A public header counts as the module whose capability it declares.
HEADERS = {"async": "groups", "async_tree": "tree", "box": "points", "catalog": "halos", "catalog_columns": "halos",
           "catalog_file": "io", "catalog_reader": "io", "cluster_file": "io", "communicator": "support",
           "cosmology": "halos", "dbscan": "groups", "density_file": "io", "device_catalog": "halos",
           "device_communicator": "support",
           "device_status": "support", "distributed": "distributed", "error": "support", "execution": "support",
           "fof": "groups", "hdbscan": "mst", "hierarchy": "mst", "io": "io", "kdtree": "engines",
           "kdtree_build": "engines", "kdtree_candidates": "engines", "kdtree_layout": "engines",
           "kdtree_arrange": "engines", "kdtree_order": "engines", "kdtree_split": "engines",
           "kdtree_search": "engines", "kdtree_view": "engines", "knn": "neighbors", "other_labels": "neighbors",
           "mpi": "distributed", "pair_counts": "pairs", "group_order": "halos", "halos": "halos", "halo_file": "io",
           "snapshot": "io", "result_file": "io", "snapshot_universe": "io", "group_sizes": "groups",
           "index_array": "support", "neighbor_row": "neighbors", "plane_view": "tree", "plane_walks": "walk",
           "points": "points", "portable": "support", "progress": "support", "radius": "neighbors",
           "spanning_tree": "mst", "sum_neighbors": "neighbors", "tree": "tree", "types": "support",
           "version": "support", "walk": "walk", "z_order": "order"}
EVERYTHING = "kith"  # <kith/kith.hpp> includes all others: for users and the program

# What these may include of src/, besides themselves.
LEAST = {"io": {"support"}, "cli": set()}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(kith/[^>]+)>)', re.MULTILINE)
SUFFIXES = {".cpp", ".cu", ".cuh", ".hpp", ".ipp", ".in"}


def module_of_header(name):
    stem = pathlib.PurePath(name).stem
    if stem == EVERYTHING:
        return "calls"
    if stem not in HEADERS:
        raise ValueError(f"<{name}> belongs to no module; enter it in HEADERS of {pathlib.Path(__file__).name}")
    return HEADERS[stem]


def included_by(file, source_root):
    """(what, its module, whether it is public) for each include of the project's own files."""
    for private, public in INCLUDE.findall(file.read_text(encoding="utf-8")):
        if public:
            yield public, module_of_header(public), True
        elif (source_root / private).is_file():
            yield private, private.split("/")[0], False
        else:
            raise ValueError(f'"{private}" is not in src/')


def problems_of(file, module, source_root):
    try:
        for what, other, public in included_by(file, source_root):
            if other == module:
                continue
            if module in LEAST and not public and other not in LEAST[module]:
                yield f"{module}/ includes {what}; it may see public headers and {LEAST[module] or 'itself'} only"
            elif MODULES.index(other) > MODULES.index(module):
                yield f"{module}/ includes {what}, of {other}/, which stands after it"
    except ValueError as error:
        yield str(error)


def main():
    project = pathlib.Path(sys.argv[1])
    source_root = project / "src"
    problems = []
    files = collections.Counter()
    for folder in sorted(path for path in source_root.iterdir() if path.is_dir()):
        if folder.name not in MODULES:
            problems.append(f"src/{folder.name} is no module; enter it in MODULES where data flow through it")
            continue
        for file in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
            files[folder.name] += 1
            problems += [f"{file.relative_to(project)}: {text}" for text in
                         problems_of(file, folder.name, source_root)]
    for file in sorted((project / "include/kith").rglob("*.hpp")):
        if file.stem != EVERYTHING:
            files["include"] += 1
            problems += [f"{file.relative_to(project)}: {text}" for text in
                         problems_of(file, module_of_header(f"kith/{file.name}"), source_root)]
    for problem in problems:
        print(problem)
    print(f"{sum(files.values())} files of {len(files)} folders, {len(problems)} includes against the order")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
