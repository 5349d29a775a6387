#include "measure.hpp"

#include <kith/version.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace bench {

namespace {

// Clocks fall while a row's points are made and checked; they are up again when runs stop to get faster.
constexpr double warm_up_seconds = 0.1;
constexpr double steady = 0.03; // of a run, between it and the one before
constexpr double warm_up_patience = 1;

constexpr int fewest = 3;
constexpr double patience = 4;          // seconds of timed runs, beyond which the fewest do
constexpr double short_seconds = 0.002; // of a run; such runs are repeated more often
constexpr int more_often = 5;

double middle_of(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Seconds of each stage in each run; a stage that a run has several times counts as one.
class StageTimes {
public:
    void add(const kith::StageReports& reports) {
        std::map<std::string, double> sums;
        for (const kith::StageReport& report : reports) {
            if (std::find(names_.begin(), names_.end(), report.name) == names_.end()) {
                names_.push_back(report.name);
            }
            sums[report.name] += report.seconds;
        }
        for (const auto& [name, seconds] : sums) {
            times_[name].push_back(seconds);
        }
    }
    [[nodiscard]] std::vector<std::pair<std::string, double>> medians() const {
        std::vector<std::pair<std::string, double>> medians;
        for (const std::string& name : names_) {
            medians.emplace_back(name, middle_of(times_.at(name)));
        }
        return medians;
    }

private:
    std::vector<std::string> names_;
    std::map<std::string, std::vector<double>> times_;
};

bool fits(const Goal& goal, const Measurement& measured, std::int64_t points) {
    const double scratch = static_cast<double>(measured.peak_bytes) / static_cast<double>(points);
    return (goal.seconds == 0 || measured.median() <= goal.seconds) &&
           (goal.scratch_bytes_per_point == 0 || scratch <= goal.scratch_bytes_per_point);
}

} // namespace

double Measurement::median() const {
    return middle_of(seconds);
}

Measurement measure(Bench& bench, const Task& task) {
    Measurement measured;
    StageTimes stages;
    kith::Execution where = kith::cuda(0, bench.stream.handle());
    where.memory_budget = task.memory_budget;
    std::uint64_t first = 0;
    int runs = 0;
    kith::StageReports reports;
    const auto timed_run = [&] {
        task.spoil();
        const double seconds = bench.stream.seconds_of([&] { reports = task.run(where); });
        const std::uint64_t sum = task.checksum();
        if (runs == 0) {
            first = sum;
        } else if (sum != first) {
            measured.flaw = "run " + std::to_string(runs) + " gave other bits than the first";
        }
        ++runs;
        return seconds;
    };
    double before = timed_run();
    double last = timed_run();
    double spent = before + last;
    while (spent < warm_up_patience && (spent < warm_up_seconds || std::abs(last - before) > steady * before)) {
        before = last;
        last = timed_run();
        spent += last;
    }
    const int repetitions = bench.repetitions * (last < short_seconds && bench.repetitions > 1 ? more_often : 1);
    spent = 0;
    while (std::ssize(measured.seconds) < repetitions && (spent <= patience || std::ssize(measured.seconds) < fewest)) {
        measured.seconds.push_back(timed_run());
        spent += measured.seconds.back();
        stages.add(reports);
        for (const kith::StageReport& report : reports) {
            measured.pieces = std::max(measured.pieces, report.pieces);
        }
    }
    measured.stages = stages.medians();

    MeteredMemory meter;
    where.memory = &meter;
    task.spoil();
    (void)task.run(where);
    if (task.checksum() != first) {
        measured.flaw = "the run with the caller's memory gave other bits";
    }
    bench.stream.wait();
    measured.peak_bytes = meter.peak();
    if (task.memory_budget != 0 && meter.peak() > task.memory_budget) {
        measured.flaw =
            "took " + std::to_string(meter.peak()) + " bytes of a budget of " + std::to_string(task.memory_budget);
    }
    return measured;
}

JsonObject record(const Bench& bench, const std::string& name, const Described& what, const Goal& goal,
                  const Measurement& measured, const Work& work, const JsonObject& more) {
    const double median = measured.median();
    const auto points = static_cast<double>(what.count);
    JsonObject stages;
    for (const auto& [stage, seconds] : measured.stages) {
        stages.add(stage, seconds);
    }
    JsonObject floor;
    for (const StageWork& stage : work) {
        floor.add(stage.name, JsonObject()
                                  .add("bytes", stage.bytes)
                                  .add("instructions", stage.instructions)
                                  .add("seconds", stage.seconds(bench.ceilings)));
    }
    const double least = floor_seconds(work, bench.ceilings);
    const auto [shortest, longest] = std::minmax_element(measured.seconds.begin(), measured.seconds.end());
    JsonObject result;
    result.add("version", KITH_VERSION)
        .add("runs", measured.seconds)
        .add("median", median)
        .add("min", *shortest)
        .add("max", *longest)
        .add("times_kith", 1.0)
        .add("stages", stages)
        .add("pieces", measured.pieces)
        .add("peak_bytes", measured.peak_bytes)
        .add("bytes_per_point", static_cast<double>(measured.peak_bytes) / points);
    JsonObject wrong;
    if (measured.flaw) {
        wrong.add("kith", *measured.flaw);
    }
    JsonObject row;
    row.add("name", name)
        .add("device", "cuda")
        .add("points", what.points)
        .add("n", what.count)
        .add("d", what.dimension)
        .add("dtype", what.dtype)
        .add("k", what.k)
        .add("queries", what.queries)
        .add("keep_tree", what.keep_tree)
        .add("b", what.b)
        .add("linking_length", what.linking_length)
        .add("period", what.period)
        .add("variant", what.variant)
        .add("threads", 0)
        .add("results", JsonObject().add("kith", result))
        .add("left_out", JsonObject())
        .add("wrong", wrong)
        .add("goal_seconds", goal.seconds)
        .add("goal_bytes_per_point", goal.scratch_bytes_per_point)
        .add("goal_met", !measured.flaw && fits(goal, measured, what.count))
        .add("floor", floor)
        .add("floor_seconds", least)
        .add("times_floor", least > 0 ? median / least : 0.0)
        .add("ceilings", JsonObject()
                             .add("bytes_per_second", bench.ceilings.bytes_per_second)
                             .add("instructions_per_second", bench.ceilings.instructions_per_second))
        .add("more", more);
    return row;
}

JsonObject failure(const std::string& name, const std::string& reason) {
    // The members that bench/plot.py chooses by; it passes by rows without a result.
    JsonObject row;
    row.add("name", name).add("device", "cuda").add("points", "").add("n", 0).add("d", 0).add("dtype", "").add("k", 0);
    row.add("queries", 0).add("keep_tree", false).add("b", 0.0).add("period", 0.0).add("threads", 0);
    return row.add("results", JsonObject())
        .add("wrong", JsonObject())
        .add("left_out", JsonObject().add("kith", reason));
}

std::string verdict(const Goal& goal, const Measurement& measured, std::int64_t points) {
    if (measured.flaw) {
        return "WRONG";
    }
    return fits(goal, measured, points) ? "ok" : "MISSED";
}

} // namespace bench
