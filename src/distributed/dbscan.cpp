// DBSCAN over ranks.
//
// Core points: each rank counts neighbors among its own points. Leaves with points that are short of neighbors request
// the points within eps, no more than min_samples where these decide (ghost_points.hpp), from ranks near them and from
// their own; among these points alone the rank counts again. What it finds are core points, since no point has fewer
// neighbors than are counted. Clusters: the core points of all ranks are linked like friends of friends
// (linked_points.hpp), and numbered by the smallest index (number_components.hpp). Border points: leaves with points
// that are not core points request the core points within eps. These carry their labels; a node that is one component,
// and within reach of a leaf as a whole, sends one point. Own core points are searched while requests travel.
#include "distributed/dbscan.hpp"

#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/linked_points.hpp"
#include "distributed/number_components.hpp"
#include "distributed/rebalance.hpp"
#include "groups/part_clusters_cpu.hpp"
#include "groups/resolve_eps.hpp"
#include "support/allocation_errors.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Collective. States eps, rounded, and the box in the summary.
template <Coordinate T>
void resolve_eps(Ranks& ranks, const SharedPoints<T>& shared, double eps, DbscanSummary& summary) {
    const Frame<T>& frame = shared.points.frame;
    const std::int64_t total = shared.ownership.total();
    LargestCoordinate largest;
    if (total > 0 && frame.largest > 0 && frame.is_unresolved(eps)) { // on all ranks; alike() must not communicate
        largest = largest_of_all(ranks, shared);
    }
    Ranks::alike([&] { resolve_eps(eps, frame, total, summary, [&] { return largest; }); });
}

template <Coordinate T>
class DistributedClusters {
public:
    /// Points in the frame of all ranks, in the order of their numbers, as labels and flags are; eps has been resolved.
    /// Points are searched by what on_gpu() makes, if there is such a function, else by the CPU.
    DistributedClusters(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::int64_t min_samples,
                        const MakePartClusters<T>& on_gpu, DbscanResult& result)
        : ranks_(ranks), context_(context),
          shared_(shared), density_{shared.points.frame.squared_radius(result.eps), min_samples}, result_(result),
          labels_(result.label_array.vector<std::int64_t>()) {
        ranks.agreed([&] {
            part_ = on_gpu ? on_gpu(shared.points) : std::make_unique<HostPartClusters<T>>(context, shared.points);
        });
    }

    void run(bool star) {
        const std::int64_t total = shared_.ownership.total();
        find_core_points();
        ranks_.agreed([&] { with_allocation_errors("the labels", [&] { labels_.resize(result_.is_core.size()); }); });
        core_points_ = part_->core_points().tree().points.count;
        result_.core_points = ranks_.sum(core_points_);
        const LinkedPoints linked =
            link_points(ranks_, context_, shared_, part_->core_points(), density_.squared_length);
        result_.clusters = number_components(ranks_, context_, shared_.ownership, shared_.numbers, linked,
                                             ComponentOrder::smallest_index, labels_)
                               .size();
        if (!star && result_.core_points > 0 && result_.core_points < total) {
            label_border_points(linked);
        }
        ranks_.agreed([&] {
            with_allocation_errors("the sizes of the clusters", [&] { result_.sizes.resize(result_.clusters); });
            for (const std::int64_t label : labels_) {
                if (label >= 0) {
                    ++result_.sizes[label];
                }
            }
        });
        ranks_.sum(result_.sizes);
        result_.noise_points = std::accumulate(result_.sizes.begin(), result_.sizes.end(), total, std::minus<>());
        ranks_.count_from_device(part_->bytes_to_host());
        ranks_.agreed([&] {
            result_.stages = part_->take_stages();
            const StageReports of_host = context_.take_stages();
            result_.stages.insert(result_.stages.end(), of_host.begin(), of_host.end());
        });
        account_for(ranks_, *shared_.there, result_.stages);
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    /// Requests for points within eps of leaves that have points which are not core points.
    GhostRequests<T> ask(const TreeView<T>& sources, const TreeView<T>& receivers, std::int64_t wanted) {
        constexpr T nothing = -1; // less than any squared distance
        const auto bound_of = [&](std::int64_t leaf) {
            const PlaneView<T>& leaves = receivers.planes[0];
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                if (result_.is_core[receivers.points.indices[i]] == 0) {
                    return GlobalCandidate<T>{density_.squared_length};
                }
            }
            return GlobalCandidate<T>{nothing};
        };
        return request_ghosts(ranks_, context_, frame(), sources, receivers, wanted, bound_of);
    }

    /// Fills the flags, and takes the core points of this rank.
    void find_core_points() {
        ranks_.agreed([&] {
            with_allocation_errors("the flags of core points",
                                   [&] { result_.is_core.resize(shared_.points.view.count()); });
            part_->flag_core_points(density_, result_.is_core);
        });
        if (density_.min_samples <= shared_.ownership.total()) {
            const TreeView<T> tree = part_->tree();
            GhostRequests<T> requests = ask(tree, tree, density_.min_samples);
            ranks_.agreed([&] {
                std::vector<GhostRequest<T>> own;
                for (const std::vector<GhostRequest<T>>& list : requests.to) {
                    own.insert(own.end(), list.begin(), list.end());
                }
                requests.to[ranks_.rank()] = std::move(own);
            });
            GhostPoints<T> near = fetch_ghosts(ranks_, context_, shared_, tree, requests.to, density_.min_samples,
                                               [] {}, {}, {[](std::int32_t row) { return row; }, true});
            ranks_.agreed([&] { flag_again(near); });
        }
        ranks_.agreed([&] { part_->take_core_points(result_.is_core); });
    }

    /// Flags the core points among all points near points that were short of neighbors.
    void flag_again(const GhostPoints<T>& near) {
        if (near.count() == 0) {
            return;
        }
        std::vector<std::int32_t> rows; // of own points, which do not travel, and of the others
        std::int32_t others = 0;
        for (const std::int64_t number : near.numbers) {
            const bool is_mine = shared_.ownership.is_mine(number);
            rows.push_back(is_mine ? static_cast<std::int32_t>(number - shared_.ownership.first()) : -1 - others++);
        }
        const HeldPoints joined = shared_.there->joined(shared_.points.view, rows, near.rows.view);
        const std::vector<std::uint8_t> is_core =
            part_->flag_apart(shared_.there->in_frame(joined.view, frame()), density_);
        for (std::int64_t i = 0; i < near.count(); ++i) { // counts of other points are incomplete
            if (is_core[i] != 0 && shared_.ownership.is_mine(near.numbers[i])) {
                result_.is_core[near.numbers[i] - shared_.ownership.first()] = 1;
            }
        }
    }

    void label_border_points(const LinkedPoints& linked) {
        const TreeView<T> core = part_->core_points().tree();
        const GhostRequests<T> requests = ask(core, part_->tree(), unlimited);
        const auto of_own = [&] {
            if (core.points.count > 0) {
                lower(labels_, core.points.indices, [&](const Buffer<std::int32_t>& clusters, auto... rest) {
                    part_->find_lowest(density_.squared_length, clusters, rest...);
                });
            }
        };
        GhostPoints<T> ghosts =
            fetch_ghosts(ranks_, context_, shared_, core, requests.to, unlimited, of_own,
                         [&](int level, std::int32_t node) { return linked.is_one_component(level, node); },
                         {[&](std::int32_t row) { return labels_[row]; }, false});
        ranks_.agreed([&] {
            if (ghosts.count() > 0) {
                const NormalizedPoints<T> of_others = shared_.there->in_frame(ghosts.rows.view, frame());
                lower(ghosts.numbers, nullptr, [&](const Buffer<std::int32_t>& clusters, auto... rest) {
                    part_->find_lowest_apart(of_others, density_.squared_length, clusters.span(), rest...);
                });
            }
        });
    }

    /// Lowers labels of points that are not core points to those of core points within eps. `labels` are those of
    /// core points, by row, and `rows` their rows in the order that find(clusters of core points, number of clusters,
    /// cluster of each row) takes; null: there are no others. Clusters have 32 bits: those that occur, in the order of
    /// their labels.
    template <class Find>
    void lower(std::span<const std::int64_t> labels, const std::int32_t* rows, const Find& find) {
        const std::int64_t own = std::ssize(labels_);
        if (core_points_ == own) {
            return;
        }
        const std::int64_t count = rows != nullptr ? core_points_ : std::ssize(labels);
        const auto label_of = [&](std::int64_t i) { return labels[rows != nullptr ? rows[i] : i]; };
        std::vector<std::int64_t> occurring;
        for (std::int64_t i = 0; i < count; ++i) {
            if (i == 0 || label_of(i) != label_of(i - 1)) {
                occurring.push_back(label_of(i));
            }
        }
        std::ranges::sort(occurring);
        occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
        Buffer<std::int32_t> clusters(context_.memory_tracker(), count);
        context_.run([&] {
            parallel_each(count, 1 << 14, [&](std::int64_t i) {
                clusters[i] =
                    static_cast<std::int32_t>(std::ranges::lower_bound(occurring, label_of(i)) - occurring.begin());
            });
        });
        std::vector<std::int32_t> found(result_.is_core.begin(), result_.is_core.end());
        for (std::int32_t& cluster : found) {
            --cluster; // -1 of those to be found
        }
        find(clusters, std::ssize(occurring), std::span(found));
        for (std::int64_t row = 0; row < own; ++row) {
            if (result_.is_core[row] == 0 && found[row] >= 0) {
                const std::int64_t label = occurring[found[row]];
                labels_[row] = labels_[row] < 0 ? label : std::min(labels_[row], label);
            }
        }
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    CoreDensity<T> density_;
    DbscanResult& result_;
    std::vector<std::int64_t>& labels_;
    std::unique_ptr<PartClusters<T>> part_; ///< the points of this rank
    std::int64_t core_points_ = 0;          ///< of this rank
};

/// On the ranks that the points move to.
template <Coordinate T>
void find_rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::span<const std::int64_t> ids,
                     const DbscanOverRanks& call, const MakePartClusters<T>& on_gpu, DbscanResult& result) {
    Rebalanced<T> here(ranks, context, shared, ids, call.of_ranks);
    ranks.agreed([&] { here.ids->sort(here.points); });
    DistributedClusters<T>(ranks, context, here.points, call.min_samples, on_gpu, result).run(call.options.star);
    result.distribution.emplace().work = here.moved.work(seconds_of(result.stages));
    const auto bring_back = [&]<class Value>(std::vector<Value>& values) {
        std::vector<Value> moved;
        ranks.agreed([&] {
            here.ids->restore(values);
            moved = std::exchange(values, std::vector<Value>(shared.given.count()));
        });
        here.moved.bring_back(std::span<const Value>(moved), 1, std::span(values));
    };
    bring_back(result.label_array.vector<std::int64_t>());
    bring_back(result.is_core);
}

template <Coordinate T>
void find_clusters(Ranks& ranks, Context& context, const DbscanOverRanks& call, const MakePartClusters<T>& on_gpu,
                   const MakePartPoints<T>& points_on_gpu, DbscanResult& result) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box, points_on_gpu);
    ids.number(shared);
    resolve_eps(ranks, shared, call.eps, result);
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        find_rebalanced(ranks, context, shared, ids.given(), call, on_gpu, result);
    } else {
        ranks.agreed([&] { ids.sort(shared); });
        DistributedClusters<T>(ranks, context, shared, call.min_samples, on_gpu, result).run(call.options.star);
        ranks.agreed([&] {
            ids.restore(result.label_array.vector<std::int64_t>());
            ids.restore(result.is_core);
        });
    }
}

} // namespace

template <Coordinate T>
void dbscan_over_ranks(Ranks& ranks, Context& context, const DbscanOverRanks& call, const MakePartClusters<T>& on_gpu,
                       const MakePartPoints<T>& points_on_gpu, DbscanResult& result) {
    find_clusters<T>(ranks, context, call, on_gpu, points_on_gpu, result);
    const StageReports stages = context.take_stages();
    result.stages.insert(result.stages.end(), stages.begin(), stages.end());
}

template void dbscan_over_ranks(Ranks&, Context&, const DbscanOverRanks&, const MakePartClusters<float>&,
                                const MakePartPoints<float>&, DbscanResult&);
template void dbscan_over_ranks(Ranks&, Context&, const DbscanOverRanks&, const MakePartClusters<double>&,
                                const MakePartPoints<double>&, DbscanResult&);

} // namespace kith::detail
