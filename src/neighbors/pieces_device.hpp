// A search on a GPU of points that do not fit its memory, or the budget: pieces of the queries in pieces of the
// sources.
//
// A piece is a range of points as given. Each piece of queries is searched in each piece of sources, and what is found
// is merged into its rows (merge_kernel.hpp); answers are those of the search in one piece. Points of the host are
// brought to the device piece by piece. Cost: the search's, times the number of pieces of the sources.
#pragma once

#include "cuda/result_memory.hpp"
#include "neighbors/count_on_host.hpp"
#include "neighbors/merge_kernel.hpp"
#include "neighbors/search_device.hpp"
#include "points/normalize_device.hpp"
#include "points/transfer.hpp"
#include "support/number_types.hpp"
#include "tree/build_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// Bytes of working memory, a point, at most: while a tree is built, and once it is there. Measured, with something to
/// spare; what libraries take for a sort is among the spare.
template <Coordinate T, int D>
struct DeviceBytes {
    static constexpr std::int64_t raw = D * static_cast<std::int64_t>(sizeof(T));
    static constexpr std::int64_t building = 28;
    static constexpr std::int64_t tree = raw + raw / 4 + 12; ///< with what a search keeps to name rows that are left
};

/// Where points are worked on: the whole, checked, to be had in pieces.
template <Coordinate T, int D>
class PointsInPieces {
public:
    PointsInPieces(const NormalizedPoints<T>& all, std::int64_t piece) : all_(all), piece_(piece) {}

    [[nodiscard]] std::int64_t count() const { return (all_.view.count() + piece_ - 1) / piece_; }
    [[nodiscard]] std::int64_t first(std::int64_t piece) const { return piece * piece_; }
    [[nodiscard]] std::int64_t size(std::int64_t piece) const {
        return std::min(piece_, all_.view.count() - first(piece));
    }

    [[nodiscard]] DevicePlaneTree<T> tree(DeviceContext& context, std::int64_t piece, const TreeShape& options) const {
        const PointsView& view = all_.view;
        NormalizedPoints<T> part = all_;
        const PointsOnDevice there(context, view.subview(first(piece), size(piece)));
        part.view = there.view();
        return build_piece_tree<T, D>(context, part, static_cast<std::int32_t>(first(piece)), options);
    }

private:
    const NormalizedPoints<T>& all_;
    std::int64_t piece_;
};

template <Coordinate T, int D>
class SearchInPieces {
public:
    /// Null queries mean a self-search. Unresolved rows are counted, if that is needed.
    SearchInPieces(DeviceContext& context, const NormalizedPoints<T>& sources, const NormalizedPoints<T>* queries,
                   const DeviceKnnCall& call, const TreeShape& options, CountOnHost<T>& count)
        : context_(context), sources_(sources), queries_(queries != nullptr ? *queries : sources),
          wanted_(wanted_by(call)), report_(sources.frame, wanted_.squared), options_(options), count_(count) {}

    /// Fills the rows within a stage of the caller's. Host memory is filled piece by piece, too.
    void run(const NeighborRows& rows) {
        const std::int64_t piece = piece_size();
        const PointsInPieces<T, D> sources(sources_, piece);
        const PointsInPieces<T, D> queries(queries_, piece);
        context_.set_pieces(sources.count());
        for (std::int64_t i = 0; i < queries.count(); ++i) {
            const DevicePlaneTree<T> some = queries.tree(context_, i, options_);
            const std::int64_t numbers = queries.size(i) * wanted_.k;
            Raw best(context_, numbers);
            for (std::int64_t j = 0; j < sources.count(); ++j) {
                Raw found(context_, numbers);
                search(some, sources.tree(context_, j, options_), queries.first(i), found);
                if (j == 0) {
                    std::swap(best, found);
                } else {
                    best = merged(best, found, queries.size(i));
                }
                context_.done(static_cast<double>(i * sources.count() + j + 1) /
                              static_cast<double>(queries.count() * sources.count()));
            }
            deliver(best, queries.first(i), queries.size(i), rows);
            if (count_.is_needed()) {
                count_.take(context_.to_host(best.indices.data(), numbers), wanted_.k, queries.first(i), nullptr);
            }
        }
    }

private:
    struct Raw {
        Raw(DeviceContext& context, std::int64_t numbers)
            : squared(context.buffer<T>(numbers)), indices(context.buffer<std::int32_t>(numbers)) {}
        [[nodiscard]] RawRows<T> view() const { return {squared.data(), indices.data()}; }
        DeviceBuffer<T> squared;
        DeviceBuffer<std::int32_t> indices;
    };

    /// As many points as fit: two trees, one of them being built, and three times the rows.
    [[nodiscard]] std::int64_t piece_size() const {
        using Bytes = DeviceBytes<T, D>;
        const std::int64_t row = wanted_.k * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
        const std::int64_t point = 2 * Bytes::tree + Bytes::building + 2 * Bytes::raw + 3 * row; // raw with its gaps
        constexpr std::int64_t least = 64; // fewer are not worth the trouble: what is missing is said
        return std::max(least, context_.memory()->left() / 10 * 9 / point); // a tenth for what sorts take
    }

    void search(const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources, std::int64_t first_query,
                const Raw& found) {
        SearchFrame<T> raw = search_frame<T, D>(sources_.frame, wanted_, sources.points.count);
        raw.report = ReportScale<T>(Frame<T>(), true);
        const DeviceBuffer<SearchFrame<T>> frame = stored(context_, "search", raw);
        const std::int64_t before = first_query * wanted_.k;
        const DeviceRequest<T> request{wanted_.k,
                                       wanted_.exclude_self,
                                       frame.data(),
                                       {found.squared.data() - before, found.indices.data() - before, nullptr}};
        DeviceSearch<T, D>(context_, queries, sources).run(request, all_leaves(queries));
    }

    [[nodiscard]] Raw merged(const Raw& one, const Raw& other, std::int64_t rows) {
        Raw both(context_, rows * wanted_.k);
        launch(context_, "merging rows", merge_rows_kernel<T>, (rows + merge_warps - 1) / merge_warps,
               merge_warps * warp_size, {rows, wanted_.k, one.view(), other.view(), both.view()});
        return both;
    }

    void deliver(const Raw& raw, std::int64_t first_row, std::int64_t rows, const NeighborRows& to) {
        const std::int64_t first = first_row * wanted_.k;
        const std::int64_t numbers = rows * wanted_.k;
        const bool wide = to.index_type() == IndexType::int64;
        const std::int64_t width = wide ? 8 : 4;
        const auto part_of = [&](void* memory, std::int64_t element) {
            return memory == nullptr ? nullptr : static_cast<void*>(static_cast<std::byte*>(memory) + first * element);
        };
        const ResultMemory distances(context_, part_of(to.distances(), sizeof(T)),
                                     numbers * static_cast<std::int64_t>(sizeof(T)));
        const ResultMemory indices(context_, part_of(to.indices(), width), numbers * width);
        for_each_index(context_, "reporting rows", numbers,
                       ReportRows<T>{raw.view(), report_,
                                     row_memory<T>(distances.on_device(), indices.on_device(), to.index_type())});
        distances.copy(context_);
        indices.copy(context_);
        context_.wait();
    }

    DeviceContext& context_;
    const NormalizedPoints<T>& sources_;
    const NormalizedPoints<T>& queries_;
    WantedNeighbors wanted_;
    ReportScale<T> report_;
    TreeShape options_;
    CountOnHost<T>& count_;
};

/// Whether a search in one piece would take more memory than there is left.
template <Coordinate T, int D>
bool needs_pieces(const DeviceContext& context, const PointsView& points, const PointsView* queries,
                  const NeighborRows& rows) {
    using Bytes = DeviceBytes<T, D>;
    const auto scratch_for = [&context](void* memory, std::int64_t bytes) {
        return memory != nullptr && bytes > 0 && !is_on_device(context, memory) ? bytes : 0;
    };
    const std::int64_t row_bytes =
        scratch_for(rows.distances(), rows.distance_count() * static_cast<std::int64_t>(sizeof(T))) +
        scratch_for(rows.indices(), rows.index_count() * item_size(rows.index_type()));
    const std::int64_t kept = queries != nullptr ? Bytes::tree * points.count() : 0;
    const PointsView& last = queries != nullptr ? *queries : points;
    const std::int64_t copied = bytes_to_copy(points) + (queries != nullptr ? bytes_to_copy(*queries) : 0);
    const std::int64_t building = Bytes::building * std::max(last.count(), points.count());
    const std::int64_t searching = Bytes::tree * last.count() + row_bytes;
    return !context.memory()->has_room_for(kept + copied + std::max(building, searching));
}

} // namespace kith::detail::inline KITH_GPU
