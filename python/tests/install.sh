#!/bin/sh
# Installs the package as users do, into a fresh environment without anything else, and runs the tests that need no other
# package there. Usage: install.sh PYTHON SOURCE WORK. Two dimensions and no GPU code, so that it does not take long.
set -eu
python=$1
source=$2
work=$3
rm -rf "$work"
"$python" -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet --disable-pip-version-check "$source" pytest \
    --config-settings=cmake.define.KITH_DIMS="2;3" --config-settings=cmake.define.KITH_AVX512=OFF \
    --config-settings=cmake.define.KITH_CUDA=OFF
cd "$work" # not the source, whose folders would be imported
PYTHONDONTWRITEBYTECODE=1 "$work/environment/bin/python" -m pytest -q -p no:cacheprovider \
    --ignore "$source/python/tests/test_datasets.py" "$source/python/tests" # which goes to six dimensions
