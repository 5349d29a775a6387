// See hdbscan.hpp.
#include "oracle/hdbscan.hpp"

#include "oracle/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kith::oracle {

namespace {

constexpr double largest = std::numeric_limits<double>::max();

using Points = std::vector<std::int32_t>;
__extension__ using Wide = __int128;
using Worth = std::pair<std::int64_t, Wide>;

double lambda_of(double height) {
    return std::min(1 / height, largest);
}

/// A cluster with its points, and the lambda at which each leaves it.
struct Members {
    std::int32_t parent;
    double birth_height;
    double birth;
    std::map<std::int32_t, double> leaves{};
    std::vector<std::int32_t> children{};
};

class Condenser {
public:
    Condenser(const std::vector<LinkageRow>& linkage, std::int64_t min_size)
        : linkage_(linkage), min_size_(static_cast<std::size_t>(min_size)) {}

    std::vector<Members> clusters;
    std::map<std::int32_t, std::int32_t> last_clusters;
    std::map<std::int32_t, double> last_heights;

    void run() {
        const std::size_t points = linkage_.size() + 1;
        clusters.push_back({-1, std::numeric_limits<double>::infinity(), 0});
        std::map<std::size_t, std::int32_t> cluster_of{{points + linkage_.size() - 1, 0}};
        if (points == 1) {
            leave({0}, 0, std::numeric_limits<double>::infinity());
        }
        for (std::size_t merge = linkage_.size(); merge-- > 0;) {
            const auto found = cluster_of.find(points + merge);
            if (found == cluster_of.end()) {
                continue; // its points have left
            }
            const std::int32_t cluster = found->second;
            const LinkageRow& row = linkage_[merge];
            const std::vector<std::size_t> parts{static_cast<std::size_t>(row.left),
                                                 static_cast<std::size_t>(row.right)};
            const bool splits = std::all_of(parts.begin(), parts.end(),
                                            [&](std::size_t part) { return points_of(part).size() >= min_size_; });
            for (const std::size_t part : parts) {
                const Points members = points_of(part);
                if (splits) {
                    for (const std::int32_t point : members) {
                        clusters[static_cast<std::size_t>(cluster)].leaves[point] = lambda_of(row.height);
                    }
                    const auto born = static_cast<std::int32_t>(clusters.size());
                    clusters.push_back({cluster, row.height, lambda_of(row.height)});
                    clusters[static_cast<std::size_t>(cluster)].children.push_back(born);
                    cluster_of[part] = born;
                } else if (members.size() >= min_size_) {
                    cluster_of[part] = cluster;
                } else {
                    leave(members, cluster, row.height);
                }
            }
        }
    }

private:
    [[nodiscard]] Points points_of(std::size_t part) const {
        const std::size_t points = linkage_.size() + 1;
        if (part < points) {
            return {static_cast<std::int32_t>(part)};
        }
        Points all = points_of(static_cast<std::size_t>(linkage_[part - points].left));
        const Points right = points_of(static_cast<std::size_t>(linkage_[part - points].right));
        all.insert(all.end(), right.begin(), right.end());
        return all;
    }

    void leave(const Points& members, std::int32_t cluster, double height) {
        for (const std::int32_t point : members) {
            clusters[static_cast<std::size_t>(cluster)].leaves[point] = lambda_of(height);
            last_clusters[point] = cluster;
            last_heights[point] = height;
        }
    }

    const std::vector<LinkageRow>& linkage_;
    std::size_t min_size_;
};

/// Lambdas as integers.
class Grid {
public:
    explicit Grid(const std::vector<LinkageRow>& linkage) {
        double most = 0;
        for (const LinkageRow& row : linkage) {
            const double lambda = lambda_of(row.height);
            most = lambda < largest ? std::max(most, lambda) : most;
        }
        exponent_ = most > 0 ? std::ilogb(most) + 1 : 0;
    }

    [[nodiscard]] Worth operator()(double lambda) const {
        if (lambda == largest) {
            return {1, 0};
        }
        const double scaled = std::ldexp(lambda, 94 - exponent_);
        const double whole = std::floor(scaled);
        return {0, static_cast<Wide>(whole) + (scaled - whole >= 0.5 ? 1 : 0)};
    }
    [[nodiscard]] double reported(const Worth& worth) const {
        return worth.first > 0 ? largest
                               : std::min(std::ldexp(static_cast<double>(worth.second), exponent_ - 94), largest);
    }

private:
    int exponent_;
};

void select_below(const std::vector<Members>& clusters, std::int32_t cluster, std::set<std::int32_t>& selected) {
    for (const std::int32_t child : clusters[static_cast<std::size_t>(cluster)].children) {
        selected.erase(child);
        select_below(clusters, child, selected);
    }
}

std::set<std::int32_t> by_excess_of_mass(const std::vector<Members>& clusters, const std::vector<Worth>& stabilities,
                                         const DensityRequest& request) {
    std::set<std::int32_t> selected;
    std::vector<Worth> worth = stabilities;
    for (auto cluster = static_cast<std::int32_t>(clusters.size()) - 1;
         cluster >= (request.allow_single_cluster ? 0 : 1); --cluster) {
        const Members& members = clusters[static_cast<std::size_t>(cluster)];
        Worth below{0, 0};
        for (const std::int32_t child : members.children) {
            below.first += worth[static_cast<std::size_t>(child)].first;
            below.second += worth[static_cast<std::size_t>(child)].second;
        }
        const bool is_too_large =
            request.max_cluster_size > 0 && static_cast<std::int64_t>(members.leaves.size()) > request.max_cluster_size;
        if (below > stabilities[static_cast<std::size_t>(cluster)] || is_too_large) {
            worth[static_cast<std::size_t>(cluster)] = below;
        } else {
            select_below(clusters, cluster, selected);
            selected.insert(cluster);
        }
    }
    return selected;
}

std::set<std::int32_t> by_leaves(const std::vector<Members>& clusters) {
    std::set<std::int32_t> selected;
    for (std::size_t cluster = 1; cluster < clusters.size(); ++cluster) {
        if (clusters[cluster].children.empty()) {
            selected.insert(static_cast<std::int32_t>(cluster));
        }
    }
    return selected;
}

std::set<std::int32_t> born_at(const std::vector<Members>& clusters, const std::set<std::int32_t>& selected,
                               const DensityRequest& request) {
    std::set<std::int32_t> higher;
    for (std::int32_t cluster : selected) {
        while (clusters[static_cast<std::size_t>(cluster)].birth_height < request.epsilon &&
               (clusters[static_cast<std::size_t>(cluster)].parent > 0 || request.allow_single_cluster)) {
            cluster = clusters[static_cast<std::size_t>(cluster)].parent;
        }
        higher.insert(cluster);
    }
    return higher;
}

double greatest_lambda(const Members& members) {
    double greatest = 0;
    for (const auto& [point, lambda] : members.leaves) {
        greatest = std::max(greatest, lambda);
    }
    return greatest;
}

double greatest_below(const std::vector<Members>& clusters, std::int32_t cluster) {
    const Members& members = clusters[static_cast<std::size_t>(cluster)];
    double greatest = greatest_lambda(members);
    for (const std::int32_t child : members.children) {
        greatest = std::max(greatest, greatest_below(clusters, child));
    }
    return greatest;
}

} // namespace

template <class T>
void condense(DensityClusters<T>& result, const DensityRequest& request) {
    const std::size_t count = result.core_distances.size();
    if (count == 0) {
        return;
    }
    const std::vector<LinkageRow> rows = linkage(result.edges);
    Condenser condenser(rows, request.min_cluster_size);
    condenser.run();
    const std::vector<Members>& clusters = condenser.clusters;
    const Grid grid(rows);
    std::vector<Worth> stabilities;
    for (const Members& members : clusters) {
        Worth sum{0, 0};
        const Worth birth = grid(members.birth);
        for (const auto& [point, lambda] : members.leaves) {
            const Worth leave = grid(lambda);
            sum.first += leave.first - birth.first;
            sum.second += leave.second - birth.second;
        }
        stabilities.push_back(sum);
    }
    const std::set<std::int32_t> selected = born_at(
        clusters, request.by_leaves ? by_leaves(clusters) : by_excess_of_mass(clusters, stabilities, request), request);

    // Which of the selected clusters each point is a member of.
    std::vector<std::int32_t> member_of(count, -1);
    for (const std::int32_t cluster : selected) {
        const Members& members = clusters[static_cast<std::size_t>(cluster)];
        for (const auto& [point, lambda] : members.leaves) {
            const bool is_dense = request.epsilon > 0
                                      ? condenser.last_heights[point] <= request.epsilon
                                      : lambda_of(condenser.last_heights[point]) >= greatest_lambda(members);
            const bool is_anywhere = lambda_of(condenser.last_heights[point]) > 0;
            if (is_anywhere && (cluster > 0 || is_dense)) {
                member_of[static_cast<std::size_t>(point)] = cluster;
            }
        }
    }
    std::map<std::int32_t, std::int32_t> labels;
    for (const std::int32_t cluster : member_of) {
        if (cluster >= 0) {
            labels.insert({cluster, static_cast<std::int32_t>(labels.size())});
        }
    }
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
        const Members& members = clusters[cluster];
        const auto label = labels.find(static_cast<std::int32_t>(cluster));
        result.clusters.push_back({members.parent, static_cast<std::int32_t>(members.leaves.size()),
                                   label != labels.end() ? label->second : -1, members.birth, greatest_lambda(members),
                                   grid.reported(stabilities[cluster])});
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t last = condenser.last_clusters[static_cast<std::int32_t>(i)];
        const double lambda = lambda_of(condenser.last_heights[static_cast<std::int32_t>(i)]);
        result.last_clusters.push_back(last);
        result.lambdas.push_back(lambda);
        const double most = greatest_below(clusters, last);
        result.outlier_scores.push_back(most > 0 ? (most - lambda) / most : 0);
        if (member_of[i] < 0) {
            result.labels.push_back(-1);
            result.probabilities.push_back(0);
            continue;
        }
        const double death = greatest_lambda(clusters[static_cast<std::size_t>(member_of[i])]);
        result.labels.push_back(labels[member_of[i]]);
        result.probabilities.push_back(death > 0 ? std::min(lambda, death) / death : 1);
    }
}

template <class T>
DensityClusters<T> hdbscan(const WorkingCopy<T>& points, const DensityRequest& request) {
    const auto count = static_cast<std::int32_t>(points.count());
    std::vector<T> core;
    DensityClusters<T> result;
    for (std::int32_t i = 0; i < count; ++i) {
        std::vector<T> distances;
        for (std::int32_t j = 0; j < count; ++j) {
            distances.push_back(squared_distance(points, points.point(i), points.point(j)));
        }
        std::sort(distances.begin(), distances.end());
        core.push_back(request.min_samples <= count ? distances[static_cast<std::size_t>(request.min_samples) - 1]
                                                    : std::numeric_limits<T>::infinity());
        result.core_distances.push_back(height_of(points, core.back()));
    }
    result.edges = spanning_tree<T>(points, [&](std::int32_t i, std::int32_t j, T squared) {
        return std::max({core[static_cast<std::size_t>(i)], core[static_cast<std::size_t>(j)], squared});
    });
    condense(result, request);
    return result;
}

namespace {

/// The cluster that a new point joins, -1 for noise.
template <class T>
std::int32_t joined_cluster(const DensityClusters<T>& clusters, const DensityRequest& request, std::size_t neighbor,
                            double distance) {
    const double lambda = lambda_of(distance);
    std::int32_t cluster = clusters.last_clusters[neighbor];
    while (lambda < clusters.lambdas[neighbor] && cluster > 0 &&
           clusters.clusters[static_cast<std::size_t>(cluster)].birth >= lambda) {
        cluster = clusters.clusters[static_cast<std::size_t>(cluster)].parent;
    }
    while (cluster >= 0 && clusters.clusters[static_cast<std::size_t>(cluster)].label < 0) {
        cluster = clusters.clusters[static_cast<std::size_t>(cluster)].parent;
    }
    const bool is_dense = request.epsilon > 0 ? distance <= request.epsilon : lambda >= clusters.clusters[0].death;
    return lambda == 0 || (cluster == 0 && !is_dense) ? -1 : cluster;
}

} // namespace

template <class T>
Predictions<T> predict(const WorkingCopy<T>& points, const DensityClusters<T>& clusters, const DensityRequest& request,
                       const std::vector<T>& new_points) {
    Predictions<T> result;
    const auto others = static_cast<std::size_t>(request.min_samples) - 1;
    for (std::size_t q = 0; q < new_points.size(); q += static_cast<std::size_t>(points.dimension)) {
        std::vector<T> squared;
        for (std::int64_t i = 0; i < points.count(); ++i) {
            squared.push_back(squared_distance(points, new_points.data() + q, points.point(i)));
        }
        std::vector<T> sorted = squared;
        std::sort(sorted.begin(), sorted.end());
        const T core = others == 0              ? T(0)
                       : others > sorted.size() ? std::numeric_limits<T>::infinity()
                                                : height_of(points, sorted[others - 1]);
        std::int32_t neighbor = -1;
        std::pair<T, T> least;
        for (std::size_t i = 0; i < squared.size(); ++i) {
            const std::pair<T, T> order{std::max({core, clusters.core_distances[i], height_of(points, squared[i])}),
                                        squared[i]};
            if (neighbor < 0 || order < least) {
                least = order;
                neighbor = static_cast<std::int32_t>(i);
            }
        }
        result.neighbors.push_back(neighbor);
        result.distances.push_back(neighbor >= 0 ? least.first : std::numeric_limits<T>::infinity());
        const std::int32_t cluster =
            neighbor >= 0 ? joined_cluster(clusters, request, static_cast<std::size_t>(neighbor), least.first) : -1;
        result.labels.push_back(cluster >= 0 ? clusters.clusters[static_cast<std::size_t>(cluster)].label : -1);
        const double death = cluster >= 0 ? clusters.clusters[static_cast<std::size_t>(cluster)].death : 0;
        result.probabilities.push_back(cluster < 0 ? 0
                                       : death > 0 ? std::min(lambda_of(least.first), death) / death
                                                   : 1);
    }
    return result;
}

template Predictions<float> predict(const WorkingCopy<float>&, const DensityClusters<float>&, const DensityRequest&,
                                    const std::vector<float>&);
template Predictions<double> predict(const WorkingCopy<double>&, const DensityClusters<double>&, const DensityRequest&,
                                     const std::vector<double>&);
template void condense(DensityClusters<float>&, const DensityRequest&);
template void condense(DensityClusters<double>&, const DensityRequest&);
template DensityClusters<float> hdbscan(const WorkingCopy<float>&, const DensityRequest&);
template DensityClusters<double> hdbscan(const WorkingCopy<double>&, const DensityRequest&);

} // namespace kith::oracle
