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

/// Checks a call, and chooses its engine; returns the rest of it.
DeviceKnnAsync checked(DeviceKnnAsync search) {
    const PointsView* const queries = search.queries ? &*search.queries : nullptr;
    const KnnCall call{search.points, queries, search.call.k, search.call.options, search.call.rows};
    check(call, Where::stream);
    search.all_pairs = choose(call.task(), call.options.engine, size_of(search.points, queries, 0, Where::stream)) ==
                       Engine::brute_force;
    search.kept = kept_index(search.points);
    return search;
}

DeviceFofAsync checked(DeviceFofAsync fof) {
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

/// A view to measure by. Its address is never used; a view of points must have one.
PointsView some_points(DType dtype, int dimension, std::int64_t count, const Execution& execution) {
    static constexpr double somewhere = 0;
    return {&somewhere, dtype, count, dimension, dimension, 1, execution.device};
}

Execution where_it_is(const Tree& tree) {
    Execution there;
    there.device = tree.device();
    return there;
}

std::int64_t bytes_of_search(const PointsOrTree& points, std::optional<std::int64_t> queries, std::int64_t k,
                             const KnnOptions& options) {
    const NeighborRows no_rows;
    DeviceKnnAsync call{points, {}, {k, options, &no_rows}};
    if (queries) {
        call.queries = some_points(points.dtype(), points.dimension(), *queries, options.execution);
    }
    call = checked(call);
    return measured(options.execution, [&](DeviceWork& work) { search(work, call); });
}

std::int64_t bytes_of_labels(const PointsOrTree& points, const FofOptions& options) {
    const DeviceFofAsync call = checked({points, LinkingLength::absolute(0), options});
    return measured(options.execution, [&](DeviceWork& work) { label(work, call); });
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
    return bytes_of_search(some_points(size.dtype, size.dimension, size.points, execution), size.queries, size.k,
                           {.engine = size.engine, .execution = execution});
}

std::int64_t knn_async_bytes_of_tree_on_device(const Tree& tree, std::int64_t k, std::optional<std::int64_t> queries) {
    return bytes_of_search(tree, queries, k, {.execution = where_it_is(tree)});
}

void knn_async_on_device(DeviceKnnAsync call, std::span<std::byte> scratch) {
    call = checked(call);
    const NeighborRows& rows = *call.call.rows;
    const bool is_empty = (call.queries ? call.queries->count() : call.points.count()) == 0;
    run_within(
        scratch, call.call.options.execution, [&](DeviceWork& work) { search(work, call); },
        [&](DeviceWork& work) {
            require_memory_there(work, is_empty ? nullptr : rows.indices(), "indices");
            require_memory_there(work, is_empty ? nullptr : rows.distances(), "distances");
            require_memory_there(work, is_empty ? nullptr : rows.query_indices().data(), "indices of queries");
            require_writable(call.status, "status");
        });
}

std::int64_t fof_async_bytes_on_device(const FofSize& size, const Execution& execution) {
    return bytes_of_labels(some_points(size.dtype, size.dimension, size.points, execution),
                           {.engine = size.engine, .execution = execution});
}

std::int64_t fof_async_bytes_of_tree_on_device(const Tree& tree) {
    return bytes_of_labels(tree, {.execution = where_it_is(tree)});
}

void fof_async_on_device(DeviceFofAsync call, std::span<std::byte> scratch) {
    call = checked(call);
    run_within(
        scratch, call.options.execution, [&](DeviceWork& work) { label(work, call); },
        [&](DeviceWork& work) {
            require_memory_there(work, call.points.count() > 0 ? call.labels : nullptr, "labels");
            require_writable(call.summary, "summary");
            require_writable(call.status, "status");
        });
}

} // namespace kith::detail::inline KITH_GPU
