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

/// Results hold standard containers and strings. Their layout depends on the standard library, on -D_GLIBCXX_DEBUG and
/// on -D_GLIBCXX_USE_CXX11_ABI, so these must be the same in all of a program. Each file that includes kith refers to
/// one name of each kind; the library defines those that fit its own build. The linker reports any other as an
/// undefined reference.
#ifdef _GLIBCXX_DEBUG
#define KITH_DETAIL_CONTAINERS this_file_has_GLIBCXX_DEBUG_but_kith_was_built_without_it
#else
#define KITH_DETAIL_CONTAINERS this_file_lacks_GLIBCXX_DEBUG_but_kith_was_built_with_it
#endif
#ifdef _LIBCPP_VERSION
#define KITH_DETAIL_STRINGS this_file_has_libcxx_but_kith_was_built_with_another_standard_library
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define KITH_DETAIL_STRINGS this_file_has_GLIBCXX_USE_CXX11_ABI_0_but_kith_was_built_without_it
#else
#define KITH_DETAIL_STRINGS this_file_lacks_GLIBCXX_USE_CXX11_ABI_0_or_libcxx_but_kith_was_built_with_it
#endif
extern const char KITH_DETAIL_CONTAINERS;
extern const char KITH_DETAIL_STRINGS;
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
[[gnu::used, gnu::visibility("hidden")]] inline const char* const standard_library[] = {&KITH_DETAIL_CONTAINERS,
                                                                                        &KITH_DETAIL_STRINGS};
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
