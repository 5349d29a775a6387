// A perceptually uniform colour map, computed instead of tabulated.
//
// Lightness in OKLab (Ottosson 2020) rises linearly from near black to near white, so equal steps of the value look
// equal, in colour, in grey and to colour-blind eyes; the hue turns from violet through red to yellow on the way.
#pragma once

namespace kith::cli {

/// sRGB, each channel in [0, 1].
struct Colour {
    float red = 0;
    float green = 0;
    float blue = 0;
};

/// The colour of t in [0, 1]; t outside is clamped.
[[nodiscard]] Colour colour_at(double t);

/// OKLab lightness of an sRGB colour, in [0, 1].
[[nodiscard]] double lightness(Colour colour);

} // namespace kith::cli
