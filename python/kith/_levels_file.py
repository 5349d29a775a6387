"""Groups at several linking lengths from a file of `kith hierarchy`, as the pictures of kith.plot need them."""

import os

import numpy

from kith import _core
from kith._files import _name_of, _opened


class LevelsFile:
    """What a `kith.FofLadder` and the file of `kith hierarchy` have in common."""

    box = None  # that of the points counts
    _is_in_phase_space = False

    def __init__(self, path):
        self.path = _name_of(path)
        self.linking_lengths, self.sizes, self.parents, self._rows = _opened(path, _core.read_fof_levels)

    def __len__(self):
        return len(self.linking_lengths)

    def labels_of(self, points, level):
        """The labels of these points: a snapshot, or an array with a point for each row of the file."""
        if self._rows == 0:
            raise ValueError(f"'{self.path}' has no labels of the points; kith hierarchy --with-labels writes them")
        rows = getattr(points, "file_rows", None)
        if rows is None and len(points) != self._rows or rows is not None and rows.max(initial=-1) >= self._rows:
            raise ValueError(f"points has {len(points)} rows, but the labels in '{self.path}' are of a file of {self._rows}")
        labels = _core.read_fof_labels(os.fsencode(self.path), level)
        return numpy.asarray(labels if rows is None else labels[rows])
