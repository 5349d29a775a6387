// Scalar types, index types and devices: the run-time description of arrays.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kith {

/// Largest dimension of points.
inline constexpr int max_dimension = 8;

enum class DType : std::uint8_t { float32, float64 };

template <class T>
concept Coordinate = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <Coordinate T>
inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::float32 : DType::float64;

enum class DeviceKind : std::uint8_t { cpu, cuda };

struct Device {
    DeviceKind kind = DeviceKind::cpu;
    int index = 0; ///< number of the GPU, from 0
    friend bool operator==(const Device&, const Device&) = default;
};

enum class IndexType : std::uint8_t { int32, int64 };

} // namespace kith
