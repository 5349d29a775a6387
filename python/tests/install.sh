#!/bin/sh
# Installs the package as users do, into a fresh environment without anything else, and runs the tests that need no other
# package there; then those of arrays and of SciPy's calls again with the oldest NumPy that the package takes, where this
# Python has it. Usage: install.sh PYTHON SOURCE WORK. Two dimensions, one instruction set, no GPU code and little
# optimization, so that it does not take long.
set -eu
python=$1
source=$2
work=$3
rm -rf "$work"
"$python" -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet --disable-pip-version-check "$source" pytest \
    --config-settings=cmake.define.KITH_DIMS="2;3" --config-settings=cmake.define.KITH_SIMD=NATIVE \
    --config-settings=cmake.define.KITH_CUDA=OFF \
    --config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG"
"$work/environment/bin/pip" show --quiet kith-neighbors # not kith, another project's name on PyPI
cd "$work" # not the source, whose folders would be imported
export PYTHONDONTWRITEBYTECODE=1
"$work/environment/bin/python" -m pytest -q -p no:cacheprovider \
    --ignore "$source/python/tests/test_datasets.py" "$source/python/tests" # which goes to six dimensions
if "$work/environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
    "numpy==1.23.*" "scipy==1.10.*" hypothesis; then
    # Random problems have more dimensions than are built; old SciPy takes some of what is wrong.
    "$work/environment/bin/python" -m pytest -q -p no:cacheprovider "$source/python/tests/test_arrays.py" \
        "$source/python/tests/test_against_scipy.py::TestTheSameCalls" -k "not test_what_is_wrong"
else
    echo "install.sh: this Python has no NumPy 1.23; THE OLDEST NUMPY IS NOT TESTED" >&2
fi
