// Labels of every kind, and their order by a plain sort: what the CPU's and the GPU's are held against.
#pragma once

#include "support/point_sets.hpp"

#include <kith/group_order.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {

struct LabeledCase {
    std::string name;
    std::int64_t groups;
    std::vector<std::int32_t> labels;
};

inline GroupOrder sorted_by_label(const std::vector<std::int32_t>& labels, std::int64_t groups) {
    GroupOrder order;
    order.offsets.assign(static_cast<std::size_t>(groups) + 1, 0);
    const auto group_of = [&](std::int32_t point) {
        const std::int32_t label = labels[static_cast<std::size_t>(point)];
        return label >= 0 && label < groups ? label : groups;
    };
    order.indices.resize(labels.size());
    std::iota(order.indices.begin(), order.indices.end(), 0);
    for (const std::int32_t point : order.indices) {
        if (group_of(point) < groups) {
            ++order.offsets[static_cast<std::size_t>(group_of(point)) + 1];
        }
    }
    std::partial_sum(order.offsets.begin(), order.offsets.end(), order.offsets.begin());
    order.members = order.offsets.back();
    std::ranges::stable_sort(order.indices, {}, group_of);
    return order;
}

/// About so many points each.
inline std::vector<LabeledCase> labeled_cases(std::int32_t points) {
    std::vector<LabeledCase> cases;
    Random draw(1);
    const auto add = [&](const char* name, std::int64_t groups, const auto& label) {
        LabeledCase made{name, groups, std::vector<std::int32_t>(static_cast<std::size_t>(points))};
        for (std::int32_t point = 0; point < points; ++point) {
            made.labels[static_cast<std::size_t>(point)] = label(point);
        }
        cases.push_back(std::move(made));
    };
    const auto any = [&](std::int64_t count) { return static_cast<std::int32_t>(draw.integer(count)); };
    add("single points", points, [&](std::int32_t point) { return points - 1 - point; });
    add("one group", 1, [](std::int32_t) { return 0; });
    add("no group", 0, any);
    add("no members, though there are groups", 3, [](std::int32_t) { return -1; });
    add("a giant, small groups and others", 500, [&](std::int32_t) {
        return any(2) == 0 ? 0 : any(3) == 0 ? -1 : any(700); // 500 and more are of groups that are too small
    });
    add("sizes in no order, some of them zero", 40, [&](std::int32_t) { return any(5) == 0 ? 2 * any(20) : 31; });
    add("labels at the ends of their type", 2, [&](std::int32_t) {
        constexpr std::int32_t ends[] = {INT32_MIN, INT32_MAX, -1, 0, 1};
        return ends[any(5)];
    });
    cases.push_back({"no points", 0, {}});
    cases.push_back({"no points, though there are groups", 2, {}});
    return cases;
}

} // namespace kith::test
