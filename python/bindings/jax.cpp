// kith._jax: searches and z-order as custom calls of XLA, for kith.jax; jax_groups.cpp has those of groups, jax_sums.cpp
// those of sums.
//
// A handler gets the arrays where XLA has them and writes where XLA wants the results. On a GPU searches and labels are
// put on XLA's stream, with scratch that XLA gives, and are not waited for: what they refuse is raised later
// (jax_async.hpp), and results hold NaN and -1 then. The index of a kith.jax.Tree is an array there, written by a call
// of its own. The z-order needs another tree, whose counts the host waits for. Options come as attributes: a box as d
// periods and d origins, NaN for none. One call answers a batch (jax_call.hpp); on a GPU its elements follow each other
// on the stream.
#include "jax_call.hpp"
#include "jax_trees.hpp"

#include <kith/async_tree.hpp>
#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/tree.hpp>
#if KITH_JAX_HAS_CUDA
#include "jax_async.hpp"

#include <kith/async.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace kith::python {

namespace {

struct SearchOptions {
    std::int64_t k;
    bool exclude_self;
    double max_distance;
    Numbers periods;
    Numbers origins;
    bool is_kept;   ///< of a kith.jax.Tree, which the CPU keeps
    bool has_index; ///< else the array of the index has no elements

    [[nodiscard]] KnnOptions on(const Execution& execution, const Box& box) const {
        return {.box = box, .exclude_self = exclude_self, .max_distance = max_distance, .execution = execution};
    }
};

/// Calls search(points, queries, rows, element, elements) for each element of a batch, or for several together; queries
/// is null for a self-search. The queries of a batch that shares its points are those of one search.
template <class Search>
void search_each(const Device& device, const ffi::AnyBuffer& points, const std::optional<ffi::AnyBuffer>& queries,
                 Output distances, Output indices, const Search& search) {
    const Batch batch(distances, 2);
    const auto search_of = [&](std::int64_t source, std::int64_t query, std::int64_t element, std::int64_t elements) {
        const PointsView sources = points_of(points, device, source);
        const NeighborRows rows = rows_of(distances, indices, element, elements);
        const PointsView around = queries ? points_of(*queries, device, query, elements) : PointsView();
        search(sources, queries ? &around : nullptr, rows, element, elements);
    };
    const std::int64_t elements = batch.count();
    const bool is_shared =
        queries && batch.arrays(points, 2) == 1 && queries->element_count() < std::numeric_limits<std::int32_t>::max();
    if (is_shared && elements > 0) {
        search_of(0, 0, 0, elements);
        return;
    }
    batch.for_each([&](std::int64_t element) {
        search_of(batch.array_of(points, element), queries ? batch.array_of(*queries, element) : 0, element, 1);
    });
}

ffi::Error search(const ffi::AnyBuffer& points, const std::optional<ffi::AnyBuffer>& queries, Output distances,
                  Output indices, const SearchOptions& options) {
    return guarded([&] {
        search_each({}, points, queries, distances, indices,
                    [&](const PointsView& sources, const PointsView* around, const NeighborRows& rows,
                        std::int64_t /*element*/, std::int64_t /*elements*/) {
                        const KeptOrPoints index(sources, box_of(options.periods, options.origins), options.is_kept);
                        if (around != nullptr) {
                            knn_into(rows, index.get(), *around, options.k, options.on(cpu(), index.box()));
                        } else {
                            knn_into(rows, index.get(), options.k, options.on(cpu(), index.box()));
                        }
                    });
    });
}

#if KITH_JAX_HAS_CUDA
ffi::Error search_async(const Execution& execution, ffi::ScratchAllocator& allocator, const ffi::AnyBuffer& points,
                        const ffi::AnyBuffer& index, const std::optional<ffi::AnyBuffer>& queries, Output distances,
                        Output indices, const SearchOptions& options) {
    return guarded([&] {
        PendingCalls::of_process().raise_finished(false);
        spoil(distances, execution.stream);
        spoil(indices, execution.stream);
        const Box box = box_of(options.periods, options.origins);
        const Batch batch(distances, 2);
        std::span<std::byte> scratch; // of all elements, one after another on the stream
        search_each(
            execution.device, points, queries, distances, indices,
            [&](const PointsView& sources, const PointsView* around, const NeighborRows& rows, std::int64_t element,
                std::int64_t elements) {
                const auto others = around != nullptr ? std::optional(around->count()) : std::nullopt;
                const std::string place = elements == 1 ? batch.place_of(element) : std::string();
                const auto search_in = [&](const auto& source, const Box& of_options, const auto& bytes) {
                    if (scratch.empty()) {
                        scratch = scratch_of(allocator, bytes()); // of the first element, as of all
                    }
                    const KnnOptions asked = options.on(execution, of_options);
                    PendingCalls::of_process().run(execution, place, [&](PendingCalls::Report& report) {
                        if (around != nullptr) {
                            knn_async(rows, source, *around, options.k, asked, scratch, &report.status);
                        } else {
                            knn_async(rows, source, options.k, asked, scratch, &report.status);
                        }
                    });
                };
                if (options.has_index) {
                    const AsyncTree tree = tree_in(index, batch.array_of(index, element), sources, box);
                    search_in(tree, Box(), [&] { return knn_async_bytes(tree, options.k, others, execution); });
                } else {
                    const KnnSize size{sources.dtype(), sources.dimension(), sources.count(), others, options.k};
                    search_in(sources, box, [&] { return knn_async_bytes(size, execution); });
                }
            });
    });
}

/// Puts the index of the points on the stream, into an array that searches and labels take.
ffi::Error index_async(const Execution& execution, ffi::ScratchAllocator& allocator, const ffi::AnyBuffer& points,
                       Output index, Numbers periods, Numbers origins, bool /*is_kept*/) {
    return guarded([&] {
        PendingCalls::of_process().raise_finished(false);
        const PointsView first = points_of(points, execution.device);
        const std::span<std::byte> scratch =
            scratch_of(allocator, build_tree_async_bytes({first.dtype(), first.dimension(), first.count()}, execution));
        const Batch batch(index, 1);
        batch.for_each([&](std::int64_t element) {
            const PointsView view = points_of(points, execution.device, batch.array_of(points, element));
            PendingCalls::of_process().run(execution, batch.place_of(element), [&](PendingCalls::Report& report) {
                (void)build_tree_async(elements_of<std::byte>(index, 1, element), view, box_of(periods, origins),
                                       execution, scratch, &report.status);
            });
        });
    });
}
#endif

/// The index of a GPU, where there is none: handlers of the CPU do not read it (KeptTrees).
ffi::Error no_index(Output index) {
    std::ranges::fill(elements_of<std::byte>(index, 0, 0, static_cast<std::int64_t>(index->size_bytes())), std::byte{});
    return ffi::Error::Success();
}

/// Which points are where along the z-order curve.
ffi::Error order(const Execution& execution, const ffi::AnyBuffer& points, Output order, Numbers periods,
                 Numbers origins, bool is_kept) {
    return guarded([&] {
        Batch(order, 1).for_each([&](std::int64_t element) {
            const PointsView view = points_of(points, execution.device, element);
            const Box box = box_of(periods, origins);
            const bool is_on_cpu = execution.device.kind == DeviceKind::cpu;
            const Tree tree = is_kept && is_on_cpu ? KeptTrees::of_process().tree(view, box)
                                                   : Tree(view, {.box = box, .execution = execution});
            const std::span<std::int32_t> out = elements_of<std::int32_t>(order, 1, element);
            if (is_on_cpu) {
                std::ranges::copy(tree.order(), out.begin());
                return;
            }
#if KITH_JAX_HAS_CUDA
            check_cuda_call(cudaMemcpyAsync(out.data(), tree.order().data(), tree.order().size_bytes(),
                                            cudaMemcpyDeviceToDevice, execution.stream),
                            "copying the z-order of the points");
            check_cuda_call(cudaStreamSynchronize(execution.stream), "copying the z-order of the points");
            // The tree's memory goes with it.
#endif
        });
    });
}

// Where a handler runs is told by its first arguments.
template <class Binding>
auto with_search_options(Binding binding) {
    return std::move(binding)
        .template Ret<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<std::int64_t>("k")
        .template Attr<bool>("exclude_self")
        .template Attr<double>("max_distance")
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins")
        .template Attr<bool>("is_kept")
        .template Attr<bool>("has_index");
}
template <class Binding>
auto with_order_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins")
        .template Attr<bool>("is_kept");
}
XLA_FFI_DEFINE_HANDLER(search_self_on_cpu,
                       ([](ffi::AnyBuffer points, ffi::AnyBuffer /*index*/, Output distances, Output indices,
                           auto... options) { return search(points, std::nullopt, distances, indices, {options...}); }),
                       with_search_options(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(
    search_queries_on_cpu,
    ([](ffi::AnyBuffer points, ffi::AnyBuffer /*index*/, ffi::AnyBuffer queries, Output distances, Output indices,
        auto... options) { return search(points, queries, distances, indices, {options...}); }),
    with_search_options(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(order_on_cpu, ([](ffi::AnyBuffer points, Output indices, auto... options) {
                           return order(cpu(), points, indices, options...);
                       }),
                       with_order_options(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(index_on_cpu,
                       ([](ffi::AnyBuffer /*points*/, Output index, auto... /*options*/) { return no_index(index); }),
                       with_order_options(ffi::Ffi::Bind()));
#if KITH_JAX_HAS_CUDA
XLA_FFI_DEFINE_HANDLER(
    search_self_on_gpu,
    ([](CudaStream stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer points,
        ffi::AnyBuffer index, Output distances, Output indices, auto... options) {
        return search_async(cuda(device, stream), scratch, points, index, std::nullopt, distances, indices,
                            {options...});
    }),
    with_search_options(on_gpu().Ctx<ffi::ScratchAllocator>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(
    search_queries_on_gpu,
    ([](CudaStream stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer points,
        ffi::AnyBuffer index, ffi::AnyBuffer queries, Output distances, Output indices, auto... options) {
        return search_async(cuda(device, stream), scratch, points, index, queries, distances, indices, {options...});
    }),
    with_search_options(
        on_gpu().Ctx<ffi::ScratchAllocator>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(index_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer points,
                           Output index, auto... options) {
                           return index_async(cuda(device, stream), scratch, points, index, options...);
                       }),
                       with_order_options(on_gpu().Ctx<ffi::ScratchAllocator>()));
XLA_FFI_DEFINE_HANDLER(order_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, Output indices,
                           auto... options) { return order(cuda(device, stream), points, indices, options...); }),
                       with_order_options(on_gpu()));
#endif

/// Runs body(), whose errors are Python's then.
template <class Body>
auto translating_errors(const Body& body) {
    try {
        return body();
    } catch (const Error& error) {
        if (code_of(error.kind()) == ffi::ErrorCode::kInvalidArgument) {
            throw nb::value_error(error.what());
        }
        throw std::runtime_error(error.what());
    }
}

} // namespace

NB_MODULE(_jax, module) {
    module.def("handlers", [] {
        nb::dict handlers;
        handlers[nb::make_tuple("kith_search_self", "cpu")] = capsule_of(search_self_on_cpu);
        handlers[nb::make_tuple("kith_search_queries", "cpu")] = capsule_of(search_queries_on_cpu);
        handlers[nb::make_tuple("kith_order", "cpu")] = capsule_of(order_on_cpu);
        handlers[nb::make_tuple("kith_index", "cpu")] = capsule_of(index_on_cpu);
#if KITH_JAX_HAS_CUDA
        handlers[nb::make_tuple("kith_search_self", "CUDA")] = capsule_of(search_self_on_gpu);
        handlers[nb::make_tuple("kith_search_queries", "CUDA")] = capsule_of(search_queries_on_gpu);
        handlers[nb::make_tuple("kith_order", "CUDA")] = capsule_of(order_on_gpu);
        handlers[nb::make_tuple("kith_index", "CUDA")] = capsule_of(index_on_gpu);
#endif
        add_group_handlers(handlers);
        add_sum_handlers(handlers);
        return handlers;
    });
    // Elements of an array for the index of points on a GPU; throws where there is none.
    module.def("index_bytes", [](bool is_double, int dimension, std::int64_t points) {
        constexpr std::int64_t unit = 256; // the arrays of a batch are aligned
        return translating_errors([&] {
            const std::int64_t bytes =
                async_tree_bytes({is_double ? DType::float64 : DType::float32, dimension, points}, cuda());
            return (bytes + unit - 1) / unit * unit;
        });
    });
    module.def("trees_built", [] { return KeptTrees::of_process().built(); });
    module.def("release_trees", [] { KeptTrees::of_process().release(); });
    module.def("synchronize", [] {
#if KITH_JAX_HAS_CUDA
        translating_errors([] {
            const nb::gil_scoped_release released;
            PendingCalls::of_process().raise_finished(true);
        });
#endif
    });
}

} // namespace kith::python
