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

#include "distributed/arguments.hpp"
#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/linked_points.hpp"
#include "distributed/number_components.hpp"
#include "distributed/rebalance.hpp"
#include "groups/dbscan.hpp"
#include "groups/part_linker_cpu.hpp"
#include "groups/resolve_eps.hpp"
#include "support/allocation_errors.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
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
    DistributedClusters(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::int64_t min_samples,
                        DbscanResult& result)
        : ranks_(ranks), context_(context),
          shared_(shared), request_{shared.points.frame.squared_radius(result.eps), min_samples, false, {}, {}},
          result_(result), labels_(result.label_array.vector<std::int64_t>()) {}

    void run(bool star) {
        const std::int64_t total = shared_.ownership.total();
        find_core_points();
        ranks_.agreed([&] { with_allocation_errors("the labels", [&] { labels_.resize(result_.is_core.size()); }); });
        result_.core_points = ranks_.sum(core_.points.count);
        HostPartLinker<T> linker(context_, core_);
        const LinkedPoints linked = link_points(ranks_, context_, shared_, linker, request_.squared_length);
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
                    return GlobalCandidate<T>{request_.squared_length};
                }
            }
            return GlobalCandidate<T>{nothing};
        };
        return request_ghosts(ranks_, context_, frame(), sources, receivers, wanted, bound_of);
    }

    /// Fills the flags, and the trees of the core points and of the others.
    void find_core_points() {
        PlaneTree<T>& tree = others_; // for now of all points of this rank
        ranks_.agreed([&] {
            const std::int64_t count = shared_.points.view.count();
            with_allocation_errors("the flags of core points", [&] { result_.is_core.resize(count); });
            if (count > 0) {
                tree = build_plane_tree<T>(context_, shared_.points, {});
                flag(tree, result_.is_core);
            }
        });
        if (request_.min_samples <= shared_.ownership.total()) {
            GhostRequests<T> requests = ask(tree.view(), tree.view(), request_.min_samples);
            ranks_.agreed([&] {
                std::vector<GhostRequest<T>> own;
                for (const std::vector<GhostRequest<T>>& list : requests.to) {
                    own.insert(own.end(), list.begin(), list.end());
                }
                requests.to[ranks_.rank()] = std::move(own);
            });
            GhostPoints<T> near =
                fetch_ghosts(ranks_, context_, shared_, tree.view(), requests.to, request_.min_samples, [] {}, {},
                             {[](std::int32_t row) { return row; }, true});
            ranks_.agreed([&] {
                if (near.count() > 0) {
                    std::vector<std::uint8_t> is_core(near.count());
                    flag(tree_of_ghosts(context_, shared_, near.rows), is_core);
                    for (std::int64_t i = 0; i < near.count(); ++i) { // counts of other points are incomplete
                        if (is_core[i] != 0 && shared_.ownership.is_mine(near.numbers[i])) {
                            result_.is_core[near.numbers[i] - shared_.ownership.first()] = 1;
                        }
                    }
                }
            });
        }
        ranks_.agreed([&] {
            const std::int64_t count = tree.points.count;
            const std::int64_t core_points = std::ranges::count(result_.is_core, std::uint8_t{1});
            if (core_points == count) {
                core_ = std::exchange(tree, PlaneTree<T>());
                return;
            }
            core_ = part(tree, 1);
            if (core_points > count / 2) { // else the tree of all is little more than that of the others
                others_ = part(tree, 0);
            }
        });
    }

    /// Flags the core points of a tree, by row.
    void flag(const PlaneTree<T>& tree, std::span<std::uint8_t> is_core) {
        ClusterRequest<T> request = request_;
        request.is_core = is_core;
        DbscanSummary here;
        context_.stage("core", [&] {
            (void)core_flags(context_, tree.points, request, here, [&](std::uint8_t* flags) {
                detail::find_core_points(context_, tree.view(), frame(), request, flags);
            });
        });
    }

    /// The tree of the points with this flag.
    PlaneTree<T> part(const PlaneTree<T>& tree, std::uint8_t flag) {
        PlaneTree<T> found;
        if (tree.points.count > 0) {
            context_.run([&] {
                Buffer<std::uint8_t> is_wanted(context_.memory_tracker(), tree.points.count);
                for (std::int64_t i = 0; i < tree.points.count; ++i) {
                    is_wanted[i] = result_.is_core[tree.points.indices[i]] == flag ? 1 : 0;
                }
                found = subtree(context_, tree, is_wanted);
            });
        }
        return found;
    }

    void label_border_points(const LinkedPoints& linked) {
        const TreeView<T> core = core_.view();
        const GhostRequests<T> requests = ask(core, others_.view(), unlimited);
        GhostPoints<T> ghosts = fetch_ghosts(
            ranks_, context_, shared_, core, requests.to, unlimited, [&] { lower(core_, labels_); },
            [&](int level, std::int32_t node) { return linked.is_one_component(level, node); },
            {[&](std::int32_t row) { return labels_[row]; }, false});
        ranks_.agreed([&] {
            if (ghosts.count() > 0) {
                lower(tree_of_ghosts(context_, shared_, ghosts.rows), ghosts.numbers);
            }
        });
    }

    /// Lowers labels of points that are not core points to those of core points within eps, which are in a tree and
    /// have these labels by row. The search has labels of 32 bits: those that occur, in their order.
    void lower(const PlaneTree<T>& core, std::span<const std::int64_t> labels) {
        const std::int64_t count = core.points.count;
        if (count == 0 || others_.points.count == 0) {
            return;
        }
        context_.stage("border", [&] {
            const auto label_of = [&](std::int64_t i) { return labels[core.points.indices[i]]; };
            std::vector<std::int64_t> occurring;
            for (std::int64_t i = 0; i < count; ++i) {
                if (i == 0 || label_of(i) != label_of(i - 1)) {
                    occurring.push_back(label_of(i));
                }
            }
            std::ranges::sort(occurring);
            occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
            Buffer<std::int32_t> clusters(context_.memory_tracker(), count);
            parallel_each(count, 1 << 14, [&](std::int64_t i) {
                clusters[i] =
                    static_cast<std::int32_t>(std::ranges::lower_bound(occurring, label_of(i)) - occurring.begin());
            });
            Buffer<std::uint8_t> is_core(context_.memory_tracker(), others_.points.count);
            parallel_each(others_.points.count, 1 << 14,
                          [&](std::int64_t i) { is_core[i] = result_.is_core[others_.points.indices[i]]; });
            std::vector<std::int32_t> found(labels_.size(), -1);
            DbscanSummary here;
            here.sizes.resize(occurring.size());
            ClusterRequest<T> request = request_;
            request.labels = found;
            detail::label_border_points(context_, others_.view(), is_core, core.view(), clusters, frame(), request,
                                        here);
            for (const std::int32_t row : others_.points.indices.span()) {
                if (result_.is_core[row] == 0 && found[row] >= 0) {
                    const std::int64_t label = occurring[found[row]];
                    labels_[row] = labels_[row] < 0 ? label : std::min(labels_[row], label);
                }
            }
        });
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    ClusterRequest<T> request_;
    DbscanResult& result_;
    std::vector<std::int64_t>& labels_;
    PlaneTree<T> core_;   ///< core points; without planes if there are none
    PlaneTree<T> others_; ///< all other points of this rank, and perhaps its core points
};

/// On the ranks that the points move to.
template <Coordinate T>
void find_rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::span<const std::int64_t> ids,
                     const DbscanOverRanks& call, DbscanResult& result) {
    Rebalanced<T> here(ranks, context, shared, ids, call.of_ranks);
    ranks.agreed([&] { here.ids->sort(here.points); });
    DistributedClusters<T>(ranks, context, here.points, call.min_samples, result).run(call.options.star);
    result.stages = context.take_stages();
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
void find_clusters(Ranks& ranks, Context& context, const DbscanOverRanks& call, DbscanResult& result) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    ids.number(shared);
    resolve_eps(ranks, shared, call.eps, result);
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        find_rebalanced(ranks, context, shared, ids.given(), call, result);
        return;
    }
    ranks.agreed([&] { ids.sort(shared); });
    DistributedClusters<T>(ranks, context, shared, call.min_samples, result).run(call.options.star);
    ranks.agreed([&] {
        ids.restore(result.label_array.vector<std::int64_t>());
        ids.restore(result.is_core);
    });
}

} // namespace

DbscanResult dbscan_over_ranks(Ranks& ranks, Context& context, const DbscanOverRanks& call) {
    std::vector<Argument> arguments = shape_arguments(call.points, call.options.box);
    arguments.insert(arguments.end(), {{"eps", call.eps},
                                       {"min_samples", static_cast<double>(call.min_samples)},
                                       flag("star", call.options.star),
                                       flag("rebalance", call.of_ranks.rebalance),
                                       {"imbalance", call.of_ranks.imbalance}});
    require_same(ranks, RankFunction::dbscan, arguments);
    DbscanResult result;
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { find_clusters<T>(ranks, context, call, result); });
    const StageReports stages = context.take_stages();
    result.stages.insert(result.stages.end(), stages.begin(), stages.end());
    return result;
}

} // namespace kith::detail
