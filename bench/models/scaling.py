#!/usr/bin/env python3
"""How far kith can scale: an upper bound on the speedup on many cores, modeled from tasks that one thread ran.

record_tasks runs each call on one thread with the tasks that P threads would get, and records every piece of every
parallel loop. Here the pieces are put on P workers, in order, each to the first worker that is free (greedy list
scheduling); what lies outside parallel loops takes its time alone. No stage is faster than its bytes at the bandwidth of
the memory. The page scaling.md says what the model leaves out.

  cmake --build build/dev --target record_tasks
  bench/models/scaling.py --points uniform clustered --threads 8 32 128
"""

import argparse
import collections
import heapq
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environment  # noqa: E402

environment.require("numpy")
import numpy  # noqa: E402
import point_sets  # noqa: E402

FIRST_TOUCH = "recording/support/pages.hpp:"  # the loop over new pages

# Bytes that a stage must move for each point of 3-D float32, each array once in and once out, lines that are written in
# part read first. Rows: k = 16 indices and distances.
BYTES = {
    "order": 12 + 2 + 2 + 12 + 16 + 16 + 16,  # keys: points in, parts out; records: both in, out; sorted: in, out
    "tree": 16,  # coordinates and indices in
    "knn search": 16 + 2 * 128,  # points in; rows out
    "link": 3 * 12 + 3 * 4 + 4 + 2 * 4,  # points in: within, with later; parents out, in, in; indices in; labels out
    "catalog": 3 * 4 + 12,  # labels in three times; positions in; few points may be members
    "count": 16 + 8,
}


class Loop:
    """A parallel loop: where it is in the sources, its pieces, when it ran."""

    def __init__(self, name, begin):
        self.name, self.begin, self.end, self.pieces = name, begin, begin, []


class Piece:
    """What one worker does at a time, and the loops within."""

    def __init__(self, begin):
        self.begin, self.end, self.loops = begin, begin, []


class Call:
    """One recorded call: stages by name, (begin, end), and the outermost loops, in order; nanoseconds."""

    def __init__(self, events):
        self.name, self.end, self.stages, self.loops = events[0].label, events[-1].time, {}, []
        open_ = []
        for event in events[1:-1]:
            if event.kind == "stage":
                self.stages[event.label] = (event.time, event.time)
            elif event.kind == "stage end":
                self.stages[event.label] = (self.stages[event.label][0], event.time)
            elif event.kind == "loop":
                loop = Loop(event.label.split("/src/")[-1], event.time)
                (open_[-1].loops if open_ else self.loops).append(loop)
                open_.append(loop)
            elif event.kind == "piece":
                open_.append(Piece(event.time))
                open_[-2].pieces.append(open_[-1])
            else:
                open_.pop().end = event.time


class Event(NamedTuple):
    time: int
    kind: str
    label: str = ""


def read(lines):
    """The events of each call that record_tasks printed, in order of time."""
    calls = []
    for line in lines:
        kind, time, *words = line.split()
        if kind == "call":
            calls.append([Event(0, "call", words[0]), Event(int(time), "call end")])
        elif kind == "stage":
            calls[-1] += [Event(int(time), "stage", words[1]), Event(int(words[0]), "stage end", words[1])]
        else:
            calls[-1].append(Event(int(time), kind, *words))
    return [with_whole_stages(sorted(events, key=lambda event: event.time)) for events in calls]


def with_whole_stages(events):
    """Stages end with their last loops: their own clock is read a little earlier."""
    whole, open_, late = [], 0, []
    for event in events:
        open_ += (event.kind in ("loop", "piece")) - (event.kind == "end")
        if event.kind == "stage end" and open_ > 0:
            late.append(event)
            continue
        whole.append(event)
        if open_ == 0:
            whole += [end._replace(time=event.time) for end in late]
            late.clear()
    return whole


def shortest_of(rounds):
    """A call whose times from event to event are the shortest of several rounds: one thread does the same in each, and
    whatever else the machine does only adds to it."""
    if any([event[1:] for event in events] != [event[1:] for event in rounds[0]] for events in rounds):
        sys.exit(f"{rounds[0][0].label}: the rounds differ in their loops or pieces; they must be those of one program")
    times = numpy.array([[event.time for event in events] for events in rounds])
    times = numpy.cumsum(numpy.min(numpy.diff(times, axis=1, prepend=0), axis=0))
    return Call([Event(time, *event[1:]) for time, event in zip(times.tolist(), rounds[0])])


def makespan(loop, workers):
    """Nanoseconds of a loop on so many workers. A piece that comes to a loop waits; its worker goes on with the loop.

    New memory is cleared by the system while the loops that follow write it: that work is shared evenly.
    """
    if FIRST_TOUCH in loop.name:
        return (loop.end - loop.begin) / workers
    ready = collections.deque()  # (piece, how many of its loops are done, what it continues)
    running = []  # (time, number, piece, loops done, parent) ends or comes to its next loop
    number = 0

    def push(inner, parent):
        ready.extendleft((piece, 0, parent) for piece in reversed(inner.pieces))
        return len(inner.pieces)

    left = {None: push(loop, None)}
    time = 0
    while ready or running:
        while ready and len(running) < workers:
            piece, done, parent = ready.popleft()
            start = piece.loops[done - 1].end if done else piece.begin
            stop = piece.loops[done].begin if done < len(piece.loops) else piece.end
            heapq.heappush(running, (time + stop - start, number, piece, done, parent))
            number += 1
        time, _, piece, done, parent = heapq.heappop(running)
        if done < len(piece.loops):
            own = (id(piece), piece, done, parent)
            left[own[0]] = push(piece.loops[done], own)
            if left[own[0]] == 0:
                ready.appendleft((piece, done + 1, parent))
            continue
        key = parent[0] if parent else None
        left[key] -= 1
        if left[key] == 0 and parent is not None:  # its loop ends, too: what waited for that goes on
            ready.appendleft((parent[1], parent[2] + 1, parent[3]))
    return time


class Stage:
    """Of a call on P workers: nanoseconds of one thread, serial ones, and those modeled."""

    def __init__(self, begin, end, loops, workers, floor):
        self.total = end - begin
        self.loops = [(loop, makespan(loop, workers)) for loop in loops]
        ends = [Loop("its beginning", begin), *loops, Loop("", end)]
        self.gaps = [(after.begin - before.end, before.name) for before, after in zip(ends, ends[1:])]
        self.serial = self.total - sum(loop.end - loop.begin for loop in loops)
        self.floor = floor
        self.modeled = max(self.serial + sum(span for _, span in self.loops), floor)


def stages_of(call, count, workers, bandwidth):
    """Stages by name, and 'outside' for what is in none."""
    found = {}
    outside = list(call.loops)
    for name, (begin, end) in call.stages.items():
        loops = [loop for loop in call.loops if begin <= loop.begin < end]
        outside = [loop for loop in outside if loop not in loops]
        bytes_each = BYTES.get(f"{call.name} {name}", BYTES.get(name, 0))
        found[name] = Stage(begin, end, loops, workers, bytes_each * count / bandwidth)
    rest = call.end - sum(stage.total for stage in found.values())
    found["outside"] = Stage(0, rest, outside, workers, 0)
    return found


def record(arguments, path, call):
    """{threads: a call with their tasks, and what follows it}. Rounds take turns, so that a time at which the machine
    is slow falls on all."""
    rounds = {threads: [] for threads in (1, *arguments.threads)}
    for _ in range(arguments.rounds):
        for threads, of_threads in rounds.items():
            output = subprocess.run([arguments.program, path, call, str(threads)], capture_output=True, text=True, check=True)
            of_threads.append(read(output.stdout.splitlines()))
    return {threads: [shortest_of(of_call) for of_call in zip(*of_threads)] for threads, of_threads in rounds.items()}


def explain(stages, workers):
    """The loops and serial parts that keep a stage from scaling, largest loss first."""
    for name, stage in stages.items():
        losses = [(gap * (1 - 1 / workers), f"serial, after {what}", gap, 0, 0) for gap, what in stage.gaps]
        for loop, span in stage.loops:
            longest = max((piece.end - piece.begin for piece in loop.pieces), default=0)
            losses.append((span - (loop.end - loop.begin) / workers, loop.name, loop.end - loop.begin, len(loop.pieces), longest))
        for loss, what, work, pieces, longest in sorted(losses, reverse=True)[:6]:
            if loss > 1e4:
                print(f"    {name}: {what}: {work / 1e6:.2f} ms in {pieces} pieces, longest {longest / 1e6:.3f} ms; "
                      f"{loss / 1e6:.3f} ms lost")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(environment.ROOT / "build/dev/bin/record_tasks"))
    parser.add_argument("--points", nargs="+", default=["uniform", "clustered"], help="sets of bench/point_sets.py")
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--calls", nargs="+", default=["knn", "fof"], help="knn, fof (with its catalog), radius")
    parser.add_argument("--threads", nargs="+", type=int, default=[8, 32, 128])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bandwidth", type=float, default=6.25, help="GB/s of one worker; of all at most --most-bandwidth")
    parser.add_argument("--most-bandwidth", type=float, default=400, help="GB/s of all workers together")
    parser.add_argument("--explain", action="store_true", help="list what keeps each stage from scaling")
    arguments = parser.parse_args()

    machine = environment.machine()
    print(f"{machine['processor']}, one thread of {machine['cores']} cores; commit {environment.commit()}; "
          f"{arguments.count:,} points, 3-D float32; the shortest of {arguments.rounds}\n")
    print("| points, call | stage | one thread, ms | serial, ms | " +
          " | ".join(f"{threads} threads, ms | speedup | efficiency" for threads in arguments.threads) + " |")
    print("|" + "---|" * (4 + 3 * len(arguments.threads)))
    with tempfile.TemporaryDirectory() as folder:
        for points in arguments.points:
            path = pathlib.Path(folder) / f"{points}.npy"
            numpy.save(path, point_sets.make(points, arguments.count, 3, numpy.float32).points)
            for call in arguments.calls:
                print_call(arguments, points, path, call)
            path.unlink()


def print_call(arguments, points, path, call):
    runs = collections.defaultdict(dict)  # by call and threads: the stages
    for threads, recorded_calls in record(arguments, path, call).items():
        bandwidth = min(arguments.bandwidth * threads, arguments.most_bandwidth)
        for recorded in recorded_calls:
            runs[recorded.name][threads] = stages_of(recorded, arguments.count, threads, bandwidth)
    for name, by_threads in runs.items():
        for stage in (*by_threads[1], "**all**"):
            parts = {threads: stages.values() if stage == "**all**" else [stages[stage]]
                     for threads, stages in by_threads.items()}
            one = min(sum(part.total for part in of) for of in parts.values())  # the same work, whatever the tasks
            cells = [f"{one / 1e6:.1f}", f"{sum(part.serial for part in parts[arguments.threads[-1]]) / 1e6:.2f}"]
            for threads in arguments.threads:
                many = sum(part.modeled for part in parts[threads])
                cells.append(f"{many / 1e6:.1f} | {one / many:.1f} | {one / many / threads:.2f}")
            print(f"| {points}, {name} | {stage} | {' | '.join(cells)} |", flush=True)
        for threads in arguments.threads if arguments.explain else ():
            print(f"  {points}, {name}, {threads} threads:")
            explain(by_threads[threads], threads)


if __name__ == "__main__":
    main()
