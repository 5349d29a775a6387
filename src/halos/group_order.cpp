#include "halos/group_order.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

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
    Buckets(std::span<const std::int64_t> offset, std::int64_t members) : offset_(offset) {
        const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(members)));
        shift_ = std::max(smallest_bucket_bits, bits - bucket_bits);
    }
    [[nodiscard]] std::int64_t of_group(std::int32_t group) const noexcept { return offset_[group] >> shift_; }
    [[nodiscard]] std::int64_t first_group(std::int64_t bucket) const noexcept {
        return std::lower_bound(offset_.begin(), offset_.end(), bucket << shift_) - offset_.begin();
    }

private:
    std::span<const std::int64_t> offset_;
    int shift_;
};

/// The rows of kept groups, bucket after bucket; within a bucket ascending.
struct DealtRows {
    std::array<std::int64_t, max_buckets + 1> start{}; ///< of each bucket, and the end
    Buffer<std::int32_t> rows;
};

DealtRows deal(Context& context, std::span<const std::int32_t> labels, std::int64_t groups, const Buckets& buckets) {
    const auto rows = static_cast<std::int64_t>(labels.size());
    const std::int64_t block_rows = std::max(smallest_block, (rows + max_blocks - 1) / max_blocks);
    const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
    Buffer<std::int64_t> next(context.memory_tracker(),
                              blocks * max_buckets); // of each block: counts, then places to write
    const auto each_kept_row = [&](std::int64_t block, const auto& visit) {
        const std::int64_t end = std::min(rows, (block + 1) * block_rows);
        for (std::int64_t row = block * block_rows; row < end; ++row) {
            const std::int32_t label = labels[row];
            if (label >= 0 && label < groups) {
                visit(row, next[block * max_buckets + buckets.of_group(label)]);
            }
        }
    };
    std::fill_n(next.data(), next.size(), 0);
    parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
            each_kept_row(block, [](std::int64_t, std::int64_t& count) { ++count; });
        }
    });
    DealtRows dealt;
    std::int64_t total = 0;
    for (std::int64_t bucket = 0; bucket < max_buckets; ++bucket) {
        dealt.start[bucket] = total;
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::int64_t count = next[block * max_buckets + bucket];
            next[block * max_buckets + bucket] = total;
            total += count;
        }
    }
    dealt.start[max_buckets] = total;
    dealt.rows = Buffer<std::int32_t>(context.memory_tracker(), total);
    parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
            each_kept_row(block, [&](std::int64_t row, std::int64_t& place) {
                dealt.rows[place++] = static_cast<std::int32_t>(row);
            });
        }
    });
    return dealt;
}

} // namespace

void order_members(Context& context, std::span<const std::int32_t> labels, std::span<const std::uint8_t> types,
                   Catalog& catalog) {
    const Buckets buckets(catalog.offset, static_cast<std::int64_t>(catalog.members.size()));
    const DealtRows dealt = deal(context, labels, catalog.groups, buckets);
    const auto key = [&](std::int32_t row) {
        return std::int64_t{labels[row]} * max_types + (types.empty() ? 1 : types[row]);
    };
    parallel_for(0, max_buckets, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = dealt.start[begin]; i < dealt.start[end]; ++i) {
            ++catalog.count_by_type[key(dealt.rows[i])];
        }
    });
    const auto found_in = [&](std::int64_t group) {
        const std::int64_t* counts = catalog.count_by_type.data() + group * max_types;
        return std::accumulate(counts, counts + max_types, std::int64_t{0});
    };
    const std::int64_t wrong = parallel_reduce(
        0, catalog.groups, 1 << 12, catalog.groups,
        [&](std::int64_t begin, std::int64_t end, std::int64_t first) {
            for (std::int64_t group = begin; first == catalog.groups && group < end; ++group) {
                first = found_in(group) == catalog.count[group] ? first : group;
            }
            return first;
        },
        [](std::int64_t left, std::int64_t right) { return std::min(left, right); });
    if (wrong < catalog.groups) {
        throw Error(ErrorKind::invalid_argument,
                    message("groups: group ", wrong, " has size ", catalog.count[wrong], " but ", found_in(wrong),
                            " rows carry its label; pass labels and sizes of the same result"));
    }
    parallel_for(0, max_buckets, 1, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t first_key = buckets.first_group(begin) * max_types;
        const std::int64_t end_key = buckets.first_group(end) * max_types;
        Buffer<std::int64_t> place(context.memory_tracker(), end_key - first_key);
        std::int64_t next = dealt.start[begin];
        for (std::int64_t k = first_key; k < end_key; ++k) {
            place[k - first_key] = next;
            next += catalog.count_by_type[k];
        }
        for (std::int64_t i = dealt.start[begin]; i < dealt.start[end]; ++i) {
            const std::int32_t row = dealt.rows[i];
            catalog.members[place[key(row) - first_key]++] = row;
        }
    });
}

} // namespace kith::detail::halos
