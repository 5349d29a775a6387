#include "distributed/part_edges.hpp"

#include "distributed/unresolved.hpp"
#include "mst/edges.hpp"
#include "mst/height.hpp"
#include "neighbors/unresolved.hpp"
#include "points/coordinates.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/result_memory.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <unordered_map>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

} // namespace

template <Coordinate T>
void PartEdges<T>::finish(SpanningTree& result) {
    ranks_.agreed([&] {
        context_.stage("edges", [&] {
            Buffer<RankEdge<T>> others(context_.memory_tracker(), std::ssize(found_.joined));
            std::ranges::copy(found_.joined, others.data());
            found_.joined = std::vector<RankEdge<T>>(); // frees them
            parallel_sort(context_, others);
            std::copy_if(others.data(), others.data() + others.size(), std::back_inserter(remote_),
                         [&](const RankEdge<T>& edge) { return edge.smaller_rank != ranks_.rank(); });
            merge(others, result);
        });
    });
}

/// Both these and the own edges ascend.
template <Coordinate T>
void PartEdges<T>::merge(const Buffer<RankEdge<T>>& others, SpanningTree& result) const {
    const auto memory = SpanningTreeAccess::part_memory<T>(result, found_.joined_own + others.size());
    TreePart part{.points = shared_.points.view.count(), .has_ids = shared_.numbers.are_given()};
    part.squared = allocate_result(result.count() * static_cast<std::int64_t>(sizeof(T)),
                                   [&] { return message("the ", result.count(), " edges of this rank"); });
    auto* const squared = static_cast<T*>(part.squared.get());
    const Frame<T>& frame = shared_.points.frame;
    const Heights<T> height_of(frame);
    const PowerOfTwo<T> back(-frame.exponent);
    const auto numbered = [&](const RowEdge<T>& edge) {
        const auto [smaller, larger] = edge.ends;
        return RankEdge<T>{edge.length, shared_.numbers[smaller], shared_.numbers[larger], 0, 0};
    };
    const auto set = [&](std::int64_t position, const RankEdge<T>& edge) {
        memory.ends[position] = {edge.smaller, edge.larger};
        squared[position] = edge.length;
        memory.weights[position] = back(std::sqrt(edge.length));
        memory.heights[position] = height_of(edge.length);
    };
    const RowEdge<T>* const end_of_own = found_.own.data() + found_.joined_own;
    parallel_each(found_.joined_own, grain, [&](std::int64_t i) {
        const RankEdge<T> edge = numbered(found_.own[i]);
        set(i + (std::lower_bound(others.data(), others.data() + others.size(), edge) - others.data()), edge);
    });
    Buffer<std::int64_t> positions(context_.memory_tracker(), others.size());
    parallel_each(others.size(), grain, [&](std::int64_t i) {
        const auto* const next =
            std::lower_bound(found_.own.data(), end_of_own, others[i],
                             [&](const RowEdge<T>& edge, const RankEdge<T>& other) { return numbered(edge) < other; });
        positions[i] = i + (next - found_.own.data());
        set(positions[i], others[i]);
    });
    for (std::int64_t i = 0; i < others.size(); ++i) {
        if (others[i].smaller_rank != ranks_.rank()) {
            part.remote.push_back({positions[i], others[i].smaller_rank});
        }
    }
    SpanningTreeAccess::set_part(result, std::move(part));
}

template <Coordinate T>
void PartEdges<T>::count_unresolved(SpanningTree& result) {
    std::vector<std::vector<std::int64_t>> wanted(ranks_.size()); // numbers, by rank
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        for (const RankEdge<T>& edge : remote_) {
            wanted[edge.smaller_rank].push_back(edge.smaller);
        }
        for (std::vector<std::int64_t>& of_rank : wanted) {
            std::ranges::sort(of_rank);
            of_rank.erase(std::unique(of_rank.begin(), of_rank.end()), of_rank.end());
        }
        messages = messages_to(wanted, [](MessageWriter& writer, const std::vector<std::int64_t>& numbers) {
            writer.put(std::span<const std::int64_t>(numbers));
        });
    });
    const std::vector<RankMessage> asked = ranks_.exchange(std::move(messages));
    const int dimension = shared_.points.frame.dimension;
    std::vector<RankMessage> answers;
    ranks_.agreed([&] {
        const Coordinates<T> given(shared_.points.view);
        for (const RankMessage& message : asked) {
            MessageWriter writer(answers.emplace_back(RankMessage{message.rank, {}}).bytes);
            for (const std::int64_t number : values_of<std::int64_t>(message)) {
                for (int axis = 0; axis < dimension; ++axis) {
                    writer.put_value(given(shared_.numbers.row_of(number), axis));
                }
            }
        }
    });
    const std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
    UnresolvedRows found;
    ranks_.agreed([&] {
        std::vector<T> sources = packed<T>(shared_.points.view);
        std::unordered_map<std::int64_t, std::int64_t> row_of; // of other ranks' points
        for (const RankMessage& message : answered) {
            for (const std::int64_t number : wanted[message.rank]) {
                row_of.emplace(number, shared_.points.view.count() + std::ssize(row_of));
            }
            const std::vector<T> rows = values_of<T>(message);
            sources.insert(sources.end(), rows.begin(), rows.end());
        }
        const PointsView all(sources, dimension);
        UnresolvedCounter<T> counter(shared_.points.frame, all, all);
        const auto* const edges = static_cast<const SpanningEdge64*>(SpanningTreeAccess::ends(result));
        for (std::int64_t i = 0; i < result.count(); ++i) {
            const auto [smaller, larger] = edges[i];
            std::int64_t other = shared_.numbers.row_of(smaller);
            other = other >= 0 ? other : row_of.at(smaller);
            counter.take_numbered(larger, shared_.numbers.row_of(larger), &other, 1);
        }
        found = counter.rows();
    });
    const UnresolvedRows all = unresolved_of_all(ranks_, shared_, found);
    result.unresolved = {all.rows, all.farthest_point, all.axis, all.value, all.dtype};
}

template class PartEdges<float>;
template class PartEdges<double>;

} // namespace kith::detail
