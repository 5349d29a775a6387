// See groups.hpp.
#include "oracle/groups.hpp"

#include <algorithm>

namespace kith::oracle {

template <class T>
Groups groups(const WorkingCopy<T>& points, double linking_length) {
    const T limit = squared_radius(points, linking_length);
    const auto count = static_cast<std::size_t>(points.count());
    std::vector<std::vector<std::size_t>> members; // of each group, smallest member first
    std::vector<bool> grouped(count, false);
    for (std::size_t first = 0; first < count; ++first) {
        if (grouped[first]) {
            continue;
        }
        std::vector<std::size_t> group{first};
        grouped[first] = true;
        for (std::size_t visited = 0; visited < group.size(); ++visited) {
            const T* from = points.point(static_cast<std::int64_t>(group[visited]));
            for (std::size_t i = first + 1; i < count; ++i) {
                if (!grouped[i] &&
                    squared_distance(points, from, points.point(static_cast<std::int64_t>(i))) <= limit) {
                    grouped[i] = true;
                    group.push_back(i);
                }
            }
        }
        members.push_back(group);
    }
    // Groups were found by ascending smallest member; a stable sort keeps that among equals.
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    Groups result;
    result.labels.resize(count);
    for (std::size_t label = 0; label < members.size(); ++label) {
        result.sizes.push_back(static_cast<std::int32_t>(members[label].size()));
        for (const std::size_t i : members[label]) {
            result.labels[i] = static_cast<std::int32_t>(label);
        }
    }
    return result;
}

template <class T>
Groups groups_with_secondaries(std::span<const T> points, int dimension, const Box& box,
                               std::span<const std::uint8_t> is_secondary, double linking_length,
                               std::int64_t min_primaries) {
    std::vector<T> primaries;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (is_secondary[i / static_cast<std::size_t>(dimension)] == 0) {
            primaries.push_back(points[i]);
        }
    }
    const WorkingCopy<T> sources = working_copy<T>(primaries, dimension, box);
    const std::vector<T> all = normalized_queries<T>(sources, points);
    const T limit = squared_radius(sources, linking_length);
    const Groups linked = groups(sources, linking_length);
    std::vector<std::vector<std::size_t>> members(linked.sizes.size());
    std::size_t primary = 0;
    for (std::size_t row = 0; row < is_secondary.size(); ++row) {
        if (is_secondary[row] == 0) {
            members[static_cast<std::size_t>(linked.labels[primary++])].push_back(row);
            continue;
        }
        std::int64_t nearest = -1;
        T least = limit;
        for (std::int64_t i = 0; i < sources.count(); ++i) {
            const T squared =
                squared_distance(sources, all.data() + row * static_cast<std::size_t>(dimension), sources.point(i));
            if (squared < least || (squared == least && nearest == -1)) {
                nearest = i;
                least = squared;
            }
        }
        if (nearest >= 0) {
            members[static_cast<std::size_t>(linked.labels[static_cast<std::size_t>(nearest)])].push_back(row);
        }
    }
    std::erase_if(members, [&](const std::vector<std::size_t>& group) {
        return std::count_if(group.begin(), group.end(), [&](std::size_t row) { return is_secondary[row] == 0; }) <
               min_primaries;
    });
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
    });
    Groups result;
    result.labels.resize(is_secondary.size(), -1);
    for (std::size_t label = 0; label < members.size(); ++label) {
        result.sizes.push_back(static_cast<std::int32_t>(members[label].size()));
        for (const std::size_t row : members[label]) {
            result.labels[row] = static_cast<std::int32_t>(label);
        }
    }
    return result;
}

template <class T>
Volume volume(std::span<const T> points, int dimension, const Box& box) {
    Volume result{1, VolumeKind::none};
    int periodic = 0;
    for (int axis = 0; axis < dimension; ++axis) {
        if (box.period(axis) != 0) {
            ++periodic;
            result.value *= box.period(axis);
            continue;
        }
        double lower = 0;
        double upper = 0;
        for (std::size_t i = static_cast<std::size_t>(axis); i < points.size();
             i += static_cast<std::size_t>(dimension)) {
            const double x = points[i];
            const bool is_first = i == static_cast<std::size_t>(axis);
            lower = is_first ? x : std::min(lower, x);
            upper = is_first ? x : std::max(upper, x);
        }
        result.value *= upper - lower;
    }
    result.kind = periodic == dimension ? VolumeKind::box : periodic == 0 ? VolumeKind::extent : VolumeKind::mixed;
    return result;
}

template Groups groups(const WorkingCopy<float>&, double);
template Groups groups(const WorkingCopy<double>&, double);
template Groups groups_with_secondaries(std::span<const float>, int, const Box&, std::span<const std::uint8_t>, double,
                                        std::int64_t);
template Groups groups_with_secondaries(std::span<const double>, int, const Box&, std::span<const std::uint8_t>, double,
                                        std::int64_t);
template Volume volume(std::span<const float>, int, const Box&);
template Volume volume(std::span<const double>, int, const Box&);

} // namespace kith::oracle
