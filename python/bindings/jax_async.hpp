// What GPU calls of kith.jax do without a wait: scratch from XLA, and errors that are raised later.
//
// An asynchronous call of kith writes a status when the stream gets to it. Here the statuses lie in pinned memory of the
// host, one for each call under way. Those of calls that are done are looked at when the next handler begins, and all
// when Python asks for it; the first that tells of refused points is thrown.
#pragma once

#include "jax_call.hpp"

#include <kith/async_tree.hpp>
#include <kith/device_status.hpp>
#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

inline void check_cuda_call(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw Error(ErrorKind::device, std::string(what) + " failed on the GPU: " + cudaGetErrorString(error));
    }
}

/// Handlers of a GPU begin with XLA's stream and the number of the device.
inline auto on_gpu() {
    return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<CudaStream>>().Ctx<ffi::DeviceOrdinal>();
}

/// Scratch that is XLA's again when the handler returns, for work that comes later on the stream.
inline std::span<std::byte> scratch_of(ffi::ScratchAllocator& allocator, std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    // The request states no alignment: XLA refuses more than 16 bytes, whatever there is. kith aligns what it takes.
    const std::optional<void*> memory = allocator.Allocate(size);
    if (!memory) {
        throw Error(ErrorKind::out_of_memory, "XLA has no " + std::to_string(bytes) + " bytes of scratch on the GPU");
    }
    return {static_cast<std::byte*>(*memory), size};
}

/// An index in an array of a batch, which is that of these points.
inline AsyncTree tree_in(const ffi::AnyBuffer& index, std::int64_t array, const PointsView& points, const Box& box) {
    const auto* const memory = array_in(index, 1, array);
    return {{const_cast<std::byte*>(memory), static_cast<std::size_t>(index.dimensions().back())},
            {points.dtype(), points.dimension(), points.count()},
            box};
}

/// NaN, or -1: what a call that is refused leaves.
inline void spoil(Output output, CudaStream stream) {
    check_cuda_call(cudaMemsetAsync(output->untyped_data(), 0xFF, output->size_bytes(), stream), "filling results");
}

class PendingCalls {
public:
    /// What calls write and the host reads: pinned, so that the GPU can.
    struct Report {
        DeviceStatus status;
        DeviceFofSummary summary; ///< of groups; nobody reads it
    };

    /// Of the process. Never destroyed: CUDA may be gone by then.
    static PendingCalls& of_process() {
        static auto* const calls = new PendingCalls;
        return *calls;
    }

    /// Runs enqueue(Report&), which puts a call on the execution's stream. Errors of the call end in what is said of
    /// its place, such as that in a batch.
    template <class Enqueue>
    void run(const Execution& execution, const std::string& place, const Enqueue& enqueue) {
        check_cuda_call(cudaSetDevice(execution.device.index), "choosing the device"); // as XLA has it anyhow
        Call call = unused_call(execution.device.index);
        *call.report = {};
        call.place = place;
        enqueue(*call.report); // should it throw, the report is left to the stream
        check_cuda_call(cudaEventRecord(call.done, execution.stream), "recording an event");
        const std::lock_guard lock(mutex_);
        under_way_.push_back(std::move(call));
    }

    /// Throws the first error of calls that are done, or, waiting for them, of all.
    void raise_finished(bool waits) {
        std::vector<Call> calls;
        {
            const std::lock_guard lock(mutex_);
            calls.swap(under_way_);
        }
        DeviceStatus refused;
        std::string place;
        cudaError_t failure = cudaSuccess;
        std::vector<Call> left;
        std::vector<Call> finished;
        for (const Call& call : calls) {
            const cudaError_t state = waits ? cudaEventSynchronize(call.done) : cudaEventQuery(call.done);
            if (state == cudaErrorNotReady) {
                left.push_back(call);
                continue;
            }
            if (state != cudaSuccess) {
                failure = state;
            } else if (refused.refusal == PointError::none) {
                refused = call.report->status;
                place = call.place;
            }
            finished.push_back(call);
        }
        {
            const std::lock_guard lock(mutex_);
            under_way_.insert(under_way_.begin(), left.begin(), left.end());
            unused_.insert(unused_.end(), finished.begin(), finished.end());
        }
        check_cuda_call(failure, "a search or labeling");
        try {
            check(refused);
        } catch (const Error& error) {
            throw Error(error.kind(), error.what() + place);
        }
    }

private:
    struct Call {
        int device;
        Report* report;
        cudaEvent_t done; ///< of the device
        std::string place;
    };

    Call unused_call(int device) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(unused_.begin(), unused_.end(),
                                            [device](const Call& call) { return call.device == device; });
            if (found != unused_.end()) {
                const Call call = *found;
                unused_.erase(found);
                return call;
            }
        }
        Call call{.device = device, .report = nullptr, .done = nullptr, .place = {}};
        void* memory = nullptr;
        check_cuda_call(cudaHostAlloc(&memory, sizeof(Report), cudaHostAllocPortable), "allocating pinned memory");
        call.report = static_cast<Report*>(memory);
        check_cuda_call(cudaEventCreateWithFlags(&call.done, cudaEventDisableTiming), "creating an event");
        return call;
    }

    std::mutex mutex_;
    std::vector<Call> under_way_;
    std::vector<Call> unused_;
};

} // namespace kith::python
