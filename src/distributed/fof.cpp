// Friends-of-friends over ranks.
//
// One rank of each two requests the points of the other within the linking length of its leaves (ghost_points.hpp).
// Each rank links its own points while requests travel. Ghost points carry the names of their components. A node that
// is one component already, and within reach of a leaf as a whole, sends one point. The points of the requesting
// leaves and the ghost points are linked by the same walk in a tree of their own. Where one of its groups joins several
// components, these are linked across ranks (component_forest.hpp). In the end all are numbered
// (number_components.hpp).
#include "distributed/fof.hpp"

#include "distributed/component_forest.hpp"
#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/number_components.hpp"
#include "distributed/phase_space.hpp"
#include "distributed/rebalance.hpp"
#include "groups/fof.hpp"
#include "groups/linking_length.hpp"
#include "support/allocation_errors.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Collective. Resolves the linking length of points, and tells the summary what follows from it.
template <Coordinate T>
void resolve_length(Ranks& ranks, const SharedPoints<T>& shared, const LinkingLength& length, FofSummary& summary) {
    const Frame<T>& frame = shared.points.frame;
    const std::int64_t total = shared.ownership.total();
    ResolvedLength resolved;
    LargestCoordinate largest;
    if (resolve_length(length.value(), length.is_relative(), frame, total, resolved).refusal ==
        PointError::length_unresolved) { // on all ranks; alike() must not communicate
        largest = largest_of_all(ranks, shared);
    }
    Ranks::alike([&] {
        resolve_length(length, frame, total, summary, [&] { return largest; });
        summary.box = resolved_box(frame);
        summary.wrapped_points = frame.outside;
    });
}

template <Coordinate T>
class DistributedGroups {
public:
    /// Points in the frame of all ranks, in the order of their numbers, as the labels are; the linking length of the
    /// summary has been resolved.
    DistributedGroups(Ranks& ranks, Context& context, const SharedPoints<T>& shared)
        : ranks_(ranks), context_(context), shared_(shared) {}

    /// Fills labels, sizes, and the number of groups.
    void run(FofResult& result) {
        squared_length_ = frame().squared_radius(result.linking_length);
        std::vector<std::int64_t>& labels = result.label_array.vector<std::int64_t>();
        ranks_.agreed([&] {
            with_allocation_errors("the labels", [&] { labels.resize(shared_.points.view.count()); });
            component_ = Buffer<std::int32_t>(context_.memory_tracker(), shared_.points.view.count());
            if (shared_.points.view.count() > 0) {
                tree_ = build_plane_tree<T>(context_, shared_.points, {});
            }
        });
        std::vector<ComponentEntry> links = ranks_.size() > 1 ? fetch_links() : link_alone();
        const ComponentForest forest(ranks_, shared_.ownership, std::move(links));
        result.sizes =
            number_components(ranks_, context_, shared_.ownership, shared_.numbers, component_.span(), forest, labels);
        result.groups = result.sizes.size();
    }

private:
    /// The smallest and the largest name of a component in a node.
    struct Names {
        std::int32_t least;
        std::int32_t greatest;
    };

    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    void link_own() {
        const std::int64_t count = shared_.points.view.count();
        if (count == 0) {
            return;
        }
        context_.stage("link", [&] {
            Buffer<std::int32_t> parents(context_.memory_tracker(), count);
            const UnionFind groups = link_tree(context_, tree_, squared_length_, parents);
            Buffer<std::int32_t> smallest(context_.memory_tracker(), count); // row, by root
            const std::int32_t* const rows = tree_.points.indices.data();
            const auto for_each = [&](const auto& body) {
                parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
                    for (auto i = static_cast<std::int32_t>(begin); i < end; ++i) {
                        body(i);
                    }
                });
            };
            for_each([&](std::int32_t i) { smallest[i] = std::numeric_limits<std::int32_t>::max(); });
            for_each([&](std::int32_t i) {
                const std::atomic_ref least(smallest[groups.find(i)]);
                std::int32_t seen = least.load(std::memory_order_relaxed);
                while (rows[i] < seen && !least.compare_exchange_weak(seen, rows[i], std::memory_order_relaxed)) {
                }
            });
            for_each([&](std::int32_t i) { component_[rows[i]] = smallest[groups.find(i)]; });
        });
    }

    /// One rank of each two requests points from the other, so that each rank requests them from about half of the
    /// others.
    [[nodiscard]] bool requests_from(int other) const {
        const int rank = ranks_.rank();
        return ((rank + other) % 2 != 0) == (rank < other);
    }

    std::vector<ComponentEntry> link_alone() {
        ranks_.agreed([&] { link_own(); });
        return {};
    }

    std::vector<ComponentEntry> fetch_links() {
        const TreeView<T> tree = tree_.view();
        const GhostRequests<T> requests = request_ghosts(
            ranks_, context_, frame(), tree, tree, unlimited,
            [&](std::int64_t) { return GlobalCandidate<T>{squared_length_}; },
            [&](int rank) { return requests_from(rank); });
        std::vector<Buffer<Names>> names;
        const auto link_and_name = [&] {
            link_own();
            context_.stage("ask", [&] { // nodes that are one component
                names = node_attributes<Names>(
                    context_, tree,
                    [&](std::int32_t i) {
                        const std::int32_t name = component_[tree.points.indices[i]];
                        return Names{name, name};
                    },
                    [](const Names& a, const Names& b) {
                        return Names{std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
                    });
            });
        };
        const GhostPoints<T> ghosts =
            fetch_ghosts(ranks_, context_, shared_, tree, requests.to, unlimited, link_and_name,
                         [&](int level, std::int32_t node) {
                             const Names& of_node = names[level][node];
                             return of_node.least == of_node.greatest;
                         },
                         {[&](std::int32_t row) { return component_[row]; }, true});
        std::vector<ComponentEntry> links;
        ranks_.agreed([&] { links = link_ghosts(requests, ghosts); });
        return links;
    }

    /// The links between components by points of requesting leaves and ghost points.
    std::vector<ComponentEntry> link_ghosts(const GhostRequests<T>& requests, const GhostPoints<T>& ghosts) {
        std::vector<ComponentEntry> links;
        if (ghosts.count() == 0) {
            return links;
        }
        std::vector<T> rows = ghosts.rows;
        std::vector<std::int64_t> names = ghosts.numbers;
        const Coordinates<T> given(shared_.points.view);
        for (std::int64_t i = 0; i < tree_.points.count; ++i) {
            if (requests.is_requesting[i] != 0) {
                const std::int32_t row = tree_.points.indices[i];
                names.push_back(shared_.ownership.first() + component_[row]);
                for (int axis = 0; axis < frame().dimension; ++axis) {
                    rows.push_back(given(row, axis));
                }
            }
        }
        require_countable(std::ssize(names));
        NormalizedPoints<T> points;
        context_.run([&] { points = normalized(frame(), PointsView(rows, frame().dimension)); });
        const PlaneTree<T> tree = build_plane_tree<T>(context_, points, {});
        context_.stage("link pieces", [&] {
            Buffer<std::int32_t> parents(context_.memory_tracker(), tree.points.count);
            const UnionFind groups = link_tree(context_, tree, squared_length_, parents);
            for (std::int32_t i = 0; i < tree.points.count; ++i) {
                const std::int32_t root = groups.find(i);
                const std::int64_t name = names[tree.points.indices[i]];
                const std::int64_t of_root = names[tree.points.indices[root]];
                if (name != of_root) {
                    links.push_back({name, of_root});
                }
            }
            std::ranges::sort(links);
            links.erase(std::unique(links.begin(), links.end()), links.end());
        });
        return links;
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    T squared_length_ = 0;           ///< in working units
    PlaneTree<T> tree_;              ///< of this rank's points; without planes if there are none
    Buffer<std::int32_t> component_; ///< by row: the smallest row of its component on this rank
};

template <Coordinate T>
void group_rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::span<const std::int64_t> ids,
                      const ScalarsView& given_weights, FofResult& result, std::vector<float>& work) {
    const Rebalanced<T> here(ranks, context, shared, ids, given_weights);
    DistributedGroups<T>(ranks, context, here.points).run(result);
    result.stages = context.take_stages();
    work = here.moved.work(seconds_of(result.stages));
    std::vector<std::int64_t>& labels = result.label_array.vector<std::int64_t>();
    std::vector<std::int64_t> moved;
    ranks.agreed([&] {
        here.ids->restore(labels);
        moved = std::exchange(labels, std::vector<std::int64_t>(shared.given.count()));
    });
    here.moved.bring_back(std::span<const std::int64_t>(moved), 1, std::span(labels));
}

} // namespace

template <Coordinate T>
void fof_over_ranks(Ranks& ranks, Context& context, const FofOverRanks& call, FofResult& result,
                    std::vector<float>& work) {
    const FofOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, options.box);
    ids.number(shared);
    resolve_length(ranks, shared, call.length, result);
    SharedPhaseSpace<T> in_phase_space;
    if (options.phase_space) {
        in_phase_space = share_phase_space(ranks, context, shared, options.box, *options.phase_space, result);
    }
    SharedPoints<T>& linked = options.phase_space ? in_phase_space.points : shared;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        group_rebalanced(ranks, context, linked, ids.given(), call.of_ranks.weights, result, work);
        return;
    }
    ranks.agreed([&] { ids.sort(linked); });
    DistributedGroups<T>(ranks, context, linked).run(result);
    result.stages = context.take_stages();
    ranks.agreed([&] { ids.restore(result.label_array.vector<std::int64_t>()); });
}

void widen_labels(Context& context, IndexArray& labels) {
    const IndexArray narrow = std::exchange(labels, {});
    std::vector<std::int64_t>& wide = labels.vector<std::int64_t>();
    with_allocation_errors("the labels", [&] { wide.resize(narrow.size()); });
    context.run(
        [&] { parallel_each(narrow.size(), 1 << 16, [&](std::int64_t i) { wide[i] = narrow.as_int32()[i]; }); });
}

template void fof_over_ranks<float>(Ranks&, Context&, const FofOverRanks&, FofResult&, std::vector<float>&);
template void fof_over_ranks<double>(Ranks&, Context&, const FofOverRanks&, FofResult&, std::vector<float>&);

} // namespace kith::detail
