// kith bench --engines: which engine is fastest, over the sizes of a search.
#pragma once

#include "cli/report.hpp"
#include "cli/sample_points.hpp"

#include <kith/execution.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

/// What is measured: every combination.
struct EngineGrid {
    std::vector<std::int64_t> points;
    std::vector<int> dimensions;
    std::vector<SampleSet> sets;
    std::vector<std::int64_t> k;
    DType dtype = DType::float32;
    std::int64_t repetitions = 3;
    Execution execution = {};
};

/// One call by all engines that answer it.
struct EngineRow {
    std::int64_t points = 0;
    int dimension = 0;
    SampleSet set = SampleSet::uniform;
    std::int64_t queries = 0; ///< 0: the points themselves
    std::int64_t k = 0;       ///< of a search within a radius: about half of the queries have so many neighbors or more
    std::string_view call = "knn";                       ///< or radius_search or radius_count
    std::vector<std::pair<Engine, double>> seconds = {}; ///< medians, the fastest first
    Engine automatic = Engine::tree;                     ///< what it chooses

    [[nodiscard]] double seconds_of(Engine engine) const; ///< NaN if it was not measured
    /// How many times as long as the fastest the chosen one takes; NaN if it was not measured.
    [[nodiscard]] double loss() const { return seconds_of(automatic) / seconds.front().second; }
};

/// The sizes up to `most` points; all dimensions of 2, 3 and 6 that are built.
[[nodiscard]] EngineGrid engine_grid(std::int64_t most);

/// From unsorted points without a tree to rows in input order. Answers are compared: those that differ throw.
[[nodiscard]] std::vector<EngineRow> measure_engines(const EngineGrid& grid);

/// A row for each call.
[[nodiscard]] Json json_of(const std::vector<EngineRow>& rows);
void print_engines(const std::vector<EngineRow>& rows);

} // namespace kith::cli
