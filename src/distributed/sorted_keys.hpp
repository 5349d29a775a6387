// Keys of all ranks in one order: a sample sort.
//
// Each rank sorts its keys and shows a sample of them, in proportion to their weight; the samples are split into as
// many equal parts as there are ranks, and each part gives a bucket its first key. Ranks send each other what belongs
// in their buckets. Equal keys share a bucket. Cost: O(n log n), every key sent once. Source: Frazer, McKellar (1970),
// J. ACM 17, 496.
#pragma once

#include "distributed/ownership.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// Collective. The first keys of the buckets of ranks 1, 2, ..., which hold about the same weight of all keys.
/// weight_of(i) is that of key i, more than 0; the sum over all ranks is finite.
template <class Key, class WeightOf>
std::vector<Key> split_keys(Ranks& ranks, const std::vector<Key>& keys, const std::vector<std::int64_t>& order,
                            const WeightOf& weight_of) {
    constexpr int samples_per_rank = 64; // buckets differ by some 10 %
    double mine = 0;
    for (std::int64_t i = 0; i < std::ssize(keys); ++i) {
        mine += weight_of(i);
    }
    double total = 0;
    for (const double of_rank : ranks.gather(mine)) { // added alike on all ranks
        total += of_rank;
    }
    std::vector<Key> sample;
    ranks.agreed([&] {
        const double step = total / (static_cast<double>(samples_per_rank) * ranks.size());
        double next = step / 2;
        double passed = 0;
        for (const std::int64_t i : order) {
            passed += weight_of(i);
            for (; next < passed; next += step) { // several times if it outweighs several samples
                sample.push_back(keys[i]);
            }
        }
    });
    std::vector<Key> samples = ranks.gather_lists<Key>(sample).values;
    std::vector<Key> splitters;
    ranks.agreed([&] {
        std::ranges::sort(samples);
        for (std::size_t rank = 1; !samples.empty() && rank < static_cast<std::size_t>(ranks.size()); ++rank) {
            splitters.push_back(samples[samples.size() * rank / static_cast<std::size_t>(ranks.size())]);
        }
    });
    return splitters;
}

/// The bucket of a key, the same for equal keys.
template <class Key>
int bucket_of(const std::vector<Key>& splitters, const Key& key) {
    return static_cast<int>(std::ranges::upper_bound(splitters, key) - splitters.begin());
}

template <class Key>
class SortedKeys {
public:
    /// A key of this rank's bucket, and where it came from.
    struct Entry {
        Key key;
        std::int32_t message; ///< of those that arrived
        std::int32_t rank;
        std::int64_t place; ///< within the message
    };

    /// Collective.
    SortedKeys(Ranks& ranks, const std::vector<Key>& keys) : ranks_(ranks) {
        ranks.agreed([&] { order_ = order_of<Key>(keys); });
        const std::vector<Key> splitters = split_keys(ranks, keys, order_, [](std::int64_t) { return 1.0; });
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            int last = -1;
            for (const std::int64_t i : order_) {
                const Key& key = keys[i];
                if (const int bucket = bucket_of(splitters, key); bucket != last) {
                    messages.push_back({bucket, {}});
                    last = bucket;
                }
                MessageWriter(messages.back().bytes).put_value(key);
            }
        });
        const std::vector<RankMessage> received = ranks.exchange(std::move(messages));
        ranks.agreed([&] {
            for (const RankMessage& message : received) {
                const auto of_rank = values_of<Key>(message);
                for (std::size_t i = 0; i < of_rank.size(); ++i) {
                    entries_.push_back({of_rank[i], static_cast<std::int32_t>(senders_.size()), message.rank,
                                        static_cast<std::int64_t>(i)});
                }
                senders_.emplace_back(message.rank, of_rank.size());
            }
            std::ranges::sort(entries_, {}, [](const Entry& entry) { return std::pair(entry.key, entry.rank); });
        });
    }

    /// This rank's part of the order.
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

    /// Collective. Where each key that this rank passed is in the order of all.
    [[nodiscard]] std::vector<std::int64_t> positions() {
        const std::int64_t first = Ownership(ranks_, std::ssize(entries_)).first();
        std::vector<RankMessage> answers;
        ranks_.agreed([&] {
            std::vector<std::vector<std::int64_t>> lists;
            for (const auto& [rank, count] : senders_) {
                lists.emplace_back(count);
            }
            for (std::size_t i = 0; i < entries_.size(); ++i) {
                const Entry& entry = entries_[i];
                lists[entry.message][entry.place] = first + static_cast<std::int64_t>(i);
            }
            for (std::size_t i = 0; i < lists.size(); ++i) {
                MessageWriter(answers.emplace_back(RankMessage{senders_[i].first, {}}).bytes)
                    .put(std::span<const std::int64_t>(lists[i]));
            }
        });
        const std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
        std::vector<std::int64_t> positions(order_.size());
        ranks_.agreed([&] { // buckets ascend with ranks, as the sorted keys do
            std::size_t next = 0;
            for (const RankMessage& message : answered) {
                for (const std::int64_t position : values_of<std::int64_t>(message)) {
                    positions[order_[next++]] = position;
                }
            }
        });
        return positions;
    }

private:
    Ranks& ranks_;
    std::vector<std::int64_t> order_; ///< of the keys of this rank
    std::vector<Entry> entries_;
    std::vector<std::pair<int, std::size_t>> senders_; ///< by message: rank and number of keys
};

} // namespace kith::detail
