#!/bin/sh
# Installs what kith needs to be built and tested on Debian or Ubuntu, and only what is missing: where everything is
# there, nothing is downloaded and no rights are asked for. Needs root or sudo otherwise.
#
#   scripts/install-dependencies.sh                what building, testing and the demo need, and an MPI: MPICH, unless
#                                                  there is one with its headers
#   scripts/install-dependencies.sh --for-checks   also clang-format 14, with which the code's layout is checked, and
#                                                  what the Python package is built and tested with
#   scripts/install-dependencies.sh --for-benchmarks   also what bench/compare.py compares with
set -eu

needed="g++ make cmake ninja-build pkg-config libtbb-dev libhwy-dev libhdf5-dev libzip-dev nlohmann-json3-dev
    libcli11-dev libfmt-dev libpng-dev libgtest-dev libboost-context-dev libbenchmark-dev libnanoflann-dev
    python3 python3-numpy python3-h5py"
wanted=""
[ "${1:-}" = "--for-checks" ] && wanted="clang-format-14 clang-14 python3-venv python3-dev"
[ "${1:-}" = "--for-benchmarks" ] && wanted="libcgal-dev python3-venv python3-dev"

say() { echo "install-dependencies: $*" >&2; }

require_cmake() {
    version=$(cmake --version | sed -n 's/^cmake version //p')
    if [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
        say "CMake is $version, but 3.25 or later is needed; Debian 12 and Ubuntu 24.04 have it, and" \
            "https://cmake.org/download has it for older ones"
        exit 1
    fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not Debian or Ubuntu (no apt-get); install the equivalents of these packages, then give make" \
        "DEPENDENCIES=no:" $needed
    exit 1
fi

# A package counts as there if it, or one that provides it, is installed.
is_installed() {
    dpkg-query --show --showformat '${db:Status-Status} ${Package},${Provides}\n' | grep '^installed ' |
        sed 's/^installed //; s/([^)]*)//g; s/,/ /g' | tr -s ' ' '\n' | grep --quiet --line-regexp --fixed-strings "$1"
}
missing_of() {
    for package; do
        is_installed "$package" || printf '%s ' "$package"
    done
}

# One MPI is enough, whoever installed it: what counts is a compiler wrapper that finds mpi.h, as CMake asks it. Of a
# launcher without headers (Debian's mpich or openmpi-bin alone) the headers are installed.
if ! echo '#include <mpi.h>' | mpicxx -E -x c++ - >/dev/null 2>&1; then
    if is_installed openmpi-bin; then
        wanted="$wanted libopenmpi-dev"
    else
        wanted="$wanted mpich libmpich-dev"
    fi
fi

missing=$(missing_of $needed)
missing_wanted=$(missing_of $wanted)
if [ -z "$missing$missing_wanted" ]; then
    require_cmake
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null; then
    as_root="sudo"
elif [ -z "$missing" ]; then
    exit 0 # only a convenience is missing, and there is no way to install it
else
    say "these packages are missing: $missing"
    say "they can be installed by root or through sudo, and this is neither; ask an administrator for:"
    say "    apt-get install --no-install-recommends $missing"
    exit 1
fi

install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}
say "installing $missing$missing_wanted"
$as_root apt-get update
[ -z "$missing" ] || install $missing
for package in $missing_wanted; do
    install "$package" || say "$package is not available here; what needs it will be skipped"
done
require_cmake
