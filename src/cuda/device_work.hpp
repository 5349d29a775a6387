// What it takes to put work on a stream of a device: the device, the stream, and memory.
//
// Nothing here waits, and nothing that is given no more than this can.
#pragma once

#include <kith/execution.hpp>

#include "cuda/device_memory.hpp"
#include "cuda/runtime.hpp"
#include "cuda/scratch_arena.hpp"
#include "support/denormals.hpp"

#include <cstdint>
#include <memory>

namespace kith::detail::inline KITH_GPU {

/// Makes a device the calling thread's, and gives it back its own at the end.
class DeviceSpan {
public:
    /// Throws device if there is no such device.
    explicit DeviceSpan(int device);
    DeviceSpan(const DeviceSpan&) = delete;
    DeviceSpan& operator=(const DeviceSpan&) = delete;
    ~DeviceSpan();

private:
    int before_ = 0;
    bool changed_ = false;
};

class DeviceWork {
public:
    /// Work with memory of the device's own or the execution's resource. Throws device if there is no such device;
    /// invalid_argument for a negative budget.
    explicit DeviceWork(const Execution& execution);
    /// Work within an arena, which must live as long; or, if the arena measures, none at all: then nothing reaches the
    /// stream.
    DeviceWork(const Execution& execution, ScratchArena& arena);
    DeviceWork(const DeviceWork&) = delete;
    DeviceWork& operator=(const DeviceWork&) = delete;

    template <class T>
    [[nodiscard]] DeviceBuffer<T> buffer(std::int64_t size) const {
        return {memory_, size};
    }
    [[nodiscard]] const std::shared_ptr<DeviceMemory>& memory() const noexcept { return memory_; }
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] Device device() const noexcept { return device_; }
    [[nodiscard]] int multiprocessors() const noexcept { return multiprocessors_; }
    [[nodiscard]] bool only_measures() const noexcept { return only_measures_; } ///< how much memory the work takes

    /// Sets bytes on the stream.
    void fill(void* memory, int byte, std::int64_t bytes);
    /// From anywhere to anywhere, host or device, on the stream; does not wait where the host's memory allows that.
    void copy(void* to, const void* from, std::int64_t bytes);

private:
    DeviceWork(const Execution& execution, bool only_measures);

    DenormalGuard guard_; // for what the calling thread computes
    DeviceSpan span_;
    Device device_;
    cudaStream_t stream_;
    std::shared_ptr<DeviceMemory> memory_;
    int multiprocessors_ = 0;
    bool only_measures_;
};

} // namespace kith::detail::inline KITH_GPU
