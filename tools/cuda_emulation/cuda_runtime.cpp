#include "cuda_emulation/cuda_runtime.hpp"

#include "cuda_emulation/device_arena.hpp"
#include "cuda_emulation/streams.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

struct EmulatedEvent {
    std::shared_ptr<std::chrono::steady_clock::time_point> when =
        std::make_shared<std::chrono::steady_clock::time_point>();
    kith::emulation::Mark recorded;
};

namespace kith::emulation {

namespace {

int multiprocessors = 2;             // of each device
thread_local int current_device = 0; // of each thread of the host
int takes_left = -1;
bool takes_fail_until_trimmed = false;
bool small_pieces_share = false;
std::int64_t bytes_of_staging = 0;
cudaError_t counting_says = cudaSuccess;
Requests made;
std::function<void(const Work&)> observer_before;
std::function<void(const Work&)> observer_after;
cudaError_t last_error = cudaSuccess;

std::map<const std::byte*, std::vector<std::byte>> pinned; // memory of the host, by where it starts

cudaError_t failed(cudaError_t error) {
    last_error = error;
    return error;
}

Stream& stream_of(cudaStream_t stream) {
    return stream == nullptr ? legacy_stream(current_device) : *stream;
}

bool is_pinned(const void* pointer) {
    const auto* const address = static_cast<const std::byte*>(pointer);
    const auto next = pinned.upper_bound(address);
    return next != pinned.begin() && address < std::prev(next)->first + std::prev(next)->second.size();
}
bool is_pageable(const void* pointer) {
    return !DeviceArena::only().has(pointer) && !is_pinned(pointer);
}

} // namespace

void observe(std::function<void(const Work&)> before, std::function<void(const Work&)> after) {
    observer_before = std::move(before);
    observer_after = std::move(after);
}

void enqueue(cudaStream_t stream, const Work& work, std::function<void()> body) {
    Stream& there = stream_of(stream);
    const Mark mark = put(there, [work, body = std::move(body), device = there.device] {
        if (observer_before) {
            observer_before(work);
        }
        {
            const Open open(device);
            body();
        }
        if (observer_after) {
            observer_after(work);
        }
    });
    if (observer_before) { // it looks at the state of now
        run_until(mark);
    }
}

void touch(const std::function<void()>& body, cudaStream_t stream) {
    run_until(stream_of(stream).end());
    const Open open;
    body();
}

void renew(void* memory, std::size_t bytes, cudaStream_t stream) {
    if (!DeviceArena::only().has(memory)) {
        return;
    }
    put(stream_of(stream), [memory, bytes] {
        const Open open;
        std::memset(memory, poison, bytes);
        const DeviceArena::Part part = DeviceArena::only().part(memory, bytes);
        if (part.piece != nullptr && !part.piece->is_written.empty()) {
            std::fill_n(part.piece->is_written.data() + part.first, bytes, std::uint8_t{0});
        }
    });
}

const Requests& requests() {
    return made;
}

std::vector<std::span<const std::byte>> held_pieces() {
    return DeviceArena::only().pieces();
}

const std::byte* device_begin() {
    return DeviceArena::only().begin();
}

std::int64_t held_on_device() {
    return static_cast<std::int64_t>(DeviceArena::only().held());
}

void set_multiprocessors(int count) {
    multiprocessors = count;
}

void fail_after(int takes) {
    takes_left = takes;
}

void fail_until_trimmed() {
    takes_fail_until_trimmed = true;
}

void share_pieces(bool yes) {
    small_pieces_share = yes;
}

bool pieces_share() {
    return small_pieces_share;
}

void set_staging_bytes(std::int64_t bytes) {
    bytes_of_staging = bytes;
}

std::int64_t staging_bytes() {
    return bytes_of_staging;
}

std::int64_t pinned_on_host() {
    std::int64_t bytes = 0;
    for (const auto& [start, memory] : pinned) {
        bytes += static_cast<std::int64_t>(memory.size());
    }
    return bytes;
}

bool fails_until_trimmed() {
    return takes_fail_until_trimmed;
}

void fail_to_count(cudaError_t error) {
    counting_says = error;
}

} // namespace kith::emulation

using namespace kith::emulation; // NOLINT(google-build-using-namespace): what follows is not in a namespace

cudaError_t cudaGetLastError() {
    return std::exchange(last_error, cudaSuccess);
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    }
    return "unknown error";
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = counting_says == cudaSuccess ? devices : 0;
    return counting_says == cudaSuccess ? cudaSuccess : failed(counting_says);
}

cudaError_t cudaGetDevice(int* device) {
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= devices) {
        return failed(cudaErrorInvalidDevice);
    }
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
    *value = multiprocessors;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *total = DeviceArena::size_of_device;
    *free = DeviceArena::size_of_device - DeviceArena::only().held();
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* /*properties*/) {
    static int only = 0;
    *pool = reinterpret_cast<cudaMemPool_t>(&only);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*attribute*/, void* /*value*/) {
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*attribute*/, void* value) {
    const std::uint64_t held = DeviceArena::only().held();
    std::memcpy(value, &held, sizeof held);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t /*pool*/, std::size_t /*bytes*/) {
    takes_fail_until_trimmed = false;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    *stream = make_stream(current_device, flags != cudaStreamNonBlocking);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    destroy_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    ++made.takes;
    const bool fails = takes_left == 0 || takes_fail_until_trimmed;
    takes_left -= takes_left > 0 ? 1 : 0;
    *memory = fails ? nullptr : DeviceArena::only().take(bytes, current_device);
    return *memory == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
    if (memory != nullptr) {
        run_all(DeviceArena::only().device_of(memory)); // it may wait for the device
        DeviceArena::only().let_go(memory);
        DeviceArena::only().give_back(memory);
    }
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t /*pool*/, cudaStream_t /*stream*/) {
    return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
    DeviceArena::only().let_go(memory);
    put(
        stream_of(stream), [memory] { DeviceArena::only().give_back(memory); }, true);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    std::vector<std::byte> bytes_there(bytes);
    *memory = bytes_there.data();
    pinned.emplace(bytes_there.data(), std::move(bytes_there));
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
    for (int device = 0; device < devices; ++device) {
        run_all(device);
    }
    return pinned.erase(static_cast<const std::byte*>(memory)) == 1 ? cudaSuccess : failed(cudaErrorInvalidValue);
}

// Pageable memory is read before the call returns. When it is written is left open: here as late as possible, and until
// then it holds nothing of use.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
    if (!DeviceArena::only().has(to) || !DeviceArena::only().has(from)) {
        ++made.host_copies;
        made.host_bytes += static_cast<std::int64_t>(bytes);
        made.to_host_bytes += DeviceArena::only().has(from) ? static_cast<std::int64_t>(bytes) : 0;
    } else {
        ++made.device_copies;
    }
    std::vector<std::byte> staged;
    if (is_pageable(from)) {
        const auto* const first = static_cast<const std::byte*>(from);
        staged.assign(first, first + bytes);
    }
    if (is_pageable(to)) {
        std::memset(to, poison, bytes);
    }
    put(stream_of(stream), [to, from, bytes, staged = std::move(staged)] {
        const Open open;
        std::memcpy(to, staged.empty() ? from : staged.data(), bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream) {
    if (bytes > 0 && !DeviceArena::only().has(memory)) {
        return failed(cudaErrorInvalidValue);
    }
    ++made.fills;
    put(stream_of(stream), [memory, byte, bytes] {
        const Open open;
        std::memset(memory, byte, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    ++made.waits;
    run_until(stream_of(stream).end());
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    ++made.waits;
    run_all(current_device);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    attributes->type = DeviceArena::only().has(pointer) ? cudaMemoryTypeDevice
                       : is_pinned(pointer)             ? cudaMemoryTypeHost
                                                        : cudaMemoryTypeUnregistered;
    attributes->device = DeviceArena::only().device_of(pointer);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    ++made.events;
    *event = new EmulatedEvent;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->recorded = put(stream_of(stream), [when = event->when] { *when = std::chrono::steady_clock::now(); });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    ++made.waits;
    run_until(event->recorded);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
    wait_on_stream(stream_of(stream), event->recorded);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (!is_done(begin->recorded) || !is_done(end->recorded)) {
        return failed(cudaErrorNotReady);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end->when - *begin->when).count();
    return cudaSuccess;
}
