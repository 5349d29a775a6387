#include "distributed/edge_answers.hpp"

#include "distributed/differences.hpp"
#include "points/coordinates.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

namespace kith::detail {

namespace {

/// Walks down the tree for one request. Several may run at once.
template <class Metric>
class ForeignWalk {
public:
    using T = typename Metric::Scalar;

    ForeignWalk(const AskedPoints<Metric>& points, std::uint8_t* is_wanted)
        : points_(points), frame_(points.shared.points.frame), tree_(points.tree), is_wanted_(is_wanted) {}

    /// Marks what is within the bound that is left, and returns it.
    T walk(const EdgeRequest<T>& request) {
        box_ = request.box;
        bound_ = request.bound;
        component_ = request.component;
        core_ = request.core;
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
            const std::int64_t component = points_.of_nodes[level][node];
            if (component == no_component || component == component_) {
                continue;
            }
            const BoxDistances<T> distances(frame_, box_, corners_of(plane, node, frame_.dimension));
            if constexpr (Metric::has_cores) {
                lower(points_.largest_cores[level][node], distances.greatest);
            } else {
                lower(0, distances.greatest);
            }
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
            const std::int32_t row = tree_.points.indices[i];
            const std::int32_t component = points_.components.of_row[row];
            if (component < 0 || points_.components.names[component] == component_) {
                continue;
            }
            Corners<T> point{};
            for (int axis = 0; axis < frame_.dimension; ++axis) {
                point[axis] = point[max_dimension + axis] = tree_.points.axis(axis)[i];
            }
            const BoxDistances<T> distances(frame_, box_, point);
            lower(points_.metric.core(row), distances.greatest);
            if (marks_ && distances.least <= bound_) {
                std::atomic_ref(is_wanted_[i]).store(1, std::memory_order_relaxed);
            }
        }
    }

    /// There is an edge of up to this squared distance from any point of the box, to a point of up to this core
    /// distance.
    void lower(T core, T greatest) {
        bound_ = std::min(bound_, Metric::has_cores ? std::max({core_, core, greatest}) : greatest);
    }

    const AskedPoints<Metric>& points_;
    const Frame<T>& frame_;
    const TreeView<T>& tree_;
    std::uint8_t* is_wanted_;
    Corners<T> box_{};
    T bound_ = 0;
    T core_ = 0;
    std::int64_t component_ = EdgeRequest<T>::any;
    bool marks_ = false;
};

} // namespace

template <class Metric>
std::vector<RankMessage> answers_to_edge_requests(Context& context, const AskedPoints<Metric>& points, SentRows& sent,
                                                  std::vector<RankMessage> requests) {
    using T = typename Metric::Scalar;
    const SharedPoints<T>& shared = points.shared;
    const TreeView<T>& tree = points.tree;
    const auto& components = points.components;
    const Frame<T>& frame = shared.points.frame;
    std::vector<RankMessage> messages;
    if (requests.empty()) {
        return messages;
    }
    Buffer<std::uint8_t> is_wanted(context.memory_tracker(), tree.points.count);
    const Coordinates<T> given(shared.points.view);
    for (RankMessage& of_rank : requests) {
        MessageReader reader(of_rank.bytes);
        const std::vector<EdgeRequest<T>> asked = taken_edge_requests<T>(reader, frame.dimension, Metric::has_cores);
        std::vector<T> bounds(asked.size());
        std::memset(is_wanted.data(), 0, tree.points.count);
        parallel_for(0, std::ssize(asked), 16, [&](std::int64_t begin, std::int64_t end) {
            ForeignWalk<Metric> walk(points, is_wanted.data());
            for (std::int64_t i = begin; i < end; ++i) {
                bounds[i] = walk.walk(asked[i]);
            }
        });
        std::vector<std::int32_t> within;
        for (std::int32_t i = 0; i < tree.points.count; ++i) {
            if (is_wanted[i] != 0) {
                within.push_back(tree.points.indices[i]);
            }
        }
        std::ranges::sort(within);
        std::vector<std::int32_t> wanted;
        std::ranges::set_difference(within, sent[of_rank.rank], std::back_inserter(wanted));
        std::vector<std::int32_t> now;
        std::ranges::set_union(within, sent[of_rank.rank], std::back_inserter(now));
        sent[of_rank.rank] = std::move(now);
        MessageWriter writer(messages.emplace_back(RankMessage{of_rank.rank, {}}).bytes);
        put_answered_bounds<T>(writer, asked, bounds);
        put_number(writer, std::ssize(wanted));
        DifferenceWriter numbers(writer);
        for (const std::int32_t row : wanted) {
            numbers.put(shared.numbers[row]);
        }
        DifferenceWriter names_of_points(writer);
        for (const std::int32_t row : wanted) {
            names_of_points.put(components.names[components.of_row[row]]);
        }
        for (const std::int32_t row : wanted) {
            for (int axis = 0; axis < frame.dimension; ++axis) {
                writer.put_value(given(row, axis));
            }
        }
        for (std::size_t i = 0; Metric::has_cores && i < wanted.size(); ++i) {
            writer.put_value(points.metric.core(wanted[i]));
        }
        of_rank.bytes = std::vector<std::byte>(); // frees them
    }
    return messages;
}

template <class Metric>
void take_edge_answer(const RankMessage& message, int dimension, EdgeRequests<Metric>& requests,
                      EdgePoints<typename Metric::Scalar>& points) {
    MessageReader reader(message.bytes);
    requests.take_bounds(message.rank, reader);
    const auto count = take_number(reader);
    take_differences(reader, count, 0, points.numbers);
    take_differences(reader, count, 0, points.components);
    reader.take(count * dimension, points.rows);
    if (Metric::has_cores) {
        reader.take(count, points.cores);
    }
    points.ranks.resize(points.numbers.size(), message.rank);
}

template std::vector<RankMessage> answers_to_edge_requests(Context&, const AskedPoints<PlainDistance<float>>&,
                                                           SentRows&, std::vector<RankMessage>);
template void take_edge_answer(const RankMessage&, int, EdgeRequests<PlainDistance<float>>&, EdgePoints<float>&);
template std::vector<RankMessage> answers_to_edge_requests(Context&, const AskedPoints<PlainDistance<double>>&,
                                                           SentRows&, std::vector<RankMessage>);
template void take_edge_answer(const RankMessage&, int, EdgeRequests<PlainDistance<double>>&, EdgePoints<double>&);
template std::vector<RankMessage> answers_to_edge_requests(Context&, const AskedPoints<MutualReachability<float>>&,
                                                           SentRows&, std::vector<RankMessage>);
template void take_edge_answer(const RankMessage&, int, EdgeRequests<MutualReachability<float>>&, EdgePoints<float>&);
template std::vector<RankMessage> answers_to_edge_requests(Context&, const AskedPoints<MutualReachability<double>>&,
                                                           SentRows&, std::vector<RankMessage>);
template void take_edge_answer(const RankMessage&, int, EdgeRequests<MutualReachability<double>>&, EdgePoints<double>&);

} // namespace kith::detail
