// k nearest neighbors over ranks for a visitor, without memory for all rows.
//
// Each rank first searches its receivers among its own points and keeps the last neighbor of every row: the bound for
// the points of other ranks. With the ghost points within these bounds, complete rows come block by block
// (nearest_in_parts.hpp). Cost: the first search twice, and 12 or 16 bytes per query instead of its row, until the
// ghost points are fetched.
//
// Rows of rebalanced receivers go back to the ranks that passed them in turns, since no rank has memory for all: each
// turn searches the next receivers along the curve, 65,536 on each rank, or 1/32 of them if these are more.
#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/knn.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/nearest_in_parts.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/search_parts.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/unresolved.hpp"
#include "support/joined_stages.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
class DistributedVisit {
public:
    /// Arguments that have been checked, the same on all ranks. Points are by ascending number, `order` are their rows
    /// as passed (GivenIds).
    DistributedVisit(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointsView* queries,
                     std::int64_t k, const KnnOptions& options, std::span<const std::int64_t> order)
        : ranks_(ranks), context_(context), shared_(shared), given_queries_(queries), k_(k), options_(options),
          order_(queries != nullptr ? std::span<const std::int64_t>() : order),
          queries_(share_queries(ranks, queries, shared)) {}

    /// `moved` are the receivers, if they were moved here: visitors get rows of those that this rank passed.
    UnresolvedRows run(const NeighborVisitor& visitor, const MovedPoints<T>* moved = nullptr) {
        ranks_.agreed([&] { trees_ = PartTrees<T>(context_, shared_.points, separate(queries_)); });
        if (ranks_.size() > 1) {
            ghosts_ = fetch_nearest(ranks_, context_, shared_, trees_, k_, options_);
        }
        const PointsView& queries = given_queries_ != nullptr ? *given_queries_ : shared_.given;
        const Ownership owners(ranks_, queries.count());
        query_numbers_ = !queries_          ? shared_.given_numbers
                         : moved != nullptr ? PointNumbers(moved->global_indices(), true)
                                            : PointNumbers(owners);
        const bool counts = ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny));
        std::vector<T> sources; // as passed
        std::optional<UnresolvedCounter<T>> counter;
        std::optional<NearestInParts<T>> search;
        ranks_.agreed([&] {
            parts_.emplace(context_, shared_, trees_, ghosts_);
            if (counts) {
                sources = parts_->as_given();
                counter_ = &counter.emplace(frame(), PointsView(sources, frame().dimension), queries);
            }
            search.emplace(context_, *parts_, k_, options_);
            if (moved == nullptr) {
                NumberedRows rows(*this, [&](const NeighborBlock& block) { isolated([&] { visitor(block); }); });
                search->search_all(rows);
            }
        });
        if (moved != nullptr) {
            search_in_turns(*moved, *search, visitor);
        }
        return counts ? unresolved_of_all(ranks_, shared_, counter->rows()) : UnresolvedRows();
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    /// The row, as passed, of a receiver.
    [[nodiscard]] std::int32_t row_of(std::int32_t receiver) const {
        return order_.empty() ? receiver : static_cast<std::int32_t>(order_[receiver]);
    }

    /// Counts unresolved rows, and hands rows on with global numbers.
    class NumberedRows final : public RowSink<T> {
    public:
        NumberedRows(const DistributedVisit& visit, const NeighborVisitor& visitor)
            : visit_(visit), visitor_(visitor) {}

        void take(const RowBlock<T>& block) override {
            std::vector<std::int32_t> queries;
            std::vector<std::int64_t> indices(static_cast<std::size_t>(block.rows * block.k));
            for (std::int64_t row = 0; row < block.rows; ++row) {
                const std::int32_t query = queries.emplace_back(visit_.row_of(block.queries[row]));
                if (visit_.counter_ != nullptr) {
                    visit_.counter_->take_numbered(visit_.query_numbers_[query], query, block.indices + row * block.k,
                                                   block.k);
                }
            }
            std::transform(block.indices, block.indices + block.rows * block.k, indices.begin(),
                           [&](std::int32_t row) { return row < 0 ? -1 : visit_.parts_->number(row); });
            visitor_(visit_.block_of(block.first, queries, indices.data(), block.distances));
        }

    private:
        const DistributedVisit& visit_;
        NeighborVisitor visitor_;
    };

    /// Collective.
    void search_in_turns(const MovedPoints<T>& moved, NearestInParts<T>& search, const NeighborVisitor& visitor) {
        const TreeView<T> receivers = trees_.receivers().view();
        const std::int64_t count = receivers.points.count;
        const std::int64_t of_turn = parts_->rows_of_block(65536);
        const std::int64_t turns = ranks_.max((count + of_turn - 1) / of_turn);
        const std::int64_t bytes_of_row = k_ * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(T));
        std::int64_t first = 0; // of the rows that the visitor has seen
        for (std::int64_t turn = 0; turn < turns; ++turn) {
            const std::int64_t begin = std::min(turn * of_turn, count);
            const std::int64_t end = std::min(begin + of_turn, count);
            std::vector<std::int32_t> rows;
            std::vector<std::byte> found;
            ranks_.agreed([&] {
                for (std::int64_t i = begin; i < end; ++i) {
                    rows.push_back(row_of(receivers.points.indices[i]));
                }
                found.resize(rows.size() * bytes_of_row);
                NumberedRows stored(*this, [&](const NeighborBlock& block) {
                    for (std::int64_t i = 0; i < block.rows(); ++i) {
                        std::byte* const to = found.data() + (block.first + i - begin) * bytes_of_row;
                        std::memcpy(to, block.indices64().data() + i * k_, k_ * sizeof(std::int64_t));
                        std::memcpy(to + k_ * sizeof(std::int64_t), block.distances<T>().data() + i * k_,
                                    k_ * sizeof(T));
                    }
                });
                if (begin < end) {
                    search.search(begin, end, stored);
                }
            });
            moved.bring_back_some(
                rows, found, bytes_of_row, [&](std::span<const std::int32_t> there, std::span<const std::byte> bytes) {
                    std::vector<std::int64_t> indices(there.size() * k_);
                    std::vector<T> distances(there.size() * k_);
                    for (std::size_t i = 0; i < there.size(); ++i) {
                        const std::byte* const from = bytes.data() + i * bytes_of_row;
                        std::memcpy(indices.data() + i * k_, from, k_ * sizeof(std::int64_t));
                        std::memcpy(distances.data() + i * k_, from + k_ * sizeof(std::int64_t), k_ * sizeof(T));
                    }
                    visitor(block_of(first, there, indices.data(), distances.data()));
                    first += std::ssize(there);
                });
        }
    }

    [[nodiscard]] NeighborBlock block_of(std::int64_t first, std::span<const std::int32_t> queries,
                                         const std::int64_t* indices, const T* distances) const {
        return {first, queries, k_, indices, IndexType::int64, distances, dtype_of<T>, {}, nullptr};
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const PointsView* given_queries_; ///< null: a self-search
    std::int64_t k_;
    const KnnOptions& options_;
    std::span<const std::int64_t> order_; ///< empty: receivers are in the order in which they were passed
    std::optional<NormalizedPoints<T>> queries_;
    PartTrees<T> trees_;
    NearGhosts<T> ghosts_;
    std::optional<SearchParts<T>> parts_;
    PointNumbers query_numbers_;              ///< by row as passed
    UnresolvedCounter<T>* counter_ = nullptr; ///< null: no row can be unresolved
};

template <Coordinate T>
UnresolvedRows visit_rebalanced(Ranks& ranks, Context& context, const KnnOverRanks& call, const SharedPoints<T>& shared,
                                std::span<const std::int64_t> ids, const NeighborVisitor& visitor,
                                SearchSummary& summary) {
    // Queries are looked at before anything moves, so that an error names the rank and the row that they came from.
    (void)share_queries(ranks, call.queries, shared);
    RebalancedSearch<T> moved(ranks, context, shared, ids, call.queries, call.of_ranks);
    Rebalanced<T>& here = moved.sources;
    ranks.agreed([&] { here.ids->sort(here.points); });
    const MovedPoints<T>& receivers = moved.receivers();
    const UnresolvedRows unresolved =
        DistributedVisit<T>(ranks, context, here.points, moved.queries(), call.k, call.options, here.ids->order())
            .run(visitor, &receivers);
    summary.stages = joined_stages(context.take_stages());
    summary.distribution.emplace().work = here.moved.work(seconds_of(summary.stages));
    return unresolved;
}

} // namespace

template <Coordinate T>
SearchSummary knn_visit_over_ranks(Ranks& ranks, Context& context, const KnnOverRanks& call,
                                   const NeighborVisitor& visitor) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    SearchSummary summary;
    summary.box = resolved_box(shared.points.frame);
    summary.wrapped_points = shared.points.frame.outside;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        summary.unresolved = visit_rebalanced(ranks, context, call, shared, ids.given(), visitor, summary);
        return summary;
    }
    ranks.agreed([&] { ids.sort(shared); });
    summary.unresolved =
        DistributedVisit<T>(ranks, context, shared, call.queries, call.k, call.options, ids.order()).run(visitor);
    summary.stages = joined_stages(context.take_stages());
    return summary;
}

template SearchSummary knn_visit_over_ranks<float>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);
template SearchSummary knn_visit_over_ranks<double>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);

} // namespace kith::detail
