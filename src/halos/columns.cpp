#include "halos/columns.hpp"

#include <kith/error.hpp>

#include "support/at_least.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t grain = 1 << 15;
constexpr double overflow_is_near = 0x1p900;
constexpr double scale_of_huge_columns = 0x1p-64;

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
    throw error(ErrorKind::invalid_argument, parts...);
}
template <class... Parts>
[[noreturn]] void refuse_row(std::int64_t row, double value, const Parts&... parts) {
    throw error(ErrorKind::invalid_argument, ErrorDetails{.point = row, .value = value}, parts...);
}

void check_labels(const LabeledGroups& groups) {
    const std::int64_t number = groups.groups();
    const std::int64_t row = parallel_find(
        groups.rows(), grain, [&](std::int64_t i) { return groups.labels[i] < -1 || groups.labels[i] >= number; });
    if (row < groups.rows()) {
        refuse_row(row, groups.labels[row], "groups: row ", row, " has label ", groups.labels[row], ", but there are ",
                   number, " groups; labels are their numbers, from 0, or -1 for no group");
    }
}

void check_count(const char* what, std::int64_t count, std::int64_t rows) {
    if (count != rows) {
        refuse(what, ": ", count, " rows for ", rows,
               " labels; pass the particles that the groups were found in, in the same order");
    }
}

void check_vectors(const char* what, const PointsView& view, std::int64_t rows, DeviceKind device_kind) {
    if (view.dimension() < 1 || view.dimension() > max_dimension) {
        refuse(what, ": the dimension is ", view.dimension(), "; it must be 1 to ", max_dimension);
    }
    check_count(what, view.count(), rows);
    if (device_kind == DeviceKind::cpu && view.device().kind != DeviceKind::cpu) {
        refuse(what, " are in the memory of GPU ", view.device().index,
               ", but the call runs on the CPU; run it with "
               "kith::cuda(",
               view.device().index, ") or copy them to the host");
    }
    check_memory(view, what);
}

constexpr const char* rule_of_masses = "; masses must be finite and not negative";

/// Whether it may be a mass or an internal energy.
bool is_mass(double mass) {
    return mass >= 0 && !std::isinf(mass);
}

void check_not_negative(const char* what, const ScalarsView& values, const char* rule) {
    const std::int64_t row = parallel_find(values.count(), grain, [&](std::int64_t i) { return !is_mass(values[i]); });
    if (row < values.count()) {
        refuse_row(row, values[row], what, ": row ", row, " is ", values[row], rule);
    }
}

/// Of a column that may have strides.
void check_column(const char* what, const void* data, std::int64_t count, std::int64_t stride, std::int64_t width) {
    const auto require = [&](const char* which, std::int64_t bytes) {
        if (bytes % width != 0) {
            refuse(what, ": ", which, " ", bytes, " is not a multiple of the element's size, ", width,
                   " bytes; copy the column to aligned memory");
        }
    };
    if (count > 0 && data == nullptr) {
        refuse(what, ": the view says ", count, " rows but its address is null");
    }
    require("address", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)));
    require("stride", stride);
}

template <std::integral Type>
void require_type(Type type, std::int64_t row) {
    if (std::cmp_less(type, 0) || std::cmp_greater_equal(type, max_types)) {
        refuse_row(row, static_cast<double>(type), "types: row ", row, " has type ", type, "; types are 0 to ",
                   max_types - 1);
    }
}

/// The largest absolute velocity, once all are known to be finite.
template <Coordinate T>
double largest_velocity(const PointsView& view) {
    const Coordinates<T> at(view);
    const std::int64_t row = parallel_find(view.count(), grain, [&](std::int64_t i) {
        bool finite = true;
        for (int axis = 0; axis < view.dimension(); ++axis) {
            finite = finite && std::isfinite(at(i, axis));
        }
        return !finite;
    });
    for (int axis = 0; row < view.count() && axis < view.dimension(); ++axis) {
        if (!std::isfinite(at(row, axis))) {
            throw error(ErrorKind::invalid_argument,
                        ErrorDetails{.point = row, .axis = axis, .value = static_cast<double>(at(row, axis))},
                        "velocities: row ", row, " has ", at(row, axis), " on axis ", axis,
                        "; velocities must be finite");
        }
    }
    return parallel_reduce(
        0, view.count(), grain, 0.0,
        [&](std::int64_t begin, std::int64_t end, double largest) {
            for (std::int64_t i = begin; i < end; ++i) {
                for (int axis = 0; axis < view.dimension(); ++axis) {
                    largest = std::max(largest, static_cast<double>(std::abs(at(i, axis))));
                }
            }
            return largest;
        },
        [](double left, double right) { return std::max(left, right); });
}

} // namespace

double scale_for(double largest) {
    return largest > overflow_is_near ? scale_of_huge_columns : 1.0;
}

template <Coordinate T>
PositionFrame position_frame(const Frame<T>& frame) {
    PositionFrame result;
    result.scale = scale_for(coordinates_below(frame));
    for (int axis = 0; axis < frame.dimension; ++axis) {
        result.box.period[axis] = result.scale * static_cast<double>(frame.period[axis]);
        result.box.origin[axis] = result.scale * static_cast<double>(frame.origin[axis]);
    }
    return result;
}

template PositionFrame position_frame(const Frame<float>&);
template PositionFrame position_frame(const Frame<double>&);

PositionFrame frame_of_all(const PointsView& positions, const Box& box) {
    return with_dtype(positions.dtype(),
                      [&]<Coordinate T>(T) { return position_frame(normalize_sources<T>(positions, box).frame); });
}

std::optional<PositionFrame> known_frame(const FofSummary& groups, const PointsView& positions) {
    const Box& box = groups.box;
    bool is_known = groups.coordinates_below > 0;
    for (int axis = 0; axis < positions.dimension(); ++axis) {
        is_known = is_known && (box.period(axis) == 0 || box.origin(axis)); // else the box is another than the search's
    }
    if (!is_known) {
        return std::nullopt;
    }
    PositionFrame known;
    known.scale = scale_for(groups.coordinates_below);
    known.below = known.scale * groups.coordinates_below;
    with_dtype(positions.dtype(), [&]<Coordinate T>(T) {
        check_box<T>(box, positions.dimension());
        for (int axis = 0; axis < positions.dimension(); ++axis) {
            known.box.period[axis] = known.scale * static_cast<double>(static_cast<T>(box.period(axis)));
            known.box.origin[axis] = known.scale * static_cast<double>(static_cast<T>(box.origin(axis).value_or(0)));
        }
    });
    return known;
}

bool members_are_below(std::span<const std::int64_t> labels, std::int64_t groups, const PointsView& positions,
                       double below) {
    return with_dtype(positions.dtype(), [&]<Coordinate T>(T) {
        const Coordinates<T> at(positions);
        const std::int64_t row = parallel_find(positions.count(), grain, [&](std::int64_t i) {
            bool is_below = true;
            for (int axis = 0; axis < positions.dimension(); ++axis) {
                is_below = is_below && std::abs(static_cast<double>(at(i, axis))) < below;
            }
            return !is_below && labels[i] >= 0 && labels[i] < groups;
        });
        return row == positions.count();
    });
}

void check_particle_shapes(const Particles& particles, std::int64_t rows, const CatalogOptions& options,
                           DeviceKind device_kind) {
    if (rows > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, "labels: ", rows,
                    " rows are more than one process can index (2147483647); split them");
    }
    require_at_least(1, "min_members", options.min_members);
    check_vectors("positions", particles.positions, rows, device_kind);
    if (particles.velocities) {
        check_vectors("velocities", *particles.velocities, rows, device_kind);
        if (particles.velocities->dimension() != particles.positions.dimension()) {
            refuse("velocities: the dimension is ", particles.velocities->dimension(), " but that of the positions is ",
                   particles.positions.dimension(), "; they must agree");
        }
    }
    const auto check_scalars = [&](const char* what, const std::optional<ScalarsView>& values) {
        if (values) {
            check_count(what, values->count(), rows);
            check_column(what, values->data(), values->count(), values->stride(), item_size(values->dtype()));
        }
    };
    check_scalars("masses", particles.masses);
    check_scalars("internal_energies", particles.internal_energies);
    if (!particles.types.empty()) {
        check_count("types", particles.types.count(), rows);
        check_column("types", particles.types.data(), rows, particles.types.stride(), particles.types.width());
    }
    if (!is_mass(particles.uniform_mass)) {
        refuse(of_value(particles.uniform_mass), "uniform_mass is ", particles.uniform_mass, rule_of_masses);
    }
}

Particles with_plain_types(const Particles& particles, std::vector<std::uint8_t>& memory) {
    const IntegersView& types = particles.types;
    if (types.empty() || !types.as_span<std::uint8_t>().empty()) {
        return particles;
    }
    memory.resize(static_cast<std::size_t>(types.count()));
    for (std::int64_t row = 0; row < types.count(); ++row) {
        types.is_signed() ? require_type(types[row], row) : require_type(static_cast<std::uint64_t>(types[row]), row);
        memory[static_cast<std::size_t>(row)] = static_cast<std::uint8_t>(types[row]);
    }
    Particles plain = particles;
    plain.types = memory;
    return plain;
}

void check_masses(const ScalarsView& masses) {
    check_not_negative("masses", masses, rule_of_masses);
}

double check_particle_values(const Particles& particles) {
    const std::int64_t rows = particles.positions.count();
    if (particles.masses) {
        check_masses(*particles.masses);
    }
    if (particles.internal_energies) {
        check_not_negative("internal_energies", *particles.internal_energies,
                           "; internal energies must be finite and not negative");
    }
    if (!particles.types.empty()) {
        const std::span<const std::uint8_t> types = plain_types(particles);
        const std::int64_t row = parallel_find(rows, grain, [&](std::int64_t i) { return types[i] >= max_types; });
        if (row < rows) {
            require_type(types[row], row);
        }
    }
    if (!particles.velocities) {
        return 0;
    }
    return with_dtype(particles.velocities->dtype(),
                      [&](auto zero) { return largest_velocity<decltype(zero)>(*particles.velocities); });
}

Columns columns_of(const Particles& particles, double largest_velocity, const PositionFrame& frame) {
    Columns columns;
    columns.dimension = particles.positions.dimension();
    columns.uniform_mass = particles.uniform_mass;
    columns.types = plain_types(particles);
    columns.masses = particles.masses;
    columns.internal_energies = particles.internal_energies;
    if (particles.velocities) {
        columns.velocities = VectorColumn(*particles.velocities, scale_for(largest_velocity));
    }
    columns.positions = VectorColumn(particles.positions, frame.scale);
    columns.positions_below = frame.below;
    columns.box = frame.box;
    return columns;
}

void check_shapes(const LabeledGroups& groups, const Particles& particles, const CatalogOptions& options,
                  DeviceKind device_kind) {
    check_particle_shapes(particles, groups.rows(), options, device_kind);
}

double check_values(const LabeledGroups& groups, const Particles& particles, const CatalogOptions& options) {
    check_shapes(groups, particles, options, DeviceKind::cpu);
    check_labels(groups);
    return check_particle_values(particles);
}

Columns checked_columns(const LabeledGroups& groups, const Particles& particles, const Box& box,
                        const CatalogOptions& options) {
    const double largest_velocity = check_values(groups, particles, options);
    return columns_of(particles, largest_velocity, frame_of_all(particles.positions, box));
}

} // namespace kith::detail::halos
