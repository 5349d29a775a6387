"""Each line of slips.cpp with a comment "says: TEXT" must draw an error that says TEXT; so must flags that change the
answers of the headers for users' own loops.

  slips.py COMPILER INCLUDE_DIRECTORY
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("slips.cpp")
INEXACT = ["-ffast-math", "-ffinite-math-only"]
INEXACT_FOR_GCC = ["-fno-signed-zeros", "-freciprocal-math", "-funsafe-math-optimizations",
                   "-fassociative-math -fno-signed-zeros -fno-trapping-math"]  # clang has no macros for these
EXACT = ["-O2", "-fno-math-errno -fno-trapping-math -ffp-contract=fast"]


def errors_by_line(text):
    """The errors that a compiler draws for each line of the source: GCC names the line before the error, clang after."""
    names_line_first = "required from here" in text
    errors, line, error = {}, None, ""
    for row in text.splitlines():
        if own := re.search(rf"{SOURCE.name}:(\d+):\d+: error:", row):
            errors[int(own[1])] = errors.get(int(own[1]), "") + row
            continue
        place = re.search(rf"{SOURCE.name}:(\d+):\d+:\s+(required from here|note: in instantiation)", row)
        if place:
            line = int(place[1])
        elif "error:" in row:
            error = row
        if error and (place or names_line_first):
            errors[line] = errors.get(line, "") + error
            error = ""
    return errors


def refuses(compiler, include, flags):
    """Whether the headers for users' own loops refuse these flags."""
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", *flags.split(), "-x", "c++", "-"]
    outcome = subprocess.run(command, input="#include <kith/device/kdtree_layout.hpp>\n", text=True,
                             capture_output=True)
    return outcome.returncode != 0 and "exact answers" in outcome.stderr


def main():
    compiler, include = sys.argv[1:]
    outcome = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", SOURCE], text=True,
                             capture_output=True)
    errors = errors_by_line(outcome.stderr)
    wanted = {number: line.partition("// says: ")[2] for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
              if "// says: " in line}
    silent = [f"{SOURCE.name}:{number}: no error says: {text}" for number, text in wanted.items()
              if text not in errors.get(number, "")]
    if silent or not wanted:
        sys.exit(outcome.stderr + "\n".join(silent))
    version = subprocess.run([compiler, "--version"], text=True, capture_output=True).stdout
    is_gcc = "Free Software Foundation" in version
    inexact = INEXACT + INEXACT_FOR_GCC * is_gcc
    if wrong := [flags for flags in inexact + EXACT if refuses(compiler, include, flags) != (flags in inexact)]:
        sys.exit("kdtree_layout.hpp is wrong about these flags: " + "; ".join(wrong))
    print(f"{len(wanted)} slips and {len(inexact)} flags draw the errors that they should")


main()
