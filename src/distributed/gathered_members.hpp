// Members of groups over several ranks, on their way to the rank that describes them.
#pragma once

#include <kith/catalog.hpp>

#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "halos/columns.hpp"
#include "points/coordinates.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// By ascending number.
template <Coordinate T, Coordinate V>
struct GatheredMembers {
    std::vector<std::int64_t> labels;
    std::vector<std::int64_t> numbers; ///< global indices
    std::vector<T> positions;          ///< row-major
    std::vector<V> velocities;         ///< this and the following: empty if there are none
    std::vector<double> masses;
    std::vector<std::uint8_t> types;

    /// Of several ranks, each by ascending number.
    void sort(int dimension) {
        if (std::ranges::is_sorted(numbers)) {
            return;
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(numbers);
        const auto bring = [&]<class X>(std::vector<X>& values, std::int64_t width) {
            values = values.empty() ? values : rows_in_order<X>(values, width, order);
        };
        bring(labels, 1);
        bring(numbers, 1);
        bring(positions, dimension);
        bring(velocities, dimension);
        bring(masses, 1);
        bring(types, 1);
    }
    [[nodiscard]] Particles particles(int dimension, const Particles& like) const {
        Particles all{PointsView(positions, dimension)};
        if (like.velocities) {
            all.velocities = PointsView(velocities, dimension);
        }
        if (like.masses) {
            all.masses = ScalarsView(masses);
        }
        all.uniform_mass = like.uniform_mass;
        all.types = types;
        return all;
    }

    /// Appends what pack_members() has written, of particles with the same columns as `like`.
    void take(const std::vector<std::byte>& bytes, const Particles& like, bool has_types) {
        const int dimension = like.positions.dimension();
        MessageReader reader(bytes);
        const auto count = reader.take<std::int64_t>();
        reader.take(count, labels);
        reader.take(count, numbers);
        reader.take(count * dimension, positions);
        if (like.velocities) {
            reader.take(count * dimension, velocities);
        }
        if (like.masses) {
            reader.take(count, masses);
        }
        if (has_types) {
            reader.take(count, types);
        }
    }
};

/// Writes members, whose types are plain (halos/columns.hpp), into a message: their number, then one column after
/// another.
template <Coordinate T, Coordinate V>
void pack_members(const std::vector<std::int64_t>& rows, std::span<const std::int64_t> labels,
                  const PointNumbers& numbers, const Particles& particles, bool has_types, MessageWriter& writer) {
    const auto put_each = [&](const auto& put_row) {
        for (const std::int64_t row : rows) {
            put_row(row);
        }
    };
    writer.put_value(std::ssize(rows));
    put_each([&](std::int64_t row) { writer.put_value(labels[row]); });
    put_each([&](std::int64_t row) { writer.put_value(numbers[row]); });
    const auto put_vectors = [&]<class X>(const Coordinates<X>& vectors, int dimension) {
        put_each([&](std::int64_t row) {
            for (int axis = 0; axis < dimension; ++axis) {
                writer.put_value(vectors(row, axis));
            }
        });
    };
    put_vectors(Coordinates<T>(particles.positions), particles.positions.dimension());
    if (particles.velocities) {
        put_vectors(Coordinates<V>(*particles.velocities), particles.positions.dimension());
    }
    if (particles.masses) {
        put_each([&](std::int64_t row) { writer.put_value((*particles.masses)[row]); });
    }
    if (has_types) {
        const std::span<const std::uint8_t> types = halos::plain_types(particles);
        put_each([&](std::int64_t row) { writer.put_value(types[row]); });
    }
}

} // namespace kith::detail
