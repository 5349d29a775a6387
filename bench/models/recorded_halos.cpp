// Calls of record_launches.cpp: bound members and spheres of halos.
#include "recorded_calls.hpp"

#include "halos/describe_device.hpp"
#include "halos/device_entry.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace kith::bench {

namespace {

/// Of whole groups, whose members the CPU brings into order.
template <class T>
void describe_halos(RecordedPoints<T>& points, double parameter) {
    std::vector<T> positions(static_cast<std::size_t>(3 * points.count()));
    (void)cudaMemcpy(positions.data(), points.data(), positions.size() * sizeof(T), cudaMemcpyDefault);
    std::vector<std::uint8_t> types(static_cast<std::size_t>(points.count()));
    for (std::size_t i = 0; i < types.size(); ++i) {
        types[i] = static_cast<std::uint8_t>(i % 6);
    }
    const std::span<const T> masses(positions.data(), static_cast<std::size_t>(points.count())); // any numbers do
    Particles particles{PointsView(positions, 3)};
    if (points.has("masses")) {
        particles.masses = masses;
        particles.types = types;
    }
    HaloOptions options{.unbind = false, .min_members = 5};
    const double density = static_cast<double>(points.count()) * (points.has("masses") ? 0.5 : 1);
    options.universe.omega_matter = 0.3;
    options.universe.hubble = std::sqrt(8 * std::numbers::pi * density / (3 * options.universe.omega_matter));
    options.outermost = points.has("outermost");
    options.bound_only = points.has("bound_only");
    const Halos halos = kith::halos(fof(particles.positions, LinkingLength::relative(parameter), {.box = points.box()}),
                                    particles, options);
    detail::halos::BoundMembers bound;
    bound.rows.assign(halos.members().begin(), halos.members().end());
    for (const std::int64_t halo : halos.first_of_group) {
        bound.count.push_back(halo < 0 ? 0 : halos.count[halo]);
        bound.deepest.push_back(halo < 0 ? -1 : static_cast<std::int32_t>(halos.center_row[halo]));
    }
    const auto rows = on_device(bound.rows.data(), 4 * bound.rows.size(), points.execution());
    const auto types_there = on_device(types.data(), types.size(), points.execution());
    detail::DeviceContext context(points.execution());
    const detail::DeviceTreeHandle tree =
        detail::build_tree_on_device<T, 3>(context, points.view(), points.box(), TreeShape());
    detail::DeviceParticleTree<T> there{&tree.as<detail::DevicePlaneTree<T>>(), points.view()};
    if (points.has("masses")) {
        there.masses = ScalarsView(points.data(), points.count());
        there.types = static_cast<const std::uint8_t*>(types_there.get());
    }
    points.record_as(Saved::largest, [&] {
        Halos found;
        found.options = halos.options;
        context.stage("spheres", [&] {
            detail::Context host(cpu(1));
            detail::describe_halos_on_device<T>(context, host, there, static_cast<const std::int32_t*>(rows.get()),
                                                halos.group_offset, bound, found);
        });
    });
    (void)context.take_stages();
}

template <class T>
void find_bound(RecordedPoints<T>& points, std::size_t size, bool unbind) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(points.count()));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::int32_t>(i / size);
    }
    Particles particles{points.view()};
    detail::halos::Columns columns;
    columns.positions = detail::halos::VectorColumn(points.view(), 1);
    std::fill_n(columns.box.period.begin(), 3, points.has("periodic") ? 1.0 : 0.0);
    if (unbind) {
        particles.velocities = points.view(); // any numbers do
        columns.velocities.emplace(points.view(), 1);
    }
    std::shared_ptr<void> masses;
    if (points.has("masses")) {
        const std::vector<double> column = points.numbers();
        masses = on_device(column.data(), column.size() * sizeof(double), points.execution());
        particles.masses = ScalarsView(static_cast<const double*>(masses.get()), points.count());
        particles.internal_energies = particles.masses;
    }
    HaloOptions options{
        .softening = Softening{points.has("periodic") ? SofteningKernel::plummer : SofteningKernel::spline, 0.01},
        .unbind = unbind,
        .execution = points.execution()};
    options.universe.gravity = 1e-3; // some are not bound
    points.record_as(Saved::largest, [&] {
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(labels.back()) + 2);
        detail::DeviceContext context(points.execution());
        const detail::ParticlesOnDevice there(context, particles);
        (void)detail::find_bound_on_device(context, labels, there, columns, options, offsets);
    });
}

} // namespace

template <class T>
bool record_halos(RecordedPoints<T>& points, const std::string& call, double parameter) {
    if (call == "spheres" && points.dimension() == 3) {
        describe_halos(points, parameter);
    } else if (call == "unbind" || call == "potentials") {
        find_bound(points, static_cast<std::size_t>(parameter), call == "unbind");
    } else {
        return false;
    }
    return true;
}

template bool record_halos(RecordedPoints<float>&, const std::string&, double);
template bool record_halos(RecordedPoints<double>&, const std::string&, double);

} // namespace kith::bench
