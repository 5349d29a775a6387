// Scalar types, index types and devices: the run-time description of arrays. Every header of the library includes this
// one, so it also checks the compiler.
#pragma once

#if __cplusplus < 202002L
#error "kith needs C++20: compile with -std=c++20 or later"
#endif

#include <cstdint>
#include <type_traits>

namespace kith {

namespace detail {

/// Results hold standard containers. -D_GLIBCXX_DEBUG changes their layout, so it must be set for all of a program or
/// for none of it. Each file that includes kith refers to one of these two names; the library defines the one that fits
/// its own build. The linker reports the other as an undefined reference.
#ifdef _GLIBCXX_DEBUG
extern const char this_file_has_GLIBCXX_DEBUG_but_kith_was_built_without_it;
#define KITH_DETAIL_CONTAINERS this_file_has_GLIBCXX_DEBUG_but_kith_was_built_without_it
#else
extern const char this_file_lacks_GLIBCXX_DEBUG_but_kith_was_built_with_it;
#define KITH_DETAIL_CONTAINERS this_file_lacks_GLIBCXX_DEBUG_but_kith_was_built_with_it
#endif
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
[[gnu::used, gnu::visibility("hidden")]] inline const char* const standard_containers = &KITH_DETAIL_CONTAINERS;
#endif

} // namespace detail

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
