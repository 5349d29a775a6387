#include "mst/components.hpp"

#include "groups/labels.hpp"
#include "support/parallel.hpp"

#include <numeric>

namespace kith::detail {

void join(Context& context, const UnionFind& groups, std::span<const SpanningEdge> edges) {
    parallel_for(0, std::ssize(edges), 1 << 13, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            groups.unite(edges[i].smaller, edges[i].larger);
        }
        context.done(end - begin);
    });
}

void label_components(Context& context, std::span<const SpanningEdge> edges, std::span<std::int32_t> labels,
                      FofSummary& result) {
    const auto count = std::ssize(labels);
    Buffer<std::int32_t> parents(context.memory_tracker(), count);
    Buffer<std::int32_t> indices(context.memory_tracker(), count);
    const UnionFind groups(parents.data());
    parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        groups.separate(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
        std::iota(indices.data() + begin, indices.data() + end, static_cast<std::int32_t>(begin));
    });
    context.expect(std::ssize(edges));
    join(context, groups, edges);
    number_groups(context, groups, indices.span(), labels, result);
}

} // namespace kith::detail
