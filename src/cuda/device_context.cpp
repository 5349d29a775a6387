#include "cuda/device_context.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#if !defined(KITH_EMULATE_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace kith::detail::inline KITH_GPU {

ProfiledRange::ProfiledRange([[maybe_unused]] const char* name) {
#if !defined(KITH_EMULATE_CUDA)
    nvtxRangePushA(name);
#endif
}

ProfiledRange::~ProfiledRange() {
#if !defined(KITH_EMULATE_CUDA)
    nvtxRangePop();
#endif
}

DeviceContext::DeviceContext(const Execution& execution) : DeviceWork(execution), progress_(execution.progress) {}

DeviceContext::~DeviceContext() {
    (void)cudaStreamSynchronize(stream()); // if the call failed: nothing may use the caller's memory any more
    for (const Stage& stage : stages_) {
        for (const cudaEvent_t event : {stage.begin, stage.end}) {
            if (event != nullptr) {
                (void)cudaEventDestroy(event);
            }
        }
    }
    memory()->leave_stream();
}

void DeviceContext::begin_stage(const char* name) {
    stages_.push_back({name, nullptr, nullptr, 0, 1});
    Stage& stage = stages_.back();
    check_cuda(cudaEventCreate(&stage.begin), "making an event");
    check_cuda(cudaEventCreate(&stage.end), "making an event");
    done(0);
    memory()->memory_tracker().restart_peak();
    check_cuda(cudaEventRecord(stage.begin, stream()), "recording an event");
}

void DeviceContext::end_stage() {
    Stage& stage = stages_.back();
    stage.peak_bytes = memory()->memory_tracker().peak();
    check_cuda(cudaEventRecord(stage.end, stream()), "recording an event");
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

void DeviceContext::wait() {
    check_cuda(cudaStreamSynchronize(stream()), "waiting for the stream");
}

void DeviceContext::done(double fraction) {
    if (progress_ && !progress_(stages_.back().name, fraction)) {
        throw error(ErrorKind::canceled, "canceled during the stage '", stages_.back().name, "'");
    }
}

} // namespace kith::detail::inline KITH_GPU
