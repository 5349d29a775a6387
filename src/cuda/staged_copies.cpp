#include "cuda/staged_copies.hpp"

#include "support/parallel.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Large enough that a wait and a loop of threads (some 20 us) are little beside the travel (150 us at 55 GB/s).
constexpr std::int64_t usual_bytes = std::int64_t{8} << 20;
/// That a thread copies at least.
constexpr std::int64_t bytes_of_thread = std::int64_t{256} << 10;

std::int64_t buffer_bytes() {
#if defined(KITH_EMULATE_CUDA)
    if (emulation::staging_bytes() > 0) {
        return emulation::staging_bytes();
    }
#endif
    return usual_bytes;
}

std::mutex giving;
std::array<std::vector<PinnedBuffers>, 64> spare_of_devices; ///< that no call uses
std::size_t pairs = 0;                                       ///< that were not freed

/// None if there are none.
PinnedBuffers take_spare(int device) {
    const std::lock_guard lock(giving);
    std::vector<PinnedBuffers>& spare = spare_of_devices.at(static_cast<std::size_t>(device));
    if (spare.empty()) {
        return {};
    }
    const PinnedBuffers taken = spare.back();
    spare.pop_back();
    return taken;
}

void free_buffers(const PinnedBuffers& buffers) noexcept {
    for (const std::size_t i : {0U, 1U}) {
        if (buffers.memory[i] != nullptr) {
            (void)cudaFreeHost(buffers.memory[i]);
        }
        if (buffers.has_travelled[i] != nullptr) {
            (void)cudaEventDestroy(buffers.has_travelled[i]);
        }
    }
}

/// None if they cannot be had.
PinnedBuffers make_buffers(int device) {
    PinnedBuffers made{buffer_bytes(), {}, {}};
    for (const std::size_t i : {0U, 1U}) {
        void* memory = nullptr;
        if (cudaMallocHost(&memory, static_cast<std::size_t>(made.bytes)) == cudaSuccess) {
            made.memory[i] = static_cast<std::byte*>(memory);
        }
        if (made.memory[i] == nullptr || cudaEventCreate(&made.has_travelled[i]) != cudaSuccess) {
            (void)cudaGetLastError();
            free_buffers(made);
            return {};
        }
    }
    const std::lock_guard lock(giving);
    spare_of_devices.at(static_cast<std::size_t>(device)).reserve(++pairs); // so that giving them back takes no memory
    return made;
}

bool is_pageable(const void* memory) {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, memory), "asking where memory is");
    return attributes.type == cudaMemoryTypeUnregistered;
}

} // namespace

StagedCopies::~StagedCopies() {
    if (buffers_.bytes > 0) {
        const std::lock_guard lock(giving);
        spare_of_devices[static_cast<std::size_t>(device_)].push_back(buffers_);
    }
}

bool StagedCopies::copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes <= buffer_bytes()) {
        return false;
    }
    const bool is_to_host = is_pageable(to);
    if (is_to_host == is_pageable(from) || !take_buffers()) {
        return false;
    }
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    if (is_to_host) {
        to_host(target, source, bytes);
    } else {
        to_device(target, source, bytes);
    }
    return true;
}

bool StagedCopies::take_buffers() {
    if (buffers_.bytes == 0) {
        buffers_ = take_spare(device_);
    }
    if (buffers_.bytes == 0) {
        buffers_ = make_buffers(device_);
    }
    return buffers_.bytes > 0;
}

void StagedCopies::to_device(std::byte* to, const std::byte* from, std::int64_t bytes) {
    int buffer = 0;
    for (std::int64_t begin = 0; begin < bytes; begin += buffers_.bytes) {
        const std::int64_t size = std::min(buffers_.bytes, bytes - begin);
        wait_for(buffer); // it may be filled again
        copy_by_threads(buffers_.memory[buffer], from + begin, size);
        send(buffer, to + begin, buffers_.memory[buffer], size);
        buffer = 1 - buffer;
    }
}

void StagedCopies::to_host(std::byte* to, const std::byte* from, std::int64_t bytes) {
    const auto size_at = [&](std::int64_t begin) { return std::min(buffers_.bytes, bytes - begin); };
    int buffer = 0;
    send(buffer, buffers_.memory[buffer], from, size_at(0)); // behind what the stream still reads there
    for (std::int64_t begin = 0; begin < bytes; begin += buffers_.bytes) {
        if (const std::int64_t next = begin + buffers_.bytes; next < bytes) {
            send(1 - buffer, buffers_.memory[1 - buffer], from + next, size_at(next));
        }
        wait_for(buffer);
        copy_by_threads(to + begin, buffers_.memory[buffer], size_at(begin));
        buffer = 1 - buffer;
    }
}

void StagedCopies::send(int buffer, void* to, const void* from, std::int64_t bytes) {
    check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
               "copying memory");
    check_cuda(cudaEventRecord(buffers_.has_travelled[buffer], stream_), "recording an event");
    travels_[buffer] = true;
}

void StagedCopies::wait_for(int buffer) {
    if (std::exchange(travels_[buffer], false)) {
        check_cuda(cudaEventSynchronize(buffers_.has_travelled[buffer]), "waiting for a copy");
    }
}

void StagedCopies::copy_by_threads(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    const std::int64_t most = std::max<std::int64_t>(1, bytes / bytes_of_thread);
    const std::int64_t pieces = threads_ > 0 ? std::min<std::int64_t>(threads_, most) : most;
    parallel_each(pieces, 1, [&](std::int64_t piece) {
        const std::int64_t begin = bytes / pieces * piece;
        const std::int64_t end = piece + 1 == pieces ? bytes : begin + bytes / pieces;
        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
}

void release_staging(int device) {
    const std::lock_guard lock(giving);
    std::vector<PinnedBuffers>& spare = spare_of_devices.at(static_cast<std::size_t>(device));
    for (const PinnedBuffers& buffers : spare) {
        free_buffers(buffers);
    }
    pairs -= spare.size();
    spare.clear();
}

} // namespace kith::detail::inline KITH_GPU
