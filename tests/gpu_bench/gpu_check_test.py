#!/usr/bin/env python3
"""What gpu_check.sh makes of rows that are right, slow, wrong, crash, hang or lose the device. Stubs stand for the
benchmark and for the programs of the driver and of the toolkit."""

import os
import pathlib
import subprocess
import sys
import tempfile
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
if [ -n "${list:-}" ]; then
    echo "$rows"
    exit
fi
echo process >>"$STUB_CALLS"
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
    sampled) until [ -e "$STUB_SAMPLED" ]; do sleep 0.1; done ;;
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

NVIDIA_SMI = r"""#!/bin/bash
case "$*" in
*compute_cap*) echo 9.0 ;;
*--loop-ms*)
    printf '%s\n' '1980, 2619, 300.5' '345, 2619, 90.25' '1755, 2619, [N/A]'
    touch "$STUB_SAMPLED"
    exec sleep 60
    ;;
*) echo "a device" ;;
esac
"""

NCU = r"""#!/bin/bash
echo "$*" >"$STUB_NCU_ARGUMENTS"
printf '    Duration      us     1234.5\n    Memory Throughput    %%    41.00\n'
"""

NCU_FORBIDDEN = r"""#!/bin/bash
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
exit 1
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
        self.program("tools/compute-sanitizer", "#!/bin/sh\necho 'ERROR SUMMARY: 0 errors'\n")
        self.program("tools/python3", "#!/bin/sh\nexit 1\n")

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def check(self, main_rows="right"):
        """The exit status, and the lines of the summary by their names."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
            "KITH_ROW_SECONDS": "5",
            "STUB_MAIN": main_rows,
            "STUB_CALLS": str(self.folder / "calls"),
            "STUB_SAMPLED": str(self.folder / "sampled"),
            "STUB_NCU_ARGUMENTS": str(self.folder / "ncu_arguments"),
        }
        ran = subprocess.run([SCRIPT, self.folder / "build", self.folder / "output"], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        lines = (self.folder / "output/summary.txt").read_text().splitlines()
        return ran.returncode, {line[:24].strip(): line[24:].strip() for line in lines}

    def results(self):
        file, = (self.folder / "output").glob("gpu-*.json")
        return file.read_text().split()

    def test_a_row_that_ends_the_program_costs_only_itself(self):
        status, said = self.check("right slow crash after_crash wrong hang lost after_lost")
        self.assertEqual(status, 1)
        self.assertEqual(said["main rows"], "4 right (1 of them missed a goal), 4 failed, 0 not done for lack of time")
        self.assertIn("status 139", said["crash"])
        self.assertIn("row 3", said["wrong"])
        self.assertIn("took too long", said["hang"])
        self.assertIn("illegal memory access", said["lost"])
        self.assertEqual(said["other rows"], "1 right (0 of them missed a goal), 0 failed, 0 not done for lack of time")
        self.assertEqual(self.results(), ["right", "slow", "after_crash", "wrong", "lost", "after_lost", "last"])
        # The first probe, the main rows up to each of the three that end it and after them, the other rows.
        self.assertEqual((self.folder / "calls").read_text().count("process"), 1 + 4 + 1)

    def test_a_program_that_does_not_even_begin_is_not_tried_forever(self):
        status, said = self.check("sudden right")
        self.assertEqual(status, 1)
        self.assertEqual(said["main rows"], "0 right (0 of them missed a goal), 2 failed, 0 not done for lack of time")
        self.assertIn("status 139", said["bench_gpu"])

    def test_clocks_and_power_are_those_of_the_main_rows(self):
        _, said = self.check("sampled")
        self.assertEqual(said["clocks and power"], "least/median/most: multiprocessors 345/1755/1980 MHz, "
                         "memory 2619/2619/2619 MHz, 90.25/90.25/300.5 W")
        self.assertIn("1755, 2619, [N/A]", (self.folder / "output/gpu_check.log").read_text())

    def test_the_profiler_watches_one_launch_of_the_leaf_search(self):
        _, said = self.check()
        self.assertRegex(said["leaf search, profiled"], "^Duration us 1234.5, Memory Throughput % 41.00; all in ")
        self.assertIn("1234.5", (self.folder / "output/leaf_search.txt").read_text())
        arguments = (self.folder / "ncu_arguments").read_text()
        self.assertIn("--clock-control none", arguments)
        self.assertIn("--launch-count 1 ", arguments)

    def test_forbidden_counters_are_no_failure(self):
        self.program("tools/ncu", NCU_FORBIDDEN)
        status, said = self.check()
        self.assertEqual(status, 0, said)
        self.assertEqual(said["leaf search, profiled"], "left out: the counters are forbidden here")


if __name__ == "__main__":
    unittest.main()
