// A GPU for tests, and memory on it.
#pragma once

#include "support/cases.hpp"

#include <kith/execution.hpp>
#include <kith/points.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

/// Why there is no GPU to run on; empty if there is one. Other errors are left to the tests, which fail by them: a GPU
/// that an earlier test has lost is no reason to skip the tests after it.
inline std::string no_gpu() {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        return cudaGetErrorString(error);
    }
    return error != cudaSuccess || devices > 0 ? "" : "the driver names none";
}

#define KITH_NEEDS_GPU()                                                                                               \
    if (const std::string reason = kith::test::no_gpu(); !reason.empty()) {                                            \
        GTEST_SKIP() << "no GPU: " << reason;                                                                          \
    }                                                                                                                  \
    static_assert(true)

inline void expect_ok(cudaError_t error) {
    ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

/// Copies, and fills, on the default stream; then waits for it, since other streams may not follow it.
inline void copy(void* to, const void* from, std::size_t bytes) {
    expect_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    expect_ok(cudaStreamSynchronize(nullptr));
}
inline void fill(void* memory, int byte, std::size_t bytes) {
    expect_ok(cudaMemset(memory, byte, bytes));
    expect_ok(cudaStreamSynchronize(nullptr));
}

/// A copy of elements in memory of the GPU.
template <class T>
class OnGpu {
public:
    explicit OnGpu(const std::vector<T>& elements) : OnGpu(elements.size()) {
        copy(data_, elements.data(), size_ * sizeof(T));
    }
    /// Filled with what is no answer.
    explicit OnGpu(std::size_t size) : size_(size) {
        expect_ok(cudaMalloc(&data_, size * sizeof(T) + 1));
        fill(data_, 0xAB, size * sizeof(T));
    }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;
    ~OnGpu() { (void)cudaFree(data_); }

    [[nodiscard]] std::span<T> span() const { return {data_, size_}; }
    [[nodiscard]] std::vector<T> on_host() const {
        std::vector<T> elements(size_);
        copy(elements.data(), data_, size_ * sizeof(T));
        return elements;
    }
    /// Row-major points.
    [[nodiscard]] PointsView points(int dimension) const {
        return {data_,
                dtype_of<T>,
                static_cast<std::int64_t>(size_) / dimension,
                dimension,
                dimension,
                1,
                Device{DeviceKind::cuda, 0}};
    }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

template <class T>
std::vector<T> copied_to_host(const T* from, std::size_t size) {
    std::vector<T> elements(size);
    copy(elements.data(), from, size * sizeof(T));
    return elements;
}

} // namespace kith::test
