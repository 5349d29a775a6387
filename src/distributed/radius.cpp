// Neighbors within a radius over ranks.
//
// A radius is known before any search, so each rank first fetches the ghost points of its receiving leaves
// (ghost_points.hpp). Own points and ghost points, in the order of their numbers, become one tree in the frame of all
// ranks. The search of one process reads it, on the CPU or on the rank's GPU (neighbors/part_searcher.hpp), so that
// rows come out complete and in order. A row contains the point itself, at distance 0, until the end, where it is
// removed if it is to be excluded.
//
// A CPU joins nothing for counts alone, and adds those among own points and among ghost points (part_counts.hpp).
#include "distributed/radius.hpp"

#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/part_counts.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/radius_result_access.hpp"
#include "neighbors/unresolved.hpp"
#include "support/joined_stages.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
class DistributedRadius {
public:
    /// Points as given, with their numbers; separate queries have these numbers, which ascend.
    DistributedRadius(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointsView* queries,
                      const PointNumbers& query_numbers, const Radii& radii, const RadiusOptions& options,
                      const MakePartSearcher<T>& on_gpu, bool only_counts)
        : ranks_(ranks), context_(context), shared_(shared), given_queries_(queries), query_numbers_(query_numbers),
          radii_(radii), options_(options), queries_(share_queries(ranks, queries, shared)) {
        ranks.agreed([&] {
            if (on_gpu) {
                gpu_ = on_gpu(shared.points, queries_ ? &*queries_ : nullptr);
            } else if (ranks.size() > 1 || only_counts) {
                on_host_ = make_searcher<T>(context, shared.points, queries_, {});
            }
        });
        GhostPoints<T> ghosts;
        if (ranks.size() > 1) {
            ghosts = fetch(gpu_ ? *gpu_ : *on_host_);
        }
        ranks.agreed([&] {
            if (shared.points.view.count() + ghosts.count() == 0) {
                release_gpu(); // there is nothing to search
            }
            if (gpu_) {
                join_on_gpu(std::move(ghosts));
            } else if (only_counts && on_host_) {
                ghosts_ = std::move(ghosts);
            } else {
                on_host_.reset(); // frees its trees
                sources_ = join_points(context_, shared_, std::move(ghosts));
                receivers_on_host_ = shared_.there->on_host(receivers()); // a GPU's if there is nothing to search
            }
        });
    }

    [[nodiscard]] RadiusResult rows() {
        RadiusResult result;
        ranks_.agreed([&] {
            RadiusOptions options = serial_options();
            if (options_.exclude_self && options.max_result_bytes > 0) { // the search has the queries in their rows
                require_neighbors_fit(count_others(), bytes_each, options.max_result_bytes);
                options.max_result_bytes = std::numeric_limits<std::int64_t>::max();
            }
            result =
                gpu_ ? rows_on_gpu(options) : radius_search(*sources_.tree, receivers_on_host_.view, radii(), options);
            if (result.unresolved.rows > 0) {
                result.unresolved.first_query = first_unresolved(result);
            }
            context_.run([&] { globalize(result); });
            release_gpu();
        });
        result.stages.insert(result.stages.begin(), gpu_stages_.begin(), gpu_stages_.end());
        if (ranks_.any(has_tiny())) {
            result.unresolved = unresolved_of_all(ranks_, shared_, result.unresolved);
        }
        return result;
    }

    [[nodiscard]] RadiusCounts counts() {
        RadiusCounts result;
        ranks_.agreed([&] {
            result.counts =
                on_host_ ? count_in_parts(context_, shared_, *on_host_, std::move(ghosts_), radii()) : counts_here();
            exclude_selves(result.counts);
            release_gpu();
        });
        result.stages = gpu_stages_;
        result.box = resolved_box(frame());
        result.wrapped_points = frame().outside;
        return result;
    }

private:
    /// Of an index and a distance.
    static constexpr std::int64_t bytes_each = sizeof(std::int64_t) + sizeof(T);

    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    [[nodiscard]] const PointsView& receivers() const {
        return given_queries_ != nullptr ? *given_queries_ : shared_.points.view;
    }
    [[nodiscard]] const PointNumbers& numbers_of_receivers() const {
        return given_queries_ != nullptr ? query_numbers_ : shared_.given_numbers;
    }
    [[nodiscard]] Radii radii() const { return are_all_at_zero(shared_, given_queries_) ? Radii(0.0) : radii_; }
    [[nodiscard]] RadiusOptions serial_options() const {
        RadiusOptions options = options_;
        options.box = {}; // the tree has it
        options.exclude_self = false;
        options.engine = Engine::tree;
        options.index_type = IndexType::int64;
        options.execution.device = Device(); // joined points are the host's; a GPU is searched by gpu_
        return options;
    }

    /// With the receivers themselves, of joined points.
    [[nodiscard]] std::vector<std::int64_t> counts_here() const {
        return gpu_ ? gpu_->count_within(radii())
                    : radius_count(*sources_.tree, receivers_on_host_.view, radii(), serial_options()).counts;
    }
    void exclude_selves(std::vector<std::int64_t>& counts) const {
        for (std::int64_t& count : counts) {
            count -= options_.exclude_self ? 1 : 0;
        }
    }
    [[nodiscard]] std::int64_t count_others() const {
        std::vector<std::int64_t> counts = counts_here();
        exclude_selves(counts);
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }

    /// The smallest number of a query with an unresolved row: ids need not ascend as the queries do.
    [[nodiscard]] std::int64_t first_unresolved(const RadiusResult& rows) const {
        if (gpu_) {
            return rows.unresolved.first_query;
        }
        if (given_queries_ != nullptr || !shared_.given_numbers.are_given()) {
            return numbers_of_receivers()[rows.unresolved.first_query];
        }
        return unresolved(rows, sources_.as_given<T>()).first_query;
    }

    /// Of rows whose indices are those of the joined sources, as given; queries are named by their numbers.
    [[nodiscard]] UnresolvedRows unresolved(const RadiusResult& rows, const std::vector<T>& sources) const {
        const HeldPoints queries = shared_.there->on_host(receivers());
        UnresolvedCounter<T> counter(frame(), PointsView(sources, frame().dimension), queries.view);
        for (std::int64_t row = 0; row < rows.rows(); ++row) {
            const std::int64_t begin = rows.offsets()[row];
            counter.take_numbered(numbers_of_receivers()[row], row, rows.indices64().data() + begin,
                                  rows.offsets()[row + 1] - begin, options_.order == RowOrder::distance);
        }
        return counter.rows();
    }
    [[nodiscard]] bool has_tiny() const { return frame().has_tiny || (queries_ && queries_->has_tiny); }

    void join_on_gpu(GhostPoints<T> ghosts) {
        JoinedRows joined = join_rows(shared_, std::move(ghosts));
        gpu_->take_sources(shared_.there->in_frame(joined.rows.view, frame()));
        sources_.numbers = std::move(joined.numbers);
        if (has_tiny()) {
            given_sources_ = packed<T>(shared_.there->on_host(joined.rows.view).view);
        }
    }

    [[nodiscard]] RadiusResult rows_on_gpu(const RadiusOptions& options) const {
        RadiusResult result;
        const RadiusResultAccess access(result);
        access.index_type = IndexType::int64;
        access.dtype = dtype_of<T>;
        gpu_->find_within(radii(), options, access);
        result.box = resolved_box(frame());
        result.wrapped_points = frame().outside;
        result.engine = Engine::tree;
        if (has_tiny()) {
            result.unresolved = unresolved(result, given_sources_);
        }
        return result;
    }

    void release_gpu() {
        if (gpu_) {
            ranks_.count_from_device(gpu_->bytes_to_host());
            gpu_stages_ = gpu_->take_stages();
            gpu_.reset(); // frees its memory
        }
    }

    GhostPoints<T> fetch(const PartSearcher<T>& searcher) {
        return fetch_within<T>(ranks_, context_, shared_, searcher.sources(), searcher.receivers(),
                               [&](std::int32_t query) { return frame().squared_radius(radii_[query]); })
            .points;
    }

    /// Takes the queries themselves out of their rows if they are not wanted, and names points by their global indices.
    void globalize(RadiusResult& result) const {
        const RadiusResultAccess access(result);
        auto* const indices = static_cast<std::int64_t*>(access.indices.get());
        auto* const distances = static_cast<T*>(access.distances.get());
        parallel_each(result.size(), 1 << 14, [&](std::int64_t i) { indices[i] = sources_.numbers[indices[i]]; });
        if (!options_.exclude_self) {
            return;
        }
        std::int64_t to = 0;
        for (std::int64_t row = 0; row < result.rows(); ++row) {
            const std::int64_t begin = access.offsets[row];
            const std::int64_t end = access.offsets[row + 1];
            access.offsets[row] = to;
            for (std::int64_t i = begin; i < end; ++i) {
                if (indices[i] != shared_.numbers[row]) {
                    indices[to] = indices[i];
                    distances[to++] = distances[i];
                }
            }
        }
        access.offsets.back() = to;
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const PointsView* given_queries_; ///< null: a self-search
    const PointNumbers& query_numbers_;
    const Radii& radii_;
    const RadiusOptions& options_;
    std::optional<NormalizedPoints<T>> queries_;
    std::unique_ptr<PartSearcher<T>> on_host_; ///< null: a GPU's; of rows until the ghost points have come
    GhostPoints<T> ghosts_;                    ///< of counts on the CPU
    HeldPoints receivers_on_host_;             ///< of a search on the CPU
    std::unique_ptr<GpuPartSearcher<T>> gpu_;  ///< null: this rank works on its CPU
    StageReports gpu_stages_;                  ///< of a GPU that has been released
    JoinedPoints sources_;                     ///< of a GPU the numbers only
    std::vector<T> given_sources_;             ///< of a GPU, where coordinates are tiny
};

/// Rows or counts of a rank's own receivers, which another rank may have found.
template <Coordinate T>
class RadiusCalls {
public:
    /// Refers to the call.
    RadiusCalls(Ranks& ranks, Context& context, const RadiusOverRanks& call, const MakePartSearcher<T>& on_gpu,
                const MakePartPoints<T>& points_on_gpu)
        : ranks_(ranks), context_(context), call_(call), on_gpu_(on_gpu),
          ids_(ranks, call.of_ranks.ids, call.points.count()),
          shared_(share_frame<T>(ranks, context, call.points, call.options.box, points_on_gpu)) {
        ids_.number(shared_);
        // Queries are looked at before anything moves, so that an error names the rank and the row that they came from.
        (void)share_queries(ranks, call.queries, shared_);
        refuse_unresolved(ranks, shared_, call.queries, call.radii, call.smallest_radius);
        if (!call.of_ranks.rebalance || ranks.size() == 1) {
            return;
        }
        here_.emplace(ranks, context, shared_, ids_.given(), call.queries, call.of_ranks);
        if (!call.radii.is_uniform()) {
            radii_ = moved().template carry<double>(1, [&](std::int64_t row, int) { return call.radii[row]; });
        }
    }

    [[nodiscard]] RadiusResult rows() {
        if (!here_) {
            return search([](DistributedRadius<T>& search) { return search.rows(); }, false);
        }
        RadiusResult found = search([](DistributedRadius<T>& search) { return search.rows(); }, false);
        RadiusResult result;
        static_cast<SearchSummary&>(result) = static_cast<const SearchSummary&>(found);
        const RadiusResultAccess access(result);
        const std::vector<std::int64_t> lengths = bring_back(lengths_of(found));
        ranks_.agreed([&] {
            access.offsets.resize(lengths.size() + 1);
            std::partial_sum(lengths.begin(), lengths.end(), access.offsets.begin() + 1);
            access.index_type = IndexType::int64;
            access.dtype = dtype_of<T>;
            access.allocate(call_.options.max_result_bytes);
        });
        const auto size = static_cast<std::size_t>(access.size());
        const std::span<const std::int64_t> starts(access.offsets);
        moved().bring_back(found.indices64(), found.offsets(),
                           std::span(static_cast<std::int64_t*>(access.indices.get()), size), starts);
        moved().bring_back(found.template distances<T>(), found.offsets(),
                           std::span(static_cast<T*>(access.distances.get()), size), starts);
        return result;
    }

    [[nodiscard]] RadiusCounts counts() {
        RadiusCounts result = search([](DistributedRadius<T>& search) { return search.counts(); }, true);
        if (here_) {
            result.counts = bring_back(result.counts);
        }
        return result;
    }

private:
    /// Points or queries that were moved here.
    [[nodiscard]] const MovedPoints<T>& moved() const { return here_->receivers(); }

    /// Where the receivers are; adds the stages, and the work of rebalanced points, to the result.
    template <class Search>
    auto search(const Search& run, bool only_counts) {
        const PointsView* const queries = here_ ? here_->queries() : call_.queries;
        const Radii radii = here_ && !call_.radii.is_uniform() ? Radii(radii_) : call_.radii;
        const PointNumbers numbers =
            here_ ? PointNumbers(moved().global_indices(), true) : PointNumbers(Ownership(ranks_, receivers().count()));
        RadiusOptions options = call_.options;
        if (here_) {
            options.max_result_bytes = 0; // rows of other ranks are not this rank's result
        }
        DistributedRadius<T> here(ranks_, context_, here_ ? here_->sources.points : shared_, queries, numbers, radii,
                                  options, on_gpu_, only_counts);
        auto result = run(here);
        StageReports stages = context_.take_stages();
        account_for(ranks_, *shared_.there, stages);
        stages.insert(stages.end(), result.stages.begin(), result.stages.end());
        result.stages = joined_stages(stages);
        if (here_) {
            result.distribution.emplace().work = here_->sources.moved.work(seconds_of(result.stages));
        }
        return result;
    }
    [[nodiscard]] const PointsView& receivers() const {
        return call_.queries != nullptr ? *call_.queries : call_.points;
    }
    static std::vector<std::int64_t> lengths_of(const RadiusResult& rows) {
        std::vector<std::int64_t> lengths;
        for (std::int64_t row = 0; row < rows.rows(); ++row) {
            lengths.push_back(rows.offsets()[row + 1] - rows.offsets()[row]);
        }
        return lengths;
    }
    [[nodiscard]] std::vector<std::int64_t> bring_back(std::span<const std::int64_t> found) const {
        std::vector<std::int64_t> result;
        ranks_.agreed([&] { result.resize(receivers().count()); });
        moved().bring_back(found, 1, std::span(result));
        return result;
    }

    Ranks& ranks_;
    Context& context_;
    const RadiusOverRanks& call_;
    const MakePartSearcher<T>& on_gpu_;
    GivenIds ids_;
    SharedPoints<T> shared_;
    std::optional<RebalancedSearch<T>> here_;
    std::vector<double> radii_; ///< of moved receivers
};

} // namespace

template <Coordinate T>
RadiusResult radius_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call,
                               const MakePartSearcher<T>& on_gpu, const MakePartPoints<T>& points_on_gpu) {
    return RadiusCalls<T>(ranks, context, call, on_gpu, points_on_gpu).rows();
}

template <Coordinate T>
RadiusCounts radius_counts_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call,
                                      const MakePartSearcher<T>& on_gpu, const MakePartPoints<T>& points_on_gpu) {
    return RadiusCalls<T>(ranks, context, call, on_gpu, points_on_gpu).counts();
}

template RadiusResult radius_over_ranks(Ranks&, Context&, const RadiusOverRanks&, const MakePartSearcher<float>&,
                                        const MakePartPoints<float>&);
template RadiusResult radius_over_ranks(Ranks&, Context&, const RadiusOverRanks&, const MakePartSearcher<double>&,
                                        const MakePartPoints<double>&);
template RadiusCounts radius_counts_over_ranks(Ranks&, Context&, const RadiusOverRanks&, const MakePartSearcher<float>&,
                                               const MakePartPoints<float>&);
template RadiusCounts radius_counts_over_ranks(Ranks&, Context&, const RadiusOverRanks&,
                                               const MakePartSearcher<double>&, const MakePartPoints<double>&);

} // namespace kith::detail
