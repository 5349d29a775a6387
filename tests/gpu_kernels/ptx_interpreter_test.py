#!/usr/bin/env python3
"""The interpreter of PTX on small kernels whose results and counts are known, and what is made of both."""

import collections
import fractions
import pathlib
import struct
import sys
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench"), str(pathlib.Path(__file__).resolve().parent)]
import check  # noqa: E402
import compiled_results  # noqa: E402
import gpu_cost  # noqa: E402
import ptx_interpreter as ptx  # noqa: E402
import ptx_lanes  # noqa: E402
import ptx_program  # noqa: E402

BEGIN = 1 << 20  # address of the device's memory
HEAD = """.visible .entry kernel(
.param .align 8 .b8 _kernel_param_0[16]
)
{
.reg .pred %p<8>;
.reg .b32 %r<32>;
.reg .b64 %rd<8>;
.reg .f32 %f<8>;
ld.param.u64 %rd1, [_kernel_param_0];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
"""
STORE = """
st.global.u32 [%rd3], %r10;
ret;
}
"""


def run(body, values, threads=64, blocks=1, shared=None):
    """What the kernel makes of the array, and the machine that ran it."""
    memory = numpy.zeros(4096, dtype=numpy.uint8)
    memory[:4 * len(values)] = numpy.asarray(values).view(numpy.uint8)
    program = ptx_program.Program(HEAD + body + STORE, shared or {})
    job = numpy.frombuffer(struct.pack("<QQ", BEGIN, 0), dtype=numpy.uint8)
    machine = ptx.Machine(program, ptx.Launch(blocks, threads, job, memory, BEGIN))
    for block in range(blocks):
        machine.run(block)
    return memory[:4 * len(values)].view(numpy.uint32), machine


def executions(machine, operation):
    """How often warps executed the instructions of that name."""
    program = machine.program
    return sum(machine.counts[program.segment_of_line[line]] for line, _, name, _ in program.instructions
               if name == operation)


class Interpreter(unittest.TestCase):
    numbers = numpy.random.default_rng(1).integers(0, 2**32, 128, dtype=numpy.uint32)

    def expect(self, body, expected, values=None, **launch):
        values = self.numbers if values is None else values
        found, machine = run(body, values, **launch)
        numpy.testing.assert_array_equal(found, numpy.asarray(expected).astype(numpy.uint32))
        return machine

    def test_integers(self):
        x = self.numbers
        for body, expected in (
                ("add.s32 %r10, %r5, 7;", x + 7), ("mul.lo.s32 %r10, %r5, %r5;", x * x),
                ("shl.b32 %r10, %r5, 40;", x * 0), ("shr.s32 %r10, %r5, 40;", x.view(numpy.int32) >> 31),
                ("mul.hi.u32 %r10, %r5, %r5;", (x.astype(numpy.uint64)**2 >> 32).astype(numpy.uint32)),
                ("clz.b32 %r10, %r5;", [32 - int(v).bit_length() for v in x]),
                ("popc.b32 %r10, %r5;", [bin(v).count("1") for v in x]),
                ("brev.b32 %r10, %r5;", [int(f"{v:032b}"[::-1], 2) for v in x]),
                ("bfi.b32 %r10, 5, %r5, 4, 3;", (x & ~numpy.uint32(0x70)) | 0x50),
                ("prmt.b32 %r10, %r5, 0, 0x0123;", x.byteswap()),
                ("prmt.b32 %r10, %r5, %r5, 0x7778;", ((x >> 24) * 0x1010100 & 0xFFFFFF00) | (x >> 7 & 1) * 255),
                ("setp.lt.s32 %p1, %r5, 0;\nselp.u32 %r10, 1, 2, %p1;", numpy.where(x.view(numpy.int32) < 0, 1, 2)),
                ("mov.b64 %rd4, {%r5, %r4};\nshr.u64 %rd4, %rd4, 32;\ncvt.u32.u64 %r10, %rd4;", numpy.arange(128))):
            with self.subTest(body):
                self.expect("ld.global.u32 %r5, [%rd3];\n" + body, expected, blocks=2)

    def test_integers_of_128_bits(self):
        """The squares of numbers of 64 bits with a sign, plus like numbers: each word of the sums in turn."""
        x = self.numbers[:64]
        wide = [(int(v) << 32) - 2**63 for v in x]
        square = """
            ld.global.u32 %r5, [%rd3];
            mov.b64 %rd4, {0, %r5};
            xor.b64 %rd4, %rd4, 0x8000000000000000;
            mul.lo.s64 %rd5, %rd4, %rd4;
            mul.hi.s64 %rd6, %rd4, %rd4;
            shr.s64 %rd7, %rd4, 63;
            or.b64 %rd4, %rd4, 0xffffffff;
            add.cc.s64 %rd5, %rd5, %rd4;
            addc.cc.s64 %rd6, %rd6, %rd7;
        """
        sums = [value * value + (value | 0xFFFFFFFF) for value in wide]
        for shift, word in enumerate(("%rd5", "%rd5", "%rd6", "%rd6")):
            with self.subTest(shift):
                self.expect(square + f"shr.u64 %rd4, {word}, {32 * (shift % 2)};\ncvt.u32.u64 %r10, %rd4;",
                            [(total >> 32 * shift) & 0xFFFFFFFF for total in sums], x)
        negated = square + "sub.cc.s64 %rd5, 0, %rd5;\nsubc.cc.s64 %rd6, 0, %rd6;\n"
        for shift, word in enumerate(("%rd5", "%rd5", "%rd6", "%rd6")):
            with self.subTest(f"negated {shift}"):
                self.expect(negated + f"shr.u64 %rd4, {word}, {32 * (shift % 2)};\ncvt.u32.u64 %r10, %rd4;",
                            [(-total >> 32 * shift) & 0xFFFFFFFF for total in sums], x)
        self.expect("ld.global.u32 %r5, [%rd3];\nmov.b64 %rd4, {%r5, %r5};\nmul.hi.u64 %rd4, %rd4, %rd4;\n"
                    "cvt.u32.u64 %r10, %rd4;", [((int(v) * (2**32 + 1))**2 >> 64) & 0xFFFFFFFF for v in x], x)

    def test_fused_multiply_adds_round_once(self):
        rng = numpy.random.default_rng(3)
        for dtype in (numpy.float32, numpy.float64):
            digits = numpy.finfo(dtype).nmant + 1
            for spread in (1, 30):
                a, b, c = (numpy.ldexp(rng.integers(-2**digits, 2**digits, 32).astype(dtype),
                                       rng.integers(-spread, spread, 32)) for _ in range(3))
                c[:8] = -(a * b)[:8]          # what rounding the product takes off
                c[8:16] *= dtype(2.0**digits) # about as large
                expected = [fractions.Fraction(float(x)) * fractions.Fraction(float(y)) + fractions.Fraction(float(z))
                            for x, y, z in zip(a, b, c)]
                found = ptx_lanes.fused(a, b, c)
                self.assertEqual(found.dtype, dtype)
                for value, exact in zip(found, expected):
                    error = abs(fractions.Fraction(float(value)) - exact)
                    for other in (numpy.nextafter(value, dtype(-numpy.inf)), numpy.nextafter(value, dtype(numpy.inf))):
                        self.assertLessEqual(error, abs(fractions.Fraction(float(other)) - exact))

    def test_floats(self):
        x = numpy.random.default_rng(2).random(64, dtype=numpy.float32) - numpy.float32(0.5)
        x[:2] = numpy.nan, -numpy.inf
        with numpy.errstate(invalid="ignore"):
            for body, expected in (
                    ("mul.rn.f32 %f2, %f1, %f1;", x * x), ("sqrt.rn.f32 %f2, %f1;", numpy.sqrt(x)),
                    ("min.f32 %f2, %f1, 0f3F000000;", numpy.fmin(x, numpy.float32(0.5))),
                    ("setp.ltu.f32 %p1, %f1, 0f00000000;\nselp.f32 %f2, 0f3F800000, 0f00000000, %p1;",
                     (~(x >= 0)).astype(numpy.float32))):
                with self.subTest(body):
                    found, _ = run(f"ld.global.f32 %f1, [%rd3];\n{body}\nmov.b32 %r10, %f2;", x.view(numpy.uint32))
                    numpy.testing.assert_array_equal(found.view(numpy.float32), expected)

    def test_branches_join_again(self):
        """Half of the lanes count to their number; warps execute the loop as often as their largest lane does."""
        machine = self.expect("""mov.u32 %r10, 0;
and.b32 %r6, %r1, 1;
setp.eq.s32 %p1, %r6, 0;
@%p1 bra $end;
$loop:
add.s32 %r10, %r10, 1;
setp.lt.u32 %p2, %r10, %r1;
@%p2 bra $loop;
$end:
add.s32 %r10, %r10, 100;""", [100 + i * (i % 2) for i in range(64)], numpy.zeros(64, dtype=numpy.uint32))
        self.assertEqual(executions(machine, "setp.lt.u32"), 31 + 63)
        self.assertEqual(executions(machine, "setp.eq.s32"), 2)
        self.assertEqual(executions(machine, "st.global.u32"), 2)

    def test_warp_operations(self):
        x = self.numbers[:64]
        self.expect("ld.global.u32 %r5, [%rd3];\nshfl.sync.bfly.b32 %r10|%p1, %r5, 3, 31, -1;",
                    x[numpy.arange(64) ^ 3], x)
        self.expect("ld.global.u32 %r5, [%rd3];\nshfl.sync.up.b32 %r10|%p1, %r5, 1, 0, -1;\n@!%p1 mov.u32 %r10, 9;",
                    [9 if i % 32 == 0 else x[i - 1] for i in range(64)], x)
        self.expect("setp.lt.u32 %p1, %r1, 37;\nvote.sync.ballot.b32 %r10, %p1, -1;", [2**32 - 1] * 32 + [31] * 32, x)

    def test_warp_operation_waits_for_its_lanes(self):
        """Lanes that come later, from a branch that lies behind."""
        self.expect("""mov.u32 %r5, 1;
setp.lt.u32 %p1, %r1, 16;
@%p1 bra $later;
$meet:
shfl.sync.idx.b32 %r10|%p2, %r5, 0, 31, -1;
bra.uni $done;
$later:
mov.u32 %r5, 7;
bra.uni $meet;
$done:""", [7] * 32, numpy.zeros(32, dtype=numpy.uint32), threads=32)

    def test_barrier_and_shared_memory(self):
        """Each thread reads what the thread at the other end of the block wrote."""
        self.expect("""mov.u32 %r5, _ZZarray;
shl.b32 %r6, %r1, 2;
add.s32 %r7, %r5, %r6;
st.shared.u32 [%r7], %r1;
bar.sync 0;
sub.s32 %r8, %r5, %r6;
ld.shared.u32 %r10, [%r8+252];""", numpy.arange(64)[::-1], numpy.zeros(64, dtype=numpy.uint32),
                    shared={"_ZZarray": 256})

    def test_atomics(self):
        found, _ = run("atom.global.add.u32 %r10, [%rd1+512], 1;", numpy.zeros(129, dtype=numpy.uint32), threads=128)
        self.assertEqual(sorted(found[:128]), list(range(128)))
        self.assertEqual(found[128], 128)

    def test_touched_sectors(self):
        _, machine = run("ld.global.u32 %r10, [%rd3];", self.numbers, threads=128)
        [accesses] = machine.accesses
        self.assertEqual(gpu_cost.unique_sectors(accesses, ("load",)).size, 128 * 4 // gpu_cost.SECTOR)

    def test_comparisons_with_what_is_no_number(self):
        values = numpy.array([1, numpy.nan, numpy.inf, -numpy.nan], dtype=numpy.float32)
        for comparison, expected in (("nan", [0, 1, 0, 1]), ("num", [1, 0, 1, 0])):
            found, _ = run(f"""ld.global.f32 %f1, [%rd3];
mov.f32 %f2, 0f3F800000;
setp.{comparison}.f32 %p1, %f1, %f2;
selp.u32 %r10, 1, 0, %p1;""", numpy.tile(values, 16))
            self.assertEqual(list(found[:4]), expected)

    def test_outside_of_memory(self):
        with self.assertRaises(IndexError):
            run("ld.global.u32 %r10, [%rd3+8192];", self.numbers)

    def test_accesses_that_are_not_aligned(self):
        for body in ("ld.global.u32 %r10, [%rd3+2];", "ld.global.v2.u32 {%r10, %r5}, [%rd3];",
                     "shl.b32 %r6, %r1, 1;\nmov.u32 %r5, _ZZarray;\nadd.s32 %r6, %r5, %r6;\nst.shared.u32 [%r6], %r1;"):
            with self.subTest(body), self.assertRaisesRegex(IndexError, "not aligned"):
                run(body, self.numbers, shared={"_ZZarray": 256})

    def test_unknown_instruction(self):
        for body in ("dp4a.u32.u32 %r10, %r1, %r1, %r1;", "add.ftz.f32 %f1, %f1, %f1;", "mul.rz.f32 %f1, %f1, %f1;",
                     "add.sat.f32 %f1, %f1, %f1;", "cvt.rp.f32.f64 %f1, 0d3FF0000000000000;",
                     "bar.red.or.pred %p1, 0, %p1;"):
            with self.subTest(body), self.assertRaises(ptx_program.Unsupported):
                run(body, self.numbers)

    def test_sums_toward_zero(self):
        for dtype in (numpy.float32, numpy.float64):
            rng, largest = numpy.random.default_rng(4), numpy.finfo(dtype).max
            a, b = (numpy.ldexp(rng.random(64).astype(dtype) - dtype(0.5), rng.integers(-30, 30, 64)) for _ in range(2))
            a[0], b[0] = dtype(0.5) - numpy.finfo(dtype).epsneg / 2, 0.5
            for x, y, found in zip(a, b, ptx_lanes.sum_toward_zero(a, b)):
                exact = fractions.Fraction(float(x)) + fractions.Fraction(float(y))
                beyond = numpy.nextafter(found, dtype(numpy.copysign(numpy.inf, float(exact))))
                self.assertLessEqual(abs(fractions.Fraction(float(found))), abs(exact))
                self.assertGreater(abs(fractions.Fraction(float(beyond))), abs(exact))
            with numpy.errstate(all="ignore"):
                found = ptx_lanes.sum_toward_zero(numpy.full(2, largest), numpy.array([largest, numpy.inf], dtype))
            self.assertEqual(list(found), [largest, numpy.inf])

    def test_integers_from_floats_and_quotients(self):
        values = numpy.array([3, -3, 1e30, -1e30, numpy.nan, 2.0**31])
        self.assertEqual(list(ptx_lanes.to_integer(values, numpy.int64)),
                         [3, -3, 2**63 - 1, -2**63, -2**63, 2**31])
        self.assertEqual(list(ptx_lanes.to_integer(values.astype(numpy.float32), numpy.int32)),
                         [3, -3, 2**31 - 1, -2**31, 0, 2**31 - 1])
        self.assertEqual(list(ptx_lanes.quotient(numpy.array([7, -7, 7, -7]), numpy.array([2, 2, -2, -2]))),
                         [3, -3, -3, 3])


class Cost(unittest.TestCase):
    def test_blocks_are_executed_as_often_as_most_of_their_lines(self):
        """A loop of ten rounds that was unrolled twice, behind a line that was moved out of it."""
        _, machine = run("""mov.u32 %r10, 0;
$loop:
shfl.sync.bfly.b32 %r6|%p1, %r10, 1, 31, -1;
add.s32 %r10, %r10, 1;
setp.lt.u32 %p2, %r10, 10;
@%p2 bra $loop;""", numpy.zeros(32, dtype=numpy.uint32), threads=32)
        line = {operation: line for line, _, operation, _ in machine.program.instructions}
        loop = [("SHFL", line["shfl.sync.bfly.b32"]), ("IADD3", line["add.s32"]), ("ISETP", line["setp.lt.u32"])]
        start = [("LDC", line["ld.param.u64"]), ("S2R", line["mad.lo.s32"]), ("IADD3", line["setp.lt.u32"])]
        total = gpu_cost.executed([start, loop, loop], machine.program, machine.counts)
        self.assertEqual(total, {"LDC": 1, "S2R": 1, "SHFL": 10, "IADD3": 11, "ISETP": 10})

    def test_warps_that_are_resident(self):
        for registers, shared, warps, expected in ((128, 28672, 2, 14), (186, 44032, 2, 10), (112, 23552, 2, 18),
                                                   (56, 0, 4, 36), (16, 0, 8, 64), (16, 0, 1, 32)):
            with self.subTest(registers):
                self.assertEqual(gpu_cost.resident_warps(check.Kernel(registers, shared, 0, 0, 0), warps), expected)

    def test_latency_of_warps_one_after_the_other(self):
        kernel = check.Kernel(128, 28672, 0, 0, 0)
        of = lambda name, warps: gpu_cost.latency_of(name, kernel, 100.0 * warps, warps, 2)
        one = of("link_leaves_kernel<float, 3, true>", 2)
        self.assertEqual(one, 1200)
        self.assertEqual(of("link_leaves_kernel<float, 3, true>", 132 * 14), one)
        self.assertAlmostEqual(of("link_leaves_kernel<float, 3, true>", 3 * 132 * 14), 3 * one)
        self.assertEqual(of("other_kernel", 2), 0)

    def test_the_slower_of_host_and_device_between_waits(self):
        gpu = gpu_cost.GPUS["h100"]
        short, long = gpu_cost.Stage(launches=2), gpu_cost.Stage(launches=1, dram=1e-3 * gpu.dram)
        launches = [(gpu_cost.Asked(0, 3, 1), short), (gpu_cost.Asked(1, 3, 1), long), (gpu_cost.Asked(1, 4, 1), short)]
        host = 3 * 2 * gpu_cost.HOST_TAKE + (1 + 2) * gpu_cost.HOST_LAUNCH
        device = 1e-3 + 2 * gpu_cost.LAUNCH
        self.assertAlmostEqual(gpu_cost.seconds_with_host(launches, gpu_cost.Asked(2, 4, 1), gpu),
                               host + device + 2 * gpu_cost.HOST_WAIT)

    def check(self, body, pieces=((0, 256),), kernel="kernel<float>"):
        """What is wrong with a kernel that should add 7 to 64 numbers."""
        before = numpy.zeros(4096, dtype=numpy.uint8)
        before[:256] = numpy.arange(64, dtype=numpy.uint32).view(numpy.uint8)
        expected = before.copy()
        expected[:256] = (numpy.arange(64, dtype=numpy.uint32) + 7).view(numpy.uint8)
        launch = {"blocks": 1, "threads": 64, "job": struct.pack("<QQ", BEGIN, 0).hex(), "pieces": pieces}
        program = ptx_program.Program(HEAD + "ld.global.u32 %r5, [%rd3];\n" + body + STORE, {})
        return compiled_results.check_launch(program, kernel, launch, before, expected, BEGIN, 64)

    def test_results_are_those_expected(self):
        self.assertEqual(self.check("add.s32 %r10, %r5, 7;"), (None, 256))
        for body, complaint in (("add.s32 %r10, %r5, 6;", "64 bytes differ; byte 0 is 6, not 7"),
                                ("sub.s32 %r10, %r5, 7;", "bytes differ"),
                                ("setp.lt.u32 %p1, %r1, 63;\nselp.u32 %r6, 7, 0, %p1;\nadd.s32 %r10, %r5, %r6;",
                                 "1 bytes differ; byte 252 is 63, not 70")):
            with self.subTest(body):
                self.assertIn(complaint, self.check(body)[0])

    def test_memory_that_nobody_holds(self):
        for pieces in ([[0, 252]], [[4, 252]], [[0, 128], [128, 124]], [[0, 126], [126, 130]]):
            with self.subTest(pieces):
                self.assertIn("nobody holds", self.check("add.s32 %r10, %r5, 7;", pieces)[0])

    def test_padding(self):
        """Bytes behind a stored one may stay as they are, blocks without one may not."""
        stored = numpy.zeros(64, dtype=bool)
        stored[[16, 17, 40]] = True
        self.assertEqual(list(numpy.nonzero(compiled_results.padding(stored, 8))[0]), [*range(18, 24), *range(41, 48)])

    def test_what_may_depend_on_the_order_of_lanes(self):
        def may(rule, found, expected, points=4):
            found, expected = (numpy.array(words, dtype=numpy.int32).view(numpy.uint8) for words in (found, expected))
            return compiled_results.may_differ(rule, found, expected, points)

        self.assertTrue(may("forest", [0, 0, 1, 3], [0, 0, 0, 3]))
        self.assertFalse(may("forest", [0, 0, 2, 3], [0, 0, 0, 3]))   # a group more
        self.assertFalse(may("forest", [0, 0, 1, -1], [0, 0, 0, 3]))  # no parent
        self.assertTrue(may("list of rows", [2, 0, 3, 9, 8], [0, 3, 2, 9, 8]))
        self.assertFalse(may("list of rows", [2, 0, 0, 9, 8], [0, 3, 2, 9, 8]))
        self.assertFalse(may("list of rows", [2, 0, 3, 8, 9], [0, 3, 2, 9, 8]))  # no rows
        self.assertTrue(may("forest or list", [5, 1, 7, 3], [7, 3, 5, 1]))
        self.assertFalse(may("forest or list", [5, 1, 7, 3], [7, 3, 5, 2]))

    def test_kernels_that_no_call_shows(self):
        names = ["complete_kernel<CompleteSearchFrame<float> >", "merge_rows_kernel<float>", "new_kernel<float>",
                 "each_index_kernel<FindRuns<unsigned long> >",
                 "join_below_kernel<int, AttributeOfNode<int>, JoinComponents>",
                 "join_below_kernel<float, AttributeOfNode<float>, LesserCore<float> >",
                 "join_below_kernel<long, AttributeOfNode<long>, AddWeights>",
                 "join_below_kernel<double, AttributeOfNode<double>, AddMasses>",
                 "each_index_kernel<AddVelocities<float, 3, float> >", "each_index_kernel<JoinRows<float, 3> >"]
        launches, stored = collections.Counter(), collections.Counter()
        [complaint] = compiled_results.not_seen(names, 3, launches, stored)
        self.assertIn("new_kernel<float>: no call launches it", complaint)
        launches["new_kernel<float>"] = 3
        [complaint] = compiled_results.not_seen(names, 3, launches, stored)
        self.assertIn("new_kernel<float>: its launches store nothing", complaint)
        stored["new_kernel<float>"] = 4
        self.assertEqual(list(compiled_results.not_seen(names, 3, launches, stored)), [])
        [complaint] = compiled_results.not_seen(names[1:], 3, launches, stored)
        self.assertIn("remove the line", complaint)
        names.append("wide_kernel<float, 6, true>")
        self.assertEqual(list(compiled_results.not_seen(names, 3, launches, stored)), [])
        stored.clear()  # of kernels for no dimension, eight have nothing to show
        [complaint] = compiled_results.not_seen(names, 6, launches, stored)
        self.assertIn("wide_kernel<float, 6, true>: no call launches it", complaint)

    def test_limiter(self):
        gpu = gpu_cost.GPUS["h100"]
        stage = gpu_cost.Stage(1, gpu_cost.collections.Counter(FFMA=4e9, ISETP=3e9), 0, 1e6)
        self.assertEqual(stage.seconds(gpu), (7e9 / 4 / (132 * 1.7e9), "issue slots"))
        stage.opcodes["ISETP"] = 8e9
        self.assertEqual(stage.seconds(gpu)[1], "half rate")
        stage.dram = 1e12
        self.assertEqual(stage.seconds(gpu), (1e12 / 3.35e12, "DRAM"))


if __name__ == "__main__":
    unittest.main()
