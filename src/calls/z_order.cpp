// The public z-order: checked once, dispatched once.
#include <kith/tree.hpp>
#include <kith/z_order.hpp>

#include "calls/calls.hpp"
#include "calls/rank_calls.hpp"
#include "support/allocation_errors.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

ZOrder z_order(const PointsView& points, const ZOrderOptions& options) {
    const detail::ZOrderCall call{points, options};
    const detail::Where where = detail::where_of(options.execution);
    if (detail::is_over_ranks(where)) {
        return detail::z_order_over_team(call);
    }
    detail::check(call, where);
    const Tree tree(points, {.box = options.box, .execution = options.execution});
    ZOrder result;
    std::vector<std::int32_t>& indices = result.index_array.vector<std::int32_t>();
    const std::span<const std::int32_t> order = tree.order();
    detail::with_allocation_errors("the order", [&] { indices.assign(order.begin(), order.end()); });
    result.box = tree.box();
    result.wrapped_points = tree.wrapped_points();
    result.stages = tree.stages();
    return result;
}

} // namespace kith
