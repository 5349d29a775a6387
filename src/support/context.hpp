// What a call carries from stage to stage: its threads, its account of memory and time, its progress callback.
//
// A Context lives for one public call. Every large array is a Buffer that books its bytes in the context's ledger, so
// the peak of each stage is known. A Buffer may outlive the context (a tree keeps its arrays): the ledger is shared.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/progress.hpp>

#include "support/arena_lease.hpp"
#include "support/denormals.hpp"
#include "support/memory_tracker.hpp"
#include "support/message.hpp"
#include "support/pages.hpp"

#include <tbb/global_control.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace kith::detail {

class Context {
public:
    /// Throws invalid_argument for a number of threads that cannot be, unsupported for a device other than the CPU.
    explicit Context(const Execution& execution);

    /// Runs one stage inside the arena, with subnormals on, and records what it took.
    template <class Body>
    void stage(const char* name, Body&& body) {
        record_stage(name, std::ref(body));
    }

    /// Runs something short inside the arena without recording it. Containers that fail to allocate within throw
    /// out_of_memory.
    template <class Body>
    void run(Body&& body) {
        run_in_arena(std::ref(body));
    }

    [[nodiscard]] int threads() const noexcept { return arena_->max_concurrency(); }
    [[nodiscard]] const std::shared_ptr<MemoryTracker>& memory_tracker() const noexcept { return memory_tracker_; }
    [[nodiscard]] StageReports take_stages() { return std::move(stages_); }

    /// States how many steps the current stage has; done() counts them off and tells the callback now and then.
    void expect(std::int64_t steps) noexcept { total_ = steps; }
    void done(std::int64_t steps) {
        if (execution_.progress) {
            count_off(steps);
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    void record_stage(const char* name, const std::function<void()>& body);
    void run_in_arena(const std::function<void()>& body);
    void count_off(std::int64_t steps);
    /// Calls the callback: one thread at a time, at most about twenty times a second.
    void check(double fraction);

    DenormalGuard guard_; // for what the calling thread computes between stages
    Execution execution_;
    std::shared_ptr<MemoryTracker> memory_tracker_;
    std::optional<tbb::global_control> more_threads_; ///< oneTBB's own limit is the number of cores
    ArenaLease arena_;
    StageReports stages_;
    const char* current_ = "";
    std::atomic<std::int64_t> done_{0};
    std::int64_t total_ = 0;
    std::mutex calling_;
    Clock::time_point called_{};
};

/// Uninitialized memory for `size` trivial elements, aligned to 64 bytes and followed by 64 readable bytes, so that
/// whole-vector loads may start at any element.
template <class T>
class Buffer {
public:
    Buffer() = default;
    Buffer(const std::shared_ptr<MemoryTracker>& memory_tracker, std::int64_t size)
        : size_(size), memory_tracker_(memory_tracker) {
        const std::int64_t bytes = (size * static_cast<std::int64_t>(sizeof(T)) + 127) / 64 * 64;
        data_ = static_cast<T*>(allocate_pages(bytes));
        if (data_ == nullptr) {
            throw error(ErrorKind::out_of_memory, "failed to allocate ", bytes, " bytes of working memory");
        }
        bytes_ = bytes;
        memory_tracker_->add(bytes_);
    }
    /// Memory of somebody else's, aligned for T. Nothing is said about what lies behind it.
    static Buffer borrowed(void* memory, std::int64_t size) {
        Buffer buffer;
        buffer.data_ = static_cast<T*>(memory);
        buffer.size_ = size;
        return buffer;
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer taken(std::move(other));
        swap(taken);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
        if (memory_tracker_ != nullptr) {
            memory_tracker_->release(bytes_);
            std::free(data_);
        }
    }

    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::int64_t i) noexcept { return data_[i]; }
    [[nodiscard]] const T& operator[](std::int64_t i) const noexcept { return data_[i]; }
    [[nodiscard]] std::span<const T> span() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }

private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        std::swap(memory_tracker_, other.memory_tracker_);
    }

    T* data_ = nullptr;
    std::int64_t size_ = 0;
    std::int64_t bytes_ = 0;
    std::shared_ptr<MemoryTracker> memory_tracker_; ///< null if the memory is borrowed
};

} // namespace kith::detail
