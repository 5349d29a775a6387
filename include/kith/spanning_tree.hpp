// The exact Euclidean minimum spanning tree.
//
// Of all trees that connect the points, the one whose edges are shortest together: the hierarchy of friends-of-friends
// groups at every linking length (single linkage). Edges are ordered by (squared distance, smaller index, larger index);
// in this order the tree is unique, the same bits on every machine, for every engine and number of threads
// (docs/semantics.md, "Minimum spanning tree"). Source: Boruvka's method, as in Prokopenko, Sao and Lebrun-Grandie, ICPP
// 2022 (arXiv:2207.00514), with rows of nearest neighbors. Cost: close to O(N log N) in low dimensions.
#pragma once

#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kith {

struct SpanningTreeOptions {
    Box box = {};                      ///< of the points; a tree has its own
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< CPU only
};

/// Original indices of the two ends of an edge.
struct SpanningEdge {
    std::int32_t smaller = 0;
    std::int32_t larger = 0;
    friend bool operator==(const SpanningEdge&, const SpanningEdge&) = default;
};

/// The edges of the tree, ascending by (squared distance, smaller index, larger index). In host memory.
class SpanningTree {
public:
    [[nodiscard]] std::int64_t points() const noexcept { return points_; }
    /// Number of edges: one less than the points, 0 if there are none.
    [[nodiscard]] std::int64_t count() const noexcept { return points_ > 0 ? points_ - 1 : 0; }

    [[nodiscard]] std::span<const SpanningEdge> edges() const noexcept {
        return {static_cast<const SpanningEdge*>(edges_.get()), static_cast<std::size_t>(count())};
    }
    /// Length of each edge, in the units of the points. Throws Error: invalid_argument (dtype() is not T).
    template <Coordinate T>
    [[nodiscard]] std::span<const T> weights() const {
        detail::require_distances(dtype_, dtype_of<T>);
        return {static_cast<const T*>(weights_.get()), static_cast<std::size_t>(count())};
    }
    /// Height of each edge: the smallest linking length of type T within which fof() makes friends of its two ends. It is
    /// the weight or the next number above it, except where squares are subnormal. The edges of heights up to R connect
    /// exactly the groups of fof() at R; weights, which are rounded, would not. Infinity if no number of type T is long enough. Throws as weights().
    template <Coordinate T>
    [[nodiscard]] std::span<const T> heights() const {
        detail::require_distances(dtype_, dtype_of<T>);
        return {static_cast<const T*>(heights_.get()), static_cast<std::size_t>(count())};
    }

    [[nodiscard]] DType dtype() const noexcept { return dtype_; }    ///< of the points, weights and heights
    [[nodiscard]] Engine engine() const noexcept { return engine_; } ///< algorithm used: tree or brute_force
    [[nodiscard]] const Box& box() const noexcept { return box_; }   ///< in which the distances are, origins resolved
    /// What relative linking lengths refer to (fof.hpp): the mean separation (V / n)^(1/d), in the units of the points; V;
    /// and which volume V is: `none` if V is zero.
    [[nodiscard]] double mean_separation() const noexcept { return mean_separation_; }
    [[nodiscard]] double volume() const noexcept { return volume_; }
    [[nodiscard]] VolumeKind volume_kind() const noexcept { return volume_kind_; }
    StageReports stages; ///< cost of the call, including the tree build

private:
    friend struct SpanningTreeAccess;
    std::shared_ptr<void> edges_;
    std::shared_ptr<void> weights_;
    std::shared_ptr<void> heights_;
    std::int64_t points_ = 0;
    DType dtype_ = DType::float32;
    Engine engine_ = Engine::tree;
    Box box_;
    double mean_separation_ = 0;
    double volume_ = 0;
    VolumeKind volume_kind_ = VolumeKind::none;
    double shortest_length_ = 0; ///< of the linking lengths above 0 that fof() accepts
    double largest_ = 0;         ///< coordinate or period, beside which the squares of others vanish
};

/// The minimum spanning tree of the points: points - 1 edges, none of fewer than two points.
/// Throws Error: invalid_argument (an invalid box, a box beside a tree, a tree on another device), invalid_points (a
/// point that is not finite, extent over twice the period), too_large (more than 2^31 - 1 points), unsupported (a GPU;
/// dimension not built), out_of_memory, canceled.
[[nodiscard]] SpanningTree spanning_tree(const PointsOrTree& points, const SpanningTreeOptions& options = {});

} // namespace kith
