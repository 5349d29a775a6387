"""What was built: dimensions, of which quick builds have two or three, and the program."""

import os
import pathlib

import pytest

import kith


def _is_built(dimension):
    try:
        kith.Tree([[0.0] * dimension])
    except NotImplementedError:
        return False
    return True


DIMENSIONS = [dimension for dimension in range(2, 9) if _is_built(dimension)]


def program():
    """The program kith: the one that KITH_PROGRAM names, or the one that was built beside the package."""
    found = pathlib.Path(os.environ.get("KITH_PROGRAM") or pathlib.Path(kith.__file__).parents[2] / "bin" / "kith")
    if not found.is_file():
        pytest.skip(f"there is no program {found}; KITH_PROGRAM names one")
    return found
