// The public functions on GPUs that are no calls of a task.
#include <kith/execution.hpp>

#include "calls/device_calls.hpp"

bool kith::has_cuda() noexcept {
    return detail::finds_device();
}

void kith::release_memory(const Device& device) {
    if (device.kind == DeviceKind::cuda) {
        detail::on_gpu().release_memory(device);
    }
}
