#include "cuda/device_context.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <cstring>
#include <mutex>
#include <vector>

#if !defined(KITH_EMULATE_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace kith::detail::inline KITH_GPU {

namespace {

/// Pinned pages of the host that no call uses now, kept until the process ends: making one takes longer than a search.
constexpr std::int64_t page_bytes = std::int64_t{128} << 10;
std::mutex giving;
std::vector<void*> spare_pages;
std::size_t pages = 0;

/// Null if there is none to be had.
void* take_page() {
    {
        const std::lock_guard lock(giving);
        if (!spare_pages.empty()) {
            void* const page = spare_pages.back();
            spare_pages.pop_back();
            return page;
        }
        spare_pages.reserve(++pages); // so that giving it back takes no memory
    }
    void* page = nullptr;
    if (cudaMallocHost(&page, static_cast<std::size_t>(page_bytes)) != cudaSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    return page;
}

void give_page_back(void* page) noexcept {
    const std::lock_guard lock(giving);
    spare_pages.push_back(page);
}

} // namespace

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

DeviceContext::DeviceContext(const Execution& execution)
    : DeviceWork(execution), progress_(execution.progress),
      staged_(execution.device.index, execution.stream, execution.threads) {}

DeviceContext::~DeviceContext() {
    memory()->free_shared();
    (void)cudaStreamSynchronize(stream()); // if the call failed: nothing may use the caller's memory any more
    for (const Stage& stage : stages_) {
        for (const cudaEvent_t event : {stage.begin, stage.end}) {
            if (event != nullptr) {
                (void)cudaEventDestroy(event);
            }
        }
    }
    if (page_ != nullptr) {
        give_page_back(page_);
    }
    memory()->leave_stream();
}

/// Waits. Through pinned memory, since a copy to other memory of the host waits twice, and for longer.
void DeviceContext::copy_to_host(void* to, const void* from, std::int64_t bytes) {
    if (page_ == nullptr && bytes <= page_bytes) {
        page_ = take_page();
    }
    const bool goes_by_page = page_ != nullptr && bytes > 0 && bytes <= page_bytes;
    copy(goes_by_page ? page_ : to, from, bytes);
    wait();
    if (goes_by_page) {
        std::memcpy(to, page_, static_cast<std::size_t>(bytes));
    }
}

void DeviceContext::copy(void* to, const void* from, std::int64_t bytes) {
    if (!staged_.copy(to, from, bytes)) {
        DeviceWork::copy(to, from, bytes);
    }
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
