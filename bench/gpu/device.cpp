#include "device.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace bench {

void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
    }
}

Stream::Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreate(&begin_), "making an event");
    check(cudaEventCreate(&end_), "making an event");
}

Stream::~Stream() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
    (void)cudaStreamDestroy(stream_);
}

void Stream::wait() const {
    check(cudaStreamSynchronize(stream_), "waiting for the stream");
}

void Stream::start() {
    wait();
    check(cudaEventRecord(begin_, stream_), "starting the clock");
}

double Stream::stop() {
    check(cudaEventRecord(end_, stream_), "stopping the clock");
    check(cudaEventSynchronize(end_), "waiting for the end");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the clock");
    return 1e-3 * static_cast<double>(milliseconds);
}

void* MeteredMemory::allocate(std::int64_t bytes, kith::CudaStream stream) {
    void* memory = nullptr;
    if (cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    return memory;
}

void MeteredMemory::deallocate(void* memory, std::int64_t bytes, kith::CudaStream stream) noexcept {
    (void)cudaFreeAsync(memory, stream);
    const std::scoped_lock lock(mutex_);
    held_ -= bytes;
}

std::map<std::string, std::string> device_facts() {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "asking what the device is");
    int driver = 0;
    int runtime = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    return {{"name", properties.name},
            {"compute_capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
            {"multiprocessors", std::to_string(properties.multiProcessorCount)},
            {"memory_bytes", std::to_string(properties.totalGlobalMem)},
            {"l2_bytes", std::to_string(properties.l2CacheSize)},
            {"cuda_of_the_driver", std::to_string(driver)},
            {"cuda_runtime", std::to_string(runtime)}};
}

std::string clocks_now() {
    std::FILE* pipe = popen("nvidia-smi --id=0 --format=csv,noheader --query-gpu="
                            "driver_version,clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw 2>/dev/null",
                            "r");
    if (pipe == nullptr) {
        return "";
    }
    std::array<char, 256> line{};
    std::string text;
    if (std::fgets(line.data(), line.size(), pipe) != nullptr) {
        text = line.data();
    }
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    return pclose(pipe) == 0 ? text : "";
}

} // namespace bench
