#include "calls/device_async_calls.hpp"

#include <kith/error.hpp>

#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/device_checks.hpp"
#include "cuda/device_work.hpp"
#include "cuda/instances.hpp"
#include "cuda/result_memory.hpp"
#include "cuda/scratch_arena.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "groups/checks.hpp"
#include "groups/resolve_length.hpp"
#include "neighbors/checks.hpp"

namespace kith::detail::inline KITH_GPU {

namespace {

void require_gpu(const Execution& execution) {
    if (!is_on_gpu(execution)) {
        throw Error(ErrorKind::invalid_argument, "calls that only put work on a stream run on a GPU; give them "
                                                 "kith::cuda() with your stream");
    }
}

void require_points_there(const PointsView& view, const Execution& execution, const char* what) {
    if (view.count() > 0 && view.device().kind != DeviceKind::cuda) {
        throw error(ErrorKind::invalid_argument, what,
                    " are in the memory of the host; a call that does not wait needs them in that of GPU ",
                    execution.device.index);
    }
    require_same_device(view, execution, what);
}

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

bool goes_by_brute_force(Task task, Engine wanted, std::int64_t points, std::int64_t rows) {
    const CallSize size{.points = points, .queries = rows, .device = DeviceKind::cuda, .asynchronous = true};
    return choose(task, wanted, size) == Engine::brute_force;
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

/// A view of nothing, to measure by. The address is never used; a view of points must have one.
PointsView some_points(DType dtype, int dimension, std::int64_t count, const char* what) {
    static constexpr double somewhere = 0;
    const PointsView view(&somewhere, dtype, count, dimension, dimension, 1);
    check_shape(view, what);
    require_device(dimension);
    return view;
}

void check_sources_there(const PointsView& points, const Box& box, const Execution& execution) {
    check_shape(points, "points");
    require_device(points.dimension());
    require_points_there(points, execution, "points");
    with_dtype(points.dtype(), [&]<Coordinate T>(T) { check_box<T>(box, points.dimension()); });
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

std::int64_t knn_async_bytes_on_device(const KnnSize& size, const Execution& execution) {
    require_gpu(execution);
    check_request(size.k, {}, size.queries.has_value());
    DeviceKnnAsync call;
    call.points = some_points(size.dtype, size.dimension, size.points, "points");
    if (size.queries) {
        call.queries = some_points(size.dtype, size.dimension, *size.queries, "queries");
    }
    const NeighborRows no_rows;
    call.call.k = size.k;
    call.call.rows = &no_rows;
    call.all_pairs = goes_by_brute_force(Task::neighbors, size.engine, size.points, size.queries.value_or(size.points));
    return measured(execution, [&](DeviceWork& work) { search(work, call); });
}

void knn_async_on_device(DeviceKnnAsync call, std::span<std::byte> scratch) {
    const Execution& execution = call.call.options.execution;
    require_gpu(execution);
    const std::int64_t k = call.call.k;
    const KnnOptions& options = call.call.options;
    const std::int64_t rows = call.queries ? call.queries->count() : call.points.count();
    check_request(k, options, call.queries.has_value());
    check_sources_there(call.points, options.box, execution);
    if (call.queries) {
        check_shape(*call.queries, "queries");
        check_queries(*call.queries, call.points.dimension(), call.points.dtype());
        require_points_there(*call.queries, execution, "queries");
    }
    const NeighborRows& memory = *call.call.rows;
    check_rows(memory, rows, k, call.points.dtype());
    call.all_pairs = goes_by_brute_force(Task::neighbors, options.engine, call.points.count(), rows);
    run_within(
        scratch, execution, [&](DeviceWork& work) { search(work, call); },
        [&](DeviceWork& work) {
            require_memory_there(work, rows > 0 ? memory.indices() : nullptr, "indices");
            require_memory_there(work, rows > 0 ? memory.distances() : nullptr, "distances");
            require_writable(call.status, "status");
        });
}

std::int64_t fof_async_bytes_on_device(const FofSize& size, const Execution& execution) {
    require_gpu(execution);
    const DeviceFofAsync call{some_points(size.dtype, size.dimension, size.points, "points"),
                              LinkingLength::absolute(0),
                              {},
                              nullptr,
                              goes_by_brute_force(Task::groups, size.engine, size.points, size.points)};
    return measured(execution, [&](DeviceWork& work) { label(work, call); });
}

void fof_async_on_device(DeviceFofAsync call, std::span<std::byte> scratch) {
    const Execution& execution = call.options.execution;
    require_gpu(execution);
    check_length(call.length);
    check_sources_there(call.points, call.options.box, execution);
    if (!call.length.is_relative()) { // then it takes no points to resolve it
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
            ResolvedLength resolved;
            check(resolve_length(call.length.value(), false, Frame<T>(), 0, resolved));
        });
    }
    const std::int64_t points = call.points.count();
    call.all_pairs = goes_by_brute_force(Task::groups, call.options.engine, points, points);
    run_within(
        scratch, execution, [&](DeviceWork& work) { label(work, call); },
        [&](DeviceWork& work) {
            require_memory_there(work, points > 0 ? call.labels : nullptr, "labels");
            require_writable(call.summary, "summary");
            require_writable(call.status, "status");
        });
}

} // namespace kith::detail::inline KITH_GPU
