// Members of groups over several ranks, on their way to the rank that describes them.
#pragma once

#include <kith/catalog.hpp>

#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "points/coordinates.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
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
        std::vector<std::int64_t> order(numbers.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, {}, [&](std::int64_t i) { return numbers[static_cast<std::size_t>(i)]; });
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
        std::vector<std::int64_t> count;
        reader.take(1, count);
        reader.take(count[0], labels);
        reader.take(count[0], numbers);
        reader.take(count[0] * dimension, positions);
        if (like.velocities) {
            reader.take(count[0] * dimension, velocities);
        }
        if (like.masses) {
            reader.take(count[0], masses);
        }
        if (has_types) {
            reader.take(count[0], types);
        }
    }
};

/// Writes members into a message: their number, then one column after another.
template <Coordinate T, Coordinate V>
void pack_members(const std::vector<std::int64_t>& rows, std::span<const std::int64_t> labels,
                  const PointNumbers& numbers, const Particles& particles, bool has_types,
                  std::vector<std::byte>& bytes) {
    MessageWriter writer(bytes);
    const auto put = [&](const auto value) { writer.put(std::span(&value, 1)); };
    const auto put_each = [&](const auto& put_row) {
        for (const std::int64_t row : rows) {
            put_row(row);
        }
    };
    put(static_cast<std::int64_t>(rows.size()));
    put_each([&](std::int64_t row) { put(labels[static_cast<std::size_t>(row)]); });
    put_each([&](std::int64_t row) { put(numbers[row]); });
    const auto put_vectors = [&]<class X>(const Coordinates<X>& vectors, int dimension) {
        put_each([&](std::int64_t row) {
            for (int axis = 0; axis < dimension; ++axis) {
                put(vectors(row, axis));
            }
        });
    };
    put_vectors(Coordinates<T>(particles.positions), particles.positions.dimension());
    if (particles.velocities) {
        put_vectors(Coordinates<V>(*particles.velocities), particles.positions.dimension());
    }
    if (particles.masses) {
        put_each([&](std::int64_t row) { put((*particles.masses)[row]); });
    }
    if (has_types) {
        put_each([&](std::int64_t row) { put(particles.types[static_cast<std::size_t>(row)]); });
    }
}

} // namespace kith::detail
