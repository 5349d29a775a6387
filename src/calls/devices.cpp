// The public functions on GPUs that are no calls of a task.
#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "calls/device_calls.hpp"
#include "distributed/machines.hpp"
#include "distributed/ranks.hpp"

#include <array>
#include <span>
#include <vector>

#include <unistd.h>

bool kith::has_cuda() noexcept {
    return detail::device_count() > 0;
}

void kith::release_memory(const Device& device) {
    if (device.kind == DeviceKind::cuda) {
        detail::on_gpu().release_memory(device);
    }
}

int kith::gpu_of_rank(Communicator& communicator) {
    return detail::on_all_ranks(communicator, [](detail::Ranks& ranks) {
        int gpus = 0;
        ranks.agreed([&] {
            (void)detail::on_gpu(); // refuses in a build without CUDA
            gpus = detail::device_count();
            if (gpus == 0) {
                throw Error(ErrorKind::device,
                            "this process sees no GPU; run on the CPU, or on a machine that has one");
            }
        });
        std::array<char, 256> machine{};
        (void)gethostname(machine.data(), machine.size() - 1); // a name that is cut is a name, too
        const auto machines = ranks.gather(machine);
        return static_cast<int>(
            detail::rank_on_machine(std::span<const std::array<char, 256>>(machines), ranks.rank()) % gpus);
    });
}
