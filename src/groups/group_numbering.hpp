// From the parents of a union-find to labels on a GPU: what runs after what (label_kernel.hpp). Nothing here waits.
//
// How many groups of two members or more there are is known to the device once they are listed. Who waits can read it,
// and number just these; who does not numbers as if half of all points were one each.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "groups/label_kernel.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Makes all points point at their roots; finds the sizes and the smallest indices of the groups.
inline void count_members(DeviceWork& work, const ComponentSizes& components) {
    for_each_index(work, "starting to count groups", components.count, StartComponentSizes{components});
    launch_threads(work, "counting groups", count_component_sizes_kernel<std::int32_t>, components.count, components);
}

struct NumberedPoints {
    std::int32_t count;
    const std::int32_t* indices; ///< original ones, by position
    std::int32_t* parents;       ///< one more than points: scratch afterwards
    std::int32_t* labels;        ///< by original index
};

class GroupNumbering {
public:
    GroupNumbering(DeviceWork& work, const NumberedPoints& points)
        : work_(work), points_(points), by_root_(work.buffer<std::int32_t>(points.count)),
          roots_(work.buffer<std::int32_t>(points.count / 2 + 1)), groups_(work.buffer<std::int32_t>(1)) {}

    /// Lists and counts the groups of two members or more.
    void list() {
        const ComponentSizes components = component_sizes();
        count_members(work_, components);
        const DeviceBuffer<std::uint8_t> is_group = work_.buffer<std::uint8_t>(points_.count);
        for_each_index(work_, "finding groups", points_.count,
                       FlagGroups{components, is_group.data(), by_root_.data()});
        select_flagged(work_, is_group.data(), points_.count, roots_.data(), groups_.data());
    }

    /// Writes all labels, and the sizes by label if they are wanted. There are no more than `most` groups listed.
    void number(std::int32_t most, std::int32_t* sizes) {
        label_listed(most, sizes);
        for_each_index(work_, "writing labels", points_.count,
                       WriteLabels{component_sizes().groups, points_.indices, by_root_.data(), points_.labels});
        std::int32_t* const singles_before = points_.parents;
        const std::int64_t places = std::int64_t{points_.count} + 1;
        for_each_index(work_, "finding single points", places,
                       FlagSingles{points_.count, points_.labels, singles_before});
        exclusive_sum(work_, singles_before, places, singles_before);
        for_each_index(work_, "numbering single points", points_.count,
                       NumberSingles{groups_.data(), singles_before, points_.labels});
    }

    /// Their numbers, in memory of the device: of the groups of two and more once they are listed, of single points
    /// once all is numbered.
    [[nodiscard]] const std::int32_t* groups() const { return groups_.data(); }
    [[nodiscard]] const std::int32_t* singles() const { return points_.parents + points_.count; }

private:
    [[nodiscard]] ComponentSizes component_sizes() const {
        return {points_.count, DeviceUnionFind(points_.parents), points_.indices, points_.labels, by_root_.data()};
    }

    void label_listed(std::int64_t most, std::int32_t* sizes) {
        const DeviceBuffer<std::uint64_t> keys = work_.buffer<std::uint64_t>(most);
        const DeviceBuffer<std::uint64_t> other_keys = work_.buffer<std::uint64_t>(most);
        const DeviceBuffer<std::int32_t> other_roots = work_.buffer<std::int32_t>(most);
        for_each_index(work_, "ranking groups", most,
                       MakeGroupKeys{groups_.data(), roots_.data(), points_.labels, by_root_.data(), keys.data()});
        SortedArray<std::uint64_t> both_keys{keys.data(), other_keys.data()};
        SortedArray<std::int32_t> both_roots{roots_.data(), other_roots.data()};
        sort_by_key(work_, both_keys, both_roots, most, 64);
        for_each_index(work_, "labeling groups", most,
                       LabelGroups{groups_.data(), both_keys.elements, both_roots.elements, sizes, by_root_.data()});
    }

    DeviceWork& work_;
    NumberedPoints points_;
    DeviceBuffer<std::int32_t> by_root_; ///< smallest index, then label
    DeviceBuffer<std::int32_t> roots_;
    DeviceBuffer<std::int32_t> groups_;
};

} // namespace kith::detail::inline KITH_GPU
