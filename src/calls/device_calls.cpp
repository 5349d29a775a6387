#include "calls/device_calls.hpp"

#include <kith/error.hpp>

#include "calls/device_checks.hpp"
#include "cuda/device_context.hpp"
#include "cuda/instances.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "engines/clover/device_entry.hpp"
#include "engines/kdtree/device_entry.hpp"
#include "mst/edges.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"
#include "tree/plane_tree.hpp"

#include <string>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Calls use(tree, shape) with the kept tree, or with one that is built for the call.
template <Coordinate T, int D, class Use>
auto with_tree(DeviceContext& context, const PointsOrTree& points, const Box& box, const Use& use) {
    if (points.tree() != nullptr) {
        const TreeData& tree = points.tree()->data();
        return use(*tree.on_device, tree.shape);
    }
    return use(build_tree_on_device<T, D>(context, points.points(), box, TreeShape{}), TreeShape{});
}

} // namespace

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
    throw error(ErrorKind::unsupported, "points have ", dimension,
                " dimensions; on a GPU this build of kith takes only ", built,
                "; run on the CPU, or build kith without the CMake option KITH_CUDA_DIMS, and it takes 2 to ",
                max_dimension);
}

DeviceTreeHandle build_tree_on_device(const PointsView& points, const TreeOptions& options, StageReports& stages) {
    require_same_device(points, options.execution, "points");
    DeviceTreeHandle tree;
    DeviceContext context(options.execution);
    context.memory()->take_apart();
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        tree = build_tree_on_device<T, D>(context, points, options.box, options.shape);
    });
    stages = context.take_stages();
    return tree;
}

SearchSummary knn_on_device(const PointsOrTree& points, const PointsView* queries, const DeviceKnnCall& call,
                            Engine engine) {
    const Execution& execution = call.options.execution;
    require_same_device(points, queries, execution);
    if (call.visitor != nullptr && points.tree() == nullptr && (engine == Engine::kdtree || engine == Engine::clover)) {
        throw error(ErrorKind::unsupported, "the engine '", name_of(engine),
                    "' has no visitors on a GPU; take the engine 'tree', or knn or knn_into");
    }
    DeviceContext context(execution);
    SearchSummary summary;
    const bool is_empty = points.count() == 0 || (queries != nullptr && queries->count() == 0);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (points.tree() != nullptr || call.visitor != nullptr) {
            summary = with_tree<T, D>(context, points, call.options.box,
                                      [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
                                          return search_tree_on_device<T, D>(context, tree, shape, queries, call);
                                      });
        } else if (engine == Engine::clover && !is_empty) {
            summary = search_cells_on_device<T, D>(context, points.points(), queries, call);
        } else if (engine == Engine::brute_force || engine == Engine::clover) { // or without points to make cells of
            summary = search_all_pairs_on_device<T, D>(context, points.points(), queries, call);
        } else if (engine == Engine::kdtree) {
            summary = search_kd_tree_on_device<T, D>(context, points.points(), queries, call);
        } else {
            summary = search_points_on_device<T, D>(context, points.points(), queries, call);
        }
    });
    summary.engine = call.visitor != nullptr ? Engine::tree : engine; // blocks are ranges of leaves
    summary.stages = context.take_stages();
    return summary;
}

SearchSummary radius_on_device(const PointsOrTree& points, const PointsView* queries, const DeviceRadiusCall& call) {
    const Execution& execution = call.options.execution;
    require_same_device(points, queries, execution);
    DeviceContext context(execution);
    SearchSummary summary;
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        summary = with_tree<T, D>(context, points, call.options.box,
                                  [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
                                      return search_radius_on_device<T, D>(context, tree, shape, queries, call);
                                  });
    });
    summary.stages = context.take_stages();
    return summary;
}

void fof_on_device(const PointsOrTree& points, LinkingLength length, const FofOptions& options,
                   std::span<std::int32_t> labels, FofSummary& result) {
    require_same_device(points.points(), options.execution, "points");
    DeviceContext context(options.execution);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        if (points.tree() == nullptr && result.engine == Engine::brute_force) {
            label_all_pairs_on_device<T, D>(context, points.points(), options.box, length, labels, result);
            return;
        }
        with_tree<T, D>(context, points, options.box, [&](const DeviceTreeHandle& tree, const TreeShape& /*shape*/) {
            label_tree_on_device<T, D>(context, tree, length, labels, result);
        });
    });
    result.stages = context.take_stages();
}

void dbscan_on_device(const PointsOrTree& points, const DbscanOptions& options, const DeviceDbscanCall& call,
                      DbscanSummary& result) {
    require_same_device(points.points(), options.execution, "points");
    DeviceContext context(options.execution);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        with_tree<T, D>(context, points, options.box, [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
            cluster_tree_on_device<T, D>(context, tree, shape, call, result);
        });
    });
    result.stages = context.take_stages();
}

SpanningTree spanning_tree_on_device(const PointsOrTree& points, const SpanningTreeOptions& options, Engine engine) {
    require_same_device(points.points(), options.execution, "points");
    Context host(cpu(options.execution.threads, options.execution.progress));
    SpanningTree result = SpanningTreeAccess::make(points.count(), points.dtype(), engine);
    DeviceContext context(options.execution);
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        with_tree<T, D>(context, points, options.box, [&](const DeviceTreeHandle& tree, const TreeShape& /*shape*/) {
            span_tree_on_device<T, D>(context, tree, host, result);
        });
    });
    result.stages = context.take_stages();
    const StageReports of_host = host.take_stages();
    result.stages.insert(result.stages.end(), of_host.begin(), of_host.end());
    return result;
}

bool finds_device() noexcept {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

void release_memory_on_device(const Device& device) {
    const DeviceSpan span(device.index);
    release_pool(device.index);
    release_staging(device.index);
}

std::shared_ptr<void> result_memory_on_device(std::int64_t bytes, const Execution& execution) {
    DeviceContext context(execution);
    context.memory()->take_apart();
    auto buffer = std::make_shared<DeviceBuffer<std::uint8_t>>(context.buffer<std::uint8_t>(bytes));
    context.wait();
    return {buffer, buffer->data()};
}

} // namespace kith::detail::inline KITH_GPU
