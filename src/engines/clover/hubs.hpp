// Which points become hubs: drawn at random, the same ones for the same seed on every machine.
//
// One is drawn from each of as many equal stretches of the points, so no point is drawn twice. Hubs decide how long a
// search takes, never what it finds.
#pragma once

#include <cstdint>

namespace kith::detail {

/// A number from a counter: the finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// The position of one of `hubs` hubs among `count` points, at least as many.
constexpr std::int64_t drawn_hub(std::uint64_t seed, std::int64_t hub, std::int64_t hubs, std::int64_t count) noexcept {
    const auto start = [&](std::int64_t i) { return i * (count / hubs) + i * (count % hubs) / hubs; };
    const auto stretch = static_cast<std::uint64_t>(start(hub + 1) - start(hub));
    return start(hub) + static_cast<std::int64_t>(mixed(seed ^ mixed(static_cast<std::uint64_t>(hub))) % stretch);
}

} // namespace kith::detail
