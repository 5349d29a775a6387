"""The colors of kith's pictures: those of `kith fof --map`.

The map runs from violet through magenta, red and orange to pale yellow; its lightness rises evenly. Source of the
conversions: B. Ottosson, "A perceptual color space for image processing" (2020), and IEC 61966-2-1 for the sRGB curve.
"""

import numpy

INK = (0.86, 0.86, 0.90)
FAINT_INK = (0.56, 0.56, 0.63)
PAGE = (0.055, 0.050, 0.075)
FRAME = (0.36, 0.35, 0.42)
CIRCLE = (0.70, 1.00, 0.93)

_DARKEST, _LIGHTEST = 0.13, 0.98
# OKLab's a and b along the map: control points of a Bezier curve.
_HUES = ((0.02, -0.07), (0.09, -0.17), (0.30, -0.02), (0.21, 0.17), (0.00, 0.24), (-0.02, 0.05))
_TO_CONE_RESPONSES = ((1, 0.3963377774, 0.2158037573), (1, -0.1055613458, -0.0638541728), (1, -0.0894841775, -1.2914855480))
_TO_LINEAR_SRGB = ((4.0767416621, -3.3077115913, 0.2309699292), (-1.2684380046, 2.6097574011, -0.3413193965),
                   (-0.0041960863, -0.7034186147, 1.7076147010))


def colors_at(places):
    """sRGB colors, shape (n, 3), at n places along the map, from 0 for the least density to 1."""
    places = numpy.clip(numpy.asarray(places, dtype=numpy.float64), 0, 1)[:, None]
    hue = [numpy.array(point) for point in _HUES]
    while len(hue) > 1:
        hue = [one + places * (next_one - one) for one, next_one in zip(hue, hue[1:])]
    light = _DARKEST + (_LIGHTEST - _DARKEST) * places
    shown = numpy.ones_like(places)
    while True:
        lab = numpy.concatenate((light, shown * hue[0]), axis=1)
        linear = (lab @ numpy.transpose(_TO_CONE_RESPONSES)) ** 3 @ numpy.transpose(_TO_LINEAR_SRGB)
        # The path lies almost everywhere within sRGB; where it does not, the color fades toward gray until it does.
        outside = ((linear < 0) | (linear > 1)).any(axis=1, keepdims=True) & (shown > 0)
        if not outside.any():
            break
        shown[outside] -= 1 / 256
    linear = numpy.clip(linear, 0, 1)
    return numpy.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
