// The exact Euclidean minimum spanning tree.
//
// Of all trees that connect the points, the one with the smallest total edge length. It contains the friends-of-friends
// groups at every linking length (single linkage). Edges are ordered by (squared distance, smaller index, larger
// index); this order makes the tree unique, bit-identical on every machine, for every engine, device and number of
// threads (docs/semantics.md, "Minimum spanning tree"). Source: Boruvka's method, as in Prokopenko, Sao and
// Lebrun-Grandie, ICPP 2022 (arXiv:2207.00514), with rows of nearest neighbors. Cost: close to O(N log N) in low
// dimensions. Edges found on a GPU are copied to the host, which takes the square roots of
// their squared lengths.
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace kith {

struct SpanningTreeOptions {
    Box box = {};                      ///< of the points; a kith::Tree has its own
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< on a GPU only Engine::tree
    /// Optional: the spanning tree in phase space. Not for a kith::Tree.
    std::optional<PhaseSpaceAt> phase_space = {};
};

/// Original indices of the two endpoints of an edge.
struct SpanningEdge {
    std::int32_t smaller = 0;
    std::int32_t larger = 0;
    friend bool operator==(const SpanningEdge&, const SpanningEdge&) = default;
};

/// The same over ranks: global indices, or ids (distributed.hpp).
struct SpanningEdge64 {
    std::int64_t smaller = 0;
    std::int64_t larger = 0;
    friend bool operator==(const SpanningEdge64&, const SpanningEdge64&) = default;
};

/// Edges whose endpoints differ, but are so near each other, relative to the largest absolute coordinate or period,
/// that the squared distance loses digits or vanishes (docs/semantics.md, "Numbers"): their lengths and their order are
/// unreliable.
struct UnresolvedEdges {
    std::int64_t count = 0;           ///< number of such edges; if 0, the other members have no meaning
    std::int64_t farthest_point = -1; ///< index of the first point with the largest coordinate; -1: a period is larger
    int axis = -1;                    ///< of that coordinate
    double value = 0;                 ///< that coordinate, or the period
    DType dtype = DType::float32;     ///< of the points

    /// A warning for users that names the remedy; empty if there are no such edges.
    [[nodiscard]] std::string warning() const;
};

/// The properties of a spanning tree besides its edges, for storing and restoring it.
struct SpanningTreeFacts {
    std::int64_t points = 0; ///< over ranks, those of all ranks
    DType dtype = DType::float32;
    Engine engine = Engine::tree;
    Box box;                         ///< origins resolved
    std::int64_t wrapped_points = 0; ///< number of points outside the box, which were wrapped into it (box.hpp)
    double mean_separation = 0;
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
    double shortest_length = 0; ///< smallest linking length above 0 that fof() accepts
    double largest = 0;         ///< largest absolute coordinate or period
    double linking_length = 0;  ///< in phase space: the linking length of positions
    /// In phase space: psi, the linking length of velocities.
    double velocity_length = std::numeric_limits<double>::infinity();
    double velocity_scale = 0;
};

namespace detail {
struct TreePart;
} // namespace detail

/// The edges of the tree, in ascending order of (squared distance, smaller index, larger index), in host memory. Copies
/// share the edges. A tree that was moved from has no points. Over ranks, each rank holds the edges whose larger
/// endpoint is one of its points, in this order; merged, the parts of all ranks are the tree of one process. Groups,
/// levels and hierarchies of the parts are found over the same ranks (hierarchy.hpp).
class SpanningTree {
public:
    SpanningTree() = default;
    SpanningTree(const SpanningTree&) = default;
    SpanningTree& operator=(const SpanningTree&) = default;
    SpanningTree(SpanningTree&& other) noexcept
        : stages(std::move(other.stages)), unresolved(other.unresolved),
          distribution(std::exchange(other.distribution, {})), edges_(std::move(other.edges_)),
          weights_(std::move(other.weights_)), heights_(std::move(other.heights_)), part_(std::move(other.part_)),
          facts_(std::exchange(other.facts_, {})), count_(std::exchange(other.count_, 0)) {}
    SpanningTree& operator=(SpanningTree&& other) noexcept {
        stages = std::move(other.stages);
        unresolved = other.unresolved;
        distribution = std::exchange(other.distribution, {});
        edges_ = std::move(other.edges_);
        weights_ = std::move(other.weights_);
        heights_ = std::move(other.heights_);
        part_ = std::move(other.part_);
        facts_ = std::exchange(other.facts_, {});
        count_ = std::exchange(other.count_, 0);
        return *this;
    }
    ~SpanningTree() = default;
    /// Restores a tree from its stored facts, edges, weights and heights, which are copied. Throws Error:
    /// invalid_argument if their numbers or types do not match, out_of_memory.
    template <Coordinate T>
    SpanningTree(const SpanningTreeFacts& facts, std::span<const SpanningEdge> edges, std::span<const T> weights,
                 std::span<const T> heights);

    [[nodiscard]] const SpanningTreeFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] std::int64_t points() const noexcept { return facts_.points; }
    /// Number of edges: one less than the number of points; 0 without points. Over ranks, of the edges of this rank.
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }

    /// Throws Error: invalid_argument if the tree was found over ranks.
    [[nodiscard]] std::span<const SpanningEdge> edges() const {
        require_width(false);
        return {static_cast<const SpanningEdge*>(edges_.get()), static_cast<std::size_t>(count())};
    }
    /// The edges of this rank. Throws Error: invalid_argument unless the tree was found over ranks.
    [[nodiscard]] std::span<const SpanningEdge64> edges64() const {
        require_width(true);
        return {static_cast<const SpanningEdge64*>(edges_.get()), static_cast<std::size_t>(count())};
    }
    /// Length of each edge, in the units of the points. Throws Error: invalid_argument unless dtype() is T.
    template <Coordinate T>
    [[nodiscard]] std::span<const T> weights() const {
        detail::require_distances(facts_.dtype, dtype_of<T>);
        return {static_cast<const T*>(weights_.get()), static_cast<std::size_t>(count())};
    }
    /// Height of each edge: the smallest linking length of type T at which its two endpoints are friends in fof(). It
    /// is the weight or the next larger number of type T, except where squares are subnormal. The edges of height R or
    /// less connect exactly the groups of fof() at R; this does not hold for weights, which are rounded. Infinity if no
    /// number of type T is large enough. Throws as weights().
    template <Coordinate T>
    [[nodiscard]] std::span<const T> heights() const {
        detail::require_distances(facts_.dtype, dtype_of<T>);
        return {static_cast<const T*>(heights_.get()), static_cast<std::size_t>(count())};
    }

    [[nodiscard]] DType dtype() const noexcept { return facts_.dtype; }    ///< of the points, weights and heights
    [[nodiscard]] Engine engine() const noexcept { return facts_.engine; } ///< algorithm used: tree or brute_force
    /// The box of the distances, with origins resolved.
    [[nodiscard]] const Box& box() const noexcept { return facts_.box; }
    /// The reference of relative linking lengths (fof.hpp): the mean separation (V / n)^(1/d), in the units of the
    /// points; V itself; and which volume V is, `none` if V is zero.
    [[nodiscard]] double mean_separation() const noexcept { return facts_.mean_separation; }
    [[nodiscard]] double volume() const noexcept { return facts_.volume; }
    [[nodiscard]] VolumeKind volume_kind() const noexcept { return facts_.volume_kind; }
    /// The factor that converts velocities to lengths; 0 for a tree of positions. A tree in phase space, cut at its
    /// linking length, gives the groups of fof() in phase space.
    [[nodiscard]] double velocity_scale() const noexcept { return facts_.velocity_scale; }
    StageReports stages;        ///< cost of the call, including the tree build
    UnresolvedEdges unresolved; ///< counted for trees of positions; not in phase space, nor for a restored tree
    std::optional<Distribution> distribution; ///< of the edges, if the tree was found over ranks

private:
    friend struct SpanningTreeAccess;
    void require_width(bool over_ranks) const;

    std::shared_ptr<void> edges_;
    std::shared_ptr<void> weights_;
    std::shared_ptr<void> heights_;
    std::shared_ptr<const detail::TreePart> part_; ///< over ranks
    SpanningTreeFacts facts_;
    std::int64_t count_ = 0;
};

/// The minimum spanning tree of N points: N - 1 edges, or none if N is 0; over ranks, of the points of all of them, of
/// which a rank and the points that it fetches may be 2^31 - 1. Throws Error: invalid_argument (an invalid
/// box, a box for a kith::Tree, a tree on another device; in phase space as fof()), invalid_points (a point that is not
/// finite, extent over twice the period), too_large (more than 2^31 - 1 points), unsupported (an engine that
/// does not support spanning trees, or not on a GPU; dimension not built; a GPU without CUDA in this build), device,
/// out_of_memory, canceled.
[[nodiscard]] SpanningTree spanning_tree(const PointsOrTree& points, const SpanningTreeOptions& options = {});

/// Collective: a tree that was found over ranks, with its edges divided otherwise. Each rank holds consecutive edges,
/// about as many as any other: the parts, in the order of ranks, are the edges of one process, as files have them. An
/// edge is sent once. Ids are passed as to spanning_tree(). Throws Error as fof() of a spanning tree over ranks.
[[nodiscard]] SpanningTree edges_in_order(const SpanningTree& tree, const Execution& execution);

} // namespace kith
