// What the device can do at most: bytes a second through its memory, float32 instructions a second.
#pragma once

#include "device.hpp"

namespace bench {

struct Ceilings {
    double bytes_per_second = 0;        ///< of a copy within the device, bytes read plus bytes written
    double instructions_per_second = 0; ///< of float32 fused multiply-adds, each lane's counted
};

/// The best of a few tries; about 50 milliseconds.
[[nodiscard]] Ceilings measure_ceilings(Stream& stream);

} // namespace bench
