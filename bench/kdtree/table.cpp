// Table 1 of the paper on left-balanced k-d trees (I. Wald, arXiv:2211.00120) on this machine's CPU, and what building
// costs.
//
//   bench_kdtree [most points] [rounds]      default: 10,000,000 points, 3 rounds
//
// Uniform points of the paper's types, int1 and float4, split axes by level; 1,000 points to the number given. In place
// is kdtree::build of kith/device/kdtree_build.hpp; it and the other builder run on one thread and on all. (The other
// one has no integers: int1 is built from the same numbers in float64.) Every tree is compared with that of the other
// builder. Bytes are those of working memory, beside points, original indices and the tree's own arrays.
#include "engines/kdtree/build.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace bench {
namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

template <class Function>
double seconds_of(const Function& function) {
    const auto start = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

/// T: what the other builder takes.
template <class Scalar, class T, int D>
void print_row(const char* type, std::int64_t count, int rounds) {
    std::mt19937 random(1);
    std::vector<std::array<Scalar, D>> points(static_cast<std::size_t>(count));
    for (std::array<Scalar, D>& point : points) {
        for (Scalar& x : point) {
            x = std::is_integral_v<Scalar> ? static_cast<Scalar>(random() >> 1)
                                           : static_cast<Scalar>(static_cast<double>(random() >> 8) * 0x1p-24);
        }
    }
    const auto load = [&](std::int64_t i) {
        std::array<T, D> x;
        std::copy_n(points[i].begin(), D, x.begin());
        return x;
    };
    std::array<std::vector<double>, 2> in_place; // one thread, all threads
    std::array<std::vector<double>, 2> parallel;
    std::int64_t scratch_bytes = 0;
    const auto build_by = [&](int threads, std::vector<double>& seconds, const std::vector<std::int32_t>& expected) {
        kith::detail::Context context(kith::cpu(threads));
        kith::detail::KdTree<T, D> tree;
        context.stage("tree", [&] {
            seconds.push_back(seconds_of(
                [&] { tree = kith::detail::build_kd_tree<T, D>(context, count, load, kith::kdtree::Split::cyclic); }));
        });
        scratch_bytes = context.take_stages().front().peak_bytes - count * (sizeof(T) * D + 8);
        require(std::equal(expected.begin(), expected.end(), tree.indices.data()), "the builders' trees differ");
    };
    const int all_threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::int32_t> indices(points.size());
        std::vector<kith::kdtree::Node> scratch(points.size());
        for (const bool all : {false, true}) {
            std::vector<std::array<Scalar, D>> nodes = points;
            in_place[all].push_back(seconds_of([&] {
                kith::kdtree::build(std::span(nodes), std::span(indices), std::span(scratch), {},
                                    kith::kdtree::Split::cyclic, all ? all_threads : 1);
            }));
            build_by(all ? 0 : 1, parallel[all], indices);
        }
    }
    std::printf("%-7s %11lld", type, static_cast<long long>(count));
    for (const std::vector<double>& seconds : {in_place[0], in_place[1], parallel[0], parallel[1]}) {
        std::printf("  %9.2f ms %5.0f ns", 1e3 * median(seconds), 1e9 * median(seconds) / static_cast<double>(count));
    }
    std::printf("  %6.1f  %6.1f\n", 4.0, static_cast<double>(scratch_bytes) / static_cast<double>(count));
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    const std::int64_t most = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
    std::printf("%-7s %11s  %21s  %21s  %21s  %21s  %14s\n", "", "", "in place, one thread", "in place, all threads",
                "one thread", "all threads", "bytes a point");
    std::printf("%-7s %11s", "type", "points");
    for (int column = 0; column < 4; ++column) {
        std::printf("  %12s %8s", "median", "a point");
    }
    std::printf("  %6s  %6s\n", "in pl.", "others");
    for (std::int64_t count = 1000; count <= most; count *= 10) {
        bench::print_row<std::int32_t, double, 1>("int1", count, rounds);
    }
    for (std::int64_t count = 1000; count <= most; count *= 10) {
        bench::print_row<float, float, 4>("float4", count, rounds);
    }
}
