#!/usr/bin/env python3
"""Fails if a file with functions for GPUs calls the bit functions of the standard library: kernel_bits.py PROJECT.

Of 64 bits they call a builtin of the host, in whose place nvcc puts a constant without a word (src/support/bits.hpp).
"""

import pathlib
import re
import sys

FOR_GPUS = re.compile(r"\b(__device__|KITH_HOST_DEVICE|KITH_KDTREE_HD)\b")
FORBIDDEN = re.compile(r"\bstd::(bit_width|bit_floor|bit_ceil|countl_zero|countl_one|countr_zero|countr_one|popcount)\b")
ON_THE_HOST_ONLY = {"src/support/bits.hpp", "include/kith/device/kdtree_layout.hpp"}  # in a branch of the preprocessor


def main():
    project = pathlib.Path(sys.argv[1])
    files, found = 0, 0
    for file in sorted([*(project / "src").rglob("*"), *(project / "include").rglob("*")]):
        name = file.relative_to(project).as_posix()
        if file.suffix not in (".hpp", ".cu", ".cuh", ".ipp") or name in ON_THE_HOST_ONLY:
            continue
        text = file.read_text(encoding="utf-8")
        if not FOR_GPUS.search(text):
            continue
        files += 1
        for number, line in enumerate(text.splitlines(), 1):
            if FORBIDDEN.search(line):
                found += 1
                print(f"{name}:{number}: {FORBIDDEN.search(line).group(0)}; take the one of support/bits.hpp")
    print(f"{files} files with functions for GPUs, {found} calls that a GPU lacks")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
