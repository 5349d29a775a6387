// The calls of CUDA's runtime that the library makes, on a device that is not there.
//
// Its memory can be touched by kernels and copies only: host code that follows a pointer into it ends the program. What
// was taken is poisoned, has fences around it and is counted. There are two devices, with little memory. Work is done at
// once, so that every order of a stream holds.
#pragma once

#include "cuda_emulation/cuda_intrinsics.hpp"
#include "cuda_emulation/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

struct CUstream_st;

namespace kith::emulation {

/// Runs a kernel, which may touch the device's memory.
void launch(const std::string& name, const Grid& grid, const std::function<void()>& kernel);

/// Runs host code in place of work of the device, which may touch the device's memory.
void touch(const std::function<void()>& body);

/// What the library asked the runtime for that work on a stream can do without.
struct Requests {
    int waits = 0;
    int takes = 0;       ///< of memory
    int host_copies = 0; ///< from or to the host
    int events = 0;
    [[nodiscard]] int all() const { return waits + takes + host_copies + events; }
};
/// Since the program began.
[[nodiscard]] const Requests& requests();

/// Bytes of the device's memory that are held.
[[nodiscard]] std::int64_t held_on_device();
/// How many of the coming attempts to take memory succeed before one fails; negative: all.
void fail_after(int takes);

} // namespace kith::emulation

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidDevice = 101,
};
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
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
