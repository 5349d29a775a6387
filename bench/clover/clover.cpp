// Searches by CLOVER's forms and by kith's other engines, timed and compared bit for bit, and the work of the flat
// form.
//
//   bench_clover points=FILE.npy k=N methods=tree,clover,flat:1024,... [queries=N] [threads=N] [runs=N] [rows=FILE]
//   bench_clover points=FILE.npy k=N,N,... work=H [skip=1] [spread=1] [every=N]
//
// The first form prints a row for each method: an engine's name, or flat:H, the published form with H hubs,
// flat-plain:H without skipping cells by their boxes, spread:H with hubs chosen by k-means++. Methods run in turn, so
// that a machine that slows down slows all; a first round warms up, and is all that a method gets that takes more than
// long=1 seconds. Time runs from unsorted float32 points to rows in input order; queries are the first so many of the
// points. The rows of all methods must be those of the first. points=uniform:N draws points in the unit cube. With
// work=H nothing is timed: what every N-th query of the flat form looks at is counted (work.hpp). Answers are JSON on
// one line. bench/papers/clover.py calls it.
#include "clover/work.hpp"
#include "contestants/npy.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/sinks.hpp"
#include "points/frame.hpp"
#include "settings.hpp"
#include "support/dimension.hpp"

#include <kith/knn.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using kith::detail::Context;

std::int64_t number(const Settings& settings, const std::string& name, std::int64_t otherwise) {
    const auto found = settings.find(name);
    return found == settings.end() ? otherwise : std::stoll(found->second);
}

/// A file's points, or with uniform:N so many in the unit cube.
PointsFile points_of(const std::string& name) {
    constexpr std::string_view drawn = "uniform:";
    if (!name.starts_with(drawn)) {
        return read_points(name);
    }
    PointsFile points{npy_type<float>(), std::stoll(name.substr(drawn.size())), 3, {}};
    points.bytes.resize(static_cast<std::size_t>(points.count) * 3 * sizeof(float));
    std::mt19937 random(1);
    for (std::size_t at = 0; at < points.bytes.size(); at += sizeof(float)) {
        const float x = static_cast<float>(random() >> 8) * 0x1p-24F;
        std::memcpy(points.bytes.data() + at, &x, sizeof x);
    }
    return points;
}

template <class Values>
std::string json_list(const Values& values) {
    std::ostringstream json;
    json.precision(6);
    const char* separator = "[";
    for (const auto& value : values) {
        json << separator << value;
        separator = ", ";
    }
    return values.empty() ? "[]" : json.str() + "]";
}

struct Rows {
    std::vector<std::int32_t> indices;
    std::vector<float> distances;

    [[nodiscard]] kith::NeighborRows view() { return {std::span(indices), std::span(distances)}; }
};

struct Run {
    double seconds = 0;
    std::vector<std::pair<std::string, double>> stages;
    std::optional<kith::detail::ScanCounts> counts;
};

struct Search {
    kith::PointsView points;
    std::optional<kith::PointsView> queries;
    std::int64_t k;
    kith::Execution execution;

    [[nodiscard]] Run run(const std::string& method, Rows& rows) const {
        const auto start = std::chrono::steady_clock::now();
        Run run = method.find(':') == std::string::npos ? by_engine(method, rows) : by_flat_form(method, rows);
        run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return run;
    }

private:
    [[nodiscard]] Run by_engine(const std::string& name, Rows& rows) const {
        const auto found = std::find(kith::engine_names.begin(), kith::engine_names.end(), name);
        if (found == kith::engine_names.end()) {
            throw std::runtime_error("there is no method '" + name + "'");
        }
        kith::KnnOptions options;
        options.engine = static_cast<kith::Engine>(found - kith::engine_names.begin());
        options.execution = execution;
        const kith::SearchSummary summary = queries ? kith::knn_into(rows.view(), points, *queries, k, options)
                                                    : kith::knn_into(rows.view(), points, k, options);
        Run run;
        for (const kith::StageReport& stage : summary.stages) {
            run.stages.emplace_back(stage.name, stage.seconds);
        }
        return run;
    }

    [[nodiscard]] Run by_flat_form(const std::string& method, Rows& rows) const {
        kith::detail::FlatShape shape;
        shape.hubs = std::stoll(method.substr(method.find(':') + 1));
        shape.selection =
            method.starts_with("spread") ? kith::HubSelection::kmeans_plus_plus : kith::HubSelection::random;
        shape.skips_by_box = !method.starts_with("flat-plain");
        Context context(execution);
        kith::detail::FlatCells<float> cells;
        std::optional<kith::detail::NormalizedPoints<float>> sources;
        Run run;
        context.stage("cells", [&] {
            sources = kith::detail::normalize_sources<float>(points, {});
            cells = kith::detail::make_flat_cells<float>(context, {nullptr, &*sources}, shape);
        });
        context.stage("edges", [&] { kith::detail::connect_flat_cells(context, cells); });
        std::optional<kith::detail::FlatCells<float>> parted;
        if (queries) {
            context.stage("queries", [&] {
                const auto given = kith::detail::normalize_queries<float>(*queries, sources->frame);
                parted = kith::detail::part_queries<float>(context, {nullptr, &given}, cells);
            });
        }
        context.stage("search", [&] {
            kith::detail::StoredRows<float> sink(rows.view());
            run.counts = kith::detail::search_flat_cells(context, parted ? *parted : cells, cells, shape.skips_by_box,
                                                         kith::detail::make_request(sources->frame, k, {}), sink);
        });
        for (const kith::StageReport& stage : context.take_stages()) {
            run.stages.emplace_back(stage.name, stage.seconds);
        }
        return run;
    }
};

std::string json_of(const std::string& method, const std::vector<Run>& runs) {
    std::vector<double> seconds;
    std::map<std::string, std::vector<double>> stages;
    for (const Run& run : runs) {
        seconds.push_back(run.seconds);
        for (const auto& [stage, took] : run.stages) {
            stages[stage].push_back(took);
        }
    }
    std::ostringstream json;
    json.precision(6);
    json << "{\"method\": \"" << method << "\", \"seconds\": " << json_list(seconds) << ", \"stages\": {";
    const char* separator = "";
    for (auto& [stage, took] : stages) {
        std::sort(took.begin(), took.end());
        json << separator << '"' << stage << "\": " << took[took.size() / 2];
        separator = ", ";
    }
    json << "}";
    if (runs.front().counts) {
        const auto& counts = *runs.front().counts;
        json << ", \"points_per_query\": " << static_cast<double>(counts.points) / static_cast<double>(counts.queries)
             << ", \"cells_per_query\": " << static_cast<double>(counts.cells) / static_cast<double>(counts.queries);
    }
    json << "}";
    return json.str();
}

void time_methods(const Settings& settings, const PointsFile& file) {
    const std::int64_t query_count = number(settings, "queries", 0);
    const int threads = static_cast<int>(number(settings, "threads", 1));
    const kith::PointsView all(file.rows<float>(), file.count, file.dimension);
    Search search{all, {}, std::stoll(settings.at("k")), kith::cpu(threads)};
    if (query_count > 0) {
        search.queries.emplace(file.rows<float>(), std::min(query_count, file.count), file.dimension);
    }
    const auto room = static_cast<std::size_t>((query_count > 0 ? search.queries->count() : file.count) * search.k);
    Rows expected{std::vector<std::int32_t>(room), std::vector<float>(room)};
    Rows rows = expected;
    const std::vector<std::string> methods = words(settings.at("methods"));
    std::vector<Run> first;
    for (const std::string& method : methods) {
        Rows& found = method == methods.front() ? expected : rows;
        std::fill(found.indices.begin(), found.indices.end(), -1);
        first.push_back(search.run(method, found));
        if (found.indices != expected.indices || found.distances != expected.distances) {
            throw std::runtime_error("the rows of " + method + " are not those of " + methods.front());
        }
    }
    std::vector<std::vector<Run>> runs(methods.size());
    for (std::int64_t round = number(settings, "runs", 3); round > 0; --round) {
        for (std::size_t i = 0; i < methods.size(); ++i) {
            if (first[i].seconds <= static_cast<double>(number(settings, "long", 1))) {
                runs[i].push_back(search.run(methods[i], rows));
            }
        }
    }
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        answers.push_back(json_of(methods[i], runs[i].empty() ? std::vector<Run>{first[i]} : runs[i]));
    }
    if (settings.contains("rows")) {
        write_npy<float>(settings.at("rows"), expected.distances, search.k);
    }
    std::cout << json_list(answers) << '\n';
}

template <class T>
std::vector<T> percentiles(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    std::vector<T> chosen;
    for (std::size_t percent = 0; percent <= 100; ++percent) {
        chosen.push_back(values[(values.size() - 1) * percent / 100]);
    }
    return chosen;
}

std::vector<std::int64_t> histogram(const std::vector<std::int32_t>& values) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(*std::max_element(values.begin(), values.end())) + 1);
    for (const std::int32_t value : values) {
        ++counts[static_cast<std::size_t>(value)];
    }
    return counts;
}

double mean(const std::vector<std::int32_t>& values) {
    double sum = 0;
    for (const std::int32_t value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

template <int D>
std::string json_of_work(const kith::detail::FlatCells<float>& cells, std::int64_t k, bool skips_by_box,
                         std::int64_t every) {
    constexpr std::int64_t scans = 200;
    CountedSearch<D> search(cells, k, skips_by_box);
    Work work;
    Work scan;
    double sum_of_scanned = 0;
    std::int64_t number = 0;
    const std::int64_t between_scans = std::max<std::int64_t>(every, cells.points.count / scans / every * every);
    for (std::int64_t cell = 0; cell < cells.cells(); ++cell) {
        for (std::int64_t i = 0; i < cells.count[cell]; ++i, ++number) {
            if (number % every != 0) {
                continue;
            }
            const double before = work.sum_of_farthest;
            search.search(cell, cells.first[cell] + i, work);
            if (number % between_scans == 0) {
                search.compare_with_all(cells.first[cell] + i, scan);
                sum_of_scanned += work.sum_of_farthest - before;
            }
        }
    }
    if (std::abs(sum_of_scanned - scan.sum_of_farthest) > 1e-9 * scan.sum_of_farthest) {
        throw std::runtime_error("the flat form and the scan find different neighbors");
    }
    std::ostringstream json;
    json << "{\"k\": " << k << ", \"points_per_query\": " << mean(work.points)
         << ", \"cells_per_query\": " << mean(work.cells) << ", \"cells\": " << json_list(histogram(work.cells))
         << ", \"points\": " << json_list(percentiles(work.points))
         << ", \"steps_by_updates\": " << json_list(work.steps_by_updates)
         << ", \"scan_steps_by_updates\": " << json_list(scan.steps_by_updates) << "}";
    return json.str();
}

void count_work(const Settings& settings, const PointsFile& file) {
    kith::detail::FlatShape shape;
    shape.hubs = std::stoll(settings.at("work"));
    shape.selection =
        number(settings, "spread", 0) != 0 ? kith::HubSelection::kmeans_plus_plus : kith::HubSelection::random;
    Context context(kith::cpu(static_cast<int>(number(settings, "threads", 1))));
    kith::detail::FlatCells<float> cells;
    context.stage("cells", [&] {
        const auto points = kith::detail::normalize_sources<float>(
            kith::PointsView(file.rows<float>(), file.count, file.dimension), {});
        cells = kith::detail::make_flat_cells<float>(context, {nullptr, &points}, shape);
        kith::detail::connect_flat_cells(context, cells);
    });
    std::vector<std::string> answers;
    kith::detail::with_dimension(file.dimension, [&]<int D>(std::integral_constant<int, D>) {
        for (const std::string& k : words(settings.at("k"))) {
            answers.push_back(json_of_work<D>(cells, std::stoll(k), number(settings, "skip", 0) != 0,
                                              std::max<std::int64_t>(1, number(settings, "every", 1))));
        }
    });
    std::cout << json_list(answers) << '\n';
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    try {
        const bench::Settings settings = bench::settings_of(argc, argv);
        const bench::PointsFile file = bench::points_of(settings.at("points"));
        if (file.type != bench::npy_type<float>()) {
            throw std::runtime_error("points must be float32");
        }
        settings.contains("work") ? bench::count_work(settings, file) : bench::time_methods(settings, file);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_clover: %s\n", error.what());
        return 1;
    }
}
