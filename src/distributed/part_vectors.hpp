// Reads positions and velocities of a rank, whose types may differ, wherever they are (points/part_points.hpp).
#pragma once

#include "points/part_points.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::detail {

struct PartVectors {
    std::shared_ptr<PartPoints<float>> floats;
    std::shared_ptr<PartPoints<double>> doubles;

    /// Of the host, whose context outlives this.
    static PartVectors of_host(Context& context) {
        return {std::make_shared<PartPoints<float>>(context), std::make_shared<PartPoints<double>>(context)};
    }

    template <Coordinate T>
    [[nodiscard]] const std::shared_ptr<PartPoints<T>>& of() const {
        if constexpr (std::is_same_v<T, float>) {
            return floats;
        } else {
            return doubles;
        }
    }
    /// Rows in memory of the vectors' device.
    [[nodiscard]] HeldPoints taken(const PointsView& vectors, std::span<const std::int32_t> rows) const {
        return with_dtype(vectors.dtype(), [&]<Coordinate T>(T) { return of<T>()->joined(vectors, rows, {}); });
    }
    /// Copied from a GPU so far.
    [[nodiscard]] std::int64_t bytes_to_host() const { return floats->bytes_to_host() + doubles->bytes_to_host(); }
};

/// Makes what reads vectors of this dimension on the GPU of a rank. The context is the host's, and outlives it.
using MakePartVectors = std::function<PartVectors(Context& host, int dimension)>;

} // namespace kith::detail
