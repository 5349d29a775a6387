// For every mask of a vector's lanes, what remains when the unset lanes are squeezed out: 32-bit words of a 256-bit
// vector, or the numbers of the lanes. And the numbers of all lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace kith::detail {

/// As many as the widest vector has lanes.
template <class T>
alignas(64) inline constexpr std::array<T, 64 / sizeof(T)> lane_numbers = [] {
    std::array<T, 64 / sizeof(T)> numbers{};
    std::iota(numbers.begin(), numbers.end(), T{0});
    return numbers;
}();

/// Indexed by mask; WordsPerLane is 1 for four-byte lanes and 2 for eight-byte lanes.
template <std::size_t WordsPerLane>
inline constexpr std::array<std::array<std::uint32_t, 8>, (1U << (8 / WordsPerLane))> compressing_words = [] {
    std::array<std::array<std::uint32_t, 8>, (1U << (8 / WordsPerLane))> table{};
    for (std::size_t mask = 0; mask < table.size(); ++mask) {
        std::size_t place = 0;
        for (std::uint32_t lane = 0; lane < 8 / WordsPerLane; ++lane) {
            for (std::uint32_t word = 0; word < WordsPerLane && ((mask >> lane) & 1U) != 0; ++word) {
                table[mask][place++] = static_cast<std::uint32_t>(lane * WordsPerLane + word);
            }
        }
    }
    return table;
}();

/// The numbers of the set bits of a byte, ascending; the rest is zero.
inline constexpr std::array<std::array<std::uint8_t, 8>, 256> set_lanes = [] {
    std::array<std::array<std::uint8_t, 8>, 256> table{};
    for (std::size_t mask = 0; mask < table.size(); ++mask) {
        std::size_t place = 0;
        for (std::uint8_t lane = 0; lane < 8; ++lane) {
            if (((mask >> lane) & 1U) != 0) {
                table[mask][place++] = lane;
            }
        }
    }
    return table;
}();

} // namespace kith::detail
