"""One workload, measured: starts the contestants, checks their answers, lets them run in turn.

Ratios are paired: in every round each contestant runs once, so that a machine that slows down slows all. The first round
is for checking and for warming up; its time counts only for a contestant that is too slow to run again.
"""

import dataclasses
import json
import os
import pathlib
import select
import statistics
import subprocess
import tempfile
import time
import zlib

import numpy

import checks
import point_sets

HERE = pathlib.Path(__file__).resolve().parent
COMPILED = ("kith", "nanoflann", "cgal", "grid")
PACKAGES = ("scipy", "pykdtree", "faiss", "hfof", "scipy_pairs", "dbscan")
PEERS = COMPILED[1:] + PACKAGES
START_SECONDS = 300  # imports and reading the points
SETTLE_SECONDS = 0.02  # threads that still spin after a run go to sleep
TURN_SECONDS, TURN_RUNS = 0.1, 15  # short runs are repeated within a turn, until one of these is reached


class Trouble(Exception):
    """A contestant that failed; the text says how."""


class Contestant:
    """A process that speaks the protocol of contestants/contestant.hpp."""

    def __init__(self, name, command, threads):
        one_size = {variable: str(threads) for variable in (
            "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")}
        environment = {key: value for key, value in os.environ.items() if key != "OMP_PROC_BIND"}
        self.name = name
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env={**environment, **one_size})
        try:
            self.introduction = self._reply(START_SECONDS)
        except Trouble:
            self.stop()
            raise

    def _reply(self, timeout):
        answer, deadline = b"", time.monotonic() + timeout
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Trouble(f"stopped: no answer within {timeout:g} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.errors.seek(0)
                words = self.errors.read().decode(errors="replace").strip().splitlines()[-1:]
                raise Trouble(": ".join([f"died (exit status {self.process.wait()})", *words]))
            answer += piece
        try:
            message = json.loads(answer)
        except ValueError:
            raise Trouble(f"said what is no answer: {answer[:80]!r}") from None
        if "error" in message:
            raise Trouble(f"failed: {message['error']}")
        return message

    def ask(self, command, timeout):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing reply tells more
        return self._reply(timeout)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


class Input:
    """The files that contestants read, made or found in a cache."""

    def __init__(self, workload, cache, scratch):
        self.points_file, self.period = self._file(workload, cache, scratch, workload.n, seed=1)
        self.points = numpy.load(self.points_file, mmap_mode="r")
        self.queries_file = self.queries = None
        if workload.queries:
            if workload.points not in point_sets.SETS or workload.points == "cosmic":
                raise ValueError(f"separate queries of {workload.points} cannot be drawn; choose points that are")
            self.queries_file, _ = self._file(workload, cache, scratch, workload.queries, seed=2)
            self.queries = numpy.load(self.queries_file, mmap_mode="r")
        if not workload.periodic:
            self.box = 0.0
        elif self.period:
            self.box = self.period
        else:
            raise ValueError(f"the points {workload.points} lie in no periodic box")
        if workload.k > len(self.points):
            raise ValueError(f"k = {workload.k} is more than the {len(self.points)} points; peers do not agree on that")
        self.linking_length = self._linking_length(workload) if workload.b else 0.0

    @staticmethod
    def _file(workload, cache, scratch, count, seed):
        if workload.points not in point_sets.SETS:
            points, period = point_sets.make(workload.points, count, workload.d, workload.dtype, seed)
            path = scratch / "points.npy"
            numpy.save(path, points)
            return path, period
        path, period_path = Input.kept(workload, cache, count, seed)
        if not period_path.exists():
            points, period = point_sets.make(workload.points, count, workload.d, workload.dtype, seed)
            cache.mkdir(parents=True, exist_ok=True)
            numpy.save(path, points)
            period_path.write_text(repr(float(period)))
        return path, float(period_path.read_text())

    @staticmethod
    def kept(workload, cache, count, seed=1):
        """Where the points of a set are kept, and their period. Those of an older text of the generators are not found."""
        sources = [HERE / "point_sets.py", *sorted(pathlib.Path(point_sets.datasets.__file__).parent.glob("*.py"))]
        text = b"".join(source.read_bytes() for source in sources)
        stem = f"{workload.points}-{count}-{workload.d}d-{workload.dtype}-{seed}-{zlib.crc32(text):08x}"
        return cache / f"{stem}.npy", cache / f"{stem}.period"

    def _linking_length(self, workload):
        """Rounded to the type of the points, so that all link within the same length."""
        n, d = self.points.shape
        sides = (self.points.max(axis=0).astype(numpy.float64) - self.points.min(axis=0)) if not self.box else [self.box] * d
        length = float(numpy.dtype(workload.dtype).type(workload.b * (numpy.prod(sides) / n) ** (1 / d)))
        if not length > 0:
            raise ValueError("the points fill no volume, so a relative linking length means nothing")
        return length

    def arguments(self, workload):
        given = {"points": self.points_file, "threads": workload.all_threads}
        if self.box:
            given["period"] = repr(self.box)
        if workload.k:
            given["k"] = workload.k
        else:
            given["linking_length"] = repr(self.linking_length)
        if self.queries_file:
            given["queries"] = self.queries_file
        if workload.keep_tree:
            given["keep_tree"] = 1
        return [f"{name}={value}" for name, value in given.items()]


def command_of(name, programs, python):
    return [str(programs / f"contest_{name}")] if name in COMPILED else [str(python), str(HERE / "contestants.py"), name]


class Judge:
    """Holds kith's answer and compares the others with it."""

    def __init__(self, workload, given, scratch, patience):
        self.workload, self.scratch, self.patience = workload, scratch, patience
        self.neighbors = checks.Neighbors(given.points, given.queries, workload.k, given.box, workload.dtype)
        self.reference = str(scratch / "kith")

    def _written(self, contestant, prefix, command="answer"):
        contestant.ask(f"{command} {prefix}", self.patience + START_SECONDS)
        return prefix

    def _labels(self, contestant, prefix, command="answer"):
        return numpy.load(self._written(contestant, prefix, command) + ".labels.npy")

    def judge_kith(self, kith):
        """kith's first answer: in itself, and against all pairs for a few rows."""
        self._written(kith, self.reference)
        if self.workload.k:
            return self.neighbors.in_itself(self.reference) or self.neighbors.against_all_pairs(self.reference)
        return None

    def judge_again(self, kith):
        """The last answer must be the first, bit for bit."""
        again = self._written(kith, str(self.scratch / "again"))
        for kind in ("distances", "indices") if self.workload.k else ("labels",):
            first, last = (numpy.load(f"{prefix}.{kind}.npy", mmap_mode="r") for prefix in (self.reference, again))
            if not numpy.array_equal(first, last):
                return f"the {kind} of the last run are not those of the first"
        return None

    def judge_peer(self, peer):
        prefix = str(self.scratch / "peer")
        if self.workload.k == 0:
            ours = numpy.load(self.reference + ".labels.npy")
            return checks.groups_agree(ours, self._labels(peer, prefix),
                                       lambda factor: self._labels(peer, prefix, f"regroup {factor!r}"))
        slack = peer.introduction.get("squared_slack", 0.0)
        self._written(peer, prefix)
        return self.neighbors.in_itself(prefix, slack) or self.neighbors.against(self.reference, prefix, slack)


def measure(workload, peers, options, say):
    """Returns the record of one workload: what was asked, who did what, who was left out and why."""
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="answers-") as scratch:
        scratch = pathlib.Path(scratch)
        given = Input(workload, options.folder / "points", scratch)
        n, d = given.points.shape
        record = {"points": workload.points, "n": n, "d": d, "dtype": workload.dtype, "k": workload.k,
                  "queries": workload.queries, "keep_tree": workload.keep_tree, "b": workload.b,
                  "linking_length": given.linking_length, "period": given.box, "threads": workload.all_threads,
                  "must": workload.must, "aim": workload.aim, "results": {},
                  "title": dataclasses.replace(workload, n=n, d=d).describe(),
                  "left_out": {}, "wrong": {}}
        judge = Judge(workload, given, scratch, 10 * options.limit)
        running = {}
        try:
            for name in ("kith", *peers):
                _start_and_check(name, workload, given, judge, options, running, record, say)
                if "kith" not in running:
                    record["results"].clear()  # there is nothing to compare with
                    return record
            _rounds(running, record, options)
            if flaw := judge.judge_again(running["kith"]):
                record["wrong"]["kith"] = flaw
        finally:
            for contestant in running.values():
                contestant.stop()
    for result in record["results"].values():
        _summarize(result, record)
    return record


def _start_and_check(name, workload, given, judge, options, running, record, say):
    command = command_of(name, options.programs, options.python)
    if not pathlib.Path(command[0]).exists():
        record["left_out"][name] = f"absent: {command[0]} was not built (is its package installed?)"
        return
    contestant = None
    try:
        contestant = Contestant(name, command + given.arguments(workload), workload.all_threads)
        about = contestant.introduction
        for reason in ("absent", "unsupported"):
            if reason in about:
                record["left_out"][name] = about[reason] if reason == "unsupported" else f"absent: {about[reason]}"
                contestant.stop()
                return
        say(about)
        first = contestant.ask("run", judge.patience if name != "kith" else START_SECONDS)
        flaw = judge.judge_kith(contestant) if name == "kith" else judge.judge_peer(contestant)
    except Trouble as trouble:
        record["left_out"][name] = str(trouble)
        if contestant:
            contestant.stop()
        return
    if flaw:
        record["wrong"][name] = flaw
    record["results"][name] = {"version": about["version"], "first": first, "runs": []}
    running[name] = contestant
    if flaw or (name != "kith" and first["seconds"] > options.limit):
        running.pop(name).stop()


def _turn(contestant, timeout):
    """One run, or the median of several one after the other if they are short."""
    time.sleep(SETTLE_SECONDS)
    runs = [contestant.ask("run", timeout)]
    while sum(run["seconds"] for run in runs) < TURN_SECONDS and len(runs) < TURN_RUNS:
        runs.append(contestant.ask("run", timeout))
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


def _rounds(running, record, options):
    names = list(running)
    for turn in range(options.repetitions):
        first = turn % len(names)
        for name in (name for name in names[first:] + names[:first] if name in running):
            try:
                record["results"][name]["runs"].append(_turn(running[name], 10 * options.limit))
            except Trouble as trouble:
                if name == "kith":
                    raise
                record["left_out"][name] = str(trouble)
                del record["results"][name]
                running.pop(name).stop()


def _summarize(result, record):
    runs = result["runs"] or [result["first"]]
    seconds = [run["seconds"] for run in runs]
    result["median"], result["min"], result["max"] = statistics.median(seconds), min(seconds), max(seconds)
    own = record["results"]["kith"]["runs"] or [record["results"]["kith"]["first"]]
    if len(own) == len(runs):
        result["times_kith"] = statistics.median(theirs["seconds"] / ours["seconds"] for theirs, ours in zip(runs, own))
    else:
        result["times_kith"] = result["median"] / statistics.median(ours["seconds"] for ours in own)
    rows = record["queries"] or record["n"]
    answer = rows * record["k"] * (4 + numpy.dtype(record["dtype"]).itemsize) if record["k"] else 4 * record["n"]
    result["stages"] = {name: statistics.median(run["stages"][name] for run in runs) for name in runs[0]["stages"]}
    result["peak_bytes"] = result["first"]["peak_bytes"]
    result["bytes_per_point"] = (result["peak_bytes"] - answer) / record["n"]
    result["threads_used"] = statistics.median(run["cpu_seconds"] / max(run["seconds"], 1e-9) for run in runs)
