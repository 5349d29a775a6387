// Keys of all ranks in one order.
//
// The order is cut into as many parts of equal weight as there are ranks (key_cuts.hpp), and each rank gets one. Equal
// keys are in one part. Cost: O(n log n), every key sent once.
#pragma once

#include "distributed/key_cuts.hpp"
#include "distributed/ownership.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

template <class Key>
class SortedKeys {
public:
    /// A key of this rank's part, and where it came from.
    struct Entry {
        Key key;
        std::int32_t message; ///< of those that arrived
        std::int32_t rank;
        std::int64_t place; ///< within the message
    };

    /// Collective.
    SortedKeys(Ranks& ranks, const std::vector<Key>& keys) : ranks_(ranks) {
        ranks.agreed([&] { order_ = order_of<Key>(keys); });
        const std::vector<KeyNumber> cuts = cut(keys);
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            int last = -1;
            for (const std::int64_t i : order_) {
                const Key& key = keys[i];
                if (const int part = part_of(cuts, number_of(key)); part != last) {
                    messages.push_back({part, {}});
                    last = part;
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
        ranks_.agreed([&] { // parts ascend with ranks, as the sorted keys do
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
    /// Collective.
    [[nodiscard]] std::vector<KeyNumber> cut(const std::vector<Key>& keys) {
        WeighedKeys ascending;
        ranks_.agreed([&] {
            std::vector<KeyNumber> numbers;
            numbers.reserve(keys.size());
            for (const std::int64_t i : order_) {
                numbers.push_back(number_of(keys[i]));
            }
            ascending = WeighedKeys(std::move(numbers), {});
        });
        constexpr double imbalance = 0.01;
        return cut_keys(ranks_, ascending, imbalance);
    }

    Ranks& ranks_;
    std::vector<std::int64_t> order_; ///< of the keys of this rank
    std::vector<Entry> entries_;
    std::vector<std::pair<int, std::size_t>> senders_; ///< by message: rank and number of keys
};

} // namespace kith::detail
