#!/usr/bin/env python3
"""Fails if a page of docs/ names a file or a test that does not exist: named_in_pages.py PROJECT.

{source}`FILE` names a file or a folder, {test}`NAME` a test: Suite.Name of GoogleTest, test_file.py::test_name of
pytest, or a name that CMake gives to ctest. In the tables of docs/papers/ the last cell is the state, one or several of
STATES; "not done" has a reason, what works names a test or a benchmark, and "GPU run" a test of test_cuda, one of Python's
that run on a GPU where there is one, or a result from a GPU: of bench/results/gpu, or figures with rows of one.
"""

import json
import pathlib
import re
import sys

NAMED = re.compile(r"\{(source|test)\}`([^`\n]+)`")
STATES = ("CPU", "GPU run", "GPU emulated", "GPU not done", "not done", "background")
STATE = re.compile(r"({0})(, ({0}))*(?P<reason>: .+)?".format("|".join(STATES)))
GOOGLE_TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
PYTEST = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)
CTEST = re.compile(r"add_test\(\s*NAME ([\w.]+)")


def google_tests(files):
    return {".".join(found) for file in files for found in GOOGLE_TEST.findall(file.read_text(encoding="utf-8"))}


def tests_of(project):
    """The names of all tests, and of those that run on a GPU."""
    tests = google_tests((project / "tests").rglob("*.[ch]pp"))
    for file in (project / "python/tests").glob("test_*.py"):
        tests |= {f"{file.name}::{name}" for name in PYTEST.findall(file.read_text(encoding="utf-8"))}
    for folder in ("tests", "bench", "examples", "python"):
        for file in (project / folder).rglob("CMakeLists.txt"):
            tests |= set(CTEST.findall(file.read_text(encoding="utf-8")))
    cuda = project / "tests/cuda"
    listed = re.findall(r"[\w./]+\.cpp", (cuda / "CMakeLists.txt").read_text(encoding="utf-8"))
    on_gpu = google_tests(cuda / name for name in dict.fromkeys(listed))
    return tests, on_gpu | {name for name in tests if re.match(r"test_(on_gpu|jax\w*)\.py::", name)}


def has_rows_of_gpu(path):
    """Whether this is a file of results, some of which were measured on a GPU."""
    return path.match("bench/results/*/figures.json") and path.exists() and "gpu" in json.loads(path.read_text())


def problems_of_row(line, on_gpu, project):
    """What is wrong with the state of a row of docs/papers/."""
    state = line.rstrip().rstrip("|").split("|")[-1].strip()
    match = STATE.fullmatch(state)
    if match is None:
        return [f"'{state}' is no state"]
    named = NAMED.findall(line)
    reason = match["reason"] or ""
    states = state.removesuffix(reason).split(", ")
    works = {"CPU", "GPU run", "GPU emulated"}.intersection(states)
    is_tested = any(kind == "test" or name.startswith("bench/") for kind, name in named)
    has_run = any(name in on_gpu or name.startswith("bench/results/gpu") or has_rows_of_gpu(project / name)
                  for _, name in named)
    return [text for text, wrong in (
        ("'not done' has no reason", not reason and any("not done" in one for one in states)),
        ("no test or benchmark", works and not is_tested),
        ("'GPU run' without a test that runs on a GPU or results of one", "GPU run" in states and not has_run),
    ) if wrong]


def main():
    project = pathlib.Path(sys.argv[1])
    tests, on_gpu = tests_of(project)
    problems, names, rows = [], 0, 0
    for page in sorted((project / "docs").rglob("*.md")):
        in_table = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            found = [f"there is no {'test' if kind == 'test' else 'file'} {name}" for kind, name in NAMED.findall(line)
                     if not (name in tests if kind == "test" else (project / name).exists())]
            names += len(NAMED.findall(line))
            if not line.startswith("|") or line.startswith("|---"):
                in_table = line.startswith("|")
            elif in_table and page.parent.name == "papers":
                rows += 1
                found += problems_of_row(line, on_gpu, project)
            problems += [f"{page.relative_to(project)}:{number}: {text}" for text in found]
    for problem in problems:
        print(problem)
    print(f"{names} names of {len(tests)} tests and of files, {rows} rows of papers, {len(problems)} problems")
    return 1 if problems or not names or not rows or not on_gpu else 0


if __name__ == "__main__":
    sys.exit(main())
