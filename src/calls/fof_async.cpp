// The public search for groups that only puts work on a stream.
#include <kith/async.hpp>
#include <kith/error.hpp>

#include "calls/device_async_calls.hpp"
#include "groups/checks.hpp"

namespace kith {

std::int64_t fof_async_bytes(const FofSize& size, const Execution& execution) {
    return detail::fof_async_bytes_on_device(size, execution);
}

void fof_async(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length,
               const FofOptions& options, std::span<std::byte> scratch, DeviceFofSummary* summary,
               DeviceStatus* status) {
    if (options.phase_space) {
        throw Error(ErrorKind::unsupported, "groups in phase space are found on the CPU only; use kith::fof()");
    }
    detail::check_labels(labels, points.count());
    detail::fof_async_on_device({points, linking_length, options, labels.data(), false, summary, status}, scratch);
}

} // namespace kith
