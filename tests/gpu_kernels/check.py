#!/usr/bin/env python3
"""Checks the compiled GPU kernels without a GPU, in seconds: python3 check.py LIBRARY [--renew].

cuobjdump lists what is in a library or an object file. From it this program checks rules, for every kernel:
  - no contraction: each image was compiled with --fmad=false, and no addition or multiplication leaves its rounding
   open;
  - approximate instructions only where a comment below says what they guess;
  - no local memory in search kernels, which the multiprocessor's issue slots limit; the exceptions are named below;
and compares the kernels of three dimensions with a table (kernels.tsv): registers, bytes of shared and of local
memory, fused multiply-adds and approximate instructions. A kernel may use less than its line states, never more.
ptxas decides the numbers, so the table holds for one release of it and is not compared under another. --renew writes
the table.

Exit status: 0 all is well, 1 a rule is broken or the table does not match, 77 cuobjdump was not found.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# What may use approximate instructions: pattern of the kernel's name, why.
APPROXIMATE = (
    (r"^search_leaves_kernel<", "guesses a radius, which decides how long a search takes, not its result"),
    (r"^complete_kernel<CompleteSearchFrame<", "pow() guesses a first radius, which decides how long a search takes, not "
     "its result"),
)

# What must not use local memory, and what does all the same: pattern of the kernel's name, most bytes, why.
SEARCH = re.compile(r"^(search_|nearest_|link_)")
LOCAL = (
    (r"^nearest_kernel<", 7424, "a thread's stack of nodes and list of neighbors are arrays with variable indices"),
    (r"^link_by_range_queries_kernel<", 2976, "a thread's stack of nodes is an array with variable indices"),
)

# ptxas keeps to the rounding that an operation names; without one it may contract or flush.
OPEN_ROUNDING = re.compile(r"^(?:@!?%p\d+ )?((?:add|sub|mul|mad)(?:\.(?:ftz|sat))*\.f(?:32|64))\b")
FUSED = re.compile(r"^(?:@!?%p\d+ )?fma\.")
GUESS = re.compile(r"^(?:@!?%p\d+ )?\w+\.approx\b")

Kernel = collections.namedtuple("Kernel", "registers shared local fused approximate")


def find_tool(name):
    """On the path, beside nvcc, or in the project's Python environment; None if it is nowhere."""
    nvcc = shutil.which("nvcc")
    packages = HERE.parents[1] / "build" / "python-environment" / "lib"
    folders = ([pathlib.Path(nvcc).resolve().parent] if nvcc else []) + sorted(packages.glob("*/site-packages/nvidia/*/bin"))
    return shutil.which(name) or next((str(folder / name) for folder in folders if (folder / name).is_file()), None)


def short_name(demangled):
    """void a::b::kernel<float, 3>(a::b::Job) as kernel<float, 3>."""
    name = re.sub(r"kith::detail::gpu::|kith::device::|kith::|^void ", "", demangled.strip())
    depth = 0
    for end, character in enumerate(name):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            name = name[:end]
            break
    return name


def demangle(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, result.stdout.splitlines()))


def parse_resources(text):
    """{mangled name: (registers, shared, local)} of what cuobjdump --dump-resource-usage prints."""
    found = {}
    for name, numbers in re.findall(r"^\s*Function (\S+):\n\s*(REG:.*)$", text, re.MULTILINE):
        number = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", numbers)}
        resources = number["REG"], number["SHARED"], number["STACK"] + number["LOCAL"]
        found[name] = tuple(map(max, resources, found.get(name, resources)))
    return found


def parse_ptx(text):
    """({mangled name: (fused, approximate)}, problems, release) of what cuobjdump --dump-ptx prints. A function that is
    called, and not a kernel, counts for every kernel of its image."""
    counts, problems, release = {}, [], None
    for image in text.split("Fatbin ptx code:")[1:]:
        if not re.search(r"^ptxasOptions = .*--fmad false", image, re.MULTILINE):
            problems.append("an image was compiled without --fmad=false, so that ptxas may contract a * b + c: "
                            "add the option to its target (cmake/KithTargets.cmake)")
        found = re.search(r"^code version = \[(\d+),(\d+)\]", image, re.MULTILINE)
        release = ".".join(found.groups()) if found else release
        called = set(re.findall(r"^\.func.*?\b(__\w+)$", image, re.MULTILINE))
        name, of_functions, kernels, callers = None, [0, 0], {}, set()
        for line in image.splitlines():
            line = line.strip()
            entry = re.match(r"(?:\.\w+ )*\.(entry|func)\b.*?(_\w+)\($", line) if line.startswith(".") else None
            if entry:
                name = entry.group(2) if entry.group(1) == "entry" else None
                if name:
                    kernels[name] = [0, 0]
            else:
                count = kernels.get(name, of_functions)
                count[0] += FUSED.match(line) is not None
                count[1] += GUESS.match(line) is not None
                if not line.startswith(".") and any(function in line for function in called):
                    callers.add(name)
                is_open = OPEN_ROUNDING.match(line)
                if is_open:
                    problems.append(f"{name}: {is_open.group(1)} leaves its rounding open")
        for name, count in kernels.items():
            counts[name] = tuple(count[i] + (of_functions[i] if name in callers else 0) for i in range(2))
    return counts, problems, release


def kernels_of(resources_text, ptx_text):
    """({short name: Kernel}, problems, release) of the library's own kernels, which CUB's are not."""
    resources, (ptx, problems, release) = parse_resources(resources_text), parse_ptx(ptx_text)
    kernels = {}
    for name, demangled in demangle(sorted(resources)).items():
        if "kith::" in demangled and "cub::" not in demangled:
            if name not in ptx:
                problems.append(f"{short_name(demangled)}: its PTX is not in the library; build for a real and a virtual "
                                "architecture (CMAKE_CUDA_ARCHITECTURES=90)")
            kernel = Kernel(*resources[name], *ptx.get(name, (0, 0)))
            short = short_name(demangled)
            kernels[short] = Kernel(*map(max, kernel, kernels.get(short, kernel)))
    if not kernels:
        problems.append("there is no kernel of kith in the library")
    return kernels, problems, release


def broken_rules(kernels):
    used = set()
    for name, kernel in sorted(kernels.items()):
        if kernel.approximate and not any(re.search(pattern, name) for pattern, _ in APPROXIMATE):
            yield (f"{name}: {kernel.approximate} approximate instructions; compute exactly, or state in APPROXIMATE of "
                   f"{__file__} what they guess")
        if kernel.local and SEARCH.match(name):
            most = next((bytes for pattern, bytes, _ in LOCAL if re.search(pattern, name)), 0)
            used.update(pattern for pattern, _, _ in LOCAL if re.search(pattern, name))
            if kernel.local > most:
                yield (f"{name}: {kernel.local} bytes of local memory, at most {most} are allowed; use fewer registers or "
                       f"constant indices, or change its line in LOCAL of {__file__} and say why")
    for pattern, most, _ in LOCAL:
        if most and pattern not in used:
            yield f"LOCAL of {__file__}: no kernel that {pattern} matches uses local memory any more; remove the line"


def dimension_of(name):
    """Of the points that a kernel was compiled for; None if it is for all."""
    found = re.search(r"<(?:(?:float|double), )?(\d)\b", name)
    return int(found.group(1)) if found else None


def in_table(name):
    """Whether a kernel has a line: those of three dimensions, and of none."""
    return dimension_of(name) in (None, 3)


def table_of(kernels, release):
    lines = [f"# PTX {release}\n", "kernel\t" + "\t".join(Kernel._fields) + "\n"]
    return "".join(lines + ["\t".join([name, *map(str, kernel)]) + "\n"
                            for name, kernel in sorted(kernels.items()) if in_table(name)])


def read_table(text):
    release, _, *lines = text.splitlines()
    fields = [line.split("\t") for line in lines]
    return {name: Kernel(*map(int, numbers)) for name, *numbers in fields}, release.removeprefix("# PTX ")


def differences(kernels, table):
    for name, kernel in sorted(kernels.items()):
        if not in_table(name):
            continue
        if name not in table:
            yield f"{name}: not in the table"
            continue
        for field, is_now, most in zip(Kernel._fields, kernel, table[name]):
            if is_now > most:
                yield f"{name}: {is_now} {field}, the table states {most}"
    for name in sorted(set(table) - set(kernels)):
        yield f"{name}: in the table, but no such kernel is compiled"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "kernels.tsv")
    parser.add_argument("--renew", action="store_true", help="write the table")
    options = parser.parse_args()
    cuobjdump = find_tool("cuobjdump")
    if cuobjdump is None:
        print("check.py: cuobjdump was not found; THE KERNELS' REGISTERS AND ROUNDING ARE NOT CHECKED. It is part of CUDA's "
              "toolkit, and scripts/python-environment.sh installs it", file=sys.stderr)
        return SKIPPED

    def dump(what):
        return subprocess.run([cuobjdump, what, options.library], capture_output=True, text=True, check=True).stdout

    kernels, problems, release = kernels_of(dump("--dump-resource-usage"), dump("--dump-ptx"))
    problems += broken_rules(kernels)
    if options.renew:
        options.table.write_text(table_of(kernels, release))
    table, its_release = read_table(options.table.read_text())
    if its_release != release:
        print(f"{options.table} was made for PTX {its_release}, this is {release}: only the rules are checked")
    else:
        different = list(differences(kernels, table))
        if different:
            different.append("if that is meant, renew the table in the commit that causes it: "
                             f"{pathlib.Path(__file__).name} {options.library} --renew")
        problems += different
    print("\n".join(problems) or f"{len(kernels)} kernels: exact arithmetic, and no more memory than stated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
