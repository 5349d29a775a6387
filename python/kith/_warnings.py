"""Warnings that name the line of the user's call, however deep in kith the reason is found."""

import sys
import warnings


def warn(message, category=UserWarning):
    frame, level = sys._getframe(), 1  # of this function
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "kith":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
