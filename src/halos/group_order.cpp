#include "halos/group_order.hpp"

#include <kith/error.hpp>

#include "halos/layout.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::detail::halos {

namespace {

constexpr int bucket_bits = 8;
constexpr std::int64_t max_buckets = std::int64_t{1} << bucket_bits;
constexpr int smallest_bucket_bits = 12; ///< a bucket spans at least 2^12 members
constexpr std::int64_t max_blocks = 256;
constexpr std::int64_t smallest_block = 1 << 15;

/// Which bucket a group falls into: groups start at increasing offsets, so the leading bits of the offset keep order.
class Buckets {
public:
    explicit Buckets(const Catalog& catalog) : catalog_(catalog) {
        const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(members_of(catalog))));
        shift_ = std::max(smallest_bucket_bits, bits - bucket_bits);
    }
    [[nodiscard]] std::int64_t of_group(std::int32_t group) const noexcept { return catalog_.offset[group] >> shift_; }
    [[nodiscard]] std::int64_t first_group(std::int64_t bucket) const noexcept {
        const auto& offset = catalog_.offset;
        return std::lower_bound(offset.begin(), offset.end(), bucket << shift_) - offset.begin();
    }
    /// Groups come by decreasing size: before one that spans a bucket, all do, so it has one of its own.
    [[nodiscard]] bool is_one_large_group(std::int64_t bucket) const noexcept {
        const std::int64_t group = first_group(bucket);
        return group < catalog_.groups && catalog_.offset[group] >> shift_ == bucket &&
               catalog_.count[group] >> shift_ > 0;
    }

private:
    const Catalog& catalog_;
    int shift_;
};

/// A stable counting sort of items by bucket. Blocks of items are counted in parallel, which gives each its positions.
template <class BucketOf>
class CountingSort {
public:
    /// bucket_of(i) is the bucket of item i, below 0 if it is left out.
    CountingSort(Context& context, std::int64_t items, std::int64_t buckets, const BucketOf& bucket_of)
        : items_(items), buckets_(buckets), bucket_of_(bucket_of),
          block_items_(std::max(smallest_block, (items + max_blocks - 1) / max_blocks)),
          blocks_(blocks_of(items, block_items_)), next_(context.memory_tracker(), blocks_ * buckets),
          start_(static_cast<std::size_t>(buckets) + 1) {
        std::fill_n(next_.data(), next_.size(), 0);
        each([](std::int64_t, std::int64_t& count) { ++count; });
        std::int64_t total = 0;
        for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
            start_[bucket] = total;
            for (std::int64_t block = 0; block < blocks_; ++block) {
                total += std::exchange(next_[block * buckets + bucket], total);
            }
        }
        start_[buckets] = total;
    }
    /// Of each bucket, and the end.
    [[nodiscard]] const std::vector<std::int64_t>& start() const noexcept { return start_; }

    /// Calls put(i, position) for every item with a bucket. Runs once.
    template <class Put>
    void put_items(const Put& put) {
        each([&](std::int64_t i, std::int64_t& position) { put(i, position++); });
    }

private:
    template <class Visit>
    void each(const Visit& visit) {
        parallel_blocks(items_, block_items_, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                if (const std::int64_t bucket = bucket_of_(i); bucket >= 0) {
                    visit(i, next_[block * buckets_ + bucket]);
                }
            }
        });
    }

    std::int64_t items_;
    std::int64_t buckets_;
    BucketOf bucket_of_;
    std::int64_t block_items_;
    std::int64_t blocks_;
    Buffer<std::int64_t> next_; // of each block and bucket: a count, then a position
    std::vector<std::int64_t> start_;
};

} // namespace

BucketedRows bucket_rows(Context& context, std::span<const std::int32_t> labels, const Catalog& catalog) {
    const Buckets buckets(catalog);
    CountingSort sort(context, std::ssize(labels), max_buckets, [&](std::int64_t row) {
        const std::int32_t label = labels[row];
        return label >= 0 && label < catalog.groups ? buckets.of_group(label) : -1;
    });
    BucketedRows bucketed{sort.start(), Buffer<std::int32_t>(context.memory_tracker(), sort.start().back())};
    sort.put_items(
        [&](std::int64_t row, std::int64_t position) { bucketed.rows[position] = static_cast<std::int32_t>(row); });
    return bucketed;
}

void order_members(Context& context, std::span<const std::int32_t> labels, std::span<const std::uint8_t> types,
                   const BucketedRows& bucketed, Catalog& catalog) {
    const Buckets buckets(catalog);
    std::vector<std::int32_t>& members = catalog.member_array.vector<std::int32_t>();
    const auto type_of = [&](std::int32_t row) { return types.empty() ? 1 : std::int64_t{types[row]}; };
    const auto key = [&](std::int32_t row) { return std::int64_t{labels[row]} * max_types + type_of(row); };
    parallel_each(max_buckets, 1, [&](std::int64_t bucket) {
        const std::span<const std::int32_t> rows = bucketed.of_bucket(bucket);
        if (!buckets.is_one_large_group(bucket)) {
            for (const std::int32_t row : rows) {
                ++catalog.count_by_type[key(row)];
            }
            return;
        }
        // All threads share it, and it can be put in order now.
        const std::int64_t group = buckets.first_group(bucket);
        CountingSort by_type(context, std::ssize(rows), max_types, [&](std::int64_t i) { return type_of(rows[i]); });
        std::adjacent_difference(by_type.start().begin() + 1, by_type.start().end(),
                                 catalog.count_by_type.begin() + group * max_types);
        if (std::ssize(rows) == catalog.count[group]) {
            by_type.put_items(
                [&](std::int64_t i, std::int64_t position) { members[catalog.offset[group] + position] = rows[i]; });
        }
    });
    const auto found_in = [&](std::int64_t group) {
        const std::int64_t* counts = catalog.count_by_type.data() + group * max_types;
        return std::accumulate(counts, counts + max_types, std::int64_t{0});
    };
    const std::int64_t wrong = parallel_find(
        catalog.groups, 1 << 12, [&](std::int64_t group) { return found_in(group) != catalog.count[group]; });
    if (wrong < catalog.groups) {
        throw error(ErrorKind::invalid_argument, "groups: group ", wrong, " has size ", catalog.count[wrong], " but ",
                    found_in(wrong), " rows carry its label; pass labels and sizes of the same result");
    }
    parallel_each(max_buckets, 1, [&](std::int64_t bucket) {
        if (buckets.is_one_large_group(bucket)) {
            return;
        }
        const std::int64_t first_key = buckets.first_group(bucket) * max_types;
        const std::int64_t end_key = buckets.first_group(bucket + 1) * max_types;
        Buffer<std::int64_t> next(context.memory_tracker(), end_key - first_key);
        std::exclusive_scan(catalog.count_by_type.begin() + first_key, catalog.count_by_type.begin() + end_key,
                            next.data(), bucketed.start[bucket]);
        for (const std::int32_t row : bucketed.of_bucket(bucket)) {
            members[next[key(row) - first_key]++] = row;
        }
    });
}

} // namespace kith::detail::halos
