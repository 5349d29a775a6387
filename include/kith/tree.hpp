// The z-ordered plane tree: build once, query many times, from any thread.
//
// Points are sorted along the z-order curve; a plane partitions the sorted points into the largest Morton cells that
// hold at most a given number of them; each coarser plane multiplies that number by the coarsening factor. Source:
// jz-tree paper, section II. Building costs O(N log N) time at worst, close to O(N) in practice, and about 24 bytes a
// point beside the points themselves (3-D float32).
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace kith {

namespace detail {
struct TreeData;
}

/// How the tree is cut. The defaults were measured (docs/performance-log.md); answers do not depend on them.
struct TreeOptions {
    int leaf_size = 40;         ///< most points in a leaf, n_max of plane 0; 1 or more; on a GPU no more than 32
    int coarsening = 8;         ///< n_max grows by this factor from plane to plane; 2 or more
    int top_size = 256;         ///< coarsening stops once a plane has no more nodes than this; 1 or more
    double regularization = 50; ///< f_max of section II-D: no node's cell is larger than this times the mean cell of
                                ///< the smallest nodes that hold 90 % of the points; 0 switches it off
};

/// An immutable index over a copy of the points. Copies share it. Thread-safe to query. Work of yours that reads it on a
/// GPU must be done before the last copy goes.
class Tree {
public:
    /// Sorts and cuts the points. The view is not kept. A tree that is built on a GPU stays in its memory and is searched
    /// there. Throws Error: invalid_points (NaN, infinity, extent over twice
    /// the period; the first offending index is named), invalid_argument (box of another dimension, negative period),
    /// too_large (more than 2^31 - 1 points), unsupported (dimension not built), out_of_memory, device, canceled.
    explicit Tree(const PointsView& points, const Box& box = {}, const TreeOptions& options = {},
                  const Execution& execution = {});

    [[nodiscard]] std::int64_t size() const;
    [[nodiscard]] int dimension() const;
    [[nodiscard]] DType dtype() const noexcept;

    /// In whose memory it is.
    [[nodiscard]] Device device() const noexcept;

    /// The box with every origin resolved.
    [[nodiscard]] const Box& box() const noexcept;

    /// Original index of each point, in z-order, in memory of the tree's device. Valid as long as any copy of the tree
    /// lives.
    [[nodiscard]] std::span<const std::int32_t> order() const;

    /// Planes from the leaves (0) to the top. An empty tree has none.
    [[nodiscard]] int plane_count() const;

    /// First sorted position of every node of a plane, with the size at the end: nodes + 1 numbers, in memory of the
    /// tree's device.
    [[nodiscard]] std::span<const std::int32_t> plane(int index) const;

    /// What building took.
    [[nodiscard]] const StageReports& stages() const noexcept;

    /// For the library's own stages.
    [[nodiscard]] const detail::TreeData& data() const noexcept { return *data_; }

private:
    std::shared_ptr<const detail::TreeData> data_;
};

} // namespace kith
