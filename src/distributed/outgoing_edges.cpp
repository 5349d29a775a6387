#include "distributed/outgoing_edges.hpp"

#include "distributed/ghost_points.hpp"
#include "points/coordinates.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kith::detail {

template <class Metric>
OutgoingEdges<Metric>::OutgoingEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                     const Metric& metric, const PlaneTree<T>& tree)
    : ranks_(ranks), context_(context), shared_(shared), metric_(metric), view_(tree.view()),
      requests_(ranks, context, shared, metric, view_) {
    if constexpr (Metric::has_cores) {
        ranks.agreed([&] {
            context.stage("ask", [&] {
                largest_cores_ = node_attributes<T>(
                    context, view_, [&](std::int32_t i) { return metric.core(view_.points.indices[i]); },
                    [](T a, T b) { return std::max(a, b); });
            });
        });
    }
}

template <class Metric>
auto OutgoingEdges<Metric>::find(const Components& components, bool is_first) -> std::vector<OpenEdge<Length>> {
    Round round{components, {}, {}, {}};
    ranks_.agreed([&] {
        context_.stage("ask", [&] { round.of_nodes = components_of_nodes(context_, view_, components); });
        round.sent.resize(ranks_.size());
    });
    if (!is_first) {
        requests_.share_components(ranks_, round.of_nodes);
    }
    fetch([&] { return requests_.make_probes(components, is_first); }, round);
    fetch([&] { return requests_.make(components, round.points); }, round);
    std::vector<OpenEdge<Length>> edges;
    ranks_.agreed([&] { edges = edges_among(components, std::move(round.points)); });
    return edges;
}

/// Appends the answers to this rank's requests.
template <class Metric>
void OutgoingEdges<Metric>::fetch(const std::function<std::vector<RankMessage>()>& make_requests, Round& round) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] { context_.stage("ask", [&] { messages = make_requests(); }); });
    messages = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        context_.stage("select", [&] {
            const AskedPoints<Metric> asked{shared_, metric_, view_, largest_cores_, round.components, round.of_nodes};
            messages = answers_to_edge_requests(context_, asked, round.sent, std::move(messages));
        });
    });
    messages = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        for (RankMessage& message : messages) {
            take_edge_answer(message, shared_.points.frame.dimension, requests_, round.points);
            message.bytes = std::vector<std::byte>(); // frees them
        }
        requests_.raise_bounds();
    });
}

/// Requesting points may be listed twice, for different requests.
template <class Metric>
auto OutgoingEdges<Metric>::edges_among(const Components& components, EdgePoints<T> ghosts)
    -> std::vector<OpenEdge<Length>> {
    std::vector<OpenEdge<Length>> open;
    if (ghosts.numbers.empty()) {
        return open;
    }
    const int dimension = shared_.points.frame.dimension;
    const Coordinates<T> given(shared_.points.view);
    require_countable(std::ssize(ghosts.numbers) + std::ssize(requests_.requesting()));
    for (const std::int32_t position : requests_.requesting()) {
        const std::int32_t row = view_.points.indices[position];
        ghosts.numbers.push_back(shared_.numbers[row]);
        ghosts.components.push_back(components.names[components.of_row[row]]);
        ghosts.ranks.push_back(ranks_.rank());
        if (Metric::has_cores) {
            ghosts.cores.push_back(metric_.core(row));
        }
        for (int axis = 0; axis < dimension; ++axis) {
            ghosts.rows.push_back(given(row, axis));
        }
    }
    std::vector<std::int64_t> order = order_of<std::int64_t>(ghosts.numbers);
    order.erase(std::unique(order.begin(), order.end(),
                            [&](std::int64_t i, std::int64_t j) { return ghosts.numbers[i] == ghosts.numbers[j]; }),
                order.end());
    const std::vector<T> rows = rows_in_order<T>(ghosts.rows, dimension, order);
    ghosts.rows = std::vector<T>(); // frees them
    NormalizedPoints<T> points;
    context_.run([&] { points = normalized(shared_.points.frame, PointsView(rows, dimension)); });
    const PlaneTree<T> tree = build_plane_tree<T>(context_, points, {});
    const auto core_of = [&](std::int32_t index) { return ghosts.cores[order[index]]; };
    const Buffer<RowEdge<Length>> edges = Metric::span(context_, tree, core_of);
    for (const auto& [length, ends] : edges.span()) {
        const std::int64_t a = order[ends.smaller];
        const std::int64_t b = order[ends.larger];
        const bool crosses = (ghosts.ranks[a] == ranks_.rank()) != (ghosts.ranks[b] == ranks_.rank());
        if (crosses && ghosts.components[a] != ghosts.components[b]) {
            open.push_back({{length, ghosts.numbers[a], ghosts.numbers[b], ghosts.ranks[a], ghosts.ranks[b]},
                            {ghosts.components[a], ghosts.components[b]}});
        }
    }
    return open;
}

template class OutgoingEdges<PlainDistance<float>>;
template class OutgoingEdges<PlainDistance<double>>;
template class OutgoingEdges<MutualReachability<float>>;
template class OutgoingEdges<MutualReachability<double>>;

} // namespace kith::detail
