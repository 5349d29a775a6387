// Neighbors within a radius against the oracle, bit for bit: every type, built dimension, point set and box, among the
// points themselves and with separate queries, by every engine, as rows, as counts and through a visitor.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows of a visitor, put in the order of the queries.
template <class T>
class CollectedRows {
public:
    explicit CollectedRows(std::int64_t queries)
        : indices_(static_cast<std::size_t>(queries)), distances_(indices_.size()), seen_(indices_.size(), 0) {}

    void add(const RadiusBlock& block) {
        const std::scoped_lock lock(adding_);
        for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
            const auto query = static_cast<std::size_t>(block.query_indices[row]);
            ++seen_.at(query);
            for (std::int64_t i = block.offsets[row]; i < block.offsets[row + 1]; ++i) {
                indices_[query].push_back(block.indices[static_cast<std::size_t>(i)]);
                distances_[query].push_back(block.template distances<T>()[static_cast<std::size_t>(i)]);
            }
        }
    }

    [[nodiscard]] oracle::RaggedRows<T> rows() const {
        EXPECT_EQ(seen_, std::vector<int>(seen_.size(), 1));
        oracle::RaggedRows<T> all;
        for (std::size_t query = 0; query < indices_.size(); ++query) {
            all.indices.insert(all.indices.end(), indices_[query].begin(), indices_[query].end());
            all.distances.insert(all.distances.end(), distances_[query].begin(), distances_[query].end());
            all.offsets.push_back(static_cast<std::int64_t>(all.indices.size()));
        }
        return all;
    }

private:
    std::vector<std::vector<std::int64_t>> indices_;
    std::vector<std::vector<T>> distances_;
    std::vector<int> seen_;
    std::mutex adding_;
};

template <class T>
oracle::RaggedRows<T> rows_of_result(const RadiusResult& found) {
    oracle::RaggedRows<T> rows;
    rows.offsets.assign(found.offsets().begin(), found.offsets().end());
    if (found.index_type() == IndexType::int32) {
        rows.indices.assign(found.indices().begin(), found.indices().end());
    } else {
        rows.indices.assign(found.indices64().begin(), found.indices64().end());
    }
    rows.distances.assign(found.distances<T>().begin(), found.distances<T>().end());
    return rows;
}

/// Where rows first differ, for the reader of a failure.
template <class T>
std::string difference(const oracle::RaggedRows<T>& found, const oracle::RaggedRows<T>& expected) {
    if (found.offsets != expected.offsets) {
        const auto at =
            std::mismatch(found.offsets.begin(), found.offsets.end(), expected.offsets.begin(), expected.offsets.end());
        return "offsets differ from row " + std::to_string(at.first - found.offsets.begin() - 1) +
               " on: " + std::to_string(found.offsets.size()) + " of them, " + std::to_string(expected.offsets.size()) +
               " expected";
    }
    for (std::size_t i = 0; i < expected.indices.size(); ++i) {
        if (found.indices[i] != expected.indices[i] || found.distances[i] != expected.distances[i]) {
            return "element " + std::to_string(i) + " is (" + std::to_string(found.indices[i]) + ", " +
                   std::to_string(found.distances[i]) + "), not (" + std::to_string(expected.indices[i]) + ", " +
                   std::to_string(expected.distances[i]) + ")";
        }
    }
    return "";
}

/// Radii at which rows are empty, cut in the middle, hold all points; among them distances that occur exactly.
template <class T>
std::vector<double> interesting_radii(const oracle::Neighbors<T>& expected) {
    std::vector<double> radii{0, infinity};
    const oracle::Rows<T> some = expected.rows(9);
    for (const std::size_t i : {some.distances.size() / 3, some.distances.size() / 2}) {
        if (i < some.distances.size() && some.indices[i] >= 0) {
            radii.push_back(static_cast<double>(some.distances[i]));
            radii.push_back(static_cast<double>(some.distances[i]) * 2.2);
        }
    }
    return radii;
}

template <class T>
void expect_searches(const PointSet<T>& set, const std::vector<T>* queries, const NamedBox& named, Random& draw) {
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
    const oracle::Neighbors<T> expected =
        queries == nullptr ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(*queries));
    const PointsView view = set.view();
    const PointsView query_view = queries != nullptr ? PointsView(*queries, set.dimension) : PointsView();
    const auto rows = static_cast<std::size_t>(expected.row_count());
    std::vector<double> some = interesting_radii(expected);
    std::erase_if(some, [&](double radius) { return oracle::is_refused(copy, radius, queries != nullptr); });
    const auto drawn = [&](std::int64_t count) { return draw.integer(count); };
    const auto drawn_radius = [&] {
        return some[static_cast<std::size_t>(drawn(static_cast<std::int64_t>(some.size())))];
    };
    const std::vector<Engine> engines = radius_engines();
    for (const bool one_each : {true, false, false}) {
        std::vector<double> radii(rows, drawn_radius());
        if (one_each) {
            std::generate(radii.begin(), radii.end(), drawn_radius);
        }
        const double uniform = rows > 0 ? radii.front() : 0;
        const Radii given = one_each ? Radii(radii) : Radii(uniform);
        RadiusOptions options{.exclude_self = queries == nullptr && drawn(2) == 0,
                              .squared = drawn(2) == 0,
                              .order = drawn(2) == 0 ? RowOrder::distance : RowOrder::index,
                              .engine = engines[static_cast<std::size_t>(drawn(std::ssize(engines)))],
                              .index_type = drawn(2) == 0 ? IndexType::int32 : IndexType::int64,
                              .execution = cpu(std::vector<int>{1, 2, 7}[static_cast<std::size_t>(drawn(3))])};
        const oracle::RaggedRows<T> truth =
            expected.within(radii, options.exclude_self, options.squared, options.order);
        const std::string what = "box " + named.name + ", engine " + name_of(options.engine) + ", radius " +
                                 (one_each ? "one each" : std::to_string(uniform)) + ", exclude_self " +
                                 std::to_string(options.exclude_self) + ", by index " +
                                 std::to_string(options.order == RowOrder::index);
        std::vector<std::int64_t> counts;
        CollectedRows<T> visited(static_cast<std::int64_t>(rows));
        SearchSummary summary;
        const auto visit = [&](const RadiusBlock& block) { visited.add(block); };
        std::optional<RadiusResult> found;
        const TreeShape shape{.leaf_size = std::vector<int>{1, 5, 40}[static_cast<std::size_t>(drawn(3))],
                              .top_size = std::vector<int>{1, 256}[static_cast<std::size_t>(drawn(2))]};
        const Tree tree(view, {.box = named.box, .shape = shape, .execution = options.execution});
        if (queries != nullptr) {
            found = radius_search(tree, query_view, given, options);
            summary = radius_visit(visit, tree, query_view, given, options);
            options.box = named.box;
            counts = radius_count(view, query_view, given, options);
        } else {
            summary = radius_visit(visit, tree, given, options);
            counts = radius_count(tree, given, options);
            options.box = named.box;
            found = radius_search(view, given, options);
        }
        EXPECT_EQ(difference(rows_of_result<T>(*found), truth), "") << what;
        EXPECT_EQ(difference(visited.rows(), truth), "") << what << ", visited";
        EXPECT_TRUE(oracle::Unresolved(found->unresolved) == truth.unresolved) << what << ", unresolved";
        EXPECT_TRUE(oracle::Unresolved(summary.unresolved) == truth.unresolved) << what << ", unresolved, visited";
        if (options.engine != Engine::automatic) {
            EXPECT_EQ(found->engine, options.engine) << what;
            EXPECT_EQ(summary.engine, options.engine) << what << ", visited";
        }
        for (std::size_t i = 0; i < rows; ++i) {
            ASSERT_EQ(counts[i], truth.offsets[i + 1] - truth.offsets[i]) << what << ", count of row " << i;
        }
    }
}

class Radius : public testing::TestWithParam<Case> {};

TEST_P(Radius, EqualsTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), static_cast<std::uint64_t>(set.dimension)));
        for (const NamedBox& named : set.boxes) {
            expect_searches<T>(set, nullptr, named, draw);
            const std::int64_t count = std::vector<std::int64_t>{0, 3, set.count() / 2 + 40}[draw.integer(3)];
            const std::vector<T> queries = queries_for(set, named.box, count);
            expect_searches<T>(set, &queries, named, draw);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Radius, testing::ValuesIn(every_case()), case_name);

class RadiusCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(200, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(RadiusCalls, RowsAreReadOneByOne) {
    const RadiusResult found = radius_search(view_, 0.2, {.exclude_self = true});
    std::int64_t neighbors = 0;
    for (std::int64_t i = 0; i < found.rows(); ++i) {
        const auto row = found.row(i);
        for (std::int64_t j = 0; j < row.size(); ++j) {
            const auto at = static_cast<std::size_t>(found.offsets()[static_cast<std::size_t>(i)] + j);
            EXPECT_EQ(row[j].index, found.indices()[at]);
            EXPECT_EQ(row[j].distance, static_cast<double>(found.distances<float>()[at]));
        }
        neighbors += row.size();
    }
    for (const std::int64_t i : {-1, 200}) {
        EXPECT_TRUE(
            is_refused(ErrorKind::invalid_argument, {"row " + std::to_string(i), "200"}, [&] { (void)found.row(i); }));
    }
    EXPECT_EQ(neighbors, found.size());
    EXPECT_GT(neighbors, 200);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"int32", "indices()"}, [&] { (void)found.indices64(); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)found.distances<double>(); }));
}

TEST_F(RadiusCalls, ALargeResultIsRefusedBeforeItIsMade) {
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"40000 neighbors", "320000 bytes", "max_result_bytes is 1000"},
                           [&] { (void)radius_search(view_, infinity, {.max_result_bytes = 1000}); }));
    EXPECT_EQ(radius_search(view_, infinity, {.max_result_bytes = 320000}).size(), 40000);
}

TEST_F(RadiusCalls, RefuseWhatMeansNothing) {
    const auto refused = [](const std::vector<std::string>& parts, const auto& call) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, call));
    };
    const Tree tree(view_);
    const std::vector<double> two{0.1, 0.2};
    std::vector<float> negative(200, 0.1F);
    negative[17] = -1;
    refused({"radius", "-0.5", "0 or more"}, [&] { (void)radius_search(view_, -0.5); });
    refused({"radius", "nan"}, [&] { (void)radius_count(tree, std::numeric_limits<double>::quiet_NaN()); });
    refused({"radius of query 17", "-1"}, [&] { (void)radius_count(tree, negative); });
    refused({"2 radii", "200 queries"}, [&] { (void)radius_search(tree, two); });
    refused({"exclude_self", "separate"}, [&] { (void)radius_search(tree, view_, 0.1, {.exclude_self = true}); });
    refused({"a tree has its own"}, [&] { (void)radius_search(tree, 0.1, {.box = Box::periodic(1)}); });
    refused({"max_result_bytes", "-1"}, [&] { (void)radius_search(tree, 0.1, {.max_result_bytes = -1}); });
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"CPU only"},
                           [&] { (void)radius_search(view_, 0.1, {.execution = cuda()}); }));
}

// Rows longer than the sort in registers takes; on the grid most distances are alike.
TEST_F(RadiusCalls, LongRowsEqualTheOracle) {
    const auto expect_rows = [](const auto& points) {
        using T = typename std::decay_t<decltype(points)>::value_type;
        const oracle::Neighbors<T> expected(oracle::working_copy<T>(points, 3, Box{}));
        for (const double radius : {0.6, infinity}) {
            for (const RowOrder order : {RowOrder::distance, RowOrder::index}) {
                const std::vector<double> radii(points.size() / 3, radius);
                EXPECT_EQ(difference(rows_of_result<T>(radius_search(PointsView(points, 3), radius, {.order = order})),
                                     expected.within(radii, false, false, order)),
                          "")
                    << "radius " << radius << ", by index " << (order == RowOrder::index);
            }
        }
    };
    std::vector<float> grid = uniform_points<float>(1100, 3, 0, 1, 5);
    std::transform(grid.begin(), grid.end(), grid.begin(), [](float x) { return std::round(8 * x) / 8; });
    expect_rows(grid);
    expect_rows(uniform_points<float>(1100, 3, 0, 1, 5));
    expect_rows(uniform_points<double>(1100, 3, 0, 1, 6));
    expect_rows(std::vector<float>(std::size_t{3} * 600, 0.5F));
}

// A radius beyond half a period meets each source once.
TEST_F(RadiusCalls, ALargeRadiusCountsImagesOnce) {
    const std::vector<std::int64_t> counts = radius_count(view_, 5, {.box = Box::periodic(1)});
    EXPECT_EQ(counts, std::vector<std::int64_t>(200, 200));
}

// Whole nodes are counted, not visited: comparing would take 10^10 distances.
TEST_F(RadiusCalls, CoincidentPointsAreCountedWhole) {
    const std::vector<float> points(3 * 100000, 0.25F);
    EXPECT_EQ(radius_count(PointsView(points, 3), 0), std::vector<std::int64_t>(100000, 100000));
}

} // namespace
} // namespace kith::test
