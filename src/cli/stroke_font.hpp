// A small stroke font, so that the map can carry words without a font library.
#pragma once

#include "cli/canvas.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

struct Lettering {
    std::vector<Polyline> lines; ///< baseline at y = 0, upwards is negative, as on the canvas
    double width = 0;
};

/// The strokes of one line of text, in UTF-8, whose capitals are `size` high. Each character without a drawing becomes
/// a small box.
[[nodiscard]] Lettering lettering_of(std::string_view words, double size);

/// The words if they are not wider than `width`, or as much of their beginning as is not with "..." after it.
[[nodiscard]] std::string shortened(std::string_view words, double size, double width);

} // namespace kith::cli
