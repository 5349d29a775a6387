// A perceptually uniform color map, computed instead of tabulated.
//
// Lightness in OKLab (Ottosson 2020) rises linearly from near black to near white, so equal steps of the value look
// equal, in color, in gray and to color-blind eyes; the hue turns from violet through red to yellow on the way.
#pragma once

namespace kith::cli {

/// sRGB, each channel in [0, 1].
struct Color {
    float red = 0;
    float green = 0;
    float blue = 0;
};

/// The color of t in [0, 1]; t outside is clamped.
[[nodiscard]] Color color_at(double t);

/// OKLab lightness of an sRGB color, in [0, 1].
[[nodiscard]] double lightness(Color color);

} // namespace kith::cli
