// The watch over global memory (watch.cpp): programs that are linked with it may ask whether it sees anything.
#pragma once

#include <cstdint>

namespace kith::emulation {

/// How many accesses of kernels, in this thread, it has looked at.
[[nodiscard]] std::uint64_t watched_accesses();

} // namespace kith::emulation
