// Memory of a device: where a call takes it from, how much it may take, and how much it has taken.
//
// It comes from the caller's resource or, in stream order, from a pool that this library has on each device: freed
// memory stays there for the next call, since mapping fresh pages takes longer than a small search. What a call gives
// back is taken again by the same stream at once. Even so a piece takes the host a microsecond, and a call takes a
// hundred: small ones share one piece of the pool, which an arena hands out, unless there is a budget. A buffer may
// outlive its call (a tree keeps its arrays, each a piece of its own); it is given back on a stream of the pool's own,
// which no work of the caller waits for.
#pragma once

#include <kith/execution.hpp>

#include "cuda/runtime.hpp"
#include "cuda/scratch_arena.hpp"
#include "support/memory_tracker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace kith::detail::inline KITH_GPU {

class DeviceMemory {
public:
    explicit DeviceMemory(const Execution& execution);
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory();

    /// From now on no pieces share memory: some are to outlive the call, and would keep what they share.
    void take_apart() noexcept { shares_ = false; }

    /// Gives back, on the stream, what small pieces shared, unless one is held.
    void free_shared() noexcept;

    /// Throws out_of_memory, with the bytes needed, those held and the budget. Null for no bytes.
    [[nodiscard]] void* take(std::int64_t bytes);
    void give_back(void* memory, std::int64_t bytes) noexcept;

    /// What else could be taken now: the rest of the budget, or what the device has free.
    [[nodiscard]] std::int64_t left() const;
    /// Whether so much could be taken now. Little is taken to be there, without asking the device, which takes longer
    /// than a small search.
    [[nodiscard]] bool has_room_for(std::int64_t bytes) const;
    [[nodiscard]] MemoryTracker& memory_tracker() noexcept { return memory_tracker_; }

    /// From now on memory is given back without waiting for the caller's stream, which need not live any longer:
    /// nothing uses that memory any more.
    void leave_stream() noexcept {
        stream_ = nullptr;
        has_left_stream_ = true;
    }

private:
    [[nodiscard]] void* take_shared(std::int64_t bytes);
    void free(void* memory) noexcept;

    int device_;
    cudaStream_t stream_;
    bool has_left_stream_ = false;
    DeviceResource* resource_; ///< null: the pool
    std::int64_t budget_;      ///< 0: none but what is free
    bool shares_;
    std::byte* shared_ = nullptr; ///< memory that small pieces share; null until there is one
    std::optional<ScratchArena> arena_;
    MemoryTracker memory_tracker_;
};

/// Uninitialized memory of a device for so many elements.
template <class T>
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    DeviceBuffer(const std::shared_ptr<DeviceMemory>& memory, std::int64_t size)
        : data_(static_cast<T*>(memory->take(size * static_cast<std::int64_t>(sizeof(T))))), size_(size),
          memory_(memory) {}
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        DeviceBuffer taken(std::move(other));
        swap(taken);
        return *this;
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() {
        if (memory_ != nullptr) {
            memory_->give_back(data_, size_ * static_cast<std::int64_t>(sizeof(T)));
        }
    }

    [[nodiscard]] T* data() const noexcept { return data_; } ///< in memory of the device
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }

private:
    void swap(DeviceBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(memory_, other.memory_);
    }

    T* data_ = nullptr;
    std::int64_t size_ = 0;
    std::shared_ptr<DeviceMemory> memory_;
};

/// Returns to the driver what nobody holds of the pool of a device, if it has one.
void release_pool(int device);

} // namespace kith::detail::inline KITH_GPU
