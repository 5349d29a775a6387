#!/bin/sh
# kill_a_rank.sh MPIEXEC FLAG PROGRAM: runs the program over three ranks, waits until they have worked together, and kills
# rank 1. The others wait for it, so the job must not go on: fails unless it ends within 10 seconds, and with an error.
set -u
mpiexec=$1
flag=$2
export PROGRAM=$3
FOLDER=$(mktemp -d)
export FOLDER
trap 'rm -r "$FOLDER"' EXIT

fail() {
    echo "$1; it wrote:" >&2
    head -c 2000 "$FOLDER/output" >&2
    [ -e "$FOLDER/ended" ] || kill "$(cat "$FOLDER/job")"
    exit 1
}
# await SECONDS COMMAND: waits until the command succeeds, no longer than that.
await() {
    tenths=$((10 * $1))
    shift
    until "$@"; do
        [ $tenths -gt 0 ] || return 1
        tenths=$((tenths - 1))
        sleep 0.1
    done
}
has_begun() { [ -s "$FOLDER/rank_1" ] && grep -qs '^step 9: ' "$FOLDER/output"; }
begins_or_ends() { has_begun || [ -e "$FOLDER/ended" ]; }

{
    "$mpiexec" "$flag" 3 sh -c '
        if [ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}" = 1 ]; then echo $$ >"$FOLDER/rank_1"; fi
        exec "$PROGRAM" 1000000' >"$FOLDER/output" 2>&1 &
    echo $! >"$FOLDER/job"
    wait $!
    echo $? >"$FOLDER/ended"
} &
await 30 begins_or_ends && has_begun || fail "the ranks did not begin to work"
kill -KILL "$(cat "$FOLDER/rank_1")" || fail "rank 1 could not be killed"
await 10 test -s "$FOLDER/ended" || fail "the job went on for 10 seconds without one of its ranks"
code=$(cat "$FOLDER/ended")
[ "$code" != 0 ] || fail "the job ended without an error"
echo "ended with exit code $code"
