// Halos on the emulated GPU: those of a call, and those by hand (halo_samples.hpp), described from the bound members
// that the CPU found.
#pragma once

#include "calls/device_calls.hpp"
#include "halos/describe_device.hpp"
#include "halos/halo_samples.hpp"
#include "tree/device_entry.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::test {

template <class T>
detail::DeviceBuffer<T> on_device(detail::DeviceContext& context, const std::vector<T>& elements) {
    detail::DeviceBuffer<T> buffer = context.buffer<T>(std::ssize(elements));
    context.copy(buffer.data(), elements.data(), std::ssize(elements) * static_cast<std::int64_t>(sizeof(T)));
    return buffer;
}

/// How the kernels are run.
struct DescribeRun {
    detail::DescribeLimits limits = {};
    bool has_masses = true;  ///< else all have that of the first particle
    std::int64_t budget = 0; ///< bytes beside those of particles and tree; 0: none
};

/// What the kernels make of the bound members that the CPU found.
template <class T>
Halos found_on_device(const HaloSample<T>& sample, const DescribeRun& run) {
    detail::DeviceContext all(cuda()); // of the input
    const auto positions = on_device(all, sample.positions);
    const auto masses = on_device(all, sample.masses);
    const auto types = on_device(all, sample.types);
    const auto rows = on_device(all, sample.bound.rows);
    Execution execution = cuda();
    execution.memory_budget = run.budget;
    detail::DeviceContext context(execution);
    const PointsView view(positions.data(), std::ssize(sample.masses), 3, all.device());
    const detail::DeviceTreeHandle handle = detail::build_tree_on_device<T, 3>(all, view, sample.box(), sample.shape);
    const auto& tree = handle.as<detail::DevicePlaneTree<T>>();
    std::optional<ScalarsView> given;
    if (run.has_masses) {
        given.emplace(masses.data(), masses.size());
    }
    Halos found;
    found.options = sample.options;
    context.stage("spheres", [&] {
        detail::Context host(cpu(2));
        detail::describe_halos_on_device<T>(context, host, {&tree, view, given, sample.masses.front(), types.data()},
                                            rows.data(), sample.offset, sample.bound, found, run.limits);
    });
    found.stages = context.take_stages();
    return found;
}

/// The halos that a call finds on the emulated GPU.
inline Halos halos_on_device(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
                             const HaloOptions& options) {
    Halos found;
    found.options = options;
    found.options.execution = cuda();
    found.box = groups.box;
    found.groups = groups.groups_of_at_least(options.min_members);
    detail::Context host(cpu(2));
    detail::halos::Columns columns;
    host.run([&] {
        columns = detail::halos::checked_columns({labels, groups.sizes}, particles, groups.box,
                                                 {options.min_members, found.options.execution});
    });
    detail::on_gpu().halos(host, labels, particles, columns, found);
    return found;
}

} // namespace kith::test
