#include "engines/clover/spread_hubs.hpp"

#include "engines/clover/hubs.hpp"
#include "engines/clover/partition.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kith::detail {

namespace {

template <Coordinate T>
std::vector<std::int32_t> spread(const Frame<T>& frame, std::vector<T> samples, std::int64_t wanted,
                                 std::uint64_t seed) {
    const std::int64_t count = std::ssize(samples) / frame.dimension;
    samples.resize(samples.size() + 2 * 64 / sizeof(T)); // whole vectors are read
    std::vector<double> least(count, std::numeric_limits<double>::infinity());
    AssignScratch<T> scratch;
    std::vector<std::int32_t> hubs;
    std::int64_t drawn = 0;
    double sum = 0;
    do {
        Position<T> hub{};
        for (int axis = 0; axis < frame.dimension; ++axis) {
            hub[axis] = samples[axis * count + drawn];
        }
        hubs.push_back(static_cast<std::int32_t>(drawn));
        assign(frame, {hub}, samples.data(), count, count, scratch);
        sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            least[i] = std::min(least[i], static_cast<double>(scratch.squared[i]));
            sum += least[i];
        }
        const double part = static_cast<double>(mixed(seed + hubs.size()) >> 11) * 0x1p-53 * sum;
        double so_far = 0;
        for (drawn = 0; drawn + 1 < count && so_far + least[drawn] <= part; ++drawn) {
            so_far += least[drawn];
        }
    } while (std::ssize(hubs) < wanted && sum > 0);
    return hubs;
}

} // namespace

std::vector<std::int32_t> spread_hubs(const Frame<float>& frame, std::vector<float> samples, std::int64_t wanted,
                                      std::uint64_t seed) {
    return spread(frame, std::move(samples), wanted, seed);
}
std::vector<std::int32_t> spread_hubs(const Frame<double>& frame, std::vector<double> samples, std::int64_t wanted,
                                      std::uint64_t seed) {
    return spread(frame, std::move(samples), wanted, seed);
}

} // namespace kith::detail
