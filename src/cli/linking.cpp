#include "cli/linking.hpp"

#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

namespace kith::cli {

namespace {

/// What to do about unequal masses, which depends on whether they are those of several types.
std::string_view remedy_for_unequal_masses(const io::Snapshot& snapshot) {
    if (!snapshot.header.has_types) {
        return "give --linking-length";
    }
    const auto& types = snapshot.types;
    const bool one_type = std::adjacent_find(types.begin(), types.end(), std::not_equal_to<>()) == types.end();
    return one_type ? "those of this one type differ, so give --linking-length: of a zoom simulation, b times the mean "
                      "separation of its lightest particles"
                    : "choose one kind of particles with --types, or give --linking-length";
}

} // namespace

Particles particles_of(const io::Snapshot& snapshot) {
    Particles particles;
    particles.positions = snapshot.positions.view();
    if (snapshot.velocities) {
        particles.velocities = snapshot.velocities->view();
    }
    if (snapshot.masses) {
        particles.masses = std::visit([](const auto& masses) { return ScalarsView(masses); }, snapshot.masses->values);
    }
    particles.uniform_mass = snapshot.uniform_mass.value_or(1);
    particles.types = snapshot.types;
    return particles;
}

void add_mass_warning(std::vector<std::string>& warnings, bool is_relative, const io::Snapshot& snapshot) {
    if (!is_relative || !snapshot.masses) {
        return;
    }
    const auto [least, most] = std::visit(
        [](const auto& masses) {
            const auto [low, high] = std::minmax_element(masses.begin(), masses.end());
            return masses.empty() ? std::pair(0.0, 0.0)
                                  : std::pair(static_cast<double>(*low), static_cast<double>(*high));
        },
        snapshot.masses->values);
    if (least != most) {
        const DType dtype = snapshot.masses->dtype();
        warnings.push_back(fmt::format(
            "the masses are unequal ({} to {}), but a relative linking length counts every particle alike; {}",
            format_length(least, dtype), format_length(most, dtype), remedy_for_unequal_masses(snapshot)));
    }
}

std::string_view name_of(VolumeKind kind) {
    constexpr std::array<std::string_view, 4> names = {"none", "box", "extent", "mixed"}; // in the order of the kinds
    return names[static_cast<std::size_t>(kind)];
}

std::string describe_relative(std::string_view b, double volume, VolumeKind kind) {
    const std::string_view whose = kind == VolumeKind::box      ? "the box"
                                   : kind == VolumeKind::extent ? "the points' extent"
                                                                : "periods and extent";
    return fmt::format("{} mean separations, in the volume {} of {}", b, volume, whose);
}

RankArray labels_by_row(const IndexArray& labels, std::int64_t listed, const FileRows& rows) {
    return labels.visit([&](const auto of_points) {
        return by_file_row(rows, std::int32_t{-1}, [of_points, listed](std::size_t i) {
            return of_points[i] < listed ? static_cast<std::int32_t>(of_points[i]) : -1;
        });
    });
}

void add_min_members_option(const Parser& command, std::int64_t& min_members) {
    add_value(command, "--min-members", "M", "Smallest group in the outputs; 20 by default", min_members, parse_whole,
              1, std::numeric_limits<std::int32_t>::max());
}

} // namespace kith::cli
