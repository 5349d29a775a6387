// One value for each task, which all its public functions build, and its check: the same wherever the call runs.
//
// Checks look at everything but coordinates, and at the memory of results as far as the value names it. They are
// compiled for the device as well: it knows the dimensions that it was built for.
#pragma once

#include <kith/dbscan.hpp>
#include <kith/fof.hpp>
#include <kith/hdbscan.hpp>
#include <kith/knn.hpp>
#include <kith/pair_counts.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/sum_neighbors.hpp>
#include <kith/tree.hpp>
#include <kith/z_order.hpp>

#include "calls/answers.hpp"
#include "cuda/namespace.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace kith::detail {

struct SumRange;

/// Of neighbors of other labels: one for each point, and of separate queries one for each query.
struct Labels {
    std::span<const std::int32_t> of_points;
    std::span<const std::int32_t> of_queries;
};

struct KnnCall {
    const PointsOrTree& points;
    const PointsView* queries; ///< null: a self-search
    std::int64_t k;
    const KnnOptions& options;
    const NeighborRows* rows = nullptr; ///< or else a visitor, or memory that is allocated after the check
    const NeighborVisitor* visitor = nullptr;
    const Labels* labels = nullptr; ///< neighbors have another one than their query; null: any neighbors

    [[nodiscard]] Task task() const {
        return labels != nullptr    ? Task::neighbors_of_other_labels
               : visitor != nullptr ? Task::neighbor_visits
               : options.z_order    ? Task::neighbors_in_z_order
                                    : Task::neighbors;
    }
    [[nodiscard]] std::int64_t row_count() const { return queries != nullptr ? queries->count() : points.count(); }
};

struct RadiusCall {
    const PointsOrTree& points;
    const PointsView* queries; ///< null: a self-search
    const Radii& radii;
    const RadiusOptions& options;

    [[nodiscard]] std::int64_t row_count() const { return queries != nullptr ? queries->count() : points.count(); }
};

struct SumCall {
    const PointsOrTree& points;
    const PointsView* queries; ///< null: a self-search
    const Neighborhood& neighborhood;
    const SumOptions& options;

    [[nodiscard]] bool is_by_count() const { return std::holds_alternative<Nearest>(neighborhood); }
    [[nodiscard]] Task task() const { return is_by_count() ? Task::neighbor_sums : Task::radius_sums; }
    [[nodiscard]] std::int64_t row_count() const { return queries != nullptr ? queries->count() : points.count(); }
};

struct FofCall {
    const PointsOrTree& points;
    LinkingLength length;
    const FofOptions& options;

    [[nodiscard]] Task task() const { return options.phase_space ? Task::groups_in_phase_space : Task::groups; }
};

struct DbscanCall {
    const PointsOrTree& points;
    double eps;
    std::int64_t min_samples;
    const DbscanOptions& options;
};

struct SpanningTreeCall {
    const PointsOrTree& points;
    const SpanningTreeOptions& options;

    [[nodiscard]] Task task() const {
        return options.phase_space ? Task::spanning_tree_in_phase_space : Task::spanning_tree;
    }
};

struct HdbscanCall {
    const PointsOrTree& points;
    std::int64_t min_cluster_size;
    const HdbscanOptions& options;
};

struct ZOrderCall {
    const PointsView& points;
    const ZOrderOptions& options;
};

struct PairCall {
    const PointsOrTree& points;
    const PointsView* other; ///< null: pairs of the points themselves
    std::span<const double> edges;
    const PairCountOptions& options;
};

inline namespace KITH_GPU {

/// Throws invalid_argument for a box in addition to a tree, for a tree on another device than the call's, and for
/// points in the memory of another GPU, or of the host for a stream.
void check_points(const PointsOrTree& points, const Box& box, const Execution& execution, Where where);

/// Throws invalid_argument for an array of a GPU that is not the one that the call runs on.
void require_readable_by(const Device& device, const PointsView& view, const char* what);

void check(const KnnCall& call, Where where);
/// Returns the query with the smallest radius above 0, or -1.
std::int64_t check(const RadiusCall& call, Where where);
/// The same, of a search by radius.
std::int64_t check(const SumCall& call, Where where);
/// NeighborSums::warning. `range`: of the columns of all ranks.
std::string_view warning_of(const SumCall& call, const SumRange& range);
void check(const FofCall& call, Where where);
void check(const DbscanCall& call, Where where);
void check(const SpanningTreeCall& call, Where where);
void check(const HdbscanCall& call, Where where);
void check(const ZOrderCall& call, Where where);
void check(const PairCall& call, Where where);

/// For the waiting calls of one process.
template <class Call>
auto check(const Call& call) {
    return check(call, where_of(call.options.execution));
}

} // namespace KITH_GPU

} // namespace kith::detail
