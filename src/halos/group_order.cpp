#include "halos/group_order.hpp"

#include <kith/error.hpp>

#include "halos/layout.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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
    Buckets(std::span<const std::int64_t> offset, std::int64_t members) : offset_(offset), members_(members) {
        const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(members)));
        shift_ = std::max(smallest_bucket_bits, bits - bucket_bits);
    }
    explicit Buckets(const Catalog& catalog) : Buckets(catalog.offset, members_of(catalog)) {}

    [[nodiscard]] std::int64_t groups() const noexcept { return std::ssize(offset_); }
    [[nodiscard]] std::int64_t of_group(std::int32_t group) const noexcept { return offset_[group] >> shift_; }
    [[nodiscard]] std::int64_t first_group(std::int64_t bucket) const noexcept {
        return std::lower_bound(offset_.begin(), offset_.end(), bucket << shift_) - offset_.begin();
    }
    /// A group that spans a bucket is the last in its own. If groups come by decreasing size, it is the first one, too.
    [[nodiscard]] bool is_one_large_group(std::int64_t bucket) const noexcept {
        const std::int64_t group = first_group(bucket);
        return group < groups() && offset_[group] >> shift_ == bucket && (end_of(group) - offset_[group]) >> shift_ > 0;
    }
    [[nodiscard]] std::int64_t end_of(std::int64_t group) const noexcept {
        return group + 1 < groups() ? offset_[group + 1] : members_;
    }

private:
    std::span<const std::int64_t> offset_;
    std::int64_t members_;
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

/// Rows of no group go to the bucket `others`, the last one, or are left out if it is -1.
BucketedRows rows_by_bucket(Context& context, std::span<const std::int32_t> labels, const Buckets& buckets,
                            std::int64_t others) {
    CountingSort sort(context, std::ssize(labels), std::max(max_buckets, others + 1), [&](std::int64_t row) {
        const std::int32_t label = labels[row];
        return label >= 0 && label < buckets.groups() ? buckets.of_group(label) : others;
    });
    BucketedRows bucketed{sort.start(), Buffer<std::int32_t>(context.memory_tracker(), sort.start().back())};
    sort.put_items(
        [&](std::int64_t row, std::int64_t position) { bucketed.rows[position] = static_cast<std::int32_t>(row); });
    return bucketed;
}

/// Adds the members of each group to its count. The first groups, which hold most, are counted apart by each block, so
/// that threads do not meet at their counts.
void count_members(std::span<const std::int32_t> labels, std::span<std::int64_t> counts) {
    constexpr std::int64_t counted_apart = 1024;
    const auto groups = std::ssize(counts);
    const auto add = [&](std::int64_t group, std::int64_t members) {
        std::atomic_ref(counts[group]).fetch_add(members, std::memory_order_relaxed);
    };
    parallel_blocks(std::ssize(labels), smallest_block, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        std::array<std::int64_t, counted_apart> apart{};
        for (const std::int32_t label : labels.subspan(begin, end - begin)) {
            if (label >= 0 && label < std::min(counted_apart, groups)) {
                ++apart[label];
            } else if (label >= 0 && label < groups) {
                add(label, 1);
            }
        }
        for (std::int64_t group = 0; group < std::min(counted_apart, groups); ++group) {
            if (apart[group] > 0) {
                add(group, apart[group]);
            }
        }
    });
}

void copy_rows(std::span<const std::int32_t> rows, std::int32_t* to) {
    parallel_for(0, std::ssize(rows), smallest_block, [&](std::int64_t begin, std::int64_t end) {
        std::copy(rows.begin() + begin, rows.begin() + end, to + begin);
    });
}

} // namespace

BucketedRows bucket_rows(Context& context, std::span<const std::int32_t> labels, const Catalog& catalog) {
    return rows_by_bucket(context, labels, Buckets(catalog), -1);
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

std::int64_t order_by_group(Context& context, std::span<const std::int32_t> labels, std::span<std::int32_t> indices,
                            std::span<std::int64_t> offsets) {
    std::fill(offsets.begin(), offsets.end(), 0);
    count_members(labels, offsets.first(offsets.size() - 1));
    const auto members = prefix_sums<std::int64_t>(
        std::ssize(offsets), [&](std::int64_t group) { return offsets[group]; },
        [&](std::int64_t group, std::int64_t before) { offsets[group] = before; });
    const Buckets buckets(offsets.first(offsets.size() - 1), members);
    const BucketedRows bucketed = rows_by_bucket(context, labels, buckets, max_buckets);
    parallel_each(max_buckets, 1, [&](std::int64_t bucket) {
        const std::span<const std::int32_t> rows = bucketed.of_bucket(bucket);
        if (buckets.is_one_large_group(bucket)) {
            copy_rows(rows, indices.data() + bucketed.start[bucket]);
            return;
        }
        const std::int64_t first = buckets.first_group(bucket);
        Buffer<std::int64_t> next(context.memory_tracker(), buckets.first_group(bucket + 1) - first);
        std::copy_n(offsets.begin() + first, next.size(), next.data());
        for (const std::int32_t row : rows) {
            indices[next[labels[row] - first]++] = row;
        }
    });
    copy_rows(bucketed.of_bucket(max_buckets), indices.data() + members);
    return members;
}

void require_rows(std::span<const std::int32_t> indices) {
    const std::int64_t negative =
        parallel_find(std::ssize(indices), smallest_block, [&](std::int64_t i) { return indices[i] < 0; });
    if (negative < std::ssize(indices)) {
        throw error(ErrorKind::invalid_argument, of_value(indices[negative]), "indices[", negative, "] is ",
                    indices[negative], "; rows are counted from 0");
    }
}

} // namespace kith::detail::halos
