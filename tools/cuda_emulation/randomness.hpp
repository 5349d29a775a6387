// The generator that draws the order of threads: SplitMix64 (Steele, Lea and Flood 2014). It draws at every change of
// threads, so it must be quick.
#pragma once

#include <cstdint>
#include <limits>

namespace kith::emulation {

class Randomness {
public:
    using result_type = std::uint64_t;

    explicit Randomness(std::uint64_t seed) : state_(seed * 0xD1342543DE82EF95U) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()() {
        std::uint64_t bits = state_ += increment;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
        return bits ^ (bits >> 31);
    }
    /// In [0, count); count is at most 2^32.
    std::uint64_t below(std::uint64_t count) { return ((*this)() >> 32) * count >> 32; }

private:
    static constexpr std::uint64_t increment = 0x9E3779B97F4A7C15U;

    std::uint64_t state_;
};

} // namespace kith::emulation
