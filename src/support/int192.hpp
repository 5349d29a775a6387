// Integers of 192 bits, two's complement, which wrap around: sums of more products than 128 bits hold.
#pragma once

#include "support/host_device.hpp"
#include "support/int128.hpp"

#include <cstdint>

namespace kith::detail {

class Int192 {
public:
    Int192() = default;
    KITH_HOST_DEVICE Int192(Int128 number)
        : low_(static_cast<UnsignedInt128>(number)), high_(number < 0 ? ~std::uint64_t{0} : 0) {}
    /// Of words of 64 bits, the lowest first.
    KITH_HOST_DEVICE Int192(std::uint64_t first, std::uint64_t second, std::uint64_t third)
        : low_(UnsignedInt128{second} << 64 | first), high_(third) {}

    /// A number times 2^(64 words).
    [[nodiscard]] static Int192 shifted(UnsignedInt128 number, int words) {
        const auto low = static_cast<std::uint64_t>(number);
        const auto high = static_cast<std::uint64_t>(number >> 64);
        return words == 0 ? Int192(low, high, 0) : words == 1 ? Int192(0, low, high) : Int192(0, 0, low);
    }

    [[nodiscard]] KITH_HOST_DEVICE std::uint64_t word(int k) const {
        return k == 2 ? high_ : static_cast<std::uint64_t>(low_ >> 64 * k);
    }
    [[nodiscard]] KITH_HOST_DEVICE bool bit(int k) const { return (word(k / 64) >> k % 64 & 1) != 0; }

    /// The last 128 bits.
    [[nodiscard]] Int128 low() const { return static_cast<Int128>(low_); }

    KITH_HOST_DEVICE Int192& operator+=(const Int192& other) {
        low_ += other.low_;
        high_ += other.high_ + (low_ < other.low_ ? 1 : 0);
        return *this;
    }
    [[nodiscard]] KITH_HOST_DEVICE Int192 operator-() const {
        Int192 negative;
        negative.low_ = -low_;
        negative.high_ = ~high_ + (low_ == 0 ? 1 : 0);
        return negative;
    }
    [[nodiscard]] friend KITH_HOST_DEVICE Int192 operator+(Int192 a, const Int192& b) { return a += b; }
    [[nodiscard]] friend KITH_HOST_DEVICE Int192 operator-(Int192 a, const Int192& b) { return a += -b; }
    /// Of an even number, 0 or more.
    [[nodiscard]] KITH_HOST_DEVICE Int192 half() const {
        Int192 result;
        result.low_ = low_ >> 1 | UnsignedInt128{high_ & 1} << 127;
        result.high_ = high_ >> 1;
        return result;
    }
    [[nodiscard]] bool operator==(const Int192&) const = default;

private:
    UnsignedInt128 low_ = 0;
    std::uint64_t high_ = 0;
};

} // namespace kith::detail
