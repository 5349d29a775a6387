"""Groups at several linking lengths from a file of `kith hierarchy`, as the pictures of kith.plot need them."""

import os
import re

import numpy

from kith import _core, _frames
from kith._files import _name_of, _opened


class LevelsFile:
    """What a `kith.FofLadder` and the file of `kith hierarchy` have in common."""

    box = None  # that of the points counts
    _is_in_phase_space = False

    def __init__(self, path):
        self.path = _name_of(path)
        self.linking_lengths, self.sizes, self.parents, self._rows, provenance = _opened(path, _core.read_fof_levels)
        self._length_name = _name_of_unit(provenance.get("length_unit", ""))

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


def _name_of_unit(text):
    """Of "3.085678e+24 cm a^1 h^-1 (a = 0.5, h = 0.7)"; None of other texts."""
    number = r"(-?\d[\d.]*(?:e[-+]?\d+)?)"
    found = re.fullmatch(rf"{number} cm a\^{number} h\^{number} \(a = {number}(?:, h = {number})?\)", text)
    if found is None:
        return None
    to_cgs, a_power, h_power, a, h = (None if each is None else float(each) for each in found.groups())
    unit = _frames.length_unit({"scale_factor": a, "length": (a_power, h_power, to_cgs)}, h)
    return unit and unit.name
