// k nearest neighbours of uniform points: kith beside nanoflann, in turn, in one process.
//
// Both start from unsorted points and end with indices and true distances in input order. nanoflann runs at its best:
// leaf size 16, queries in the order of its own tree, shared among threads in large pieces. Every distance of the two
// answers is compared before a time is printed (indices may differ where distances tie; kith's choice is checked by the
// tests). Prints seconds, best, median and worst of the repetitions, and the ratio of the medians.
//
//     bench_neighbors [points] [k] [threads] [repetitions]
#include <kith/kith.hpp>

#include <nanoflann.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace {

using Points = std::vector<std::array<float, 3>>;

struct PointCloud {
    const Points& points;
    [[nodiscard]] std::size_t kdtree_get_point_count() const { return points.size(); }
    [[nodiscard]] float kdtree_get_pt(std::size_t i, std::size_t axis) const { return points[i][axis]; }
    template <class Bounds>
    bool kdtree_get_bbox(Bounds& /*bounds*/) const {
        return false;
    }
};

using PeerTree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, PointCloud>, PointCloud, 3, std::uint32_t>;

void search_with_peer(const Points& points, std::size_t k, unsigned threads, std::vector<std::uint32_t>& indices,
                      std::vector<float>& distances) {
    const PointCloud cloud{points};
    PeerTree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
    tree.buildIndex();
    const auto work = [&](std::size_t begin, std::size_t end) {
        for (std::size_t position = begin; position < end; ++position) {
            const std::size_t row = tree.vAcc[position];
            tree.knnSearch(points[row].data(), k, &indices[row * k], &distances[row * k]);
            for (std::size_t i = row * k; i < (row + 1) * k; ++i) {
                distances[i] = std::sqrt(distances[i]);
            }
        }
    };
    std::vector<std::thread> workers;
    for (unsigned thread = 0; thread < threads; ++thread) {
        workers.emplace_back(work, points.size() * thread / threads, points.size() * (thread + 1) / threads);
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
}

double seconds_of(const std::function<void()>& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double report(const char* name, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    std::printf("%-10s %8.3f %8.3f %8.3f\n", name, seconds.front(), median, seconds.back());
    return median;
}

} // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i, long standard) { return argc > i ? std::atol(argv[i]) : standard; };
    const auto count = static_cast<std::size_t>(argument(1, 1000000));
    const auto k = static_cast<std::size_t>(argument(2, 16));
    const auto threads = static_cast<unsigned>(argument(3, static_cast<long>(std::thread::hardware_concurrency())));
    const long repetitions = argument(4, 5);

    Points points(count);
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(0, 1);
    for (auto& point : points) {
        for (float& x : point) {
            x = uniform(generator);
        }
    }
    std::vector<double> ours;
    std::vector<double> theirs;
    kith::StageReports stages;
    for (long repetition = 0; repetition < repetitions; ++repetition) {
        std::vector<std::uint32_t> peer_indices(count * k);
        std::vector<float> peer_distances(count * k);
        theirs.push_back(seconds_of([&] { search_with_peer(points, k, threads, peer_indices, peer_distances); }));
        std::vector<std::int32_t> indices(count * k); // touched beforehand, as the peer's memory is
        std::vector<float> distances(count * k);
        ours.push_back(seconds_of([&] {
            const auto where = kith::cpu(static_cast<int>(threads));
            const kith::Tree tree(points, {}, {}, where);
            stages = tree.stages();
            const auto searched = kith::knn_into(kith::NeighborRows(std::span(indices), std::span(distances)), tree,
                                                 static_cast<std::int64_t>(k), {}, where);
            stages.insert(stages.end(), searched.begin(), searched.end());
        }));
        for (std::size_t i = 0; i < distances.size(); ++i) { // the peer squares and adds without fused operations
            if (!(std::abs(distances[i] - peer_distances[i]) <= 1e-5F * peer_distances[i])) {
                std::fprintf(stderr, "row %zu, neighbour %zu: %.9g and %.9g differ\n", i / k, i % k,
                             static_cast<double>(distances[i]), static_cast<double>(peer_distances[i]));
                return 1;
            }
        }
    }
    std::printf("%zu uniform points, 3-D float32, k = %zu, %u threads, %ld repetitions\n", count, k, threads,
                repetitions);
    std::printf("%-10s %8s %8s %8s   seconds\n", "", "best", "median", "worst");
    const double peer = report("nanoflann", theirs);
    const double own = report("kith", ours);
    std::printf("kith is %.2f times as fast\n", peer / own);
    for (const auto& stage : stages) {
        std::printf("  %-8s %.3f s, at most %.1f bytes a point\n", stage.name.c_str(), stage.seconds,
                    static_cast<double>(stage.peak_bytes) / static_cast<double>(count));
    }
}
