#include "cuda/device_memory.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <array>
#include <limits>
#include <mutex>

namespace kith::detail::inline KITH_GPU {

namespace {

/// The library's pool on a device, made when it is first needed.
cudaMemPool_t pool_of(int device) {
    static std::mutex making;
    static std::array<cudaMemPool_t, 64> pools{};
    const std::lock_guard lock(making);
    cudaMemPool_t& known = pools.at(static_cast<std::size_t>(device));
    if (known == nullptr) {
        cudaMemPool_t pool = nullptr;
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        check_cuda(cudaMemPoolCreate(&pool, &properties), "making a pool of memory");
        std::uint64_t kept = std::numeric_limits<std::uint64_t>::max();
        check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "making a pool of memory");
        known = pool;
    }
    return known;
}

/// Bytes that the device could give: free ones, and those of the pool that nobody holds, less what the driver may need for
/// itself and what is lost between pieces of the pool.
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

DeviceMemory::DeviceMemory(const Execution& execution)
    : device_(execution.device.index), stream_(execution.stream), resource_(execution.memory),
      budget_(execution.memory_budget) {
    if (budget_ < 0) {
        throw Error(ErrorKind::invalid_argument,
                    message("the memory budget is ", budget_, " bytes; it must be positive, or 0 for what is free"));
    }
}

std::int64_t DeviceMemory::left() const {
    if (budget_ > 0) {
        return budget_ - memory_tracker_.held();
    }
    return resource_ != nullptr ? std::numeric_limits<std::int64_t>::max() : free_bytes(pool_of(device_));
}

bool DeviceMemory::has_room_for(std::int64_t bytes) const {
    constexpr std::int64_t little = std::int64_t{1} << 30;
    return (budget_ == 0 && bytes <= little) || bytes <= left();
}

void* DeviceMemory::take(std::int64_t bytes) {
    if (bytes == 0) {
        return nullptr;
    }
    void* memory = nullptr;
    if (budget_ == 0 || bytes <= left()) {
        if (resource_ != nullptr) {
            memory = resource_->allocate(bytes, stream_);
        } else {
            const cudaError_t error =
                cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool_of(device_), stream_);
            if (error == cudaErrorMemoryAllocation) {
                (void)cudaGetLastError();
                memory = nullptr;
            } else {
                check_cuda(error, "taking memory");
            }
        }
    }
    if (memory == nullptr) {
        throw Error(ErrorKind::out_of_memory,
                    message("out of memory on the GPU: ", bytes, " bytes more are needed beside the ",
                            memory_tracker_.held(), " that the call holds; ",
                            budget_ > 0 ? "the budget is " : "there is no budget, and free are ",
                            budget_ > 0 ? budget_ : left(), " bytes"));
    }
    memory_tracker_.add(bytes);
    return memory;
}

void DeviceMemory::give_back(void* memory, std::int64_t bytes) noexcept {
    if (memory == nullptr) {
        return;
    }
    memory_tracker_.release(bytes);
    int before = device_;
    if (stream_ == nullptr) { // that of the device which is current; a tree may go when another one is
        (void)cudaGetDevice(&before);
    }
    if (before != device_) {
        (void)cudaSetDevice(device_);
    }
    if (resource_ != nullptr) {
        resource_->deallocate(memory, bytes, stream_);
    } else {
        (void)cudaFreeAsync(memory, stream_);
    }
    if (before != device_) {
        (void)cudaSetDevice(before);
    }
}

} // namespace kith::detail::inline KITH_GPU
