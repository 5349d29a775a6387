// Bound halos on a GPU: members in the order of groups, what is bound of them, and their spheres.
#include "halos/describe_device.hpp"
#include "halos/device_entry.hpp"
#include "halos/group_order_device.hpp"
#include "halos/resolve_softening.hpp"
#include "halos/unbind_device.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// The columns that unbinding reads, in the units and the box of `columns`.
HaloColumns columns_to_unbind(const Particles& there, const halos::Columns& columns) {
    HaloColumns result;
    result.positions = DeviceColumn(there.positions);
    result.position_scale = 1 / columns.positions.unit();
    std::copy_n(columns.box.period.begin(), 3, result.period.begin());
    if (there.velocities) {
        result.velocities = DeviceColumn(*there.velocities);
        result.velocity_scale = 1 / columns.velocities->unit();
    }
    if (there.masses) {
        result.masses = DeviceColumn(*there.masses);
    }
    result.uniform_mass = there.uniform_mass;
    if (there.internal_energies) {
        result.internal_energies = DeviceColumn(*there.internal_energies);
    }
    return result;
}

} // namespace

BoundOnDevice find_bound_on_device(DeviceContext& context, std::span<const std::int32_t> labels,
                                   const ParticlesOnDevice& there, const halos::Columns& columns,
                                   const HaloOptions& options, std::vector<std::int64_t>& offsets) {
    const std::int64_t rows = std::ssize(labels);
    const std::int64_t groups = std::ssize(offsets) - 1;
    const DeviceBuffer<std::int32_t> members = context.buffer<std::int32_t>(rows);
    const DeviceBuffer<std::int64_t> offsets_there = context.buffer<std::int64_t>(groups + 1);
    context.stage("members", [&] {
        const DeviceBuffer<std::int32_t> labels_there = context.buffer<std::int32_t>(rows);
        context.copy(labels_there.data(), labels.data(), 4 * rows);
        order_by_group(context, {labels_there.data(), labels.size()}, groups, members.data(), offsets_there.data());
        offsets = context.to_host(offsets_there.data(), groups + 1);
    });
    BoundOnDevice bound;
    context.stage("unbind", [&] {
        bound = find_bound(context, columns_to_unbind(there.particles(), columns),
                           {members.data(), offsets_there.data(), offsets}, options);
    });
    return bound;
}

template <Coordinate T>
void find_halos_on_device(DeviceContext& context, Context& host, std::span<const std::int32_t> labels,
                          const ParticlesOnDevice& there, const DeviceTreeHandle& handle, const halos::Columns& columns,
                          Halos& found) {
    const auto& tree = handle.as<DevicePlaneTree<T>>();
    const Particles& particles = there.particles();
    halos::resolve_softening(found.options, tree.points.frame, particles.positions.count(), found.groups);
    found.group_offset.resize(static_cast<std::size_t>(found.groups) + 1);
    BoundOnDevice bound = find_bound_on_device(context, labels, there, columns, found.options, found.group_offset);
    context.stage("spheres", [&] {
        describe_halos_on_device<T>(context, host,
                                    {&tree, particles.positions, particles.masses, particles.uniform_mass,
                                     halos::plain_types(particles).data()},
                                    bound.rows.data(), found.group_offset, bound.members, found);
    });
    found.member_array = std::move(bound.members.rows);
    found.energies = std::move(bound.members.energies);
}

template void find_halos_on_device<float>(DeviceContext&, Context&, std::span<const std::int32_t>,
                                          const ParticlesOnDevice&, const DeviceTreeHandle&, const halos::Columns&,
                                          Halos&);
template void find_halos_on_device<double>(DeviceContext&, Context&, std::span<const std::int32_t>,
                                           const ParticlesOnDevice&, const DeviceTreeHandle&, const halos::Columns&,
                                           Halos&);

} // namespace kith::detail::inline KITH_GPU
