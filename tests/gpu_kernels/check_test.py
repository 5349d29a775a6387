#!/usr/bin/env python3
"""Each rule of check.py catches the kernel that breaks it, in a small dump of the form that cuobjdump prints."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check

SEARCH = "_ZN4kith6detail3gpu20search_leaves_kernelIfLi3ELb1ELi1EEEvNS1_3JobIT_EE"
SORT = "_ZN4kith6detail3gpu11sort_kernelIiEEvNS1_7SortJobE"
RESOURCES = "".join(f""" Function {name}:
  REG:40 STACK:0 SHARED:1024 LOCAL:0 CONSTANT[0]:888 TEXTURE:0 SURFACE:0 SAMPLER:0
""" for name in (SEARCH, SORT))

PTX = f"""
Fatbin ptx code:
================
arch = sm_90
code version = [9,0]
ptxasOptions =  --fmad false

.func (.param .b64 func_retval0) __internal_accurate_pow
(
.param .b64 __internal_accurate_pow_param_0
)
;
.visible .entry {SEARCH}(
.param .align 8 .b8 job[8]
)
{{
sub.rn.f32 %f1, %f2, %f3;
@%p1 fma.rn.f32 %f4, %f1, %f1, %f1;
ex2.approx.f32 %f5, %f4;
ret;

}}
.visible .entry {SORT}(
.param .align 8 .b8 job[8]
)
{{
mul.rn.f32 %f1, %f2, %f3;
// call
ret;

}}
.func (.param .b64 func_retval0) __internal_accurate_pow(
.param .b64 __internal_accurate_pow_param_0
)
{{
fma.rn.f64 %fd1, %fd2, %fd3, %fd4;
ret;

}}
"""


def kernels_of(resources=RESOURCES, ptx=PTX):
    return check.kernels_of(resources, ptx)


def complaints(resources=RESOURCES, ptx=PTX):
    kernels, problems, _ = kernels_of(resources, ptx)
    rules = [rule for rule in check.broken_rules(kernels) if not rule.startswith("LOCAL of")]
    return problems + rules


class Rules(unittest.TestCase):
    def test_good_kernels(self):
        self.assertEqual(complaints(), [])
        kernels, _, release = kernels_of()
        self.assertEqual(release, "9.0")
        self.assertEqual(kernels, {"search_leaves_kernel<float, 3, true, 1>": (40, 1024, 0, 1, 1),
                                   "sort_kernel<int>": (40, 1024, 0, 0, 0)})

    def test_contraction_is_allowed(self):
        [problem] = complaints(ptx=PTX.replace(" --fmad false", ""))
        self.assertIn("--fmad=false", problem)

    def test_open_rounding(self):
        [problem] = complaints(ptx=PTX.replace("mul.rn.f32", "mul.f32"))
        self.assertIn("mul.f32 leaves its rounding open", problem)

    def test_approximate_instruction(self):
        [problem] = complaints(ptx=PTX.replace("mul.rn.f32 %f1", "@!%p2 rcp.approx.ftz.f32 %f1"))
        self.assertIn("sort_kernel<int>: 1 approximate", problem)

    def test_local_memory_of_a_search(self):
        [problem] = complaints(RESOURCES.replace("STACK:0", "STACK:8"))
        self.assertIn("search_leaves_kernel<float, 3, true, 1>: 8 bytes of local memory", problem)

    def test_exception_that_nothing_needs(self):
        kernels, _, _ = kernels_of()
        self.assertEqual(sum(rule.startswith("LOCAL of") for rule in check.broken_rules(kernels)), len(check.LOCAL))

    def test_function_that_a_kernel_calls(self):
        kernels, _, _ = kernels_of(ptx=PTX.replace("// call", "call.uni (retval0), __internal_accurate_pow, (param0);"))
        self.assertEqual(kernels["sort_kernel<int>"].fused, 1)

    def test_function_that_a_kernel_calls_behind_an_inner_block(self):
        call = "{\n.reg .b32 %held;\n}\ncall.uni (retval0), \n__internal_accurate_pow, \n(param0);"
        kernels, _, _ = kernels_of(ptx=PTX.replace("// call", call))
        self.assertEqual(kernels["sort_kernel<int>"].fused, 1)
        self.assertEqual(kernels["search_leaves_kernel<float, 3, true, 1>"].fused, 1)  # its own: it calls nothing

    def test_missing_ptx_and_no_kernels(self):
        _, problems, _ = kernels_of(ptx="")
        self.assertIn("PTX is not in the library", problems[0])
        _, problems, _ = kernels_of("")
        self.assertEqual(problems, ["there is no kernel of kith in the library"])


class Table(unittest.TestCase):
    def setUp(self):
        self.kernels, _, release = kernels_of()
        self.text = check.table_of(self.kernels, release)

    def differences(self, text):
        return list(check.differences(self.kernels, check.read_table(text)[0]))

    def test_round_trip(self):
        self.assertEqual(check.read_table(self.text), (self.kernels, "9.0"))
        self.assertEqual(self.differences(self.text), [])

    def test_numbers_that_grew(self):
        for doctored, expected in (("39\t1024", "40 registers, the table states 39"),
                                   ("40\t1023", "1024 shared, the table states 1023")):
            self.assertEqual(self.differences(self.text.replace("<int>\t40\t1024", "<int>\t" + doctored)),
                             ["sort_kernel<int>: " + expected])

    def test_numbers_that_shrank(self):
        self.assertEqual(self.differences(self.text.replace("<int>\t40", "<int>\t50")), [])

    def test_kernels_that_came_and_went(self):
        self.assertEqual(self.differences(self.text.replace("sort_kernel", "sum_kernel")),
                         ["sort_kernel<int>: not in the table",
                          "sum_kernel<int>: in the table, but no such kernel is compiled"])


class Program(unittest.TestCase):
    def test_exit_status(self):
        """The whole program, with a cuobjdump that prints a dump with a register more than the table states."""
        kernels, _, release = kernels_of()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "resources").write_text(RESOURCES.replace("REG:40", "REG:41"))
            (folder / "ptx").write_text(PTX)
            (folder / "table.tsv").write_text(check.table_of(kernels, release))
            tool = folder / "cuobjdump"
            tool.write_text(f'#!/bin/sh\n[ "$1" = --dump-ptx ] && exec cat {folder}/ptx\nexec cat {folder}/resources\n')
            tool.chmod(0o755)
            result = subprocess.run([sys.executable, check.__file__, folder / "library.a", "--table", folder / "table.tsv"],
                                    env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"),
                                    capture_output=True, text=True)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("sort_kernel<int>: 41 registers, the table states 40", result.stdout)
        self.assertIn("--renew", result.stdout)


if __name__ == "__main__":
    unittest.main()
