// Clusters and noise of the CPU's engines: clumps in every dimension against the oracle, and properties that need no
// oracle. The answers of every backend are those of dbscan_conformance_test.cpp.
#include "groups/dbscan_conformance.hpp"
#include "support/engines.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = engines_of(detail::Task::clusters);

/// Clumps of 60 points in a thin background.
template <class T>
std::vector<T> clumps(int dimension) {
    std::vector<T> points = uniform_points<T>(sized(600), dimension, 0, 1, 161);
    const std::vector<T> centers = uniform_points<T>(10, dimension, 0, 1, 162);
    Random random(163);
    for (std::int64_t i = 0; i < sized(600); ++i) {
        for (int axis = 0; axis < dimension; ++axis) {
            points.push_back(centers[static_cast<std::size_t>(i % 10 * dimension + axis)] +
                             static_cast<T>(0.02 * random.normal()));
        }
    }
    return points;
}

template <class T>
void expect_clumps(int dimension) {
    const std::vector<T> points = clumps<T>(dimension);
    for (const Box& box : {Box(), Box::periodic(1)}) {
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, box);
        for (const auto& [eps, min_samples] : {std::pair(0.03, 6), std::pair(0.06, 20), std::pair(0.3, 70)}) {
            const oracle::Clusters expected = oracle::dbscan(copy, eps, min_samples, false);
            for (const Engine engine : engines) {
                EXPECT_TRUE(same_clusters(dbscan(PointsView(points, dimension), eps, min_samples,
                                                 {.box = box, .engine = engine, .execution = cpu(2)}),
                                          expected))
                    << dimension << " dimensions, eps " << eps << ", " << name_of(engine);
            }
        }
    }
}

TEST(DbscanInEveryDimension, EqualsTheOracle) {
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (is_built(dimension)) {
            expect_clumps<float>(dimension);
            expect_clumps<double>(dimension);
        }
    }
}

/// Labels renumbered from 0 in the order in which they appear.
std::vector<std::int32_t> by_first_member(const std::vector<std::int32_t>& labels) {
    std::vector<std::int32_t> renamed(labels.size(), -1);
    std::vector<std::int32_t> result;
    std::int32_t next = 0;
    for (const std::int32_t label : labels) {
        std::int32_t& name = renamed[static_cast<std::size_t>(label)];
        name = name < 0 ? next++ : name;
        result.push_back(name);
    }
    return result;
}

class DbscanProperties : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = clumps<float>(3);
    const PointsView view_{points_, 3};
};

TEST_F(DbscanProperties, WithOneSampleClustersAreGroupsOfFriends) {
    for (const double length : {0.0, 0.02, 0.05, 0.2}) {
        for (const Engine engine : engines) {
            const FofResult groups = fof(view_, LinkingLength::absolute(length), {.box = Box::periodic(1)});
            const DbscanResult found = dbscan(view_, length, 1, {.box = Box::periodic(1), .engine = engine});
            EXPECT_EQ(found.label_array, by_first_member({groups.labels().begin(), groups.labels().end()}));
            EXPECT_EQ(found.core_points, view_.count());
            EXPECT_EQ(found.noise_points, 0);
        }
    }
}

TEST_F(DbscanProperties, StarIsWithoutBorderPoints) {
    for (const Engine engine : engines) {
        const DbscanResult full = dbscan(view_, 0.03, 6, {.engine = engine});
        const DbscanResult star = dbscan(view_, 0.03, 6, {.star = true, .engine = engine});
        std::vector<std::int32_t> core_labels(full.labels().begin(), full.labels().end());
        for (std::size_t i = 0; i < core_labels.size(); ++i) {
            core_labels[i] = full.is_core[i] != 0 ? core_labels[i] : -1;
        }
        EXPECT_EQ(star.label_array, core_labels);
        EXPECT_EQ(star.is_core, full.is_core);
        EXPECT_GT(star.noise_points, full.noise_points);
    }
}

TEST_F(DbscanProperties, OfTheCallersMemoryIsTheSame) {
    const DbscanResult expected = dbscan(view_, 0.03, 6);
    std::vector<std::int32_t> labels(expected.label_array.size(), -7);
    std::vector<std::uint8_t> is_core(labels.size(), 7);
    const DbscanSummary found = dbscan_into(labels, is_core, view_, 0.03, 6);
    EXPECT_EQ(labels, expected.label_array);
    EXPECT_EQ(is_core, expected.is_core);
    EXPECT_EQ(found.sizes, expected.sizes);
    labels.assign(labels.size(), -7);
    (void)dbscan_into(labels, {}, Tree(view_), 0.03, 6);
    EXPECT_EQ(labels, expected.label_array);
}

// Nodes are taken whole: comparing would take 10^10 distances.
TEST_F(DbscanProperties, OfAHundredThousandCoincidentPoints) {
    const std::vector<float> points(300000, 0.7F);
    for (const std::int64_t min_samples : {5, 50000, 100000, 100001}) {
        const DbscanResult found = dbscan(PointsView(points, 3), 0, min_samples, {.engine = Engine::tree});
        EXPECT_EQ(found.label_array, std::vector<std::int32_t>(100000, min_samples > 100000 ? -1 : 0)) << min_samples;
    }
}

TEST_F(DbscanProperties, RefuseWhatMeansNothing) {
    const auto refused = [](const std::vector<std::string>& parts, const auto& call) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, call));
    };
    for (const Engine engine : engines) {
        const DbscanOptions options{.engine = engine};
        const Tree tree(view_, {.engine = engine});
        refused({"eps", "-0.5"}, [&] { (void)dbscan(tree, -0.5, 5, options); });
        refused({"eps", "nan"}, [&] { (void)dbscan(view_, nan, 5, options); });
        refused({"eps", "inf", "finite"}, [&] { (void)dbscan(view_, infinity, 5, options); });
        refused({"eps", "1e+300", "float32"}, [&] { (void)dbscan(view_, 1e300, 5, options); });
        refused({"min_samples", "0", "1 or more"}, [&] { (void)dbscan(view_, 1, 0, options); });
        std::vector<float> far(static_cast<std::size_t>(3 * 40), 1.0F);
        far[3 * 7 + 1] = -1e37F;
        refused({"eps is 1000", "coordinate 1 of point 7", "-1e+37"},
                [&] { (void)dbscan(PointsView(far, 3), 1e3, 5, options); });
    }
    refused({"a tree has its own"}, [&] { (void)dbscan(Tree(view_), 1, 5, {.box = Box::periodic(1)}); });
    std::vector<std::int32_t> labels(static_cast<std::size_t>(view_.count()));
    std::vector<std::uint8_t> flags(labels.size() - 1);
    refused({"is_core", std::to_string(flags.size())}, [&] { dbscan_into(labels, flags, view_, 1, 5); });
    labels.pop_back();
    refused({"labels", std::to_string(labels.size())}, [&] { dbscan_into(labels, {}, view_, 1, 5); });
}

TEST_F(DbscanProperties, NoPointsAreFine) {
    const std::vector<float> none;
    for (const Engine engine : engines) {
        const DbscanResult found = dbscan(PointsView(none, 3), 1, 1, {.engine = engine});
        EXPECT_TRUE(found.label_array.empty());
        EXPECT_EQ(found.clusters + found.core_points + found.noise_points, 0);
    }
}

TEST_F(DbscanProperties, CanBeCanceled) {
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"core"}, [&] {
        const auto stop_at_core = [](std::string_view stage, double) { return stage != "core"; };
        (void)dbscan(view_, 0.03, 6, {.engine = Engine::tree, .execution = cpu(1, stop_at_core)});
    }));
}

} // namespace
} // namespace kith::test
