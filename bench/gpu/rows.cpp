#include "group_case.hpp"
#include "neighbor_case.hpp"
#include "order_case.hpp"
#include "points_of.hpp"
#include "row.hpp"
#include "structure_case.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

namespace bench {

namespace {

constexpr std::int64_t thousand = 1000;
constexpr std::int64_t million = thousand * thousand;

/// A time in at most eight characters.
std::string shown(double seconds) {
    std::ostringstream text;
    if (seconds < 0.9995) {
        text << std::setprecision(3) << seconds * 1e3 << " ms";
    } else {
        text << std::setprecision(3) << seconds << " s";
    }
    return text.str();
}

Row neighbors(const std::string& name, const NeighborCase& wanted, bool main = false) {
    return {name, main, [wanted](Bench& bench, const std::string& own) { return run_neighbors(bench, own, wanted); }};
}
Row groups(const std::string& name, const GroupCase& wanted, bool main = false) {
    return {name, main, [wanted](Bench& bench, const std::string& own) { return run_groups(bench, own, wanted); }};
}

Row structure(const std::string& name, const StructureCase& wanted) {
    return {name, false, [wanted](Bench& bench, const std::string& own) { return run_structure(bench, own, wanted); }};
}
Row order(const std::string& name, const OrderCase& wanted) {
    return {name, false, [wanted](Bench& bench, const std::string& own) { return run_order(bench, own, wanted); }};
}

/// What the project is judged by on a GPU, with the times that it sets itself for an H200.
std::vector<Row> main_rows() {
    const PointSet ten_million{Kind::uniform, 10 * million};
    const PointSet cube_256{Kind::clustered, std::int64_t{256} * 256 * 256};
    const PointSet cube_512{Kind::clustered, std::int64_t{512} * 512 * 512};
    return {
        neighbors("uniform_1e7_k16", {.points = ten_million, .goal = {0.012, 60}}, true),
        neighbors("clustered_256_k16", {.points = cube_256, .period = 1, .goal_over_uniform = 1.5}, true),
        groups("groups_256", {.points = cube_256, .goal = {0.025, 0}}, true),
        neighbors("uniform_1e6_k16", {.points = {Kind::uniform, million}, .goal = {0.0016, 0}}, true),
        neighbors("uniform_1e5_k16", {.points = {Kind::uniform, 100 * thousand}, .goal = {0.0004, 0}}, true),
        neighbors("uniform_1e4_k16", {.points = {Kind::uniform, 10 * thousand}, .goal = {0.00025, 0}}, true),
        neighbors("uniform_1e7_k8", {.points = ten_million, .k = 8, .goal = {0.009, 0}}, true),
        neighbors("uniform_1e7_k32", {.points = ten_million, .k = 32, .goal = {0.022, 0}}, true),
        neighbors("uniform_1e7_k64", {.points = ten_million, .k = 64, .goal = {0.050, 0}}, true),
        neighbors("queries_1e7_k30",
                  {.points = ten_million, .queries = {Kind::uniform, 10 * million, 3, 2}, .k = 30, .goal = {0.030, 0}},
                  true),
        neighbors("uniform_1e8_k16_visit",
                  {.points = {Kind::uniform, 100 * million}, .visit = true, .goal = {0.130, 0}}, true),
        groups("groups_512", {.points = cube_512, .goal = {0.220, 0}}, true),
        groups("groups_512_catalog", {.points = cube_512, .catalog = true, .goal = {0.300, 0}}, true),
    };
}

/// Budgets below what the library would take, and points that do not fit into them.
std::vector<Row> tight_rows() {
    const PointSet ten_million{Kind::uniform, 10 * million};
    return {
        neighbors("budget_48_bytes_a_point", {.points = ten_million, .budget_bytes_per_point = 48}),
        neighbors("budget_32_bytes_a_point", {.points = ten_million, .budget_bytes_per_point = 32}),
        neighbors("host_memory_1e7", {.points = ten_million, .on_host = true}),
        neighbors("streamed_4_bytes_a_point", {.points = {Kind::uniform, 100 * million},
                                               .queries = {Kind::uniform, million, 3, 2},
                                               .on_host = true,
                                               .budget_bytes_per_point = 4}),
        groups("groups_100_compared_with_cpu", {.points = {Kind::clustered, million}}),
        groups("groups_100_catalog", {.points = {Kind::clustered, million}, .catalog = true}),
        groups("groups_budget_40_bytes_a_point",
               {.points = {Kind::clustered, 10 * million}, .budget_bytes_per_point = 40}),
    };
}

/// Points that trees dislike; each should take milliseconds.
std::vector<Row> odd_rows() {
    const Goal soon{0.010, 0};
    return {
        neighbors("coincident_1e5", {.points = {Kind::coincident, 100 * thousand}, .goal = soon}),
        neighbors("lattice_1e6", {.points = {Kind::lattice, million}, .goal = soon}),
        neighbors("outliers_1e6", {.points = {Kind::outliers, million}, .goal = soon}),
        neighbors("clustered_1e6", {.points = {Kind::clustered, million}, .period = 1}),
        neighbors("uniform_1e6_float64", {.points = {Kind::uniform, million}, .doubles = true}),
        neighbors("uniform_1e6_2d", {.points = {Kind::uniform, million, 2}}),
        neighbors("uniform_1e6_6d", {.points = {Kind::uniform, million, 6}}),
        neighbors("uniform_1e6_k100", {.points = {Kind::uniform, million}, .k = 100}),
        neighbors("few_queries", {.points = {Kind::uniform, million}, .queries = {Kind::uniform, 100, 3, 2}}),
    };
}

/// Searches that only put work on the stream, as they are and from a graph, beside those that wait.
std::vector<Row> unwaited_rows() {
    std::vector<Row> rows;
    for (const auto& [name, count] :
         {std::pair<std::string, std::int64_t>{"1e4", 10 * thousand}, {"1e5", 100 * thousand}, {"1e6", million}}) {
        NeighborCase wanted{.points = {Kind::uniform, count}};
        wanted.calling = Calling::enqueues;
        rows.push_back(neighbors("uniform_" + name + "_k16_unwaited", wanted));
        wanted.calling = Calling::replays;
        rows.push_back(neighbors("uniform_" + name + "_k16_graph", wanted));
    }
    NeighborCase outliers{.points = {Kind::outliers, million}};
    outliers.calling = Calling::replays;
    rows.push_back(neighbors("outliers_1e6_graph", outliers));
    return rows;
}

/// Both engines around the number of points where the tree becomes the faster one.
std::vector<Row> switch_rows() {
    std::vector<Row> rows;
    for (const std::int64_t count : {1, 2, 3, 5, 7, 10, 15, 20, 30}) {
        NeighborCase wanted{.points = {Kind::uniform, count * thousand}};
        wanted.engine = kith::Engine::brute_force;
        rows.push_back(neighbors("switch_" + std::to_string(count) + "e3_brute_force", wanted));
        wanted.engine = kith::Engine::tree;
        rows.push_back(neighbors("switch_" + std::to_string(count) + "e3_tree", wanted));
    }
    return rows;
}

/// Counts within a radius, clusters, groups by k-d tree and spanning trees.
std::vector<Row> structure_rows() {
    const PointSet uniform{Kind::uniform, million};
    const PointSet clustered{Kind::clustered, million};
    return {
        structure("counts_uniform_1e6", {Structure::counts, uniform, 2}), // 33 within the radius on average
        structure("counts_clustered_1e6", {Structure::counts, clustered, 0.2}),
        structure("dbscan_uniform_1e6", {Structure::clusters, uniform, 1}),
        structure("dbscan_clustered_1e6", {Structure::clusters, clustered, 0.2}),
        structure("kdtree_groups_uniform_1e6", {Structure::groups, uniform, 0.2}),
        structure("kdtree_groups_clustered_1e6", {Structure::groups, clustered, 0.2}),
        structure("spanning_tree_uniform_1e6", {Structure::tree, uniform, 0}),
        structure("spanning_tree_clustered_1e6", {Structure::tree, clustered, 0}),
    };
}

/// Both builders of left-balanced k-d trees.
std::vector<Row> order_rows() {
    std::vector<Row> rows;
    for (const auto& [name, points] : {std::pair<std::string, PointSet>{"uniform_1e5", {Kind::uniform, 100 * thousand}},
                                       {"uniform_1e6", {Kind::uniform, million}},
                                       {"uniform_1e7", {Kind::uniform, 10 * million}},
                                       {"clustered_1e6", {Kind::clustered, million}}}) {
        rows.push_back(order("kdtree_order_" + name, {points, OrderBuilder::library}));
        rows.push_back(order("kdtree_header_" + name, {points, OrderBuilder::header}));
    }
    // Table 1 of the paper on left-balanced k-d trees; the header sorts a hundred million points for seconds.
    for (const auto& [name, count] : {std::pair<std::string, std::int64_t>{"1e3", thousand},
                                      {"1e4", 10 * thousand},
                                      {"1e5", 100 * thousand},
                                      {"1e6", million},
                                      {"1e7", 10 * million},
                                      {"1e8", 100 * million}}) {
        OrderCase wanted{{Kind::uniform, count}, OrderBuilder::library, kith::kdtree::Split::cyclic};
        rows.push_back(order("kdtree_order_cyclic_" + name, wanted));
        if (count < 100 * million) {
            wanted.builder = OrderBuilder::header;
            rows.push_back(order("kdtree_header_cyclic_" + name, wanted));
        }
    }
    return rows;
}

/// The engines that automatic does not choose.
std::vector<Row> engine_rows() {
    std::vector<Row> rows;
    for (const kith::Engine engine : {kith::Engine::kdtree, kith::Engine::clover}) {
        for (const auto& [name, kind] : {std::pair<std::string, Kind>{"uniform", Kind::uniform},
                                         {"clustered", Kind::clustered},
                                         {"coincident", Kind::coincident}}) {
            NeighborCase wanted{.points = {kind, kind == Kind::coincident ? 100 * thousand : million}};
            wanted.engine = engine;
            rows.push_back(neighbors(kith::name_of(engine) + "_" + name, wanted));
        }
        NeighborCase few{.points = {Kind::uniform, million}, .k = 8};
        few.engine = engine;
        rows.push_back(neighbors(kith::name_of(engine) + "_k8", few));
    }
    return rows;
}

} // namespace

Outcome outcome(const Bench& bench, const std::string& name, const Described& what, const Goal& goal,
                const Measurement& measured, const Work& work, const JsonObject& more) {
    const auto [least, most] = std::minmax_element(measured.seconds.begin(), measured.seconds.end());
    const double floor = floor_seconds(work, bench.ceilings);
    std::ostringstream line;
    line << std::left << std::setw(32) << name << std::right << std::setw(10) << shown(measured.median())
         << std::setw(10) << shown(*least) << std::setw(10) << shown(*most) << std::setw(10)
         << (goal.seconds > 0 ? shown(goal.seconds) : "") << std::setw(7) << std::fixed << std::setprecision(1)
         << measured.median() / floor << std::setw(7) << std::setprecision(0)
         << static_cast<double>(measured.peak_bytes) / static_cast<double>(what.count) << "  "
         << verdict(goal, measured, what.count);
    for (const auto& [stage, seconds] : measured.stages) {
        line << (stage == measured.stages.front().first ? "  (" : ", ") << stage << ' ' << shown(seconds)
             << (stage == measured.stages.back().first ? ")" : "");
    }
    if (measured.pieces > 1) {
        line << "  in " << measured.pieces << " pieces";
    }
    if (measured.flaw) {
        line << "\n  WRONG: " << *measured.flaw;
    }
    return {record(bench, name, what, goal, measured, work, more), line.str(), !measured.flaw};
}

std::vector<Row> all_rows() {
    std::vector<Row> rows = main_rows();
    for (const std::vector<Row>& more :
         {odd_rows(), unwaited_rows(), tight_rows(), switch_rows(), structure_rows(), order_rows(), engine_rows()}) {
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
}

std::vector<Row> rows_of_file(const std::string& path, double period) {
    const PointSet points{Kind::uniform, points_in(path)};
    return {neighbors("file_k16", {.points = points, .period = period, .file = path}, true),
            groups("file_groups", {.points = points, .period = period, .file = path}, true)};
}

} // namespace bench
