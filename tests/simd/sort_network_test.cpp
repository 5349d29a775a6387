// The sorting network in registers, for every instruction set and every number of keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/sort_network_test.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/sort_network-inl.hpp"
#include "simd/only_target.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int Rows>
std::vector<std::uint32_t> sorted_in_rows(const std::vector<std::uint32_t>& keys) {
    const KeyTag tag;
    std::vector<std::uint32_t> room(Rows * key_lanes, ~std::uint32_t{0});
    std::copy(keys.begin(), keys.end(), room.begin());
    KeyVector row[Rows];
    for (int r = 0; r < Rows; ++r) {
        row[r] = hn::LoadU(tag, room.data() + r * key_lanes);
    }
    sort_rows<Rows>(row);
    for (int r = 0; r < Rows; ++r) {
        hn::StoreU(row[r], tag, room.data() + r * key_lanes);
    }
    std::vector<std::uint32_t> sorted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        sorted.push_back(room[sorted_position<Rows>(static_cast<int>(i))]);
    }
    return sorted;
}

template <int Matrices>
std::vector<std::uint32_t> sorted_in_matrices(const std::vector<std::uint32_t>& keys) {
    HWY_ALIGN std::uint32_t room[Matrices * matrix_keys];
    std::fill(std::copy(keys.begin(), keys.end(), room), room + Matrices * matrix_keys, ~std::uint32_t{0});
    sort_matrices<Matrices>(room);
    std::vector<std::uint32_t> sorted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        sorted.push_back(room[sorted_position<max_rows>(static_cast<int>(i))]);
    }
    return sorted;
}

/// The keys, sorted in as few rows or matrices as hold them; no more than max_sorted_keys.
std::vector<std::uint32_t> sorted_any(const std::vector<std::uint32_t>& keys) {
    if (keys.size() <= key_lanes) {
        return sorted_in_rows<1>(keys);
    }
    if (keys.size() <= 2 * key_lanes) {
        return sorted_in_rows<2>(keys);
    }
    if (keys.size() <= 4 * key_lanes) {
        return sorted_in_rows<4>(keys);
    }
    if (keys.size() <= matrix_keys) {
        return sorted_in_rows<max_rows>(keys);
    }
    if (keys.size() <= 2 * matrix_keys) {
        return sorted_in_matrices<2>(keys);
    }
    return keys.size() <= 4 * matrix_keys ? sorted_in_matrices<4>(keys) : sorted_in_matrices<8>(keys);
}

std::size_t max_keys_any() {
    return max_sorted_keys;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {
HWY_EXPORT(sorted_any);
HWY_EXPORT(max_keys_any);

namespace {

std::size_t max_keys() {
    return HWY_DYNAMIC_DISPATCH(max_keys_any)();
}

bool sorts(std::vector<std::uint32_t> keys) {
    const std::vector<std::uint32_t> sorted = HWY_DYNAMIC_DISPATCH(sorted_any)(keys);
    std::sort(keys.begin(), keys.end());
    return sorted == keys;
}

} // namespace
} // namespace kith::detail

namespace kith::test {
namespace {

// A network that sorts every sequence of zeros and ones sorts everything (Knuth).
TEST(SortNetwork, SortsZerosAndOnes) {
    std::mt19937 random(1);
    for (const std::int64_t target : targets()) {
        const OnlyTarget only(target);
        for (std::size_t size = 1; size <= std::min<std::size_t>(detail::max_keys(), 32); ++size) {
            const bool all = size <= 12;
            for (std::uint32_t i = 0; i < (all ? 1U << size : 20000U); ++i) {
                const std::uint32_t bits = all ? i : static_cast<std::uint32_t>(random());
                std::vector<std::uint32_t> keys(size);
                for (std::size_t j = 0; j < size; ++j) {
                    keys[j] = (bits >> j) & 1U;
                }
                ASSERT_TRUE(detail::sorts(keys)) << hwy::TargetName(target) << ", " << size << " keys, " << bits;
            }
        }
    }
}

TEST(SortNetwork, SortsAnything) {
    std::mt19937 random(2);
    for (const std::int64_t target : targets()) {
        const OnlyTarget only(target);
        for (std::size_t size = 1; size <= detail::max_keys(); ++size) {
            for (const std::uint32_t different : {2U, 3U, 0x7F800000U}) {
                for (int repeat = 0; repeat < (size <= 64 ? 2000 : 20); ++repeat) {
                    std::vector<std::uint32_t> keys(size);
                    std::generate(keys.begin(), keys.end(),
                                  [&] { return static_cast<std::uint32_t>(random()) % different; });
                    ASSERT_TRUE(detail::sorts(keys)) << hwy::TargetName(target) << ", " << size << " keys";
                }
            }
        }
    }
}

} // namespace
} // namespace kith::test
#endif
