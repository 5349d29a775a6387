// Calls of the radius search: rows one by one, refusals, and what counts cost. The answers are those of
// radius_conformance_test.cpp.
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

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
}

// A radius beyond half a period meets each source once.
TEST_F(RadiusCalls, ALargeRadiusCountsImagesOnce) {
    const std::vector<std::int64_t> counts = radius_count(view_, 5, {.box = Box::periodic(1)}).counts;
    EXPECT_EQ(counts, std::vector<std::int64_t>(200, 200));
}

// Whole nodes are counted, not visited: comparing would take 10^10 distances.
TEST_F(RadiusCalls, CoincidentPointsAreCountedWhole) {
    const std::vector<float> points(3 * 100000, 0.25F);
    EXPECT_EQ(radius_count(PointsView(points, 3), 0).counts, std::vector<std::int64_t>(100000, 100000));
}

} // namespace
} // namespace kith::test
