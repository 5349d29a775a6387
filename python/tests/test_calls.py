"""How calls run: beside other threads, stopped by Ctrl-C, heard of."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import kith
from built import DIMENSIONS

MANY = numpy.random.default_rng(11).random((400_000, 3))


def test_other_threads_go_on():
    turns = [0]
    over = threading.Event()

    def count():
        while not over.is_set():
            turns[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    kith.knn(MANY, 16, threads=1)
    over.set()
    counter.join()
    assert turns[0] > 20


def test_several_calls_at_once():
    expected = kith.knn(MANY[:5000], 4)[1]
    wrong = []

    def search():
        for _ in range(5):
            if not (kith.knn(MANY[:5000], 4, threads=2)[1] == expected).all():
                wrong.append(1)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_interrupts_stop_a_call():
    program = """
import numpy, os, signal, threading, kith
points = numpy.random.default_rng(1).random((3_000_000, 3))
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    kith.knn(points, 64, threads=1)
except KeyboardInterrupt:
    print("stopped")
else:
    print("ran to its end")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "stopped\n", ran.stdout + ran.stderr


def test_long_rows_of_few_points_can_be_stopped():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: (seen.append(1), 1 / 0))
    try:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(ZeroDivisionError):
            kith.knn(MANY[:20_000], 2000, threads=1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [1]


def test_handlers_of_signals_run_during_a_call():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        kith.knn(MANY, 32, threads=1)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [1]


@pytest.mark.parametrize("size", [1000, 300_000], ids=["brief", "long"])
@pytest.mark.parametrize("progress", ["None", "lambda *_: sum(range(100_000)) > 0"], ids=["quiet", "told"])
def test_a_program_may_end_during_a_call(size, progress):
    program = f"""
import numpy, threading, time, kith
points = numpy.random.default_rng(1).random(({size}, 3))
def search():
    while True:
        kith.knn(points, 8, threads=2, progress={progress})
for _ in range(3):
    threading.Thread(target=search, daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_children_of_a_fork_can_search():
    program = """
import numpy, os, signal, kith
points = numpy.random.default_rng(1).random((5000, 3))
expected = kith.knn(points, 4, threads=3)[1]
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if (kith.knn(points, 4, threads=3)[1] == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_radius_searches_are_heard_of_and_stopped():
    tree = kith.Tree(MANY)
    for search, stage in ((kith.radius_search, "search"), (kith.radius_count, "count")):
        heard = []
        search(MANY, 0.01, progress=lambda *each: heard.append(each))
        assert heard[-1] == (stage, 1)
        with pytest.raises(kith.Canceled, match="canceled during"):
            search(MANY, 0.05, progress=lambda *_: False)
        before = signal.signal(signal.SIGUSR1, lambda *_: 1 / 0)
        try:
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(ZeroDivisionError):
                (tree.radius_search if stage == "search" else tree.radius_count)(0.3, threads=1)
        finally:
            signal.signal(signal.SIGUSR1, before)


def test_progress_is_told():
    heard = []
    kith.knn(MANY, 16, progress=lambda stage, fraction: heard.append((stage, fraction)))
    assert {stage for stage, _ in heard} & {"order", "tree", "search"}
    assert all(0 <= fraction <= 1 for _, fraction in heard)


def test_progress_can_cancel():
    with pytest.raises(kith.Canceled, match="canceled during"):
        kith.knn(MANY, 16, progress=lambda *_: False)
    with pytest.raises(kith.Canceled):
        kith.knn(MANY, 16, progress=lambda *_: numpy.False_)
    with pytest.raises(ZeroDivisionError):
        kith.knn(MANY, 16, progress=lambda *_: 1 / 0)
    assert issubclass(kith.Canceled, RuntimeError)


@pytest.mark.parametrize("answer", ["None", "0", "0.0", "''", "[]", "numpy.array([False, False])", "fraction"])
def test_other_answers_of_progress_mean_nothing(answer):
    kith.knn(MANY, 2, progress=eval(f"lambda stage, fraction: {answer}", {"numpy": numpy}))


def test_the_bar(capfd):
    kith.knn(MANY, 16, progress=True)
    drawn = capfd.readouterr().err
    assert "search" in drawn and drawn.endswith("100%\n")
    kith.fof(MANY, 1e-9, return_catalog=True, progress=True)  # no groups: its last stage has nothing to count
    assert capfd.readouterr().err.endswith("100%\n")


def test_the_bar_where_there_is_nowhere_to_draw(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stderr", None)
    kith.knn(MANY, 2, progress=True)
    assert capfd.readouterr().out == ""


def test_signals_do_not_wait_for_calls_of_many_dimensions():
    try:
        kith.Tree(numpy.zeros((1, 8)))
    except NotImplementedError as reason:
        pytest.skip(str(reason))
    program = """
import numpy, os, signal, threading, time, kith
random = numpy.random.default_rng(1)
tree = kith.Tree(random.normal(size=(200_000, 8)))
queries = random.normal(size=(150_000, 8))
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    tree.query(queries, 1, threads=1)
except KeyboardInterrupt:
    print(time.perf_counter() - begin < 1)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "True\n", ran.stdout + ran.stderr


def test_importing_leaves_heavy_packages_alone():
    """Beside NumPy's own time, importing takes that of the core alone."""
    program = "import sys, kith; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not {"scipy", "matplotlib", "pandas", "torch", "jax", "cupy", "astropy", "h5py", "sklearn", "kith.datasets",
                "kith.plot"} & set(loaded)


def test_documentation_examples(tmp_path, monkeypatch):
    import doctest
    import kith.spatial
    monkeypatch.chdir(tmp_path)  # one writes a file
    datasets = [getattr(kith.datasets, name) for name in ("clumps", "cosmic", "cosmology", "plain")]
    for module in (kith, kith._knn, kith._radius, kith._tree, kith._fof, kith._halos, kith._dbscan, kith._spanning_tree,
                   kith._hierarchy, kith._files, kith.spatial, kith.mass_function, kith.datasets, *datasets):
        if module in (kith._fof, kith.datasets.clumps) and 6 not in DIMENSIONS:  # they show phase space
            continue
        failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        for function in vars(module).values():  # those with hints are not seen as the module's own
            if function.__class__ is type(kith.knn) and function.__module__ == module.__name__ and hasattr(function, "__wrapped__"):
                for test in doctest.DocTestFinder().find(function.__wrapped__, globs={}):
                    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
                    failed, tried = failed + found.failed, tried + found.attempted
        assert tried > 0 and failed == 0, module.__name__


@pytest.mark.parametrize("call, says", [
    (lambda points: kith.knn(points, 2, workers=2), r"knn\(\) has no argument 'workers'; it is called 'threads' here"),
    (lambda points: kith.knn(points, 2, boxsize=1), "'boxsize'; it is called 'box' here"),
    (lambda points: kith.knn(points, 2, distance_upper_bound=1), "it is called 'max_distance' here"),
    (lambda points: kith.knn(points, n_neighbors=2), "it is called 'k' here"),
    (lambda points: kith.knn(points, 2, p=2), "'p'; distances are Euclidean"),
    (lambda points: kith.dbscan(points, 0.1, n_jobs=1), "it is called 'threads' here"),
    (lambda points: kith.Tree(points, leafsize=10), r"Tree.__init__\(\) has no argument 'leafsize'; it is called 'leaf_size' here"),
    (lambda points: kith.Tree(points).query(x=points), "it is called 'queries' here"),
    (lambda points: kith.radius_search(points, radius=0.1), "it is called 'r' here"),
    (lambda points: kith.fof(points, 0.1, workers=1), "it is called 'threads' here"),
    (lambda points: kith.knn(points, 2, nonsense=1), "unexpected keyword argument 'nonsense'"),
])
def test_names_of_other_packages_get_a_hint(call, says):
    with pytest.raises(TypeError, match=says):
        call(numpy.random.default_rng(1).random((20, 3)))


def test_zero_threads_are_all():
    points = numpy.random.default_rng(1).random((200, 3))
    assert (kith.knn(points, 3, threads=0)[1] == kith.knn(points, 3)[1]).all()
    assert (kith.Tree(points, threads=0).fof(0.1, threads=0) == kith.fof(points, 0.1)).all()
    for wrong in (-1, -2**70, 2**70):
        with pytest.raises(ValueError, match="threads is .*; it must be from 1 to 65536, or None or 0 for all"):
            kith.knn(points, 3, threads=wrong)


def test_memory_of_gpus():
    kith.release_memory("cpu")  # nothing is kept there
    if kith.has_cuda():
        kith.release_memory()
    else:
        with pytest.raises((NotImplementedError, RuntimeError), match="CUDA|GPU"):
            kith.release_memory()
    with pytest.raises(ValueError, match="'gpu'"):
        kith.release_memory("gpu")
    with pytest.raises(TypeError, match="device"):
        kith.release_memory(5)
