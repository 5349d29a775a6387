// The calls of CUDA's runtime that the library makes, on a device that is not there.
//
// Its memory can be touched by kernels and copies only (device_arena.hpp). There are four devices, with little memory.
// Threads of the host must take turns: only the current device is one of each thread.
// Work waits on its stream until somebody waits for it (streams.hpp); what goes wrong in it is thrown by that wait.
#pragma once

#include "cuda_emulation/cuda_intrinsics.hpp"
#include "cuda_emulation/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct CUstream_st;

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNotReady = 600,
};

namespace kith::emulation {

/// Work that is put on a stream: a kernel with its job, or what CUB does with whole arrays.
struct Work {
    std::string name;
    Grid grid;                      ///< of a kernel
    const void* kernel;             ///< its address in this program; null: CUB
    std::span<const std::byte> job; ///< of a kernel
    std::int64_t elements = 0;      ///< of an array that CUB works on
    int element_bytes = 0;
    int key_bits = 0; ///< that CUB sorts them by; 0: it goes over them once
};
/// From now on, these see all work before and after it is done; nothing: nobody does.
void observe(std::function<void(const Work&)> before, std::function<void(const Work&)> after = {});

/// Puts work on a stream; its body may touch the memory of the stream's device.
void enqueue(CUstream_st* stream, const Work& work, std::function<void()> body);
/// One thread of a kernel. The job is copied from memory of the host.
template <class Job>
KITH_UNWATCHED void call_kernel(const void* kernel, const void* job) {
    reinterpret_cast<void (*)(Job)>(reinterpret_cast<std::uintptr_t>(kernel))(*static_cast<const Job*>(job));
}
template <class Job>
void launch(CUstream_st* stream, const std::string& name, const Grid& grid, void (*kernel)(Job), const Job& job) {
    const auto kept = std::make_shared<const Job>(job); // the observer sees its bytes
    const auto* const address = reinterpret_cast<const void*>(kernel);
    enqueue(stream, {name, grid, address, std::as_bytes(std::span(kept.get(), 1))},
            [=] { run_job(name, grid, call_kernel<Job>, address, kept.get()); });
}

/// Waits for a stream and runs host code that may touch the memory of all devices.
void touch(const std::function<void()>& body, CUstream_st* stream = nullptr);

/// Makes memory as new when the stream comes so far; nothing if it is not a device's. What a caller's resource gives has
/// often been used before.
void renew(void* memory, std::size_t bytes, CUstream_st* stream);

/// What the library asked the runtime for that work on a stream can do without.
struct Requests {
    int waits = 0;
    int takes = 0;                  ///< of memory
    int fills = 0;                  ///< of memory, which is work like a launch: not among all()
    int host_copies = 0;            ///< from or to the host
    std::int64_t host_bytes = 0;    ///< of these
    std::int64_t to_host_bytes = 0; ///< of these, to the host
    int device_copies = 0;          ///< others: work like a launch, not among all()
    int events = 0;
    [[nodiscard]] int all() const { return waits + takes + host_copies + events; }
};
/// Since the program began.
[[nodiscard]] const Requests& requests();

/// What is held of the device's memory, in the order of addresses, and where that memory begins.
[[nodiscard]] std::vector<std::span<const std::byte>> held_pieces();
[[nodiscard]] const std::byte* device_begin();
/// Bytes of the devices' memory that are held.
[[nodiscard]] std::int64_t held_on_device();
/// How many multiprocessors the devices have from now on; 2 until then.
void set_multiprocessors(int count);
/// How many of the coming attempts to take memory succeed before one fails; negative: all.
void fail_after(int takes);
/// From now on attempts to take memory fail until the library returns what it keeps.
void fail_until_trimmed();
[[nodiscard]] bool fails_until_trimmed();
/// Whether small pieces of the library's memory share a larger one, as they do on a GPU; not unless it is said so, since
/// nothing is seen of what is written beside them then.
void share_pieces(bool yes);
[[nodiscard]] bool pieces_share();
/// How large each of the library's pinned buffers for copies is from now on, and what a copy through them must exceed; 0:
/// as on a GPU.
void set_staging_bytes(std::int64_t bytes);
[[nodiscard]] std::int64_t staging_bytes();
/// Bytes of pinned memory of the host that were not freed.
[[nodiscard]] std::int64_t pinned_on_host();
/// What the next counts of devices say; cudaSuccess for as many as there are.
void fail_to_count(cudaError_t error);

} // namespace kith::emulation

#define CUDART_VERSION 12040
constexpr unsigned cudaStreamNonBlocking = 1;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrUsedMemCurrent = 7,
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3,
};

struct EmulatedEvent;
struct EmulatedPool;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = EmulatedEvent*;
using cudaMemPool_t = EmulatedPool*;
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    struct {
        cudaMemLocationType type;
        int id;
    } location;
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
};

cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
