#include "cuda/async_calls.hpp"

#include <kith/error.hpp>

#include "cuda/calls.hpp"
#include "cuda/device_work.hpp"
#include "cuda/instances.hpp"
#include "cuda/result_memory.hpp"
#include "cuda/scratch_arena.hpp"
#include "knn/checks.hpp"

#include <string>

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
        throw Error(ErrorKind::invalid_argument,
                    message(what,
                            " are in the memory of the host; a call that does not wait needs them in that of GPU ",
                            execution.device.index));
    }
    require_same_device(view, execution, what);
}

void require_memory_there(const DeviceWork& work, const void* memory, const char* what) {
    if (memory != nullptr && !is_on_device(work, memory)) {
        throw Error(ErrorKind::invalid_argument,
                    message("the memory for ", what, " is not that of GPU ", work.device().index,
                            ", on which the call runs; a call that does not wait copies nothing to the host"));
    }
}

void require_status_there(const DeviceStatus* status) {
    cudaPointerAttributes attributes{};
    if (status != nullptr) {
        check_cuda(cudaPointerGetAttributes(&attributes, status), "asking where memory is");
    }
    if (status == nullptr || attributes.type == cudaMemoryTypeUnregistered) {
        throw Error(ErrorKind::invalid_argument,
                    "the status is in memory that the GPU cannot write; give memory of the "
                    "GPU, managed memory, or pinned memory of the host");
    }
}

void require_scratch(std::span<std::byte> scratch, std::int64_t needed) {
    if (static_cast<std::int64_t>(scratch.size()) < needed) {
        throw Error(ErrorKind::out_of_memory,
                    message("the scratch has ", scratch.size(), " bytes; the call needs ", needed));
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

bool compares_all(Engine engine, std::int64_t points, std::int64_t rows) {
    return engine == Engine::brute_force || (engine == Engine::automatic && brute_force_pays(points, rows));
}

void search(DeviceWork& work, const DeviceKnnAsync& search) {
    with_instance(search.points.dtype(), search.points.dimension(),
                  [&]<Coordinate T, int D>() { search_async_on_device<T, D>(work, search); });
}

} // namespace

std::int64_t knn_async_bytes_on_device(const KnnSize& size, const Execution& execution) {
    require_gpu(execution);
    check_request(size.k, {}, size.queries.has_value());
    const auto some = [&](std::int64_t count, const char* what) {
        // The address is never used; a view of points must have one.
        const PointsView view(&size, size.dtype, count, size.dimension, size.dimension, 1, execution.device);
        check_shape(view, what);
        return view;
    };
    DeviceKnnAsync call;
    call.points = some(size.points, "points");
    require_device(size.dimension);
    if (size.queries) {
        call.queries = some(*size.queries, "queries");
    }
    const NeighborRows no_rows;
    call.call.k = size.k;
    call.call.rows = &no_rows;
    call.all_pairs = compares_all(size.engine, size.points, size.queries.value_or(size.points));
    return measured(execution, [&](DeviceWork& work) { search(work, call); });
}

void knn_async_on_device(DeviceKnnAsync call, std::span<std::byte> scratch, const Execution& execution) {
    require_gpu(execution);
    const std::int64_t k = call.call.k;
    const KnnOptions& options = call.call.options;
    const std::int64_t rows = call.queries ? call.queries->count() : call.points.count();
    check_request(k, options, call.queries.has_value());
    check_shape(call.points, "points");
    require_device(call.points.dimension());
    require_points_there(call.points, execution, "points");
    if (call.queries) {
        check_shape(*call.queries, "queries");
        check_queries(*call.queries, call.points.dimension(), call.points.dtype());
        require_points_there(*call.queries, execution, "queries");
    }
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { check_box<T>(call.box, call.points.dimension()); });
    check_rows(*call.call.rows, rows, k, call.points.dtype());
    call.all_pairs = compares_all(options.engine, call.points.count(), rows);

    const std::int64_t needed = measured(execution, [&](DeviceWork& work) { search(work, call); });
    require_scratch(scratch, needed);
    ScratchArena arena(scratch);
    DeviceWork work(execution, arena);
    require_memory_there(work, scratch.data(), "scratch");
    require_memory_there(work, rows > 0 ? call.call.rows->indices() : nullptr, "indices");
    require_memory_there(work, rows > 0 ? call.call.rows->distances() : nullptr, "distances");
    require_status_there(call.status);
    search(work, call);
}

} // namespace kith::detail::inline KITH_GPU
