#!/usr/bin/env python3
"""Copies sections of README.md, the table of engines and measured tables into the pages of docs/ that show them:
renew-pages.py [--check].

A code host shows a page's text as it stands, so a page that only names a section would be empty there. What stands
between these two lines of a page is that section, its links turned toward docs/:

    <!-- README.md: What it can do -->
    <!-- end -->

`introduction` is what stands before the first section. Between these stands the table of engines of the code:

    <!-- src/calls/answers.hpp: engines -->
    <!-- end -->

And between these stands what bench/rank_tables.py makes of bench/results/ranks/figures.json:

    <!-- bench/results/ranks: scaling -->
    <!-- end -->

With --check nothing is written; the exit code is 1 if a page is stale, or if a link of README.md or of a page leads
nowhere.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench"))
sys.dont_write_bytecode = True
import rank_tables  # noqa: E402

DOCS = ROOT / "docs"
COPY = re.compile(r"(<!-- README\.md: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- src/calls/answers\.hpp: engines -->\n).*?(<!-- end -->)", re.DOTALL)
MEASURED = re.compile(r"(<!-- bench/results/ranks: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LINK = re.compile(r"(!?\[[^\]\n]*\])\(([^)\s]+)\)")


def section(text, heading):
    """What stands below a heading of the second rank, or below the title."""
    title = r"^# [^\n]*" if heading == "introduction" else rf"^## {re.escape(heading)}"
    match = re.search(rf"{title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if match is None:
        sys.exit(f"renew-pages.py: README.md has no section {heading!r}")
    return match.group(1).strip() + "\n"


def turned(text):
    """Links of README.md as those of a page in docs/."""
    def link(match):
        name, target = match.groups()
        if "://" in target:
            return match.group(0)
        inside = target.startswith("docs/")
        return f"{name}({target.removeprefix('docs/') if inside else '../' + target})"
    return LINK.sub(link, text)


def engines():
    """The table of src/calls/answers.hpp as one of a page: a row a task, a column a place."""
    code = (ROOT / "src/calls/answers.hpp").read_text()
    tasks = re.search(r"enum class Task[^{]*\{([^}]*)\}", code).group(1).replace(",", " ").split()
    names = re.findall(r'"([^"]+)"', re.search(r"task_names\{([^}]*)\}", code).group(1))
    found = re.findall(r"\{Task::(\w+), Engine::(\w+), \{(\w+), (\w+), (\w+), (\w+), (\w+)\}\},", code)
    if len(tasks) != len(names) or len(found) != code.count("{Task::"):
        sys.exit("renew-pages.py: the table of src/calls/answers.hpp is not a row a line, or has a task without a name")
    lines = ["| | CPU | GPU | GPU, asynchronously | over ranks | over ranks, on GPUs |", "|---|---|---|---|---|---|"]
    for task, name in zip(tasks, names):
        cells = [", ".join(f"`{row[1]}`" for row in found if row[0] == task and row[column] == "true") or "no"
                 for column in range(2, 7)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def measured(match):
    """A text about ranks; the old one where the results lack what it shows."""
    report = json.loads((ROOT / "bench/results/ranks/figures.json").read_text())
    text = rank_tables.TEXTS[match.group(2)](report)
    return match.group(1) + (match.group(3) if text is None else text) + match.group(4)


def renewed(page, readme):
    page = MEASURED.sub(measured, page)
    page = COPY.sub(lambda match: match.group(1) + turned(section(readme, match.group(2))) + match.group(3), page)
    return TABLE.sub(lambda match: match.group(1) + engines() + match.group(2), page)


def dead_links(path, text):
    """Relative links to what is not in the repository; code is left out."""
    prose = re.sub(r"^(`{3,}|:{3,}).*?^\1$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    for _, target in LINK.findall(prose):
        file = target.split("#")[0]
        if file and "://" not in target and not (path.parent / file).exists():
            yield f"{path.relative_to(ROOT)} links to {target}, which is not there"


def main():
    checks = "--check" in sys.argv[1:]
    readme = (ROOT / "README.md").read_text()
    problems = list(dead_links(ROOT / "README.md", readme))
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text()
        new = renewed(text, readme)
        if new != text and checks:
            problems.append(f"{path.relative_to(ROOT)} does not show README.md, the table of engines or measured tables as they are; run scripts/renew-pages.py")
        elif new != text:
            path.write_text(new)
        problems += dead_links(path, new)
    for problem in problems:
        print(f"renew-pages.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
