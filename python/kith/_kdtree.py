"""The order of a left-balanced k-d tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core
from kith._arrays import AnyArray, ProgressLike
from kith._call import Source, normalize_arguments
from kith._hints import takes_own_names

_SPLITS = ("cyclic", "widest", "widest_box")  # as in kith::kdtree::Split


class KdTreeOrder(NamedTuple):
    """The nodes of a left-balanced k-d tree, in level order: the children of node i are 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    indices : array of int32, shape (n,)
        Index of the point at each node.
    split_axes : array of uint8, shape (n,)
        Axis that each node splits: points under its left child come before it along that axis, those under the right
        child after it; equal ones by index.
    """

    indices: Any
    split_axes: Any


@takes_own_names
def kdtree_order(points: AnyArray, split: str = "widest", *, device: str | None = None, threads: int | None = None,
                 progress: ProgressLike = False) -> KdTreeOrder:
    """The order of points in a left-balanced k-d tree, for kernels and loops of your own.

    `points[order.indices]` is the tree that the C++ header `kith/device/kdtree.hpp` searches. Space is open.

    Parameters
    ----------
    points, device, threads, progress
        As for `kith.knn`, but no `kith.Tree`.
    split : "widest", "cyclic" or "widest_box"
        The axis that a node splits: the widest of its cell, which is the box of all points clipped by the planes above
        it; its level modulo d; or the widest of the tight box of its points, which takes longer and is not found on a
        GPU. The first of equally wide ones.

    Returns
    -------
    KdTreeOrder
        The tuple (indices, split_axes), arrays of the library of the points, in the same memory.

    Raises
    ------
    ValueError
        For points that are not finite; the message names the first. For another `split`.
    MemoryError
        If the result does not fit.
    NotImplementedError
        For points of other dimensions, tight boxes on a GPU, and a GPU where kith was built without CUDA.

    Notes
    -----
    O(n log n). Releases the GIL. Source: Wald 2023, arXiv:2211.00120.

    Examples
    --------
    >>> import kith
    >>> points = [[10, 15], [46, 63], [68, 21], [40, 33], [25, 54], [15, 43], [44, 58], [45, 40], [62, 69], [53, 67]]
    >>> indices, split_axes = kith.kdtree_order(points, "cyclic")
    >>> indices.tolist()
    [1, 5, 9, 3, 6, 2, 8, 0, 7, 4]
    >>> split_axes.tolist()
    [0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    """
    if type(getattr(points, "_source", None)) is Source:
        raise TypeError("points is a kith.Tree; it must be an array")
    if not isinstance(split, str) or split not in _SPLITS:
        raise (ValueError if isinstance(split, str) else TypeError)(
            f"split is {split!r}; it must be one of {', '.join(_SPLITS)}")
    source, = normalize_arguments(points)
    call = source._replace(box=None).call(device, threads, progress)
    shape = (source.shape[0] if source.shape else 0,)
    indices, finish = _arrays.empty_like(source.like, shape, numpy.int32)
    split_axes, _ = _arrays.empty_like(source.like, shape, numpy.uint8)
    _core.kdtree_order(call, indices, split_axes, _SPLITS.index(split))
    return KdTreeOrder(finish(indices), finish(split_axes))
