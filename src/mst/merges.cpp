#include "mst/merges.hpp"

#include "mst/clusters.hpp"
#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"

#include <algorithm>

namespace kith::detail {

std::vector<Merge> merges_of(Context& context, std::span<const SpanningEdge> edges, std::int64_t points) {
    constexpr std::int64_t block_size = 1 << 16;
    const auto count = std::ssize(edges);
    std::vector<Merge> merges;
    with_allocation_errors("the merges", [&] { merges.reserve(edges.size()); });
    touch(merges.data(), count * static_cast<std::int64_t>(sizeof(Merge)));
    Clusters<std::int32_t> clusters(context, points);
    context.expect(count);
    for (std::int64_t begin = 0; begin < count; begin += block_size) {
        const std::int64_t end = std::min(count, begin + block_size);
        merge_edges(clusters, edges, begin, end, points, [&](const auto& merged) {
            merges.push_back({merged.left, merged.right, merged.count});
        });
        context.done(end - begin);
    }
    return merges;
}

} // namespace kith::detail
