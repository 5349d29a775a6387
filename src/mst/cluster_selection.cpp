#include "mst/cluster_selection.hpp"

#include "mst/merges.hpp"
#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"
#include "support/int128.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_lambda = std::numeric_limits<double>::max();
constexpr std::int64_t grain = 1 << 14;

/// A sum of lambdas in fixed point. Those of coincident points are beyond any sum of the others.
struct Worth {
    std::int64_t beyond = 0;
    Int128 rest = 0;

    Worth& operator+=(const Worth& other) noexcept {
        beyond += other.beyond;
        rest += other.rest;
        return *this;
    }
    [[nodiscard]] Worth times(std::int64_t count) const noexcept { return {beyond * count, rest * count}; }
    friend bool operator<(const Worth& a, const Worth& b) noexcept {
        return a.beyond != b.beyond ? a.beyond < b.beyond : a.rest < b.rest;
    }
};

/// Lambdas as multiples of a power of two, 2^94 of which are above all but the largest float64: sums of 2^31 of them
/// fit.
class FixedLambdas {
public:
    /// Heights do not descend.
    explicit FixedLambdas(std::span<const double> heights) {
        for (const double height : heights) {
            const double lambda = lambda_of(height);
            if (lambda < largest_lambda) {
                (void)std::frexp(lambda, &exponent_);
                break;
            }
        }
    }

    [[nodiscard]] Worth operator()(double lambda) const noexcept {
        if (lambda == largest_lambda) {
            return {1, 0};
        }
        if (lambda == 0) { // which has no exponent
            return {0, 0};
        }
        int exponent = 0;
        const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(lambda, &exponent), mantissa_bits));
        const int shift = exponent - mantissa_bits + bits - exponent_;
        if (shift >= 0) {
            return {0, Int128{digits} << shift};
        }
        return {0, shift < -mantissa_bits ? 0 : (digits + (std::int64_t{1} << (-shift - 1))) >> -shift};
    }

    [[nodiscard]] double reported(const Worth& worth) const noexcept {
        return worth.beyond > 0
                   ? largest_lambda
                   : std::min(std::ldexp(static_cast<double>(worth.rest), exponent_ - bits), largest_lambda);
    }

private:
    static constexpr int mantissa_bits = 53;
    static constexpr int bits = 94;
    int exponent_ = 0; ///< all finite lambdas are below 2^exponent_
};

class Selection {
public:
    Selection(const Condensed& condensed, const HdbscanOptions& options, HdbscanResult& result)
        : clusters_(condensed.clusters), count_(std::ssize(clusters_)), exits_(condensed.exits.span()),
          options_(options), result_(result), fixed_(result.heights), stabilities_(count_), is_selected_(count_, 0),
          owner_(count_, -1) {}

    void run() {
        find_stabilities();
        options_.selection == ClusterSelection::leaf ? select_leaves() : select_by_mass();
        keep_highest();
        if (options_.selection_epsilon > 0) {
            climb();
            keep_highest();
        }
        number();
        describe();
    }

private:
    [[nodiscard]] double height_of(std::int32_t merge) const {
        return merge == Condensed::none ? infinity : result_.heights[merge];
    }
    [[nodiscard]] double lambda_at(std::int32_t merge) const { return lambda_of(height_of(merge)); }
    /// Whether the answer may have the root.
    [[nodiscard]] bool takes(std::int64_t cluster) const { return cluster > 0 || options_.allow_single_cluster; }

    void find_stabilities() {
        for (const Condensed::Exit& exit : exits_) {
            stabilities_[exit.cluster] += fixed_(lambda_at(exit.merge));
        }
        for (std::int64_t i = 0; i < count_; ++i) {
            const Condensed::Cluster& cluster = clusters_[i];
            const Worth birth = fixed_(lambda_at(cluster.birth)).times(cluster.size);
            stabilities_[i] += {-birth.beyond, -birth.rest};
            if (cluster.parent >= 0) {
                stabilities_[cluster.parent] += birth;
            }
        }
    }

    void select_by_mass() {
        std::vector<Worth> below(count_); // worth of the children
        for (std::int64_t i = count_ - 1; i >= 0 && takes(i); --i) {
            const Condensed::Cluster& cluster = clusters_[i];
            const bool is_too_large = options_.max_cluster_size > 0 && cluster.size > options_.max_cluster_size;
            is_selected_[i] = !is_too_large && !(stabilities_[i] < below[i]) ? 1 : 0;
            if (cluster.parent >= 0) {
                below[cluster.parent] += is_selected_[i] != 0 ? stabilities_[i] : below[i];
            }
        }
    }

    void select_leaves() {
        std::fill(is_selected_.begin() + 1, is_selected_.end(), 1);
        for (const Condensed::Cluster& cluster : clusters_) {
            if (cluster.parent >= 0) {
                is_selected_[cluster.parent] = 0;
            }
        }
    }

    /// Of selected clusters one above the other only the highest stays; it owns all below it.
    void keep_highest() {
        for (std::int64_t i = 0; i < count_; ++i) {
            const std::int32_t parent = clusters_[i].parent;
            const std::int32_t above = parent >= 0 ? owner_[parent] : -1;
            is_selected_[i] = above < 0 ? is_selected_[i] : 0;
            owner_[i] = is_selected_[i] != 0 ? static_cast<std::int32_t>(i) : above;
        }
    }

    /// Replaces selected clusters by those above them that were born at epsilon or higher.
    void climb() {
        std::vector<std::int32_t> target(count_, 0);
        std::vector<std::uint8_t> is_target(count_, 0);
        for (std::int64_t i = 0; i < count_; ++i) {
            const std::int32_t parent = clusters_[i].parent;
            const bool climbs =
                height_of(clusters_[i].birth) < options_.selection_epsilon && parent >= 0 && takes(parent);
            target[i] = climbs ? target[parent] : static_cast<std::int32_t>(i);
            is_target[target[i]] |= is_selected_[i];
        }
        is_selected_ = std::move(is_target);
    }

    /// The selected cluster of a point, -1 for noise.
    [[nodiscard]] std::int32_t cluster_of(const Condensed::Exit& exit) const {
        const std::int32_t owner = owner_[exit.cluster];
        const double height = height_of(exit.merge);
        if (lambda_of(height) == 0) {
            return -1;
        }
        if (owner != 0) {
            return owner;
        }
        const bool is_dense = options_.selection_epsilon > 0 ? height <= options_.selection_epsilon
                                                             : lambda_of(height) >= lambda_at(clusters_[0].death);
        return is_dense ? 0 : -1;
    }

    /// Labels clusters by their smallest member index.
    void number() {
        labels_.assign(count_, -1);
        for (const Condensed::Exit& exit : exits_) {
            const std::int32_t cluster = cluster_of(exit);
            if (cluster < 0) {
                ++result_.noise_points;
                continue;
            }
            if (labels_[cluster] < 0) {
                labels_[cluster] = static_cast<std::int32_t>(result_.sizes.size());
                result_.sizes.push_back(0);
            }
            ++result_.sizes[labels_[cluster]];
        }
    }

    void describe() {
        std::vector<double> densest(count_, 0); // lambda at which a point leaves it or a cluster below
        CondensedTree& tree = result_.condensed_tree;
        tree.clusters.resize(count_);
        for (std::int64_t i = count_ - 1; i >= 0; --i) {
            const auto& [parent, size, birth, death] = clusters_[i];
            tree.clusters[i] = {
                parent, size, labels_[i], lambda_at(birth), lambda_at(death), fixed_.reported(stabilities_[i])};
            densest[i] = std::max(densest[i], lambda_at(death));
            if (parent >= 0) {
                densest[parent] = std::max(densest[parent], densest[i]);
            }
        }
        const std::int64_t points = std::ssize(exits_);
        fill_vector(tree.last_clusters, points);
        fill_vector(tree.lambdas, points);
        fill_vector(result_.labels, points);
        fill_vector(result_.probabilities, points);
        fill_vector(result_.outlier_scores, points);
        parallel_each(points, grain, [&](std::int64_t i) {
            const Condensed::Exit& exit = exits_[i];
            const double lambda = lambda_at(exit.merge);
            const double most = densest[exit.cluster];
            tree.last_clusters[i] = exit.cluster;
            tree.lambdas[i] = lambda;
            result_.outlier_scores[i] = most > 0 ? (most - lambda) / most : 0;
            const std::int32_t cluster = cluster_of(exit);
            result_.labels[i] = cluster >= 0 ? labels_[cluster] : -1;
            const double death = cluster >= 0 ? tree.clusters[cluster].death : 0;
            result_.probabilities[i] = cluster < 0 ? 0 : death > 0 ? std::min(lambda, death) / death : 1;
        });
    }

    const std::vector<Condensed::Cluster>& clusters_;
    std::int64_t count_;
    std::span<const Condensed::Exit> exits_;
    const HdbscanOptions& options_;
    HdbscanResult& result_;
    FixedLambdas fixed_;
    std::vector<Worth> stabilities_;
    std::vector<std::uint8_t> is_selected_;
    std::vector<std::int32_t> owner_;  ///< the selected cluster that holds it, -1: none
    std::vector<std::int32_t> labels_; ///< of selected clusters with members
};

} // namespace

void find_clusters(Context& context, std::int64_t points, const HdbscanOptions& options, HdbscanResult& result) {
    Condensed condensed;
    context.stage("merge", [&] {
        const std::vector<Merge> merges = merges_of(context, result.edges, points);
        with_allocation_errors("the clusters", [&] { condensed = condense(context, merges, result.min_cluster_size); });
    });
    context.stage("clusters", [&] {
        with_allocation_errors("the clusters", [&] { Selection(condensed, options, result).run(); });
    });
}

} // namespace kith::detail
