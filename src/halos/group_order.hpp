// Brings rows into group order: by group, within a group by type, within a type by index.
//
// A stable counting sort in two steps. First the rows of kept groups are distributed among at most 256 buckets, each a
// run of consecutive groups of about equal total size: blocks of rows are counted in parallel, which gives each block
// its positions. Then the buckets are sorted in parallel, each by (group, type); the rows of a large group, which has
// its own bucket, are distributed once more, by type. Both steps keep the order of rows within equal keys, so the
// result does not depend on blocks, buckets or threads. Source: jz-tree paper, section IV-B (stable sort by group).
// Cost: O(N) time, and one index per member in addition to the result.
//
// A catalog has the sizes of its groups beforehand; sizes that do not match the labels are found before they are used
// to write. order_by_group() counts them.
#pragma once

#include <kith/catalog.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// The rows of a catalog's groups, bucket after bucket; within a bucket ascending.
struct BucketedRows {
    std::vector<std::int64_t> start; ///< of each bucket, and the end
    Buffer<std::int32_t> rows;

    [[nodiscard]] std::span<const std::int32_t> of_bucket(std::int64_t bucket) const noexcept {
        return {rows.data() + start[bucket], rows.data() + start[bucket + 1]};
    }
};

/// The first step, for a catalog whose `offset` and `count` are set.
BucketedRows bucket_rows(Context& context, std::span<const std::int32_t> labels, const Catalog& catalog);

/// The second step: fills `members` and `count_by_type` of a catalog whose columns have their sizes. `types` may be
/// empty: all are type 1.
void order_members(Context& context, std::span<const std::int32_t> labels, std::span<const std::uint8_t> types,
                   const BucketedRows& bucketed, Catalog& catalog);

/// The rows of all groups, of which there are offsets.size() - 1, without types; then, ascending, all other rows. Fills
/// `offsets` as well; returns the number of members. Runs inside a stage.
std::int64_t order_by_group(Context& context, std::span<const std::int32_t> labels, std::span<std::int32_t> indices,
                            std::span<std::int64_t> offsets);

/// Throws for a negative index of a row.
void require_rows(std::span<const std::int32_t> indices);

} // namespace kith::detail::halos
