// A row of the benchmark: a name to choose it by, and what it does.
#pragma once

#include "measure.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What a row has to say: a line of the table, and its place in the report.
struct Outcome {
    JsonObject row;
    std::string line;
    bool good = false; ///< the answer is right; a goal that is missed is no error
};

struct Row {
    std::string name;
    bool main = false; ///< one of those that the project is judged by; they come first
    std::function<Outcome(Bench&, const std::string& name)> run;
};

/// Times in the table's words: median, least, most, stages, memory, goal, floor.
[[nodiscard]] Outcome outcome(const Bench& bench, const std::string& name, const Described& what, const Goal& goal,
                              const Measurement& measured, const Work& work, const JsonObject& more = {});

/// All rows, the main ones first.
[[nodiscard]] std::vector<Row> all_rows();
/// The rows for points of the caller's: float32, three coordinates a point, in a periodic cube.
[[nodiscard]] std::vector<Row> rows_of_file(const std::string& path, double period);

} // namespace bench
