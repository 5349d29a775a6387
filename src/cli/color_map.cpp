// Source of the conversions: B. Ottosson, "A perceptual color space for image processing" (2020), and IEC 61966-2-1
// for the sRGB transfer curve.
#include "cli/color_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace kith::cli {

namespace {

using Linear = std::array<double, 3>;

constexpr double darkest = 0.13;
constexpr double lightest = 0.98;

Linear linear_from_oklab(double lightness, double a, double b) {
    const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// OKLab's a and b along the map: a Bezier curve from violet through magenta, red and orange to pale yellow.
std::array<double, 2> hue_path(double t) {
    std::array<std::array<double, 2>, 6> points = {
        {{0.02, -0.07}, {0.09, -0.17}, {0.30, -0.02}, {0.21, 0.17}, {0.00, 0.24}, {-0.02, 0.05}}};
    for (std::size_t left = points.size() - 1; left > 0; --left) {
        for (std::size_t i = 0; i < left; ++i) {
            for (std::size_t axis = 0; axis < 2; ++axis) {
                points[i][axis] += t * (points[i + 1][axis] - points[i][axis]);
            }
        }
    }
    return points[0];
}

bool can_be_shown(const Linear& color) {
    return std::all_of(color.begin(), color.end(), [](double channel) { return channel >= 0 && channel <= 1; });
}

float encode(double channel) {
    const double c = std::clamp(channel, 0.0, 1.0);
    return static_cast<float>(c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
}

double decode(float channel) {
    const double c = channel;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

} // namespace

Color color_at(double t) {
    const double value = std::clamp(t, 0.0, 1.0);
    const double light = darkest + (lightest - darkest) * value;
    const auto [a, b] = hue_path(value);
    // The path lies almost everywhere within sRGB; where it does not, the color fades toward gray until it does.
    double shown = 1;
    while (shown > 0 && !can_be_shown(linear_from_oklab(light, shown * a, shown * b))) {
        shown -= 1.0 / 256;
    }
    const Linear color = linear_from_oklab(light, shown * a, shown * b);
    return {encode(color[0]), encode(color[1]), encode(color[2])};
}

double lightness(Color color) {
    const double red = decode(color.red);
    const double green = decode(color.green);
    const double blue = decode(color.blue);
    return 0.2104542553 * std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) +
           0.7936177850 * std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) -
           0.0040720468 * std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
}

} // namespace kith::cli
