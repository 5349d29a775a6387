"""Arrays of JAX that are sharded over devices and processes; JAX has several CPU devices only if it starts with them."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("kith._jax", reason="this kith was built without JAX")

HERE = pathlib.Path(__file__).resolve().parent


def with_devices(count):
    return {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}


def test_answers_are_those_of_one_device():
    found = subprocess.run([sys.executable, HERE / "sharded_program.py"], env=with_devices(8), text=True,
                           capture_output=True, timeout=300)
    assert found.stdout == "all is well\n", found.stderr


def test_answers_over_processes_are_those_of_one_device(monkeypatch):
    from test_mpi import over

    for name, value in with_devices(2).items():
        monkeypatch.setenv(name, value)
    assert "all is well\n" in over(2, HERE / "sharded_ranks_program.py", "2")
