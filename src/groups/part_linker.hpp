// Links the points of one part of a set, such as those of a rank: on the host (part_linker_cpu.hpp) or on a GPU
// (part_linker_device.hpp). distributed/linked_points, which joins the parts, does not know which.
//
// The host always has the boxes of all nodes and the row of each position, since they tell which points of other parts
// are near. Coordinates stay where points are linked.
#pragma once

#include <kith/progress.hpp>

#include "points/frame.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kith::detail {

/// A component is named by the smallest row in it.
template <Coordinate T>
class PartLinker {
public:
    PartLinker() = default;
    PartLinker(const PartLinker&) = delete;
    PartLinker& operator=(const PartLinker&) = delete;
    virtual ~PartLinker() = default;

    /// The tree of the part, in memory of the host; coordinates of its points are null if they are on a GPU. Without
    /// planes if there are no points.
    [[nodiscard]] virtual TreeView<T> tree() const = 0;
    /// Links the points of the tree within a length. Writes the component of each row, -1 of rows that are not in the
    /// tree.
    virtual void link(T squared_length, std::span<std::int32_t> component) = 0;
    /// Links other points, wherever they are, in a tree of their own. Returns the component of each.
    [[nodiscard]] virtual std::vector<std::int32_t> link_apart(const NormalizedPoints<T>& points, T squared_length) = 0;

    /// What stages of a GPU took, so far; none of the host's, which are the context's.
    [[nodiscard]] virtual StageReports take_stages() { return {}; }
    /// Copied from a GPU so far.
    [[nodiscard]] virtual std::int64_t bytes_to_host() const { return 0; }
};

/// Makes a linker of points of the host or its GPU, which outlive it.
template <Coordinate T>
using MakePartLinker = std::function<std::unique_ptr<PartLinker<T>>(const NormalizedPoints<T>& points)>;

} // namespace kith::detail
