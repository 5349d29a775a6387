// The z-ordered plane tree: build once, query many times, from any thread.
//
// Points are sorted along the z-order curve; a plane partitions the sorted points into the largest Morton cells that
// hold at most a given number of them; each coarser plane multiplies that number by the coarsening factor. Source:
// jz-tree paper, section II (arXiv:2604.05885). Building takes O(N log N) time at worst, close to O(N) in practice.
// Memory (3-D float32): a tree keeps about 18 bytes per point, including its copy of the points; building takes about
// 32.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

namespace detail {
struct TreeData;
}

/// The shape of a tree. The defaults were measured (docs/decisions.md); answers do not depend on them.
/// On a GPU leaf_size and top_size are at most 32, and regularization is ignored.
struct TreeShape {
    int leaf_size = 40;         ///< maximum points in a leaf, n_max of plane 0; 1 or more
    int coarsening = 8;         ///< n_max grows by this factor from plane to plane; 2 or more
    int top_size = 256;         ///< coarsening stops at a plane with at most this many nodes; 1 or more
    double regularization = 50; ///< f_max of section II-D: no node's cell is larger than this times the mean cell of
                                ///< the smallest nodes that hold 90 % of the points; 0 disables it
};

struct TreeOptions {
    Box box = {};
    TreeShape shape = {};
    Execution execution = {}; ///< the tree stays on this device and is searched there
};

/// Boxes of the nodes of a plane, row-major nodes x d: the least and the greatest coordinates of their points.
template <Coordinate T>
struct NodeBoxes {
    std::vector<T> lower;
    std::vector<T> upper;
};

/// An immutable index over a copy of the points. Copying is cheap: copies share the index. A move is a copy: a tree
/// that was moved from is the same tree, and still usable. Queries are thread-safe.
/// Device work that reads the tree must complete before its last copy is destroyed.
class Tree {
public:
    /// Sorts and splits the points; the view is not kept. Throws Error: invalid_points (NaN, infinity, extent over
    /// twice the period; the text names the first such point), invalid_argument (box of another dimension, negative
    /// period, invalid shape), too_large (more than 2^31 - 1 points), unsupported (dimension or CUDA not built),
    /// out_of_memory, device, canceled.
    explicit Tree(const PointsView& points, const TreeOptions& options = {});
    Tree(const Tree&) = default;
    Tree& operator=(const Tree&) = default;
    ~Tree() = default;

    [[nodiscard]] std::int64_t size() const;
    [[nodiscard]] int dimension() const;
    [[nodiscard]] DType dtype() const noexcept;

    /// Device that owns the tree.
    [[nodiscard]] Device device() const noexcept;

    /// The box, with the origins of all periodic axes resolved.
    [[nodiscard]] const Box& box() const noexcept;

    /// Number of points outside the box, which were wrapped into it (box.hpp).
    [[nodiscard]] std::int64_t wrapped_points() const noexcept;

    /// The shape passed to the constructor.
    [[nodiscard]] const TreeShape& shape() const noexcept;

    /// Original index of each point, in z-order: size() numbers in memory of the tree's device. Valid as long as any
    /// copy of the tree.
    [[nodiscard]] std::span<const std::int32_t> order() const;

    /// Number of planes, from the leaves (0) to the top; 0 for an empty tree.
    [[nodiscard]] int plane_count() const;

    /// First sorted position of every node of a plane, followed by size(): nodes + 1 numbers in memory of the tree's
    /// device, valid as long as any copy of the tree. Throws Error: invalid_argument (index outside 0 to
    /// plane_count() - 1).
    [[nodiscard]] std::span<const std::int32_t> plane(int index) const;

    /// Copies of the points and of a plane's boxes, in z-order: coordinates wrapped into the box, row-major, in the
    /// units of the points. Numbers below 2^-173 of the largest coordinate (2^-1053 in float64) may lose digits, in the
    /// scale in which kith computes (docs/semantics.md, Numbers). Throw Error: invalid_argument (T is not dtype(), a
    /// plane that does not exist), unsupported (a tree on a GPU).
    template <Coordinate T>
    [[nodiscard]] std::vector<T> sorted_points() const;
    template <Coordinate T>
    [[nodiscard]] NodeBoxes<T> node_boxes(int plane) const;

    /// Cost of building.
    [[nodiscard]] const StageReports& stages() const noexcept;

    /// Internal.
    explicit Tree(std::shared_ptr<const detail::TreeData> data) : data_(std::move(data)) {}
    [[nodiscard]] const detail::TreeData& data() const noexcept { return *data_; }

private:
    std::shared_ptr<const detail::TreeData> data_;
};

/// What a call searches or groups: points, in anything that a PointsView can view, or a tree of them, which has its own
/// box. A view: what is passed must outlive the call.
class PointsOrTree {
public:
    PointsOrTree(const Tree& tree) : tree_(&tree) {} // NOLINT(google-explicit-constructor)
    template <class Points>
        requires(std::is_convertible_v<const Points&, PointsView>)
    PointsOrTree(const Points& points) : points_(points) {} // NOLINT(google-explicit-constructor)

    [[nodiscard]] const Tree* tree() const noexcept { return tree_; } ///< null: these are points
    [[nodiscard]] const PointsView& points() const noexcept { return points_; }
    [[nodiscard]] std::int64_t count() const { return tree_ != nullptr ? tree_->size() : points_.count(); }
    [[nodiscard]] int dimension() const { return tree_ != nullptr ? tree_->dimension() : points_.dimension(); }
    [[nodiscard]] DType dtype() const noexcept { return tree_ != nullptr ? tree_->dtype() : points_.dtype(); }

private:
    const Tree* tree_ = nullptr;
    PointsView points_;
};

} // namespace kith
