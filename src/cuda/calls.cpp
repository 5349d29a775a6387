#include "cuda/calls.hpp"

#include <kith/error.hpp>

#include "cuda/device_context.hpp"
#include "cuda/instances.hpp"

#include <string>

namespace kith::detail::inline KITH_GPU {

void require_device(int dimension) {
    if (dimension_is_on_device(dimension)) {
        return;
    }
    require_dimension(dimension);
    std::string built;
    for (int d = 2; d <= max_dimension; ++d) {
        if (dimension_is_on_device(d)) {
            built += built.empty() ? message(d) : message(", ", d);
        }
    }
    throw Error(ErrorKind::unsupported,
                message("points have ", dimension, " dimensions; on a GPU this build of kith takes only ", built,
                        "; run on the CPU, or build kith without the CMake option KITH_CUDA_DIMS, and it takes 2 to ",
                        max_dimension));
}

std::shared_ptr<const DeviceIndex> build_index_on_device(const PointsView& points, const Box& box,
                                                         const TreeOptions& options, const Execution& execution,
                                                         StageReports& stages) {
    require_same_device(points, execution, "points");
    std::shared_ptr<const DeviceIndex> index;
    DeviceContext context(execution);
    with_instance(points.dtype(), points.dimension(),
                  [&]<Coordinate T, int D>() { index = build_device_index<T, D>(context, points, box, options); });
    stages = context.take_stages();
    return index;
}

StageReports search_index_on_device(const DeviceIndex& index, const PointsView* queries, const DeviceKnnCall& call,
                                    const Execution& execution) {
    if (queries != nullptr) {
        require_same_device(*queries, execution, "queries");
    }
    DeviceContext context(execution);
    index.search(context, queries, call);
    return context.take_stages();
}

Engine search_points_on_device(const PointsView& points, const PointsView* queries, const Box& box,
                               const DeviceKnnCall& call, const Execution& execution, StageReports& stages) {
    require_same_device(points, execution, "points");
    if (queries != nullptr) {
        require_same_device(*queries, execution, "queries");
    }
    const Engine asked = call.options.engine;
    const bool all_pairs = asked == Engine::brute_force ||
                           (asked == Engine::automatic &&
                            brute_force_pays(points.count(), queries != nullptr ? queries->count() : points.count()));
    DeviceContext context(execution);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (all_pairs) {
            search_all_pairs_on_device<T, D>(context, points, box, queries, call);
        } else {
            search_by_tree_on_device<T, D>(context, points, box, queries, call);
        }
    });
    stages = context.take_stages();
    return all_pairs ? Engine::brute_force : Engine::tree;
}

FofSummary label_index_on_device(const DeviceIndex& index, LinkingLength length, std::span<std::int32_t> labels,
                                 const Execution& execution) {
    DeviceContext context(execution);
    FofSummary result;
    index.label(context, length, labels, result);
    result.stages = context.take_stages();
    return result;
}

FofSummary label_points_on_device(const PointsView& points, const Box& box, LinkingLength length,
                                  const FofOptions& options, std::span<std::int32_t> labels,
                                  const Execution& execution) {
    require_same_device(points, execution, "points");
    const bool all_pairs = options.engine == Engine::brute_force ||
                           (options.engine == Engine::automatic && brute_force_pays(points.count(), points.count()));
    DeviceContext context(execution);
    FofSummary result;
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (all_pairs) {
            label_all_pairs_on_device<T, D>(context, points, box, length, labels, result);
        } else {
            build_device_index<T, D>(context, points, box, TreeOptions{})->label(context, length, labels, result);
        }
    });
    result.engine = all_pairs ? Engine::brute_force : Engine::tree;
    result.stages = context.take_stages();
    return result;
}

std::shared_ptr<void> result_memory_on_device(std::int64_t bytes, const Execution& execution) {
    DeviceContext context(execution);
    auto buffer = std::make_shared<DeviceBuffer<std::uint8_t>>(context.buffer<std::uint8_t>(bytes));
    context.wait();
    return {buffer, buffer->data()};
}

} // namespace kith::detail::inline KITH_GPU
