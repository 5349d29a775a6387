// Friends-of-friends groups of a clustered set: three tenths of the points uniform, the rest in halos with
// Navarro-Frenk-White profiles whose numbers fall as m^-1.9, in a periodic box.
//
// From unsorted points to labels in input order. Prints seconds, best, median and worst of the repetitions, and what
// each stage of the last one took.
//
//     bench_groups [points] [b] [threads] [repetitions]
#include <kith/kith.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using Points = std::vector<std::array<float, 3>>;

constexpr double pi = 3.14159265358979323846;

double enclosed_mass(double x) {
    return std::log1p(x) - x / (1 + x);
}

/// The radius, in units of the scale radius, that encloses a share of the mass within the concentration.
double radius_of_share(double share, double concentration) {
    const double wanted = share * enclosed_mass(concentration);
    double lower = 0;
    double upper = concentration;
    for (int step = 0; step < 30; ++step) {
        const double middle = (lower + upper) / 2;
        (enclosed_mass(middle) < wanted ? lower : upper) = middle;
    }
    return lower;
}

Points clustered_points(std::size_t count) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal;
    Points points;
    points.reserve(count);
    const auto anywhere = [&] {
        return std::array<double, 3>{uniform(generator), uniform(generator), uniform(generator)};
    };
    const auto add = [&](const std::array<double, 3>& place) {
        std::array<float, 3> point;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            point[axis] = static_cast<float>(place[axis] - std::floor(place[axis]));
        }
        points.push_back(point);
    };
    while (points.size() < count * 3 / 10) {
        add(anywhere());
    }
    constexpr double smallest = 20;
    constexpr double concentration = 8;
    constexpr double overdensity = 200;
    const double largest = std::max(smallest, static_cast<double>(count) / 20);
    const double cut = 1 - std::pow(largest / smallest, -0.9);
    while (points.size() < count) {
        const double members = smallest * std::pow(1 - uniform(generator) * cut, -1 / 0.9);
        const double virial_radius = std::cbrt(members / (overdensity * static_cast<double>(count)) * 3 / (4 * pi));
        const auto centre = anywhere();
        for (double member = 0; member < members && points.size() < count; ++member) {
            std::array<double, 3> direction{normal(generator), normal(generator), normal(generator)};
            const double length = std::hypot(direction[0], direction[1], direction[2]);
            const double radius = radius_of_share(uniform(generator), concentration) / concentration * virial_radius;
            std::array<double, 3> place = centre;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                place[axis] += radius * direction[axis] / length;
            }
            add(place);
        }
    }
    std::shuffle(points.begin(), points.end(), generator);
    return points;
}

} // namespace

int main(int argc, char** argv) {
    const auto count = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 1000000);
    const double b = argc > 2 ? std::atof(argv[2]) : 0.2;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 0;
    const int repetitions = argc > 4 ? std::atoi(argv[4]) : 5;
    const Points points = clustered_points(count);
    std::vector<double> seconds;
    kith::FofResult groups;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        const auto start = std::chrono::steady_clock::now();
        groups = kith::fof(points, kith::LinkingLength::relative(b), kith::Box::periodic(1), {}, kith::cpu(threads));
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("%zu clustered points, 3-D float32, b = %g, %d repetitions\n", count, b, repetitions);
    std::printf("kith: best %.3f, median %.3f, worst %.3f seconds; %zu groups, %lld of 20 or more\n", seconds.front(),
                seconds[seconds.size() / 2], seconds.back(), groups.sizes.size(),
                static_cast<long long>(groups.groups_of_at_least(20)));
    for (const auto& stage : groups.stages) {
        std::printf("  %-8s %.3f s, at most %.1f bytes a point\n", stage.name.c_str(), stage.seconds,
                    static_cast<double>(stage.peak_bytes) / static_cast<double>(count));
    }
}
