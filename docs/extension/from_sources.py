"""What pages take from the repository, so that nothing is told twice and nothing that is named can be missing.

    {source}`src/tree/cuts.hpp`     a file or folder of the repository; a warning if there is none
    {test}`Suite.Name`              a test, which tests/structure/named_in_pages.py looks for
    ```{citing} jz-tree             the files that name a paper as their source, and their own words about which section
    ```
    ```{help} fof                   what the program says of itself, where there is a program
    ```

Warnings are errors in `make docs`, so each of these is a check as well. Links of a page to files above docs/, which a code
host follows, become {source}.
"""

import os
import pathlib
import re
import subprocess

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {"CONTRIBUTING.md": "contributing.md"}  # pages of the site that are files above docs/
logger = logging.getLogger(__name__)


class Test(SphinxRole):
    def run(self):
        return [nodes.literal(self.text, self.text)], []


class Source(SphinxRole):
    def run(self):
        if not (ROOT / self.text).exists():
            logger.warning("there is no %s in the repository", self.text, location=self.get_location())
        return [nodes.literal(self.text, self.text)], []


def link_sources(app, docname, source):
    """Links of a page to files above docs/ as {source}, or to the page that shows the file; the page contributing.md, which
    on a code host names its file alone, whole."""
    if docname == "contributing":
        source[0] = "```{include} ../CONTRIBUTING.md\n:relative-docs: docs/\n```\n"
        return
    to_root = "../" * (docname.count("/") + 1)

    def link(match):
        name, target = match.groups()
        file, _, anchor = target.partition("#")
        if file in PAGES:
            return f"[{name}]({to_root[3:]}{PAGES[file]}{'#' + anchor if anchor else ''})"
        return f"{{source}}`{file}`" if name in (file, file.removeprefix("include/kith/")) else f"{name} ({{source}}`{file}`)"
    source[0] = re.sub(rf"(?<!!)\[([^\]\n]*)\]\({re.escape(to_root)}([^.)\s][^)\s]*)\)", link, source[0])


class Citing(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        paper = self.arguments[0]
        rows = []
        for path in sorted([*ROOT.glob("include/**/*.hpp"), *ROOT.glob("src/**/*.*")]):
            self.env.note_dependency(str(path))
            found = cited(path, paper)
            if found:
                rows.append((str(path.relative_to(ROOT)), found))
        if not rows:
            raise self.error(f"no file names {paper!r} as its source")
        lines = ["| file | what it names |", "|---|---|"]
        lines += [f"| `{path}` | {found} |" for path, found in rows]
        parent = nodes.Element()
        self.state.nested_parse(StringList(lines, source=paper), 0, parent)
        return parent.children


def cited(path, paper):
    """The sections and equations of a paper that the comment at the top of a file names."""
    opening = []
    for line in path.read_text(errors="replace").splitlines():
        if not line.startswith("//"):
            break
        opening.append(line.removeprefix("//").strip())
    text = " ".join(opening)
    match = re.search(rf"{re.escape(paper)}(?: paper)?, ((?:algorithms?|sections?|equations?) [IVX0-9][-A-Z0-9.]*"
                      r"(?: (?:and|to) [IVX0-9][-A-Z0-9.]*)?)", text)
    return None if match is None else match.group(1).rstrip(".,")


def program():
    """The kith program: the one that KITH_PROGRAM names, or one that was built here; None if there is none."""
    named = os.environ.get("KITH_PROGRAM")
    built = [ROOT / "build" / preset / "bin" / "kith" for preset in ("dev", "release")]
    for path in [pathlib.Path(named)] if named else built:
        if path.is_file():
            return path
    return None


class Help(SphinxDirective):
    optional_arguments = 1

    def run(self):
        path = program()
        if path is None:
            text = "The program was not at hand when this page was built; 'kith --help' says the same."
            return [nodes.paragraph(text, text)]
        self.env.note_dependency(str(path))
        told = subprocess.run([path, *self.arguments, "--help"], capture_output=True, text=True, check=True).stdout
        told = told.replace(str(path), "kith").rstrip()
        block = nodes.literal_block(told, told, language="text", classes=["help"])
        self.set_source_info(block)
        return [block]


def every_header_is_shown(app, env):
    """A warning for a public header that no page shows."""
    shown = "".join(path.read_text() for path in (ROOT / "docs" / "api").glob("*.md"))
    for path in sorted((ROOT / "include" / "kith").rglob("*.hpp")):
        name = path.relative_to(ROOT).as_posix()
        if name not in shown:
            logger.warning("no page of docs/api shows %s", name)


def setup(app):
    app.add_role("source", Source())
    app.add_role("test", Test())
    app.add_directive("citing", Citing)
    app.add_directive("help", Help)
    app.connect("source-read", link_sources)
    app.connect("env-check-consistency", every_header_is_shown)
    return {"parallel_read_safe": True}
