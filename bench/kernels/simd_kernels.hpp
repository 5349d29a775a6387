// The inner kernels of the searches, one call each, for the instruction set that is found at run time.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::bench {

inline constexpr int dimension = 3;

/// A block of points or box corners, axis after axis, followed by a vector of NaN.
struct Block {
    std::vector<float> coordinates;
    std::vector<std::int32_t> indices;
    std::int64_t stride = 0;
    std::int64_t size = 0;
};

/// How many of the boxes lie within a squared distance of the box with these corners.
std::int64_t count_near_boxes(const Block& lower, const Block& upper, const float* box_lower, const float* box_upper,
                              float limit);

/// What one query leaves behind on its way to its neighbors.
struct QueryMemory {
    explicit QueryMemory(std::int64_t size)
        : distances(static_cast<std::size_t>(size) + 64), positions(static_cast<std::size_t>(size) + 64) {}
    std::vector<float> distances;
    std::vector<std::int32_t> positions;
};

/// Distances to all points of the block, and which are within the threshold. Returns how many.
std::int64_t measure_block(const Block& block, const float* query, float threshold, QueryMemory& memory);

/// Those within another threshold, the distances being known.
std::int64_t find_in_block(const Block& block, float threshold, QueryMemory& memory);

/// The first survivors in order, by keys in registers or by counting ranks. Returns the sum of their indices.
std::int64_t sort_by_keys(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory);
std::int64_t sort_by_ranks(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory);

} // namespace kith::bench
