"""kith.mpi, in processes that mpiexec starts. Skipped where mpi4py, or an mpiexec of its MPI, is missing."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import kith
import pytest

pytest.importorskip("mpi4py", reason="mpi4py is missing: kith.mpi IS NOT TESTED")

HERE = pathlib.Path(__file__).resolve().parent
# One that was installed beside mpi4py belongs to it.
_BESIDE = pathlib.Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(_BESIDE) if _BESIDE.exists() else shutil.which("mpiexec")


def over(ranks, program, *arguments):
    if MPIEXEC is None:
        pytest.skip("mpiexec is missing: kith.mpi IS NOT TESTED")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    found = subprocess.run([MPIEXEC, "-n", str(ranks), sys.executable, program, *arguments], env=environment, text=True,
                           capture_output=True, timeout=300)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("ranks", [1, 3])
def test_answers_are_those_of_one_process(ranks):
    assert over(ranks, HERE / "ranks_program.py", str(ranks)) == "all is well\n"


def test_labels_in_ten_lines():
    program = HERE.parents[1] / "examples/mpi_groups.py"
    assert len(program.read_text().splitlines()) <= 10
    assert re.fullmatch(r"my first point is in group \d+\n", over(3, program))


def test_workers_of_dask_find_groups_together():
    array = pytest.importorskip("dask.array")
    pytest.importorskip("dask_mpi")
    points = array.random.default_rng(1).random((8000, 3), chunks=(1000, 3)).compute()
    groups = kith.fof(points, b=0.3, box=1).max() + 1
    assert over(5, HERE.parents[1] / "examples/dask_groups.py") == f"8 chunks, {groups} groups\n"


def test_a_wrong_argument_on_one_process_is_an_error_on_all():
    assert re.search(r"\n\d{2,3} slips were raised everywhere\n$", over(3, HERE / "rank_slips_program.py"))
