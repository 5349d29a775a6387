#!/bin/sh
# Makes the Python environment in which the Python package is built and tested, in the folder that is given, and only what
# is missing of it. Where packages are not available it says so and leaves no environment: the tests that need it are then
# left out. Where only the readers of catalogs, yt and pynbody, or only scikit-learn, mpi4py or the readers of compiled GPU
# code cannot be installed, their tests alone are skipped. With a second argument, `docs`, what the documentation is built
# with is added; where that is not available, the documentation is left out.
set -eu

folder=$1
packages="nanobind>=2.4 scikit-build-core>=0.10 numpy scipy pytest hypothesis h5py pandas matplotlib astropy jax"
packages_for_readers="yt pynbody"
packages_for_estimators="scikit-learn>=1.6"
packages_for_ranks="mpi4py>=4 mpich" # mpich: an MPI that belongs to mpi4py, with its mpiexec
packages_for_cuda="nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm" # which read what nvcc compiled
packages_for_docs="sphinx myst-nb furo sphinx-copybutton"

say() { echo "python-environment: $*" >&2; }

has() { [ -f "$folder/$1" ] && [ "$(cat "$folder/$1")" = "$2" ]; }
install() { "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"; }

if [ -e "$folder" ] && [ ! -f "$folder/pyvenv.cfg" ]; then
    say "$folder is there and is no Python environment; name another folder, or remove it"
    exit 1
fi
if ! has packages "$packages"; then
    rm -rf "$folder"
    if ! "${PYTHON:-/usr/bin/python3}" -m venv "$folder" || ! install $packages; then
        rm -rf "$folder"
        say "the packages for the Python tests are not available here; THE PYTHON PACKAGE IS NOT TESTED"
        exit 0
    fi
    echo "$packages" >"$folder/packages"
fi
if ! has packages-for-readers "$packages_for_readers"; then
    rm -f "$folder/packages-for-readers"
    if install $packages_for_readers; then
        echo "$packages_for_readers" >"$folder/packages-for-readers"
    else
        say "$packages_for_readers could not be installed; THAT THEY READ OUR CATALOGS IS NOT TESTED"
    fi
fi
if ! has packages-for-estimators "$packages_for_estimators"; then
    rm -f "$folder/packages-for-estimators"
    if install $packages_for_estimators; then
        echo "$packages_for_estimators" >"$folder/packages-for-estimators"
    else
        say "scikit-learn could not be installed; kith.sklearn IS NOT TESTED"
    fi
fi
if ! has packages-for-ranks "$packages_for_ranks"; then
    rm -f "$folder/packages-for-ranks"
    if install $packages_for_ranks; then
        echo "$packages_for_ranks" >"$folder/packages-for-ranks"
    else
        say "mpi4py could not be installed; kith.mpi IS NOT TESTED"
    fi
fi
if command -v nvcc >/dev/null && ! command -v cuobjdump >/dev/null && ! has packages-for-cuda "$packages_for_cuda"; then
    rm -f "$folder/packages-for-cuda"
    if install $packages_for_cuda; then
        echo "$packages_for_cuda" >"$folder/packages-for-cuda"
    else
        say "cuobjdump could not be installed; WHAT THE GPU KERNELS USE IS NOT CHECKED"
    fi
fi
if [ "${2:-}" = docs ] && ! has packages-for-docs "$packages_for_docs"; then
    rm -f "$folder/packages-for-docs"
    if install $packages_for_docs; then
        echo "$packages_for_docs" >"$folder/packages-for-docs"
    else
        say "the packages for the documentation are not available here"
    fi
fi
