"""Which points are linked, which ones only join, and what a relative linking length refers to."""

from typing import Any, NamedTuple

import numpy

from kith import _arrays, _core
from kith._phase_space import warn_of_unequal_masses
from kith._warnings import warn

_SEPARATIONS = ("box", "cosmology")
_TOLERATED = 0.01  # relative difference of two mean separations


class Linked(NamedTuple):
    """As the core takes them, and what a warning needs."""

    length: Any  # the number, and whether it is relative; None of labels
    is_secondary: Any  # 1 for points that only join; None if all are linked
    b: Any
    in_universe: float  # mean separation there; 0: not known

    def warn_of_other_separation(self, found, shape):
        """Of the separation in the box, by which groups have been found; `found` is their summary."""
        if self.length is None or not self.length[1] or not self.in_universe:
            return
        if found.volume_kind != "box" or shape[1] != 3:
            return
        linked = shape[0] - (0 if self.is_secondary is None else int(self.is_secondary.sum()))
        in_box = (found.volume / max(linked, 1)) ** (1 / 3)
        if abs(in_box - self.in_universe) > _TOLERATED * self.in_universe:
            warn(f"the mean separation of the points in the box, {in_box:.6g}, of which the linking length is "
                 f"{self.b:g}, is {in_box / self.in_universe:.3g} times that which their mean mass has in the "
                 f"universe, {self.in_universe:.6g}; mean_separation='cosmology' takes the latter")


def linked(shape, linking_length, b, mean_separation, types, secondary_types, snapshot, masses, uniform_mass,
           has_labels=False):
    """Decides on them. Groups that are given by labels have no length."""
    if mean_separation not in _SEPARATIONS:
        raise ValueError(f"mean_separation is {mean_separation!r}; it must be one of {', '.join(_SEPARATIONS)}")
    is_secondary = None if secondary_types is None else _secondaries(types, secondary_types)
    length = None if has_labels else _arrays.length(linking_length, b)
    in_universe, lacks = 0.0, ""
    if b is not None:
        in_universe, lacks = _in_universe(types, is_secondary, snapshot, masses, uniform_mass)
    if mean_separation == "cosmology":
        if b is None:
            raise TypeError("mean_separation is 'cosmology', which is what b refers to, but b is not given; give it, "
                            "or leave mean_separation out")
        if shape[1] != 3:
            raise ValueError(f"mean_separation is 'cosmology', but the points have {shape[1]} dimensions; it is of 3")
        if not in_universe:
            raise ValueError(f"mean_separation is 'cosmology', but {lacks}; give linking_length, or leave it out")
        length = length[0] * in_universe, False
    elif is_secondary is None:
        warn_of_unequal_masses(b, masses, types)
    return Linked(length, is_secondary, b, in_universe)


def _secondaries(types, secondary_types):
    if types is None:
        raise TypeError("secondary_types is given, but the points have no types; give types, too, or leave it out")
    try:
        wanted = [_arrays.as_whole(each, "secondary_types") for each in secondary_types]
    except TypeError:
        raise TypeError(f"secondary_types is {secondary_types!r}; it must be a sequence of whole numbers, such as "
                        "(0, 4)") from None
    if not all(0 <= each <= 6 for each in wanted):
        raise ValueError(f"secondary_types is {secondary_types!r}; types are 0 to 6")
    return numpy.isin(numpy.asarray(types), wanted).astype(numpy.uint8)


def _in_universe(types, is_secondary, snapshot, masses, uniform_mass):
    """The mean separation in the universe, and what is missing where it is not known and 0."""
    header = getattr(snapshot, "header", None)
    if not hasattr(header, "frame"):
        return 0.0, "only a kith.Snapshot states what that is"
    linked = None if is_secondary is None else is_secondary == 0
    mass = uniform_mass
    if masses is not None:
        of_linked = masses if linked is None else masses[linked]
        mass = float(numpy.sum(of_linked, dtype=numpy.float64)) / max(len(of_linked), 1)
    present = [] if types is None else numpy.unique(types if linked is None else types[linked]).tolist()
    counts = getattr(header, "counts", (0,) * 7)
    length, lacks = _core.matter_separation(header.frame, header.parameters, counts, present, mass or 0.0)
    lacks = [f"the snapshot does not state {lacks}"] * bool(lacks) + ["the points have no masses"] * (not mass)
    return length, " and ".join(lacks)
