#include "distributed/outgoing_edges.hpp"

#include "distributed/ghost_points.hpp"
#include "mst/boruvka.hpp"
#include "points/coordinates.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kith::detail {

template <Coordinate T>
OutgoingEdges<T>::OutgoingEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PlaneTree<T>& tree)
    : ranks_(ranks), context_(context), shared_(shared), view_(tree.view()), requests_(ranks, context, shared, view_) {}

template <Coordinate T>
std::vector<OpenEdge<T>> OutgoingEdges<T>::find(const OwnComponents<T>& components, bool is_first) {
    NodeComponents of_nodes;
    ranks_.agreed([&] { context_.stage("ask", [&] { of_nodes = components_of_nodes(context_, view_, components); }); });
    if (!is_first) {
        requests_.share_components(ranks_, of_nodes);
    }
    EdgePoints<T> points;
    fetch([&] { return requests_.make_probes(components, is_first); }, components, of_nodes, points);
    fetch([&] { return requests_.make(components, points); }, components, of_nodes, points);
    std::vector<OpenEdge<T>> edges;
    ranks_.agreed([&] { edges = edges_among(components, std::move(points)); });
    return edges;
}

/// Appends the answers to this rank's requests.
template <Coordinate T>
void OutgoingEdges<T>::fetch(const std::function<std::vector<RankMessage>()>& make_requests,
                             const OwnComponents<T>& components, const NodeComponents& of_nodes,
                             EdgePoints<T>& points) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] { context_.stage("ask", [&] { messages = make_requests(); }); });
    messages = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        context_.stage("select", [&] {
            messages = answers_to_edge_requests(context_, shared_, view_, components, of_nodes, std::move(messages));
        });
    });
    messages = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        for (RankMessage& message : messages) {
            take_edge_answer(message, shared_.points.frame.dimension, requests_, points);
            message.bytes = std::vector<std::byte>(); // frees them
        }
        requests_.raise_bounds();
    });
}

/// Points may come twice, to different requests.
template <Coordinate T>
std::vector<OpenEdge<T>> OutgoingEdges<T>::edges_among(const OwnComponents<T>& components, EdgePoints<T> ghosts) {
    std::vector<OpenEdge<T>> open;
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
