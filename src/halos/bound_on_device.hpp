// What a GPU finds bound of groups.
#pragma once

#include "cuda/device_context.hpp"
#include "halos/bound_members.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

struct BoundOnDevice {
    halos::BoundMembers members;
    DeviceBuffer<std::int32_t> rows; ///< members.rows once more, on the device
};

} // namespace kith::detail::inline KITH_GPU
