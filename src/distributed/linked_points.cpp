#include "distributed/linked_points.hpp"

#include "distributed/ghost_points.hpp"
#include "groups/fof.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace kith::detail {

namespace {

template <Coordinate T>
class PointLinker {
public:
    PointLinker(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PlaneTree<T>& tree,
                T squared_length)
        : ranks_(ranks), context_(context), shared_(shared), tree_(tree), squared_length_(squared_length) {}

    LinkedPoints run() {
        const std::int64_t count = shared_.points.view.count();
        ranks_.agreed([&] { linked_.component = Buffer<std::int32_t>(context_.memory_tracker(), count); });
        std::vector<ComponentEntry> links = ranks_.size() > 1 ? fetch_links() : link_alone();
        linked_.forest.emplace(ranks_, shared_.ownership, std::move(links));
        return std::move(linked_);
    }

private:
    using Names = LinkedPoints::Names;

    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    template <class Body>
    static void for_each(std::int64_t count, const Body& body) {
        parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::int32_t>(begin); i < end; ++i) {
                body(i);
            }
        });
    }

    void link_own() {
        const std::int64_t count = tree_.points.count;
        Buffer<std::int32_t>& component = linked_.component;
        if (component.size() == 0) {
            return;
        }
        context_.stage("link", [&] {
            if (count < component.size()) {
                for_each(component.size(), [&](std::int32_t row) { component[row] = -1; });
            }
            Buffer<std::int32_t> parents(context_.memory_tracker(), count);
            const UnionFind groups = link_tree(context_, tree_, squared_length_, parents);
            Buffer<std::int32_t> smallest(context_.memory_tracker(), count); // row, by root
            const std::int32_t* const rows = tree_.points.indices.data();
            for_each(count, [&](std::int32_t i) { smallest[i] = std::numeric_limits<std::int32_t>::max(); });
            for_each(count, [&](std::int32_t i) {
                const std::atomic_ref least(smallest[groups.find(i)]);
                std::int32_t seen = least.load(std::memory_order_relaxed);
                while (rows[i] < seen && !least.compare_exchange_weak(seen, rows[i], std::memory_order_relaxed)) {
                }
            });
            for_each(count, [&](std::int32_t i) { component[rows[i]] = smallest[groups.find(i)]; });
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
        const Buffer<std::int32_t>& component = linked_.component;
        const GhostRequests<T> requests = request_ghosts(
            ranks_, context_, frame(), tree, tree, unlimited,
            [&](std::int64_t) { return GlobalCandidate<T>{squared_length_}; },
            [&](int rank) { return requests_from(rank); });
        const auto link_and_name = [&] {
            link_own();
            context_.stage("ask", [&] { // nodes that are one component
                linked_.names = node_attributes<Names>(
                    context_, tree,
                    [&](std::int32_t i) {
                        const std::int32_t name = component[tree.points.indices[i]];
                        return Names{name, name};
                    },
                    [](const Names& a, const Names& b) {
                        return Names{std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
                    });
            });
        };
        GhostPoints<T> ghosts =
            fetch_ghosts(ranks_, context_, shared_, tree, requests.to, unlimited, link_and_name,
                         [&](int level, std::int32_t node) { return linked_.is_one_component(level, node); },
                         {[&](std::int32_t row) { return component[row]; }, true});
        std::vector<ComponentEntry> links;
        ranks_.agreed([&] { links = link_ghosts(requests, std::move(ghosts)); });
        return links;
    }

    /// The links between components by points of requesting leaves and ghost points.
    std::vector<ComponentEntry> link_ghosts(const GhostRequests<T>& requests, GhostPoints<T> ghosts) {
        std::vector<ComponentEntry> links;
        if (ghosts.count() == 0) {
            return links;
        }
        std::vector<std::int32_t> requesting; // rows
        std::vector<std::int64_t> names = std::move(ghosts.numbers);
        for (std::int64_t i = 0; i < tree_.points.count; ++i) {
            if (requests.is_requesting[i] != 0) {
                const std::int32_t row = requesting.emplace_back(tree_.points.indices[i]);
                names.push_back(shared_.ownership.first() + linked_.component[row]);
            }
        }
        const PlaneTree<T> tree = tree_with_ghosts(context_, shared_, std::move(ghosts.rows), requesting);
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
    const PlaneTree<T>& tree_;
    T squared_length_;
    LinkedPoints linked_;
};

} // namespace

template <Coordinate T>
LinkedPoints link_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PlaneTree<T>& tree,
                         T squared_length) {
    return PointLinker<T>(ranks, context, shared, tree, squared_length).run();
}

template LinkedPoints link_points(Ranks&, Context&, const SharedPoints<float>&, const PlaneTree<float>&, float);
template LinkedPoints link_points(Ranks&, Context&, const SharedPoints<double>&, const PlaneTree<double>&, double);

} // namespace kith::detail
