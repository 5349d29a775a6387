#include "mst/merges.hpp"

#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kith::detail {

namespace {

/// A point of the union-find.
struct Member {
    std::int32_t parent;   ///< of a root: minus the size of its cluster
    std::uint32_t cluster; ///< of a root
};

class Clusters {
public:
    Clusters(Context& context, std::int64_t points) : members_(context.memory_tracker(), points) {
        parallel_each(points, 1 << 14, [&](std::int64_t i) { members_[i] = {-1, static_cast<std::uint32_t>(i)}; });
    }

    /// Joins the clusters of two points into one of that number.
    [[nodiscard]] Merge merge(const SpanningEdge& edge, std::uint32_t joint) {
        std::int32_t large = root_of(edge.smaller);
        std::int32_t small = root_of(edge.larger);
        if (members_[large].parent > members_[small].parent) {
            std::swap(large, small);
        }
        const auto [left, right] = std::minmax({members_[large].cluster, members_[small].cluster});
        members_[large].parent += members_[small].parent;
        members_[large].cluster = joint;
        members_[small].parent = large;
        return {left, right, -members_[large].parent};
    }

    /// Loads what a later merge will need: the ends of the edge, then what these point to.
    void prefetch_ends(const SpanningEdge& edge) const {
        __builtin_prefetch(&members_[edge.smaller]);
        __builtin_prefetch(&members_[edge.larger]);
    }
    void prefetch_parents(const SpanningEdge& edge) const {
        for (const std::int32_t end : {edge.smaller, edge.larger}) {
            __builtin_prefetch(&members_[std::max(members_[end].parent, 0)]);
        }
    }

private:
    [[nodiscard]] std::int32_t root_of(std::int32_t point) {
        while (members_[point].parent >= 0) {
            const std::int32_t parent = members_[point].parent;
            if (members_[parent].parent < 0) {
                return parent;
            }
            members_[point].parent = members_[parent].parent;
            point = members_[parent].parent;
        }
        return point;
    }

    Buffer<Member> members_;
};

} // namespace

std::vector<Merge> merges_of(Context& context, std::span<const SpanningEdge> edges, std::int64_t points) {
    constexpr std::int64_t block_size = 1 << 16;
    constexpr std::int64_t ahead = 32; // edges: those of the next microsecond or so
    const auto count = std::ssize(edges);
    std::vector<Merge> merges;
    with_allocation_errors("the merges", [&] { merges.reserve(edges.size()); });
    touch(merges.data(), count * static_cast<std::int64_t>(sizeof(Merge)));
    Clusters clusters(context, points);
    context.expect(count);
    for (std::int64_t begin = 0; begin < count; begin += block_size) {
        const std::int64_t end = std::min(count, begin + block_size);
        for (std::int64_t i = begin; i < end; ++i) {
            clusters.prefetch_ends(edges[std::min(i + 2 * ahead, count - 1)]);
            clusters.prefetch_parents(edges[std::min(i + ahead, count - 1)]);
            merges.push_back(clusters.merge(edges[i], static_cast<std::uint32_t>(points + i)));
        }
        context.done(end - begin);
    }
    return merges;
}

} // namespace kith::detail
