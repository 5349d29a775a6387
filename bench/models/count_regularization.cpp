// Counts what regularization (jz-tree paper, section II-D) would save the walks of a GPU on points with heavy tails:
//     count_regularization [POINTS [WORDS]]     only rows with these words
//
// The CPU cuts planes of the GPU's sizes, without regularization, as the GPU does, and with it. In both trees the GPU's
// kernels search the 16 nearest neighbors of all points and link friends, on the emulated GPU. Every load is seen
// (counted_accesses.hpp). Those from the arrays of boxes and of coordinates tell how often a node or a point is
// compared with a box or a point. Lanes that have nothing to compare load all the same, as on a GPU, and are counted.
// All accesses together stand for the work; some are the emulator's own.
#include "counted_accesses.hpp"
#include "walks_on_host.hpp"

#include "tree/plane_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using kith::detail::Plane;
using kith::detail::PlaneTree;
using T = float;
constexpr int dimension = 3;
constexpr int warp_size = 32;

void look_at(const PlaneTree<T>& tree) {
    std::vector<std::span<const std::byte>> boxes;
    for (const Plane<T>& plane : tree.planes) {
        boxes.push_back(std::as_bytes(plane.lower_corners.span()));
        boxes.push_back(std::as_bytes(plane.upper_corners.span()));
    }
    kith::bench::count_accesses({boxes, {std::as_bytes(tree.points.coordinates.span())}});
}

struct Counts {
    double leaves = 0;
    double nodes_met = 0; ///< a point
    double points_met = 0;
    double accesses = 0;
    double left = 0; ///< the share of rows that leaves did not serve
};

Counts counted(const PlaneTree<T>& tree, const std::function<double()>& body) {
    look_at(tree);
    Counts counts;
    counts.left = body();
    const kith::bench::Accesses found = kith::bench::counted_accesses();
    const auto points = static_cast<double>(tree.points.count);
    counts.leaves = static_cast<double>(tree.planes[0].nodes);
    counts.nodes_met = static_cast<double>(found.loads[0]) / (2 * dimension) / points;
    counts.points_met = static_cast<double>(found.loads[1]) / dimension / points;
    counts.accesses = static_cast<double>(found.all) / points;
    return counts;
}

Counts search(const PlaneTree<T>& tree) {
    return counted(tree, [&] { return kith::bench::search_by_leaves(tree.view(), tree.points.frame); });
}

Counts link(const PlaneTree<T>& tree, double length) {
    return counted(tree, [&] {
        kith::bench::link_leaves(tree.view(), tree.points.frame.squared_radius(length));
        return 0.0;
    });
}

struct Set {
    const char* name;
    std::function<double(std::mt19937_64&)> radius; ///< in a direction drawn by itself; null: uniform in a cube
};

double normal(std::mt19937_64& draw) {
    return std::normal_distribution<double>()(draw);
}
double radius_of_normal(std::mt19937_64& draw) {
    return std::sqrt(std::chi_squared_distribution<double>(dimension)(draw));
}
std::function<double(std::mt19937_64&)> student(double freedom) {
    return [=](std::mt19937_64& draw) {
        return radius_of_normal(draw) / std::sqrt(std::chi_squared_distribution<double>(freedom)(draw) / freedom);
    };
}
std::function<double(std::mt19937_64&)> power_law(double index) {
    return
        [=](std::mt19937_64& draw) { return std::pow(1 - std::uniform_real_distribution<double>()(draw), -1 / index); };
}
std::function<double(std::mt19937_64&)> normal_of_width(double sigma) {
    return [=](std::mt19937_64& draw) { return radius_of_normal(draw) * std::exp(sigma * normal(draw)); };
}

std::vector<T> points_of(const Set& set, std::int64_t count) {
    std::mt19937_64 draw(1);
    std::vector<T> points;
    for (std::int64_t i = 0; i < count; ++i) {
        std::array<double, dimension> x{};
        double length = 0;
        for (double& each : x) {
            each = set.radius ? normal(draw) : std::uniform_real_distribution<double>()(draw);
            length += each * each;
        }
        const double factor = set.radius ? set.radius(draw) / std::sqrt(length) : 1;
        for (const double each : x) {
            points.push_back(static_cast<T>(each * factor));
        }
    }
    return points;
}

/// A fifth of the mean separation in the ball about 0 that holds half of the points.
double linking_length(const std::vector<T>& points) {
    std::vector<double> radii;
    for (std::size_t i = 0; i < points.size(); i += dimension) {
        radii.push_back(std::hypot(points[i], points[i + 1], points[i + 2]));
    }
    const auto half = radii.begin() + static_cast<std::ptrdiff_t>(radii.size() / 2);
    std::nth_element(radii.begin(), half, radii.end());
    const double volume = 4 * std::numbers::pi / 3 * *half * *half * *half;
    return 0.2 * std::cbrt(volume / (static_cast<double>(radii.size()) / 2));
}

void print(const Set& set, const char* what, const Counts& without, const Counts& with) {
    std::printf("| %s | %s | %.0f, %.0f | %.1f, %.1f | %.0f, %.0f | %+.1f %% | %.2f, %.2f |\n", set.name, what,
                without.leaves, with.leaves, without.nodes_met, with.nodes_met, without.points_met, with.points_met,
                100 * (with.accesses / without.accesses - 1), 100 * without.left, 100 * with.left);
    (void)std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 100'000;
    const std::string words = argc > 2 ? argv[2] : "";
    const std::vector<Set> sets{{"uniform", nullptr},
                                {"normal", radius_of_normal},
                                {"Student's t, 2 degrees of freedom", student(2)},
                                {"Student's t, 1 degree of freedom", student(1)},
                                {"radii by a power law of index 2", power_law(2)},
                                {"radii by a power law of index 1", power_law(1)},
                                {"normal, log-normal widths, sigma 1", normal_of_width(1)},
                                {"normal, log-normal widths, sigma 2", normal_of_width(2)}};
    std::printf("| points | call | leaves | nodes met | points met | all accesses "
                "| rows by query, %% |\n|---|---|---|---|---|---|---|\n");
    for (const Set& set : sets) {
        const std::vector<T> points = points_of(set, count);
        kith::detail::Context context(kith::cpu(1));
        const auto sources = kith::detail::normalize_sources<T>(kith::PointsView(points, dimension), {});
        kith::TreeShape shape{.leaf_size = warp_size, .top_size = warp_size};
        shape.regularization = 0;
        const auto without = kith::detail::build_plane_tree<T>(context, sources, shape);
        shape.regularization = 50;
        const auto with = kith::detail::build_plane_tree<T>(context, sources, shape);
        const double length = linking_length(points);
        const auto row = [&](const char* call, const auto& walk) {
            if ((set.name + std::string(" ") + call).find(words) != std::string::npos) {
                print(set, call, walk(without), walk(with));
            }
        };
        row("neighbors", search);
        row("groups", [&](const PlaneTree<T>& tree) { return link(tree, length); });
    }
    return 0;
}
