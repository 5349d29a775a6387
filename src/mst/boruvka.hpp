// The minimum spanning tree in the plane tree.
//
// Method: Boruvka (1926). Every point is a component; in each round every component takes the least edge that leaves
// it, in the order of edges, so that no two choices close a circle. Edges come from the rows of a search for the
// nearest neighbors of all points, as long as these are known to hold the least one: it must be shorter than all that
// the rows of the component do not tell. That brings a million points down to some ten thousand components. From then
// on a receiver walk finds what the rows do not tell (forest_policy-inl.hpp), for the few points that can matter, with
// the components as attributes of nodes. Source: single-tree Boruvka of Prokopenko, Sao, Lebrun-Grandie (ICPP 2022,
// arXiv:2207.00514), whose bounds and labels of nodes these are; there every point walks by itself in every round.
// Cost: that of the rows, then close to O(n) a round, log n rounds.
//
// The root of a component is its lowest position. Each link takes one root away, whose place the edge gets: edges need
// no counter.
#pragma once

#include "mst/edges.hpp"
#include "mst/forest.hpp"
#include "neighbors/knn.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"
#include "tree/plane_tree.hpp"
#include "walk/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::detail {

/// Rows of a self-search, by position: the first of each. of_row(position, squared distances) sees the whole row.
template <Coordinate T, class OfRow>
class RowsByPosition final : public RowSink<T> {
public:
    RowsByPosition(std::int32_t* rows, const std::int32_t* position_of, const OfRow& of_row)
        : rows_(rows), position_of_(position_of), of_row_(of_row) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            std::int32_t* const to = rows_ + (block.first + row) * row_length;
            const std::int32_t* const indices = block.indices + row * block.k;
            for (int i = 0; i < row_length; ++i) {
                to[i] = indices[i] >= 0 ? position_of_[indices[i]] : -1;
            }
            of_row_(block.first + row, block.distances + row * block.k);
        }
    }

private:
    std::int32_t* rows_;
    const std::int32_t* position_of_;
    const OfRow& of_row_;
};

/// Edges is where edges go: EdgeMemory, or WeighedEdges.
template <Coordinate T, class Weight = DistanceWeight<T>, class Edges = EdgeMemory<T>>
class Boruvka {
public:
    /// Of a tree of two points or more.
    Boruvka(Context& context, const PlaneTree<T>& tree, const Edges& edges, const Weight& weight = {})
        : context_(context), points_(tree.points), view_(tree.view()), edges_(edges), components_(points_.count),
          rows_(context.memory_tracker(), points_.count * row_length), next_(context.memory_tracker(), points_.count),
          distance_(context.memory_tracker(), points_.count), component_(context.memory_tracker(), points_.count),
          bound_(Buffer<T>::borrowed(edges.spare, points_.count)), unseen_(context.memory_tracker(), points_.count),
          best_(context.memory_tracker(), points_.count), forest_{&view_,
                                                                  points_.dimension(),
                                                                  points_.frame.periodic,
                                                                  rows_.data(),
                                                                  next_.data(),
                                                                  distance_.data(),
                                                                  component_.data(),
                                                                  bound_.data(),
                                                                  unseen_.data(),
                                                                  best_.data(),
                                                                  weight} {}

    /// The rows of all points, in order of position.
    void find_rows(const PlaneTree<T>& tree) requires(Weight::is_distance) {
        search_rows(tree, row_length, [&](std::int64_t point, const T* squared) { distance_[point] = squared[0]; });
    }
    /// The same by weights, which of_row(position, squared distances of that many others) makes known. There are at
    /// least row_length others.
    template <class OfRow>
    void find_rows(const PlaneTree<T>& tree, std::int64_t others, const OfRow& of_row) requires(!Weight::is_distance) {
        search_rows(tree, others, of_row);
        each_range([&](std::int64_t begin, std::int64_t end) { weigh_rows(forest_, begin, end); });
    }

    /// Rounds until one component is left.
    void connect() {
        context_.expect(edges_.count);
        each_point([&](std::int64_t point) {
            next_[point] = 0;
            component_[point] = static_cast<std::int32_t>(point);
            forget(point);
        });
        for (int round = 0; components_ > 1; ++round) {
            each_range([&](std::int64_t begin, std::int64_t end) { Steps::read_rows(forest_, begin, end); });
            const std::int64_t certain = bound_by_rows();
            constexpr std::int64_t too_few = 8; // a part of all components that makes no round
            const bool needs_search = certain < components_ && certain * too_few < components_;
            if (needs_search) {
                search();
            }
            link(!needs_search);
            flatten();
            if (round == 0) {
                mark_duplicates();
            }
        }
        if constexpr (!Weight::is_distance) {
            parallel_for(0, edges_.count, grain, [&](std::int64_t begin, std::int64_t end) {
                measure_edges(forest_, edges_.edges, begin, end);
            });
        }
    }

private:
    using Steps = ForestSteps<T, Weight>;
    static constexpr std::int64_t grain = 1 << 14;

    template <class OfRow>
    void search_rows(const PlaneTree<T>& tree, std::int64_t others, const OfRow& of_row) {
        std::int32_t* const position_of = best_.data(); // not used yet
        each_point([&](std::int64_t point) { position_of[points_.indices[point]] = static_cast<std::int32_t>(point); });
        KnnRequest<T> request{others, true, {}, ReportScale<T>(points_.frame, true)};
        request.report.power = PowerOfTwo<T>(0);
        RowsByPosition<T, OfRow> sink(rows_.data(), position_of, of_row);
        search_tree(context_, tree, tree, request, sink);
    }

    template <class Body>
    void each_range(const Body& body) {
        parallel_for(0, points_.count, grain, body);
    }
    template <class Body>
    void each_point(const Body& body) {
        parallel_each(points_.count, grain, body);
    }

    void forget(std::int64_t point) {
        unseen_[point] = std::numeric_limits<T>::infinity();
        best_[point] = -1;
    }

    /// Whether the best edge of a component in its rows is its least.
    [[nodiscard]] bool is_certain(std::int64_t root) const { return bound_[root] < unseen_[root]; }

    /// Bounds every component by its best edge in its rows. Returns for how many that is their least.
    [[nodiscard]] std::int64_t bound_by_rows() {
        return parallel_sum(points_.count, grain, [&](std::int64_t point) {
            if (component_[point] != point) {
                return 0;
            }
            bound_[point] = best_[point] >= 0 ? distance_[best_[point]] : std::numeric_limits<T>::infinity();
            return is_certain(point) ? 1 : 0;
        });
    }

    /// Finds the least edge of every component.
    void search() {
        parallel_for(0, points_.count - 1, grain,
                     [&](std::int64_t begin, std::int64_t end) { Steps::bound_by_order(forest_, begin, end); });
        using Node = NodeOfForest<T>;
        const std::vector<Buffer<Node>> nodes = node_attributes<Node>(
            context_, view_,
            [&](std::int32_t point) {
                if (next_[point] == is_duplicate) {
                    return Node{Node::nothing, T(-1)};
                }
                const T bound = bound_[component_[point]];
                return Node{component_[point], next_[point] == row_length && distance_[point] <= bound ? bound : T(-1)};
            },
            [](const Node& a, const Node& b) {
                const std::int32_t component = a.component == Node::nothing || a.component == b.component ? b.component
                                               : b.component == Node::nothing                             ? a.component
                                                                              : Node::several;
                return Node{component, std::max(a.reach, b.reach)};
            });
        const int plane = plane_of_tasks(view_, context_.threads());
        const std::vector<Step> schedule = make_schedule(view_, plane, view_);
        ForestSearch<T, Weight> search{
            {&view_, &view_, points_.dimension(), points_.frame.periodic, &schedule}, &forest_, {}, {}};
        std::transform(nodes.begin(), nodes.end(), search.nodes.begin(),
                       [](const Buffer<Node>& of_plane) { return of_plane.data(); });
        if constexpr (!Weight::is_distance) {
            if (cores_.empty()) {
                cores_ = node_attributes<T>(
                    context_, view_, [&](std::int32_t point) { return forest_.weigh.core[point]; },
                    [](T a, T b) { return std::min(a, b); });
            }
            std::transform(cores_.begin(), cores_.end(), search.cores.begin(),
                           [](const Buffer<T>& of_plane) { return of_plane.data(); });
        }
        parallel_each(view_.planes[plane].nodes, 1, [&](std::int64_t node) {
            Steps::search(search, node, scratch_.local());
            context_.done(0);
        });
    }

    /// Links the components through their best edges, or through those that are certain.
    void link(bool only_certain) {
        const UnionFind groups(component_.data());
        std::atomic<std::int64_t> links{0};
        each_range([&](std::int64_t begin, std::int64_t end) {
            std::int64_t linked = 0;
            for (std::int64_t root = begin; root < end; ++root) {
                const std::int32_t point = best_[root];
                if (point < 0 || (only_certain && !is_certain(root))) {
                    continue;
                }
                const std::int32_t other = forest_.neighbor(point);
                const std::int32_t gone = groups.unite(static_cast<std::int32_t>(root), other);
                if (gone >= 0) {
                    record(gone - 1, point, other);
                    ++linked;
                }
            }
            links.fetch_add(linked, std::memory_order_relaxed);
            context_.done(linked);
        });
        components_ -= links.load();
    }

    void record(std::int64_t edge, std::int32_t point, std::int32_t other) {
        if constexpr (Weight::is_distance) {
            edges_.set(edge, points_.indices[point], points_.indices[other], distance_[point]);
        } else { // positions, until all edges are measured
            edges_.edges[edge] = {distance_[point], T(0), {point, other}};
        }
    }

    /// Every point points to its root again, and nothing is known of the new components.
    void flatten() {
        const UnionFind groups(component_.data());
        each_point([&](std::int64_t point) {
            groups.shorten(static_cast<std::int32_t>(point));
            if (best_[point] >= 0 || component_[point] == point) { // it was a root, or still is
                forget(point);
            }
        });
    }

    void mark_duplicates() {
        each_point([&](std::int64_t point) {
            bool is_equal = point > 0 && component_[point - 1] == component_[point];
            for (int axis = 0; is_equal && axis < points_.dimension(); ++axis) {
                is_equal = points_.axis(axis)[point - 1] == points_.axis(axis)[point];
            }
            if (is_equal) {
                next_[point] = is_duplicate;
            }
        });
    }

    Context& context_;
    const PointSet<T>& points_;
    const TreeView<T> view_;
    const Edges edges_;
    std::int64_t components_;
    Buffer<std::int32_t> rows_;
    Buffer<std::uint8_t> next_;
    Buffer<T> distance_;
    Buffer<std::int32_t> component_;
    Buffer<T> bound_;
    Buffer<T> unseen_;
    Buffer<std::int32_t> best_;
    const Forest<T, Weight> forest_;
    std::vector<Buffer<T>> cores_; ///< of nodes, once they are searched
    PerThread<ForestScratch<T>> scratch_;
};

/// The edges of a tree, in any order; runs the stages "neighbors" and "connect" of the context.
template <Coordinate T>
void span_tree(Context& context, const PlaneTree<T>& tree, const EdgeMemory<T>& edges) {
    if (tree.points.count < 2) {
        return;
    }
    std::optional<Boruvka<T>> boruvka;
    context.stage("neighbors", [&] {
        boruvka.emplace(context, tree, edges);
        boruvka->find_rows(tree);
    });
    context.stage("connect", [&] { boruvka->connect(); });
}

} // namespace kith::detail
