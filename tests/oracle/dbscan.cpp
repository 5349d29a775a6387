// See dbscan.hpp.
#include "oracle/dbscan.hpp"

namespace kith::oracle {

template <class T>
Clusters dbscan(const WorkingCopy<T>& points, double eps, std::int64_t min_samples, bool star) {
    const T limit = squared_radius(points, eps);
    const std::int64_t count = points.count();
    const auto within = [&](std::int64_t i, std::int64_t j) {
        return squared_distance(points, points.point(i), points.point(j)) <= limit;
    };
    Clusters result;
    std::vector<std::int32_t>& labels = result.labels;
    labels.assign(static_cast<std::size_t>(count), -1);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t found = 0;
        for (std::int64_t j = 0; j < count; ++j) {
            found += within(i, j) ? 1 : 0;
        }
        result.is_core.push_back(found >= min_samples ? 1 : 0);
    }
    const auto is_core = [&](std::int64_t i) { return result.is_core[static_cast<std::size_t>(i)] != 0; };
    const auto label = [&](std::int64_t i) -> std::int32_t& { return labels[static_cast<std::size_t>(i)]; };
    std::int32_t clusters = 0;
    for (std::int64_t first = 0; first < count; ++first) {
        if (!is_core(first) || label(first) >= 0) {
            continue;
        }
        std::vector<std::int64_t> members{first};
        label(first) = clusters;
        for (std::size_t visited = 0; visited < members.size(); ++visited) {
            for (std::int64_t j = 0; j < count; ++j) {
                if (is_core(j) && label(j) < 0 && within(members[visited], j)) {
                    label(j) = clusters;
                    members.push_back(j);
                }
            }
        }
        ++clusters;
    }
    if (!star) {
        for (std::int64_t i = 0; i < count; ++i) {
            if (is_core(i)) {
                continue;
            }
            for (std::int64_t j = 0; j < count; ++j) {
                if (is_core(j) && within(i, j) && (label(i) < 0 || label(j) < label(i))) {
                    label(i) = label(j);
                }
            }
        }
    }
    result.sizes.assign(static_cast<std::size_t>(clusters), 0);
    for (const std::int32_t each : labels) {
        if (each >= 0) {
            ++result.sizes[static_cast<std::size_t>(each)];
        }
    }
    return result;
}

template Clusters dbscan(const WorkingCopy<float>&, double, std::int64_t, bool);
template Clusters dbscan(const WorkingCopy<double>&, double, std::int64_t, bool);

} // namespace kith::oracle
