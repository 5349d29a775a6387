#include "cuda/device_work.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/one_process.hpp"

#include <string_view>

namespace kith::detail::inline KITH_GPU {

void check_cuda(cudaError_t result, const char* what) {
    if (result == cudaSuccess) {
        return;
    }
    (void)cudaGetLastError(); // what can be forgotten is
    const std::string_view says = cudaGetErrorString(result);
    if (result == cudaErrorMemoryAllocation) {
        throw error(ErrorKind::out_of_memory, "out of memory on the GPU: ", std::string_view(what), ": ", says);
    }
    throw error(ErrorKind::device, "the GPU failed: ", std::string_view(what), ": ", says);
}

DeviceSpan::DeviceSpan(int device) {
    int devices = 0;
    const cudaError_t result = cudaGetDeviceCount(&devices);
    if (result == cudaErrorNoDevice || (result == cudaSuccess && devices == 0)) {
        (void)cudaGetLastError();
        throw Error(ErrorKind::device, "there is no GPU to run on; run on the CPU instead");
    }
    if (result == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        throw error(ErrorKind::device,
                    "GPUs cannot be used, since NVIDIA's driver is missing or too old (the CUDA runtime says: ",
                    std::string_view(cudaGetErrorString(result)), "); install a driver for CUDA ",
                    CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10, " or later, or run on the CPU instead");
    }
    check_cuda(result, "counting the devices");
    if (device < 0 || device >= devices) {
        throw error(ErrorKind::device, "GPU ", device, " was asked for; there are ", devices, ", numbered from 0");
    }
    check_cuda(cudaGetDevice(&before_), "asking for the current device");
    changed_ = before_ != device;
    if (changed_) {
        check_cuda(cudaSetDevice(device), "choosing the device");
    }
    (void)cudaGetLastError(); // the caller's, who may have dealt with it: not ours to report
}

DeviceSpan::~DeviceSpan() {
    if (changed_) {
        (void)cudaSetDevice(before_);
    }
}

namespace {

/// The caller's resource and budget are for memory that a call takes beside its arena.
Execution within(const Execution& execution, ScratchArena& arena) {
    Execution result = execution;
    result.memory = &arena;
    result.memory_budget = 0;
    return result;
}

} // namespace

DeviceWork::DeviceWork(const Execution& execution, bool only_measures)
    : span_(execution.device.index), device_(execution.device), stream_(execution.stream),
      memory_(std::make_shared<DeviceMemory>(execution)), only_measures_(only_measures) {
    require_one_process(execution);
    check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device_.index),
               "asking for the number of multiprocessors");
}

DeviceWork::DeviceWork(const Execution& execution) : DeviceWork(execution, false) {}

DeviceWork::DeviceWork(const Execution& execution, ScratchArena& arena)
    : DeviceWork(within(execution, arena), arena.measures()) {}

void DeviceWork::fill(void* memory, int byte, std::int64_t bytes) {
    if (bytes > 0 && !only_measures_) {
        check_cuda(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), stream_), "filling memory");
    }
}

void DeviceWork::copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0 && !only_measures_) {
        check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
                   "copying memory");
    }
}

} // namespace kith::detail::inline KITH_GPU
