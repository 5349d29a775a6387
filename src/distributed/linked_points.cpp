#include "distributed/linked_points.hpp"

#include "distributed/ghost_points.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <utility>

namespace kith::detail {

namespace {

template <Coordinate T>
class PointLinker {
public:
    PointLinker(Ranks& ranks, Context& context, const SharedPoints<T>& shared, PartLinker<T>& linker, T squared_length)
        : ranks_(ranks), context_(context), shared_(shared), linker_(linker), tree_(linker.tree()),
          squared_length_(squared_length) {}

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

    /// One rank of each two requests points from the other, so that each rank requests them from about half of the
    /// others.
    [[nodiscard]] bool requests_from(int other) const {
        const int rank = ranks_.rank();
        return ((rank + other) % 2 != 0) == (rank < other);
    }

    void link_own() {
        Buffer<std::int32_t>& component = linked_.component;
        linker_.link(squared_length_, {component.data(), static_cast<std::size_t>(component.size())});
    }

    std::vector<ComponentEntry> link_alone() {
        ranks_.agreed([&] { link_own(); });
        return {};
    }

    std::vector<ComponentEntry> fetch_links() {
        const TreeView<T>& tree = tree_;
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
        std::vector<std::int32_t> rows; // of ghost points, then of the points of requesting leaves
        for (std::int64_t i = 0; i < ghosts.count(); ++i) {
            rows.push_back(static_cast<std::int32_t>(-1 - i));
        }
        std::vector<std::int64_t> names = std::move(ghosts.numbers);
        for (std::int64_t i = 0; i < tree_.points.count; ++i) {
            if (requests.is_requesting[i] != 0) {
                const std::int32_t row = rows.emplace_back(tree_.points.indices[i]);
                names.push_back(shared_.ownership.first() + linked_.component[row]);
            }
        }
        require_countable(std::ssize(rows));
        const HeldPoints joined = shared_.there->joined(shared_.points.view, rows, ghosts.rows.view);
        ghosts.rows = {}; // frees them
        const std::vector<std::int32_t> component =
            linker_.link_apart(shared_.there->in_frame(joined.view, frame()), squared_length_);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::int64_t of_component = names[component[i]];
            if (names[i] != of_component) {
                links.push_back({names[i], of_component});
            }
        }
        std::ranges::sort(links);
        links.erase(std::unique(links.begin(), links.end()), links.end());
        return links;
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    PartLinker<T>& linker_;
    TreeView<T> tree_;
    T squared_length_;
    LinkedPoints linked_;
};

} // namespace

template <Coordinate T>
LinkedPoints link_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, PartLinker<T>& linker,
                         T squared_length) {
    return PointLinker<T>(ranks, context, shared, linker, squared_length).run();
}

template LinkedPoints link_points(Ranks&, Context&, const SharedPoints<float>&, PartLinker<float>&, float);
template LinkedPoints link_points(Ranks&, Context&, const SharedPoints<double>&, PartLinker<double>&, double);

} // namespace kith::detail
