// Neighbors within a radius over ranks.
//
// A radius is known before any search, so each rank first fetches the ghost points of its receiving leaves
// (ghost_points.hpp). Own points and ghost points, in the order of their numbers, become one tree in the frame of all
// ranks. The search of one process reads it, so that rows come out complete and in order. A row contains the point
// itself, at distance 0, until the end, where it is removed if it is to be excluded.
#include "distributed/radius.hpp"

#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/receivers.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/radius_result_access.hpp"
#include "neighbors/unresolved.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
class DistributedRadius {
public:
    DistributedRadius(Ranks& ranks, Context& context, const RadiusOverRanks& call)
        : ranks_(ranks), context_(context), ids_(ranks, call.of_ranks.ids, call.points.count()),
          shared_(share_frame<T>(ranks, context, call.points, call.options.box)), given_queries_(call.queries),
          radii_(call.radii), options_(call.options),
          first_query_(Ownership(ranks, (call.queries != nullptr ? *call.queries : call.points).count()).first()),
          queries_(share_queries(ranks, context, call.queries, frame())) {
        ids_.number(shared_);
        refuse_unresolved(call.smallest_radius);
        GhostPoints<T> ghosts = fetch();
        ranks.agreed([&] { sources_ = join_points(context_, shared_, std::move(ghosts)); });
    }

    [[nodiscard]] RadiusResult rows() {
        RadiusResult result;
        ranks_.agreed([&] {
            RadiusOptions options = serial_options();
            if (options_.exclude_self && options.max_result_bytes > 0) { // the search has the queries in their rows
                require_neighbors_fit(count_others(), bytes_each, options.max_result_bytes);
                options.max_result_bytes = std::numeric_limits<std::int64_t>::max();
            }
            result = radius_search(*sources_.tree, receivers(), radii(), options);
            if (result.unresolved.rows > 0) {
                result.unresolved.first_query = first_unresolved(result);
            }
            context_.run([&] { globalize(result); });
        });
        if (ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny))) {
            result.unresolved = unresolved_of_all(ranks_, shared_, result.unresolved);
        }
        return result;
    }

    [[nodiscard]] RadiusCounts counts() {
        RadiusCounts result;
        ranks_.agreed([&] { result.counts = counts_here(); });
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
    /// Points that are all at zero are all within every radius, also within one that cannot be squared beside them.
    [[nodiscard]] bool are_all_at_zero() const { return given_queries_ == nullptr && frame().largest == 0; }
    [[nodiscard]] Radii radii() const { return are_all_at_zero() ? Radii(0.0) : radii_; }
    [[nodiscard]] RadiusOptions serial_options() const {
        RadiusOptions options = options_;
        options.box = {}; // the tree has it
        options.exclude_self = false;
        options.engine = Engine::tree;
        options.index_type = IndexType::int64;
        return options;
    }

    [[nodiscard]] std::vector<std::int64_t> counts_here() const {
        std::vector<std::int64_t> counts = radius_count(*sources_.tree, receivers(), radii(), serial_options()).counts;
        for (std::int64_t& count : counts) {
            count -= options_.exclude_self ? 1 : 0;
        }
        return counts;
    }
    [[nodiscard]] std::int64_t count_others() const {
        const std::vector<std::int64_t> counts = counts_here();
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }

    /// The smallest number of a query with an unresolved row: ids need not ascend as the queries do.
    [[nodiscard]] std::int64_t first_unresolved(const RadiusResult& rows) const {
        if (given_queries_ != nullptr || !shared_.given_numbers.are_given()) {
            return first_query_ + rows.unresolved.first_query;
        }
        const std::vector<T> sources = sources_.as_given<T>();
        UnresolvedCounter<T> counter(frame(), PointsView(sources, frame().dimension), receivers());
        for (std::int64_t row = 0; row < rows.rows(); ++row) {
            const std::int64_t begin = rows.offsets()[row];
            counter.take_numbered(shared_.given_numbers[row], row, rows.indices64().data() + begin,
                                  rows.offsets()[row + 1] - begin, options_.order == RowOrder::distance);
        }
        return counter.rows().first_query;
    }

    void refuse_unresolved(std::int64_t smallest) {
        const std::int64_t rows = ranks_.sum(receivers().count());
        if (rows == 0 || shared_.ownership.total() == 0 || are_all_at_zero()) {
            return;
        }
        const bool is_unresolved = smallest >= 0 && frame().is_unresolved(radii_[smallest]);
        if (!ranks_.any(is_unresolved)) {
            return;
        }
        const LargestCoordinate largest = largest_of_all(ranks_, shared_);
        ranks_.agreed([&] {
            if (is_unresolved) {
                refuse_unresolved_radius(radii_, smallest, largest);
            }
        });
    }

    GhostPoints<T> fetch() {
        if (ranks_.size() == 1) {
            return {};
        }
        RankTrees<T> trees;
        ranks_.agreed([&] { trees = RankTrees<T>(context_, shared_.points, queries_); });
        const TreeView<T> sources = trees.sources.view();
        const TreeView<T> receiving = trees.receivers().view();
        const GhostRequests<T> requests =
            request_ghosts(ranks_, context_, frame(), sources, receiving, unlimited, [&](std::int64_t leaf) {
                return largest_bound(receiving, leaf, [&](std::int32_t query) {
                    return GlobalCandidate<T>{frame().squared_radius(radii_[query])};
                });
            });
        return fetch_numbered_ghosts(ranks_, context_, shared_, sources, requests.to, unlimited, [] {});
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
    GivenIds ids_;
    SharedPoints<T> shared_;
    const PointsView* given_queries_; ///< null: a self-search
    const Radii& radii_;
    const RadiusOptions& options_;
    std::int64_t first_query_; ///< its global index
    std::optional<NormalizedPoints<T>> queries_;
    JoinedPoints sources_;
};

} // namespace

template <Coordinate T>
RadiusResult radius_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call) {
    RadiusResult result = DistributedRadius<T>(ranks, context, call).rows();
    StageReports stages = context.take_stages();
    stages.insert(stages.end(), result.stages.begin(), result.stages.end());
    result.stages = std::move(stages);
    return result;
}

template <Coordinate T>
RadiusCounts radius_counts_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call) {
    RadiusCounts result = DistributedRadius<T>(ranks, context, call).counts();
    result.stages = context.take_stages();
    return result;
}

template RadiusResult radius_over_ranks<float>(Ranks&, Context&, const RadiusOverRanks&);
template RadiusResult radius_over_ranks<double>(Ranks&, Context&, const RadiusOverRanks&);
template RadiusCounts radius_counts_over_ranks<float>(Ranks&, Context&, const RadiusOverRanks&);
template RadiusCounts radius_counts_over_ranks<double>(Ranks&, Context&, const RadiusOverRanks&);

} // namespace kith::detail
