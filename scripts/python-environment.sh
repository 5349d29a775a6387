#!/bin/sh
# Makes the Python environment in which the Python package is built and tested, in the folder that is given, and only what
# is missing of it. Where packages are not to be had it says so and leaves no environment: the tests that need it are then
# left out.
set -eu

folder=$1
packages="nanobind>=2.4 scikit-build-core>=0.10 numpy scipy pytest hypothesis h5py pandas matplotlib astropy jax"

say() { echo "python-environment: $*" >&2; }

if [ -f "$folder/packages" ] && [ "$(cat "$folder/packages")" = "$packages" ]; then
    exit 0
fi
rm -rf "$folder"
if ! "${PYTHON:-/usr/bin/python3}" -m venv "$folder" ||
    ! "$folder/bin/pip" install --quiet --disable-pip-version-check $packages; then
    rm -rf "$folder"
    say "the packages for the Python tests are not to be had here; THE PYTHON PACKAGE IS NOT TESTED"
    exit 0
fi
echo "$packages" >"$folder/packages"
