// The picture of a condensed tree: density grows downward, the width of a cluster is its number of points, and selected
// clusters are in color, in frames with their labels.
#pragma once

#include "cli/canvas.hpp"

#include <kith/hdbscan.hpp>

#include <string>

namespace kith::cli {

/// Of more selected clusters than these none has a frame.
inline constexpr int max_frames = 40;

struct IcicleSubject {
    const CondensedTree* tree = nullptr; ///< of all points
    std::string title;                   ///< above the picture, at the left
    std::string subtitle;                ///< above the picture, at the right
};

/// 1200 pixels wide.
[[nodiscard]] Canvas draw_icicles(const IcicleSubject& subject);

} // namespace kith::cli
