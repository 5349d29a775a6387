#include "cuda/device_context.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <algorithm>
#include <string_view>

#if !defined(KITH_EMULATE_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace kith::detail::inline KITH_GPU {

namespace {

void push_range([[maybe_unused]] const char* name) {
#if !defined(KITH_EMULATE_CUDA)
    nvtxRangePushA(name);
#endif
}

void pop_range() {
#if !defined(KITH_EMULATE_CUDA)
    nvtxRangePop();
#endif
}

} // namespace

void check_cuda(cudaError_t error, const char* what) {
    if (error == cudaSuccess) {
        return;
    }
    (void)cudaGetLastError(); // what can be forgotten is
    const std::string_view says = cudaGetErrorString(error);
    if (error == cudaErrorMemoryAllocation) {
        throw Error(ErrorKind::out_of_memory,
                    message("out of memory on the GPU: ", std::string_view(what), ": ", says));
    }
    throw Error(ErrorKind::device, message("the GPU failed: ", std::string_view(what), ": ", says));
}

DeviceSpan::DeviceSpan(int device) {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        (void)cudaGetLastError();
        throw Error(ErrorKind::device,
                    message("there is no GPU to run on (the CUDA runtime says: ",
                            error == cudaSuccess ? "no device" : std::string_view(cudaGetErrorString(error)),
                            "); run on the CPU instead"));
    }
    if (device < 0 || device >= devices) {
        throw Error(ErrorKind::device,
                    message("GPU ", device, " was asked for; there are ", devices, ", numbered from 0"));
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

DeviceContext::DeviceContext(const Execution& execution)
    : execution_(execution), span_(execution.device.index), stream_(execution.stream),
      memory_(std::make_shared<DeviceMemory>(execution)) {
    check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, execution.device.index),
               "asking for the number of multiprocessors");
}

DeviceContext::~DeviceContext() {
    (void)cudaStreamSynchronize(stream_); // if the call failed: nothing may use the caller's memory any more
    for (const Stage& stage : stages_) {
        for (const cudaEvent_t event : {stage.begin, stage.end}) {
            if (event != nullptr) {
                (void)cudaEventDestroy(event);
            }
        }
    }
    memory_->leave_stream();
}

void DeviceContext::begin_stage(const char* name) {
    stages_.push_back({name, nullptr, nullptr, 0, 1});
    Stage& stage = stages_.back();
    check_cuda(cudaEventCreate(&stage.begin), "making an event");
    check_cuda(cudaEventCreate(&stage.end), "making an event");
    done(0);
    memory_->ledger().restart_peak();
    check_cuda(cudaEventRecord(stage.begin, stream_), "recording an event");
    push_range(name);
}

void DeviceContext::end_stage() {
    pop_range();
    Stage& stage = stages_.back();
    stage.peak_bytes = memory_->ledger().peak();
    check_cuda(cudaEventRecord(stage.end, stream_), "recording an event");
}

StageReports DeviceContext::take_stages() {
    wait();
    StageReports reports;
    for (const Stage& stage : stages_) {
        float milliseconds = 0;
        check_cuda(cudaEventElapsedTime(&milliseconds, stage.begin, stage.end), "reading an event");
        reports.push_back({stage.name, static_cast<double>(milliseconds) / 1000, stage.peak_bytes, stage.pieces});
    }
    return reports;
}

void DeviceContext::fill(void* memory, int byte, std::int64_t bytes) {
    check_cuda(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), stream_), "filling memory");
}

void DeviceContext::copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) {
        check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
                   "copying memory");
    }
}

void DeviceContext::wait() {
    check_cuda(cudaStreamSynchronize(stream_), "waiting for the stream");
}

void DeviceContext::done(double fraction) {
    if (execution_.progress && !execution_.progress(stages_.back().name, fraction)) {
        throw Error(ErrorKind::cancelled, message("cancelled during the stage '", stages_.back().name, "'"));
    }
}

} // namespace kith::detail::inline KITH_GPU
