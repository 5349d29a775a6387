#include "distributed/returned_edges.hpp"

#include "mst/edges.hpp"
#include "support/message.hpp"
#include "support/parallel_sort.hpp"
#include "support/result_memory.hpp"

#include <cstring>
#include <span>
#include <tuple>
#include <vector>

namespace kith::detail {

namespace {

template <Coordinate T>
struct ReturnedEdge {
    T squared;
    T weight;
    T height;
    std::int32_t smaller_rank; ///< which passed the smaller end
    std::int64_t smaller;
    std::int64_t larger;

    friend bool operator<(const ReturnedEdge& a, const ReturnedEdge& b) noexcept {
        return std::tie(a.squared, a.smaller, a.larger) < std::tie(b.squared, b.smaller, b.larger);
    }
};

/// The row, as it arrived, of a point that has moved to this rank.
template <Coordinate T>
std::int64_t arrived_row(const Rebalanced<T>& here, std::int64_t number) {
    const std::int64_t row = here.points.numbers.row_of(number);
    return here.ids->order().empty() ? row : here.ids->order()[row];
}

/// Collective. The ranks that passed the smaller ends of the edges that the part knows as remote.
template <Coordinate T>
std::vector<std::int32_t> passers_of_remote(Ranks& ranks, const Rebalanced<T>& here, const SpanningTree& tree) {
    const std::vector<TreePart::RemoteEnd>& remote = SpanningTreeAccess::part(tree).remote;
    std::vector<RankMessage> messages;
    ranks.agreed([&] {
        std::vector<std::vector<std::int64_t>> wanted(ranks.size());
        for (const auto& [edge, rank] : remote) {
            wanted[rank].push_back(tree.edges64()[edge].smaller);
        }
        messages = messages_to(
            wanted, [](MessageWriter& writer, std::span<const std::int64_t> numbers) { writer.put(numbers); });
    });
    const std::vector<RankMessage> asked = ranks.exchange(std::move(messages));
    std::vector<RankMessage> answers;
    ranks.agreed([&] {
        for (const RankMessage& message : asked) {
            MessageWriter writer(answers.emplace_back(RankMessage{message.rank, {}}).bytes);
            for (const std::int64_t number : values_of<std::int64_t>(message)) {
                writer.put_value(std::int32_t{here.moved.passer_of(arrived_row(here, number))});
            }
        }
    });
    const std::vector<RankMessage> answered = ranks.exchange(std::move(answers));
    std::vector<std::int32_t> passers;
    ranks.agreed([&] {
        std::vector<std::vector<std::int32_t>> of_ranks(ranks.size());
        for (const RankMessage& message : answered) {
            of_ranks[message.rank] = values_of<std::int32_t>(message);
        }
        std::vector<std::size_t> next(of_ranks.size());
        for (const auto& [edge, rank] : remote) {
            passers.push_back(of_ranks[rank][next[rank]++]);
        }
    });
    return passers;
}

} // namespace

template <Coordinate T>
void return_edges(Ranks& ranks, Context& context, const Rebalanced<T>& here, std::int64_t count, bool has_ids,
                  SpanningTree& result) {
    const std::vector<std::int32_t> passers = passers_of_remote(ranks, here, result);
    std::vector<std::int32_t> rows;
    std::vector<ReturnedEdge<T>> edges;
    ranks.agreed([&] {
        const TreePart& part = SpanningTreeAccess::part(result);
        const auto* const squared = static_cast<const T*>(part.squared.get());
        auto remote = part.remote.begin();
        for (std::int64_t i = 0; i < result.count(); ++i) {
            const auto [smaller, larger] = result.edges64()[i];
            const bool is_remote = remote != part.remote.end() && remote->edge == i;
            const std::int32_t passer =
                is_remote ? passers[remote - part.remote.begin()] : here.moved.passer_of(arrived_row(here, smaller));
            remote += is_remote ? 1 : 0;
            rows.push_back(static_cast<std::int32_t>(arrived_row(here, larger)));
            edges.push_back({squared[i], result.weights<T>()[i], result.heights<T>()[i], passer, smaller, larger});
        }
    });
    std::vector<std::byte> arrived;
    here.moved.bring_back_some(rows, std::as_bytes(std::span(edges)), sizeof(ReturnedEdge<T>),
                               [&](std::span<const std::int32_t>, std::span<const std::byte> bytes) {
                                   arrived.insert(arrived.end(), bytes.begin(), bytes.end());
                               });
    edges = std::vector<ReturnedEdge<T>>(); // frees them
    ranks.agreed([&] {
        const auto returned = std::ssize(arrived) / static_cast<std::int64_t>(sizeof(ReturnedEdge<T>));
        Buffer<ReturnedEdge<T>> sorted(context.memory_tracker(), returned);
        if (returned > 0) {
            std::memcpy(sorted.data(), arrived.data(), arrived.size());
        }
        arrived = std::vector<std::byte>(); // frees them
        context.run([&] { parallel_sort(context, sorted); });
        const auto memory = SpanningTreeAccess::part_memory<T>(result, returned);
        TreePart part{.points = count, .has_ids = has_ids};
        part.squared = allocate_result(returned * static_cast<std::int64_t>(sizeof(T)),
                                       [&] { return message("the ", returned, " edges of this rank"); });
        auto* const squared = static_cast<T*>(part.squared.get());
        for (std::int64_t i = 0; i < returned; ++i) {
            const ReturnedEdge<T>& edge = sorted[i];
            memory.ends[i] = {edge.smaller, edge.larger};
            memory.weights[i] = edge.weight;
            memory.heights[i] = edge.height;
            squared[i] = edge.squared;
            if (edge.smaller_rank != ranks.rank()) {
                part.remote.push_back({i, edge.smaller_rank});
            }
        }
        SpanningTreeAccess::set_part(result, std::move(part));
    });
}

template void return_edges<float>(Ranks&, Context&, const Rebalanced<float>&, std::int64_t, bool, SpanningTree&);
template void return_edges<double>(Ranks&, Context&, const Rebalanced<double>&, std::int64_t, bool, SpanningTree&);

} // namespace kith::detail
