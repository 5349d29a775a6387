"""Hints for arguments that have another name elsewhere: `workers` of SciPy is `threads` here.

Python raises TypeError for an argument that a function does not have. Functions marked with `@takes_own_names` then say what
it is called here, at no cost for calls that are right.
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


def takes_own_names(function: _Function) -> _Function:
    """The function, whose TypeErrors for unknown arguments name the argument that is meant."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def hinting(*arguments, **options):
        try:
            return function(*arguments, **options)
        except TypeError as error:
            found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if found is None or found[1] not in options or found[1] in names or found[1] not in _OURS:
                raise
            ours = _OURS[found[1]]
            if ours is not None and ours not in names:
                raise
            said = f"it is called {ours!r} here" if ours else "distances are Euclidean, which p=2 and 'euclidean' are"
        raise TypeError(f"{function.__qualname__}() has no argument {found[1]!r}; {said}")

    return hinting  # type: ignore[return-value]
