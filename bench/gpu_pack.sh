#!/bin/sh
# Gathers what bench/gpu_check.sh needs on a machine that has nothing but the driver: bench_gpu, the GPU tests, the program
# and the Python package if they are built, and the shared libraries they load (the C library and the driver's are that
# machine's own; so is the C++ library of its Python), stripped.
# Usage: gpu_pack.sh BUILD FOLDER. FOLDER must be empty or an earlier pack. FOLDER.tgz has the same: a third of the size,
# and the modes of the programs. Fails if that is over 51 MiB, or if there is no machine code for any GPU.
set -eu
most_kib=52224

if [ $# -ne 2 ] || [ ! -d "$1/bin" ]; then
    echo "usage: gpu_pack.sh BUILD FOLDER; BUILD is a build folder with programs in bin/" >&2
    exit 2
fi
build=$1
pack=$2
if [ -e "$pack" ] && [ ! -e "$pack/commit" ] && [ -n "$(ls -A "$pack")" ]; then
    echo "gpu_pack.sh: $pack holds other things; name an empty folder" >&2
    exit 2
fi

architectures=$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[^=]*=//p' "$build/CMakeCache.txt")
if ! echo "$architectures" | tr ';' '\n' | grep -qE '^[0-9]+[af]?(-real)?$'; then
    echo "gpu_pack.sh: $build has no machine code ('$architectures'); build with -DCMAKE_CUDA_ARCHITECTURES=90, or what" \
        "that machine's GPU is" >&2
    exit 1
fi

rm -rf "${pack:?}/bin" "${pack:?}/lib" "${pack:?}/python"
mkdir -p "$pack/bin" "$pack/lib"
for program in "$build"/bin/bench_gpu "$build"/bin/test_cuda* "$build"/bin/kith; do
    if [ -x "$program" ]; then
        cp "$program" "$pack/bin/"
    fi
done
if [ ! -e "$pack/bin/bench_gpu" ]; then
    echo "gpu_pack.sh: there is no $build/bin/bench_gpu; build the target bench_gpu" >&2
    exit 1
fi

# copy_libraries FOLDER FILE...: what the files load.
copy_libraries() {
    folder=$1
    shift
    for file in "$@"; do # not in the pipe below, whose shells could not end this one
        missing=$(ldd "$file" | awk '/not found/ { print $1 }')
        if [ -n "$missing" ]; then
            echo "gpu_pack.sh: $(basename "$file") needs $missing, which is not here" >&2
            exit 1
        fi
    done
    for file in "$@"; do
        ldd "$file" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
    done | sort -u | while read -r library; do
        case $(basename "$library") in
        libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libresolv.so.* | ld-linux* | libcuda.so.*) ;;
        *) cp --dereference "$library" "$folder/" ;;
        esac
    done
    chmod u+w "$folder"/*
    strip --strip-unneeded "$folder"/*
}
copy_libraries "$pack/lib" "$pack"/bin/*
strip "$pack"/bin/*
if ls "$build"/python/kith/_core*.so >/dev/null 2>&1; then
    mkdir -p "$pack/python/lib"
    cp -r --dereference "$build/python/kith" "$pack/python/"
    find "$pack/python" -name __pycache__ -prune -exec rm -r {} +
    copy_libraries "$pack/python/lib" "$pack"/python/kith/*.so
    rm -f "$pack"/python/lib/libstdc++.so.* "$pack"/python/lib/libgcc_s.so.*
    strip --strip-unneeded "$pack"/python/kith/*.so
fi

here=$(dirname "$0")
name=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
changed=$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null || true)
echo "$name${changed:+ with changes}" >"$pack/commit"
echo "$architectures" >"$pack/architectures"

parent=$(cd "$(dirname "$pack")" && pwd)
tar -C "$parent" -czf "$pack.tgz" "$(basename "$pack")"
size=$(du -sk "$pack.tgz" | cut -f1)
files_in() { find "$1" -type f | wc -l; }
echo "$pack: $(files_in "$pack/bin") programs, $(files_in "$pack/lib") libraries," \
    "$(($(du -sk "$pack" | cut -f1) / 1024)) MiB; $pack.tgz: $((size / 1024)) MiB"
if [ "$size" -gt "$most_kib" ]; then
    echo "gpu_pack.sh: that is more than $((most_kib / 1024)) MiB; build fewer dimensions (KITH_DIMS) or one architecture" >&2
    exit 1
fi
