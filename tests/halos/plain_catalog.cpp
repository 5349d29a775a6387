#include "halos/plain_catalog.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kith::test {

namespace {

long double at(const PointsView& view, std::int64_t row, int axis) {
    const auto* address = static_cast<const std::byte*>(view.axis(axis)) + row * view.stride();
    return view.dtype() == DType::float32 ? static_cast<long double>(*reinterpret_cast<const float*>(address))
                                          : static_cast<long double>(*reinterpret_cast<const double*>(address));
}

PlainGroup describe(const std::vector<std::int32_t>& ascending, const Particles& particles, long double period) {
    const int d = particles.positions.dimension();
    const auto type_of = [&](std::int32_t row) { return particles.types.empty() ? 1 : particles.types[row]; };
    const auto mass_of = [&](std::int32_t row) {
        return static_cast<long double>(particles.masses ? (*particles.masses)[row] : particles.uniform_mass);
    };
    const auto offset_of = [&](std::int32_t row, int axis) {
        const long double o = at(particles.positions, row, axis) - at(particles.positions, ascending[0], axis);
        return period > 0 ? o - period * std::rint(o / period) : o;
    };
    PlainGroup group;
    for (int type = 0; type < max_types; ++type) {
        for (const std::int32_t row : ascending) {
            if (type_of(row) == type) {
                group.members.push_back(row);
                ++group.count_by_type[type];
                group.mass_by_type[type] += mass_of(row);
            }
        }
        group.mass += group.mass_by_type[type];
    }
    const bool massless = group.mass == 0;
    const auto weight_of = [&](std::int32_t row) { return massless ? 1.0L : mass_of(row); };
    const long double weight = massless ? static_cast<long double>(ascending.size()) : group.mass;
    std::vector<long double> mean(d);
    std::vector<long double> least(d, 0);
    std::vector<long double> most(d, 0);
    group.velocity.assign(d, 0);
    for (int axis = 0; axis < d; ++axis) {
        for (const std::int32_t row : ascending) {
            const long double o = offset_of(row, axis);
            mean[axis] += weight_of(row) * o / weight;
            least[axis] = std::min(least[axis], o);
            most[axis] = std::max(most[axis], o);
            if (particles.velocities) {
                const long double v = at(*particles.velocities, row, axis);
                group.velocity[axis] += weight_of(row) * v / weight;
                group.fastest = std::max(group.fastest, std::abs(v));
            }
        }
        group.center.push_back(at(particles.positions, ascending[0], axis) + mean[axis]);
        group.lower.push_back(least[axis] - mean[axis]);
        group.upper.push_back(most[axis] - mean[axis]);
        group.is_ambiguous = group.is_ambiguous || (period > 0 && most[axis] - least[axis] > period / 2);
        group.reach = std::max({group.reach, -least[axis], most[axis]});
    }
    long double radius2 = 0;
    long double speed2 = 0;
    for (const std::int32_t row : ascending) {
        long double r2 = 0;
        long double v2 = 0;
        for (int axis = 0; axis < d; ++axis) {
            r2 += std::pow(offset_of(row, axis) - mean[axis], 2.0L);
            if (particles.velocities) {
                v2 += std::pow(at(*particles.velocities, row, axis) - group.velocity[axis], 2.0L);
            }
        }
        radius2 += weight_of(row) * r2 / weight;
        speed2 += weight_of(row) * v2 / weight;
        group.max_radius = std::max(group.max_radius, std::sqrt(r2));
    }
    group.rms_radius = std::sqrt(radius2);
    group.velocity_dispersion = std::sqrt(speed2 / static_cast<long double>(d));
    return group;
}

} // namespace

std::vector<PlainGroup> plain_catalog(const FofResult& groups, const Particles& particles, double period,
                                      std::int64_t min_members) {
    std::vector<PlainGroup> described;
    for (std::int64_t label = 0; label < groups.sizes.size(); ++label) {
        std::vector<std::int32_t> rows;
        for (std::int64_t row = 0; row < groups.label_array.size(); ++row) {
            if (groups.label_array[row] == label) {
                rows.push_back(static_cast<std::int32_t>(row));
            }
        }
        if (static_cast<std::int64_t>(rows.size()) >= min_members) {
            described.push_back(describe(rows, particles, period));
        }
    }
    return described;
}

} // namespace kith::test
