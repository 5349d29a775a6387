"""Each line of slips.cpp with a comment "says: TEXT" must draw an error that says TEXT.

  slips.py COMPILER INCLUDE_DIRECTORY
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("slips.cpp")


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
    print(f"{len(wanted)} slips draw the errors that they should")


main()
