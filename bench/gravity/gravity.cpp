// Gravity by the public walk (examples/gravity.hpp) beside a plain octree (contestants/octree.hpp), at the same accuracy.
//
//   bench_gravity [bodies] [rounds] [threads]      default: 100,000 bodies, 5 rounds, 2 threads
//
// A Plummer sphere, softening 0.01 of its scale radius. The accuracy is the relative error that 99 of 100 accelerations
// do not exceed, against direct sums in float64 for a thousand bodies. The example has the opening that is given here;
// each of the peer's openings is tried from 1 downwards until its error is not larger. Its leaf size is the best one of
// several. Building is timed, too. Times are of rounds in turn; both are compiled with the same flags.
#include "gravity.hpp"
#include "contestants/octree.hpp"
#include "plummer_sphere.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using gravity::Vector;

constexpr float softening = 0.01F;

/// Direct sums for every n-th body.
class Truth {
public:
    Truth(const std::vector<Vector>& positions, const std::vector<float>& masses)
        : step_(std::max<std::size_t>(positions.size() / 1000, 1)) {
        for (std::size_t i = 0; i < positions.size(); i += step_) {
            std::array<double, 3> sum{};
            for (std::size_t j = 0; j < positions.size(); ++j) {
                double d[3];
                double r2 = softening * softening;
                for (int axis = 0; axis < 3; ++axis) {
                    d[axis] = static_cast<double>(positions[j][axis]) - positions[i][axis];
                    r2 += d[axis] * d[axis];
                }
                for (int axis = 0; axis < 3; ++axis) {
                    sum[axis] += masses[j] * d[axis] / (r2 * std::sqrt(r2));
                }
            }
            sums_.push_back(sum);
        }
    }
    /// What 99 of 100 relative errors do not exceed.
    [[nodiscard]] double error_of(const std::vector<Vector>& found) const {
        std::vector<double> errors;
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            const auto& a = found[k * step_];
            const auto& b = sums_[k];
            errors.push_back(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) / std::hypot(b[0], b[1], b[2]));
        }
        std::sort(errors.begin(), errors.end());
        return errors[errors.size() * 99 / 100];
    }

private:
    std::size_t step_;
    std::vector<std::array<double, 3>> sums_;
};

template <class Function>
double seconds_of(const Function& function) {
    const auto start = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const int bodies = argc > 1 ? std::atoi(argv[1]) : 100000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
    constexpr float opening = 0.4F;
    const std::vector<Vector> positions = gravity::plummer_sphere(bodies);
    const std::vector<float> masses(positions.size(), 1.0F / static_cast<float>(bodies));
    const Truth truth(positions, masses);

    std::vector<Vector> found;
    const auto by_walk = [&] {
        const kith::Tree tree(positions, {.execution = kith::cpu(threads)});
        found = gravity::accelerations(tree, masses, opening, softening, threads);
    };
    const auto by_octree = [&](int leaf_size, float with_opening) {
        found = bench::Octree(positions, masses, leaf_size).accelerations(with_opening, softening, threads);
    };
    by_walk();
    const double error = truth.error_of(found);
    float octree_opening = 1;
    by_octree(8, octree_opening);
    double octree_error = truth.error_of(found);
    while (octree_error > error && octree_opening > 0.05F) {
        octree_opening -= 0.02F;
        by_octree(8, octree_opening);
        octree_error = truth.error_of(found);
    }
    std::printf("%d bodies, %d threads; errors of 99 of 100: walk %.1e (opening %.2f), octree %.1e (opening %.2f)\n",
                bodies, threads, error, opening, octree_error, octree_opening);

    const std::vector<int> leaf_sizes{1, 8, 32};
    std::vector<std::vector<double>> times(leaf_sizes.size() + 1);
    for (int round = 0; round < rounds; ++round) {
        times.back().push_back(seconds_of(by_walk));
        for (std::size_t i = 0; i < leaf_sizes.size(); ++i) {
            times[i].push_back(seconds_of([&] { by_octree(leaf_sizes[i], octree_opening); }));
        }
    }
    double best = median(times[0]);
    for (std::size_t i = 0; i < leaf_sizes.size(); ++i) {
        std::printf("octree, leaves of %2d: %.3f s\n", leaf_sizes[i], median(times[i]));
        best = std::min(best, median(times[i]));
    }
    std::printf("public walk:          %.3f s, %.2f of the octree's\n", median(times.back()),
                median(times.back()) / best);
    return error < 1e-3 && octree_error <= error ? 0 : 1;
}
