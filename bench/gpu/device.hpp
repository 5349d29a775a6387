// The device as the benchmark uses it: checked calls, arrays, a stream, a clock on the stream, and what is written into
// the record about the machine.
#pragma once

#include <kith/execution.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Throws, naming what failed and what the runtime says of it.
void check(cudaError_t error, const char* what);

/// Uninitialized memory of the device.
template <class T>
class DeviceArray {
public:
    DeviceArray() = default;
    explicit DeviceArray(std::int64_t size) : size_(size) {
        if (size > 0) {
            check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "allocating an array");
        }
    }
    explicit DeviceArray(const std::vector<T>& elements) : DeviceArray(static_cast<std::int64_t>(elements.size())) {
        if (!elements.empty()) {
            check(cudaMemcpy(data_, elements.data(), bytes(), cudaMemcpyHostToDevice), "copying to the device");
            wait_for_default_stream();
        }
    }
    DeviceArray(DeviceArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { (void)cudaFree(data_); }

    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(size_) * sizeof(T); }
    [[nodiscard]] std::span<T> span() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }

    /// Sets every byte, before any work that follows on any stream.
    void fill(int byte) const {
        check(cudaMemset(data_, byte, bytes()), "filling an array");
        wait_for_default_stream();
    }

    /// Elements from `first` on; waits for them.
    [[nodiscard]] std::vector<T> to_host(std::int64_t first, std::int64_t count) const {
        std::vector<T> elements(static_cast<std::size_t>(count));
        if (count == 0) {
            return elements;
        }
        check(cudaMemcpy(elements.data(), data_ + first, elements.size() * sizeof(T), cudaMemcpyDeviceToHost),
              "copying to the host");
        return elements;
    }
    [[nodiscard]] std::vector<T> to_host() const { return to_host(0, size_); }

private:
    /// A stream of one's own may not follow it.
    static void wait_for_default_stream() { check(cudaStreamSynchronize(nullptr), "waiting for the default stream"); }

    T* data_ = nullptr;
    std::int64_t size_ = 0;
};

/// A stream of its own, and a clock on it.
class Stream {
public:
    Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    [[nodiscard]] cudaStream_t handle() const noexcept { return stream_; }
    void wait() const;

    /// Seconds that the body's work took on the stream, its waiting for the host included.
    template <class Body>
    double seconds_of(Body&& body) {
        start();
        body();
        return stop();
    }

private:
    void start();
    double stop();

    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

/// Memory that knows how much of it was held at most.
class MeteredMemory final : public kith::DeviceResource {
public:
    void* allocate(std::int64_t bytes, kith::CudaStream stream) override;
    void deallocate(void* memory, std::int64_t bytes, kith::CudaStream stream) noexcept override;
    [[nodiscard]] std::int64_t peak() const noexcept { return peak_; }

private:
    std::mutex mutex_;
    std::int64_t held_ = 0;
    std::int64_t peak_ = 0;
};

/// What is known of the device: name, driver, memory, multiprocessors.
[[nodiscard]] std::map<std::string, std::string> device_facts();
/// Clocks, temperature and power now, as the driver's program reads them; empty where it is not there.
[[nodiscard]] std::string clocks_now();

} // namespace bench
