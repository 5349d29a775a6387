#!/bin/bash
# Everything that is to be known of kith on a GPU, in eight minutes: facts, the GPU tests, the main rows of the
# benchmark with clocks and power, the leaf search under the profiler, the memory checker, the other rows, a simulated
# universe. Usage: gpu_check.sh BUILD OUTPUT, where BUILD is a build folder or what gpu_pack.sh made of one, and OUTPUT a
# folder for results and logs.
#
# Needs the driver; takes python3 with CuPy, ncu and compute-sanitizer where they are. Each part has a limit of its own,
# within that of the whole, as has each test and each row (KITH_ROW_SECONDS): what hangs or crashes costs only itself.
# Exit status: 0 all is well, 1 something failed, 2 the arguments make no sense, 3 there is no GPU.
set -u
whole=470 # seconds
row_limit=${KITH_ROW_SECONDS:-45}

if [ $# -ne 2 ] || [ ! -x "$1/bin/bench_gpu" ]; then
    echo "usage: gpu_check.sh BUILD OUTPUT; BUILD/bin holds bench_gpu" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2" || exit 2
output=$(cd "$2" && pwd)
# For our own programs only: Python and the driver's have libraries of their own.
ours=(env "LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
results=$output/gpu-$(date +%Y-%m-%d-%H%M).json
log=$output/gpu_check.log
summary=$output/summary.txt
: >"$log"
: >"$summary"
status=0
# Of the sources. Without either, bench_gpu knows the commit it was configured at.
commit=$(cat "$build/commit" 2>/dev/null || git -C "$here" rev-parse HEAD 2>/dev/null || true)

left() { echo $((whole - SECONDS)); }

# say NAME WHAT: a line of the table at the end.
say() { printf '%-24s %s\n' "$1" "$2" | tee -a "$summary"; }

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
    if [ "$rest" -lt 1 ]; then
        return 125
    fi
    if [ "$limit" -gt "$rest" ]; then
        limit=$rest
        stopped=125
    fi
    printf '\n== %s\n' "$name" >>"$log"
    timeout --kill-after=5 "$limit" "$@" >"$output/last" 2>&1
    code=$?
    cat "$output/last" >>"$log"
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        code=$stopped
    fi
    return "$code"
}

# bench OPTION...: bench_gpu, which names each row before it begins; a row has its limit. The status is as that of run.
bench() {
    local process code stopped=0 begun=0 since=$SECONDS now
    printf '\n== bench_gpu %s\n' "$*" >>"$log"
    "${ours[@]}" "$build/bin/bench_gpu" "$@" >"$output/last" 2>&1 &
    process=$!
    while kill -0 "$process" 2>/dev/null; do
        now=$(grep -c '^> ' "$output/last")
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
        sleep 0.2
    done
    { wait "$process"; } 2>/dev/null
    code=$?
    cat "$output/last" >>"$log"
    return $((stopped != 0 ? stopped : code))
}

# rows NAME OPTION...: the rows of bench_gpu that the options choose, in one process as long as none of them ends it;
# the rows after that one in another.
rows() {
    local name=$1 row code ended good=0 bad=0 unmeasured=0 missed=0
    local -a waiting later
    shift
    mapfile -t waiting < <("${ours[@]}" "$build/bin/bench_gpu" --list "$@")
    while [ ${#waiting[@]} -gt 0 ] && [ "$SECONDS" -lt "$part_end" ]; do
        bench "$@" --rows "^($(IFS='|' && echo "${waiting[*]}"))\$" --output "$results" ${commit:+--commit "$commit"}
        code=$?
        grep -v '^> ' "$output/last" | tail -n +3
        ended=$((code > 1 && code != 125)) # and no row is known to have done it
        later=()
        for row in "${waiting[@]}"; do
            if ! grep -qxF "> $row" "$output/last"; then
                later+=("$row")
                continue
            fi
            awk -v row="$row" '/^> / { inside = $2 == row; next } inside' "$output/last" >"$output/told"
            if ! grep -q "^$row " "$output/told"; then
                if [ "$code" -eq 125 ]; then
                    unmeasured=$((unmeasured + 1))
                    continue
                fi
                ended=0
                bad=$((bad + 1))
                say "$row" "FAILED: $(reason "$code" "$output/told")"
            elif grep -qE 'FAILED|WRONG' "$output/told"; then
                bad=$((bad + 1))
                say "$row" "FAILED: $(reason 1 "$output/told")"
            else
                good=$((good + 1))
                missed=$((missed + $(grep -c MISSED "$output/told")))
            fi
        done
        if [ "$ended" -eq 1 ]; then
            say bench_gpu "FAILED between rows: $(reason "$code")"
            status=1
        fi
        if [ ${#later[@]} -eq ${#waiting[@]} ] && [ "$code" -ne 125 ]; then
            bad=$((bad + ${#later[@]}))
            say bench_gpu "FAILED: it began no row; $(reason "$code")"
            later=()
        fi
        waiting=("${later[@]}")
    done
    unmeasured=$((unmeasured + ${#waiting[@]}))
    rm -f "$output/told"
    say "$name" "$good right ($missed of them missed a goal), $bad failed, $unmeasured not done for lack of time"
    if [ "$bad" -gt 0 ]; then
        status=1
    fi
}

# reason STATUS [FILE]: why the last run failed, or what wrote that file, in a line.
reason() {
    case $1 in
    124) echo "took too long and was stopped" ;;
    125) echo "not done for lack of time" ;;
    *)
        echo "status $1: $(grep -E 'FAILED|WRONG|ERROR SUMMARY|error|Error' "${2:-$output/last}" | tail -1 |
            cut -c1-160)"
        ;;
    esac
}

# spread COLUMN: least, median and greatest of the numbers in a column of the samples.
spread() {
    cut -d, -f"$1" "$output/clocks.csv" | grep -xE ' *[0-9.]+' | sort -n |
        awk '{ number[NR] = $1 } END { print NR ? number[1] "/" number[int((NR + 1) / 2)] "/" number[NR] : "not told" }'
}

# checked NAME STATUS: what the checker of memory said. Being stopped is no failure if nothing was found until then.
checked() {
    local complaints
    complaints=$(grep -cE '^=========.*(Invalid|Uninitialized|Misaligned|[Hh]azard|Race reported|out of bounds)' "$output/last")
    if [ "$2" -eq 0 ]; then
        say "$1" "nothing found"
    elif grep -q 'Device not supported' "$output/last"; then
        say "$1" "left out: the checker does not work on this machine"
    elif [ "$2" -lt 124 ] || [ "$complaints" -gt 0 ]; then
        say "$1" "FAILED: $complaints complaints; $(reason "$2")"
        status=1
    else
        say "$1" "nothing found, but $(reason "$2")"
    fi
}

# Without machine code for this GPU, the driver compiles every kernel first, which takes longer than there is time.
architectures=$(cat "$build/architectures" 2>/dev/null || sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[^=]*=//p' "$build/CMakeCache.txt")
this_gpu=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
if [ -n "$this_gpu" ] && ! tr ';' '\n' <<<"$architectures" | grep -qE "^$this_gpu(-real)?$"; then
    echo "gpu_check.sh: $build has code for '$architectures', and none for this GPU, $this_gpu: build with" \
        "-DCMAKE_CUDA_ARCHITECTURES=$this_gpu" >&2
    exit 2
fi

timeout --kill-after=5 30 "${ours[@]}" "$build/bin/bench_gpu" --rows '^switch_1e3_tree$' --repetitions 1 >"$output/last" 2>&1
first_probe=$?
if [ "$first_probe" -eq 3 ]; then
    cat "$output/last" >&2
    echo "gpu_check.sh: there is no GPU here; nothing was checked" >&2
    exit 3
elif [ "$first_probe" -ne 0 ]; then
    tee -a "$log" <"$output/last" >&2
    say "first probe" "FAILED: $(reason "$first_probe")"
    status=1
fi

part 10
if run facts 10 nvidia-smi; then
    cat "$output/last"
    run clocks 5 nvidia-smi -q -d CLOCK,POWER,TEMPERATURE,ECC
    say facts "$(nvidia-smi --format=csv,noheader --query-gpu=name,driver_version,memory.total,mig.mode.current | head -1)"
else
    say facts "nvidia-smi: $(reason $?)"
fi

shopt -s nullglob
tests=("$build"/bin/test_cuda*)
part 90
if [ ${#tests[@]} -eq 0 ]; then
    say tests "left out: there is no test_cuda* in $build/bin"
fi
for test in "${tests[@]}"; do
    name=$(basename "$test")
    if run "$name" 60 "${ours[@]}" "$test" --gtest_brief=1; then
        say "$name" "$(grep -E '^\[ +(PASSED|SKIPPED) +\]' "$output/last" | tr '\n' ' ')"
    else
        say "$name" "FAILED: $(reason $?)"
        status=1
    fi
done

echo
part 170
timeout "$(left)" nvidia-smi --id=0 --query-gpu=clocks.sm,clocks.mem,power.draw --format=csv,noheader,nounits \
    --loop-ms=200 >"$output/clocks.csv" 2>&1 &
sampler=$!
rows "main rows" --main
kill "$sampler" 2>/dev/null
{ wait "$sampler"; } 2>/dev/null
{
    printf '\n== multiprocessors in MHz, memory in MHz, power in W\n'
    cat "$output/clocks.csv"
} >>"$log"
say "clocks and power" "least/median/most: multiprocessors $(spread 1) MHz, memory $(spread 2) MHz, $(spread 3) W"
rm -f "$output/clocks.csv"

# The second launch of the leaf search: the first one warms up. The GPU's clocks are left as they are.
part 30
profiler=$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null)
profile=$output/leaf_search.txt
if [ -z "$profiler" ]; then
    say "leaf search, profiled" "left out: ncu is not there"
else
    sections=()
    for section in SpeedOfLight MemoryWorkloadAnalysis InstructionStats SchedulerStats WarpStateStats Occupancy; do
        sections+=(--section "$section")
    done
    run profiler 30 "${ours[@]}" "$profiler" --clock-control none --kernel-name regex:search_leaves --launch-skip 1 \
        --launch-count 1 "${sections[@]}" "$build/bin/bench_gpu" --rows '^uniform_1e7_k16$' --repetitions 1
    code=$?
    cp "$output/last" "$profile"
    if grep -q ERR_NVGPUCTRPERM "$profile"; then
        say "leaf search, profiled" "left out: the counters are forbidden here"
    elif grep -qE '^ +Duration ' "$profile"; then
        say "leaf search, profiled" "$(grep -E '^ +(Duration|(Compute \(SM\)|Memory) Throughput|Achieved Occupancy) ' \
            "$profile" | sed -E 's/ +/ /g; s/^ //' | paste -sd';' | sed 's/;/, /g'); all in $profile"
    else
        say "leaf search, profiled" "nothing measured: $(reason "$code")"
    fi
fi

# Small cases only: the checker slows kernels down a hundredfold. Names of cases that make large sets say so;
# KITH_SANITIZED chooses others.
part 70
small=${KITH_SANITIZED:--*Large*:*Million*:*Many*}
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$sanitizer" ]; then
    say compute-sanitizer "left out: it is not there"
else
    each=$((68 / (2 * (${#tests[@]} + 1))))
    for tool in memcheck initcheck; do
        for test in "${tests[@]}"; do
            name=$(basename "$test")
            run "$tool $name" $each "${ours[@]}" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 5 \
                "$test" --gtest_brief=1 --gtest_fail_fast --gtest_filter="$small"
            checked "$tool $name" $?
        done
        run "$tool bench_gpu" $each "${ours[@]}" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 5 \
            "$build/bin/bench_gpu" --rows '^switch_[15]e3_tree$' --repetitions 1
        checked "$tool bench_gpu" $?
    done
fi

part 90
rows "other rows" --rest

part 60
if [ "$(left)" -lt 15 ]; then
    say "simulated universe" "not done for lack of time"
elif ! python3 -c 'import cupy' 2>/dev/null; then
    say "simulated universe" "left out: python3 has no CuPy"
elif run "simulated universe" 50 python3 "$here/gpu/cosmic_field.py" --n 256 "$output/cosmic.f32"; then
    rows "simulated universe" --positions "$output/cosmic.f32"
else
    say "simulated universe" "FAILED: $(reason $?)"
    status=1
fi
rm -f "$output/cosmic.f32" "$output/last"

echo
echo "commit ${commit:-unknown}, $SECONDS s; results in $results, everything said in $log"
cat "$summary"
exit $status
