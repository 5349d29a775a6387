#include "calls/device_calls.hpp"

#include <kith/error.hpp>

#include "calls/choose.hpp"
#include "calls/device_checks.hpp"
#include "cuda/device_context.hpp"
#include "cuda/instances.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "tree/device_entry.hpp"

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

DeviceTreeHandle build_tree_on_device(const PointsView& points, const Box& box, const TreeOptions& options,
                                      const Execution& execution, StageReports& stages) {
    require_same_device(points, execution, "points");
    DeviceTreeHandle tree;
    DeviceContext context(execution);
    with_instance(points.dtype(), points.dimension(),
                  [&]<Coordinate T, int D>() { tree = build_tree_on_device<T, D>(context, points, box, options); });
    stages = context.take_stages();
    return tree;
}

StageReports search_tree_on_device(const DeviceTreeHandle& tree, DType dtype, const TreeOptions& tree_options,
                                   const PointsView* queries, const DeviceKnnCall& call, const Execution& execution) {
    if (queries != nullptr) {
        require_same_device(*queries, execution, "queries");
    }
    DeviceContext context(execution);
    with_instance(dtype, tree.dimension, [&]<Coordinate T, int D>() {
        search_tree_on_device<T, D>(context, tree, tree_options, queries, call);
    });
    return context.take_stages();
}

Engine search_points_on_device(const PointsView& points, const PointsView* queries, const Box& box,
                               const DeviceKnnCall& call, const Execution& execution, StageReports& stages) {
    require_same_device(points, execution, "points");
    if (queries != nullptr) {
        require_same_device(*queries, execution, "queries");
    }
    const Engine engine = choose(Task::neighbors, call.options.engine,
                                 {points.count(), queries != nullptr ? queries->count() : points.count(),
                                  queries != nullptr, points.dimension(), false, DeviceKind::cuda});
    DeviceContext context(execution);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (engine == Engine::brute_force) {
            search_all_pairs_on_device<T, D>(context, points, box, queries, call);
        } else {
            search_points_on_device<T, D>(context, points, box, queries, call);
        }
    });
    stages = context.take_stages();
    return engine;
}

FofSummary label_tree_on_device(const DeviceTreeHandle& tree, DType dtype, LinkingLength length,
                                std::span<std::int32_t> labels, const Execution& execution) {
    DeviceContext context(execution);
    FofSummary result;
    with_instance(dtype, tree.dimension,
                  [&]<Coordinate T, int D>() { label_tree_on_device<T, D>(context, tree, length, labels, result); });
    result.stages = context.take_stages();
    return result;
}

FofSummary label_points_on_device(const PointsView& points, const Box& box, LinkingLength length,
                                  const FofOptions& options, std::span<std::int32_t> labels,
                                  const Execution& execution) {
    require_same_device(points, execution, "points");
    const Engine engine = choose(Task::groups, options.engine,
                                 {points.count(), points.count(), false, points.dimension(), false, DeviceKind::cuda});
    DeviceContext context(execution);
    FofSummary result;
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (engine == Engine::brute_force) {
            label_all_pairs_on_device<T, D>(context, points, box, length, labels, result);
        } else {
            const DeviceTreeHandle tree = build_tree_on_device<T, D>(context, points, box, TreeOptions{});
            label_tree_on_device<T, D>(context, tree, length, labels, result);
        }
    });
    result.engine = engine;
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
