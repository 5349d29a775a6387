"""Dimensions that the package was built for: quick builds have two or three of them."""

import kith


def _is_built(dimension):
    try:
        kith.Tree([[0.0] * dimension])
    except NotImplementedError:
        return False
    return True


DIMENSIONS = [dimension for dimension in range(2, 9) if _is_built(dimension)]
