// Which points of a rank ask the others for edges of mutual reachability distances out of their components, and the
// answers (reachability_tree.hpp).
//
// Each point has a limit: no unknown edge to a point of another rank and component comes before it. At first it follows
// from the distance to the boxes of the other ranks' top planes. A point whose limit does not come after the least
// known edge out of its component asks the ranks with boxes within that edge's weight. They answer with the point of
// another component that is nearest by mutual reachability distance, if it is within that edge, too; it is the new
// limit. Cost of an answer: close to O(log n).
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/reachability_edges.hpp"
#include "distributed/top_planes.hpp"
#include "mst/reachability_search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

/// Leaves out the points of the component that asks.
struct OtherComponents : AllPoints {
    const std::vector<Buffer<std::int64_t>>& of_nodes;
    const Buffer<std::int64_t>& of_points; ///< by position
    std::int64_t name;

    [[nodiscard]] bool skips_node(int level, std::int32_t node) const { return of_nodes[level][node] == name; }
    [[nodiscard]] bool skips(std::int32_t position) const { return of_points[position] == name; }
};

template <Coordinate T>
class ReachabilityRequests {
public:
    /// Collective. Of the points of the tree, which has no planes if there are none.
    ReachabilityRequests(Ranks& ranks, Context& context, const ReachablePoints<T>& points, const TreeView<T>& view)
        : ranks_(ranks), context_(context), points_(points), view_(view), tops_(ranks, view, frame().dimension) {
        ranks.agreed([&] { prepare(); });
    }

    /// Squared core distances by position.
    [[nodiscard]] const Buffer<T>& core() const { return core_; }
    /// By row: no unknown edge to a point of another rank and component comes before it.
    [[nodiscard]] const Buffer<ReachabilityEdge<T>>& limits() const { return limits_; }

    /// Collective. Appends the least edges of the points that ask in this round to points of other ranks and
    /// components, and raises their limits.
    void ask(const NamedComponents<T>& components, std::vector<NamedEdge<T>>& open) {
        std::vector<std::vector<std::int32_t>> asked(ranks_.size()); // positions, by rank
        std::vector<std::int32_t> asking;
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            context_.stage("ask", [&] {
                asking = choose(components);
                address(components, asking, asked);
            });
            messages = messages_to(asked, [&](MessageWriter& writer, const std::vector<std::int32_t>& positions) {
                for (const std::int32_t i : positions) {
                    put_request(writer, i, components);
                }
            });
        });
        const std::vector<RankMessage> requests = ranks_.exchange(std::move(messages));
        std::vector<RankMessage> answers;
        ranks_.agreed([&] { context_.stage("select", [&] { answers = answers_to(requests, components); }); });
        const std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
        ranks_.agreed([&] { take_answers(answered, asked, asking, components, open); });
    }

private:
    using Search = ReachabilitySearch<T>;
    struct Asking {
        std::int32_t component;
        ReachabilityEdge<T> limit;
        std::int32_t row;

        friend bool operator<(const Asking& a, const Asking& b) noexcept {
            return std::tie(a.component, a.limit, a.row) < std::tie(b.component, b.limit, b.row);
        }
    };
    /// To a point that asks: the place and the component of its neighbor, -1 if there is none within its bound.
    struct Answer {
        T weight;
        T squared;
        std::int64_t place;
        std::int64_t name;
    };

    static constexpr std::int64_t grain = 1 << 14;
    static constexpr std::int64_t several_components = -1; ///< of a node, in place of a name

    [[nodiscard]] const Frame<T>& frame() const { return points_.shared.points.frame; }
    [[nodiscard]] std::int64_t count() const { return std::ssize(points_.core); }
    [[nodiscard]] ReachabilityEdge<T> edge_between(T weight, T squared, std::int64_t a, std::int64_t b) const {
        return {weight, squared, std::min(a, b), std::max(a, b)};
    }

    /// Core distances and rows by position, and what bounds the edges of each point to other ranks.
    void prepare() {
        core_ = Buffer<T>(context_.memory_tracker(), count());
        names_ = Buffer<std::int64_t>(context_.memory_tracker(), count());
        limits_ = Buffer<ReachabilityEdge<T>>(context_.memory_tracker(), count());
        if (count() == 0) {
            return;
        }
        context_.stage("ask", [&] {
            parallel_each(count(), grain, [&](std::int64_t i) { core_[i] = points_.core[row_at(i)]; });
            search_.emplace(context_, view_, frame(), core_.data());
            find_limits();
        });
    }
    [[nodiscard]] std::int32_t row_at(std::int64_t position) const { return view_.points.indices[position]; }

    [[nodiscard]] Corners<T> corners_at(std::int64_t position) const {
        Corners<T> point{};
        for (int axis = 0; axis < frame().dimension; ++axis) {
            point[axis] = point[max_dimension + axis] = view_.points.axis(axis)[position];
        }
        return point;
    }

    /// Calls body(rank, least squared distance) for top nodes of other ranks, until it returns true for a node of the
    /// rank. Ranks beyond the reach, which the body may shorten, are left out.
    template <class Body>
    void each_near(const Corners<T>& box, const T& reach, const Body& body) const {
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || !(BoxDistances<T>(frame(), box, tops_.of_ranks[rank]).least <= reach)) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (body(rank, BoxDistances<T>(frame(), box, tops_.nodes[i].box).least)) {
                    break;
                }
            }
        }
    }

    void find_limits() {
        constexpr T near_diagonals = 4; // a leaf nearer to other ranks than twice its diagonal has bounds of its points
        const PlaneView<T>& leaves = view_.planes[0];
        const auto nearest = [&](const Corners<T>& box) {
            T least = std::numeric_limits<T>::infinity();
            each_near(box, least, [&](int, T squared) {
                least = std::min(least, squared);
                return false;
            });
            return least;
        };
        parallel_for(0, leaves.nodes, 16, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t leaf = begin; leaf < end; ++leaf) {
                const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
                const T of_leaf = nearest(box);
                const bool is_near = of_leaf <= near_diagonals * BoxDistances<T>(frame(), box, box).greatest;
                for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                    const T bound = is_near ? nearest(corners_at(i)) : of_leaf;
                    limits_[row_at(i)] = {std::max(core_[i], bound), bound, 0, 0};
                }
            }
        });
    }

    /// Positions of points that may have an edge before the least known one out of their components.
    std::vector<std::int32_t> choose(const NamedComponents<T>& components) {
        std::vector<Asking> may_ask;
        for (std::int32_t i = 0; i < count(); ++i) {
            const std::int32_t component = components.of_row[row_at(i)];
            const ReachabilityEdge<T>& limit = limits_[row_at(i)];
            if (!(components.nearest[component] < limit) && limit < after_all_edges<ReachabilityEdge<T>>) {
                may_ask.push_back({component, limit, i});
            }
        }
        std::ranges::sort(may_ask, std::less<>());
        std::vector<std::int32_t> chosen;
        std::int64_t of_component = 0;
        for (std::size_t i = 0; i < may_ask.size(); ++i) {
            of_component = i > 0 && may_ask[i].component == may_ask[i - 1].component ? of_component + 1 : 0;
            if (of_component < most_asking_) {
                chosen.push_back(may_ask[i].row);
            }
        }
        most_asking_ = std::min(8 * most_asking_, std::int64_t{1} << 40);
        return chosen;
    }

    /// The ranks with points that may be within the bound.
    void address(const NamedComponents<T>& components, const std::vector<std::int32_t>& asking,
                 std::vector<std::vector<std::int32_t>>& asked) const {
        for (const std::int32_t i : asking) {
            const ReachabilityEdge<T>& bound = components.nearest[components.of_row[row_at(i)]];
            each_near(corners_at(i), bound.weight, [&](int rank, T squared) {
                const bool is_near =
                    std::pair(std::max(core_[i], squared), squared) <= std::pair(bound.weight, bound.squared);
                if (is_near) {
                    asked[rank].push_back(i);
                }
                return is_near;
            });
        }
    }

    void put_request(MessageWriter& writer, std::int32_t position, const NamedComponents<T>& components) const {
        const std::int32_t component = components.of_row[row_at(position)];
        for (int axis = 0; axis < frame().dimension; ++axis) {
            writer.put_value(view_.points.axis(axis)[position]);
        }
        writer.put_value(core_[position]);
        writer.put_value(components.nearest[component].weight);
        writer.put_value(components.nearest[component].squared);
        writer.put_value(components.names[component]);
    }

    std::vector<RankMessage> answers_to(const std::vector<RankMessage>& requests,
                                        const NamedComponents<T>& components) {
        struct Request {
            typename Search::Position at{};
            T core = 0;
            ReachableNeighbor<T> bound;
            std::int64_t name = 0;
        };
        std::vector<RankMessage> answers;
        if (requests.empty()) {
            return answers;
        }
        parallel_each(count(), grain, [&](std::int64_t i) { names_[i] = components.name_of(row_at(i)); });
        const std::vector<Buffer<std::int64_t>> of_nodes = node_attributes<std::int64_t>(
            context_, view_, [&](std::int32_t i) { return names_[i]; },
            [](std::int64_t a, std::int64_t b) { return a == b ? a : several_components; });
        for (const RankMessage& message : requests) {
            std::vector<Request> asked;
            for (MessageReader reader(message.bytes); reader.bytes_left() > 0;) {
                Request& request = asked.emplace_back();
                for (int axis = 0; axis < frame().dimension; ++axis) {
                    request.at[axis] = reader.take<T>();
                }
                request.core = reader.take<T>();
                request.bound.reach = reader.take<T>();
                request.bound.squared = reader.take<T>();
                request.name = reader.take<std::int64_t>();
            }
            std::vector<Answer> found(asked.size());
            parallel_for(0, std::ssize(asked), 16, [&](std::int64_t begin, std::int64_t end) {
                std::vector<typename Search::Near> heap;
                for (std::int64_t i = begin; i < end; ++i) {
                    const Request& request = asked[i];
                    const OtherComponents others{{}, of_nodes, names_, request.name};
                    const ReachableNeighbor<T> nearest =
                        search_->nearest(request.at, request.core, request.bound, others, heap);
                    found[i] = nearest.exists() ? Answer{nearest.reach, nearest.squared, points_.places[nearest.index],
                                                         components.name_of(nearest.index)}
                                                : Answer{0, 0, -1, -1};
                }
            });
            MessageWriter(answers.emplace_back(RankMessage{message.rank, {}}).bytes)
                .put(std::span<const Answer>(found));
        }
        return answers;
    }

    void take_answers(const std::vector<RankMessage>& answered, const std::vector<std::vector<std::int32_t>>& asked,
                      const std::vector<std::int32_t>& asking, const NamedComponents<T>& components,
                      std::vector<NamedEdge<T>>& open) {
        std::unordered_map<std::int32_t, NamedEdge<T>> least; // by position
        for (const RankMessage& message : answered) {
            MessageReader reader(message.bytes);
            for (const std::int32_t i : asked[message.rank]) {
                const auto answer = reader.take<Answer>();
                if (answer.place < 0) {
                    continue;
                }
                const std::int32_t row = row_at(i);
                const NamedEdge<T> edge{edge_between(answer.weight, answer.squared, points_.places[row], answer.place),
                                        {components.name_of(row), answer.name}};
                const auto [entry, is_new] = least.try_emplace(i, edge);
                if (!is_new && edge.edge < entry->second.edge) {
                    entry->second = edge;
                }
            }
        }
        for (const std::int32_t i : asking) {
            const std::int32_t row = row_at(i);
            ReachabilityEdge<T> limit =
                components.nearest[components.of_row[row]]; // all other edges weigh more or are longer
            limit.smaller = limit.larger = std::numeric_limits<std::int64_t>::max();
            if (const auto found = least.find(i); found != least.end()) {
                open.push_back(found->second);
                limit = found->second.edge;
                ++limit.larger;
            }
            limits_[row] = std::max(limits_[row], limit);
        }
    }

    Ranks& ranks_;
    Context& context_;
    const ReachablePoints<T>& points_;
    const TreeView<T> view_;
    const TopPlanes<T> tops_;
    Buffer<T> core_;
    Buffer<std::int64_t> names_; ///< of components, by position
    Buffer<ReachabilityEdge<T>> limits_;
    std::optional<Search> search_;
    std::int64_t most_asking_ = 2; ///< points of a component in a round
};

} // namespace kith::detail
