// How a row is timed, and what is written of it.
//
// Runs warm up, two at least, until 0.1 s have passed and the last two agree; then ten count, or fifty of less than 2 ms,
// each between two events on the stream; the result is overwritten before each, and each must leave the same bits. A row
// that takes long has fewer, but three at least. One more run, not timed, takes its memory from a resource that counts;
// then the answer is checked.
#pragma once

#include "ceilings.hpp"
#include "checks.hpp"
#include "device.hpp"
#include "floors.hpp"
#include "json.hpp"

#include <kith/execution.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What all rows share.
struct Bench {
    Stream stream;
    Ceilings ceilings;
    int repetitions = 10;
};

struct Task {
    std::function<void()> spoil;                                   ///< overwrites the result
    std::function<kith::StageReports(const kith::Execution&)> run; ///< what is timed
    std::function<std::uint64_t()> checksum;                       ///< of the result
    std::int64_t memory_budget = 0;                                ///< for the library; 0 is none
};

struct Measurement {
    std::vector<double> seconds;
    std::vector<std::pair<std::string, double>> stages; ///< medians
    std::int64_t peak_bytes = 0;                        ///< of working memory, a kept tree's included
    std::int64_t pieces = 1;                            ///< that a stage cut the points into, at most
    Flaw flaw;

    [[nodiscard]] double median() const;
};

[[nodiscard]] Measurement measure(Bench& bench, const Task& task);

/// What is asked of a row; 0 is nothing.
struct Goal {
    double seconds = 0;
    double scratch_bytes_per_point = 0;
};

/// What the row worked on, in the words of bench/compare.py.
struct Described {
    std::string points;
    std::int64_t count = 0;
    int dimension = 3;
    std::string dtype = "float32";
    std::int64_t k = 0;
    std::int64_t queries = 0;
    bool keep_tree = false;
    double b = 0;
    double linking_length = 0;
    double period = 0;
    std::string variant = {}; ///< what is special about it; rows without are those that figures show
};

/// The row of the report. `more` is what only this kind of row knows.
[[nodiscard]] JsonObject record(const Bench& bench, const std::string& name, const Described& what, const Goal& goal,
                                const Measurement& measured, const Work& work, const JsonObject& more);
/// The row of something that could not be measured.
[[nodiscard]] JsonObject failure(const std::string& name, const std::string& reason);

/// Whether it is right and meets its goals, for the table: "ok", "MISSED", "WRONG".
[[nodiscard]] std::string verdict(const Goal& goal, const Measurement& measured, std::int64_t points);

} // namespace bench
