// The public calls for the order of a k-d tree: checked once, dispatched once.
#include <kith/error.hpp>
#include <kith/kdtree_order.hpp>

#include "calls/calls.hpp"
#include "calls/device_calls.hpp"
#include "calls/zeros.hpp"
#include "engines/kdtree/order.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/one_process.hpp"

#include <cstdint>
#include <span>

namespace kith {

namespace {

void check(const PointsView& points, kdtree::Split split, const Execution& execution) {
    detail::require_one_process(execution);
    const detail::Where where = detail::where_of(execution);
    if (where == detail::Where::gpu && split == kdtree::Split::widest_box) {
        throw Error(ErrorKind::unsupported,
                    "axes of tight boxes (widest_box) are found on the CPU only; run on the CPU, "
                    "with kith::cpu(), or split the widest cells (widest)");
    }
    detail::check_points(points, {}, execution, where);
}

void require_size(const char* what, std::size_t size, std::int64_t points) {
    if (static_cast<std::int64_t>(size) != points) {
        throw detail::error(ErrorKind::invalid_argument, "the memory for ", what, " holds ", size, " of them; ", points,
                            " points need one each");
    }
}

/// The call has been checked.
void order(std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes, const PointsView& points,
           kdtree::Split split, const Execution& execution, KdTreeSummary& result) {
    if (detail::is_on_gpu(execution)) {
        detail::on_gpu().kdtree_order(indices, split_axes, points, split, execution, result);
        return;
    }
    detail::Context context(execution);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        detail::order_kd_tree<T>(context, points, split, indices, split_axes, result);
    });
    result.stages = context.take_stages();
}

} // namespace

KdTreeOrder kdtree_order(const PointsView& points, kdtree::Split split, const Execution& execution) {
    check(points, split, execution);
    KdTreeOrder result;
    result.indices = detail::zeros<std::int32_t>(execution, points.count(), "the indices of nodes");
    result.split_axes = detail::zeros<std::uint8_t>(execution, points.count(), "the axes of nodes");
    order(result.indices, result.split_axes, points, split, execution, result);
    return result;
}

KdTreeSummary kdtree_order_into(std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes,
                                const PointsView& points, kdtree::Split split, const Execution& execution) {
    check(points, split, execution);
    require_size("indices", indices.size(), points.count());
    if (!split_axes.empty()) {
        require_size("split axes", split_axes.size(), points.count());
    }
    KdTreeSummary result;
    order(indices, split_axes, points, split, execution, result);
    return result;
}

} // namespace kith
