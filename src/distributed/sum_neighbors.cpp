// Sums over neighbors over ranks, without memory for rows.
//
// The masses and fields of the ghost points that neighbors may be (near_ghosts.hpp) are gathered. Complete rows come
// block by block (nearest_in_parts.hpp, balls_in_parts.hpp), and are summed as they come, by the operations of one
// process in their order (neighbor_sums.hpp).
// Sums without order need one unit: the exponents of the largest numbers of all ranks. Gradients of fields need the
// densities of ghost points: they are gathered after the first pass, and a second one sums the gradients. Rebalanced
// points bring their masses and fields (rebalance.hpp).
//
// Cost: the searches, those of k neighbors twice. Memory in addition to that of the serial call: the ghost points with
// their tree and columns, and a copy of the own columns.
#include "distributed/sum_neighbors.hpp"

#include "distributed/balls_in_parts.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/joined_columns.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/nearest_in_parts.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/search_parts.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/summed_own_rows.hpp"
#include "distributed/unresolved.hpp"
#include "neighbors/sum_columns.hpp"
#include "neighbors/sum_passes.hpp"
#include "neighbors/unresolved.hpp"
#include "support/joined_stages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
class DistributedSums {
public:
    /// Points by ascending number, with their ids, and the numbers of the receivers. Nothing is to be checked.
    DistributedSums(Ranks& ranks, Context& context, const SumsOverRanks& call, const GivenIds& ids,
                    const SharedPoints<T>& shared, const PointNumbers& receiver_numbers, NeighborSums& sums)
        : ranks_(ranks), context_(context), call_(call), sums_(sums), ids_(ids), shared_(shared),
          queries_(share_queries(ranks, call.queries, shared)), receiver_numbers_(receiver_numbers) {
        ranks.agreed([&] { trees_ = PartTrees<T>(context, shared_.points, separate(queries_)); });
        if (ranks.size() > 1) {
            ghosts_ = fetch();
        }
        ranks.agreed([&] {
            parts_.emplace(context, shared_, trees_, ghosts_);
            numbers_ = parts_->numbers();
        });
    }

    void run() {
        const SumOptions& options = call_.options;
        const bool needs_fields = !options.fields.empty() && options.statistics.gradient;
        std::vector<ScalarsView> own = options.fields;
        if (options.masses) {
            own.push_back(*options.masses);
        }
        std::optional<JoinedColumns> of_joined;
        ranks_.agreed([&] {
            if (!own.empty()) {
                of_joined.emplace(ids_, shared_.ownership, numbers_, parts_->size());
            }
        });
        std::vector<JoinedColumns::Column> joined;
        if (of_joined) {
            joined = of_joined->join(ranks_, own);
        }
        std::vector<ScalarsView> columns;
        for (const JoinedColumns::Column& column : joined) {
            columns.push_back(column.view());
        }
        FixedUnits units = shared_units();
        SumJob<T> job{&frame(),
                      options.kernel,
                      options.masses ? &columns.back() : nullptr,
                      std::span<const ScalarsView>(columns).first(options.fields.size()),
                      options.fields,
                      {},
                      &units,
                      nullptr,
                      &sums_};
        std::optional<PositionRows<T>> positions;
        if (options.density_gradient || needs_fields) {
            ranks_.agreed([&] {
                std::optional<NormalizedPoints<T>> receivers = queries_;
                if (!receivers) {
                    context_.run([&] { receivers = normalized(frame(), shared_.given); });
                }
                job.positions =
                    positions
                        .emplace(context_,
                                 std::array{trees_.sources.points.view(), parts_->tree_of_ghosts.points.view()},
                                 frame().dimension, receivers)
                        .view();
            });
        }
        sum_with(job, true);
        if (needs_fields) {
            Buffer<double> volumes;
            ranks_.agreed([&] { volumes = volumes_of(context_, options.masses, sums_.density); });
            const ScalarsView own_volumes(volumes.data(), volumes.size());
            const auto all_volumes = of_joined->join(ranks_, std::span(&own_volumes, 1));
            if (is_within()) {
                units.volumes =
                    exponent_of_all(largest_exponent(volumes.size(), [&](std::int64_t i) { return volumes[i]; }));
            }
            job.volumes = static_cast<const double*>(all_volumes.front().view().data());
            sum_with(job, false);
        }
        sums_.box = resolved_box(frame());
        sums_.wrapped_points = frame().outside;
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    [[nodiscard]] bool is_within() const { return std::holds_alternative<Within>(call_.neighborhood); }
    [[nodiscard]] const Radii& radii() const { return std::get<Within>(call_.neighborhood).radii; }
    /// Of rows in the order of the receivers; empty if that is the one in which they were passed.
    [[nodiscard]] std::span<const std::int64_t> order() const {
        return queries_ ? std::span<const std::int64_t>() : ids_.order();
    }
    [[nodiscard]] std::int64_t row_of(std::int64_t receiver) const {
        return order().empty() ? receiver : order()[receiver];
    }
    /// There are no more neighbors.
    [[nodiscard]] std::int64_t neighbors() const {
        return std::min(std::get<Nearest>(call_.neighborhood).k, std::max<std::int64_t>(shared_.ownership.total(), 1));
    }

    NearGhosts<T> fetch() {
        if (is_within()) {
            return fetch_within<T>(
                ranks_, context_, shared_, trees_.sources.view(), trees_.receivers().view(),
                [&](std::int32_t receiver) { return frame().squared_radius(radii()[row_of(receiver)]); });
        }
        return fetch_nearest(ranks_, context_, shared_, trees_, neighbors(),
                             {.exclude_self = call_.options.exclude_self});
    }

    [[nodiscard]] int exponent_of_all(int exponent) const { return static_cast<int>(ranks_.max(exponent)); }

    /// Collective. Those of the columns of all ranks.
    [[nodiscard]] FixedUnits shared_units() const {
        FixedUnits units;
        if (!is_within()) {
            return units;
        }
        ranks_.agreed([&] { context_.run([&] { units = units_of(call_.options, shared_.ownership.total()); }); });
        units.masses = exponent_of_all(units.masses);
        for (int& exponent : units.fields) {
            exponent = exponent_of_all(exponent);
        }
        return units;
    }

    /// Collective. Sums all rows by a job.
    void sum_with(const SumJob<T>& job, bool counts) {
        const bool may_be_unresolved = counts && ranks_.any(frame().has_tiny || (queries_ && queries_->has_tiny));
        std::optional<UnresolvedCounter<T>> counter;
        ranks_.agreed([&] {
            std::vector<T> given;
            if (may_be_unresolved) {
                given = parts_->as_given();
                counter.emplace(frame(), PointsView(given, frame().dimension),
                                queries_ ? *call_.queries : shared_.given);
            }
            const OwnRows<T> rows(numbers_, receiver_numbers_, order(), call_.options.exclude_self,
                                  counter ? &*counter : nullptr);
            is_within() ? sum_within(rows, job) : sum_nearest(rows, job);
            if (counter) {
                sums_.unresolved = counter->rows();
            }
        });
        if (may_be_unresolved) {
            sums_.unresolved = unresolved_of_all(ranks_, shared_, sums_.unresolved);
        }
    }

    void sum_nearest(const OwnRows<T>& rows, const SumJob<T>& job) {
        const std::int64_t k = neighbors();
        SummedOwnRows<T> sink(rows, job, k);
        NearestInParts<T>(context_, *parts_, k + (call_.options.exclude_self ? 1 : 0), {}).search_all(sink);
    }

    void sum_within(const OwnRows<T>& rows, const SumJob<T>& job) {
        std::vector<double> in_order;
        if (!radii().is_uniform()) {
            for (std::int64_t i = 0; i < radii().count(); ++i) {
                in_order.push_back(radii()[row_of(i)]);
            }
        }
        const Radii searched = are_all_at_zero(shared_, call_.queries) ? Radii(0.0)
                               : radii().is_uniform()                  ? radii()
                                                                       : Radii(in_order);
        SummedOwnBalls<T> balls(rows, job, radii());
        BallsInParts<T>(context_, *parts_, searched).search_all([&](const RadiusBlock& block) { balls(block); });
    }

    Ranks& ranks_;
    Context& context_;
    const SumsOverRanks& call_;
    NeighborSums& sums_;
    const GivenIds& ids_;
    const SharedPoints<T>& shared_;
    std::optional<NormalizedPoints<T>> queries_;
    const PointNumbers& receiver_numbers_;
    PartTrees<T> trees_;
    NearGhosts<T> ghosts_;
    std::optional<SearchParts<T>> parts_;
    JoinedNumbers numbers_; ///< by row of the parts
};

/// The sums of points that are moved for the call, with their columns; rows of sums return.
template <Coordinate T>
void sum_rebalanced(Ranks& ranks, Context& context, const SumsOverRanks& call, const SharedPoints<T>& shared,
                    std::span<const std::int64_t> ids, NeighborSums& sums) {
    RebalancedSearch<T> moved(ranks, context, shared, ids, call.queries, call.of_ranks);
    Rebalanced<T>& here = moved.sources;
    const MovedPoints<T>& receivers = moved.receivers();
    ranks.agreed([&] { here.ids->sort(here.points); });
    SumOptions options = call.options;
    std::vector<MovedColumn> columns;
    columns.reserve(options.fields.size() + 1); // views stay valid
    const auto carry = [&](ScalarsView& column) { column = columns.emplace_back(here.moved.carry(column)).view(); };
    std::ranges::for_each(options.fields, carry);
    if (options.masses) {
        carry(*options.masses);
    }
    Neighborhood neighborhood = call.neighborhood;
    std::vector<double> radii;
    if (const Within* const within = std::get_if<Within>(&call.neighborhood);
        within != nullptr && !within->radii.is_uniform()) {
        radii = receivers.template carry<double>(1, [&](std::int64_t row, int) { return within->radii[row]; });
        neighborhood = Within{Radii(radii)};
    }
    const PointsView view = here.moved.view();
    const int dimension = view.dimension();
    const PointNumbers numbers =
        moved.queries() != nullptr ? PointNumbers(receivers.global_indices(), true) : here.points.numbers;
    NeighborSums found;
    ranks.agreed([&] {
        for_each_sum(
            neighborhood, options, dimension,
            [&](int width, const char*, auto& column) { column.resize(receivers.view().count() * width); }, found);
    });
    DistributedSums<T>(ranks, context,
                       {view, moved.queries(), neighborhood, call.smallest_radius, options, call.of_ranks}, *here.ids,
                       here.points, numbers, found)
        .run();
    for_each_sum(
        neighborhood, options, dimension,
        [&]<class Value>(int width, const char*, std::vector<Value>& of_moved, std::vector<Value>& of_passed) {
            receivers.bring_back(std::span<const Value>(of_moved), width, std::span<Value>(of_passed));
            of_moved = {};
        },
        found, sums);
    static_cast<SearchSummary&>(sums) = static_cast<const SearchSummary&>(found);
    sums.stages = joined_stages(context.take_stages());
    sums.distribution.emplace().work = here.moved.work(seconds_of(sums.stages));
}

} // namespace

template <Coordinate T>
void sum_over_ranks(Ranks& ranks, Context& context, const SumsOverRanks& call, NeighborSums& sums) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    ids.number(shared);
    // Queries and radii are looked at before anything moves, so that an error names the rank and the row of the caller.
    (void)share_queries(ranks, call.queries, shared);
    if (const Within* const within = std::get_if<Within>(&call.neighborhood)) {
        refuse_unresolved(ranks, shared, call.queries, within->radii, call.smallest_radius);
    }
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        sum_rebalanced(ranks, context, call, shared, ids.given(), sums);
        return;
    }
    ranks.agreed([&] { ids.sort(shared); });
    const PointNumbers numbers =
        call.queries != nullptr ? PointNumbers(Ownership(ranks, call.queries->count())) : shared.numbers;
    DistributedSums<T>(ranks, context, call, ids, shared, numbers, sums).run();
    sums.stages = joined_stages(context.take_stages());
}

template void sum_over_ranks<float>(Ranks&, Context&, const SumsOverRanks&, NeighborSums&);
template void sum_over_ranks<double>(Ranks&, Context&, const SumsOverRanks&, NeighborSums&);

} // namespace kith::detail
