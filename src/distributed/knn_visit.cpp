// k nearest neighbors over ranks for a visitor, without memory for all rows.
//
// Each rank first searches its receivers among its own points and keeps the last neighbor of every row: the bound for
// the points of other ranks. The ghost points within these bounds are joined with its own into one tree
// (joined_points.hpp), whose search by one process streams complete rows. The search finds k + 1 neighbors if the point
// itself is to be excluded. Cost: the first search twice, and 12 or 16 bytes per query instead of its row.
//
// Rows of rebalanced receivers go back to the ranks that passed them in turns, since no rank has memory for all: each
// turn searches the next receivers along the curve, 65,536 on each rank.
#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/knn.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/unresolved.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
class DistributedVisit {
public:
    /// Arguments that have been checked, the same on all ranks. Points are by ascending number.
    DistributedVisit(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointsView* queries,
                     std::int64_t k, const KnnOptions& options)
        : ranks_(ranks), context_(context), shared_(shared), given_queries_(queries), k_(k), options_(options),
          queries_(share_queries(ranks, queries, shared)) {}

    /// `moved` are the receivers, if they were moved here: visitors get rows of those that this rank passed. `moved_rows`
    /// are their rows by ascending number, unless they arrived so.
    UnresolvedRows run(const NeighborVisitor& visitor, const MovedPoints<T>* moved = nullptr,
                       std::span<const std::int64_t> moved_rows = {}) {
        GhostPoints<T> ghosts = fetch();
        ranks_.agreed([&] { sources_ = join_points(context_, shared_, std::move(ghosts)); });
        const PointsView& queries = given_queries_ != nullptr ? *given_queries_ : shared_.given;
        const Ownership owners(ranks_, queries.count());
        query_numbers_ = !queries_          ? shared_.given_numbers
                         : moved != nullptr ? PointNumbers(moved->global_indices(), true)
                                            : PointNumbers(owners);
        const bool counts = ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny));
        std::vector<T> rows;
        std::optional<UnresolvedCounter<T>> counter;
        ranks_.agreed([&] {
            if (counts) {
                rows = sources_.template as_given<T>();
                counter.emplace(frame(), PointsView(rows, frame().dimension), queries);
            }
            if (moved == nullptr) {
                search(queries, {}, visitor, counter);
            }
        });
        if (moved != nullptr) {
            if (!moved_rows.empty()) {
                std::ranges::transform(order_, order_.begin(),
                                       [&](std::int32_t row) { return static_cast<std::int32_t>(moved_rows[row]); });
            }
            search_in_turns(*moved, visitor, counter);
        }
        return counts ? unresolved_of_all(ranks_, shared_, counter->rows()) : UnresolvedRows();
    }

    /// Those of the context, and of the searches that visitors saw, joined by name.
    [[nodiscard]] StageReports take_stages() {
        StageReports stages = context_.take_stages();
        stages.insert(stages.end(), stages_.begin(), stages_.end());
        return stages;
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    /// Rows of all receivers, or of those at these rows, which the visitor then knows by their position.
    void search(const PointsView& queries, std::span<const std::int32_t> rows, const NeighborVisitor& visitor,
                std::optional<UnresolvedCounter<T>>& counter) {
        KnnOptions options = options_;
        options.box = {}; // the tree has it
        options.engine = Engine::tree;
        options.exclude_self = false;
        const auto visit = [&](const NeighborBlock& block) {
            take(block, rows, visitor, counter ? &*counter : nullptr);
        };
        const SearchSummary found =
            knn_visit(visit, *sources_.tree, queries, k_ + (options_.exclude_self ? 1 : 0), options);
        for (const StageReport& stage : found.stages) {
            const auto same = std::ranges::find(stages_, stage.name, &StageReport::name);
            if (same == stages_.end()) {
                stages_.push_back(stage);
            } else {
                same->seconds += stage.seconds;
                same->peak_bytes = std::max(same->peak_bytes, stage.peak_bytes);
            }
        }
    }

    /// Collective.
    void search_in_turns(const MovedPoints<T>& moved, const NeighborVisitor& visitor,
                         std::optional<UnresolvedCounter<T>>& counter) {
        constexpr std::int64_t of_turn = 65536;
        const std::int64_t turns = ranks_.max((std::ssize(order_) + of_turn - 1) / of_turn);
        const std::int64_t bytes_of_row = k_ * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(T));
        std::int64_t first = 0; // of the rows that the visitor has seen
        for (std::int64_t turn = 0; turn < turns; ++turn) {
            const auto begin = std::min(turn * of_turn, std::ssize(order_));
            const auto rows = std::span<const std::int32_t>(order_).subspan(begin).first(
                std::min(of_turn, std::ssize(order_) - begin));
            std::vector<std::byte> found;
            ranks_.agreed([&] {
                found.resize(rows.size() * bytes_of_row);
                const Coordinates<T> x(moved.view());
                std::vector<T> queries;
                for (const std::int32_t row : rows) {
                    for (int axis = 0; axis < frame().dimension; ++axis) {
                        queries.push_back(x(row, axis));
                    }
                }
                const auto store = [&](const NeighborBlock& block) {
                    for (std::int64_t i = 0; i < block.rows(); ++i) {
                        std::byte* const to = found.data() + block.query_indices[i] * bytes_of_row;
                        std::memcpy(to, block.indices64().data() + i * k_, k_ * sizeof(std::int64_t));
                        std::memcpy(to + k_ * sizeof(std::int64_t), block.distances<T>().data() + i * k_,
                                    k_ * sizeof(T));
                    }
                };
                search(PointsView(queries, frame().dimension), rows, store, counter);
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
                    visitor(block_of(first, there, indices, distances));
                    first += std::ssize(there);
                });
        }
    }

    [[nodiscard]] NeighborBlock block_of(std::int64_t first, std::span<const std::int32_t> queries,
                                         const std::vector<std::int64_t>& indices,
                                         const std::vector<T>& distances) const {
        return {first, queries, k_, indices.data(), IndexType::int64, distances.data(), dtype_of<T>, {}, nullptr};
    }

    /// Hands on a block with global numbers, without the queries themselves if they are not wanted.
    void take(const NeighborBlock& block, std::span<const std::int32_t> rows_of_queries, const NeighborVisitor& visitor,
              UnresolvedCounter<T>* counter) const {
        const auto rows = std::ssize(block.query_indices);
        std::vector<std::int64_t> indices;
        std::vector<T> distances;
        std::vector<std::int32_t> row_of_block;
        const std::span<const std::int32_t> block_indices = block.indices();
        const std::span<const T> block_distances = block.distances<T>();
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int32_t position = block.query_indices[row];
            const std::int32_t query = rows_of_queries.empty() ? position : rows_of_queries[position];
            row_of_block.clear();
            const std::size_t end = indices.size() + static_cast<std::size_t>(k_);
            for (std::int64_t i = row * block.k; i < (row + 1) * block.k && indices.size() < end; ++i) {
                const std::int32_t index = block_indices[i];
                const std::int64_t number = index < 0 ? -1 : sources_.numbers[index];
                if (options_.exclude_self && number == query_numbers_[query]) {
                    continue;
                }
                indices.push_back(number);
                distances.push_back(block_distances[i]);
                row_of_block.push_back(index);
            }
            if (counter != nullptr) {
                counter->take_numbered(query_numbers_[query], query, row_of_block.data(), k_);
            }
        }
        visitor(block_of(block.first, block.query_indices, indices, distances));
    }

    GhostPoints<T> fetch() {
        if (ranks_.size() == 1) {
            return {};
        }
        PartTrees<T> trees;
        ranks_.agreed([&] {
            trees = PartTrees<T>(context_, shared_.points, separate(queries_));
            const std::span<const std::int32_t> order = trees.receivers().points.indices.span();
            order_.assign(order.begin(), order.end());
        });
        return fetch_nearest(ranks_, context_, shared_, trees, k_, options_);
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const PointsView* given_queries_; ///< null: a self-search
    std::int64_t k_;
    const KnnOptions& options_;
    std::optional<NormalizedPoints<T>> queries_;
    std::vector<std::int32_t> order_; ///< of the receivers along the curve, if there are several ranks
    JoinedPoints sources_;
    PointNumbers query_numbers_;
    StageReports stages_; ///< of the searches that visitors saw
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
    DistributedVisit<T> visit(ranks, context, here.points, moved.queries(), call.k, call.options);
    const UnresolvedRows unresolved = visit.run(
        visitor, &receivers, moved.queries() != nullptr ? std::span<const std::int64_t>() : here.ids->order());
    summary.stages = visit.take_stages();
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
    DistributedVisit<T> visit(ranks, context, shared, call.queries, call.k, call.options);
    summary.unresolved = visit.run(visitor);
    summary.stages = visit.take_stages();
    return summary;
}

template SearchSummary knn_visit_over_ranks<float>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);
template SearchSummary knn_visit_over_ranks<double>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);

} // namespace kith::detail
