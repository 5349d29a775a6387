// Labels of groups and their catalog as custom calls of XLA.
//
// A catalog has room for as many groups as the caller says; its other rows are 0. On a GPU the groups are found and
// described there, but the catalog comes from the host, for which the call waits.
#include "jax_call.hpp"
#include "jax_trees.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/fof.hpp>
#if KITH_JAX_HAS_CUDA
#include "jax_async.hpp"

#include <kith/async.hpp>
#endif

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

LinkingLength length_of(double length, bool is_relative) {
    return is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
}

ffi::Error label(const ffi::AnyBuffer& points, Output labels, double length, bool is_relative, Numbers periods,
                 Numbers origins, bool is_kept) {
    return guarded([&] {
        Batch(labels, 1).for_each([&](std::int64_t element) {
            const KeptOrPoints index(points_of(points, {}, element), box_of(periods, origins), is_kept);
            (void)fof_into(elements_of<std::int32_t>(labels, 1, element), index.get(), length_of(length, is_relative),
                           {.box = index.box()});
        });
    });
}

#if KITH_JAX_HAS_CUDA
ffi::Error label_async(const Execution& execution, ffi::ScratchAllocator& allocator, const ffi::AnyBuffer& points,
                       Output labels, double length, bool is_relative, Numbers periods, Numbers origins,
                       bool /*is_kept*/) {
    return guarded([&] {
        PendingCalls::of_process().raise_finished(false);
        spoil(labels, execution.stream);
        const PointsView first = points_of(points, execution.device);
        const std::int64_t bytes = fof_async_bytes({first.dtype(), first.dimension(), first.count()}, execution);
        const std::span<std::byte> scratch = scratch_of(allocator, bytes); // of all elements
        const Batch batch(labels, 1);
        batch.for_each([&](std::int64_t element) {
            PendingCalls::of_process().run(execution, batch.place_of(element), [&](PendingCalls::Report& report) {
                fof_async(elements_of<std::int32_t>(labels, 1, element), points_of(points, execution.device, element),
                          length_of(length, is_relative), {.box = box_of(periods, origins), .execution = execution},
                          scratch, &report.summary, &report.status);
            });
        });
    });
}
#endif

/// What is known of each particle beside its position; arrays without elements where a flag is false.
struct ParticleColumns {
    ffi::AnyBuffer velocities;
    ffi::AnyBuffer masses;
    ffi::AnyBuffer types;
    bool has_velocities;
    bool has_masses;
    bool has_types;

    [[nodiscard]] Particles of(const PointsView& positions, const Batch& batch, std::int64_t element) const {
        Particles particles{.positions = positions};
        const std::int64_t count = positions.count();
        if (has_velocities) {
            particles.velocities = points_of(velocities, positions.device(), batch.array_of(velocities, element));
        }
        if (has_masses) {
            particles.masses = ScalarsView(array_in(masses, 1, batch.array_of(masses, element)), dtype_of(masses),
                                           count, static_cast<std::int64_t>(bytes_of_element(masses)));
        }
        if (has_types) {
            particles.types = IntegersView(
                reinterpret_cast<const std::uint8_t*>(array_in(types, 1, batch.array_of(types, element))), count);
        }
        return particles;
    }
};

struct GroupOptions {
    double length;
    bool is_relative;
    std::int64_t min_members;
    Numbers periods;
    Numbers origins;
    bool is_kept;
};

template <class T>
void store(const Execution& execution, std::span<T> memory, const std::vector<T>& values) {
    if (execution.device.kind == DeviceKind::cpu) {
        std::ranges::copy(values, memory.begin());
        return;
    }
#if KITH_JAX_HAS_CUDA
    check_cuda_call(
        cudaMemcpyAsync(memory.data(), values.data(), memory.size_bytes(), cudaMemcpyHostToDevice, execution.stream),
        "copying a catalog");
    check_cuda_call(cudaStreamSynchronize(execution.stream), "copying a catalog"); // the values go with the caller
#endif
}

/// A column of a catalog, cut or filled up with zeros to the length of the result, in its type.
template <class To, class From>
void store_column(const Execution& execution, std::span<To> memory, const std::vector<From>& values) {
    std::vector<To> rows(memory.size());
    std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), rows.size())),
                   rows.begin(), [](From value) { return static_cast<To>(value); });
    store(execution, memory, rows);
}

ffi::Error describe(const Execution& execution, const ffi::AnyBuffer& points, const ParticleColumns& columns,
                    Output labels, Output groups, ffi::RemainingRets results, const GroupOptions& options) {
    return guarded([&] {
        const Batch batch(labels, 1);
        batch.for_each([&](std::int64_t element) {
            const PointsView positions = points_of(points, execution.device, batch.array_of(points, element));
            const std::span<std::int32_t> label = elements_of<std::int32_t>(labels, 1, element);
            const KeptOrPoints index(positions, box_of(options.periods, options.origins),
                                     options.is_kept && execution.device.kind == DeviceKind::cpu);
            const FofSummary found = fof_into(label, index.get(), length_of(options.length, options.is_relative),
                                              {.box = index.box(), .execution = execution});
            const Catalog catalog = kith::catalog(label, found, columns.of(positions, batch, element),
                                                  {.min_members = options.min_members, .execution = execution});
            store(execution, elements_of<std::int32_t>(groups, 0, element),
                  {static_cast<std::int32_t>(catalog.groups)});
            std::size_t next = 0;
            for_each_field(catalog, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
                if (column.presence == ColumnPresence::with_velocities && !columns.has_velocities) {
                    return;
                }
                Output result = results.get<ffi::AnyBuffer>(next++).value();
                const std::size_t own = column.shape == ColumnShape::scalar ? 1 : 2;
                if constexpr (std::is_same_v<T, std::int64_t>) {
                    store_column(execution, elements_of<std::int32_t>(result, own, element), values);
                } else if constexpr (std::is_same_v<T, std::uint8_t>) {
                    store_column(execution, elements_of<std::uint8_t>(result, own, element), values);
                } else if (dtype_of(*result) == DType::float64) {
                    store_column(execution, elements_of<double>(result, own, element), values);
                } else {
                    store_column(execution, elements_of<float>(result, own, element), values);
                }
            });
        });
    });
}

template <class Binding>
auto with_label_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<double>("length")
        .template Attr<bool>("is_relative")
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins")
        .template Attr<bool>("is_kept");
}
template <class Binding>
auto with_catalog_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Arg<ffi::AnyBuffer>()
        .template Arg<ffi::AnyBuffer>()
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .RemainingRets()
        .template Attr<bool>("has_velocities")
        .template Attr<bool>("has_masses")
        .template Attr<bool>("has_types")
        .template Attr<double>("length")
        .template Attr<bool>("is_relative")
        .template Attr<std::int64_t>("min_members")
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins")
        .template Attr<bool>("is_kept");
}
XLA_FFI_DEFINE_HANDLER(label_on_cpu, ([](ffi::AnyBuffer points, Output labels, auto... options) {
                           return label(points, labels, options...);
                       }),
                       with_label_options(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(describe_on_cpu,
                       ([](ffi::AnyBuffer points, ffi::AnyBuffer velocities, ffi::AnyBuffer masses,
                           ffi::AnyBuffer types, Output labels, Output groups, ffi::RemainingRets results,
                           bool has_velocities, bool has_masses, bool has_types, auto... options) {
                           return describe(cpu(), points,
                                           {velocities, masses, types, has_velocities, has_masses, has_types}, labels,
                                           groups, results, {options...});
                       }),
                       with_catalog_options(ffi::Ffi::Bind()));
#if KITH_JAX_HAS_CUDA
XLA_FFI_DEFINE_HANDLER(label_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer points,
                           Output labels, auto... options) {
                           return label_async(cuda(device, stream), scratch, points, labels, options...);
                       }),
                       with_label_options(on_gpu().Ctx<ffi::ScratchAllocator>()));
XLA_FFI_DEFINE_HANDLER(describe_on_gpu,
                       ([](CudaStream stream, std::int32_t device, ffi::AnyBuffer points, ffi::AnyBuffer velocities,
                           ffi::AnyBuffer masses, ffi::AnyBuffer types, Output labels, Output groups,
                           ffi::RemainingRets results, bool has_velocities, bool has_masses, bool has_types,
                           auto... options) {
                           return describe(cuda(device, stream), points,
                                           {velocities, masses, types, has_velocities, has_masses, has_types}, labels,
                                           groups, results, {options...});
                       }),
                       with_catalog_options(on_gpu()));
#endif

} // namespace

void add_group_handlers(nb::dict& handlers) {
    handlers[nb::make_tuple("kith_label", "cpu")] = capsule_of(label_on_cpu);
    handlers[nb::make_tuple("kith_catalog", "cpu")] = capsule_of(describe_on_cpu);
#if KITH_JAX_HAS_CUDA
    handlers[nb::make_tuple("kith_label", "CUDA")] = capsule_of(label_on_gpu);
    handlers[nb::make_tuple("kith_catalog", "CUDA")] = capsule_of(describe_on_gpu);
#endif
}

} // namespace kith::python
