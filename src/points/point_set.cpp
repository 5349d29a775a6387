#include "points/point_set.hpp"

#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::detail {

template <Coordinate T>
PointSet<T> make_point_set(Context& context, const Frame<T>& frame, std::int64_t count) {
    PointSet<T> points;
    points.frame = frame;
    points.count = count;
    points.stride = (count + 31) / 16 * 16;
    points.coordinates = Buffer<T>(context.memory_tracker(), points.stride * frame.dimension);
    points.indices = Buffer<std::int32_t>(context.memory_tracker(), count);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        std::fill(points.axis(axis) + count, points.axis(axis) + points.stride, std::numeric_limits<T>::quiet_NaN());
    }
    return points;
}

template <Coordinate T>
PointSet<T> gather_points(Context& context, const NormalizedPoints<T>& normalized) {
    PointSet<T> points = make_point_set(context, normalized.frame, normalized.view.count());
    std::iota(points.indices.data(), points.indices.data() + points.count, 0);
    const PointReader<T> load(normalized);
    with_dimension(normalized.view.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        parallel_each(points.count, 1 << 14, [&](std::int64_t i) {
            const std::array<T, D> x = load.template position<D>(i);
            for (int axis = 0; axis < D; ++axis) {
                points.axis(axis)[i] = x[axis];
            }
        });
    });
    return points;
}

template PointSet<float> make_point_set(Context&, const Frame<float>&, std::int64_t);
template PointSet<double> make_point_set(Context&, const Frame<double>&, std::int64_t);
template PointSet<float> gather_points(Context&, const NormalizedPoints<float>&);
template PointSet<double> gather_points(Context&, const NormalizedPoints<double>&);

} // namespace kith::detail
