#include "distributed/outgoing_edges.hpp"

#include "distributed/differences.hpp"
#include "distributed/ghost_points.hpp"
#include "mst/boruvka.hpp"
#include "points/coordinates.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// In the first round: which points ask, and how far, in units of the least known edges out of their components, squared.
/// They save rounds; between 1 and 6, volume changes by a fifth.
template <Coordinate T>
constexpr T first_asking = 4;
template <Coordinate T>
constexpr T first_reach = 1.25;
/// Components of a leaf ask together if their least edges differ by no more than this factor, squared.
template <Coordinate T>
constexpr T alike = 16;
/// A leaf that is nearer to other ranks than twice its own diagonal has bounds for each point.
template <Coordinate T>
constexpr T near_diagonals = 4;

template <Coordinate T>
T number_after(T number) {
    return std::nextafter(number, std::numeric_limits<T>::infinity());
}

} // namespace

/// Walks down the tree for one request. Several may run at once.
template <Coordinate T>
class OutgoingEdges<T>::Walk {
public:
    Walk(const Frame<T>& frame, const TreeView<T>& tree, const OwnComponents<T>& components,
         const std::vector<Buffer<std::int64_t>>& of_nodes, std::uint8_t* is_wanted)
        : frame_(frame), tree_(tree), components_(components), of_nodes_(of_nodes), is_wanted_(is_wanted) {}

    /// Marks what is within the bound that is left, and returns it.
    T walk(const Corners<T>& box, T bound, std::int64_t component) {
        box_ = box;
        bound_ = bound;
        component_ = component;
        if (tree_.top >= 0) {
            for (const bool marks : {false, true}) {
                marks_ = marks;
                visit(tree_.top, 0, tree_.planes[tree_.top].nodes);
            }
        }
        return bound_;
    }

private:
    void visit(int level, std::int32_t begin, std::int32_t end) {
        const PlaneView<T>& plane = tree_.planes[level];
        std::vector<std::pair<T, std::int32_t>> near;
        for (std::int32_t node = begin; node < end; ++node) {
            const std::int64_t component = of_nodes_[level][node];
            if (component == nothing || component == component_) {
                continue;
            }
            const BoxDistances<T> distances(frame_, box_, corners_of(plane, node, frame_.dimension));
            bound_ = std::min(bound_, distances.greatest);
            if (distances.least <= bound_) {
                near.emplace_back(distances.least, node);
            }
        }
        std::ranges::sort(near);
        for (const auto& [least, node] : near) {
            if (least > bound_) {
                return;
            }
            if (level > 0) {
                visit(level - 1, plane.first_child[node], plane.first_child[node + 1]);
            } else {
                visit_points(plane.first_point[node], plane.first_point[node + 1]);
            }
        }
    }

    void visit_points(std::int32_t begin, std::int32_t end) {
        for (std::int32_t i = begin; i < end; ++i) {
            const std::int32_t component = components_.of_row[tree_.points.indices[i]];
            if (component < 0 || components_.names[component] == component_) {
                continue;
            }
            Corners<T> point{};
            for (int axis = 0; axis < frame_.dimension; ++axis) {
                point[axis] = point[max_dimension + axis] = tree_.points.axis(axis)[i];
            }
            const BoxDistances<T> distances(frame_, box_, point);
            bound_ = std::min(bound_, distances.greatest);
            if (marks_ && distances.least <= bound_) {
                std::atomic_ref(is_wanted_[i]).store(1, std::memory_order_relaxed);
            }
        }
    }

    const Frame<T>& frame_;
    const TreeView<T>& tree_;
    const OwnComponents<T>& components_;
    const std::vector<Buffer<std::int64_t>>& of_nodes_;
    std::uint8_t* is_wanted_;
    Corners<T> box_{};
    T bound_ = 0;
    std::int64_t component_ = any;
    bool marks_ = false;
};

template <Coordinate T>
OutgoingEdges<T>::OutgoingEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PlaneTree<T>& tree)
    : ranks_(ranks), context_(context), shared_(shared), view_(tree.view()),
      tops_(ranks, view_, shared.points.frame.dimension) {
    ranks.agreed([&] {
        bounds_ = Buffer<T>(context.memory_tracker(), tree.points.count);
        context.stage("ask", [&] { find_bounds(); });
    });
}

template <Coordinate T>
Corners<T> OutgoingEdges<T>::corners_at(std::int64_t position) const {
    Corners<T> point{};
    for (int axis = 0; axis < frame().dimension; ++axis) {
        point[axis] = point[max_dimension + axis] = view_.points.axis(axis)[position];
    }
    return point;
}

template <Coordinate T>
void OutgoingEdges<T>::find_bounds() {
    if (view_.top < 0) {
        return;
    }
    const PlaneView<T>& leaves = view_.planes[0];
    const auto least = [&](const Corners<T>& a, const Corners<T>& b) { return BoxDistances<T>(frame(), a, b).least; };
    const auto each_near = [&](const Corners<T>& box, T& reach, const auto& body) {
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || tops_.first(rank) == tops_.first(rank + 1) ||
                !(least(box, tops_.of_ranks[rank]) < reach)) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (const T distance = least(box, tops_.nodes[i].box); distance < reach) {
                    body(i, distance);
                }
            }
        }
    };
    parallel_for(0, leaves.nodes, 64, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> near;
        for (std::int64_t leaf = begin; leaf < end; ++leaf) {
            const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
            T nearest = std::numeric_limits<T>::infinity();
            std::int64_t at = -1;
            each_near(box, nearest, [&](std::int64_t i, T distance) {
                nearest = distance;
                at = i;
            });
            // The bounds of points differ where the leaf is near other ranks; elsewhere that of the leaf suffices.
            const bool is_near = at >= 0 && nearest <= near_diagonals<T> * BoxDistances<T>(frame(), box, box).greatest;
            T reach = 0;
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                bound = is_near ? least(corners_at(i), tops_.nodes[at].box) : nearest;
                reach = std::max(reach, bound);
            }
            if (!is_near) {
                continue;
            }
            near.clear();
            each_near(box, reach, [&](std::int64_t i, T) { near.push_back(i); });
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                const Corners<T> point = corners_at(i);
                for (const std::int64_t node : near) {
                    bound = std::min(bound, least(point, tops_.nodes[node].box));
                }
            }
        }
    });
}

template <Coordinate T>
std::vector<OpenEdge<T>> OutgoingEdges<T>::find(const OwnComponents<T>& components, bool is_first) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        context_.stage("ask", [&] { make_requests(components, is_first); });
        messages = messages_to(requests_to_, [&](MessageWriter& writer, const std::vector<std::int32_t>& list) {
            writer.put_value(std::ssize(list));
            for (const std::int32_t i : list) {
                put_corners(writer, requests_[i].box, frame().dimension);
                writer.put_value(requests_[i].bound);
            }
            DifferenceWriter names(writer);
            for (const std::int32_t i : list) {
                names.put(requests_[i].component);
            }
        });
    });
    std::vector<RankMessage> asked = ranks_.exchange(std::move(messages));
    std::vector<RankMessage> answers;
    ranks_.agreed([&] { context_.stage("select", [&] { answers = answers_to(std::move(asked), components); }); });
    std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
    std::vector<OpenEdge<T>> edges;
    ranks_.agreed([&] { edges = edges_among(components, take_answers(std::move(answered))); });
    return edges;
}

template <Coordinate T>
void OutgoingEdges<T>::make_requests(const OwnComponents<T>& components, bool is_first) {
    requests_.clear();
    requesting_.clear();
    if (view_.top >= 0) {
        for (std::int64_t leaf = 0; leaf < view_.planes[0].nodes; ++leaf) {
            request(components, leaf, is_first);
        }
        keep_nearest_requests();
        add_probes(components);
    }
    address_requests();
}

template <Coordinate T>
void OutgoingEdges<T>::request(const OwnComponents<T>& components, std::int64_t leaf, bool is_first) {
    const PlaneView<T>& leaves = view_.planes[0];
    std::vector<std::pair<std::int32_t, std::int32_t>> asking; // component, position
    T least = std::numeric_limits<T>::infinity();
    T greatest = 0;
    for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
        const std::int32_t row = view_.points.indices[i];
        const std::int32_t component = components.of_row[row];
        if (component < 0 || !(components.nearest[component] < std::numeric_limits<T>::infinity())) {
            continue;
        }
        const T nearest = components.nearest[component];
        if (bounds_[row] <= (is_first ? first_asking<T> : T(1)) * nearest) {
            asking.emplace_back(component, i);
            least = std::min(least, nearest);
            greatest = std::max(greatest, nearest);
        }
    }
    std::ranges::sort(asking);
    const bool are_several = !asking.empty() && asking.front().first != asking.back().first;
    const bool is_joint = is_first && are_several && greatest <= alike<T> * least;
    for (std::size_t i = 0; i < asking.size();) {
        const std::int32_t component = asking[i].first;
        const auto first_row = std::ssize(requesting_);
        for (; i < asking.size() && (is_joint || asking[i].first == component); ++i) {
            requesting_.push_back(asking[i].second);
        }
        is_joint ? add_request(first_row, first_reach<T> * greatest, any)
                 : add_request(first_row, components.nearest[component], components.names[component]);
    }
}

/// The least edge of a component may be much shorter than the one that is known. So of the requests of a component those
/// with the nearest points come first, and more of them from round to round.
template <Coordinate T>
void OutgoingEdges<T>::keep_nearest_requests() {
    std::vector<std::tuple<std::int64_t, T, std::int64_t>> order; // component, least bound, request
    for (std::int64_t i = 0; i < std::ssize(requests_); ++i) {
        T bound = std::numeric_limits<T>::infinity();
        for (std::int64_t j = requests_[i].first_row; j < requests_[i].end_row; ++j) {
            bound = std::min(bound, bounds_[view_.points.indices[requesting_[j]]]);
        }
        order.emplace_back(requests_[i].component, bound, i);
    }
    std::ranges::sort(order);
    std::vector<Request> kept;
    std::vector<std::int32_t> requesting;
    std::int64_t of_component = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& [component, bound, request] = order[i];
        of_component = i > 0 && component == std::get<0>(order[i - 1]) ? of_component + 1 : 0;
        if (component == any || of_component < most_requests_) {
            Request& last = kept.emplace_back(requests_[request]);
            const auto first_row = std::ssize(requesting);
            requesting.insert(requesting.end(), requesting_.begin() + last.first_row,
                              requesting_.begin() + last.end_row);
            last.first_row = first_row;
            last.end_row = std::ssize(requesting);
        }
    }
    requests_ = std::move(kept);
    requesting_ = std::move(requesting);
    most_requests_ = std::min(8 * most_requests_, std::int64_t{1} << 40);
}

/// Components without a known edge: of each other rank's box, the nearest leaf asks with one point.
template <Coordinate T>
void OutgoingEdges<T>::add_probes(const OwnComponents<T>& components) {
    const PlaneView<T>& leaves = view_.planes[0];
    for (std::int32_t component = 0; component < std::ssize(components.names); ++component) {
        if (components.nearest[component] < std::numeric_limits<T>::infinity()) {
            continue;
        }
        std::vector<std::int32_t> positions(tops_.ranks, -1); // by rank
        std::vector<T> distances(tops_.ranks, std::numeric_limits<T>::infinity());
        for (std::int64_t leaf = 0; leaf < leaves.nodes; ++leaf) {
            std::int32_t i = leaves.first_point[leaf];
            while (i < leaves.first_point[leaf + 1] && components.of_row[view_.points.indices[i]] != component) {
                ++i;
            }
            if (i == leaves.first_point[leaf + 1]) {
                continue;
            }
            const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
            for (int rank = 0; rank < tops_.ranks; ++rank) {
                const T distance = BoxDistances<T>(frame(), box, tops_.of_ranks[rank]).least;
                if (positions[rank] < 0 || distance < distances[rank]) {
                    positions[rank] = i;
                    distances[rank] = distance;
                }
            }
        }
        std::ranges::sort(positions);
        positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
        for (const std::int32_t position : positions) {
            requesting_.push_back(position);
            add_request(std::ssize(requesting_) - 1, std::numeric_limits<T>::infinity(), components.names[component]);
        }
    }
}

/// Of the requesting points from `first_row` on.
template <Coordinate T>
void OutgoingEdges<T>::add_request(std::int64_t first_row, T bound, std::int64_t component) {
    const Corners<T> box = joined_box<T>(requesting_.begin() + first_row, requesting_.end(),
                                         [this](std::int32_t position) { return corners_at(position); });
    requests_.push_back({box, bound, component, first_row, std::ssize(requesting_)});
}

template <Coordinate T>
void OutgoingEdges<T>::address_requests() {
    requests_to_.assign(tops_.ranks, {});
    for (std::size_t r = 0; r < requests_.size(); ++r) {
        const Request& request = requests_[r];
        const auto is_near = [&](const Corners<T>& box) {
            return BoxDistances<T>(frame(), request.box, box).least <= request.bound;
        };
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || tops_.first(rank) == tops_.first(rank + 1) ||
                !is_near(tops_.of_ranks[rank])) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (is_near(tops_.nodes[i].box)) {
                    requests_to_[rank].push_back(static_cast<std::int32_t>(r));
                    break;
                }
            }
        }
    }
}

template <Coordinate T>
std::vector<RankMessage> OutgoingEdges<T>::answers_to(std::vector<RankMessage> requests,
                                                      const OwnComponents<T>& components) {
    std::vector<RankMessage> messages;
    if (requests.empty()) {
        return messages;
    }
    const std::vector<Buffer<std::int64_t>> of_nodes = node_attributes<std::int64_t>(
        context_, view_,
        [&](std::int32_t i) {
            const std::int32_t component = components.of_row[view_.points.indices[i]];
            return component < 0 ? nothing : components.names[component];
        },
        [](std::int64_t a, std::int64_t b) { return a == nothing || a == b ? b
                                                    : b == nothing         ? a
                                                                           : several; });
    Buffer<std::uint8_t> is_wanted(context_.memory_tracker(), view_.points.count);
    const Coordinates<T> given(shared_.points.view);
    for (RankMessage& of_rank : requests) {
        MessageReader reader(of_rank.bytes);
        const auto count = reader.take<std::int64_t>();
        std::vector<Request> asked(static_cast<std::size_t>(count));
        for (Request& request : asked) {
            request.box = take_corners<T>(reader, frame().dimension);
            request.bound = reader.take<T>();
        }
        std::vector<std::int64_t> names;
        take_differences(reader, count, 0, names);
        std::memset(is_wanted.data(), 0, view_.points.count);
        parallel_for(0, count, 16, [&](std::int64_t begin, std::int64_t end) {
            Walk walk(frame(), view_, components, of_nodes, is_wanted.data());
            for (std::int64_t i = begin; i < end; ++i) {
                asked[i].bound = walk.walk(asked[i].box, asked[i].bound, names[i]);
            }
        });
        std::vector<std::int32_t> wanted;
        for (std::int32_t i = 0; i < view_.points.count; ++i) {
            if (is_wanted[i] != 0) {
                wanted.push_back(view_.points.indices[i]);
            }
        }
        std::ranges::sort(wanted);
        MessageWriter writer(messages.emplace_back(RankMessage{of_rank.rank, {}}).bytes);
        for (const Request& request : asked) {
            writer.put_value(request.bound);
        }
        writer.put_value(std::ssize(wanted));
        DifferenceWriter numbers(writer);
        for (const std::int32_t row : wanted) {
            numbers.put(shared_.numbers[row]);
        }
        DifferenceWriter names_of_points(writer);
        for (const std::int32_t row : wanted) {
            names_of_points.put(components.names[components.of_row[row]]);
        }
        for (const std::int32_t row : wanted) {
            for (int axis = 0; axis < frame().dimension; ++axis) {
                writer.put_value(given(row, axis));
            }
        }
        of_rank.bytes = std::vector<std::byte>(); // frees them
    }
    return messages;
}

template <Coordinate T>
typename OutgoingEdges<T>::Ghosts OutgoingEdges<T>::take_answers(std::vector<RankMessage> answers) {
    Ghosts ghosts;
    for (RankMessage& message : answers) {
        MessageReader reader(message.bytes);
        for (const std::int32_t i : requests_to_[message.rank]) {
            requests_[i].bound = std::min(requests_[i].bound, reader.take<T>());
        }
        const auto count = reader.take<std::int64_t>();
        take_differences(reader, count, 0, ghosts.numbers);
        take_differences(reader, count, 0, ghosts.components);
        reader.take(count * frame().dimension, ghosts.rows);
        ghosts.ranks.resize(ghosts.numbers.size(), message.rank);
        message.bytes = std::vector<std::byte>(); // frees them
    }
    for (const Request& request : requests_) {
        for (std::int64_t i = request.first_row; i < request.end_row; ++i) {
            T& bound = bounds_[view_.points.indices[requesting_[i]]];
            bound = std::max(bound, number_after(request.bound));
        }
    }
    return ghosts;
}

template <Coordinate T>
std::vector<OpenEdge<T>> OutgoingEdges<T>::edges_among(const OwnComponents<T>& components, Ghosts ghosts) {
    std::vector<OpenEdge<T>> open;
    if (ghosts.numbers.empty()) {
        return open;
    }
    const int dimension = frame().dimension;
    const Coordinates<T> given(shared_.points.view);
    require_countable(std::ssize(ghosts.numbers) + std::ssize(requesting_));
    for (const std::int32_t position : requesting_) {
        const std::int32_t row = view_.points.indices[position];
        ghosts.numbers.push_back(shared_.numbers[row]);
        ghosts.components.push_back(components.names[components.of_row[row]]);
        ghosts.ranks.push_back(ranks_.rank());
        for (int axis = 0; axis < dimension; ++axis) {
            ghosts.rows.push_back(given(row, axis));
        }
    }
    const std::vector<std::int64_t> order = order_of<std::int64_t>(ghosts.numbers);
    const std::vector<T> rows = rows_in_order<T>(ghosts.rows, dimension, order);
    ghosts.rows = std::vector<T>(); // frees them
    NormalizedPoints<T> points;
    context_.run([&] { points = normalized(frame(), PointsView(rows, dimension)); });
    const PlaneTree<T> tree = build_plane_tree<T>(context_, points, {});
    const std::int64_t count = std::ssize(order) - 1;
    Buffer<SpanningEdge> ends(context_.memory_tracker(), count);
    Buffer<T> squared(context_.memory_tracker(), count);
    Buffer<T> spare(context_.memory_tracker(), count + 1);
    span_tree(context_, tree, EdgeMemory<T>{ends.data(), squared.data(), spare.data(), count});
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t a = order[ends[i].smaller];
        const std::int64_t b = order[ends[i].larger];
        const bool crosses = (ghosts.ranks[a] == ranks_.rank()) != (ghosts.ranks[b] == ranks_.rank());
        if (crosses && ghosts.components[a] != ghosts.components[b]) {
            open.push_back({{squared[i], ghosts.numbers[a], ghosts.numbers[b], ghosts.ranks[a], ghosts.ranks[b]},
                            {ghosts.components[a], ghosts.components[b]}});
        }
    }
    return open;
}

template class OutgoingEdges<float>;
template class OutgoingEdges<double>;

} // namespace kith::detail
