// The work of every rank of a call over ranks: its processor time and what it exchanges.
//
//   bench_ranks points=FILE.npy|uniform:N [period=L] [ranks=1,2,4,8] [calls=knn,fof,mst] [runs=N] [device=cuda]
//
// Ranks are threads of one process, each of which works on one thread, so that the processor time of a rank is what it
// would take on a core of its own, without waits for the others and without a network. Each rank has a part of equal
// size along the z-order, as a domain decomposition gives it. A line of JSON for each call and number of ranks: of the
// run whose slowest rank was the fastest, each rank's seconds, bytes received, messages and bytes from its GPU. With
// device=cuda rank r works on GPU r; with as many GPUs as ranks `clock`, the time from the first start to the last end,
// is that of the GPUs. bench/ranks.py calls it.
#include "contestants/npy.hpp"
#include "settings.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr int dimension = 3;
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

/// A call of one rank, whose result has been given back when it returns. One process alone exchanges nothing.
using Call = std::function<kith::Traffic(const kith::PointsView&, const kith::Box&, const kith::Execution&)>;

template <class Result>
kith::Traffic traffic_of(const Result& result) {
    return result.distribution ? result.distribution->traffic : kith::Traffic{};
}

const std::map<std::string, Call>& calls() {
    static const std::map<std::string, Call> all{
        {"knn",
         [](const auto& points, const auto& box, const auto& execution) {
             return traffic_of(kith::knn(points, 16, {.box = box, .execution = execution}));
         }},
        {"fof",
         [](const auto& points, const auto& box, const auto& execution) {
             return traffic_of(
                 kith::fof(points, kith::LinkingLength::relative(0.2), {.box = box, .execution = execution}));
         }},
        {"mst",
         [](const auto& points, const auto& box, const auto& execution) {
             return traffic_of(kith::spanning_tree(points, {.box = box, .execution = execution}));
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
    std::vector<RankWork> ranks;

    [[nodiscard]] double slowest() const {
        return std::max_element(ranks.begin(), ranks.end(),
                                [](const RankWork& a, const RankWork& b) { return a.seconds < b.seconds; })
            ->seconds;
    }
};

Run run_once(const Call& call, const std::vector<float>& points, const kith::Box& box, int ranks, bool on_gpus) {
    const auto count = static_cast<std::int64_t>(points.size()) / dimension;
    Run run{0, std::vector<RankWork>(static_cast<std::size_t>(ranks))};
    const auto begin = std::chrono::steady_clock::now();
    kith::run_ranks(ranks, [&](kith::Communicator& communicator) {
        const int rank = communicator.rank();
        const std::int64_t first = count * rank / ranks;
        const kith::PointsView mine(points.data() + first * dimension, count * (rank + 1) / ranks - first, dimension);
        kith::Execution alone = on_gpus ? kith::cuda(rank) : kith::cpu(1);
        const double start = processor_seconds();
        RankWork& work = run.ranks[static_cast<std::size_t>(rank)];
        work.traffic = call(mine, box, ranks == 1 ? alone : kith::over(communicator, alone));
        work.seconds = processor_seconds() - start;
    });
    run.clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return run;
}

void print(const std::string& call, std::int64_t count, const Run& run) {
    std::cout << R"({"call": ")" << call << R"(", "points": )" << count << R"(, "ranks": )" << run.ranks.size()
              << R"(, "clock": )" << run.clock;
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
    std::cout << "}" << std::endl;
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
            throw std::runtime_error("call '" + name + "' is not knn, fof or mst");
        }
        for (const std::string& ranks : words(settings["ranks"])) {
            Run best;
            for (int run = 0; run <= std::stoi(settings["runs"]); ++run) { // the first one warms up
                Run next = run_once(call->second, points, box, std::stoi(ranks), settings["device"] == "cuda");
                if (run == 0 || run == 1 || next.slowest() < best.slowest()) {
                    best = std::move(next);
                }
            }
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
