#!/bin/sh
# Runs clang-tidy, as .clang-tidy says, over the sources of src that the build folder given has compile commands for,
# those that CMake writes for each scalar type among them.
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: run-clang-tidy.sh BUILD_FOLDER}

if ! command -v clang-tidy >/dev/null; then
    echo "clang-tidy is not installed; the check is skipped"
    exit 0
fi
sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" | grep -e "^$PWD/src/" -e "^$PWD/$build/src/" |
    sort -u | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build"
