// What is wrong with particles in a device's memory is said by the CPU: they are copied to the host and described
// there, which throws before it has done much. Only calls that are refused come here.
#pragma once

#include <kith/catalog.hpp>
#include <kith/error.hpp>

#include "cuda/device_context.hpp"
#include "halos/columns.hpp"
#include "points/transfer.hpp"
#include "support/number_types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// Scalars as a view of points on a line, and back.
inline PointsView on_a_line(const ScalarsView& scalars) {
    const void* const axis[] = {scalars.data()};
    return {axis, scalars.dtype(), scalars.count(), scalars.stride()};
}
inline ScalarsView scalars_of(const PointsView& line) {
    return {line.axis(0), line.dtype(), line.count(), line.stride()};
}

/// Throws what kith::catalog throws. There are rows, and their number and the dimensions have been checked.
[[noreturn]] inline void refuse_as_the_cpu_does(DeviceContext& context, const halos::LabeledGroups& given,
                                                const Particles& particles, const CatalogOptions& options) {
    const std::int64_t rows = given.rows();
    const std::vector<std::int32_t> labels = context.to_host(given.labels.data(), rows);
    FofSummary groups;
    groups.sizes = given.sizes;
    Particles on_host = particles;
    const HostCopy positions(context, particles.positions);
    on_host.positions = positions.view();
    HostCopy velocities;
    HostCopy masses;
    std::vector<std::uint8_t> types;
    if (particles.velocities) {
        velocities = HostCopy(context, *particles.velocities);
        on_host.velocities = velocities.view();
    }
    if (particles.masses) {
        masses = HostCopy(context, on_a_line(*particles.masses));
        on_host.masses = scalars_of(masses.view());
    }
    if (!particles.types.empty()) {
        types = context.to_host(halos::plain_types(particles).data(), rows);
        on_host.types = types;
    }
    CatalogOptions on_cpu = options;
    on_cpu.execution = cpu();
    (void)catalog(labels, groups, on_host, on_cpu);
    throw Error(ErrorKind::device, "the GPU refused particles that the CPU describes; please report this");
}

} // namespace kith::detail::inline KITH_GPU
