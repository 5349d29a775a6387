// Whether an answer is right: each check returns nothing if so, else a sentence.
//
// A row of neighbors is the answer if and only if its indices are distinct, its distances are those of the indices, it
// is ordered by (distance, index), and as many points come before its last one, among all points, as the row has before
// it. Groups: every label's count is the size stated, sizes do not increase, no sampled point has a friend of another
// label, and sampled groups hang together; groups of up to a million points are those of the CPU.
#pragma once

#include "point_passes.hpp"

#include <kith/fof.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

using Flaw = std::optional<std::string>;

inline constexpr std::int64_t sampled_rows = 200;

/// Sampled rows of a result: row i of the sample answers query i * stride.
template <class T>
struct RowSample {
    RowSample(std::int64_t queries, std::int64_t k);

    std::int64_t k;
    std::int64_t stride;
    std::int64_t rows;
    DeviceArray<std::int32_t> indices;
    DeviceArray<T> distances;
};

template <class T>
[[nodiscard]] Flaw check_rows(const RowSample<T>& sample, const NormalizedPoints<T>& points,
                              const NormalizedPoints<T>& queries);

/// `length` is the linking length in the units of the points, rounded to float.
[[nodiscard]] Flaw check_groups(const DeviceArray<std::int32_t>& labels, const std::vector<std::int32_t>& sizes,
                                std::int64_t groups, double length, const NormalizedPoints<float>& points);

} // namespace bench
