"""The first Python that README shows runs as it stands."""

import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_the_quickstart_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    assert len(shown.splitlines()) <= 10
    exec(compile(shown, str(README), "exec"), {})
    assert "groups" in capsys.readouterr().out
