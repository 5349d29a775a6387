#!/usr/bin/env python3
"""kith beside jz-tree on one GPU: the same arrays of JAX, from unsorted points to answers in input order.

    peers.py [--positions FILE --period L] [--output FILE] [--repetitions N]

Both are called through JAX and jitted (kith.jax; jztree.knn.knn.jit, jztree.fof.fof_labels.jit), so that what is timed
is the work alone: the median from the call to when its arrays are ready, after two calls that warm up. kith is also
called as a user of arrays calls it (kith.knn, kith.fof with arrays of CuPy), which waits and takes its own memory. Both
must give the same distances, and the same number of groups. jz-tree is left out where it is not installed
(pip install jztree[cuda13]); what it refuses is named. FILE holds float32, three coordinates a point, in a periodic cube
(bench/gpu/cosmic_field.py makes one).
"""

import argparse
import json
import pathlib
import statistics
import time
import traceback

import numpy


def median_of(call, ready, repetitions):
    """Seconds, and the answer of the last call."""
    for _ in range(2):
        answer = ready(call())
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        answer = ready(call())
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), answer


class Peers:
    def __init__(self, repetitions):
        import jax
        self.jax, self.repetitions, self.rows = jax, repetitions, []
        self.methods = {}
        try:
            import kith.jax
            self.methods["kith.jax"] = self.kith_jax
        except Exception as reason:
            print(f"without kith.jax: {reason!r}", flush=True)
        try:
            import cupy
            self.cupy = cupy
            self.methods["kith"] = self.kith_arrays
        except Exception as reason:
            print(f"without kith on CuPy's arrays: {reason!r}", flush=True)
        try:
            import jztree.fof
            import jztree.knn
            self.methods["jz-tree"] = self.jz_tree
        except Exception as reason:
            print(f"without jz-tree: {reason!r}", flush=True)

    # What each does: a function without arguments for the points on the GPU, and one that waits for its answer.

    def kith_jax(self, task, points, k, length, period):
        import kith.jax
        array = self.jax.numpy.asarray(points)
        if task == "knn":
            call = self.jax.jit(lambda x: kith.jax.knn(x, k, box=period))
        else:
            call = self.jax.jit(lambda x: kith.jax.fof(x, length, box=period))
        return lambda: call(array), self.jax.block_until_ready

    def kith_arrays(self, task, points, k, length, period):
        import kith
        array = self.cupy.asarray(points)

        def ready(answer):
            self.cupy.cuda.Device().synchronize()
            return answer

        if task == "knn":
            return lambda: kith.knn(array, k, box=period), ready
        return lambda: kith.fof(array, length, box=period), ready

    def jz_tree(self, task, points, k, length, period):
        import jztree.fof
        import jztree.knn
        array = self.jax.numpy.asarray(points)
        if task == "knn":
            return lambda: jztree.knn.knn.jit(array, k=k, boxsize=period), self.jax.block_until_ready
        return (lambda: jztree.fof.fof_labels.jit(array, rlink=length, boxsize=period or 0.0, output_order="input"),
                self.jax.block_until_ready)

    def compare(self, name, task, points, k=0, length=0.0, period=None):
        row = {"name": name, "n": len(points), "k": k, "linking_length": length, "period": period}
        found = {}
        for method, make in self.methods.items():
            try:
                call, ready = make(task, points, k, length, period)
                row[method], answer = median_of(call, ready, self.repetitions)
                found[method] = self.digest(task, answer)
                del call, answer
            except Exception as reason:
                row[method] = f"{type(reason).__name__}: {str(reason).partition(': Traceback')[0].partition(chr(10))[0][:300]}"
                traceback.print_exc(limit=3)
        first = next(iter(found.values()), None)
        if task == "fof":  # groups of two and more, of 20 and more, the largest
            row["groups"] = found
        row["agrees"] = {method: self.alike(task, first, other) for method, other in found.items()}
        self.rows.append(row)
        times = ", ".join(f"{method} {1e3 * row[method]:.3f} ms" if isinstance(row[method], float) else
                          f"{method} {row[method]}" for method in self.methods)
        print(f"{name}: {times}; agrees {row['agrees']}", flush=True)

    def on_host(self, array):
        return array.get() if hasattr(array, "get") else numpy.asarray(array)

    def digest(self, task, answer):
        if task == "knn":
            distances = self.on_host(answer[0])
            return distances[:: max(1, len(distances) // 200_000)]
        if isinstance(answer, tuple):  # jz-tree's points and labels
            answer = answer[1]
        labels = self.on_host(getattr(answer, "labels", answer))
        counts = numpy.unique(labels, return_counts=True)[1]
        return int((counts > 1).sum()), int((counts >= 20).sum()), int(counts.max())

    @staticmethod
    def alike(task, one, other):
        if task == "knn":
            return bool(one.shape == other.shape and numpy.allclose(one, other, rtol=3e-6, atol=1e-9))
        return one == other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=pathlib.Path)
    parser.add_argument("--period", type=float, default=1.0, help="(%(default)s)")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=10, help="(%(default)s)")
    chosen = parser.parse_args()
    peers = Peers(chosen.repetitions)
    random = numpy.random.default_rng(1)
    tasks = [(f"uniform_1e{power}_k{k}", "knn", power, k) for power, k in
             ((7, 16), (6, 16), (5, 16), (4, 16), (7, 8), (7, 32))]
    for name, task, power, k in tasks:
        peers.compare(name, task, random.random((10**power, 3), dtype=numpy.float32), k)
        if chosen.output:
            chosen.output.write_text(json.dumps(peers.rows, indent=1))
    if chosen.positions:
        points = numpy.fromfile(chosen.positions, dtype=numpy.float32).reshape(-1, 3) * numpy.float32(chosen.period)
        length = 0.2 * chosen.period / round(len(points) ** (1 / 3))
        peers.compare("file_groups", "fof", points, length=length, period=chosen.period)
        peers.compare("file_k16", "knn", points, 16, period=chosen.period)
    if chosen.output:
        chosen.output.write_text(json.dumps(peers.rows, indent=1))


if __name__ == "__main__":
    main()
