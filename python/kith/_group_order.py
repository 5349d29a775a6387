"""Arrays in the order of groups in memory."""

from __future__ import annotations

from typing import Any

import numpy

from kith import _arrays, _core, _units
from kith._arrays import AnyArray, ProgressLike
from kith._call import progress_function
from kith._hints import takes_own_names


class GroupOrder:
    """The order of points by group: those of group 0 first, then those of group 1, and so on; last those of no group.

    Attributes
    ----------
    indices : array of int32, shape (n,)
        Index of each point: members of a group ascend, and so do the points of no group.
    offsets : array of int64, shape (groups + 1,)
        Members of group g are elements `offsets[g]` to `offsets[g + 1] - 1` of `indices`, and of arrays in this order.
    members : int
        The number of points in groups.
    """

    def __init__(self, indices, offsets, members):
        self.indices, self.offsets, self.members = indices, offsets, members

    def __repr__(self) -> str:
        return f"<kith.GroupOrder of {len(self.offsets) - 1} groups, {self.members} of {len(self.indices)} points>"

    def take(self, array: AnyArray, *, others: bool = True, threads: int | None = None) -> Any:
        """A copy of an array in the order of groups.

        Parameters
        ----------
        array : array with a row for each point
            Of any type and shape, in the memory of `indices`: positions, velocities, ids, labels.
        others : bool
            False leaves out the points of no group.
        threads : int, optional
            Of the CPU; None or 0 for all.

        Returns
        -------
        array
            Of the library of `array` and in the same memory, with its unit. Arrays on a GPU do not cross the bus.
        """
        indices = self.indices if _arrays.flag(others, "others") else self.indices[:self.members]
        array, unit = _units.split(array, "array")
        library = _arrays.library_of(array)
        if library not in _arrays.LIBRARIES:
            array = numpy.asarray(array)
            if array.dtype.hasobject:
                raise TypeError("array holds objects of Python; it must be an array of numbers")
        if array.ndim == 0 or len(array) != len(self.indices):
            raise ValueError(f"array is of shape {tuple(array.shape)}; it must have a row for each of "
                             f"{len(self.indices)} points")
        if library in ("jax", "jaxlib"):
            return array[indices]
        if library == "torch":
            import torch
            array = array.contiguous()
            taken = torch.empty((len(indices), *array.shape[1:]), dtype=array.dtype, device=array.device)
        elif library == "cupy":
            import cupy
            array = cupy.ascontiguousarray(array)
            with array.device:
                taken = cupy.empty((len(indices), *array.shape[1:]), dtype=array.dtype)
        else:
            array = numpy.ascontiguousarray(array)
            taken = numpy.empty((len(indices), *array.shape[1:]), dtype=array.dtype)
        if 0 not in taken.shape:
            of_rows = _bytes if isinstance(taken, numpy.ndarray) else _arrays.identity
            _core.gather_rows(indices, of_rows(array), of_rows(taken), threads)
        return _units.with_unit(taken, unit)


def _bytes(array):
    """The memory of a NumPy array of any type as rows of bytes."""
    return array.reshape(len(array), -1).view(numpy.uint8)


@takes_own_names
def group_order(labels: AnyArray, groups: int | None = None, *, device: str | None = None, threads: int | None = None,
                progress: ProgressLike = False) -> GroupOrder:
    """The order that puts the members of each group next to each other in memory.

    Parameters
    ----------
    labels : array of int32, shape (n,)
        As `kith.fof`, `kith.dbscan` and cuts of a hierarchy return them. On a GPU they stay there.
    groups : int, optional
        Order the groups 0 to `groups` - 1, such as the `len(catalog)` groups of a catalog; points with other labels,
        such as -1, are of no group. By default all groups.
    device, threads, progress
        As for `kith.knn`.

    Returns
    -------
    GroupOrder
        Its arrays are of the library of the labels, in the same memory. `take` brings any array into the order.

    Raises
    ------
    ValueError
        For labels of another shape, or beyond int32; without `groups` for labels of n or more; for groups below 0.
    TypeError
        For labels that are not whole numbers.
    MemoryError
        If the result does not fit.

    Notes
    -----
    O(n); on a GPU a sort of the members. Releases the GIL. Source: the jz-tree paper, section IV-B.

    Examples
    --------
    >>> import kith, numpy
    >>> points = numpy.array([[0, 0], [5, 5], [9, 0], [0, 1], [5, 6], [5, 7]])
    >>> order = kith.group_order(kith.fof(points, 1, min_members=2))
    >>> order.offsets.tolist()
    [0, 3, 5]
    >>> order.take(points).tolist()
    [[5, 5], [5, 6], [5, 7], [0, 0], [0, 1], [9, 0]]
    """
    if numpy.ndim(labels) == 0:
        raise TypeError(f"labels is of type {type(labels).__name__}; it must be an array with a number for each point")
    like = labels if _arrays.library_of(labels) in _arrays.LIBRARIES else None
    labels = _arrays.as_integers(labels, numpy.int32, "labels")
    like = labels if like is None else like
    if len(labels.shape) != 1:
        raise ValueError(f"labels is of shape {tuple(labels.shape)}; it must have one axis")
    if groups is None:
        groups = max(int(labels.max()) + 1, 0) if labels.shape[0] else 0
        if groups > labels.shape[0]:  # memory is for all groups below the largest label
            raise ValueError(f"labels: row {int(labels.argmax())} has {groups - 1}, but {labels.shape[0]} points have no "
                             "more than as many groups; pass groups= if most of them are empty")
    groups = _arrays.as_whole(groups, "groups")
    if not 0 <= groups < 2**31:
        raise ValueError(f"groups is {groups}; it must be 0 to {2**31 - 1}")
    indices, of_indices = _arrays.empty_like(like, labels.shape, numpy.int32)
    offsets, of_offsets = _arrays.empty_like(like, (groups + 1,), numpy.int64)
    device = _core.device_of(labels) if device is None else device
    members = _core.group_order(labels, indices, offsets, device, threads, progress_function(progress))
    return GroupOrder(of_indices(indices), of_offsets(offsets), members)
