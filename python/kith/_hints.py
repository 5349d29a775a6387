"""Hints for arguments that have another name or place elsewhere: `workers` of SciPy is `threads` here.

Python raises TypeError for an argument that a function does not have. `@takes_own_names` adds kith's name of the argument to
the error, or the arguments to give by name, at no cost for correct calls. `refuse_scipys_order` detects swapped arguments.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OURS = {"workers": "threads", "n_jobs": "threads", "num_threads": "threads", "nthreads": "threads", "boxsize": "box",
         "box_size": "box", "periodic": "box", "period": "box", "distance_upper_bound": "max_distance",
         "n_neighbors": "k", "x": "queries", "radius": "r", "leafsize": "leaf_size", "linkinglength": "linking_length",
         "ll": "linking_length", "min_size": "min_members", "nmin": "min_members", "metric": None, "p": None}
_PHASE_SPACE = ("psi", "psi_sigma", "velocities", "masses")
_PHASE_SPACE_BY = {"fof": "kith.fof(points, linking_length, psi=..., velocities=...)",
                   "fof_ladder": "kith.hierarchy(points, linking_length=..., psi=..., velocities=...).ladder(linking_lengths)"}
_OF_TREE = {"query_ball_point": "radius_search(r, queries)", "query_ball_tree": "radius_search(r, queries)",
            "query_pairs": "radius_search(r, exclude_self=True)", "count_neighbors": "kith.pair_counts(tree, other, edges=...)",
            "sparse_distance_matrix": "radius_search(r, queries)", "n": "len(tree)", "m": "dimension",
            "data": "points"}


def attribute_error_of_tree(tree, name):
    """For attributes of SciPy's trees."""
    hint = f"; here it is {_OF_TREE[name]}, and kith.spatial.cKDTree has SciPy's methods" if name in _OF_TREE else ""
    return AttributeError(f"'Tree' object has no attribute {name!r}{hint}", name=name, obj=tree)


def refuse_scipys_order(r, queries):
    """query_ball_point takes (x, r)."""
    if (type(r) is not float and getattr(r, "ndim", 0) == 2) or type(queries) in (int, float):
        raise TypeError("r comes before queries here: radius_search(r, queries) of a tree, radius_search(points, r, queries); "
                        "SciPy's query_ball_point takes (x, r)")


def takes_own_names(function: _Function) -> _Function:
    """The function, whose TypeErrors for unknown arguments name the argument that is meant."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def hinting(*arguments, **options):
        try:
            return function(*arguments, **options)
        except TypeError as error:
            if re.fullmatch(rf".*\b{function.__name__}\(\) takes .*positional arguments? but \d+ .*given", str(error)):
                by_name = [name for name, each in names.items() if each.kind is each.KEYWORD_ONLY]
                raise TypeError(f"{error}; give others by name: {', '.join(by_name)}") from None
            found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if found is not None and found[1] in _PHASE_SPACE and function.__name__ in _PHASE_SPACE_BY:
                raise TypeError(f"{error}; groups in phase space: {_PHASE_SPACE_BY[function.__name__]}") from None
            if found is None or found[1] not in options or found[1] in names or found[1] not in _OURS:
                raise
            ours = _OURS[found[1]]
            if ours is not None and ours not in names:
                raise
            said = f"it is called {ours!r} here" if ours else "distances are Euclidean, which p=2 and 'euclidean' are"
        raise TypeError(f"{function.__qualname__}() has no argument {found[1]!r}; {said}")

    return hinting  # type: ignore[return-value]
