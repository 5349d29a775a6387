#include "simd_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd_kernels.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/survivors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using bench::Block;
using bench::QueryMemory;

std::int64_t count_near_boxes_any(const Block& lower, const Block& upper, const float* box_lower,
                                  const float* box_upper, float limit) {
    const hn::ScalableTag<float> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    Receiver<float, bench::dimension> box{};
    std::copy_n(box_lower, bench::dimension, box.lower);
    std::copy_n(box_upper, bench::dimension, box.upper);
    std::int64_t near = 0;
    for (std::int64_t i = 0; i + lanes <= lower.size; i += lanes) {
        const Columns<decltype(tag)> lowers{tag, lower.coordinates.data() + i, lower.stride};
        const Columns<decltype(tag)> uppers{tag, upper.coordinates.data() + i, upper.stride};
        const auto least = least_distances<false, bench::dimension>(tag, box, lowers, uppers);
        near += static_cast<std::int64_t>(hn::CountTrue(tag, hn::Le(least, hn::Set(tag, limit))));
    }
    return near;
}

Measured<float> measured_in(QueryMemory& memory, std::int64_t found = 0) {
    return {memory.distances.data(), memory.positions.data(), found};
}

std::int64_t measure_block_any(const Block& block, const float* query, float threshold, QueryMemory& memory) {
    const float open[bench::dimension] = {};
    Measured<float> measured = measured_in(memory);
    measure_within<false, bench::dimension, 1>(query, open, block.coordinates.data(), block.stride, block.size,
                                               threshold, &measured);
    return measured.found;
}

std::int64_t find_in_block_any(const Block& block, float threshold, QueryMemory& memory) {
    Measured<float> measured = measured_in(memory);
    find_within(measured, block.size, threshold);
    return measured.found;
}

struct Sorted {
    float distances[64 + 16];
    std::int32_t indices[64 + 16];
    [[nodiscard]] std::int64_t sum(std::int64_t k) const {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < k; ++i) {
            sum += indices[i];
        }
        return sum;
    }
};

std::int64_t sort_by_keys_any(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory) {
    Sorted sorted;
    std::vector<Candidate<float>> spare;
    Measured<float> measured = measured_in(memory, survivors);
    const Survivors<float, std::int32_t> all{
        measured, block.size, block.indices.data(), sorted.distances, sorted.indices, nullptr, nullptr, spare};
    return sort_by_key(all, k) ? sorted.sum(k) : -1;
}

std::int64_t sort_by_ranks_any(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory) {
    Sorted sorted;
    Sorted gathered;
    for (std::int64_t i = 0; i < survivors; ++i) {
        gathered.distances[i] = memory.distances[memory.positions[i]];
        gathered.indices[i] = block.indices[memory.positions[i]];
    }
    sort_by_rank(gathered.distances, gathered.indices, survivors, sorted.distances, sorted.indices);
    return sorted.sum(k);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {
HWY_EXPORT(count_near_boxes_any);
HWY_EXPORT(measure_block_any);
HWY_EXPORT(find_in_block_any);
HWY_EXPORT(sort_by_keys_any);
HWY_EXPORT(sort_by_ranks_any);
} // namespace kith::detail

namespace kith::bench {

using namespace detail; // where HWY_EXPORT has put the tables

std::int64_t count_near_boxes(const Block& lower, const Block& upper, const float* box_lower, const float* box_upper,
                              float limit) {
    return HWY_DYNAMIC_DISPATCH(count_near_boxes_any)(lower, upper, box_lower, box_upper, limit);
}

std::int64_t measure_block(const Block& block, const float* query, float threshold, QueryMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(measure_block_any)(block, query, threshold, memory);
}

std::int64_t find_in_block(const Block& block, float threshold, QueryMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(find_in_block_any)(block, threshold, memory);
}

std::int64_t sort_by_keys(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(sort_by_keys_any)(block, survivors, k, memory);
}

std::int64_t sort_by_ranks(const Block& block, std::int64_t survivors, std::int64_t k, QueryMemory& memory) {
    return HWY_DYNAMIC_DISPATCH(sort_by_ranks_any)(block, survivors, k, memory);
}

} // namespace kith::bench
#endif
