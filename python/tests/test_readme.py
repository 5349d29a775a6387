"""The first Python that README shows runs as it stands, and the distribution has the name that README states."""

import importlib.metadata
import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_the_quickstart_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    assert len(shown.splitlines()) <= 10
    exec(compile(shown, str(README), "exec"), {})
    assert "groups" in capsys.readouterr().out


def test_the_distribution_has_a_name_of_its_own():
    """`kith` is another project on PyPI: nothing may send users to it."""
    project = README.with_name("pyproject.toml").read_text()
    name = re.search(r'^name = "(.*)"$', project, re.MULTILINE).group(1)
    assert name == "kith-neighbors" and f"`{name}`" in README.read_text()
    installed = importlib.metadata.packages_distributions().get("kith", [])
    assert set(installed) <= {name}  # none where the package is imported from a build folder
