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
#include "support/fork_join.hpp"
#include "support/memory_tracker.hpp"
#include "support/message.hpp"
#include "support/pages.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace kith::detail {

class Context {
public:
    /// Throws invalid_argument for a number of threads that cannot be, unsupported for a device other than the CPU.
    explicit Context(const Execution& execution)
        : execution_(execution), memory_tracker_(std::make_shared<MemoryTracker>()), arena_(arena_size(execution)) {
        if (execution.threads > tbb::info::default_concurrency()) {
            more_threads_.emplace(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(execution.threads));
        }
    }

    /// Runs one stage inside the arena, with subnormals on, and records what it took.
    template <class Body>
    void stage(const char* name, Body&& body) {
        current_ = name;
        done_ = 0;
        total_ = 0;
        check(0);
        memory_tracker_->restart_peak();
        const auto start = std::chrono::steady_clock::now();
        run(body);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        stages_.push_back({name, took.count(), memory_tracker_->peak()});
    }

    /// Runs something short inside the arena without recording it. Containers that fail to allocate within throw
    /// out_of_memory.
    template <class Body>
    void run(Body&& body) {
        ForkJoin fork_join;
        const ForkSpan fork(fork_join);
        try {
            arena_->execute([&] {
                const TaskSpan task(fork_join);
                const DenormalGuard guard;
                body();
            });
        } catch (const std::bad_alloc&) {
            throw Error(ErrorKind::out_of_memory, "failed to allocate working memory");
        }
    }

    [[nodiscard]] int threads() const noexcept { return arena_->max_concurrency(); }
    [[nodiscard]] const std::shared_ptr<MemoryTracker>& memory_tracker() const noexcept { return memory_tracker_; }
    [[nodiscard]] StageReports take_stages() { return std::move(stages_); }

    /// States how many steps the current stage has; done() counts them off and tells the callback now and then.
    void expect(std::int64_t steps) noexcept { total_ = steps; }
    void done(std::int64_t steps) {
        if (!execution_.progress) {
            return;
        }
        const std::int64_t so_far = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
        check(total_ > 0 ? std::min(1.0, static_cast<double>(so_far) / static_cast<double>(total_)) : 0.0);
    }

private:
    using Clock = std::chrono::steady_clock;

    static int arena_size(const Execution& execution) {
        if (execution.threads < 0 || execution.threads > max_threads) {
            throw error(ErrorKind::invalid_argument, of_value(execution.threads), "threads is ", execution.threads,
                        "; it must be from 1 to ", max_threads, ", or 0 for all");
        }
        if (execution.device.kind != DeviceKind::cpu) {
            throw Error(ErrorKind::unsupported, "this call runs on the CPU only; use kith::cpu()");
        }
        return execution.threads;
    }

    // The callback is called by one thread at a time, at most about twenty times a second.
    void check(double fraction) {
        if (!execution_.progress) {
            return;
        }
        const std::unique_lock lock(calling_, std::try_to_lock);
        const auto now = Clock::now();
        if (!lock.owns_lock() || (fraction > 0 && fraction < 1 && now - called_ < std::chrono::milliseconds(50))) {
            return;
        }
        called_ = now;
        if (!execution_.progress(current_, fraction)) {
            throw error(ErrorKind::canceled, "canceled during the stage '", std::string_view(current_), "'");
        }
    }

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
