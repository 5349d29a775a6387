// Numbers out of and into bytes of a stated order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace kith::io {

namespace byte_order {

template <std::size_t Size>
using Word = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

inline std::uint8_t reversed(std::uint8_t word) {
    return word;
}
inline std::uint16_t reversed(std::uint16_t word) {
    return __builtin_bswap16(word);
}
inline std::uint32_t reversed(std::uint32_t word) {
    return __builtin_bswap32(word);
}
inline std::uint64_t reversed(std::uint64_t word) {
    return __builtin_bswap64(word);
}

} // namespace byte_order

/// The T whose bytes, in the given order, begin at `bytes`. No alignment is needed.
template <class T>
T load(const std::byte* bytes, std::endian order) {
    byte_order::Word<sizeof(T)> word;
    std::memcpy(&word, bytes, sizeof word);
    return std::bit_cast<T>(order == std::endian::native ? word : byte_order::reversed(word));
}

template <class T>
void store(std::byte* bytes, T value, std::endian order) {
    auto word = std::bit_cast<byte_order::Word<sizeof(T)>>(value);
    word = order == std::endian::native ? word : byte_order::reversed(word);
    std::memcpy(bytes, &word, sizeof word);
}

/// Turns values whose bytes are in the given order into the host's, in place.
template <class T>
void to_native(std::span<T> values, std::endian order) {
    if (order != std::endian::native) {
        for (T& value : values) {
            value = std::bit_cast<T>(byte_order::reversed(std::bit_cast<byte_order::Word<sizeof(T)>>(value)));
        }
    }
}

} // namespace kith::io
