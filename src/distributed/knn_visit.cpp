// k nearest neighbors over ranks for a visitor, without memory for all rows.
//
// Each rank first searches its receivers among its own points and keeps the last neighbor of every row: the bound for
// the points of other ranks. The ghost points within these bounds are joined with its own into one tree
// (joined_points.hpp), whose search by one process streams complete rows. The search finds k + 1 neighbors if the point
// itself is to be excluded. Cost: the first search twice, and 12 or 16 bytes per query instead of its row.
#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/knn.hpp"
#include "distributed/receivers.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/unresolved.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

namespace {

/// Keeps the last neighbor of each query.
template <Coordinate T>
class LastNeighbors final : public RowSink<T> {
public:
    LastNeighbors(std::int64_t queries, const PointNumbers& numbers, const GlobalCandidate<T>& limit)
        : numbers_(numbers), limit_(limit), last_(static_cast<std::size_t>(queries), limit) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int64_t last = row * block.k + block.k - 1;
            last_[block.queries[row]] = block.indices[last] < 0
                                            ? limit_
                                            : GlobalCandidate<T>{block.distances[last], numbers_[block.indices[last]]};
        }
    }
    [[nodiscard]] const GlobalCandidate<T>& of(std::int64_t query) const { return last_[query]; }

private:
    const PointNumbers& numbers_;
    GlobalCandidate<T> limit_;
    std::vector<GlobalCandidate<T>> last_;
};

template <Coordinate T>
class DistributedVisit {
public:
    /// Arguments that have been checked, the same on all ranks. Points are by ascending number.
    DistributedVisit(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointsView* queries,
                     std::int64_t k, const KnnOptions& options)
        : ranks_(ranks), context_(context), shared_(shared), given_queries_(queries), k_(k), options_(options),
          queries_(share_queries(ranks, context, queries, frame())) {}

    UnresolvedRows run(const NeighborVisitor& visitor) {
        GhostPoints<T> ghosts = fetch();
        JoinedPoints sources;
        ranks_.agreed([&] { sources = join_points(context_, shared_, std::move(ghosts)); });
        const PointsView& queries = given_queries_ != nullptr ? *given_queries_ : shared_.given;
        const Ownership owners(ranks_, queries.count());
        const PointNumbers query_numbers = queries_ ? PointNumbers(owners) : shared_.given_numbers;
        const bool counts = ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny));
        UnresolvedRows found;
        ranks_.agreed([&] {
            const std::vector<T> rows = counts ? sources.as_given<T>() : std::vector<T>();
            UnresolvedCounter<T> counter(frame(), PointsView(rows, frame().dimension), queries);
            KnnOptions options = options_;
            options.box = {}; // the tree has it
            options.engine = Engine::tree;
            options.exclude_self = false;
            const auto visit = [&](const NeighborBlock& block) {
                take(block, sources.numbers, query_numbers, visitor, counts ? &counter : nullptr);
            };
            (void)knn_visit(visit, *sources.tree, queries, k_ + (options_.exclude_self ? 1 : 0), options);
            found = counter.rows();
        });
        return counts ? unresolved_of_all(ranks_, shared_, found) : UnresolvedRows();
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    /// Hands on a block with global numbers, without the queries themselves if they are not wanted.
    void take(const NeighborBlock& block, const JoinedNumbers& numbers, const PointNumbers& query_numbers,
              const NeighborVisitor& visitor, UnresolvedCounter<T>* counter) const {
        const auto rows = std::ssize(block.query_indices);
        std::vector<std::int64_t> indices;
        std::vector<T> distances;
        std::vector<std::int32_t> row_of_block;
        const std::span<const std::int32_t> block_indices = block.indices();
        const std::span<const T> block_distances = block.distances<T>();
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int32_t query = block.query_indices[row];
            row_of_block.clear();
            const std::size_t end = indices.size() + static_cast<std::size_t>(k_);
            for (std::int64_t i = row * block.k; i < (row + 1) * block.k && indices.size() < end; ++i) {
                const std::int32_t index = block_indices[i];
                const std::int64_t number = index < 0 ? -1 : numbers[index];
                if (options_.exclude_self && number == query_numbers[query]) {
                    continue;
                }
                indices.push_back(number);
                distances.push_back(block_distances[i]);
                row_of_block.push_back(index);
            }
            if (counter != nullptr) {
                counter->take_numbered(query_numbers[query], query, row_of_block.data(), k_);
            }
        }
        visitor({block.first,
                 block.query_indices,
                 k_,
                 indices.data(),
                 IndexType::int64,
                 distances.data(),
                 dtype_of<T>,
                 {},
                 nullptr});
    }

    GhostPoints<T> fetch() {
        if (ranks_.size() == 1) {
            return {};
        }
        const KnnRequest<T> request = working_request(frame(), k_, options_);
        const std::int64_t count = shared_.points.view.count();
        const std::int64_t rows = queries_ ? queries_->view.count() : count;
        RankTrees<T> trees;
        std::optional<LastNeighbors<T>> last;
        ranks_.agreed([&] {
            trees = RankTrees<T>(context_, shared_.points, queries_);
            last.emplace(rows, shared_.numbers, GlobalCandidate<T>{request.limit.distance});
            context_.stage("bound", [&] {
                if (count > 0 && rows > 0) {
                    search_tree(context_, trees.receivers(), trees.sources, request, *last);
                }
            });
        });
        const TreeView<T> sources = trees.sources.view();
        const TreeView<T> receivers = trees.receivers().view();
        const GhostRequests<T> requests =
            request_ghosts(ranks_, context_, frame(), sources, receivers, request.needed(), [&](std::int64_t leaf) {
                return largest_bound(receivers, leaf, [&](std::int32_t query) { return last->of(query); });
            });
        return fetch_numbered_ghosts(ranks_, context_, shared_, sources, requests.to, k_, [] {});
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const PointsView* given_queries_; ///< null: a self-search
    std::int64_t k_;
    const KnnOptions& options_;
    std::optional<NormalizedPoints<T>> queries_;
};

} // namespace

template <Coordinate T>
SearchSummary knn_visit_over_ranks(Ranks& ranks, Context& context, const KnnOverRanks& call,
                                   const NeighborVisitor& visitor) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    ranks.agreed([&] { ids.sort(shared); });
    SearchSummary summary;
    summary.box = resolved_box(shared.points.frame);
    summary.wrapped_points = shared.points.frame.outside;
    summary.unresolved = DistributedVisit<T>(ranks, context, shared, call.queries, call.k, call.options).run(visitor);
    summary.stages = context.take_stages();
    return summary;
}

template SearchSummary knn_visit_over_ranks<float>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);
template SearchSummary knn_visit_over_ranks<double>(Ranks&, Context&, const KnnOverRanks&, const NeighborVisitor&);

} // namespace kith::detail
