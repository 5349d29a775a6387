// Planes with as many nodes as the number of points alone decides, on a GPU: the host knows every count without looking
// at the points.
//
// The gaps between sorted points are shared out evenly, so many in a row to each cut, and every cut takes of its gaps
// the one where the largest cell ends: where the keys beside it part highest. So leaves have up to twice as many points
// as there are gaps to a cut, less one, and about half of that; and the faces of large cells, which few gaps lie on,
// are cuts. The cuts of a coarser plane take among those of the plane below in the same way. Nodes are no cells all the
// same: a cut takes one face where there are two beside each other, and points of one key are cut anywhere. Answers do
// not depend on that; the time does. (Plain runs of points, cut anywhere, would leave one row in six to the search by
// query, of uniform points; with cuts at faces none is left.)
#pragma once

#include "support/bits.hpp"
#include "tree/device_planes.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

struct FixedShape {
    std::int64_t gaps_of_cut = 0; ///< between points; 0: no planes
    std::int64_t coarsening = 8;  ///< cuts of the plane below to a cut, and about as many nodes to a node
    std::int64_t top_size = 0;    ///< most nodes of the top plane
};

/// No leaf has more points than a warp can serve; no more nodes on top than a warp looks at together.
inline constexpr FixedShape usual_shape{warp_size / 2, 8, warp_size};

/// Cuts before each node, and after the last.
struct CutAtFaces {
    std::int64_t nodes;
    std::int64_t gaps_of_cut;
    std::int64_t below; ///< points, or nodes of the plane below
    std::int64_t points;
    const std::uint64_t* keys;        ///< of the points, sorted; for leaves
    const std::int32_t* points_below; ///< first points of the nodes below; null for leaves
    const std::uint8_t* levels_below; ///< how high the keys part at the first of them
    std::int32_t* first_point;        ///< nodes + 1
    std::int32_t* first_child;        ///< nodes + 1, not for leaves
    std::uint8_t* levels;             ///< nodes

    __device__ void operator()(std::int64_t node) const {
        const bool is_leaf = points_below == nullptr;
        std::int64_t cut = node == 0 ? 0 : below;
        int highest = -1;
        if (node > 0 && node < nodes) {
            const std::int64_t first = node * gaps_of_cut - gaps_of_cut / 2;
            for (std::int64_t gap = first; gap < first + gaps_of_cut && gap < below; ++gap) {
                const int level = is_leaf ? bit_width(keys[gap - 1] ^ keys[gap]) : levels_below[gap];
                cut = level > highest ? gap : cut;
                highest = level > highest ? level : highest;
            }
        }
        if (node < nodes) {
            levels[node] = static_cast<std::uint8_t>(highest < 0 ? 0 : highest);
        }
        if (is_leaf) {
            first_point[node] = static_cast<std::int32_t>(cut);
        } else {
            first_child[node] = static_cast<std::int32_t>(cut);
            first_point[node] = node < nodes ? points_below[cut] : static_cast<std::int32_t>(points);
        }
    }
};

/// Memory for planes of that shape, leaves first.
template <Coordinate T, int D>
std::vector<OwnedDevicePlane<T>> allocate_planes(DeviceWork& work, std::int64_t points, const FixedShape& shape) {
    std::vector<OwnedDevicePlane<T>> planes;
    const auto add = [&](std::int64_t below, std::int64_t gaps) {
        planes.push_back(allocate_plane<T, D>(work, (below + gaps - 1) / gaps, !planes.empty()));
    };
    if (points > 0 && shape.gaps_of_cut > 0) {
        add(points, shape.gaps_of_cut);
        while (planes.back().nodes > shape.top_size) {
            add(planes.back().nodes, shape.coarsening);
        }
    }
    return planes;
}

/// The planes of sorted points, made in two steps: the leaves are cut while there are keys, boxes are found when the
/// points are where they belong.
template <Coordinate T, int D>
class FixedPlanes {
public:
    /// Takes the memory: of the planes from `kept`, and of what is needed only until they are finished from `work`.
    FixedPlanes(DeviceWork& work, DeviceWork& kept, std::int64_t points, const FixedShape& shape)
        : work_(work), points_(points), shape_(shape), planes_(allocate_planes<T, D>(kept, points, shape)) {
        for (const OwnedDevicePlane<T>& plane : planes_) {
            levels_.push_back(work.buffer<std::uint8_t>(plane.nodes));
        }
    }

    void cut_leaves(const std::uint64_t* sorted_keys) {
        if (!planes_.empty()) {
            cut(0, {planes_[0].nodes, shape_.gaps_of_cut, points_, points_, sorted_keys, nullptr, nullptr,
                    planes_[0].first_point.data(), nullptr, levels_[0].data()});
        }
    }

    /// All that is left to be done. Hands the planes out.
    [[nodiscard]] std::vector<OwnedDevicePlane<T>> finished(const DevicePointSet<T>& points) {
        if (!planes_.empty()) {
            summarize_leaves<T, D>(work_, planes_[0], points.view());
        }
        for (std::size_t i = 1; i < planes_.size(); ++i) {
            const OwnedDevicePlane<T>& below = planes_[i - 1];
            cut(i, {planes_[i].nodes, shape_.coarsening, below.nodes, points_, nullptr, below.first_point.data(),
                    levels_[i - 1].data(), planes_[i].first_point.data(), planes_[i].first_child.data(),
                    levels_[i].data()});
            summarize_children<T, D>(work_, planes_[i], below);
        }
        return std::move(planes_);
    }

private:
    void cut(std::size_t plane, const CutAtFaces& cuts) {
        for_each_index(work_, "cuts at faces", planes_[plane].nodes + 1, cuts);
    }

    DeviceWork& work_;
    std::int64_t points_;
    FixedShape shape_;
    std::vector<OwnedDevicePlane<T>> planes_;
    std::vector<DeviceBuffer<std::uint8_t>> levels_;
};

} // namespace kith::detail::inline KITH_GPU
