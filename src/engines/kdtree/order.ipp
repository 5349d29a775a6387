// Orders points of one scalar type. Compiled by CMake's kith_add_scalar_instances().
#include "engines/kdtree/order.hpp"

#include "engines/kdtree/build.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <array>

namespace kith::detail {

template <Coordinate T>
void order_kd_tree(Context& context, const PointsView& points, kdtree::Split split, std::span<std::int32_t> indices,
                   std::span<std::uint8_t> split_axes, KdTreeSummary& result) {
    if (points.count() == 0) {
        return;
    }
    PointBounds<T> found;
    context.run([&] { found = finite_bounds_of<T>(points, PointError::points_not_finite); });
    std::copy_n(found.lower.begin(), points.dimension(), result.lower.begin());
    std::copy_n(found.upper.begin(), points.dimension(), result.upper.begin());
    context.stage("tree", [&] {
        with_dimension(points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            kdtree::Bounds<T, D> bounds;
            std::copy_n(found.lower.begin(), D, bounds.lower.x);
            std::copy_n(found.upper.begin(), D, bounds.upper.x);
            const auto load = [given = Coordinates<T>(points)](std::int64_t point) {
                std::array<T, D> x;
                for (int axis = 0; axis < D; ++axis) {
                    x[axis] = given(point, axis);
                }
                return x;
            };
            build_kd_tree<T, D>(context, points.count(), load, split, bounds,
                                {nullptr, indices.data(), nullptr, split_axes.data()});
        });
    });
}

template void order_kd_tree<KITH_SCALAR>(Context&, const PointsView&, kdtree::Split, std::span<std::int32_t>,
                                         std::span<std::uint8_t>, KdTreeSummary&);

} // namespace kith::detail
