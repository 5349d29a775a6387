// Numbers that all threads of a grid lower at once. They are not negative, so that their bits order as they do.
#pragma once

#include "cuda/intrinsics.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

template <class T>
class LoweredNumbers {
public:
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>; // as CUDA's atomics name them

    LoweredNumbers() = default;
    __host__ __device__ explicit LoweredNumbers(Bits* numbers) : numbers_(numbers) {}

    /// A number as it is now; others may lower it meanwhile.
    [[nodiscard]] __device__ T load(std::int64_t i) const { return std::bit_cast<T>(load_relaxed_bits(numbers_ + i)); }
    /// Nobody else is at this number.
    __device__ void set(std::int64_t i, T number) const { numbers_[i] = std::bit_cast<Bits>(number); }
    /// Most attempts lower nothing, and then only look.
    __device__ void lower(std::int64_t i, T number) const {
        if (number < load(i)) {
            atomicMin(numbers_ + i, std::bit_cast<Bits>(number));
        }
    }

private:
    Bits* numbers_ = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
