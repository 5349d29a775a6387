// Labeled particles made by hand, so that the catalog is tested without a group finder, and how catalogs compare.
#pragma once

#include <kith/catalog_columns.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {

/// Groups with the given labels; sizes are counted. Labels must be numbered by decreasing size, -1 for none.
FofResult groups_with(const std::vector<std::int32_t>& labels, const Box& box = {});
/// The same groups, as if found in a box.
FofResult in_box(FofResult groups, const Box& box);

template <class T>
struct Sample {
    int dimension = 0;
    FofResult groups;
    std::vector<T> positions;  ///< row-major
    std::vector<T> velocities; ///< row-major
    std::vector<T> masses;
    std::vector<std::uint8_t> types;

    [[nodiscard]] std::int64_t count() const { return groups.label_array.size(); }
    [[nodiscard]] Particles positions_only() const;
    [[nodiscard]] Particles everything() const;
};

inline constexpr double sample_period = 4;

/// Groups of the given sizes (non-increasing) in shuffled rows. Each is a cloud of a fifth of sample_period around a
/// place in [0, sample_period); coordinates are wrapped into the box, so that some groups cross its edges. Masses span
/// several powers of ten, types are 0 to 6.
template <class T>
Sample<T> sample(const std::vector<std::int32_t>& sizes, int dimension, std::uint64_t seed);

/// The same rows in another order: row i becomes row place[i].
template <class T>
Sample<T> permuted(const Sample<T>& sample, const std::vector<std::int32_t>& place);

/// The same rows in the order of groups: then most groups are on one rank.
template <class T>
Sample<T> in_order_of_groups(const Sample<T>& sample) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(sample.count()));
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(rows, {}, [&](std::int32_t row) { return sample.groups.label_array[row]; });
    std::vector<std::int32_t> place(rows.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
        place[static_cast<std::size_t>(rows[i])] = static_cast<std::int32_t>(i);
    }
    return permuted(sample, place);
}

/// Bit by bit, all columns but the members (their order is compared where it should be the same).
testing::AssertionResult same_values(const Catalog& a, const Catalog& b);

} // namespace kith::test
