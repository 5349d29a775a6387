#include "cli/bench_engines.hpp"

#include "cli/interrupt.hpp"
#include "cli/report.hpp"

#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

/// Brute force takes far too long above this size, and is never the fastest.
constexpr std::int64_t max_pairs = std::int64_t{1} << 30;

/// What a search is about.
struct SearchInput {
    PointsView points;
    std::optional<PointsView> queries; ///< none: the points themselves
    std::int64_t k;
    double radius; ///< in which about half of the queries have k neighbors or more

    [[nodiscard]] std::int64_t rows() const { return queries ? queries->count() : points.count(); }
    /// Calls function(points, [queries,] ...).
    template <class Function, class... Others>
    auto call(const Function& function, const Others&... others) const {
        return queries ? function(points, *queries, others...) : function(points, others...);
    }
};

KnnResult nearest(const SearchInput& input, Engine engine, const Execution& execution) {
    const KnnOptions options{.engine = engine, .execution = execution};
    return input.call([&](const auto&... what) { return knn(what..., options); }, input.k);
}

RadiusResult within(const SearchInput& input, Engine engine, const Execution& execution) {
    const RadiusOptions options{.engine = engine, .execution = execution};
    return input.call([&](const auto&... what) { return radius_search(what..., options); }, Radii(input.radius));
}

std::vector<std::int64_t> counts_within(const SearchInput& input, Engine engine, const Execution& execution) {
    const RadiusOptions options{.engine = engine, .execution = execution};
    return input.call([&](const auto&... what) { return radius_count(what..., options).counts; }, Radii(input.radius));
}

template <class Result>
bool are_equal_rows(const Result& one, const Result& other) {
    return std::ranges::equal(one.indices(), other.indices()) &&
           (one.dtype() == DType::float32
                ? std::ranges::equal(one.template distances<float>(), other.template distances<float>())
                : std::ranges::equal(one.template distances<double>(), other.template distances<double>()));
}
bool are_equal(const KnnResult& one, const KnnResult& other) {
    return are_equal_rows(one, other);
}
bool are_equal(const RadiusResult& one, const RadiusResult& other) {
    return std::ranges::equal(one.offsets(), other.offsets()) && are_equal_rows(one, other);
}
bool are_equal(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
    return one == other;
}

/// The median of the distances to the k-th neighbor; 0 if most queries have fewer.
double median_radius(const KnnResult& found, std::int64_t k) {
    std::vector<double> farthest;
    for (std::int64_t i = 0; i < found.rows(); ++i) {
        const double distance = found.row(i)[k - 1].distance;
        farthest.push_back(std::isfinite(distance) ? distance : 0);
    }
    return median(farthest);
}

/// The engines that answer, in turn; a first run of each does not count. `expected` is the answer of the one that
/// automatic chooses, which the row names.
template <class Run, class Answer>
EngineRow measure(EngineRow row, const SearchInput& input, const Run& run, const Answer& expected,
                  const EngineGrid& grid) {
    std::vector<Engine> engines;
    for (const std::string_view name : engine_names) {
        const Engine engine = *engine_named(name);
        if (engine == Engine::automatic || (engine == Engine::brute_force && engine != row.automatic &&
                                            input.points.count() * input.rows() > max_pairs)) {
            continue;
        }
        try {
            if (!are_equal(run(input, engine, grid.execution), expected)) {
                throw std::logic_error(
                    fmt::format("the engines {} and {} differ in {}", name, name_of(row.automatic), row.call));
            }
            engines.push_back(engine);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) {
                throw;
            }
        }
    }
    std::map<Engine, std::vector<double>> seconds;
    for (std::int64_t repetition = 0; repetition < grid.repetitions; ++repetition) {
        for (const Engine engine : engines) {
            const auto start = std::chrono::steady_clock::now();
            (void)run(input, engine, grid.execution);
            seconds[engine].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            stop_if_interrupted();
        }
    }
    for (const auto& [engine, runs] : seconds) {
        row.seconds.emplace_back(engine, median(runs));
    }
    std::sort(row.seconds.begin(), row.seconds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return row;
}

/// One search by every call; within a radius, on the CPU only.
void measure_calls(std::vector<EngineRow>& rows, EngineRow row, SearchInput input, const EngineGrid& grid) {
    const KnnResult neighbors = nearest(input, Engine::automatic, grid.execution);
    row.call = "knn";
    row.automatic = neighbors.engine;
    rows.push_back(measure(row, input, nearest, neighbors, grid));
    if (grid.execution.device.kind != DeviceKind::cpu) {
        return;
    }
    input.radius = median_radius(neighbors, row.k);
    const RadiusResult within_radius = within(input, Engine::automatic, grid.execution);
    row.automatic = within_radius.engine;
    row.call = "radius_search";
    rows.push_back(measure(row, input, within, within_radius, grid));
    row.call = "radius_count";
    rows.push_back(measure(row, input, counts_within, counts_within(input, Engine::automatic, grid.execution), grid));
}

/// None: the points themselves. Others up to as many as there are points.
std::vector<std::int64_t> query_counts(std::int64_t points) {
    std::vector<std::int64_t> counts{0};
    for (std::int64_t count = 1; count <= points; count *= 100) {
        counts.push_back(count);
    }
    return counts;
}

} // namespace

double EngineRow::seconds_of(Engine engine) const {
    const auto found =
        std::find_if(seconds.begin(), seconds.end(), [&](const auto& entry) { return entry.first == engine; });
    return found != seconds.end() ? found->second : std::numeric_limits<double>::quiet_NaN();
}

EngineGrid engine_grid(std::int64_t most) {
    EngineGrid grid;
    for (std::int64_t count = 100; count < most; count *= 10) {
        grid.points.push_back(count);
    }
    grid.points.push_back(most);
    grid.sets = {SampleSet::uniform, SampleSet::clustered};
    grid.k = {1, 8, 64};
    for (const int dimension : {2, 3, 6}) {
        const std::vector<double> point(dimension);
        try {
            (void)knn(PointsView(point, dimension), 1);
            grid.dimensions.push_back(dimension);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) { // which says that this build has no such points
                throw;
            }
        }
    }
    return grid;
}

std::vector<EngineRow> measure_engines(const EngineGrid& grid) {
    std::vector<EngineRow> rows;
    for (const int dimension : grid.dimensions) {
        for (const SampleSet set : grid.sets) {
            for (const std::int64_t count : grid.points) {
                const io::RealArray drawn = sample_points(set, 2 * count, dimension, grid.dtype);
                for (const std::int64_t queries : query_counts(count)) {
                    for (const std::int64_t k : grid.k) {
                        measure_calls(rows, {count, dimension, set, queries, k},
                                      {drawn.view().subview(0, count),
                                       queries > 0 ? std::optional(drawn.view().subview(count, queries)) : std::nullopt,
                                       k, 0},
                                      grid);
                    }
                }
            }
        }
    }
    return rows;
}

Json json_of(const std::vector<EngineRow>& rows) {
    Json list = Json::array();
    for (const EngineRow& row : rows) {
        Json seconds = Json::object();
        for (const auto& [engine, median_seconds] : row.seconds) {
            seconds[name_of(engine)] = median_seconds;
        }
        list.push_back({{"n", row.points},
                        {"dimension", row.dimension},
                        {"set", name_of(row.set)},
                        {"queries", row.queries > 0 ? Json(row.queries) : Json()},
                        {"k", row.k},
                        {"call", std::string(row.call)},
                        {"seconds", seconds},
                        {"fastest", name_of(row.seconds.front().first)},
                        {"automatic", name_of(row.automatic)}});
    }
    return list;
}

void print_engines(const std::vector<EngineRow>& rows) {
    std::string header =
        fmt::format("{:>2} {:>10} {:>10} {:>8} {:>4} {:>13}", "d", "set", "points", "queries", "k", "call");
    for (std::size_t i = 1; i < engine_names.size(); ++i) {
        header += fmt::format(" {:>10}", engine_names[i]);
    }
    fmt::print("{}  {:<8} {:<8} {}\n", header, "fastest", "auto", "auto / fastest");
    double worst = 1;
    for (const EngineRow& row : rows) {
        std::string line =
            fmt::format("{:>2} {:>10} {:>10} {:>8} {:>4} {:>13}", row.dimension, name_of(row.set), row.points,
                        row.queries > 0 ? fmt::format("{}", row.queries) : std::string("self"), row.k, row.call);
        for (std::size_t i = 1; i < engine_names.size(); ++i) {
            const double seconds = row.seconds_of(static_cast<Engine>(i));
            line += fmt::format(" {:>10}", std::isnan(seconds) ? std::string("-") : format_seconds(seconds));
        }
        fmt::print("{}  {:<8} {:<8} {:.2f}\n", line, name_of(row.seconds.front().first), name_of(row.automatic),
                   row.loss());
        worst = std::max(worst, row.loss());
    }
    fmt::print("automatic takes at most {:.2f} times as long as the fastest engine\n", worst);
}

} // namespace kith::cli
