#!/usr/bin/env python3
"""The interpreter of PTX on small kernels whose results and counts are known, and what is made of both."""

import fractions
import pathlib
import struct
import sys
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench"), str(pathlib.Path(__file__).resolve().parent)]
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

    def test_outside_of_memory(self):
        with self.assertRaises(IndexError):
            run("ld.global.u32 %r10, [%rd3+8192];", self.numbers)

    def test_unknown_instruction(self):
        with self.assertRaises(ptx_program.Unsupported):
            run("dp4a.u32.u32 %r10, %r1, %r1, %r1;", self.numbers)


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

    def test_results_of_compiled_kernels(self):
        """That they are those expected is checked byte by byte, and that nothing is touched that nobody holds."""
        before = numpy.zeros(4096, dtype=numpy.uint8)
        before[:256] = numpy.arange(64, dtype=numpy.uint32).view(numpy.uint8)
        expected = before.copy()
        expected[:256] = (numpy.arange(64, dtype=numpy.uint32) + 7).view(numpy.uint8)
        launch = {"blocks": 1, "threads": 64, "job": struct.pack("<QQ", BEGIN, 0).hex(), "pieces": [[0, 256]]}
        for body, pieces, complaint in (
                ("add.s32 %r10, %r5, 7;", [[0, 256]], None),
                ("add.s32 %r10, %r5, 6;", [[0, 256]], "64 bytes differ; byte 0 is 6, not 7"),
                ("sub.s32 %r10, %r5, 7;", [[0, 256]], "bytes differ"),
                ("add.s32 %r10, %r5, 7;", [[0, 128]], "memory that nobody holds, sector 4 first")):
            with self.subTest(body):
                program = ptx_program.Program(HEAD + "ld.global.u32 %r5, [%rd3];\n" + body + STORE, {})
                found = compiled_results.check_launch(program, {**launch, "pieces": pieces}, before, expected, BEGIN)
                self.assertIn(complaint, found) if complaint else self.assertIsNone(found)

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
