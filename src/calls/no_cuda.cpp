// A build without CUDA.
#include "calls/device_calls.hpp"

#include <kith/error.hpp>

namespace kith::detail::inline KITH_GPU {

const DeviceCalls& on_gpu() {
    throw Error(ErrorKind::unsupported, "this build of kith has no CUDA (CMake option KITH_CUDA); run on the CPU, with "
                                        "points in the host's memory");
}

int device_count() noexcept {
    return 0;
}

} // namespace kith::detail::inline KITH_GPU
