// The flat form's search: each query by itself, cell by cell, along the edges of its own.
//
// A cell's points are measured in pieces; those within the threshold join the ones found so far. As soon as there are
// somewhat more than needed they are cut down, and the threshold is the last that is kept.

#include "engines/clover/connect-inl.hpp"
#include "neighbors/block_kernels-inl.hpp"
#include "neighbors/rows-inl.hpp"
#include "neighbors/select-inl.hpp"

#include "engines/clover/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#if defined(KITH_CLOVER_FLAT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CLOVER_FLAT_INL_HPP
#undef KITH_CLOVER_FLAT_INL_HPP
#else
#define KITH_CLOVER_FLAT_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
void connect_flat_cell(FlatCells<T>& cells, std::int64_t cell) {
    const PointSet<T>& points = cells.points;
    const int dimension = points.frame.dimension;
    const CellKernels<T>& kernels = cell_kernels<T>(dimension, points.frame.periodic);
    std::vector<std::pair<float, std::int32_t>> edges;
    for (std::int64_t other = 0; other < cells.cells(); ++other) {
        const T squared =
            kernels
                .distances_to_range(cells.hubs.data() + cell * dimension, points.frame.working_period.data(),
                                    points.axis(0) + cells.first[other], points.stride, cells.count[other])
                .least;
        edges.push_back({rounded_down(std::sqrt(squared)), static_cast<std::int32_t>(other)});
    }
    std::sort(edges.begin(), edges.end());
    for (std::size_t i = 0; i < edges.size(); ++i) {
        cells.weight[cell * cells.cells() + static_cast<std::int64_t>(i)] = edges[i].first;
        cells.target[cell * cells.cells() + static_cast<std::int64_t>(i)] = edges[i].second;
    }
}

template <class T>
class FlatSearch {
public:
    FlatSearch(const FlatJob<T>& job, FlatScratch<T>& scratch)
        : job_(job), sources_(*job.sources), request_(*job.request), dimension_(sources_.points.frame.dimension),
          kernels_(block_kernels<T>(dimension_, sources_.points.frame.periodic)), scratch_(scratch),
          needed_(request_.needed()), most_(needed_ + std::max<std::int64_t>(needed_ / 2, 16)) {
        const std::int64_t room = most_ + piece + 2 * padding;
        scratch.reserve(1, room);
        scratch.reserve_rows(queries_per_scan * request_.k + padding);
    }

    void search(std::int64_t cell, std::int64_t begin, std::int64_t end) {
        const PointSet<T>& queries = job_.receivers->points;
        for (std::int64_t query = begin; query < end; ++query) {
            for (int axis = 0; axis < dimension_; ++axis) {
                query_.lower[axis] = query_.upper[axis] = queries.axis(axis)[query];
                query_.period[axis] = sources_.points.frame.working_period[axis];
            }
            follow_edges(cell);
            keep_needed();
            const std::int64_t row = query - begin;
            write_row(scratch_.sorted_distances.data(), scratch_.sorted_indices.data(), found_,
                      request_.exclude_self ? queries.indices[query] : -1, request_.k, request_.report,
                      RowMemory<T>{scratch_.row_distances.data() + row * request_.k,
                                   scratch_.row_indices.data() + row * request_.k});
        }
        scratch_.counts.queries += end - begin;
        job_.sink->take({begin, end - begin, queries.indices.data() + begin, request_.k, scratch_.row_indices.data(),
                         scratch_.row_distances.data()});
    }

private:
    static constexpr std::int64_t piece = 512;
    static constexpr std::int64_t padding = 2 * 64 / sizeof(T);
    static_assert(hn::MaxLanes(hn::ScalableTag<T>()) <= flat_alignment);

    void follow_edges(std::int64_t cell) {
        const std::int64_t count = sources_.cells();
        const T* hub = sources_.hubs.data() + cell * dimension_;
        const T radius = std::sqrt(box_distances(dimension_, query_, hub, hub, 1).least);
        found_ = 0;
        threshold_ = request_.limit.distance;
        for (std::int64_t i = cell * count; i < (cell + 1) * count; ++i) {
            if (job_.bound.is_beyond(sources_.weight[i], radius, threshold_)) {
                return;
            }
            const std::int64_t target = sources_.target[i];
            if (job_.skips_by_box) {
                const T* lower = sources_.lower.data() + target * dimension_;
                const T* upper = sources_.upper.data() + target * dimension_;
                if (box_distances(dimension_, query_, lower, upper, 1).least > threshold_) {
                    continue;
                }
            }
            scan(sources_.first[target], points_that_count(target));
        }
    }

    /// Points at one place lie in the order of their indices: only the first can be neighbors.
    [[nodiscard]] std::int64_t points_that_count(std::int64_t cell) const {
        const T* const lower = sources_.lower.data() + cell * dimension_;
        const bool is_single_point = std::equal(lower, lower + dimension_, sources_.upper.data() + cell * dimension_);
        return is_single_point ? std::min(sources_.count[cell], needed_) : sources_.count[cell];
    }

    void scan(std::int64_t first, std::int64_t count) {
        const PointSet<T>& points = sources_.points;
        ++scratch_.counts.cells;
        scratch_.counts.points += count;
        const std::int64_t padded = (count + flat_alignment - 1) / flat_alignment * flat_alignment;
        // Before there is a threshold, pieces are small and double: each adds about as many as are kept.
        std::int64_t size = piece;
        if (found_ == 0) {
            size = std::min(piece, (2 * needed_ + flat_alignment) / flat_alignment * flat_alignment);
        }
        for (std::int64_t done = 0; done < padded; done += size, size = std::min(piece, done)) {
            found_ += kernels_.keep(query_.lower, query_.period, points.axis(0) + first + done, points.stride,
                                    points.indices.data() + first + done, std::min(size, padded - done), threshold_,
                                    scratch_.distances.data() + found_, scratch_.indices.data() + found_);
            if (found_ > most_ || (found_ >= needed_ && threshold_ == request_.limit.distance)) {
                keep_needed();
                std::copy_n(scratch_.sorted_distances.data(), needed_, scratch_.distances.data());
                std::copy_n(scratch_.sorted_indices.data(), needed_, scratch_.indices.data());
                threshold_ = scratch_.distances[needed_ - 1];
            }
        }
    }

    /// Sorts what is found, as far as it is needed.
    void keep_needed() {
        sort_survivors(scratch_.distances.data(), scratch_.indices.data(), found_, needed_,
                       scratch_.sorted_distances.data(), scratch_.sorted_indices.data(), scratch_.candidates);
        found_ = std::min(found_, needed_);
    }

    const FlatJob<T>& job_;
    const FlatCells<T>& sources_;
    const KnnRequest<T>& request_;
    const int dimension_;
    const BlockKernels<T>& kernels_;
    FlatScratch<T>& scratch_;
    const std::int64_t needed_; ///< one more if the point itself does not count
    const std::int64_t most_;   ///< found before they are cut down
    AnyReceiver<T> query_{};
    std::int64_t found_ = 0;
    T threshold_ = 0; ///< squared, inclusive
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
