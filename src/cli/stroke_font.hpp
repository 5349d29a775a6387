// A small stroke font, so that the map can carry words without a font library.
#pragma once

#include "cli/canvas.hpp"

#include <string_view>
#include <vector>

namespace kith::cli {

struct Lettering {
    std::vector<Polyline> lines; ///< baseline at y = 0, upwards is negative, as on the canvas
    double width = 0;
};

/// The strokes of one line of text whose capitals are `size` high. Characters without a drawing become a small box.
[[nodiscard]] Lettering lettering_of(std::string_view words, double size);

} // namespace kith::cli
