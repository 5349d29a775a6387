// kith._jax: search, labels and z-order as custom calls of XLA, for kith.jax.
//
// A handler gets the arrays where XLA has them and writes where XLA wants the results; on a GPU it works on XLA's stream
// and returns when that work is done. Options come as attributes: a box as d periods and d origins, NaN for none.
#include <kith/error.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/tree.hpp>

#include <nanobind/nanobind.h>

#include <xla/ffi/api/ffi.h>
#if KITH_JAX_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace kith::python {

namespace {

namespace nb = nanobind;
namespace ffi = xla::ffi;

using Numbers = ffi::Span<const double>;
using Output = ffi::Result<ffi::AnyBuffer>;

ffi::ErrorCode code_of(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_points:
        return ffi::ErrorCode::kInvalidArgument;
    case ErrorKind::too_large:
        return ffi::ErrorCode::kOutOfRange;
    case ErrorKind::out_of_memory:
        return ffi::ErrorCode::kResourceExhausted;
    case ErrorKind::unsupported:
        return ffi::ErrorCode::kUnimplemented;
    case ErrorKind::canceled:
        return ffi::ErrorCode::kCancelled;
    case ErrorKind::file:
    case ErrorKind::device:
        break;
    }
    return ffi::ErrorCode::kInternal;
}

/// Nothing may be thrown through XLA.
template <class Work>
ffi::Error guarded(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return {code_of(error.kind()), error.what()};
    } catch (const std::exception& error) {
        return {ffi::ErrorCode::kInternal, error.what()};
    }
    return ffi::Error::Success();
}

PointsView points_of(const ffi::AnyBuffer& buffer, const Device& device) {
    const auto shape = buffer.dimensions();
    const DType dtype = buffer.element_type() == ffi::DataType::F64 ? DType::float64 : DType::float32;
    return {buffer.untyped_data(),
            dtype,
            shape[0],
            static_cast<int>(std::min<std::int64_t>(shape[1], std::numeric_limits<int>::max())),
            shape[1],
            1,
            device};
}

Box box_of(Numbers periods, Numbers origins) {
    Box box = Box::periodic(std::span<const double>(periods.begin(), periods.size()));
    for (std::size_t axis = 0; axis < origins.size(); ++axis) {
        if (!std::isnan(origins[axis])) {
            box = box.with_origin(static_cast<int>(axis), origins[axis]);
        }
    }
    return box;
}

NeighborRows rows_of(Output distances, Output indices) {
    const auto make = [&]<class Index, class T>(Index, T) {
        return NeighborRows(std::span<Index>(static_cast<Index*>(indices->untyped_data()), indices->element_count()),
                            std::span<T>(static_cast<T*>(distances->untyped_data()), distances->element_count()));
    };
    const bool is_wide = indices->element_type() == ffi::DataType::S64;
    if (distances->element_type() == ffi::DataType::F64) {
        return is_wide ? make(std::int64_t{}, double{}) : make(std::int32_t{}, double{});
    }
    return is_wide ? make(std::int64_t{}, float{}) : make(std::int32_t{}, float{});
}

ffi::Error search(const Execution& execution, const ffi::AnyBuffer& points,
                  const std::optional<ffi::AnyBuffer>& queries, Output distances, Output indices, std::int64_t k,
                  bool exclude_self, double max_distance, Numbers periods, Numbers origins) {
    return guarded([&] {
        KnnOptions options;
        options.exclude_self = exclude_self;
        options.max_distance = max_distance;
        const PointsView sources = points_of(points, execution.device);
        const NeighborRows rows = rows_of(distances, indices);
        options.box = box_of(periods, origins);
        options.execution = execution;
        if (queries) {
            knn_into(rows, sources, points_of(*queries, execution.device), k, options);
        } else {
            knn_into(rows, sources, k, options);
        }
    });
}

ffi::Error label(const Execution& execution, const ffi::AnyBuffer& points, Output labels, double length,
                 bool is_relative, Numbers periods, Numbers origins) {
    return guarded([&] {
        (void)fof_into({static_cast<std::int32_t*>(labels->untyped_data()), labels->element_count()},
                       points_of(points, execution.device),
                       is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length),
                       {.box = box_of(periods, origins), .execution = execution});
    });
}

/// Which points are where along the z-order curve.
ffi::Error order(const Execution& execution, const ffi::AnyBuffer& points, Output order, Numbers periods,
                 Numbers origins) {
    return guarded([&] {
        const Tree tree(points_of(points, execution.device), {.box = box_of(periods, origins), .execution = execution});
        if (execution.device.kind == DeviceKind::cpu) {
            std::copy_n(tree.order().data(), tree.size(), static_cast<std::int32_t*>(order->untyped_data()));
            return;
        }
#if KITH_JAX_HAS_CUDA
        if (cudaMemcpyAsync(order->untyped_data(), tree.order().data(), tree.order().size_bytes(),
                            cudaMemcpyDeviceToDevice, execution.stream) != cudaSuccess ||
            cudaStreamSynchronize(execution.stream) != cudaSuccess) { // the tree's memory goes with it
            throw Error(ErrorKind::device, "copying the z-order of the points failed on the GPU");
        }
#endif
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
        .template Attr<Numbers>("origins");
}
template <class Binding>
auto with_label_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<double>("length")
        .template Attr<bool>("is_relative")
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins");
}
template <class Binding>
auto with_order_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins");
}
auto on_gpu() {
    return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<CudaStream>>().Ctx<ffi::DeviceOrdinal>();
}

XLA_FFI_DEFINE_HANDLER(search_self_on_cpu,
                       ([](ffi::AnyBuffer points, Output distances, Output indices, auto... options) {
                           return search(cpu(), points, std::nullopt, distances, indices, options...);
                       }),
                       with_search_options(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(search_queries_on_cpu,
                       ([](ffi::AnyBuffer points, ffi::AnyBuffer queries, Output distances, Output indices,
                           auto... options) { return search(cpu(), points, queries, distances, indices, options...); }),
                       with_search_options(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(label_on_cpu, ([](ffi::AnyBuffer points, Output labels, auto... options) {
                           return label(cpu(), points, labels, options...);
                       }),
                       with_label_options(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(order_on_cpu, ([](ffi::AnyBuffer points, Output indices, Numbers periods, Numbers origins) {
                           return order(cpu(), points, indices, periods, origins);
                       }),
                       with_order_options(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(search_self_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, Output distances,
                           Output indices, auto... options) {
                           return search(cuda(device, stream), points, std::nullopt, distances, indices, options...);
                       }),
                       with_search_options(on_gpu().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(search_queries_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, ffi::AnyBuffer queries,
                           Output distances, Output indices, auto... options) {
                           return search(cuda(device, stream), points, queries, distances, indices, options...);
                       }),
                       with_search_options(on_gpu().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(label_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, Output labels,
                           auto... options) { return label(cuda(device, stream), points, labels, options...); }),
                       with_label_options(on_gpu()));

XLA_FFI_DEFINE_HANDLER(order_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, Output indices,
                           Numbers periods,
                           Numbers origins) { return order(cuda(device, stream), points, indices, periods, origins); }),
                       with_order_options(on_gpu()));

nb::capsule capsule_of(XLA_FFI_Handler* handler) {
    return nb::capsule(reinterpret_cast<void*>(handler));
}

} // namespace

NB_MODULE(_jax, module) {
    module.def("handlers", [] {
        nb::dict handlers;
        handlers[nb::make_tuple("kith_search_self", "cpu")] = capsule_of(search_self_on_cpu);
        handlers[nb::make_tuple("kith_search_queries", "cpu")] = capsule_of(search_queries_on_cpu);
        handlers[nb::make_tuple("kith_label", "cpu")] = capsule_of(label_on_cpu);
        handlers[nb::make_tuple("kith_order", "cpu")] = capsule_of(order_on_cpu);
        handlers[nb::make_tuple("kith_search_self", "CUDA")] = capsule_of(search_self_on_gpu);
        handlers[nb::make_tuple("kith_search_queries", "CUDA")] = capsule_of(search_queries_on_gpu);
        handlers[nb::make_tuple("kith_label", "CUDA")] = capsule_of(label_on_gpu);
        handlers[nb::make_tuple("kith_order", "CUDA")] = capsule_of(order_on_gpu);
        return handlers;
    });
}

} // namespace kith::python
