// Bound members of groups on a GPU. Columns are brought there from the host.
#include "halos/device_entry.hpp"
#include "halos/device_refusal.hpp"
#include "halos/group_order_device.hpp"
#include "halos/unbind_device.hpp"
#include "points/transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// The columns that unbinding reads, where kernels can read them.
class HaloParticles {
public:
    HaloParticles(DeviceContext& context, const Particles& given, const halos::Columns& columns)
        : positions_(context, given.positions) {
        columns_.positions = DeviceColumn(positions_.view());
        columns_.position_scale = 1 / columns.positions.unit();
        std::copy_n(columns.box.period.begin(), 3, columns_.period.begin());
        if (given.velocities) {
            columns_.velocities = DeviceColumn(velocities_.emplace(context, *given.velocities).view());
            columns_.velocity_scale = 1 / columns.velocities->unit();
        }
        if (given.masses) {
            columns_.masses = DeviceColumn(masses_.emplace(context, on_a_line(*given.masses)).view());
        }
        columns_.uniform_mass = given.uniform_mass;
        if (given.internal_energies) {
            columns_.internal_energies =
                DeviceColumn(internal_energies_.emplace(context, on_a_line(*given.internal_energies)).view());
        }
    }
    [[nodiscard]] const HaloColumns& columns() const { return columns_; }

private:
    PointsOnDevice positions_;
    std::optional<PointsOnDevice> velocities_;
    std::optional<PointsOnDevice> masses_;
    std::optional<PointsOnDevice> internal_energies_;
    HaloColumns columns_;
};

} // namespace

halos::BoundMembers find_bound_on_device(std::span<const std::int32_t> labels, const Particles& particles,
                                         const halos::Columns& columns, const HaloOptions& options,
                                         std::vector<std::int64_t>& offsets, StageReports& stages) {
    DeviceContext context(options.execution);
    const std::int64_t rows = std::ssize(labels);
    const std::int64_t groups = std::ssize(offsets) - 1;
    std::optional<HaloParticles> there;
    DeviceBuffer<std::int32_t> labels_there;
    context.stage("upload", [&] {
        there.emplace(context, particles, columns);
        labels_there = context.buffer<std::int32_t>(rows);
        context.copy(labels_there.data(), labels.data(), 4 * rows);
    });
    const DeviceBuffer<std::int32_t> members = context.buffer<std::int32_t>(rows);
    const DeviceBuffer<std::int64_t> offsets_there = context.buffer<std::int64_t>(groups + 1);
    context.stage("members", [&] {
        order_by_group(context, {labels_there.data(), labels.size()}, groups, members.data(), offsets_there.data());
        offsets = context.to_host(offsets_there.data(), groups + 1);
    });
    halos::BoundMembers bound;
    context.stage("unbind", [&] {
        bound = find_bound(context, there->columns(), {members.data(), offsets_there.data(), offsets}, options);
    });
    for (const StageReport& stage : context.take_stages()) {
        stages.push_back(stage);
    }
    return bound;
}

} // namespace kith::detail::inline KITH_GPU
