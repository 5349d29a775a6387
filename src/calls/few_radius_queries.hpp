// Radius searches of few queries in a kept tree, which the calling thread answers itself (neighbors/point_radius.hpp).
//
// A row's length is not known beforehand, and is found in one walk: rows are collected, then memory is taken for them,
// then they are sorted into it. Where they turn out to be long, the general path counts them first, and shares several
// of them among threads.
#pragma once

#include <kith/radius.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/this_thread.hpp"
#include "engines/kept_index.hpp"
#include "neighbors/point_radius.hpp"
#include "neighbors/radius.hpp"
#include "support/allocation_errors.hpp"
#include "support/denormals.hpp"
#include "support/dimension.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::detail {

/// Few queries of a kept tree, searched in this thread.
template <Coordinate T>
class FewRows {
public:
    FewRows(const RadiusCall& call, std::int64_t smallest)
        : call_(call), tree_(call.points.tree()->data().template as<T>().tree),
          is_refused_(smallest >= 0 && tree_.points.frame.is_unresolved(call.radii[smallest])) {}

    /// Returns false if the general path has to answer or to refuse the call.
    [[nodiscard]] bool count(std::int64_t* counts) { return search(counts, nullptr); }

    /// Finds the rows; the same. `offsets` are zeros.
    [[nodiscard]] bool find(std::vector<std::int64_t>& offsets) {
        const bool is_found = search(offsets.data() + 1, &found_);
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        return is_found;
    }

    /// Writes the rows that were found to the sink.
    void write(const RadiusSink<T>& sink) {
        const DenormalGuard guard;
        with_allocation_errors("sorting the rows", [&] {
            write_rows({&found_, sink.offsets, call_.row_count(), call_.points.count(), call_.options.order,
                        ReportScale<T>(tree_.points.frame, call_.options.squared), sink.distances, sink.indices,
                        sink.wide_indices});
        });
    }

private:
    bool search(std::int64_t* counts, NearPoints<T>* found) {
        const DenormalGuard guard;
        const Execution& execution = call_.options.execution;
        const bool can_share = execution.threads != 1 && call_.row_count() > 1;
        constexpr std::int64_t most_alone = 1 << 20; // longer rows are counted before memory is allocated
        constexpr std::int64_t most_shared = 1 << 13;
        tell(execution, 0);
        const bool is_done = !is_refused_ && with_allocation_errors("the rows", [&] {
            return search_within(
                {&tree_, call_.queries, &call_.radii, counts, found, can_share ? most_shared : most_alone});
        });
        if (is_done) {
            tell(execution, 1);
        }
        return is_done;
    }

    const RadiusCall& call_;
    const PlaneTree<T>& tree_;
    bool is_refused_;
    NearPoints<T> found_;
};

/// Calls function(FewRows<T>&) if the calling thread searches the queries itself, and returns what it returned: whether
/// the call has been answered.
template <class Function>
bool answered_by_this_thread(const RadiusCall& call, std::int64_t smallest, const Function& function) {
    const RadiusOptions& options = call.options;
    if (!can_run_on_this_thread(call.points, call.queries, options.execution) ||
        !are_few_rows(call.row_count(), options.execution.threads) || call.points.tree()->engine() != Engine::tree) {
        return false;
    }
    return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        FewRows<T> rows(call, smallest);
        return function(rows);
    });
}

/// Passes the rows of few queries as one block.
template <Coordinate T>
bool pass_rows(const RadiusCall& call, FewRows<T>& rows, const RadiusVisitor& visitor) {
    std::vector<std::int64_t> offsets(call.row_count() + 1);
    if (!rows.find(offsets)) {
        return false;
    }
    std::vector<std::int32_t> queries(call.row_count());
    std::iota(queries.begin(), queries.end(), 0);
    std::vector<std::int32_t> indices;
    std::vector<T> distances;
    with_allocation_errors("the rows", [&] {
        indices.resize(offsets.back());
        distances.resize(offsets.back());
    });
    RadiusSink<T> sink;
    sink.offsets = offsets.data();
    sink.distances = distances.data();
    sink.indices = indices.data();
    rows.write(sink);
    visitor({queries,
             offsets,
             offsets.back(),
             indices.data(),
             IndexType::int32,
             distances.data(),
             dtype_of<T>,
             {},
             nullptr});
    return true;
}

} // namespace kith::detail
