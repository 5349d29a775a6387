// Communication between memory of GPUs, for ranks whose points are searched on GPUs.
//
// The points that ranks with GPUs send each other travel from buffers into buffers whose sizes are known. If the
// communicator accepts memory of GPUs, these buffers are there, and the points do not go through memory of the host.
// The answers do not depend on it. mpi.hpp and run_ranks() have such communicators; derive from DeviceCommunicator to
// use another communication library that can do so.
#pragma once

#include <kith/communicator.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace kith {

/// Bytes of this rank for another one.
struct SendBuffer {
    int rank = 0; ///< destination
    const void* bytes = nullptr;
    std::int64_t count = 0;
};

/// Memory of this rank for the bytes of another one.
struct ReceiveBuffer {
    int rank = 0; ///< source
    void* bytes = nullptr;
    std::int64_t count = 0; ///< of the bytes that the source sends to this rank
};

/// Copies bytes between memory of a rank's GPU, of other GPUs that its process uses, and of the host. Returns when they
/// have arrived. Throws Error: device.
using CopyBytes = std::function<void(void* to, const void* from, std::int64_t count)>;

class DeviceCommunicator : public Communicator {
public:
    /// Whether the buffers of exchange_buffers() may be in memory of GPUs. The same on all ranks. Not collective.
    [[nodiscard]] virtual bool accepts_device_memory() const noexcept = 0;

    /// Collective. Sends buffers to other ranks, and receives theirs. A rank sends at most one buffer to each other
    /// rank, and none without bytes; each has a buffer of the same size at its destination. Buffers are memory of the
    /// host, or, if `copy` is not empty, of this rank's GPU, whose work on them is complete. Returns when received
    /// bytes have arrived and those sent may be changed. An implementation need not call `copy`, which is this rank's.
    virtual void exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                                  const CopyBytes& copy) = 0;
};

} // namespace kith
