"""Warnings that name the line of the user's call, however deep in kith the reason is found."""

import sys
import warnings

import numpy


def warn(message, category=UserWarning):
    frame, level = sys._getframe(), 1  # of this function
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "kith":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_infinite(masses, of):
    """Of groups or halos whose members have finite masses, the sum of which is not."""
    infinite = int(numpy.isinf(masses).sum())
    if infinite > 0:
        warn(f"the masses of the members of {infinite} of the {of} add up to more than float64 can hold, and are infinite; "
             "give masses in a larger unit")


def warn_of_few_points(min_samples, points):
    """Of clusters within one process, if there are points (None: it is not known how many)."""
    if points and points < min_samples:
        warn(f"min_samples is {min_samples}, but there {_there_are(points)}: no core point is possible, and all are noise")


def warn_of_small_set(min_cluster_size, points):
    """The same where no cluster was found."""
    if points and points < min_cluster_size:
        warn(f"min_cluster_size is {min_cluster_size}, but there {_there_are(points)}: no cluster is possible, and all are "
             "noise")


def _there_are(points):
    return "is 1 point" if points == 1 else f"are {points} points"
