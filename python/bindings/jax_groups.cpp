// Labels of groups and their catalog as custom calls of XLA.
//
// A catalog has room for as many groups as the caller says; its other rows are 0. On a GPU the groups are found and
// described there, and columns go from array to array; the call waits for their number and sizes.
#include "jax_call.hpp"
#include "jax_trees.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/device_catalog.hpp>
#include <kith/fof.hpp>
#if KITH_JAX_HAS_CUDA
#include "jax_async.hpp"

#include <kith/async.hpp>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {

namespace {

LinkingLength length_of(double length, bool is_relative) {
    return is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
}

ffi::Error label(const ffi::AnyBuffer& points, Output labels, double length, bool is_relative, Numbers periods,
                 Numbers origins, bool is_kept, bool /*has_index*/) {
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
                       const ffi::AnyBuffer& index, Output labels, double length, bool is_relative, Numbers periods,
                       Numbers origins, bool /*is_kept*/, bool has_index) {
    return guarded([&] {
        PendingCalls::of_process().raise_finished(false);
        spoil(labels, execution.stream);
        const Box box = box_of(periods, origins);
        const Batch batch(labels, 1);
        std::span<std::byte> scratch; // of all elements
        batch.for_each([&](std::int64_t element) {
            const auto label_in = [&](const auto& source, const Box& of_options, const auto& bytes) {
                if (scratch.empty()) {
                    scratch = scratch_of(allocator, bytes()); // of the first element, as of all
                }
                PendingCalls::of_process().run(execution, batch.place_of(element), [&](PendingCalls::Report& report) {
                    fof_async(elements_of<std::int32_t>(labels, 1, element), source, length_of(length, is_relative),
                              {.box = of_options, .execution = execution}, scratch, &report.summary, &report.status);
                });
            };
            const PointsView sources = points_of(points, execution.device, batch.array_of(points, element));
            if (has_index) {
                const AsyncTree tree = tree_in(index, batch.array_of(index, element), sources, box);
                label_in(tree, Box(), [&] { return fof_async_bytes(tree, execution); });
            } else {
                label_in(sources, box, [&] {
                    return fof_async_bytes({sources.dtype(), sources.dimension(), sources.count()}, execution);
                });
            }
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

/// Memory for a column of an element.
ColumnMemory memory_of(const CatalogColumn& column, Output result, std::int64_t element) {
    const std::size_t own = column.shape == ColumnShape::scalar ? 1 : 2;
    if (std::holds_alternative<std::vector<std::int64_t> Catalog::*>(column.values)) {
        return elements_of<std::int32_t>(result, own, element);
    }
    if (std::holds_alternative<std::vector<std::uint8_t> Catalog::*>(column.values)) {
        return elements_of<std::uint8_t>(result, own, element);
    }
    if (dtype_of(*result) == DType::float64) {
        return elements_of<double>(result, own, element);
    }
    return elements_of<float>(result, own, element);
}

/// Calls visit(column, member, memory) for each column that there is.
template <class Visitor>
void for_each_column(const Catalog& catalog, ffi::RemainingRets results, bool has_velocities, std::int64_t element,
                     const Visitor& visit) {
    std::size_t next = 0;
    for_each_field(catalog, [&](const CatalogColumn& column, const auto& values) {
        if (column.presence != ColumnPresence::with_velocities || has_velocities) {
            visit(column, values, memory_of(column, results.get<ffi::AnyBuffer>(next++).value(), element));
        }
    });
}

/// A column of a catalog, cut or filled up with zeros to the length of the result, in its type.
template <class From>
void store_on_host(const std::vector<From>& values, const ColumnMemory& to) {
    std::visit(
        [&]<class To>(std::span<To> memory) {
            const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), memory.size()));
            const auto rest =
                std::transform(values.begin(), last, memory.begin(), [](From value) { return static_cast<To>(value); });
            std::fill(rest, memory.end(), To(0));
        },
        to);
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
            const Particles particles = columns.of(positions, batch, element);
            const CatalogOptions asked{.min_members = options.min_members, .execution = execution};
            const std::span<std::int32_t> number = elements_of<std::int32_t>(groups, 0, element);
            if (execution.device.kind == DeviceKind::cpu) {
                const Catalog catalog = kith::catalog(label, found, particles, asked);
                number[0] = static_cast<std::int32_t>(catalog.groups);
                for_each_column(catalog, results, columns.has_velocities, element,
                                [](const CatalogColumn& /*column*/, const auto& values, const ColumnMemory& to) {
                                    store_on_host(values, to);
                                });
                return;
            }
#if KITH_JAX_HAS_CUDA
            const DeviceCatalog catalog = device_catalog(label, found, particles, asked);
            const auto count = static_cast<std::int32_t>(catalog.groups);
            try {
                check_cuda_call(
                    cudaMemcpyAsync(number.data(), &count, sizeof(count), cudaMemcpyHostToDevice, execution.stream),
                    "copying the number of groups");
                for_each_column(Catalog(), results, columns.has_velocities, element,
                                [&](const CatalogColumn& column, const auto& /*values*/, const ColumnMemory& to) {
                                    store_column(catalog, column.field, to, execution.stream);
                                });
            } catch (...) {
                (void)cudaStreamSynchronize(execution.stream); // before the catalog is freed
                throw;
            }
            check_cuda_call(cudaStreamSynchronize(execution.stream), "copying a catalog"); // which is freed now
#endif
        });
    });
}

template <class Binding>
auto with_label_options(Binding binding) {
    return std::move(binding)
        .template Arg<ffi::AnyBuffer>()
        .template Arg<ffi::AnyBuffer>()
        .template Ret<ffi::AnyBuffer>()
        .template Attr<double>("length")
        .template Attr<bool>("is_relative")
        .template Attr<Numbers>("periods")
        .template Attr<Numbers>("origins")
        .template Attr<bool>("is_kept")
        .template Attr<bool>("has_index");
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
XLA_FFI_DEFINE_HANDLER(label_on_cpu,
                       ([](ffi::AnyBuffer points, ffi::AnyBuffer /*index*/, Output labels, auto... options) {
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
                           ffi::AnyBuffer index, Output labels, auto... options) {
                           return label_async(cuda(device, stream), scratch, points, index, labels, options...);
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
