// What the public functions of include/kith/async.hpp do on a GPU: all checks that do not read the points, then the
// work.
#include <kith/error.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "cuda/device_work.hpp"
#include "cuda/instances.hpp"
#include "cuda/result_memory.hpp"
#include "cuda/scratch_arena.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "engines/kept_index.hpp"
#include "groups/resolve_length.hpp"
#include "tree/device_entry.hpp"

namespace kith::detail::inline KITH_GPU {

namespace {

void require_memory_there(const DeviceWork& work, const void* memory, const char* what) {
    if (memory != nullptr && !is_on_device(work, memory)) {
        throw error(ErrorKind::invalid_argument, "the memory for ", what, " is not that of GPU ", work.device().index,
                    ", on which the call runs; a call that does not wait copies nothing to the host");
    }
}

/// The same for what may be pinned memory of the host as well.
void require_writable(const void* memory, const char* what) {
    cudaPointerAttributes attributes{};
    if (memory != nullptr) {
        check_cuda(cudaPointerGetAttributes(&attributes, memory), "asking where memory is");
    }
    if (memory == nullptr || attributes.type == cudaMemoryTypeUnregistered) {
        throw error(ErrorKind::invalid_argument, "the ", what,
                    " is in memory that the GPU cannot write; give memory of the GPU, managed memory, or pinned "
                    "memory of the host");
    }
}

void require_scratch(std::span<std::byte> scratch, std::int64_t needed) {
    if (std::ssize(scratch) < needed) {
        throw error(ErrorKind::out_of_memory, "the scratch has ", scratch.size(), " bytes; the call needs ", needed);
    }
}

/// Bytes that work(DeviceWork&) takes.
template <class Work>
std::int64_t measured(const Execution& execution, const Work& run) {
    ScratchArena nothing;
    DeviceWork work(execution, nothing);
    run(work);
    return nothing.bytes_needed();
}

const DeviceTreeHandle* kept_index(const PointsOrTree& points) {
    return points.tree() != nullptr ? &*points.tree()->data().on_device : nullptr;
}

/// A view to measure by. Its address is never used; a view of points must have one.
PointsView some_points(const AsyncTreeSize& size, const Execution& execution) {
    static constexpr double somewhere = 0;
    return {&somewhere, size.dtype, size.points, size.dimension, size.dimension, 1, execution.device};
}

std::int64_t bytes_of(const AsyncTreeSize& size, const Execution& execution) {
    std::int64_t bytes = 0;
    with_instance(size.dtype, size.dimension,
                  [&]<Coordinate T, int D>() { bytes = bytes_of_async_tree<T, D>(execution, size); });
    return bytes;
}

void require_size(const AsyncTree& tree, const Execution& execution) {
    const std::int64_t needed = bytes_of(tree.size, execution);
    if (std::ssize(tree.memory) < needed) {
        throw error(ErrorKind::out_of_memory, "the memory of the tree has ", tree.memory.size(), " bytes; a tree of ",
                    tree.size.points, " points needs ", needed);
    }
}

void require_tree_there(const DeviceWork& work, const AsyncTree& tree, const Execution& execution) {
    require_size(tree, execution);
    require_memory_there(work, tree.memory.data(), "the tree");
    if (reinterpret_cast<std::uintptr_t>(tree.memory.data()) % alignment_of_kept_memory != 0) {
        throw error(ErrorKind::invalid_argument, "the memory of the tree is not aligned to ", alignment_of_kept_memory,
                    " bytes; let it begin at a multiple of ", alignment_of_kept_memory);
    }
}

/// A tree in memory as the points of a call: checks what the options say of it, and gives them its box. Without memory
/// it is to be measured.
template <class Options>
PointsView points_of(const AsyncTree& tree, Options& options) {
    if (options.engine != Engine::automatic && options.engine != Engine::tree) {
        throw error(ErrorKind::invalid_argument, "the engine '", name_of(options.engine),
                    "' was asked for, but the index of the points is of the engine 'tree'; leave the engine out");
    }
    if (options.box != Box{}) {
        throw Error(ErrorKind::invalid_argument,
                    "the options have a box, but a tree has its own; leave it out of the options");
    }
    options.engine = Engine::tree; // even of few points
    options.box = tree.box;
    const PointsView points = some_points(tree.size, options.execution);
    check_points(points, tree.box, options.execution, Where::stream);
    if (tree.memory.data() != nullptr) {
        require_size(tree, options.execution);
    }
    return points;
}

/// Checks a call, and chooses its engine; returns the rest of it.
DeviceKnnAsync checked(DeviceKnnAsync search) {
    if (search.in_memory != nullptr) {
        search.points = points_of(*search.in_memory, search.call.options);
    }
    const PointsView* const queries = search.queries ? &*search.queries : nullptr;
    const KnnCall call{search.points, queries, search.call.k, search.call.options, search.call.rows};
    check(call, Where::stream);
    search.all_pairs = choose(call.task(), call.options.engine, size_of(search.points, queries, 0, Where::stream)) ==
                       Engine::brute_force;
    search.kept = kept_index(search.points);
    return search;
}

DeviceFofAsync checked(DeviceFofAsync fof) {
    if (fof.in_memory != nullptr) {
        fof.points = points_of(*fof.in_memory, fof.options);
    }
    const FofCall call{fof.points, fof.length, fof.options};
    check(call, Where::stream);
    if (!fof.length.is_relative()) { // then it takes no points to resolve it
        with_dtype(fof.points.dtype(), [&]<Coordinate T>(T) {
            ResolvedLength resolved;
            check(resolve_length(fof.length.value(), false, Frame<T>(), 0, resolved));
        });
    }
    fof.all_pairs =
        choose(call.task(), call.options.engine, size_of(fof.points, nullptr, 0, Where::stream)) == Engine::brute_force;
    fof.kept = kept_index(fof.points);
    return fof;
}

void search(DeviceWork& work, const DeviceKnnAsync& search) {
    with_instance(search.points.dtype(), search.points.dimension(), [&]<Coordinate T, int D>() {
        if (search.all_pairs) {
            search_all_pairs_async_on_device<T, D>(work, search);
        } else {
            search_async_on_device<T, D>(work, search);
        }
    });
}

void label(DeviceWork& work, const DeviceFofAsync& fof) {
    with_instance(fof.points.dtype(), fof.points.dimension(), [&]<Coordinate T, int D>() {
        if (fof.all_pairs) {
            label_all_pairs_async_on_device<T, D>(work, fof);
        } else {
            label_async_on_device<T, D>(work, fof);
        }
    });
}

/// The points of the source, which have no coordinates unless they are kept; the execution becomes that of a kept tree.
PointsOrTree points_of(const AsyncSource& source, Execution& execution) {
    if (const Tree* const tree = std::get_if<Tree>(&source)) {
        execution.device = tree->device();
        return *tree;
    }
    const auto* const size = std::get_if<AsyncTreeSize>(&source);
    return size != nullptr ? some_points(*size, execution) : PointsView();
}

/// Runs run(DeviceWork&) within the scratch, after check(DeviceWork&), which looks at other memory.
template <class Run, class Check>
void run_within(std::span<std::byte> scratch, const Execution& execution, const Run& run, const Check& check) {
    require_scratch(scratch, measured(execution, run));
    ScratchArena arena(scratch);
    DeviceWork work(execution, arena);
    require_memory_there(work, scratch.data(), "scratch");
    check(work);
    run(work);
}

} // namespace

std::int64_t knn_async_bytes_on_device(const AsyncSource& source, std::optional<std::int64_t> queries, std::int64_t k,
                                       Engine engine, Execution execution) {
    const NeighborRows no_rows;
    const PointsOrTree points = points_of(source, execution);
    DeviceKnnAsync call{points, {}, {k, {.engine = engine, .execution = execution}, &no_rows}};
    call.in_memory = std::get_if<AsyncTree>(&source);
    if (queries) {
        AsyncTreeSize size =
            call.in_memory != nullptr ? call.in_memory->size : AsyncTreeSize{points.dtype(), points.dimension()};
        size.points = *queries;
        call.queries = some_points(size, execution);
    }
    call = checked(call);
    return measured(execution, [&](DeviceWork& work) { search(work, call); });
}

void knn_async_on_device(DeviceKnnAsync call, std::span<std::byte> scratch) {
    call = checked(call);
    const NeighborRows& rows = *call.call.rows;
    const bool is_empty = (call.queries ? call.queries->count() : call.points.count()) == 0;
    run_within(
        scratch, call.call.options.execution, [&](DeviceWork& work) { search(work, call); },
        [&](DeviceWork& work) {
            if (call.in_memory != nullptr) {
                require_tree_there(work, *call.in_memory, call.call.options.execution);
            }
            require_memory_there(work, is_empty ? nullptr : rows.indices(), "indices");
            require_memory_there(work, is_empty ? nullptr : rows.distances(), "distances");
            require_memory_there(work, is_empty ? nullptr : rows.query_indices().data(), "indices of queries");
            require_writable(call.status, "status");
        });
}

std::int64_t fof_async_bytes_on_device(const AsyncSource& source, Engine engine, Execution execution) {
    const PointsOrTree points = points_of(source, execution);
    DeviceFofAsync call{points, LinkingLength::absolute(0), {.engine = engine, .execution = execution}};
    call.in_memory = std::get_if<AsyncTree>(&source);
    call = checked(call);
    return measured(execution, [&](DeviceWork& work) { label(work, call); });
}

void fof_async_on_device(DeviceFofAsync call, std::span<std::byte> scratch) {
    call = checked(call);
    run_within(
        scratch, call.options.execution, [&](DeviceWork& work) { label(work, call); },
        [&](DeviceWork& work) {
            if (call.in_memory != nullptr) {
                require_tree_there(work, *call.in_memory, call.options.execution);
            }
            require_memory_there(work, call.points.count() > 0 ? call.labels : nullptr, "labels");
            require_writable(call.summary, "summary");
            require_writable(call.status, "status");
        });
}

namespace {

void build(DeviceWork& work, const AsyncTree& tree, const PointsView& points, const Execution& execution,
           DeviceStatus* status) {
    with_instance(points.dtype(), points.dimension(), [&]<Coordinate T, int D>() {
        build_tree_async_on_device<T, D>(work, execution, tree, points, status);
    });
}

} // namespace

std::int64_t async_tree_bytes_on_device(const AsyncTreeSize& size, const Execution& execution) {
    check_points(some_points(size, execution), {}, execution, Where::stream);
    return bytes_of(size, execution);
}

std::int64_t build_tree_async_bytes_on_device(const AsyncTreeSize& size, const Execution& execution) {
    const PointsView points = some_points(size, execution);
    check_points(points, {}, execution, Where::stream);
    return measured(execution, [&](DeviceWork& work) { build(work, {{}, size, {}}, points, execution, nullptr); });
}

void build_tree_async_on_device(const AsyncTree& tree, const PointsView& points, const Execution& execution,
                                std::span<std::byte> scratch, DeviceStatus* status) {
    check_points(points, tree.box, execution, Where::stream);
    require_size(tree, execution);
    run_within(
        scratch, execution, [&](DeviceWork& work) { build(work, tree, points, execution, status); },
        [&](DeviceWork& work) {
            require_tree_there(work, tree, execution);
            require_writable(status, "status");
        });
}

} // namespace kith::detail::inline KITH_GPU
