#!/usr/bin/env python3
"""What gpu_check.sh makes of rows and tests that are right, slow, wrong, crash, hang or lose the device. Stubs stand
for the benchmark, the tests, and the programs of the driver and of the toolkit."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Rows of the benchmark by what happens in them; those that come to their end are written to the file of results.
BENCH_GPU = r"""#!/bin/bash
pattern=. which=--all
while [ $# -gt 0 ]; do
    case $1 in
    --list) list=yes ;;
    --main | --rest) which=$1 ;;
    --rows) pattern=$2; shift ;;
    --output) output=$2; shift ;;
    *) shift ;;
    esac
    shift
done
case $which in
--main) rows=$STUB_MAIN ;;
--rest) rows=last ;;
*) rows=switch_1e3_tree ;;
esac
rows=$(tr ' ' '\n' <<<"$rows" | grep -E "$pattern")
if [ -z "$rows" ]; then
    echo "bench_gpu: no row is called so; --list names them" >&2
    exit 2
fi
if [ -n "${list:-}" ]; then
    echo "$rows"
    exit
fi
echo process >>"$STUB_CALLS"
if [ -n "${STUB_NO_GPU:-}" ]; then
    echo "bench_gpu: there is no GPU to run on: $STUB_NO_GPU" >&2
    exit 3
fi
printf 'a device\nrow median\n'
status=0
for row in $rows; do
    [ "$row" != sudden ] || exit 139
    echo "> $row"
    verdict=ok
    case $row in
    crash) kill -SEGV $$ ;;
    hang) exec sleep 60 ;;
    slow) verdict=MISSED ;;
    sampled) touch "$STUB_SAMPLED.wanted"; until [ -e "$STUB_SAMPLED" ]; do sleep 0.1; done ;;
    wrong) verdict=$'WRONG\n  WRONG: row 3'; status=1 ;;
    lost) verdict="FAILED: an illegal memory access was encountered" ;;
    esac
    [ -z "${output:-}" ] || echo "$row" >>"$output"
    echo "$row  1 ms $verdict"
    if [ "$row" = lost ]; then
        exit 1
    fi
done
exit $status
"""

# Tests, named by STUB_TESTS, by what happens in them.
TEST_CUDA = r"""#!/bin/bash
filter='*'
for option; do
    case $option in
    --gtest_filter=*) filter=${option#*=} ;;
    --gtest_list_tests) list=yes ;;
    esac
done
IFS=: read -ra patterns <<<"$filter"
echo "Running main() from /of/gtest_main.cc"
chosen=()
for name in $STUB_TESTS; do
    for pattern in "${patterns[@]}"; do
        if [[ $name == $pattern ]]; then
            chosen+=("$name")
            break
        fi
    done
done
if [ -n "${list:-}" ]; then
    for name in "${chosen[@]}"; do
        if [ "${name%%.*}" != "${suite:-}" ]; then
            suite=${name%%.*}
            echo "$suite."
        fi
        echo "  ${name#*.}  # GetParam() = 3.5"
    done
    exit
fi
echo process >>"$STUB_TEST_CALLS"
echo "[==========] Running ${#chosen[@]} tests from 1 test suite."
status=0 lost= bad=()
for name in "${chosen[@]}"; do
    [[ $name != *sudden* ]] || exit 127
    echo "[ RUN      ] $name"
    word='      OK'
    case $name in
    *crash*) kill -SEGV $$ ;;
    *hang*) exec sleep 60 ;;
    *lost*) lost=yes ;;
    *skipped*) printf '/a/test.cpp:9: Skipped\nno GPU: out of order\n'; word=' SKIPPED' ;;
    *loud*) head -c 1000000 /dev/zero | tr '\0' 'x' ;;
    *wrong*) printf '/a/test.cpp:17: Failure\nExpected equality of these values:\n  4\n  5\n'; word=' FAILED ' ;;
    esac
    if [ -n "$lost" ]; then
        printf 'unknown file: Failure\nC++ exception: "search: an illegal memory access was encountered"\n'
        word=' FAILED '
    fi
    if [ "$word" = ' FAILED ' ]; then
        status=1
        bad+=("$name")
        echo "[ $word ] $name, where GetParam() = 3.5 (1 ms)"
    else
        echo "[ $word ] $name (1 ms)"
    fi
done
echo "[==========] ${#chosen[@]} tests from 1 test suite ran. (7 ms total)"
for name in "${bad[@]}"; do
    echo "[  FAILED  ] $name, where GetParam() = 3.5"
done
exit $status
"""

NVIDIA_SMI = r"""#!/bin/bash
case "$*" in
*compute_cap*) echo 9.0 ;;
*--loop-ms*)
    echo "$$" >"$STUB_SAMPLED.process"
    printf '%s\n' '210, 2619, 70'
    until [ -e "$STUB_SAMPLED.wanted" ]; do sleep 0.1; done
    printf '%s\n' '1980, 2619, 300.5' '345, 2619, 90.25' '1755, 2619, [N/A]'
    touch "$STUB_SAMPLED"
    exec sleep 60
    ;;
*) echo "a device" ;;
esac
"""

# What ncu prints: its own lines and the program's, names, units, and values as in a spreadsheet.
NCU_RAW = r"""==PROF== Connected to process 9 (/pack/bin/bench_gpu)
> a_row
==PROF== Profiling "DeviceRadixSortHistogramKernel": 0%....100% - 3 passes
"not", "a kernel"
"ID","Process ID","thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg","Kernel Name","Block Size","gpu__time_duration.sum","l1tex__t_sector_hit_rate.pct"
"","","","","","ns","%"
"0","9","9  ""<default domain>:order:none:none:none:none:none:none"" ","void cub::CUB_300001_SM_900::DeviceRadixSortOnesweepKernel<cub::Policy<1, (int)2>, unsigned int>(T1 *, T2)","(256, 1, 1)","1,000","10.5"
"1","9","9  ""<default domain>:order:none:none:none:none:none:none"" ","void cub::CUB_300001_SM_900::DeviceRadixSortOnesweepKernel<cub::Policy<1, (int)2>, unsigned int>(T1 *, T2)","(256, 1, 1)","2500","10.5"
"2","9","9  ""<default domain>:tree:none:none:none:none:none:none"" ","void kith::detail::gpu::each_index_kernel<kith::detail::gpu::<unnamed>::FillPlanes<float>>(kith::detail::EachIndexJob<T1>)","(256, 1, 1)","500","1"
"3","9","9  ""<default domain>:search:none:none:none:none:none:none"" ","void kith::detail::gpu::(anonymous namespace)::search_leaves<float, 3, false, 16>(kith::Job<float>)","(256, 1, 1)","8000000","61"
"4","9","9  ""<default domain>:order:none:none:none:none:none:none"" ","void cub::CUB_300001_SM_900::DeviceRadixSortOnesweepKernel<cub::Policy<1, (int)2>, unsigned int>(T1 *, T2)","(256, 1, 1)","7000","10.5"
==PROF== Disconnected from process 9
"""

NCU = r"""#!/bin/bash
echo "${LD_LIBRARY_PATH:-none} $*" >>"$STUB_NCU_ARGUMENTS"
if [ -n "${STUB_NCU_IS_BLIND:-}" ] && [[ $* =~ $STUB_NCU_IS_BLIND ]]; then
    echo "==WARNING== No kernels were profiled."
elif [[ $* == *--csv* ]]; then
    cat "$(dirname "$0")/ncu_raw"
else
    printf '    Duration      us     1234.5\n    Memory Throughput    %%    41.00\n'
fi
"""

NCU_FORBIDDEN = r"""#!/bin/bash
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
exit 1
"""

COMPUTE_SANITIZER = r"""#!/bin/bash
echo "$*" >>"$STUB_SANITIZER_ARGUMENTS"
echo "========= COMPUTE-SANITIZER"
tool=$2
while [[ $1 != timeout && $1 != */bin/* ]]; do shift; done
if [ "$1" = timeout ] && [ "${STUB_SANITIZER_IS_BLIND:-}" = "$tool" ]; then
    echo "========= Target application terminated before first instrumented API call"
    exit 1
fi
"$@"
status=$?
if [ "${STUB_COMPLAINT%%:*}" = "$tool" ]; then
    echo "========= ${STUB_COMPLAINT#*:}"
    exit 9
fi
echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
echo "========= ERROR SUMMARY: 0 errors"
exit $status
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("build/bin", "tools"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "build/architectures").write_text("90\n")
        self.program("build/bin/bench_gpu", BENCH_GPU)
        self.program("tools/nvidia-smi", NVIDIA_SMI)
        self.program("tools/ncu", NCU)
        self.program("tools/compute-sanitizer", COMPUTE_SANITIZER)
        self.program("tools/python3", "#!/bin/sh\nexit 1\n")
        (self.folder / "tools/ncu_raw").write_text(NCU_RAW)

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def command(self, parts, main_rows="right", tests="", **settings):
        """For subprocess: the script with these parts, rows and tests."""
        if tests:
            self.program("build/bin/test_cuda", TEST_CUDA)
        environment = {
            **{name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"},
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
            "KITH_PARTS": parts,
            "KITH_ROW_SECONDS": "3",
            "KITH_TEST_SECONDS": "3",
            "STUB_MAIN": main_rows,
            "STUB_TESTS": tests,
            "STUB_CALLS": str(self.folder / "calls"),
            "STUB_TEST_CALLS": str(self.folder / "test_calls"),
            "STUB_SAMPLED": str(self.folder / "sampled"),
            "STUB_NCU_ARGUMENTS": str(self.folder / "ncu_arguments"),
            "STUB_SANITIZER_ARGUMENTS": str(self.folder / "sanitizer_arguments"),
            **settings,
        }
        return {"args": [SCRIPT, self.folder / "build", self.folder / "output"], "env": environment,
                "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}

    def check(self, *arguments, **settings):
        """The exit status, and the lines of the summary by their names."""
        ran = subprocess.run(**self.command(*arguments, **settings), timeout=120, check=False)
        lines = self.read("summary.txt").splitlines()
        return ran.returncode, {line[:24].strip(): line[24:].strip() for line in lines}

    def read(self, name):
        return (self.folder / "output" / name).read_text()

    def failed_tests(self):
        """What the summary says of each failed test."""
        return dict(re.findall(r"^  failed +(\S+): (.*)$", self.read("summary.txt"), re.MULTILINE))

    def results(self):
        file, = (self.folder / "output").glob("gpu-*.json")
        return file.read_text().split()

    def count(self, name):
        return (self.folder / name).read_text().count("process")

    def test_a_row_that_ends_the_program_costs_only_itself(self):
        status, said = self.check("probe rows other", "right slow crash after_crash wrong hang lost after_lost")
        self.assertEqual(status, 1)
        self.assertEqual(said["main rows"], "4 right (1 of them missed a goal), 4 failed, 0 not done for lack of time")
        self.assertIn("status 139", said["crash"])
        self.assertIn("row 3", said["wrong"])
        self.assertIn("took too long", said["hang"])
        self.assertIn("illegal memory access", said["lost"])
        self.assertEqual(said["other rows"], "1 right (0 of them missed a goal), 0 failed, 0 not done for lack of time")
        self.assertEqual(self.results(), ["right", "slow", "after_crash", "wrong", "lost", "after_lost", "last"])
        # The first probe, the main rows up to each of the three that end it and after them, the other rows.
        self.assertEqual(self.count("calls"), 1 + 4 + 1)

    def test_a_program_that_does_not_even_begin_is_not_tried_forever(self):
        status, said = self.check("rows", "sudden right")
        self.assertEqual(status, 1)
        self.assertEqual(said["main rows"], "0 right (0 of them missed a goal), 2 failed, 0 not done for lack of time")
        self.assertIn("status 139", said["bench_gpu"])

    def test_rows_can_be_chosen(self):
        status, said = self.check("rows other", "right slow wrong", KITH_ROWS="^(right|slow)$")
        self.assertEqual(status, 0, said)
        self.assertEqual(said["main rows"], "2 right (1 of them missed a goal), 0 failed, 0 not done for lack of time")
        self.assertEqual(said["other rows"], "left out: KITH_ROWS names none of them")

    def test_clocks_and_power_are_those_of_the_main_rows(self):
        _, said = self.check("probe rows", "sampled")
        self.assertEqual(said["clocks and power"], "least/median/most: multiprocessors 345/1755/1980 MHz, "
                         "memory 2619/2619/2619 MHz, 90.25/90.25/300.5 W")
        self.assertIn("210, 2619, 70\n", self.read("clocks.csv"))
        sampler = int((self.folder / "sampled.process").read_text())
        for _ in range(100):  # it has been told to end, and does when it is given a processor
            try:
                os.kill(sampler, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        self.fail(f"the sampler, process {sampler}, still runs")

    def test_without_a_gpu_nothing_is_done(self):
        status, said = self.check("probe rows", STUB_NO_GPU="no CUDA-capable device is detected")
        self.assertEqual(status, 3)
        self.assertIn("there is no GPU here", said["probe"])
        self.assertIn("no CUDA-capable device", self.read("gpu_check.log"))
        self.assertEqual(said["facts"], "a device")
        self.assertNotIn("main rows", said)

    def test_an_error_of_the_driver_is_not_taken_for_a_missing_gpu(self):
        for text, wanted in (("CUDA driver version is insufficient for CUDA runtime version", "too old"),
                             ("initialization error", "initialization error")):
            status, said = self.check("probe rows", STUB_NO_GPU=text)
            self.assertEqual(status, 4)
            self.assertIn(wanted, said["probe"])
            self.assertIn(text, self.read("gpu_check.log"))

    def test_parts_that_do_not_exist_are_refused(self):
        ran = subprocess.run(**self.command("probe kernel"), timeout=60, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("'kernel'", ran.stdout)

    def test_a_pack_may_have_lost_its_modes(self):
        command = self.command("probe tests", tests="Good.right")
        for name in ("bench_gpu", "test_cuda"):
            (self.folder / "build/bin" / name).chmod(0o644)
        self.assertEqual(subprocess.run(**command, timeout=60, check=False).returncode, 0)

    def test_python_is_tested_where_it_is_packed(self):
        _, said = self.check("python")
        self.assertIn("left out: the Python package is not in", said["python"])
        (self.folder / "build/python/kith").mkdir(parents=True)
        _, said = self.check("python")  # whose python3 has no modules
        self.assertIn("left out:", said["python"])
        for failed, last, expected in (("0", "= 7 passed, 1 skipped in 2.00s =", "7 passed, 1 skipped in 2.00s"),
                                       ("1", "= 1 failed, 6 passed in 2.00s =", "FAILED: status 1: .*1 failed, 6 passed"),
                                       ("0", "= 8 skipped in 2.00s =", "FAILED: no test passed: .*8 skipped")):
            self.program("tools/python3", f"""#!/bin/sh
[ "$2" = pytest ] || exit 0
[ {failed} = 0 ] || echo "FAILED test_on_gpu.py::test_neighbors - assert 1 == 2"
echo "{last}"
exit {failed}
""")
            status, said = self.check("python")
            self.assertEqual(status, int("FAILED" in expected))
            self.assertRegex(said["python"], expected)

    def test_a_broken_test_costs_only_itself(self):
        cases = [f"EveryCase/Knn.{kind}/case_{i}" for i, kind in enumerate(["right"] * 7 + ["lost"] + ["right"] * 8)]
        status, said = self.check("tests", tests=" ".join([
            "Good.right", "Good.right_too", "CudaMemory.right", "Bad.right", "Bad.crash", "Bad.later", "Slow.hang",
            "Slow.right", "Wrong.wrong", "Wrong.right", "Loud.loud_right", "Skips.skipped", *cases]))
        self.assertEqual(status, 1)
        failed = self.failed_tests()
        self.assertEqual(set(failed), {"Bad.crash", "Slow.hang", "Wrong.wrong", "EveryCase/Knn.lost/case_7"})
        self.assertIn("running when the process ended: status 139", failed["Bad.crash"])
        self.assertIn("took too long", failed["Slow.hang"])
        self.assertIn("test.cpp:17: Failure Expected equality", failed["Wrong.wrong"])
        self.assertIn("lost the GPU's context", failed["EveryCase/Knn.lost/case_7"])
        # 7 suites of one process, four processes for the cases, and one for what was left by each of three that ended.
        self.assertRegex(said["tests"], "^23 right, 4 failed, 1 skipped, 0 not run, 0 not done for lack of time; "
                         "14 processes, ")
        self.assertEqual(self.count("test_calls"), 14)
        log = self.read("gpu_check.log")
        self.assertLess(len(log), 700_000)
        self.assertIn("[       OK ] Loud.loud_right", log)

    def test_tests_can_be_chosen(self):
        status, said = self.check("tests", tests="Good.right Good.wrong Bad.crash EveryCase/Fof.right/case",
                                  KITH_TESTS="Good.right:EveryCase/*")
        self.assertEqual(status, 0, said)
        self.assertRegex(said["tests"], "^2 right, 0 failed, ")

    def test_no_right_test_is_a_failure(self):
        status, said = self.check("tests", tests="Skips.skipped Skips.skipped_too")
        self.assertEqual(status, 1)
        self.assertRegex(said["tests"], "^FAILED: none was right: 0 right, 0 failed, 2 skipped")
        self.assertIn("no GPU: out of order", said["skipped"])
        status, said = self.check("tests", tests="Skips.skipped Skips.skipped_too Good.right")
        self.assertEqual(status, 1)
        self.assertRegex(said["tests"], "^FAILED: most were skipped: 1 right")

    def test_tests_that_never_begin_are_counted(self):
        status, said = self.check("tests", tests="Good.right Sudden.sudden_1 Sudden.sudden_2")
        self.assertEqual(status, 1)
        self.assertIn("2 tests did not run; status 127", said["Sudden"])
        self.assertRegex(said["tests"], "^1 right, 0 failed, 0 skipped, 2 not run")

    def test_the_whole_has_its_limit(self):
        began = time.monotonic()
        status, said = self.check("tests rows memory", tests="Good.right Slow.hang Slow.right", KITH_WHOLE="3",
                                  KITH_TEST_SECONDS="30")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(status, 0, said)
        self.assertRegex(said["tests"], "^1 right, 0 failed, 0 skipped, 0 not run, 2 not done for lack of time")
        self.assertEqual(said["memory"], "not done for lack of time")

    def test_what_is_done_is_there_if_the_script_is_stopped(self):
        command = self.command("rows tests", tests="Wrong.wrong Slow.right Slow.hang", KITH_TEST_SECONDS="30")
        log = self.folder / "output/gpu_check.log"
        with subprocess.Popen(**command) as process:
            while process.poll() is None and "= failed: Wrong.wrong" not in (log.read_text() if log.exists() else ""):
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
        self.assertEqual(process.returncode, 143)
        self.assertIn("[       OK ] Slow.right", log.read_text())
        self.assertEqual(self.results(), ["right"])
        self.assertIn("Wrong.wrong", self.failed_tests())

    def test_the_profiler_watches_one_launch_of_the_leaf_search(self):
        _, said = self.check("leaf")
        self.assertRegex(said["leaf search, profiled"], "^Duration us 1234.5, Memory Throughput % 41.00; all in ")
        self.assertIn("1234.5", self.read("leaf_search.txt"))
        arguments = (self.folder / "ncu_arguments").read_text()
        self.assertIn("--clock-control none", arguments)
        self.assertIn("--launch-count 1 ", arguments)

    def test_kernels_of_one_call_are_summed(self):
        status, said = self.check("kernels", KITH_PROFILED="a_row another_row")
        self.assertEqual(status, 0, said)
        summary = self.read("summary.txt")
        self.assertIn("a_row: 8004.0 us in 4 kernels of one call (5 were profiled)", summary)
        self.assertRegex(summary, r"kernels.*\n +8000\.0 us +1 x search/search_leaves\n"
                         r" +3\.5 us +2 x order/DeviceRadixSortOnesweepKernel\n"
                         r" +0\.5 us +1 x tree/each_index_kernel FillPlanes\n")
        kernels = self.read("kernels.csv").splitlines()
        self.assertEqual(len([line for line in kernels if line.startswith('"a_row","ID"')]), 1)
        self.assertEqual(len([line for line in kernels if line.startswith('"another_row",')]), 8)
        arguments = (self.folder / "ncu_arguments").read_text()
        self.assertRegex(arguments, r"^none .*--nvtx-include search/ .*--csv .*LD_LIBRARY_PATH=\S*/build/lib ")

    def test_a_call_of_few_points_begins_with_its_tree(self):
        (self.folder / "tools/ncu_raw").write_text(NCU_RAW.replace(":order:", ":tree:"))
        _, said = self.check("kernels", KITH_PROFILED="a_row")
        self.assertEqual(said["kernels"], "a_row: 8004.0 us in 4 kernels of one call (5 were profiled)")

    def test_a_profiler_that_sees_only_its_own_child_gets_that(self):
        _, said = self.check("kernels", KITH_PROFILED="a_row another_row", STUB_NCU_IS_BLIND="LD_LIBRARY_PATH")
        self.assertIn("in 4 kernels of one call", said["kernels"])
        arguments = (self.folder / "ncu_arguments").read_text().splitlines()
        self.assertEqual(len(arguments), 3)
        self.assertRegex(arguments[1], r"^\S+/build/lib .*--nvtx ")

    def test_a_profiler_that_sees_no_stages_is_asked_without_them(self):
        _, said = self.check("kernels", KITH_PROFILED="a_row another_row", STUB_NCU_IS_BLIND="--nvtx")
        self.assertIn("in 4 kernels of one call", said["kernels"])
        self.assertEqual((self.folder / "ncu_arguments").read_text().count("--csv"), 4)

    def test_a_profiler_that_sees_nothing_is_not_asked_forever(self):
        _, said = self.check("kernels", KITH_PROFILED="a_row", STUB_NCU_IS_BLIND=".")
        self.assertIn("nothing measured", said["kernels"])

    def test_forbidden_counters_are_no_failure(self):
        self.program("tools/ncu", NCU_FORBIDDEN)
        status, said = self.check("kernels leaf")
        self.assertEqual(status, 0, said)
        self.assertEqual(said["kernels"], "left out: the counters are forbidden here")
        self.assertEqual(said["leaf search, profiled"], "left out: the counters are forbidden here")

    SMALL = ("KdTreesInPlace.right CudaMemory.Works CudaLarge.wrong EveryCase/Knn.right/uniform_3d_float32 "
             "EveryCase/Knn.right/box_edges_3d_float32 EveryCase/Fof.right/uniform_3d_float32")

    def test_checkers_see_small_tests_and_say_how_many(self):
        status, said = self.check("memory races", tests=self.SMALL)
        self.assertEqual(status, 0, said)
        self.assertEqual(said["memcheck KdTreesIn"], "nothing found in 2 tests or rows")
        self.assertEqual(said["initcheck EveryCase/Knn"], "nothing found in 2 tests or rows")
        self.assertIn("memcheck ^switch_[15]e3_", self.read("summary.txt"))
        self.assertEqual(said["racecheck EveryCase/Knn"], "nothing found in 1 tests or rows")
        arguments = (self.folder / "sanitizer_arguments").read_text().splitlines()
        self.assertEqual(len(arguments), 2 * 4 + 2 * 2)
        for line in arguments:
            self.assertEqual("--check-api-memory-access no" in line, "--tool initcheck" in line)

    def test_complaints_of_checkers_are_failures(self):
        status, said = self.check("memory", tests=self.SMALL, KITH_SANITIZED="KdTrees*",
                                  STUB_COMPLAINT="memcheck:Invalid __global__ read of size 4 bytes")
        self.assertEqual(status, 1)
        self.assertEqual(said["memcheck KdTrees"], "FAILED: 1 complaints in 1 tests or rows; the first: "
                         "Invalid __global__ read of size 4 bytes")
        self.assertEqual(said["initcheck KdTrees"], "nothing found in 1 tests or rows")

    def test_a_checker_that_saw_nothing_is_asked_again_and_then_has_failed(self):
        status, said = self.check("memory", tests=self.SMALL, KITH_SANITIZED="KdTrees*",
                                  STUB_SANITIZER_IS_BLIND="initcheck")
        self.assertEqual(status, 0, said)
        self.assertIn("nothing found in 1 tests or rows", self.read("summary.txt").split("initcheck KdTrees, again")[1])
        status, said = self.check("memory", tests=self.SMALL, KITH_SANITIZED="Nothing*")
        self.assertEqual(status, 1)
        self.assertIn("FAILED: nothing was checked", self.read("summary.txt"))

    def test_what_comes_back_is_little(self):
        status, _ = self.check("", tests="Good.right Loud.loud_right " + self.SMALL.replace("wrong", "right"))
        self.assertEqual(status, 0)
        files = list((self.folder / "output").rglob("*"))
        self.assertLessEqual(len(files), 8)
        self.assertEqual({file.name for file in files if file.suffix != ".json"},
                         {"gpu_check.log", "summary.txt", "clocks.csv", "kernels.csv", "leaf_search.txt"})


if __name__ == "__main__":
    unittest.main()
