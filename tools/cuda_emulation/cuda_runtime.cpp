#include "cuda_emulation/cuda_runtime.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include <sys/mman.h>

struct EmulatedEvent {
    std::chrono::steady_clock::time_point when;
};

namespace kith::emulation {

namespace {

constexpr std::size_t size_of_device = std::size_t{1} << 28;
constexpr std::size_t fence = 256;
constexpr unsigned char fence_byte = 0xFE;
constexpr unsigned char poison = 0xAB;

/// The memory of all devices.
class Arena {
public:
    static Arena& only() {
        static Arena arena;
        return arena;
    }

    [[nodiscard]] bool has(const void* pointer) const {
        const auto* place = static_cast<const unsigned char*>(pointer);
        return place >= memory_ && place < memory_ + size_of_device;
    }
    [[nodiscard]] std::size_t held() const { return held_; }
    [[nodiscard]] const std::byte* begin() const { return reinterpret_cast<const std::byte*>(memory_); }
    [[nodiscard]] std::vector<std::span<const std::byte>> pieces() const {
        std::vector<std::span<const std::byte>> all;
        for (const auto& [start, piece] : pieces_) {
            all.emplace_back(begin() + start + fence, piece.bytes);
        }
        return all;
    }

    /// Of the piece that a pointer points into; 0 for none.
    [[nodiscard]] int device_of(const void* pointer) const {
        if (!has(pointer)) {
            return 0;
        }
        const auto next =
            pieces_.upper_bound(static_cast<std::size_t>(static_cast<const unsigned char*>(pointer) - memory_));
        return next == pieces_.begin() ? 0 : std::prev(next)->second.device;
    }

    /// The first gap that is large enough; null if there is none.
    void* take(std::size_t bytes, int device) {
        const std::size_t needed = (bytes + 255) / 256 * 256 + 2 * fence;
        std::size_t place = 0;
        for (const auto& [start, piece] : pieces_) {
            if (start - place >= needed) {
                break;
            }
            place = start + piece.needed;
        }
        if (size_of_device - place < needed) {
            return nullptr;
        }
        pieces_[place] = {needed, bytes, device};
        held_ += bytes;
        open();
        std::fill_n(memory_ + place, needed, fence_byte);
        std::fill_n(memory_ + place + fence, bytes, poison);
        close();
        return memory_ + place + fence;
    }

    void give_back(void* memory) {
        const auto found =
            pieces_.find(static_cast<std::size_t>(static_cast<unsigned char*>(memory) - memory_) - fence);
        if (!has(memory) || found == pieces_.end()) {
            end("memory is given back that was not taken");
        }
        const auto [start, piece] = *found;
        open();
        const unsigned char* first = memory_ + start;
        const unsigned char* behind = first + fence + piece.bytes;
        const auto is_whole = [](const unsigned char* begin, const unsigned char* stop) {
            return std::all_of(begin, stop, [](unsigned char byte) { return byte == fence_byte; });
        };
        if (!is_whole(first, first + fence) || !is_whole(behind, first + piece.needed)) {
            end("a kernel wrote beside the memory that was taken");
        }
        std::fill_n(memory_ + start, piece.needed, poison);
        close();
        held_ -= piece.bytes;
        pieces_.erase(found);
    }

    void open() {
        if (opened_++ == 0) {
            protect(PROT_READ | PROT_WRITE);
        }
    }
    void close() {
        if (--opened_ == 0) {
            protect(PROT_NONE);
        }
    }

private:
    struct Piece {
        std::size_t needed;
        std::size_t bytes;
        int device;
    };

    Arena()
        : memory_(static_cast<unsigned char*>(
              mmap(nullptr, size_of_device, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        if (memory_ == MAP_FAILED) {
            end("no memory for the emulated device");
        }
    }

    [[noreturn]] static void end(const char* why) {
        std::fprintf(stderr, "emulated device: %s\n", why);
        std::abort();
    }
    void protect(int how) const {
        if (mprotect(memory_, size_of_device, how) != 0) {
            end("the device's memory cannot be protected");
        }
    }

    unsigned char* memory_;
    std::map<std::size_t, Piece> pieces_;
    std::size_t held_ = 0;
    int opened_ = 0;
};

/// While it lives, the device's memory can be touched.
class Open {
public:
    Open() { Arena::only().open(); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { Arena::only().close(); }
};

constexpr int devices = 2;
int multiprocessors = 2; // of each device
int current_device = 0;
int takes_left = -1;
bool takes_fail_until_trimmed = false;
cudaError_t counting_says = cudaSuccess;
Requests made;
std::function<void(const Work&)> observer;
cudaError_t last_error = cudaSuccess;

cudaError_t failed(cudaError_t error) {
    last_error = error;
    return error;
}

} // namespace

void observe(std::function<void(const Work&)> new_observer) {
    observer = std::move(new_observer);
}

void tell_observer(const Work& work) {
    if (observer) {
        observer(work);
    }
}

void launch(const Work& work, const std::function<void()>& kernel) {
    tell_observer(work);
    const Open open;
    run(work.name, work.grid, kernel);
}

void touch(const std::function<void()>& body) {
    const Open open;
    body();
}

const Requests& requests() {
    return made;
}

std::vector<std::span<const std::byte>> held_pieces() {
    return Arena::only().pieces();
}

const std::byte* device_begin() {
    return Arena::only().begin();
}

std::int64_t held_on_device() {
    return static_cast<std::int64_t>(Arena::only().held());
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
    *total = size_of_device;
    *free = size_of_device - Arena::only().held();
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
    const std::uint64_t held = Arena::only().held();
    std::memcpy(value, &held, sizeof held);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t /*pool*/, std::size_t /*bytes*/) {
    takes_fail_until_trimmed = false;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    static int only = 0;
    *stream = reinterpret_cast<cudaStream_t>(&only);
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t /*pool*/, cudaStream_t /*stream*/) {
    ++made.takes;
    const bool fails = takes_left == 0 || takes_fail_until_trimmed;
    takes_left -= takes_left > 0 ? 1 : 0;
    *memory = fails ? nullptr : Arena::only().take(bytes, current_device);
    return *memory == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t /*stream*/) {
    Arena::only().give_back(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
    made.host_copies += Arena::only().has(to) && Arena::only().has(from) ? 0 : 1;
    const Open open;
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t /*stream*/) {
    if (bytes > 0 && !Arena::only().has(memory)) {
        return failed(cudaErrorInvalidValue);
    }
    const Open open;
    std::memset(memory, byte, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) {
    ++made.waits;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    attributes->type = Arena::only().has(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    attributes->device = Arena::only().device_of(pointer);
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

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t /*stream*/) {
    event->when = std::chrono::steady_clock::now();
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
    return cudaSuccess;
}
