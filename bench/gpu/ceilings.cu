#include "ceilings.hpp"
#include "for_each.hpp"

#include <algorithm>

namespace bench {

namespace {

constexpr int chains = 8; // independent sums of a thread, to hide the latency of each
constexpr int rounds = 4096;

struct MultiplyAdds {
    float factor;
    float* out;

    __device__ void operator()(std::int64_t i) const {
        float sums[chains];
        for (int chain = 0; chain < chains; ++chain) {
            sums[chain] = static_cast<float>(i + chain);
        }
#pragma unroll 16
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int chain = 0; chain < chains; ++chain) {
                sums[chain] = fmaf(sums[chain], factor, 0.5F);
            }
        }
        float total = 0;
        for (int chain = 0; chain < chains; ++chain) {
            total += sums[chain];
        }
        out[i] = total;
    }
};

struct Fill {
    float* out;

    __device__ void operator()(std::int64_t i) const { out[i] = static_cast<float>(i * 2654435761LL % 1000003LL); }
};

} // namespace

Ceilings measure_ceilings(Stream& stream) {
    constexpr int tries = 6;
    constexpr std::int64_t floats = std::int64_t{1} << 28;
    constexpr std::int64_t threads = std::int64_t{1} << 20;
    const DeviceArray<float> from(floats);
    const DeviceArray<float> to(floats);
    for_each(stream.handle(), floats, "filling", Fill{from.data()}); // equal bytes would be copied faster
    double copying = 1e30;
    double adding = 1e30;
    for (int attempt = 0; attempt < tries; ++attempt) {
        copying = std::min(copying, stream.seconds_of([&] {
            check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream.handle()),
                  "copying within the device");
        }));
        adding = std::min(adding, stream.seconds_of([&] {
            for_each(stream.handle(), threads, "multiply-adds", MultiplyAdds{0.5F, to.data()});
        }));
    }
    return {2 * static_cast<double>(from.bytes()) / copying, static_cast<double>(threads) * chains * rounds / adding};
}

} // namespace bench
