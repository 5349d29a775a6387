// k nearest neighbors over ranks.
//
// Each rank searches its receivers among its own points. The last neighbor of a row, by squared distance and global
// index, bounds what a point of another rank must beat. The receiving leaves request the points within their largest
// bound (ghost_points.hpp). The ghost points become a tree, in which the requesting leaves are searched once more by
// the same walk, and its rows are merged with the first ones. Until then rows hold squared distances in working units:
// candidates of all ranks are compared before any root is taken. The rows of own points and of ghost points are both in
// the order of global indices, whatever 32-bit numbers the kernels use.
//
// A rank with fewer than k points in reach bounds the neighbors of a leaf by the boxes of top planes that together hold
// k points (jz-tree paper, section III).
#include "distributed/knn.hpp"

#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/sinks.hpp"
#include "neighbors/unresolved.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

namespace {

/// Rows of this rank's queries, with squared distances in working units until they are finished.
template <Coordinate T>
struct WorkingRows {
    std::int64_t rows;
    std::int64_t k;
    std::int64_t* indices;
    T* distances;
    std::span<const std::int64_t> order; ///< the row of each query, unless it is the query itself

    WorkingRows(const NeighborRows& memory, std::int64_t k_, std::span<const std::int64_t> order_of_queries)
        : rows(memory.index_count() / k_), k(k_), indices(static_cast<std::int64_t*>(memory.indices())),
          distances(static_cast<T*>(memory.distances())), order(order_of_queries) {}

    [[nodiscard]] std::int64_t of_query(std::int64_t query) const { return order.empty() ? query : order[query]; }

    template <class Body>
    void for_each_row(const Body& body) const {
        parallel_each(rows, 1 + 16384 / k,
                      [&](std::int64_t row) { body(row, indices + row * k, distances + row * k); });
    }
};

/// Scatters rows into the order of the queries.
template <Coordinate T>
class ScatterSink final : public RowSink<T> {
public:
    explicit ScatterSink(const WorkingRows<T>& rows) : rows_(rows) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int64_t to = rows_.of_query(block.queries[row]) * rows_.k;
            std::copy_n(block.indices + row * rows_.k, rows_.k, rows_.indices + to);
            std::copy_n(block.distances + row * rows_.k, rows_.k, rows_.distances + to);
        }
    }

private:
    const WorkingRows<T>& rows_;
};

/// Has all threads take parts of blocks that are large, such as those of a GPU.
template <Coordinate T>
class ParallelSink final : public RowSink<T> {
public:
    ParallelSink(Context& context, RowSink<T>& rows) : context_(context), rows_(rows) {}

    void take(const RowBlock<T>& block) override {
        context_.run([&] {
            parallel_for(0, block.rows, 1 + 16384 / block.k, [&](std::int64_t begin, std::int64_t end) {
                rows_.take({block.first + begin, end - begin, block.queries + begin, block.k,
                            block.indices + begin * block.k, block.distances + begin * block.k});
            });
        });
    }

private:
    Context& context_;
    RowSink<T>& rows_;
};

/// Merges rows of ghost points into those of own points.
template <Coordinate T>
class MergedRows final : public RowSink<T> {
public:
    MergedRows(const WorkingRows<T>& rows, const GhostPoints<T>& ghosts) : rows_(rows), ghosts_(ghosts) {}

    void take(const RowBlock<T>& block) override {
        const std::int64_t k = rows_.k;
        std::vector<std::int64_t> indices(k);
        std::vector<T> distances(k);
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int32_t* const other = block.indices + row * k;
            const T* const other_distances = block.distances + row * k;
            std::int64_t* const own = rows_.indices + rows_.of_query(block.queries[row]) * k;
            T* const own_distances = rows_.distances + rows_.of_query(block.queries[row]) * k;
            std::int64_t i = 0; // of the own row
            std::int64_t j = 0;
            for (std::int64_t to = 0; to < k; ++to) {
                const bool has_own = own[i] >= 0; // i and j add up to less than k
                const bool has_other = other[j] >= 0;
                const GlobalCandidate<T> ghost{other_distances[j], has_other ? ghosts_.numbers[other[j]] : -1};
                const bool takes_other =
                    has_other && (!has_own || ghost < GlobalCandidate<T>{own_distances[i], own[i]});
                indices[to] = takes_other ? ghost.index : own[i];
                distances[to] = takes_other ? ghost.distance : own_distances[i];
                (takes_other ? j : i) += has_own || has_other ? 1 : 0;
            }
            std::ranges::copy(indices, own);
            std::ranges::copy(distances, own_distances);
        }
    }

private:
    const WorkingRows<T>& rows_;
    const GhostPoints<T>& ghosts_;
};

template <Coordinate T>
class DistributedSearch {
public:
    /// Arguments that have been checked, the same on all ranks. Points are by ascending number, `order` are their rows
    /// as passed (GivenIds). `query_indices` are the global indices of separate queries, unless those are by rank and
    /// row.
    DistributedSearch(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointsView* queries,
                      std::int64_t k, const KnnOptions& options, const MakePartSearcher<T>& on_gpu,
                      std::span<const std::int64_t> order, std::span<const std::int64_t> query_indices = {})
        : ranks_(ranks), context_(context), shared_(shared), on_gpu_(on_gpu), order_(order),
          query_indices_(query_indices), options_(options), request_(working_request(frame(), k, options)),
          queries_(share_queries(ranks, queries, shared)) {}

    void run(const NeighborRows& memory, SearchSummary& summary) {
        summary.box = resolved_box(frame());
        summary.wrapped_points = frame().outside;
        const WorkingRows<T> rows(memory, request_.k, queries_ ? std::span<const std::int64_t>() : order_);
        ranks_.agreed([&] { search_own(rows); });
        const GhostPoints<T> ghosts = fetch(rows);
        ranks_.agreed([&] { search_ghosts(rows, ghosts); });
        ranks_.agreed([&] { summary.stages = searcher_->take_stages(); });
        ranks_.count_from_device(searcher_->bytes_to_host());
        searcher_.reset(); // frees memory of a GPU
        const bool counts = ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny));
        if (counts) {
            summary.unresolved = unresolved(rows, ghosts);
        }
        ranks_.agreed([&] { finish(rows); });
        const StageReports of_host = context_.take_stages();
        summary.stages.insert(summary.stages.end(), of_host.begin(), of_host.end());
        account_for(ranks_, *shared_.there, summary.stages);
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    void search_own(const WorkingRows<T>& rows) {
        searcher_ = make_searcher(context_, shared_.points, queries_, on_gpu_);
        if (shared_.points.view.count() == 0 || rows.rows == 0) {
            context_.run([&] {
                rows.for_each_row([&](std::int64_t, std::int64_t* indices, T* distances) {
                    std::fill_n(indices, rows.k, -1);
                    std::fill_n(distances, rows.k, std::numeric_limits<T>::infinity());
                });
            });
            return;
        }
        const auto size = static_cast<std::size_t>(rows.rows * rows.k);
        if (rows.order.empty()) {
            StoredRows<T> sink(NeighborRows(std::span(rows.indices, size), std::span(rows.distances, size)));
            search_own(sink);
        } else {
            ScatterSink<T> sink(rows);
            search_own(sink);
        }
        context_.run([&] {
            rows.for_each_row([&](std::int64_t, std::int64_t* indices, T*) {
                for (std::int64_t i = 0; i < rows.k && indices[i] >= 0; ++i) {
                    indices[i] = shared_.numbers[indices[i]];
                }
            });
        });
    }

    void search_own(RowSink<T>& sink) {
        ParallelSink<T> of_gpu(context_, sink);
        searcher_->search("search", request_, on_gpu_ ? static_cast<RowSink<T>&>(of_gpu) : sink);
    }

    GhostPoints<T> fetch(const WorkingRows<T>& rows) {
        if (ranks_.size() == 1) {
            return {};
        }
        const TreeView<T> sources = searcher_->sources();
        const TreeView<T> receivers = searcher_->receivers();
        const auto bound_of = [&](std::int32_t query) {
            const std::int64_t last = rows.of_query(query) * rows.k + rows.k - 1;
            return rows.indices[last] < 0 ? GlobalCandidate<T>{request_.limit.distance}
                                          : GlobalCandidate<T>{rows.distances[last], rows.indices[last]};
        };
        const GhostRequests<T> requests =
            request_ghosts(ranks_, context_, frame(), sources, receivers, request_.needed(),
                           [&](std::int64_t leaf) { return largest_bound(receivers, leaf, bound_of); });
        return fetch_numbered_ghosts(ranks_, context_, shared_, sources, requests.to, request_.k, [&] {
            if (receivers.top >= 0) {
                searcher_->select(requests.is_requesting);
            }
        });
    }

    void search_ghosts(const WorkingRows<T>& rows, const GhostPoints<T>& ghosts) {
        if (ghosts.count() == 0) {
            return;
        }
        const NormalizedPoints<T> others = shared_.there->in_frame(ghosts.rows.view, frame());
        KnnRequest<T> request = request_;
        request.exclude_self = false; // the points of others are not one's own
        MergedRows<T> sink(rows, ghosts);
        ParallelSink<T> of_gpu(context_, sink);
        searcher_->search_others(others, request, on_gpu_ ? static_cast<RowSink<T>&>(of_gpu) : sink);
    }

    /// Of all ranks' rows.
    UnresolvedRows unresolved(const WorkingRows<T>& rows, const GhostPoints<T>& ghosts) {
        UnresolvedRows found;
        const Ownership queries(ranks_, rows.rows);
        const PointNumbers numbers = !queries_                ? shared_.given_numbers
                                     : query_indices_.empty() ? PointNumbers(queries)
                                                              : PointNumbers(query_indices_, true);
        ranks_.agreed([&] {
            const HeldPoints points = shared_.there->on_host(shared_.points.view);
            const HeldPoints others = shared_.there->on_host(ghosts.rows.view);
            const HeldPoints receivers = shared_.there->on_host(queries_ ? queries_->view : shared_.given);
            context_.stage("count unresolved", [&] {
                const std::int64_t own = shared_.points.view.count();
                std::vector<T> sources = packed<T>(points.view);
                const std::vector<T> fetched = packed<T>(others.view);
                sources.insert(sources.end(), fetched.begin(), fetched.end());
                UnresolvedCounter<T> counter(frame(), PointsView(sources, frame().dimension), receivers.view);
                rows.for_each_row([&](std::int64_t row, const std::int64_t* indices, const T*) {
                    std::vector<std::int64_t> here(indices, indices + rows.k);
                    for (std::int64_t& index : here) {
                        if (index >= 0) {
                            const std::int64_t own_row = shared_.numbers.row_of(index);
                            index = own_row >= 0 ? own_row : own + ghosts.position(index);
                        }
                    }
                    counter.take_numbered(numbers[row], row, here.data(), rows.k);
                });
                found = counter.rows();
            });
        });
        return unresolved_of_all(ranks_, shared_, found);
    }

    void finish(const WorkingRows<T>& rows) const {
        const ReportScale<T> report(frame(), options_.squared);
        context_.run([&] {
            rows.for_each_row([&](std::int64_t, const std::int64_t* indices, T* distances) {
                for (std::int64_t i = 0; i < rows.k && indices[i] >= 0; ++i) { // missing ones stay infinite
                    distances[i] = report.power(report.squared ? distances[i] : std::sqrt(distances[i]));
                }
            });
        });
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const MakePartSearcher<T>& on_gpu_;
    std::span<const std::int64_t> order_;
    std::span<const std::int64_t> query_indices_;
    const KnnOptions& options_;
    KnnRequest<T> request_;
    std::optional<NormalizedPoints<T>> queries_;
    std::unique_ptr<PartSearcher<T>> searcher_;
};

template <Coordinate T>
void search_rebalanced(Ranks& ranks, Context& context, const KnnOverRanks& call, const SharedPoints<T>& shared,
                       std::span<const std::int64_t> ids, const MakePartSearcher<T>& on_gpu, const NeighborRows& rows,
                       SearchSummary& summary, std::vector<float>& work) {
    // Queries are looked at before anything moves, so that an error names the rank and the row that they came from.
    (void)share_queries(ranks, call.queries, shared);
    RebalancedSearch<T> moved(ranks, context, shared, ids, call.queries, call.of_ranks);
    Rebalanced<T>& here = moved.sources;
    ranks.agreed([&] { here.ids->sort(here.points); });
    const MovedPoints<T>& receivers = moved.receivers();
    std::optional<KnnResult> found;
    ranks.agreed([&] { found.emplace(receivers.view().count(), call.k, IndexType::int64, dtype_of<T>); });
    DistributedSearch<T>(ranks, context, here.points, moved.queries(), call.k, call.options, on_gpu, here.ids->order(),
                         receivers.global_indices())
        .run(found->rows_view(), summary);
    work = here.moved.work(seconds_of(summary.stages));
    const auto size = static_cast<std::size_t>(rows.index_count());
    receivers.bring_back(found->indices64(), call.k, std::span(static_cast<std::int64_t*>(rows.indices()), size));
    receivers.bring_back(found->template distances<T>(), call.k, std::span(static_cast<T*>(rows.distances()), size));
}

} // namespace

template <Coordinate T>
void knn_over_ranks(Ranks& ranks, Context& context, const KnnOverRanks& call, const MakePartSearcher<T>& on_gpu,
                    const MakePartPoints<T>& points_on_gpu, const NeighborRows& rows, SearchSummary& summary,
                    std::vector<float>& work) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box, points_on_gpu);
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        search_rebalanced(ranks, context, call, shared, ids.given(), on_gpu, rows, summary, work);
    } else {
        ranks.agreed([&] { ids.sort(shared); });
        DistributedSearch<T>(ranks, context, shared, call.queries, call.k, call.options, on_gpu, ids.order())
            .run(rows, summary);
    }
}

template void knn_over_ranks<float>(Ranks&, Context&, const KnnOverRanks&, const MakePartSearcher<float>&,
                                    const MakePartPoints<float>&, const NeighborRows&, SearchSummary&,
                                    std::vector<float>&);
template void knn_over_ranks<double>(Ranks&, Context&, const KnnOverRanks&, const MakePartSearcher<double>&,
                                     const MakePartPoints<double>&, const NeighborRows&, SearchSummary&,
                                     std::vector<float>&);

} // namespace kith::detail
