// What a call on a GPU carries from stage to stage: the device, the caller's stream, memory, and the account of what
// each stage took.
//
// All work goes to the caller's stream. A call waits for that stream where it must know a count, and before it returns;
// it never waits for the device.
#pragma once

#include <kith/execution.hpp>
#include <kith/progress.hpp>

#include "cuda/device_memory.hpp"
#include "cuda/runtime.hpp"
#include "support/denormals.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

class DeviceContext {
public:
    /// Throws device if there is none; invalid_argument for a negative budget.
    explicit DeviceContext(const Execution& execution);
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;
    ~DeviceContext();

    /// Runs one stage and records what it took: the time between its first and its last work on the stream.
    template <class Body>
    void stage(const char* name, Body&& body) {
        begin_stage(name);
        body();
        end_stage();
    }

    /// Waits for the stream and hands out the account.
    [[nodiscard]] StageReports take_stages();

    template <class T>
    [[nodiscard]] DeviceBuffer<T> buffer(std::int64_t size) const {
        return {memory_, size};
    }
    [[nodiscard]] const std::shared_ptr<DeviceMemory>& memory() const noexcept { return memory_; }
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] Device device() const noexcept { return execution_.device; }
    [[nodiscard]] int multiprocessors() const noexcept { return multiprocessors_; }

    /// Sets bytes on the stream.
    void fill(void* memory, int byte, std::int64_t bytes);
    /// From anywhere to anywhere, host or device, on the stream; does not wait where the host's memory allows that.
    void copy(void* to, const void* from, std::int64_t bytes);
    /// Waits for the caller's stream.
    void wait();

    /// Elements of the device, once all work so far is done.
    template <class T>
    [[nodiscard]] std::vector<T> to_host(const T* from, std::int64_t count) {
        std::vector<T> elements(static_cast<std::size_t>(count));
        copy(elements.data(), from, count * static_cast<std::int64_t>(sizeof(T)));
        wait();
        return elements;
    }
    template <class T>
    [[nodiscard]] T to_host(const T* from) {
        T element;
        copy(&element, from, sizeof(T));
        wait();
        return element;
    }

    /// States that the current stage works on pieces of the points.
    void set_pieces(std::int64_t pieces) { stages_.back().pieces = pieces; }
    /// States how much of the current stage is done, for who follows the progress; may throw cancelled.
    void done(double fraction);

private:
    struct Stage {
        std::string name;
        cudaEvent_t begin;
        cudaEvent_t end;
        std::int64_t peak_bytes;
        std::int64_t pieces;
    };

    void begin_stage(const char* name);
    void end_stage();

    DenormalGuard guard_; // for what the calling thread computes
    Execution execution_;
    DeviceSpan span_;
    cudaStream_t stream_;
    std::shared_ptr<DeviceMemory> memory_;
    int multiprocessors_ = 0;
    std::vector<Stage> stages_;
};

} // namespace kith::detail::inline KITH_GPU
