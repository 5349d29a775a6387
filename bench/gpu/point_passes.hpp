// Passes over all points of the device that the checks need.
#pragma once

#include "device.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// Points of the device, row-major, in open space or a cube that repeats.
template <class T>
struct NormalizedPoints {
    const T* data = nullptr;
    std::int64_t count = 0;
    int dimension = 3;
    T period = 0;
};

/// Coordinates of some points, on the host.
template <class T>
[[nodiscard]] std::vector<T> gathered(const NormalizedPoints<T>& points, const std::vector<std::int32_t>& which);

/// A neighbor as the order of neighbors sees it.
template <class T>
struct Rank {
    T squared_distance;
    std::int64_t index;
};

/// For each of some places (host, row-major): how many points come before a rank, by distance, then index.
template <class T>
[[nodiscard]] std::vector<std::int64_t> count_before(const NormalizedPoints<T>& points, const std::vector<T>& places,
                                                     const std::vector<Rank<T>>& ranks);

/// For each of some places with a label: how many points within the distance have another label.
template <class T>
[[nodiscard]] std::vector<std::int64_t>
count_strangers(const NormalizedPoints<T>& points, const std::int32_t* labels, const std::vector<T>& places,
                const std::vector<std::int32_t>& labels_of_places, T squared_length);

/// How many labels lie outside [0, groups), or belong to groups whose size is not the stated one; groups beyond those
/// stated are single points.
[[nodiscard]] std::int64_t count_wrong_sizes(const DeviceArray<std::int32_t>& labels,
                                             const std::vector<std::int32_t>& sizes, std::int64_t groups);

/// Rows that carry a label, ascending; `size` is how many there should be, and at most so many are returned.
[[nodiscard]] std::vector<std::int32_t> rows_with(const DeviceArray<std::int32_t>& labels, std::int32_t label,
                                                  std::int64_t size);

/// Rows first + i * stride of a k-wide table go to row i of another.
template <class T>
void copy_rows(const T* table, std::int64_t rows, std::int64_t stride, std::int64_t k, T* sample, cudaStream_t stream);
/// The same of a block of rows in any order: those whose number the stride divides go to row number / stride.
template <class T>
void scatter_rows(const std::int32_t* numbers, const T* block, std::int64_t rows, std::int64_t stride, std::int64_t k,
                  T* sample, cudaStream_t stream);

/// A sum over the words of an array, each mixed with its place: equal arrays have equal sums.
[[nodiscard]] std::uint64_t checksum(const void* words, std::int64_t bytes, const Stream& stream);

} // namespace bench
