// Neighbors within radii in trees: from the radii of the queries to all rows in a sink.
#pragma once

#include <kith/radius.hpp>

#include "neighbors/radius.hpp"
#include "points/frame.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"
#include "tree/node_attributes.hpp"
#include "walk/tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace kith::detail {

/// Squared radii in working units: one of all receivers, or one of each and their range in every node.
template <Coordinate T>
class ReceiverRadii {
public:
    ReceiverRadii() = default;

    /// Runs within context.run().
    ReceiverRadii(Context& context, const Radii& radii, const TreeView<T>& receivers, const Frame<T>& frame) {
        if (radii.is_uniform()) {
            const T squared = frame.squared_radius(radii[0]);
            uniform_ = {squared, squared};
            return;
        }
        const PointSetView<T>& points = receivers.points;
        each_ = Buffer<T>(context.memory_tracker(), points.count);
        parallel_each(points.count, 1 << 14,
                      [&](std::int64_t i) { each_[i] = frame.squared_radius(radii[points.indices[i]]); });
        of_nodes_ = node_attributes<RadiusRange<T>>(
            context, receivers,
            [&](std::int32_t i) {
                return RadiusRange<T>{each_[i], each_[i]};
            },
            [](const RadiusRange<T>& a, const RadiusRange<T>& b) {
                return RadiusRange<T>{std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
            });
    }

    /// Enters the radii in a job, which refers to them.
    void enter(RadiusJob<T>& job) const {
        job.uniform = uniform_;
        if (each_.size() > 0) {
            job.squared_radii = each_.data();
            std::transform(of_nodes_.begin(), of_nodes_.end(), job.of_nodes.begin(),
                           [](const Buffer<RadiusRange<T>>& plane) { return plane.data(); });
        }
    }

private:
    RadiusRange<T> uniform_{};
    Buffer<T> each_;
    std::vector<Buffer<RadiusRange<T>>> of_nodes_;
};

/// Brings the rows of all receivers to the job's sink. Neither tree is empty.
template <Coordinate T>
void search_tree(Context& context, const RadiusJob<T>& job) {
    walk_tasks<RadiusScratch<T>>(context, job, search_radius);
}

/// The same of trees in one frame, without a job: rows in any order, distances that are not squared, no receiver left
/// out.
template <Coordinate T>
void search_tree(Context& context, const TreeView<T>& receivers, const TreeView<T>& sources, const Frame<T>& frame,
                 const ReceiverRadii<T>& radii, const RadiusSink<T>& sink) {
    RadiusJob<T> job{{&receivers, &sources, frame.dimension, frame.periodic},
                     false,
                     {},
                     nullptr,
                     {},
                     std::nullopt,
                     ReportScale<T>(frame, false),
                     sink};
    radii.enter(job);
    search_tree(context, job);
}

/// Without sources every row is empty: counts and offsets are 0 already, and a visitor sees all rows at once.
template <Coordinate T>
void pass_empty_rows(std::int64_t rows, const RadiusSink<T>& sink) {
    if (sink.visitor == nullptr || rows == 0) {
        return;
    }
    std::vector<std::int32_t> queries;
    std::vector<std::int64_t> offsets;
    with_allocation_errors("the rows", [&] {
        queries.resize(rows);
        offsets.resize(queries.size() + 1);
    });
    std::iota(queries.begin(), queries.end(), 0);
    (*sink.visitor)({queries, offsets, 0, nullptr, IndexType::int32, nullptr, dtype_of<T>, {}, nullptr});
}

/// Turns the lengths of rows, stored one element late, into offsets.
inline void add_up(Context& context, std::vector<std::int64_t>& offsets) {
    context.run([&] {
        prefix_sums<std::int64_t>(
            std::ssize(offsets) - 1, [&](std::int64_t row) { return offsets[row + 1]; },
            [&](std::int64_t row, std::int64_t begin) { offsets[row + 1] += begin; });
    });
}

} // namespace kith::detail
