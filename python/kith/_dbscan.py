"""DBSCAN: clusters of dense points."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from kith import _arrays, _core
from kith._arrays import AnyArray, BoxLike, ProgressLike
from kith._call import normalize_arguments, over_ranks
from kith._hints import takes_own_names
from kith._warnings import warn_of_few_points


@takes_own_names
@over_ranks
def dbscan(points: AnyArray, eps: float, min_samples: int = 5, *, box: BoxLike = None, star: bool = False,
           return_core: bool = False, engine: str = "auto", device: str | None = None, threads: int | None = None,
           progress: ProgressLike = False, comm: Any = None) -> Any:
    """Labels of DBSCAN's clusters, -1 for noise.

    A core point has at least `min_samples` points within `eps`, itself included. Core points within `eps` of each other
    are in one cluster; a border point, within `eps` of a core point but not one, belongs to the cluster of the lowest
    number that it touches. The labels are scikit-learn's; `kith.sklearn.DBSCAN` has its interface, too.

    Parameters
    ----------
    points, box, engine, device, threads, progress, comm
        As for `kith.knn`. The engines "kdtree" and "clover" do not find clusters, and on a GPU only "tree" does.
    eps : float
        The radius, inclusive, in the units of the points: finite, 0 or more; rounded to the type of the points once.
    min_samples : int
        Points within `eps` that make a core point, itself included. With 1 the clusters are those of `kith.fof`. If it
        is larger than the number of points, all are noise, within one process with a warning.
    star : bool
        DBSCAN*: border points are noise. Its clusters are those of HDBSCAN*'s hierarchy at the height `eps`.
    return_core : bool
        Return which points are core points, too.

    Returns
    -------
    labels : array of int32, over processes of int64, shape (n,)
        Clusters are numbered from 0 by their first core point. Of the library of the points.
    is_core : array of bool, shape (n,)
        If `return_core`.

    Raises
    ------
    ValueError
        For points that are not finite; an `eps` that is negative, not finite, or above 0 with a square that
        underflows relative to the largest coordinate; `min_samples` below 1.
    MemoryError
        If the result does not fit.
    NotImplementedError
        For points of other dimensions, an engine that does not find clusters on the device, and a GPU where
        kith was built without CUDA.

    Notes
    -----
    Exact; close to O(n) in low dimensions. No neighbors are stored: in addition to the tree it takes a byte for each
    point and for each core point its coordinates and 12 bytes (5 and 16 on a GPU). Sources: Ester, Kriegel, Sander & Xu
    1996 (KDD); for DBSCAN* Campello, Moulavi & Sander 2013 (PAKDD).

    Examples
    --------
    >>> import kith
    >>> points = [[0, 0], [0, 1], [1, 0], [1, 2], [9, 9]]
    >>> kith.dbscan(points, 1, min_samples=3).tolist()
    [0, 0, 0, -1, -1]
    """
    source, eps = normalize_arguments(points, box, one_dimension=True, eps=eps)
    min_samples = _arrays.at_least(1, min_samples, "min_samples", ", as it counts the point itself")
    star, return_core = _arrays.flag(star, "star"), _arrays.flag(return_core, "return_core")
    call = source.call(device, threads, progress, engine, comm=comm)
    density = _arrays.as_number(eps, "eps"), min_samples, star
    if comm is None:
        shape = (source.shape[0] if source.shape else 0,)
        labels, finish = _arrays.empty_like(source.like, shape, numpy.int32)
        is_core = _arrays.empty_like(source.like, shape, numpy.bool_)[0] if return_core else None
        _core.find_clusters(call, labels, is_core, *density)
        warn_of_few_points(min_samples, shape[0])
    else:
        comm.require_same("return_core", return_core)
        _arrays.require_type(source.like, numpy.int64)
        finish = functools.partial(_arrays.in_library_of, source.like)
        labels, is_core = _core.find_clusters_over_ranks(call, *density)
    return (finish(labels), finish(is_core)) if return_core else finish(labels)
