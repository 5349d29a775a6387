#!/bin/bash
# What is to be known of kith on a GPU, within a few minutes.
# Usage: gpu_check.sh BUILD OUTPUT, where BUILD is a build folder or what gpu_pack.sh made of one, and OUTPUT a folder for
# results and logs: at most eight files, none over 16 MiB.
#
# The parts, in this order unless KITH_PARTS names some of them in another:
#   probe     one small row; without a GPU, or with one that gives an error, nothing else is done
#   facts     the machine, its driver, its clocks
#   tests     test_cuda*: a process for every suite, four for each that runs over every case, six side by side
#   python    the Python package, where it is packed: calls on a GPU against the CPU's, arrays of other libraries, JAX
#   rows      the main rows of the benchmark, with clocks and power
#   kernels   the time of every kernel of one call, by the profiler
#   leaf      the leaf search under the profiler
#   memory    small tests and rows under memcheck and initcheck
#   races     some of them under synccheck and racecheck
#   other     the other rows
#   universe  a simulated universe, made by CuPy, which compiles its kernels for long
# More settings, all in the environment:
#   KITH_WHOLE          seconds that all may take (420)
#   KITH_TESTS          a filter as --gtest_filter takes it: only these tests
#   KITH_PYTHON_TESTS   an expression as pytest -k takes it: only these tests of the Python package
#   KITH_ROWS           a regular expression: only these rows, in rows and other
#   KITH_PROFILED       the rows of the part kernels (uniform_1e7_k16 groups_256 uniform_1e5_k16)
#   KITH_SANITIZED      a filter as --gtest_filter takes it: only these tests in memory and races, and no rows
#   KITH_ROW_SECONDS    that a row may take (45)
#   KITH_TEST_SECONDS   that a test may go on without a word (30)
# What failed in one call is thus repeated by another, as in
#   KITH_WHOLE=200 KITH_PARTS='tests rows' KITH_TESTS='*box_edges_3d*' KITH_ROWS='^groups_' gpu_check.sh pack results
#
# Needs the driver; takes python3 with CuPy, ncu and compute-sanitizer where they are. Each part has a limit of its own,
# within that of the whole: what hangs or crashes costs only itself. What ends is written at once, so that little is lost
# if this script is stopped. It changes no setting of the GPU.
# Exit status: 0 all is well, 1 something failed, 2 the arguments make no sense, 3 there is no GPU, 4 the driver or the
# GPU gives an error.
#
# shellcheck disable=SC2317 # parts and what follows a process are called by names in variables
set -u
whole=${KITH_WHOLE:-420}
row_limit=${KITH_ROW_SECONDS:-45}
test_limit=${KITH_TEST_SECONDS:-30}
all_parts="probe facts tests python rows kernels leaf memory races other universe"
parts=${KITH_PARTS:-$all_parts}
shopt -s nullglob

# A pack may have lost its modes on its way.
[ $# -eq 2 ] && chmod u+x "$1"/bin/* 2>/dev/null
if [ $# -ne 2 ] || [ ! -x "$1/bin/bench_gpu" ]; then
    echo "usage: gpu_check.sh BUILD OUTPUT; BUILD/bin holds bench_gpu" >&2
    exit 2
fi
for name in $parts; do
    if [[ " $all_parts " != *" $name "* ]]; then
        echo "gpu_check.sh: KITH_PARTS names '$name'; there are $all_parts" >&2
        exit 2
    fi
done
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2" || exit 2
output=$(cd "$2" && pwd)
work=$(mktemp -d) || exit 2
# For our own programs only: Python, the driver's programs and the tools have libraries of their own.
ours=(env "LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
results=$output/gpu-$(date +%Y-%m-%d-%H%M).json
log=$output/gpu_check.log
summary=$output/summary.txt
last=$output/last # what the running command says
: >"$log"
: >"$summary"
: >"$last"
status=0
part_end=$whole
# Of the sources. Without either, bench_gpu knows the commit it was configured at.
commit=$(cat "$build/commit" 2>/dev/null || git -C "$here" rev-parse HEAD 2>/dev/null || true)

declare -a running=() # the processes that run side by side, by the numbers of their jobs
sampler=
finish() {
    local n
    for n in "${!running[@]}"; do
        kill -KILL -- "-${running[n]}" 2>/dev/null
        keep "$work/$n.out"
    done
    [ -z "$sampler" ] || kill "$sampler" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT

left() { echo $((whole - SECONDS)); }

# say NAME WHAT: a line of the table at the end.
say() { printf '%-24s %s\n' "$1" "$2" | tee -a "$summary"; }

# failed NAME WHAT
failed() {
    say "$1" "FAILED: $2"
    status=1
}

# keep FILE: puts it into the log; of a long one the beginning and the end, the less the more the log already holds.
keep() {
    local size logged most=400000
    size=$(stat -c %s "$1" 2>/dev/null || echo 0)
    logged=$(stat -c %s "$log")
    if [ "$logged" -gt 11000000 ]; then
        most=4000
    elif [ "$logged" -gt 6000000 ]; then
        most=40000
    fi
    if [ "$size" -le "$most" ]; then
        cat "$1" 2>/dev/null
    else
        head -c $((most / 2)) "$1"
        printf '\n... (%s bytes)\n' $((size - most))
        tail -c $((most / 2)) "$1"
    fi >>"$log"
}

# part SECONDS: begins a part that may take that long, or what is left of the whole.
part() {
    part_end=$((SECONDS + $1))
    if [ "$part_end" -gt "$whole" ]; then
        part_end=$whole
    fi
}

# run NAME LIMIT COMMAND...: runs it within its limit and that of the part; its output goes to the log. The status is its
# own, 124 if its limit stopped it, 125 if there was no time left to begin or to end.
run() {
    local name=$1 limit=$2 rest=$((part_end - SECONDS)) stopped=124 code
    shift 2
    : >"$last"
    if [ "$rest" -lt 1 ]; then
        return 125
    fi
    if [ "$limit" -gt "$rest" ]; then
        limit=$rest
        stopped=125
    fi
    printf '\n== %s\n' "$name" >>"$log"
    timeout --kill-after=5 "$limit" "$@" >"$last" 2>&1
    code=$?
    keep "$last"
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        code=$stopped
    fi
    return "$code"
}

# job NAME COMMAND...: another process for together, by the number in $jobs.
jobs=0
declare -a job_name=() queued=()
job() {
    jobs=$((jobs + 1))
    job_name[jobs]=$1
    shift
    printf '%s\0' "$@" >"$work/$jobs.command"
    : >"$work/$jobs.out"
    queued+=("$jobs")
}

# together MOST SILENCE ENDED: runs the jobs, so many side by side, until the part ends. One that says nothing for so many
# seconds is stopped, and one that says far too much. ENDED NUMBER STATUS is called as each ends, and may add others; the
# status is as that of run.
together() {
    local most=$1 silence=$2 ended=$3 n rest size code
    local -a command=() spoke=() said=() cause=()
    running=()
    while [ ${#queued[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
        while [ ${#queued[@]} -gt 0 ] && [ ${#running[@]} -lt "$most" ]; do
            n=${queued[0]}
            queued=("${queued[@]:1}")
            rest=$((part_end - SECONDS))
            if [ "$rest" -lt 1 ]; then
                "$ended" "$n" 125
                continue
            fi
            mapfile -d '' -t command <"$work/$n.command"
            # In a group of its own, which timeout makes: tools have children.
            timeout --kill-after=2 "$rest" "${command[@]}" >"$work/$n.out" 2>&1 &
            running[n]=$!
            spoke[n]=$SECONDS
            said[n]=0
            cause[n]=0
        done
        sleep 0.1
        for n in "${!running[@]}"; do
            if kill -0 "${running[n]}" 2>/dev/null; then
                size=$(stat -c %s "$work/$n.out")
                if [ "$size" -ne "${said[n]}" ]; then
                    said[n]=$size
                    spoke[n]=$SECONDS
                fi
                if [ "$SECONDS" -gt "$part_end" ]; then
                    cause[n]=125
                elif [ $((SECONDS - spoke[n])) -ge "$silence" ]; then
                    cause[n]=124
                elif [ "$size" -gt 50000000 ]; then
                    cause[n]=126
                fi
                [ "${cause[n]}" -ne 0 ] || continue
                kill -KILL -- "-${running[n]}" 2>/dev/null
            fi
            { wait "${running[n]}"; } 2>/dev/null
            code=$?
            [ "$code" -ne 124 ] || code=125 # its limit is that of the part
            [ "${cause[n]}" -eq 0 ] || code=${cause[n]}
            unset "running[n]"
            printf '\n== %s\n' "${job_name[n]}" >>"$log"
            keep "$work/$n.out"
            "$ended" "$n" "$code"
            rm -f "$work/$n.out"
        done
    done
}

# bench OPTION...: bench_gpu, which names each row before it begins; a row has its limit. The status is as that of run.
bench() {
    local process code stopped=0 begun=0 since=$SECONDS now
    printf '\n== bench_gpu %s\n' "$*" >>"$log"
    "${ours[@]}" "$build/bin/bench_gpu" "$@" >"$last" 2>&1 &
    process=$!
    while kill -0 "$process" 2>/dev/null; do
        now=$(grep -c '^> ' "$last")
        if [ "$now" -ne "$begun" ]; then
            begun=$now
            since=$SECONDS
        fi
        if [ "$SECONDS" -ge "$part_end" ]; then
            stopped=125
        elif [ $((SECONDS - since)) -ge "$row_limit" ]; then
            stopped=124
        fi
        if [ "$stopped" -ne 0 ]; then
            kill -KILL "$process"
            break
        fi
        sleep 0.1
    done
    { wait "$process"; } 2>/dev/null
    code=$?
    keep "$last"
    return $((stopped != 0 ? stopped : code))
}

# rows NAME OPTION...: the rows of bench_gpu that the options choose, in one process as long as none of them ends it;
# the rows after that one in another.
rows() {
    local name=$1 row code ended good=0 bad=0 unmeasured=0 missed=0
    local -a waiting later
    shift
    if ! timeout 20 "${ours[@]}" "$build/bin/bench_gpu" --list "$@" >"$work/rows" 2>"$last"; then
        keep "$last"
        if grep -q 'no row is called so' "$last"; then
            say "$name" "left out: KITH_ROWS names none of them"
        else
            failed "$name" "bench_gpu did not name its rows; $(reason 1)"
        fi
        return
    fi
    mapfile -t waiting <"$work/rows"
    while [ ${#waiting[@]} -gt 0 ] && [ "$SECONDS" -lt "$part_end" ]; do
        bench "$@" --rows "^($(IFS='|' && echo "${waiting[*]}"))\$" --output "$results" ${commit:+--commit "$commit"}
        code=$?
        grep -av '^> ' "$last" | tail -n +3 | cut -c1-400 | head -200
        ended=$((code > 1 && code != 125)) # and no row is known to have done it
        later=()
        for row in "${waiting[@]}"; do
            if ! grep -qxF "> $row" "$last"; then
                later+=("$row")
                continue
            fi
            awk -v row="$row" '/^> / { inside = $2 == row; next } inside' "$last" >"$work/told"
            if ! grep -aq "^$row " "$work/told"; then
                if [ "$code" -eq 125 ]; then
                    unmeasured=$((unmeasured + 1))
                    continue
                fi
                ended=0
                bad=$((bad + 1))
                failed "$row" "$(reason "$code" "$work/told")"
            elif grep -aqE 'FAILED|WRONG' "$work/told"; then
                bad=$((bad + 1))
                failed "$row" "$(reason 1 "$work/told")"
            else
                good=$((good + 1))
                missed=$((missed + $(grep -c MISSED "$work/told")))
            fi
        done
        if [ "$ended" -eq 1 ]; then
            failed bench_gpu "between rows: $(reason "$code")"
        fi
        if [ ${#later[@]} -eq ${#waiting[@]} ] && [ "$code" -ne 125 ]; then
            bad=$((bad + ${#later[@]}))
            failed bench_gpu "it began no row; $(reason "$code")"
            later=()
        fi
        waiting=("${later[@]}")
    done
    unmeasured=$((unmeasured + ${#waiting[@]}))
    say "$name" "$good right ($missed of them missed a goal), $bad failed, $unmeasured not done for lack of time"
}

# reason STATUS [FILE]: why the last run failed, or what wrote that file, in a line.
reason() {
    case $1 in
    124) echo "took too long and was stopped" ;;
    125) echo "not done for lack of time" ;;
    126) echo "said far too much and was stopped" ;;
    *)
        echo "status $1: $(grep -aE 'FAILED|WRONG|ERROR SUMMARY|error|Error' "${2:-$last}" | tail -1 | cut -c1-160)"
        ;;
    esac
}

# The tests of the Python package that need a GPU, six side by side where pytest can do that.
part_python() {
    part 100
    local tests=$here/../python/tests code
    local -a side_by_side=()
    if [ ! -d "$build/python/kith" ]; then
        say python "left out: the Python package is not in $build"
        return
    elif ! timeout 20 python3 -c 'import numpy, pytest' 2>/dev/null; then
        say python "left out: python3 has no numpy or no pytest"
        return
    elif timeout 20 python3 -c 'import xdist' 2>/dev/null; then
        side_by_side=(-n 6)
    fi
    # Their own libraries come before ours. JAX would take most of the GPU's memory for itself.
    run "tests of Python" 100 env PYTHONPATH="$build/python" XLA_PYTHON_CLIENT_PREALLOCATE=false \
        LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/lib/x86_64-linux-gnu:$build/python/lib" \
        python3 -m pytest -v -rfE --tb=short --durations=10 -p no:cacheprovider "${side_by_side[@]}" \
        -k "(gpu or jax) and (${KITH_PYTHON_TESTS:-test})" "$tests"/test_on_gpu.py "$tests"/test_arrays.py "$tests"/test_jax*.py
    code=$?
    grep -aE '^(FAILED|ERROR) ' "$last" | cut -c1-300 | head -40 | tee -a "$summary"
    if [ "$code" -eq 0 ] && ! tail -1 "$last" | grep -q passed; then
        failed python "no test passed: $(tail -1 "$last" | tr -d =)"
    elif [ "$code" -eq 0 ]; then
        say python "$(tail -1 "$last" | tr -d =)"
    elif [ "$code" -eq 125 ]; then
        say python "$(grep -ac ' PASSED ' "$last") right; then its time was over"
    else
        failed python "$(reason "$code"); $(tail -1 "$last" | tr -d =)"
    fi
}

# spread COLUMN FILE: least, median and greatest of the numbers in a column of the samples.
spread() {
    cut -d, -f"$1" "$2" | grep -xE ' *[0-9.]+' | sort -n |
        awk '{ number[NR] = $1 } END { print NR ? number[1] "/" number[int((NR + 1) / 2)] "/" number[NR] : "not told" }'
}

# tool NAME: where the toolkit's program is.
tool() { command -v "$1" || ls "/usr/local/cuda/bin/$1" 2>/dev/null; }

# The libraries that our programs need are named inside of the tool that watches them, which then sees a chain of
# processes. If it sees nothing of the last of them, they are named outside of it.
watch_from_inside() {
    outside=()
    inside=(timeout --foreground --kill-after=2 "$1" "${ours[@]}") # in the group of the tool, which may be stopped
}
watch_from_outside() {
    outside=("${ours[@]}")
    inside=()
}

part_probe() {
    part 30
    run "first probe" 30 "${ours[@]}" "$build/bin/bench_gpu" --rows '^switch_1e3_tree$' --repetitions 1
    local code=$? text
    if [ "$code" -eq 3 ]; then # there was no answer to "how many GPUs?"
        text=$(grep -a 'no GPU' "$last" | tail -1)
        cp "$last" "$work/probe"
        part_facts
        cat "$work/probe" >&2
        if grep -qE 'no CUDA-capable device|the driver names none' "$work/probe"; then
            failed probe "there is no GPU here; nothing was checked"
            exit 3
        fi
        if grep -q 'insufficient' "$work/probe"; then
            failed probe "the driver is too old for these programs, or there is none: ${text##*: }; nothing was checked"
        else
            failed probe "the driver or the GPU gives an error: ${text##*: }; nothing was checked"
        fi
        exit 4
    elif [ "$code" -ne 0 ]; then
        cat "$last" >&2
        failed "first probe" "$(reason "$code")"
    else
        say "first probe" "right, after $SECONDS s"
    fi
}

part_facts() {
    part 10
    if run facts 10 nvidia-smi; then
        cat "$last"
        run clocks 5 nvidia-smi -q -d CLOCK,POWER,TEMPERATURE,ECC
        say facts "$(timeout 5 nvidia-smi --format=csv,noheader \
            --query-gpu=name,driver_version,memory.total,mig.mode.current | head -1)"
    else
        say facts "nvidia-smi: $(reason $?)"
    fi
    # A GPU that can read the memory of the host hides pointers that went astray.
    # shellcheck disable=SC2016 # $1 is that of the inner shell
    run machine 5 bash -c 'nvidia-smi -q | grep -i addressing; uname -a; nproc; ldd --version | head -1; ldd "$1"' \
        machine "$build/bin/bench_gpu"
}

# Of each test that began: right, failed, skipped, or running when the process ended; and what it said first. A test that
# lost the context is "lost"; those after it are passed over, since they all fail by that.
verdicts() {
    awk '
    running == "" {
        if (at = index($0, "[ RUN      ] ")) {
            running = substr($0, at + 13)
            reason = ""
            lost = lines = 0
        }
        next
    }
    index($0, "[       OK ] " running " (") { print "right " running; running = ""; next }
    index($0, "[  SKIPPED ] " running " (") { print "skipped " running " " reason; running = ""; next }
    index($0, "[  FAILED  ] " running) {
        print (lost ? "lost " : "failed ") running " " reason
        running = ""
        if (lost) {
            exit
        }
        next
    }
    /illegal (memory access|instruction)|misaligned address|unspecified launch failure|device-side assert/ { lost = 1 }
    /hardware stack|invalid program counter|launch timed out|uncorrectable|context is destroyed/ { lost = 1 }
    /: (Failure|Skipped)$/ && lines == 0 { lines = 4 }
    lines > 0 && length(reason) < 200 { reason = reason " " substr($0, 1, 120); --lines }
    END {
        if (running != "") {
            print "running " running " " reason
        }
    }' "$1"
}

# test_job NAME PROGRAM ROUND: another process, for the tests that are in the file names.
test_job() {
    local filter
    filter=$(paste -sd: "$work/names")
    job "$1" "${ours[@]}" "$2" --gtest_color=no --gtest_filter="$filter"
    mv "$work/names" "$work/$jobs.names"
    job_program[jobs]=$2
    job_round[jobs]=$3
}

# one_failed NAME WHAT: of a test.
one_failed() {
    failed_tests=$((failed_tests + 1))
    status=1
    if [ "$failed_tests" -le 40 ]; then
        say "  failed" "$1: $(cut -c1-220 <<<"$2")"
    elif [ "$failed_tests" -eq 41 ]; then
        say "  failed" "others, which the log names"
    fi
    printf '== failed: %s: %s\n' "$1" "$2" >>"$log"
}

# tested NUMBER STATUS: counts what a process of tests did, and gives those that it took along to another.
tested() {
    local n=$1 code=$2 verdict name what bad=0 rest=0
    processes=$((processes + 1))
    verdicts "$work/$n.out" >"$work/verdicts"
    while read -r verdict name what; do
        case $verdict in
        right) right_tests=$((right_tests + 1)) ;;
        skipped)
            skipped_tests=$((skipped_tests + 1))
            first_skipped=${first_skipped:-$name: $what}
            ;;
        running)
            if [ "$code" -eq 125 ]; then
                late_tests=$((late_tests + 1))
                continue
            fi
            bad=1
            what="$(reason "$code" "$work/$n.out")${what:+; it had said: $what}"
            one_failed "$name" "it was running when the process ended: $what"
            ;;
        *)
            bad=1
            if [ "$verdict" = lost ]; then
                what="it lost the GPU's context: $what"
            fi
            one_failed "$name" "$what"
            ;;
        esac
    done <"$work/verdicts"
    cut -d' ' -f2 "$work/verdicts" | grep -vxFf - "$work/$n.names" >"$work/names"
    rest=$(wc -l <"$work/names")
    if [ "$rest" -gt 0 ] && [ "$code" -eq 125 ]; then
        late_tests=$((late_tests + rest))
    elif [ "$rest" -gt 0 ] && [ -s "$work/verdicts" ] && [ "${job_round[n]}" -lt 4 ]; then
        test_job "${job_name[n]}, the rest" "${job_program[n]}" $((job_round[n] + 1))
    elif [ "$rest" -gt 0 ]; then
        lost_tests=$((lost_tests + rest))
        failed "${job_name[n]}" "$rest tests did not run; $(reason "$code" "$work/$n.out")"
    elif [ "$code" -ne 0 ] && [ "$bad" -eq 0 ] && [ "$code" -ne 125 ]; then
        failed "${job_name[n]}" "after its last test: $(reason "$code" "$work/$n.out")"
    fi
}

part_tests() {
    part 120
    local program name suite shard text
    local -a programs=("$build"/bin/test_cuda*) job_program=() job_round=() alone=()
    local right_tests=0 failed_tests=0 skipped_tests=0 lost_tests=0 late_tests=0 processes=0 first_skipped=
    if [ ${#programs[@]} -eq 0 ]; then
        say tests "left out: there is no test_cuda* in $build/bin"
        return
    fi
    for program in "${programs[@]}"; do
        name=$(basename "$program")
        if ! run "tests of $name" 20 "${ours[@]}" "$program" --gtest_list_tests --gtest_filter="${KITH_TESTS:-*}"; then
            failed "$name" "it did not name its tests: $(reason $?)"
            continue
        fi
        awk '/^[^ ]+\.( |$)/ { suite = $1; next } /^  [^ ]/ && suite != "" { print suite $1 }' "$last" >"$work/all"
        # The first quarter of every suite before the second of any: if time is short, each has had some.
        for shard in 0 1 2 3; do
            while read -r suite; do
                grep -F "$suite." "$work/all" | awk -F. -v suite="$suite" '$1 == suite' >"$work/suite"
                if [[ $suite == */* ]] && [ "$(wc -l <"$work/suite")" -ge 8 ]; then
                    awk -v shard="$shard" 'NR % 4 == shard' "$work/suite" >"$work/names"
                    test_job "$suite, $((shard + 1)) of 4" "$program" 1
                elif [ "$shard" -eq 0 ]; then
                    mv "$work/suite" "$work/names"
                    test_job "$suite" "$program" 1
                    if [[ $suite == *Memory* ]]; then # what it measures, others would change
                        alone+=("$jobs")
                    fi
                fi
            done < <(sed 's/\.[^.]*$//' "$work/all" | sort -u)
        done
    done
    local -a beside=()
    for name in "${queued[@]}"; do
        [[ " ${alone[*]} " == *" $name "* ]] || beside+=("$name")
    done
    queued=("${alone[@]}")
    together 1 "$test_limit" tested
    queued+=("${beside[@]}")
    together 6 "$test_limit" tested
    text="$right_tests right, $failed_tests failed, $skipped_tests skipped, $lost_tests not run"
    text+=", $late_tests not done for lack of time; $processes processes, until $SECONDS s"
    if [ "$skipped_tests" -gt 0 ]; then
        say "  skipped" "$skipped_tests, as $(cut -c1-220 <<<"$first_skipped")"
    fi
    if [ "$right_tests" -eq 0 ]; then
        failed tests "none was right: $text"
    elif [ "$skipped_tests" -gt "$right_tests" ]; then # as without a GPU, where a few have nothing to do
        failed tests "most were skipped: $text"
    else
        say tests "$text"
    fi
}

part_rows() {
    part 170
    local before text
    before=$(wc -l <"$output/clocks.csv")
    rows "main rows" --main ${KITH_ROWS:+--rows "$KITH_ROWS"}
    tail -n "+$((before + 1))" "$output/clocks.csv" >"$work/samples"
    text="least/median/most: multiprocessors $(spread 1 "$work/samples") MHz, memory $(spread 2 "$work/samples") MHz"
    say "clocks and power" "$text, $(spread 3 "$work/samples") W"
}

# Of ncu's raw csv (a line of names, one of units, one for each kernel; all values quoted, between lines of the program
# itself): the kernels of the first call, summed by stage and name, the longest first. A call begins where stages do: with "order", or "tree" if it has few
# points.
sums_of_kernels() {
    awk '
    function values(line, into,   count, value) {
        count = 0
        while (match(line, /^"([^"]|"")*"/)) {
            value = substr(line, 2, RLENGTH - 2)
            gsub(/""/, "\"", value)
            into[++count] = value
            line = substr(line, RLENGTH + 2)
        }
        return count
    }
    function short(name,   at, kind) {
        sub(/^void /, "", name)
        gsub(/\(anonymous namespace\)::|<unnamed>::/, "", name)
        at = match(name, /[<(]/)
        kind = at ? substr(name, at + 1) : ""
        name = at ? substr(name, 1, at - 1) : name
        sub(/.*::/, "", name)
        if (name == "each_index_kernel") { # one for many functions
            sub(/[<,>(].*/, "", kind)
            sub(/.*::/, "", kind)
            name = name " " kind
        }
        return name
    }
    /^"ID",/ {
        count = values($0, names)
        for (i = 1; i <= count; ++i) {
            column[names[i]] = i
        }
        time = column["gpu__time_duration.sum"]
        range = column["thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"]
        kernel = column["Kernel Name"]
        begun = 1
        next
    }
    /^"/ && begun && time && kernel {
        values($0, value)
        if (value[1] == "") {
            unit = value[time]
            scale = unit ~ /^n/ ? 1e-3 : unit ~ /^u/ ? 1 : unit ~ /^m/ ? 1e3 : 1e6 # microseconds
            next
        }
        stage = "-"
        if (range && match(value[range], /:(order|tree|search|link):/)) {
            stage = substr(value[range], RSTART + 1, RLENGTH - 2)
        }
        place = stage == "order" ? 1 : stage == "tree" ? 2 : 3
        if (place < before) {
            ++calls
        }
        before = place
        ++all
        if (calls > 0) {
            next
        }
        gsub(/,/, "", value[time])
        key = stage "/" short(value[kernel])
        sum[key] += value[time] * scale
        times[key]++
        whole += value[time] * scale
        ++launches
    }
    END {
        if (launches > 0) {
            printf "%.1f us in %d kernels of %s (%d were profiled)\n", whole, launches,
                   (calls > 0 ? "one call" : "a call that may have more"), all
            fflush()
            for (key in sum) {
                printf "%12.1f us %5d x %s\n", sum[key], times[key], key | "sort -rn"
            }
        }
    }' "$1"
}

part_kernels() {
    part 75
    local profiler row stage code
    local -a ranges=(--nvtx)
    for stage in order tree cells graph search link; do
        ranges+=(--nvtx-include "$stage/")
    done
    local metrics=gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active
    metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,l1tex__t_sector_hit_rate.pct
    metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
    profiler=$(tool ncu)
    if [ -z "$profiler" ]; then
        say kernels "left out: ncu is not there"
        return
    fi
    watch_from_inside 20
    for row in ${KITH_PROFILED:-uniform_1e7_k16 groups_256 uniform_1e5_k16}; do
        while true; do
            # Caches as the kernel before left them: between small kernels, that is what counts.
            run "kernels of $row" 25 "${outside[@]}" "$profiler" --clock-control none --cache-control none \
                "${ranges[@]}" --target-processes all --launch-count 200 --csv --page raw --print-units base \
                --print-kernel-base demangled --metrics "$metrics" \
                "${inside[@]}" "$build/bin/bench_gpu" --rows "^$row\$" --repetitions 1
            code=$?
            if [ "$code" -eq 125 ] || ! grep -aqE 'No kernels were profiled' "$last"; then
                break
            elif [ ${#inside[@]} -gt 0 ]; then
                watch_from_outside
            elif [ ${#ranges[@]} -gt 0 ]; then # it does not see the names of stages
                ranges=()
            else
                break
            fi
        done
        grep -a '^"' "$last" | sed "s/^/\"$row\",/" | head -c 4000000 >>"$output/kernels.csv"
        sums_of_kernels "$last" >"$work/sums"
        if grep -aq ERR_NVGPUCTRPERM "$last"; then
            say "kernels" "left out: the counters are forbidden here"
            return
        elif [ -s "$work/sums" ]; then
            printf '\n== kernels of %s, summed\n' "$row" >>"$log"
            keep "$work/sums"
            say "kernels" "$row: $(head -1 "$work/sums")"
            sed -n 2,11p "$work/sums" | cut -c1-100 | tee -a "$summary"
        else
            say "kernels" "$row: nothing measured: $(reason "$code")"
        fi
    done
}

# The second launch of the leaf search: the first one warms up. The GPU's clocks are left as they are.
part_leaf() {
    part 30
    local profiler profile=$output/leaf_search.txt section code found
    local -a sections=()
    profiler=$(tool ncu)
    if [ -z "$profiler" ]; then
        say "leaf search, profiled" "left out: ncu is not there"
        return
    fi
    for section in SpeedOfLight MemoryWorkloadAnalysis InstructionStats SchedulerStats WarpStateStats Occupancy; do
        sections+=(--section "$section")
    done
    watch_from_inside 25
    for found in "" again; do
        run profiler 30 "${outside[@]}" "$profiler" --clock-control none --target-processes all \
            --kernel-name regex:search_leaves --launch-skip 1 --launch-count 1 "${sections[@]}" \
            "${inside[@]}" "$build/bin/bench_gpu" --rows '^uniform_1e7_k16$' --repetitions 1
        code=$?
        if [ "$code" -eq 125 ] || [ -n "$found" ] || ! grep -aqE 'No kernels were profiled|No metrics' "$last"; then
            break
        fi
        watch_from_outside
    done
    head -c 4000000 "$last" >"$profile"
    if grep -q ERR_NVGPUCTRPERM "$profile"; then
        say "leaf search, profiled" "left out: the counters are forbidden here"
    elif grep -qE '^ +Duration ' "$profile"; then
        say "leaf search, profiled" "$(grep -E '^ +(Duration|(Compute \(SM\)|Memory) Throughput|Achieved Occupancy) ' \
            "$profile" | sed -E 's/ +/ /g; s/^ //' | paste -sd';' | sed 's/;/, /g'); all in $profile"
    else
        say "leaf search, profiled" "nothing measured: $(reason "$code")"
    fi
}

# checked NUMBER STATUS: what a checker said. Being stopped is no failure if something was checked and nothing found.
checked() {
    local name=${job_name[$1]} file=$work/$1.out code=$2 complaints first ended
    local words='Invalid|Uninitialized|Misaligned|[Hh]azard|Race reported|out of bounds|Barrier error|Program hit'
    grep -aE "^=========.*($words)" "$file" | grep -v SUMMARY >"$work/complaints"
    complaints=$(wc -l <"$work/complaints")
    first=$(head -1 "$work/complaints" | cut -c11-150)
    if [ "$code" -ne 0 ] && [ "$code" -ne 9 ] && [ $((part_end - SECONDS)) -le 4 ]; then
        code=125 # the limit inside of the checker
    fi
    # Of tests their last words, of rows the line of results.
    ended=$(grep -acE '^\[ +(OK|FAILED) +\] [^ ]+( |,).*\([0-9]+ ms\)$|^switch_.* (ok|MISSED|WRONG)( |$)' "$file")
    if grep -aq 'Device not supported' "$file"; then
        say "$name" "left out: the checker does not work on this machine"
    elif [ "$complaints" -gt 0 ] || [ "$code" -eq 9 ]; then
        failed "$name" "$complaints complaints in $ended tests or rows; the first: $first"
    elif [ "$code" -eq 125 ] && [ ! -s "$file" ]; then
        say "$name" "not done for lack of time"
    elif [ "$ended" -eq 0 ]; then
        if [ "$code" -ne 125 ] && [ "${job_round[$1]}" -eq 1 ]; then # it may have seen nothing of the program
            check_job "$name, again" 2 "${job_tool[$1]}" "${job_rest[$1]}"
        else
            failed "$name" "nothing was checked: no test or row ended; $(reason "$code" "$file")"
        fi
    elif [ "$code" -eq 0 ]; then
        say "$name" "nothing found in $ended tests or rows"
    elif [ "$code" -eq 125 ]; then
        say "$name" "nothing found in $ended tests or rows; then its time was over"
    else
        failed "$name" "nothing found in $ended tests or rows, but $(reason "$code" "$file")"
    fi
}

# check_job NAME ROUND TOOL REST: a process of the checker, of the program and its options in REST, separated by blanks.
check_job() {
    local name=$1 round=$2 tool=$3 rest=$4
    local -a options=(--tool "$tool" --error-exitcode 9 --print-limit 5 --target-processes all) program
    read -ra program <<<"$rest"
    if [ "$tool" = initcheck ]; then
        options+=(--check-api-memory-access no) # copies of records have padding, which nobody writes
    fi
    if [ "$round" -eq 1 ]; then
        watch_from_inside $((part_end - SECONDS - 3))
    else
        watch_from_outside
    fi
    job "$name" "${outside[@]}" "$sanitizer" "${options[@]}" "${inside[@]}" "$build/bin/${program[0]}" "${program[@]:1}"
    job_round[jobs]=$round
    job_tool[jobs]=$tool
    job_rest[jobs]=$rest
}

# check NAME SECONDS TOOLS LISTS...: each list of tests, and each program, under each tool, side by side.
check() {
    local name=$1 tools=$3 list tool sanitizer program
    local -a programs=("$build"/bin/test_cuda*) job_round=() job_tool=() job_rest=()
    part "$2"
    shift 3
    sanitizer=$(tool compute-sanitizer)
    if [ -z "$sanitizer" ]; then
        say "$name" "left out: compute-sanitizer is not there"
        return
    fi
    for tool in $tools; do
        for list in "$@"; do
            if [[ $list == ^* ]]; then
                check_job "$tool $list" 1 "$tool" "bench_gpu --rows $list --repetitions 1"
                continue
            fi
            for program in "${programs[@]}"; do
                program=$(basename "$program")
                check_job "$tool ${list%%[:*]*}" 1 "$tool" "$program --gtest_color=no --gtest_filter=$list"
            done
        done
    done
    together 8 "$whole" checked
}

# Small cases only: the checkers slow kernels down a hundredfold.
others_of() { printf '%s' "EveryCase/Fof*/$1:EveryCase/Dbscan*/$1:EveryCase/Radius*/$1:EveryCase/SpanningTree*/$1"; }
cases_3d='uniform_3d_float32 coincident_3d_float32 box_edges_3d_float32'
part_memory() {
    local own='KdTreesIn*:CudaMemory.Works*:CudaAsync.StatusOfAReplay' neighbors='' others='' name
    for name in $cases_3d; do
        neighbors+="${neighbors:+:}EveryCase/Knn*/$name"
        others+="${others:+:}$(others_of "$name")"
    done
    if [ -n "${KITH_SANITIZED:-}" ]; then
        check memory 50 "memcheck initcheck" "$KITH_SANITIZED"
    else
        check memory 50 "memcheck initcheck" "$own" "$neighbors" "$others" '^switch_[15]e3_tree$'
    fi
}

# They see the masks and the shared memory of compiled code, which nothing else does.
part_races() {
    local name=uniform_3d_float32
    if [ -n "${KITH_SANITIZED:-}" ]; then
        check races 30 "synccheck racecheck" "$KITH_SANITIZED"
    else
        check races 30 "synccheck racecheck" "EveryCase/Knn*/$name" "$(others_of "$name")"
    fi
}

part_other() {
    part 120
    rows "other rows" --rest ${KITH_ROWS:+--rows "$KITH_ROWS"}
}

part_universe() {
    part 110
    if [ "$(left)" -lt 15 ]; then
        say "simulated universe" "not done for lack of time"
    elif ! timeout 20 python3 -c 'import cupy' 2>/dev/null; then
        say "simulated universe" "left out: python3 has no CuPy"
    elif run "simulated universe" 90 python3 "$here/gpu/cosmic_field.py" --n 256 "$work/cosmic.f32"; then
        rows "simulated universe" --positions "$work/cosmic.f32"
    else
        local code=$?
        if [ "$code" -eq 125 ]; then
            say "simulated universe" "not done for lack of time"
        else
            failed "simulated universe" "$(reason "$code")"
        fi
    fi
    rm -f "$work/cosmic.f32"
}

# From the first to the last: a GPU that nobody holds goes to sleep, and takes seconds to wake up. What it samples are
# the clocks of the multiprocessors and of the memory, in MHz, and the power, in W.
timeout "$((whole + 60))" nvidia-smi --id=0 --query-gpu=clocks.sm,clocks.mem,power.draw --format=csv,noheader,nounits \
    --loop-ms=200 >"$output/clocks.csv" 2>&1 &
sampler=$!

# Without machine code for this GPU, the driver compiles every kernel first, which takes longer than there is time.
architectures=$(cat "$build/architectures" 2>/dev/null || sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[^=]*=//p' "$build/CMakeCache.txt")
this_gpu=$(timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
if [[ $this_gpu =~ ^[0-9]+$ ]] && ! tr ';' '\n' <<<"$architectures" | grep -qE "^$this_gpu(-real)?$"; then
    echo "gpu_check.sh: $build has code for '$architectures', and none for this GPU, $this_gpu: build with" \
        "-DCMAKE_CUDA_ARCHITECTURES=$this_gpu" | tee -a "$log" >&2
    exit 2
fi

for name in $parts; do
    if [ "$(left)" -lt 1 ]; then
        say "$name" "not done for lack of time"
        continue
    fi
    printf '\n==== %s, after %s s\n' "$name" "$SECONDS" | tee -a "$log"
    "part_$name"
done
rm -f "$last"

echo
echo "commit ${commit:-unknown}, $SECONDS s; results in $results, everything said in $log"
cat "$summary"
exit $status
