#include "cuda/device_memory.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <array>
#include <limits>
#include <mutex>

namespace kith::detail::inline KITH_GPU {

namespace {

/// What small pieces share, and the largest of them.
constexpr std::int64_t shared_bytes = std::int64_t{32} << 20;
constexpr std::int64_t small_bytes = std::int64_t{4} << 20;

/// Under emulation every piece has fences of its own, unless a test wants it so.
bool may_share() {
#if defined(KITH_EMULATE_CUDA)
    return emulation::pieces_share();
#else
    return true;
#endif
}

/// The library's memory on a device.
struct Pool {
    cudaMemPool_t memory = nullptr;
    cudaStream_t stream = nullptr; ///< waits for nobody; takes back what no work uses any more
};

std::mutex making;
std::array<Pool, 64> pools{};

/// Made when it is first needed, for the current device.
Pool pool_of(int device) {
    const std::lock_guard lock(making);
    Pool& known = pools.at(static_cast<std::size_t>(device));
    if (known.memory == nullptr) {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        Pool made;
        check_cuda(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking), "making a pool of memory");
        check_cuda(cudaMemPoolCreate(&made.memory, &properties), "making a pool of memory");
        std::uint64_t kept = std::numeric_limits<std::uint64_t>::max();
        check_cuda(cudaMemPoolSetAttribute(made.memory, cudaMemPoolAttrReleaseThreshold, &kept),
                   "making a pool of memory");
        known = made;
    }
    return known;
}

/// Returns to the driver what nobody holds of a pool.
void trim(const Pool& pool) {
    check_cuda(cudaStreamSynchronize(pool.stream), "waiting for freed memory");
    check_cuda(cudaMemPoolTrimTo(pool.memory, 0), "releasing memory");
}

/// Null if there is not so much. What the pool holds in pieces that are too small helps only once the driver has it
/// back.
void* take_from(const Pool& pool, std::int64_t bytes, cudaStream_t stream) {
    for (const bool is_retry : {false, true}) {
        void* memory = nullptr;
        const cudaError_t error =
            cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool.memory, stream);
        if (error != cudaErrorMemoryAllocation) {
            check_cuda(error, "taking memory");
            return memory;
        }
        (void)cudaGetLastError();
        if (!is_retry) {
            check_cuda(cudaStreamSynchronize(stream), "waiting for freed memory");
            trim(pool);
        }
    }
    return nullptr;
}

/// Makes a device the calling thread's while it lives, unless it is known to be.
class CurrentDevice {
public:
    CurrentDevice(int device, bool may_be_another) : before_(device), device_(device) {
        if (may_be_another) { // a tree may go when another device is current
            (void)cudaGetDevice(&before_);
        }
        if (before_ != device_) {
            (void)cudaSetDevice(device_);
        }
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    ~CurrentDevice() {
        if (before_ != device_) {
            (void)cudaSetDevice(before_);
        }
    }

private:
    int before_;
    int device_;
};

/// Bytes that the device could give: free ones, and those of the pool that nobody holds, less what the driver may need
/// for itself and what is lost between pieces of the pool.
std::int64_t free_bytes(cudaMemPool_t pool) {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    if (pool != nullptr) {
        check_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking a pool");
        check_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "asking a pool");
    }
    const auto all = static_cast<std::int64_t>(free + (reserved - used));
    return all - all / 32;
}

} // namespace

void release_pool(int device) {
    const std::lock_guard lock(making);
    if (const Pool& pool = pools.at(static_cast<std::size_t>(device)); pool.memory != nullptr) {
        trim(pool);
    }
}

DeviceMemory::DeviceMemory(const Execution& execution)
    : device_(execution.device.index), stream_(execution.stream), resource_(execution.memory),
      budget_(execution.memory_budget), shares_(resource_ == nullptr && budget_ == 0 && may_share()) {
    if (budget_ < 0) {
        throw error(ErrorKind::invalid_argument, of_value(budget_), "the memory budget is ", budget_,
                    " bytes; it must be positive, or 0 for what is free");
    }
}

DeviceMemory::~DeviceMemory() {
    free_shared();
}

std::int64_t DeviceMemory::left() const {
    if (budget_ > 0) {
        return budget_ - memory_tracker_.held();
    }
    return resource_ != nullptr ? std::numeric_limits<std::int64_t>::max() : free_bytes(pool_of(device_).memory);
}

bool DeviceMemory::has_room_for(std::int64_t bytes) const {
    constexpr std::int64_t little = std::int64_t{1} << 30;
    return (budget_ == 0 && bytes <= little) || bytes <= left();
}

/// Null if the piece is not small, or there is no room for it.
void* DeviceMemory::take_shared(std::int64_t bytes) {
    if (!shares_ || bytes > small_bytes) {
        return nullptr;
    }
    if (shared_ == nullptr) {
        shared_ = static_cast<std::byte*>(take_from(pool_of(device_), shared_bytes, stream_));
        if (shared_ == nullptr) {
            shares_ = false;
            return nullptr;
        }
        arena_.emplace(std::span(shared_, static_cast<std::size_t>(shared_bytes)));
    }
    return arena_->allocate(bytes, stream_);
}

void* DeviceMemory::take(std::int64_t bytes) {
    if (bytes == 0) {
        return nullptr;
    }
    void* memory = take_shared(bytes);
    if (memory == nullptr && (budget_ == 0 || bytes <= left())) {
        if (resource_ != nullptr) {
            memory = resource_->allocate(bytes, stream_);
#if defined(KITH_EMULATE_CUDA)
            if (const auto* const arena = dynamic_cast<const ScratchArena*>(resource_);
                arena == nullptr || !arena->is_kept()) {
                emulation::renew(memory, static_cast<std::size_t>(bytes), stream_);
            }
#endif
        } else {
            memory = take_from(pool_of(device_), bytes, stream_);
        }
    }
    if (memory == nullptr) {
        throw error(ErrorKind::out_of_memory, "out of memory on the GPU: ", bytes, " bytes more are needed beside the ",
                    memory_tracker_.held(), " that the call holds; ",
                    budget_ > 0 ? "the budget is " : "there is no budget, and free are ",
                    budget_ > 0 ? budget_ : left(), " bytes");
    }
    memory_tracker_.add(bytes);
    return memory;
}

void DeviceMemory::give_back(void* memory, std::int64_t bytes) noexcept {
    if (memory == nullptr) {
        return;
    }
    memory_tracker_.release(bytes);
    const auto* const place = static_cast<const std::byte*>(memory);
    if (shared_ != nullptr && place >= shared_ && place < shared_ + shared_bytes) {
        arena_->deallocate(memory, bytes, stream_);
    } else if (resource_ != nullptr) {
        const CurrentDevice current(device_, has_left_stream_);
        resource_->deallocate(memory, bytes, stream_);
    } else {
        free(memory);
    }
}

void DeviceMemory::free(void* memory) noexcept {
    const CurrentDevice current(device_, has_left_stream_);
    (void)cudaFreeAsync(memory, has_left_stream_ ? pools[device_].stream : stream_);
}

void DeviceMemory::free_shared() noexcept {
    if (shared_ != nullptr && arena_->is_empty()) {
        free(shared_);
        shared_ = nullptr;
        shares_ = false;
    }
}

} // namespace kith::detail::inline KITH_GPU
