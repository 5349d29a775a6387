"""Figure 5 of jz_tree.py: the stages of a search, as the program kith reports them, and those of ranks."""

import json
import shutil
import subprocess

import numpy
from jz_tree_drawing import K

FILES = ("read", "write", "total", "all")  # stages that are none of the search's


def profile(measurements):
    """The stages, then those of as many ranks as there are threads, with as many points a rank as before.

    On the CPU every run is a new process, and the stages are those of the fastest. On a GPU, whose first call takes long,
    the program repeats the search.
    """
    import kith
    threads, scratch, device = measurements.threads, measurements.scratch, measurements.device
    if measurements.program is None:
        measurements.leave_out("5", "all", "the program kith is not built; give --program")
        return
    for share in (1,) if device else dict.fromkeys((1, threads)):
        workload, given = measurements.given(points="uniform", n=share * measurements.sizes["profile"], k=K)
        along = scratch / "along.npy"
        numpy.save(along, given.points[kith.Tree(given.points, threads=threads).order])
        for name, path in (("random order", given.points_file), ("along the curve", along)):
            command = ["bench", path, "--device", device] if device else ["knn", path, "-o", scratch / "rows.npz"]
            _add_stages(measurements, workload, name, [], command, share)
    if threads > 1 and device is None:
        launcher = shutil.which("mpirun")
        if launcher is None:
            measurements.leave_out("5", "ranks", "there is no mpirun")
            return
        _add_stages(measurements, workload, "ranks", [launcher, "-n", str(threads)],
                    ["knn", along, "-o", scratch / "rows.npz"], 1, ranks=threads)


def _add_stages(measurements, workload, name, launcher, command, threads, **more):
    runs, what = [], f"{name} on {measurements.kind}"
    for _ in range(1 if measurements.device else 5):
        done = subprocess.run([*launcher, measurements.program, *command, "-k", str(K), "--threads", str(threads),
                               "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            measurements.leave_out("5", what, reason)
            return
        try:
            said = json.loads(done.stdout)
        except ValueError:  # several answers
            measurements.leave_out("5", what, "the program is built without MPI, or for that of another mpirun")
            return
        stages = said.get("ranks", {}).get("most_seconds") or said.get("seconds") or {
            stage: took["seconds"] for stage, took in said["knn"].items()}
        runs.append({stage: took for stage, took in stages.items() if stage not in FILES})
    runs.sort(key=lambda stages: sum(stages.values()))
    measurements.add("5", workload, name, [sum(stages.values()) for stages in runs], threads, stages=runs[0], **more)
