// Members of groups over several ranks, on their way to the rank that describes them.
#pragma once

#include <kith/catalog.hpp>

#include "distributed/part_vectors.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "halos/columns.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace kith::detail {

/// Positions or velocities, row-major, of the type that the particles have.
class MemberVectors {
public:
    explicit MemberVectors(DType dtype) {
        with_dtype(dtype, [&]<Coordinate T>(T) { values_ = std::vector<T>(); });
    }

    [[nodiscard]] PointsView view(int dimension) const {
        return std::visit([&](const auto& values) { return PointsView(values, dimension); }, values_);
    }
    void bring(int dimension, std::span<const std::int64_t> order) {
        std::visit(
            [&]<class T>(std::vector<T>& values) {
                values = values.empty() ? values : rows_in_order<T>(values, dimension, order);
            },
            values_);
    }
    void take(MessageReader& reader, std::int64_t count) {
        std::visit([&](auto& values) { reader.take(count, values); }, values_);
    }

private:
    std::variant<std::vector<float>, std::vector<double>> values_;
};

/// By ascending number.
struct GatheredMembers {
    std::vector<std::int64_t> labels;
    std::vector<std::int64_t> numbers; ///< global indices
    MemberVectors positions;
    MemberVectors velocities; ///< this and the following: empty if there are none
    std::vector<double> masses;
    std::vector<double> internal_energies;
    std::vector<std::uint8_t> types;

    /// None yet, with the columns of other particles.
    explicit GatheredMembers(const Particles& like)
        : positions(like.positions.dtype()), velocities((like.velocities ? *like.velocities : like.positions).dtype()) {
    }

    /// Of several ranks, each by ascending number.
    void sort(int dimension) {
        if (std::ranges::is_sorted(numbers)) {
            return;
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(numbers);
        const auto bring = [&]<class X>(std::vector<X>& values) {
            values = values.empty() ? values : rows_in_order<X>(values, 1, order);
        };
        bring(labels);
        bring(numbers);
        bring(masses);
        bring(internal_energies);
        bring(types);
        positions.bring(dimension, order);
        velocities.bring(dimension, order);
    }
    [[nodiscard]] Particles particles(int dimension, const Particles& like) const {
        Particles all{positions.view(dimension)};
        if (like.velocities) {
            all.velocities = velocities.view(dimension);
        }
        if (like.masses) {
            all.masses = ScalarsView(masses);
        }
        if (like.internal_energies) {
            all.internal_energies = ScalarsView(internal_energies);
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
        positions.take(reader, count * dimension);
        if (like.velocities) {
            velocities.take(reader, count * dimension);
        }
        if (like.masses) {
            reader.take(count, masses);
        }
        if (like.internal_energies) {
            reader.take(count, internal_energies);
        }
        if (has_types) {
            reader.take(count, types);
        }
    }
};

/// Writes members, whose types are plain (halos/columns.hpp), into a message: their number, then one column after
/// another.
inline void pack_members(const std::vector<std::int32_t>& rows, std::span<const std::int64_t> labels,
                         const PointNumbers& numbers, const Particles& particles, const PartVectors& vectors,
                         bool has_types, MessageWriter& writer) {
    const auto put_each = [&](const auto& put_row) {
        for (const std::int64_t row : rows) {
            put_row(row);
        }
    };
    writer.put_value(std::ssize(rows));
    put_each([&](std::int64_t row) { writer.put_value(labels[row]); });
    put_each([&](std::int64_t row) { writer.put_value(numbers[row]); });
    const auto put_vectors = [&](const PointsView& view) {
        with_dtype(view.dtype(),
                   [&]<Coordinate T>(T) { writer.put(std::span<const T>(vectors.of<T>()->rows(view, rows))); });
    };
    put_vectors(particles.positions);
    if (particles.velocities) {
        put_vectors(*particles.velocities);
    }
    if (particles.masses) {
        put_each([&](std::int64_t row) { writer.put_value((*particles.masses)[row]); });
    }
    if (particles.internal_energies) {
        put_each([&](std::int64_t row) { writer.put_value((*particles.internal_energies)[row]); });
    }
    if (has_types) {
        const std::span<const std::uint8_t> types = halos::plain_types(particles);
        put_each([&](std::int64_t row) { writer.put_value(types[row]); });
    }
}

} // namespace kith::detail
