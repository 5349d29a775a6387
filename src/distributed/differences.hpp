// Numbers in messages, as differences.
//
// The rows of points that are near each other mostly ascend in small steps, so each number is written as its difference
// from the one before, with the sign in the lowest bit, in bytes of seven bits whose eighth says that more follow: one
// byte up to a difference of 63, at most ten. Source: base 128 of DWARF (LEB128), zigzag of Protocol Buffers.
#pragma once

#include "distributed/ranks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// One byte for each seven bits of a number without sign.
inline void put_bits(MessageWriter& writer, std::uint64_t bits) {
    std::array<std::byte, 10> bytes;
    std::size_t size = 0;
    for (; bits >= 128; bits >>= 7) {
        bytes[size++] = static_cast<std::byte>(bits | 128);
    }
    bytes[size++] = static_cast<std::byte>(bits);
    writer.put(std::span<const std::byte>(bytes).first(size));
}
inline std::uint64_t take_bits(MessageReader& reader) {
    std::uint64_t bits = 0;
    for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<std::uint64_t>(reader.take_byte());
        bits |= (byte & 127) << shift;
        if (byte < 128) {
            return bits;
        }
    }
}

/// One byte up to an absolute value of 63.
inline void put_number(MessageWriter& writer, std::int64_t number) {
    put_bits(writer, (static_cast<std::uint64_t>(number) << 1) ^ (number < 0 ? ~std::uint64_t{0} : 0));
}
inline std::int64_t take_number(MessageReader& reader) {
    const std::uint64_t bits = take_bits(reader);
    return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
}

/// Writes numbers, mostly 0 or more.
class DifferenceWriter {
public:
    explicit DifferenceWriter(MessageWriter& writer) : writer_(writer) {}

    void put(std::int64_t number) {
        put_number(writer_, number - last_);
        last_ = number;
    }

private:
    MessageWriter& writer_;
    std::int64_t last_ = 0;
};

/// Appends `count` numbers to `to`, each with `first` added.
inline void take_differences(MessageReader& reader, std::int64_t count, std::int64_t first,
                             std::vector<std::int64_t>& to) {
    to.reserve(to.size() + static_cast<std::size_t>(count));
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        number += take_number(reader);
        to.push_back(first + number);
    }
}

} // namespace kith::detail
