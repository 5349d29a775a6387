// An index of points: build once, query many times, from any thread.
//
// It is of one engine, by default the z-ordered plane tree, which answers all calls.
// Points are sorted along the z-order curve; a plane partitions the sorted points into the largest Morton cells that
// hold at most a given number of them; each coarser plane multiplies that number by the coarsening factor. Source:
// jz-tree paper, section II (arXiv:2604.05885). Building takes O(N log N) time at worst, close to O(N) in practice.
// Memory (3-D float32): a tree keeps about 18 bytes per point, including its copy of the points; building takes about
// 32.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

namespace detail {
struct TreeData;
}

/// The shape of a tree of planes. The defaults were measured (docs/decisions.md); answers do not depend on them.
/// On a GPU leaf_size and top_size are at most 32, and regularization is ignored.
struct TreeShape {
    int leaf_size = 40;         ///< maximum points in a leaf, n_max of plane 0; 1 or more
    int coarsening = 8;         ///< n_max grows by this factor from plane to plane; 2 or more
    int top_size = 256;         ///< coarsening stops at a plane with at most this many nodes; 1 or more
    double regularization = 50; ///< f_max of section II-D: no node's cell is larger than this times the mean cell of
                                ///< the smallest nodes that hold 90 % of the points; 0 disables it

    friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

enum class CloverForm : std::uint8_t {
    hierarchical, ///< hubs on several levels, and edges between near cells; the form of calls on points
    flat,         ///< as published: one level of hubs, and edges between all cells
};
enum class HubSelection : std::uint8_t { random, kmeans_plus_plus };

/// Their names, in order, as the program and Python use them.
inline constexpr std::array<std::string_view, 2> clover_form_names{"hierarchical", "flat"};
inline constexpr std::array<std::string_view, 2> hub_selection_names{"random", "kmeans++"};

/// Options of Engine::clover. Answers do not depend on them. Source: CLOVER (ICS 2025), sections 3 and 4.2.3.
struct CloverOptions {
    CloverForm form = CloverForm::hierarchical;
    std::int64_t hubs = 1024; ///< of the flat form, 1 or more; no more are taken than there are points. The table of
                              ///< edges needs 8 bytes for each pair of cells, 256 MiB at most
    HubSelection hub_selection = HubSelection::random; ///< of the flat form
    std::uint64_t seed = 0x6B697468;                   ///< of the random hubs

    friend bool operator==(const CloverOptions&, const CloverOptions&) = default;
};

/// The shape of a k-d tree on the CPU; on a GPU each node is one point. Answers do not depend on it.
struct KdTreeOptions {
    int leaf_size = 32; ///< points in a leaf, 1 or more; rounded up to a multiple of 16, whole vectors

    friend bool operator==(const KdTreeOptions&, const KdTreeOptions&) = default;
};

struct TreeOptions {
    Box box = {};
    Engine engine = Engine::tree; ///< automatic is the tree; no index on a GPU is of brute force
    TreeShape shape = {};         ///< of Engine::tree
    CloverOptions clover = {};    ///< of Engine::clover
    KdTreeOptions kdtree = {};    ///< of Engine::kdtree
    Execution execution = {};     ///< the index stays on this device and is searched there
};

/// Boxes of the nodes of a plane, row-major nodes x d: the least and the greatest coordinates of their points.
template <Coordinate T>
struct NodeBoxes {
    std::vector<T> lower;
    std::vector<T> upper;
};

/// An immutable index over a copy of the points. Copying is cheap: copies share the index. A move is a copy: a tree
/// that was moved from is the same tree, and still usable. Queries are thread-safe. A call takes the engine of the
/// index; it throws Error: unsupported if that engine does not support it (execution.hpp), and invalid_argument if its
/// options name another engine.
/// Points that have moved need another Tree; on a GPU it takes the memory of the old one if that is destroyed before.
/// Device work that reads the tree must complete before its last copy is destroyed.
class Tree {
public:
    /// Copies and arranges the points; the view is not kept. Throws Error: invalid_points (NaN, infinity, extent over
    /// twice the period; the text names the first such point), invalid_argument (box of another dimension, negative
    /// period, invalid shape or hubs, options of another engine), too_large (more than 2^31 - 1 points), unsupported
    /// (dimension or CUDA not built, brute force on a GPU), out_of_memory, device, canceled.
    explicit Tree(const PointsView& points, const TreeOptions& options = {});
    Tree(const Tree&) = default;
    Tree& operator=(const Tree&) = default;
    ~Tree() = default;

    [[nodiscard]] std::int64_t size() const;
    [[nodiscard]] int dimension() const;
    [[nodiscard]] DType dtype() const noexcept;

    /// Engine that answers, never automatic.
    [[nodiscard]] Engine engine() const noexcept;

    /// Device that owns the tree.
    [[nodiscard]] Device device() const noexcept;

    /// The box, with the origins of all periodic axes resolved.
    [[nodiscard]] const Box& box() const noexcept;

    /// Number of points outside the box, which were wrapped into it (box.hpp).
    [[nodiscard]] std::int64_t wrapped_points() const noexcept;

    /// The shape passed to the constructor.
    [[nodiscard]] const TreeShape& shape() const noexcept;

    /// Copies of the points in the order given: coordinates wrapped into the box, row-major, in the units of the
    /// points. Numbers below 2^-173 of the largest coordinate (2^-1053 in float64) may lose digits, in the scale in
    /// which kith computes (docs/semantics.md, Numbers). Throws Error: invalid_argument (T is not dtype()), unsupported
    /// (an index on a GPU).
    template <Coordinate T>
    [[nodiscard]] std::vector<T> points() const;

    // What follows is of Engine::tree; an index of another engine throws Error: unsupported.

    /// Original index of each point, in z-order: size() numbers in memory of the tree's device. Valid as long as any
    /// copy of the tree.
    [[nodiscard]] std::span<const std::int32_t> order() const;

    /// Number of planes, from the leaves (0) to the top; 0 for an empty tree.
    [[nodiscard]] int plane_count() const;

    /// First sorted position of every node of a plane, followed by size(): nodes + 1 numbers in memory of the tree's
    /// device, valid as long as any copy of the tree. Throws Error: invalid_argument (index outside 0 to
    /// plane_count() - 1).
    [[nodiscard]] std::span<const std::int32_t> plane(int index) const;

    /// The same copies in z-order, and those of a plane's boxes. Throw as points(), and invalid_argument (a plane that
    /// does not exist).
    template <Coordinate T>
    [[nodiscard]] std::vector<T> sorted_points() const;
    template <Coordinate T>
    [[nodiscard]] NodeBoxes<T> node_boxes(int plane) const;

    /// Cost of building, of any engine.
    [[nodiscard]] const StageReports& stages() const noexcept;

    /// Internal.
    explicit Tree(std::shared_ptr<const detail::TreeData> data) : data_(std::move(data)) {}
    [[nodiscard]] const detail::TreeData& data() const noexcept { return *data_; }

private:
    std::shared_ptr<const detail::TreeData> data_;
};

/// What a call searches or groups: points, in anything that a PointsView can view, or an index of them, which has its
/// own box and engine. A view: what is passed must outlive the call.
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
