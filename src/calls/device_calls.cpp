#include "calls/device_calls.hpp"

#include <kith/error.hpp>

#include "cuda/device_context.hpp"
#include "cuda/instances.hpp"
#include "cuda/result_memory.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "engines/clover/device_entry.hpp"
#include "engines/kdtree/device_entry.hpp"
#include "engines/kept_index.hpp"
#include "groups/linking_length.hpp"
#include "halos/dispersion.hpp"
#include "mst/edges.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

#include <memory>
#include <string>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Calls use.operator()<T, D>(context) for the points' type and dimension; returns the stages.
template <class Use>
StageReports run(const PointsOrTree& points, const Execution& execution, const Use& use) {
    DeviceContext context(execution);
    with_instance(points.dtype(), points.dimension(),
                  [&]<Coordinate T, int D>() { use.template operator()<T, D>(context); });
    return context.take_stages();
}

/// Without points, an index of any engine is a tree without planes.
Engine engine_of_index(Engine engine, std::int64_t points) {
    return points > 0 ? engine : Engine::tree;
}

template <Coordinate T, int D>
DeviceTreeHandle build_index(DeviceContext& context, const PointsView& points, const TreeOptions& options) {
    switch (engine_of_index(options.engine, points.count())) {
    case Engine::kdtree:
        return build_kd_tree_on_device<T, D>(context, points, options.box);
    case Engine::clover:
        return build_cells_on_device<T, D>(context, points, options.box, options.clover);
    case Engine::automatic:
    case Engine::tree:
    case Engine::brute_force: // has none on a GPU
        break;
    }
    return build_tree_on_device<T, D>(context, points, options.box, options.shape);
}

/// Calls use(index, shape) with the kept index, or with one of the engine that is built for the call.
template <Coordinate T, int D, class Use>
auto with_index(DeviceContext& context, const PointsOrTree& points, Engine engine, const Box& box, const Use& use) {
    if (points.tree() != nullptr) {
        const TreeData& tree = points.tree()->data();
        return use(*tree.on_device, tree.shape);
    }
    return use(build_index<T, D>(context, points.points(), {.box = box, .engine = engine}), TreeShape{});
}

/// Calls use.operator()<2 D>(points of phase space there) with the lengths resolved, into `lengths`.
template <Coordinate T, int D, class Use>
void with_phase_space(DeviceContext& context, const PointsView& points, const Box& box, const PhaseSpaceAt& at,
                      Engine engine, const Execution& execution, ResolvedLengths& lengths, const Use& use) {
    if constexpr (dimension_is_on_device(2 * D)) { // others have been refused
        const DispersionOf dispersion_of = [&](const FiniteVelocities& velocities) {
            Context host(cpu(execution.threads));
            double dispersion = 0;
            host.run([&] { dispersion = halos::velocity_dispersion(velocities, at.phase_space.masses); });
            return dispersion;
        };
        use.template operator()<2 * D>(
            enter_phase_space_on_device<T, D>(context, points, box, at, engine, dispersion_of, lengths));
    }
}

void require_dimension_on_device(int dimension) {
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

DeviceTreeHandle build_tree(const PointsView& points, const TreeOptions& options, StageReports& stages) {
    DeviceTreeHandle tree;
    stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        context.memory()->take_apart();
        tree = build_index<T, D>(context, points, options);
    });
    return tree;
}

template <Coordinate T, int D>
SearchSummary search_index(Engine engine, DeviceContext& context, const DeviceTreeHandle& index, const TreeShape& shape,
                           const PointsView* queries, const DeviceKnnCall& call) {
    switch (engine_of_index(engine, index.size)) {
    case Engine::kdtree:
        return search_kd_tree_on_device<T, D>(context, index, queries, call);
    case Engine::clover:
        return search_cells_on_device<T, D>(context, index, queries, call);
    case Engine::automatic: // has been resolved
    case Engine::tree:
    case Engine::brute_force:
        break;
    }
    return search_tree_on_device<T, D>(context, index, shape, queries, call);
}

SearchSummary search(const PointsOrTree& points, const PointsView* queries, const DeviceKnnCall& call, Engine engine) {
    const Engine found_by = call.visitor != nullptr ? Engine::tree : engine; // blocks are ranges of leaves
    const bool keeps_no_index = points.tree() == nullptr && call.visitor == nullptr;
    SearchSummary summary;
    const StageReports stages = run(points, call.options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        if (keeps_no_index && engine == Engine::brute_force) {
            summary = search_all_pairs_on_device<T, D>(context, points.points(), queries, call);
        } else if (keeps_no_index && engine == Engine::tree) {
            summary = search_points_on_device<T, D>(context, points.points(), queries, call);
        } else {
            summary = with_index<T, D>(context, points, found_by, call.options.box,
                                       [&](const DeviceTreeHandle& index, const TreeShape& shape) {
                                           return search_index<T, D>(found_by, context, index, shape, queries, call);
                                       });
        }
    });
    summary.engine = found_by;
    summary.stages = stages;
    return summary;
}

SearchSummary search_radius(const PointsOrTree& points, const PointsView* queries, const DeviceRadiusCall& call,
                            Engine engine) {
    SearchSummary summary;
    const StageReports stages = run(points, call.options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        summary = with_index<T, D>(context, points, engine, call.options.box,
                                   [&](const DeviceTreeHandle& index, const TreeShape& shape) {
                                       return engine_of_index(engine, index.size) == Engine::kdtree
                                                  ? search_kd_radius_on_device<T, D>(context, index, queries, call)
                                                  : search_radius_on_device<T, D>(context, index, shape, queries, call);
                                   });
    });
    summary.engine = engine;
    summary.stages = stages;
    return summary;
}

void label(const PointsOrTree& points, LinkingLength length, const FofOptions& options, std::span<std::int32_t> labels,
           FofSummary& result) {
    result.stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        if (options.phase_space) {
            with_phase_space<T, D>(context, points.points(), options.box, {*options.phase_space, length}, result.engine,
                                   options.execution, result, [&]<int Both>(const DevicePhaseSpace<T>& there) {
                                       describe_frame(there.of_positions, result);
                                       if (result.engine == Engine::tree) {
                                           label_tree_on_device<T, Both>(context, there.tree, labels, result);
                                       } else if (result.engine == Engine::kdtree) {
                                           label_by_range_queries_on_device<T, Both>(context, there.tree, labels,
                                                                                     result);
                                       } else {
                                           label_all_pairs_on_device<T, Both>(context, there.tree, labels, result);
                                       }
                                   });
            return;
        }
        if (points.tree() == nullptr && result.engine == Engine::brute_force) {
            label_all_pairs_on_device<T, D>(context, points.points(), options.box, length, labels, result);
            return;
        }
        with_index<T, D>(context, points, result.engine, options.box,
                         [&](const DeviceTreeHandle& index, const TreeShape& /*shape*/) {
                             if (engine_of_index(result.engine, index.size) == Engine::kdtree) {
                                 label_kd_tree_on_device<T, D>(context, index, length, labels, result);
                             } else {
                                 label_tree_on_device<T, D>(context, index, length, labels, result);
                             }
                         });
    });
}

/// Calls use.operator()<D>() for the dimension of points whose type is known.
template <Coordinate T, class Use>
void with_dimension_of(const NormalizedPoints<T>& points, const Use& use) {
    with_instance(dtype_of<T>, points.view.dimension(), [&]<Coordinate U, int D>() {
        if constexpr (std::is_same_v<T, U>) {
            use.template operator()<D>();
        }
    });
}

template <Coordinate T>
std::shared_ptr<PartPoints<T>> part_points(const Execution& execution, Context& host, int dimension) {
    std::shared_ptr<PartPoints<T>> points;
    with_instance(dtype_of<T>, dimension, [&]<Coordinate U, int D>() {
        if constexpr (std::is_same_v<T, U>) {
            points = part_points_on_device<T, D>(execution, host);
        }
    });
    return points;
}

template <Coordinate T>
std::unique_ptr<GpuPartSearcher<T>> part_searcher(const Execution& execution, const NormalizedPoints<T>& points,
                                                  const NormalizedPoints<T>* queries) {
    std::unique_ptr<GpuPartSearcher<T>> searcher;
    with_dimension_of(points, [&]<int D>() { searcher = part_searcher_on_device<T, D>(execution, points, queries); });
    return searcher;
}

template <Coordinate T>
std::unique_ptr<PartLinker<T>> part_linker(const Execution& execution, const NormalizedPoints<T>& points) {
    std::unique_ptr<PartLinker<T>> linker;
    with_dimension_of(points, [&]<int D>() { linker = part_linker_on_device<T, D>(execution, points); });
    return linker;
}

template <Coordinate T>
std::unique_ptr<PartClusters<T>> part_clusters(const Execution& execution, const NormalizedPoints<T>& points) {
    std::unique_ptr<PartClusters<T>> clusters;
    with_dimension_of(points, [&]<int D>() { clusters = part_clusters_on_device<T, D>(execution, points); });
    return clusters;
}

template <Coordinate T>
constexpr PartCalls<T> part_calls{part_points<T>, part_searcher<T>, part_linker<T>, part_clusters<T>};

void cluster(const PointsOrTree& points, const DbscanOptions& options, const DeviceDbscanCall& call,
             DbscanSummary& result) {
    result.stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        with_index<T, D>(context, points, Engine::tree, options.box,
                         [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
                             cluster_tree_on_device<T, D>(context, tree, shape, call, result);
                         });
    });
}

SpanningTree span(const PointsOrTree& points, const SpanningTreeOptions& options, Engine engine) {
    Context host(cpu(options.execution.threads, options.execution.progress));
    SpanningTree result = SpanningTreeAccess::make(points.count(), points.dtype(), engine);
    result.stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        if (options.phase_space) {
            ResolvedLengths lengths;
            with_phase_space<T, D>(context, points.points(), options.box, *options.phase_space, engine,
                                   options.execution, lengths, [&]<int Both>(const DevicePhaseSpace<T>& there) {
                                       SpanningTreeAccess::describe(there.of_positions, result);
                                       span_tree_on_device<T, Both>(context, there.tree, host, result, &lengths);
                                   });
            return;
        }
        with_index<T, D>(context, points, Engine::tree, options.box,
                         [&](const DeviceTreeHandle& tree, const TreeShape& /*shape*/) {
                             span_tree_on_device<T, D>(context, tree, host, result);
                         });
    });
    const StageReports of_host = host.take_stages();
    result.stages.insert(result.stages.end(), of_host.begin(), of_host.end());
    return result;
}

void span_by_density(const PointsOrTree& points, const HdbscanOptions& options, Context& host, HdbscanResult& result) {
    result.stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        with_index<T, D>(context, points, Engine::tree, options.box,
                         [&](const DeviceTreeHandle& tree, const TreeShape& /*shape*/) {
                             span_by_reachability_on_device<T, D>(context, tree, host, result);
                         });
    });
}

void sum_neighbors(const PointsOrTree& points, const PointsView* queries, const DeviceSumCall& call, Engine engine,
                   NeighborSums& sums) {
    Context host(cpu(call.options.execution.threads));
    const StageReports stages = run(points, call.options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        with_index<T, D>(context, points, engine, call.options.box,
                         [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
                             sum_on_device<T, D>(context, tree, shape, host, queries, call, sums);
                         });
    });
    sums.engine = engine;
    sums.stages = stages;
}

void count_pairs(const PointsOrTree& points, const PointsView* other, std::span<const double> edges,
                 const PairCountOptions& options, PairCounts& result) {
    Context host(cpu(options.execution.threads));
    result.stages = run(points, options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        with_index<T, D>(context, points, Engine::tree, options.box,
                         [&](const DeviceTreeHandle& tree, const TreeShape& shape) {
                             count_pairs_on_device<T, D>(context, tree, shape, host, {other, edges, options}, result);
                         });
    });
}

void order(std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes, const PointsView& points,
           kdtree::Split split, const Execution& execution, KdTreeSummary& result) {
    result.stages = run(points, execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        order_kd_tree_on_device<T, D>(context, points, split, indices, split_axes, result);
    });
}

void find_halos(Context& host, std::span<const std::int32_t> labels, const Particles& particles,
                const halos::Columns& columns, Halos& found) {
    found.stages = run(particles.positions, found.options.execution, [&]<Coordinate T, int D>(DeviceContext& context) {
        std::optional<ParticlesOnDevice> there;
        context.stage("upload", [&] { there.emplace(context, particles); });
        const DeviceTreeHandle tree =
            build_tree_on_device<T, D>(context, there->particles().positions, found.box, TreeShape());
        find_halos_on_device<T>(context, host, labels, *there, tree, columns, found);
    });
}

void release_memory(const Device& device) {
    const DeviceSpan span(device.index);
    release_pool(device.index);
    release_staging(device.index);
}

bool has_memory(const void* memory, const Execution& execution) {
    return memory != nullptr && is_on_device(DeviceContext(execution), memory);
}

void refuse_memory_of_others(const void* memory, const char* what, const Execution& execution) {
    const DeviceContext context(execution);
    cudaPointerAttributes found{}; // those of the host
    check_cuda(memory != nullptr ? cudaPointerGetAttributes(&found, memory) : cudaSuccess, "asking where memory is");
    if (found.type == cudaMemoryTypeDevice && found.device != execution.device.index) {
        throw error(ErrorKind::invalid_argument, what, " are in the memory of GPU ", found.device,
                    ", but the call runs on GPU ", execution.device.index, "; pass memory of this GPU, or of the host");
    }
}

void copy_to_memory(void* to, const void* from, std::int64_t bytes, const Execution& execution) {
    DeviceContext context(execution);
    context.copy(to, from, bytes);
    context.wait();
}

std::shared_ptr<void> result_memory(std::int64_t bytes, const Execution& execution) {
    DeviceContext context(execution);
    context.memory()->take_apart();
    auto buffer = std::make_shared<DeviceBuffer<std::uint8_t>>(context.buffer<std::uint8_t>(bytes));
    context.wait();
    return {buffer, buffer->data()};
}

} // namespace

const DeviceCalls& on_gpu() {
    static constexpr DeviceCalls calls{.require_dimension = require_dimension_on_device,
                                       .build_tree = build_tree,
                                       .knn = search,
                                       .radius = search_radius,
                                       .fof = label,
                                       .dbscan = cluster,
                                       .parts = {part_calls<float>, part_calls<double>},
                                       .spanning_tree = span,
                                       .density_tree = span_by_density,
                                       .sum_neighbors = sum_neighbors,
                                       .pair_counts = count_pairs,
                                       .kdtree_order = order,
                                       .catalog = catalog_on_device,
                                       .device_catalog = device_catalog,
                                       .catalog_on_host = catalog_on_host,
                                       .store_column = store_column,
                                       .describe_part = part_describer,
                                       .group_order = group_order,
                                       .gather_rows = gather_rows,
                                       .halos = find_halos,
                                       .knn_async_bytes = knn_async_bytes_on_device,
                                       .knn_async = knn_async_on_device,
                                       .fof_async_bytes = fof_async_bytes_on_device,
                                       .fof_async = fof_async_on_device,
                                       .async_tree_bytes = async_tree_bytes_on_device,
                                       .build_tree_async_bytes = build_tree_async_bytes_on_device,
                                       .build_tree_async = build_tree_async_on_device,
                                       .has_memory = has_memory,
                                       .refuse_memory_of_others = refuse_memory_of_others,
                                       .copy_to_memory = copy_to_memory,
                                       .release_memory = release_memory,
                                       .result_memory = result_memory};
    return calls;
}

int device_count() noexcept {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

} // namespace kith::detail::inline KITH_GPU
