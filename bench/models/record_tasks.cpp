// Records what the library does in parallel, piece by piece, on one thread: record_tasks POINTS.npy CALL THREADS
//
// CALL is knn (k = 16), fof (b = 0.2, with the catalog of its groups) or radius (rows within the same length). Tasks
// are those that so many threads would get. Printed is what began or ended and when, in nanoseconds since the call
// began: the call and its end, its stages with begin and end, then loops, pieces and their ends in order. scaling.py
// reads it.
#include "../contestants/npy.hpp"
#include "support/parallel.hpp"

#include <kith/kith.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kith::detail::recorded_events;
using kith::detail::RecordedEvent;
using Clock = std::chrono::steady_clock;

/// Runs call(execution), whose result has `stages`, twice, and prints the record of the second run: as in the
/// benchmarks, the caller's memory has been written before. Returns the result.
template <class Call>
auto record(const char* name, int threads, const Call& call) {
    (void)call(kith::cpu(threads));
    recorded_events().clear();
    std::vector<Clock::time_point> stage_begins;
    const kith::Execution execution = kith::cpu(threads, [&](std::string_view, double fraction) {
        if (fraction == 0) { // a stage begins
            stage_begins.push_back(Clock::now());
        }
        return true;
    });
    const Clock::time_point begin = Clock::now();
    auto result = call(execution);
    const Clock::time_point end = Clock::now();

    const auto since_begin = [&](Clock::time_point time) {
        return static_cast<long long>(std::chrono::nanoseconds(time - begin).count());
    };
    std::printf("call %lld %s\n", since_begin(end), name);
    for (std::size_t i = 0; i < result.stages.size(); ++i) {
        const long long stage_begin = since_begin(stage_begins[i]);
        std::printf("stage %lld %lld %s\n", stage_begin,
                    stage_begin + static_cast<long long>(1e9 * result.stages[i].seconds),
                    result.stages[i].name.c_str());
    }
    for (const RecordedEvent& event : recorded_events()) {
        const long long time = since_begin(event.time);
        switch (event.kind) {
        case RecordedEvent::Kind::loop:
            std::printf("loop %lld %s:%u\n", time, event.file, static_cast<unsigned>(event.line));
            break;
        case RecordedEvent::Kind::piece:
            std::printf("piece %lld\n", time);
            break;
        case RecordedEvent::Kind::end:
            std::printf("end %lld\n", time);
            break;
        }
    }
    return result;
}

void run(const bench::PointsFile& file, const std::string& call, int threads) {
    const kith::PointsView points(file.rows<float>(), kith::DType::float32, file.count, file.dimension, file.dimension,
                                  1);
    constexpr double b = 0.2;
    if (call == "knn") {
        constexpr std::int64_t k = 16;
        kith::KnnResult rows(file.count, k, kith::IndexType::int32, kith::DType::float32);
        record("knn", threads, [&](const kith::Execution& execution) {
            return kith::knn_into(rows.rows_view(), points, k, {.execution = execution});
        });
    } else if (call == "radius") {
        const double radius = b / std::cbrt(static_cast<double>(file.count));
        record("radius", threads, [&](const kith::Execution& execution) {
            return kith::radius_search(points, radius, {.execution = execution});
        });
    } else if (call == "fof") {
        const kith::Box box = kith::Box::periodic(1.0);
        std::vector<std::int32_t> labels(static_cast<std::size_t>(file.count));
        const kith::FofSummary groups = record("fof", threads, [&](const kith::Execution& execution) {
            return kith::fof_into(labels, points, kith::LinkingLength::relative(b),
                                  {.box = box, .execution = execution});
        });
        record("catalog", threads, [&](const kith::Execution& execution) {
            kith::Particles particles;
            particles.positions = points;
            return kith::catalog(labels, groups, particles, {.execution = execution});
        });
    } else {
        throw std::invalid_argument("there is no call '" + call + "'; there are knn, fof and radius");
    }
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 4) {
        std::fprintf(stderr, "usage: record_tasks POINTS.npy knn|fof|radius THREADS\n");
        return 2;
    }
    kith::detail::recorded_events().reserve(std::size_t{1} << 22);
    const bench::PointsFile points = bench::read_points(argv[1]);
    if (points.type != "<f4") {
        throw std::invalid_argument(std::string(argv[1]) + " holds " + points.type + "; give float32 points");
    }
    run(points, argv[2], std::atoi(argv[3]));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "record_tasks: %s\n", error.what());
    return 1;
}
