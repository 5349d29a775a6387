#include "distributed/edge_order.hpp"

#include "distributed/sorted_keys.hpp"
#include "distributed/tree_points.hpp"
#include "mst/clusters.hpp"
#include "mst/edges.hpp"
#include "support/allocation_errors.hpp"
#include "support/dimension.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// The places of the ends of this rank's edges.
class Places {
public:
    /// Collective.
    Places(Ranks& ranks, const SpanningTree& tree, const IntegersView& ids)
        : edges_(tree.edges64()), remote_(SpanningTreeAccess::part(tree).remote), points_(ranks, tree, ids) {
        if (are_numbers()) {
            return;
        }
        std::vector<std::int64_t> ascending;
        ranks.agreed([&] {
            for (std::int64_t row = 0; row < points_.count(); ++row) {
                ascending.push_back(points_.numbers[row]);
            }
        });
        of_rows_ = SortedKeys<std::int64_t>(ranks, ascending).positions();
        ask(ranks);
    }

    [[nodiscard]] bool are_numbers() const { return !points_.ids.are_given(); } ///< those that the edges have

    [[nodiscard]] std::vector<SpanningEdge64> of_edges() const {
        std::vector<SpanningEdge64> places(edges_.begin(), edges_.end());
        if (are_numbers()) {
            return places;
        }
        auto next = of_remote_.begin();
        auto remote = remote_.begin();
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool is_remote = remote != remote_.end() && remote->edge == static_cast<std::int64_t>(i);
            places[i] = {is_remote ? *next++ : place_of(edges_[i].smaller), place_of(edges_[i].larger)};
            remote += is_remote ? 1 : 0;
        }
        return places;
    }

private:
    [[nodiscard]] std::int64_t place_of(std::int64_t number) const { return of_rows_[points_.row_of(number)]; }

    /// Asks other ranks for the places of their points.
    void ask(Ranks& ranks) {
        std::vector<std::vector<std::int64_t>> of_ranks(ranks.size()); // numbers, then places
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            for (const auto& [edge, rank] : remote_) {
                of_ranks[rank].push_back(edges_[edge].smaller);
            }
            messages = messages_to(
                of_ranks, [](MessageWriter& writer, std::span<const std::int64_t> numbers) { writer.put(numbers); });
        });
        const std::vector<RankMessage> asked = ranks.exchange(std::move(messages));
        std::vector<RankMessage> answers;
        ranks.agreed([&] {
            for (const RankMessage& message : asked) {
                MessageWriter writer(answers.emplace_back(RankMessage{message.rank, {}}).bytes);
                for (const std::int64_t number : values_of<std::int64_t>(message)) {
                    writer.put_value(place_of(number));
                }
            }
        });
        const std::vector<RankMessage> answered = ranks.exchange(std::move(answers));
        ranks.agreed([&] {
            for (const RankMessage& message : answered) {
                of_ranks[message.rank] = values_of<std::int64_t>(message);
            }
            std::vector<std::size_t> next(of_ranks.size());
            for (const auto& [edge, rank] : remote_) {
                of_remote_.push_back(of_ranks[rank][next[rank]++]);
            }
        });
    }

    std::span<const SpanningEdge64> edges_;
    std::span<const TreePart::RemoteEnd> remote_;
    TreePoints points_;
    std::vector<std::int64_t> of_rows_;   ///< by ascending id; if there are ids
    std::vector<std::int64_t> of_remote_; ///< of the smaller ends of remote_
};

/// An edge in the order of all, and where it arrived.
template <Coordinate T>
struct ArrivedEdge {
    T squared;
    SpanningEdge64 places;
    std::int64_t from;

    friend bool operator<(const ArrivedEdge& a, const ArrivedEdge& b) noexcept {
        return std::tie(a.squared, a.places.smaller, a.places.larger) <
               std::tie(b.squared, b.places.smaller, b.places.larger);
    }
};

/// The order of edges as a number.
template <Coordinate T>
KeyNumber key_of(T squared, const SpanningEdge64& places, int place_bits) {
    using Bits =
        std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>; // ascend with numbers that are not < 0
    const int left = 128 - 8 * static_cast<int>(sizeof(T)) - place_bits;  // for the larger end
    const auto larger = static_cast<std::uint64_t>(places.larger);
    KeyNumber key = std::bit_cast<Bits>(squared);
    key = key << place_bits | static_cast<std::uint64_t>(places.smaller);
    return left >= place_bits ? key << place_bits | larger : key << left | larger >> (place_bits - left);
}

template <Coordinate T>
class EdgeExchange {
public:
    EdgeExchange(Ranks& ranks, Context& context, const SpanningTree& tree)
        : ranks_(ranks), context_(context), tree_(tree) {}

    EdgesInOrder run(const IntegersView& ids) {
        const Places places(ranks_, tree_, ids);
        has_numbers_ = !places.are_numbers();
        std::vector<SpanningEdge64> of_edges;
        WeighedKeys keys;
        const auto place_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(tree_.points())));
        ranks_.agreed([&] {
            of_edges = places.of_edges();
            std::vector<KeyNumber> ascending(of_edges.size());
            context_.run([&] {
                parallel_each(std::ssize(ascending), grain,
                              [&](std::int64_t i) { ascending[i] = key_of(squared()[i], of_edges[i], place_bits); });
            });
            keys = WeighedKeys(std::move(ascending), {});
        });
        constexpr double imbalance = 0.01;
        const std::vector<KeyNumber> cuts = cut_keys(ranks_, keys, imbalance);
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::int64_t begin = 0;
            for (int part = 0; part < ranks_.size(); ++part) {
                const std::int64_t end = part < std::ssize(cuts) ? keys.weight_below(cuts[part]) : std::ssize(of_edges);
                if (begin < end) {
                    put(MessageWriter(messages.emplace_back(RankMessage{part, {}}).bytes), of_edges, begin, end);
                }
                begin = end;
            }
        });
        keys = WeighedKeys(); // frees them
        of_edges = std::vector<SpanningEdge64>();
        std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        EdgesInOrder result;
        ranks_.agreed([&] { context_.stage("edges", [&] { take(std::move(received), result); }); });
        return result;
    }

private:
    [[nodiscard]] const T* squared() const {
        return static_cast<const T*>(SpanningTreeAccess::part(tree_).squared.get());
    }

    void put(MessageWriter writer, std::span<const SpanningEdge64> places, std::int64_t begin, std::int64_t end) const {
        const std::int64_t count = end - begin;
        writer.put_value(count);
        writer.put(places.subspan(begin, count));
        if (has_numbers_) {
            writer.put(tree_.edges64().subspan(begin, count));
        }
        writer.put(std::span(squared() + begin, count));
        writer.put(tree_.weights<T>().subspan(begin, count));
        writer.put(tree_.heights<T>().subspan(begin, count));
    }

    void take(std::vector<RankMessage> messages, EdgesInOrder& result) const {
        std::vector<SpanningEdge64> places;
        std::vector<SpanningEdge64> numbers;
        std::vector<T> squares;
        std::vector<T> weights;
        std::vector<T> heights;
        for (RankMessage& message : messages) {
            MessageReader reader(message.bytes);
            const auto count = reader.take<std::int64_t>();
            reader.take(count, places);
            if (has_numbers_) {
                reader.take(count, numbers);
            }
            reader.take(count, squares);
            reader.take(count, weights);
            reader.take(count, heights);
            message.bytes = std::vector<std::byte>(); // frees them
        }
        const std::int64_t count = std::ssize(places);
        Buffer<ArrivedEdge<T>> order(context_.memory_tracker(), count);
        parallel_each(count, grain, [&](std::int64_t i) { order[i] = {squares[i], places[i], i}; });
        parallel_sort(context_, order);
        result.tree = SpanningTreeAccess::without_edges(tree_);
        const auto memory = SpanningTreeAccess::part_memory<T>(result.tree, count);
        result.with_places.resize(has_numbers_ ? places.size() : 0);
        parallel_each(count, grain, [&](std::int64_t i) {
            const std::int64_t from = order[i].from;
            memory.ends[i] = has_numbers_ ? numbers[from] : places[from];
            memory.weights[i] = weights[from];
            memory.heights[i] = heights[from];
            if (has_numbers_) {
                result.with_places[i] = places[from];
            }
        });
    }

    Ranks& ranks_;
    Context& context_;
    const SpanningTree& tree_;
    bool has_numbers_ = false; ///< besides places
};

/// A block of edges at a time, of one rank after the other.
template <class Index>
std::vector<Merge64> merge_blocks(Ranks& ranks, Context& context, std::span<const SpanningEdge64> places,
                                  std::int64_t points) {
    constexpr std::int64_t block_size = 1 << 20;
    const std::vector<std::int64_t> counts = ranks.gather(std::ssize(places));
    std::vector<Merge64> merges;
    std::optional<Clusters<Index>> clusters; // on rank 0
    ranks.agreed([&] {
        with_allocation_errors("the merges", [&] { merges.reserve(places.size()); });
        if (ranks.rank() == 0) {
            context.run([&] { clusters.emplace(context, points); });
        }
    });
    std::int64_t merged = 0; // of all ranks
    const auto merge = [&](std::span<const SpanningEdge64> edges) {
        std::vector<Merge64> found;
        context.stage("merge", [&] {
            const auto count = std::ssize(edges);
            found.reserve(edges.size());
            context.expect(count);
            merge_edges(*clusters, edges, 0, count, points + merged, [&](const auto& made) {
                found.push_back({static_cast<std::int64_t>(made.left), static_cast<std::int64_t>(made.right),
                                 static_cast<std::int64_t>(made.count)});
            });
            context.done(count);
        });
        merged += std::ssize(edges);
        return found;
    };
    for (int owner = 0; owner < ranks.size(); ++owner) {
        for (std::int64_t begin = 0; begin < counts[owner]; begin += block_size) {
            std::vector<RankMessage> edges;
            ranks.agreed([&] {
                if (ranks.rank() == owner) {
                    MessageWriter(edges.emplace_back(RankMessage{0, {}}).bytes)
                        .put(places.subspan(begin, std::min(block_size, counts[owner] - begin)));
                }
            });
            const std::vector<RankMessage> arrived = ranks.exchange(std::move(edges));
            std::vector<RankMessage> answers;
            ranks.agreed([&] {
                for (const RankMessage& block : arrived) {
                    const std::vector<Merge64> found = merge(values_of<SpanningEdge64>(block));
                    MessageWriter(answers.emplace_back(RankMessage{owner, {}}).bytes)
                        .put(std::span<const Merge64>(found));
                }
            });
            const std::vector<RankMessage> answered = ranks.exchange(std::move(answers));
            ranks.agreed([&] {
                for (const RankMessage& block : answered) {
                    const std::vector<Merge64> found = values_of<Merge64>(block);
                    merges.insert(merges.end(), found.begin(), found.end());
                }
            });
        }
    }
    return merges;
}

} // namespace

EdgesInOrder edges_in_order_over_ranks(Ranks& ranks, Context& context, const SpanningTree& tree,
                                       const IntegersView& ids) {
    EdgesInOrder result;
    if (ranks.size() == 1) {
        const Places places(ranks, tree, ids);
        result.tree = tree;
        result.tree.stages.clear();
        ranks.agreed([&] { result.with_places = places.are_numbers() ? result.with_places : places.of_edges(); });
    } else {
        result =
            with_dtype(tree.dtype(), [&]<Coordinate T>(T) { return EdgeExchange<T>(ranks, context, tree).run(ids); });
    }
    result.tree.distribution.emplace(); // the edges have 64-bit ends
    SpanningTreeAccess::set_part(result.tree, {.is_in_order = true});
    return result;
}

std::vector<Merge64> merges_over_ranks(Ranks& ranks, Context& context, std::span<const SpanningEdge64> places,
                                       std::int64_t points) {
    return points <= std::numeric_limits<std::int32_t>::max()
               ? merge_blocks<std::int32_t>(ranks, context, places, points)
               : merge_blocks<std::int64_t>(ranks, context, places, points);
}

} // namespace kith::detail
