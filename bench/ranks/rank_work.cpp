// The work of every rank of a call over ranks: its processor time and what it exchanges.
//
//   bench_ranks points=FILE.npy|uniform:N [period=L] [ranks=1,2,4,8] [calls=knn,fof,mst,...] [runs=N] [device=cuda]
//
// Ranks are threads of one process, each of which works on one thread, so that the processor time of a rank is what it
// would take on a core of its own, without waits for the others and without a network. Each rank has a part of equal
// size along the z-order, as a domain decomposition gives it. A line of JSON for each call and number of ranks: of the
// run whose slowest rank was the fastest, each rank's seconds, bytes received, messages and bytes from its GPU; of the
// first run the memory of all ranks beyond the points, at its peak; and the type of the build. With device=cuda rank r works on GPU r; with as many
// GPUs as ranks `clock`, the time from the first start to the last end, is that of the GPUs. bench/ranks.py calls it.
#include "contestants/npy.hpp"
#include "settings.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>

namespace bench {
namespace {

constexpr int dimension = 3;
constexpr kith::IndexType wide = kith::IndexType::int64; // as over ranks
using Point = float[dimension];

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<float> points_of(const std::string& name) {
    constexpr std::string_view drawn = "uniform:";
    if (!name.starts_with(drawn)) {
        const PointsFile file = read_points(name);
        if (file.dimension != dimension || file.type != npy_type<float>()) {
            throw std::runtime_error(name + " holds no points of 3-D float32");
        }
        std::vector<float> points(static_cast<std::size_t>(file.count) * dimension);
        std::memcpy(points.data(), file.bytes.data(), points.size() * sizeof(float));
        return points;
    }
    std::vector<float> points(static_cast<std::size_t>(std::stoll(name.substr(drawn.size()))) * dimension);
    std::mt19937 random(1);
    for (float& x : points) {
        x = static_cast<float>(random() >> 8) * 0x1p-24F;
    }
    return points;
}

/// The points along the z-order.
std::vector<float> sorted(const std::vector<float>& points, const kith::Box& box) {
    const auto count = static_cast<std::int64_t>(points.size()) / dimension;
    const kith::ZOrder order = kith::z_order(kith::PointsView(points.data(), count, dimension), {.box = box});
    std::vector<float> result;
    result.reserve(points.size());
    for (const std::int32_t index : order.indices()) {
        result.insert(result.end(), points.begin() + index * dimension, points.begin() + (index + 1) * dimension);
    }
    return result;
}

std::int64_t kilobytes_of(std::string_view line) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == line) {
            std::int64_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes;
        }
    }
    throw std::runtime_error("/proc/self/status has no line " + std::string(line));
}

/// Lets the highest resident memory of this process begin anew, and returns what is resident.
std::int64_t forget_peak() {
    malloc_trim(0);
    std::ofstream peak("/proc/self/clear_refs");
    peak << 5 << std::flush;
    if (!peak) {
        throw std::runtime_error("/proc/self/clear_refs cannot be written to, so that peaks cannot be measured");
    }
    return kilobytes_of("VmRSS:") * 1024;
}

/// The points of a rank, and how far all points are from each other on average, in a periodic box.
struct Given {
    kith::PointsView mine;
    kith::Box box;
    double separation;

    /// Holds 16 points on average.
    [[nodiscard]] double radius() const { return separation * std::cbrt(16 * 3 / (4 * std::numbers::pi)); }
};

/// A call of one rank, whose result has been given back when it returns. One process alone exchanges nothing.
using Call = std::function<kith::Traffic(const Given&, const kith::Execution&)>;

template <class Result>
kith::Traffic traffic_of(const Result& result) {
    return result.distribution ? result.distribution->traffic : kith::Traffic{};
}

const std::map<std::string, Call>& calls() {
    static const std::map<std::string, Call> all{
        {"knn",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(
                 kith::knn(given.mine, 16, {.box = given.box, .index_type = wide, .execution = execution}));
         }},
        {"knn_visit",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(kith::knn_visit([](const kith::NeighborBlock&) {}, given.mine, 16,
                                               {.box = given.box, .execution = execution}));
         }},
        {"radius_search",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(kith::radius_search(given.mine, given.radius(),
                                                   {.box = given.box, .index_type = wide, .execution = execution}));
         }},
        {"radius_count",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(
                 kith::radius_count(given.mine, given.radius(), {.box = given.box, .execution = execution}));
         }},
        {"sums_by_k",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(
                 kith::sum_neighbors(given.mine, kith::Nearest{16}, {.box = given.box, .execution = execution}));
         }},
        {"sums_within",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(kith::sum_neighbors(given.mine, kith::Within{given.radius()},
                                                   {.box = given.box, .execution = execution}));
         }},
        {"pair_counts",
         [](const Given& given, const kith::Execution& execution) {
             const std::array edges{0.0, given.box.period(0) / 100, given.box.period(0) / 50};
             return traffic_of(kith::pair_counts(given.mine, edges, {.box = given.box, .execution = execution}));
         }},
        {"fof",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(
                 kith::fof(given.mine, kith::LinkingLength::relative(0.2), {.box = given.box, .execution = execution}));
         }},
        {"dbscan",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(
                 kith::dbscan(given.mine, 0.7 * given.separation, 5, {.box = given.box, .execution = execution}));
         }},
        {"mst",
         [](const Given& given, const kith::Execution& execution) {
             return traffic_of(kith::spanning_tree(given.mine, {.box = given.box, .execution = execution}));
         }},
    };
    return all;
}

struct RankWork {
    double seconds = 0; ///< of a processor
    kith::Traffic traffic;
};

struct Run {
    double clock = 0;
    std::int64_t resident = 0; ///< bytes of all ranks at the peak, beyond what was there before
    std::vector<RankWork> ranks;

    [[nodiscard]] double slowest() const {
        return std::max_element(ranks.begin(), ranks.end(),
                                [](const RankWork& a, const RankWork& b) { return a.seconds < b.seconds; })
            ->seconds;
    }
};

Run run_once(const Call& call, const std::vector<float>& points, const kith::Box& box, int ranks, bool on_gpus) {
    const auto count = static_cast<std::int64_t>(points.size()) / dimension;
    Run run{.ranks = std::vector<RankWork>(static_cast<std::size_t>(ranks))};
    const double separation = std::cbrt(std::pow(box.period(0), dimension) / static_cast<double>(count));
    const std::int64_t resident_before = forget_peak();
    const auto begin = std::chrono::steady_clock::now();
    kith::run_ranks(ranks, [&](kith::Communicator& communicator) {
        const int rank = communicator.rank();
        const std::int64_t first = count * rank / ranks;
        const kith::PointsView mine(points.data() + first * dimension, count * (rank + 1) / ranks - first, dimension);
        kith::Execution alone = on_gpus ? kith::cuda(rank) : kith::cpu(1);
        const double start = processor_seconds();
        RankWork& work = run.ranks[static_cast<std::size_t>(rank)];
        work.traffic = call({mine, box, separation}, ranks == 1 ? alone : kith::over(communicator, alone));
        work.seconds = processor_seconds() - start;
    });
    run.clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.resident = kilobytes_of("VmHWM:") * 1024 - resident_before;
    return run;
}

void print(const std::string& call, std::int64_t count, const Run& run) {
    std::cout << R"({"call": ")" << call << R"(", "points": )" << count << R"(, "ranks": )" << run.ranks.size()
              << R"(, "clock": )" << run.clock << R"(, "resident": )" << run.resident;
    const auto list = [&](const char* name, const auto& value) {
        std::cout << ", \"" << name << "\": [";
        for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
            std::cout << (rank > 0 ? ", " : "") << value(run.ranks[rank]);
        }
        std::cout << ']';
    };
    list("seconds", [](const RankWork& work) { return work.seconds; });
    list("received", [](const RankWork& work) { return work.traffic.bytes_received; });
    list("messages", [](const RankWork& work) { return work.traffic.messages_sent; });
    list("from_device", [](const RankWork& work) { return work.traffic.bytes_from_device; });
    std::cout << R"(, "build": ")" << BENCH_BUILD << R"("})" << std::endl;
}

void measure(Settings settings) {
    for (const auto& [name, otherwise] : Settings{{"points", "uniform:100000"},
                                                  {"period", "0"},
                                                  {"ranks", "1,2,4,8"},
                                                  {"calls", "knn,fof,mst"},
                                                  {"runs", "3"},
                                                  {"device", "cpu"}}) {
        settings.emplace(name, otherwise);
    }
    const double period = std::stod(settings["period"]);
    const kith::Box box = period > 0 ? kith::Box::periodic(period) : kith::Box{};
    const std::vector<float> points = sorted(points_of(settings["points"]), box);
    for (const std::string& name : words(settings["calls"])) {
        const auto call = calls().find(name);
        if (call == calls().end()) {
            throw std::runtime_error("there is no call '" + name + "'");
        }
        for (const std::string& ranks : words(settings["ranks"])) {
            Run best;
            std::int64_t resident = 0;
            for (int run = 0; run <= std::stoi(settings["runs"]); ++run) { // the first one warms up
                Run next = run_once(call->second, points, box, std::stoi(ranks), settings["device"] == "cuda");
                resident = run == 0 ? next.resident : resident;
                if (run == 0 || run == 1 || next.slowest() < best.slowest()) {
                    best = std::move(next);
                }
            }
            best.resident = resident;
            print(name, static_cast<std::int64_t>(points.size()) / dimension, best);
        }
    }
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    try {
        bench::measure(bench::settings_of(argc, argv));
        return 0;
    } catch (const std::exception& failure) {
        std::cerr << "bench_ranks: " << failure.what() << '\n';
        return 1;
    }
}
