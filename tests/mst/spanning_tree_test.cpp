// What spanning trees are, beyond their edges (conformance_test.cpp): heights, memory, and what calls refuse.
#include "mst/conformance.hpp"
#include "oracle/working_copy.hpp"
#include "support/engines.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

class SpanningTrees : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(EveryCase, SpanningTrees, testing::ValuesIn(every_case()), case_name);

/// Groups by the edges alone: each point has the smallest index of its group.
class SmallestMembers {
public:
    explicit SmallestMembers(std::int64_t points) : of_(static_cast<std::size_t>(points)) {
        std::iota(of_.begin(), of_.end(), 0);
    }
    void join(const SpanningEdge& edge) {
        const auto [kept, gone] = std::minmax({of(edge.smaller), of(edge.larger)});
        std::replace(of_.begin(), of_.end(), gone, kept);
    }
    [[nodiscard]] std::int32_t of(std::int32_t point) const { return of_[static_cast<std::size_t>(point)]; }
    [[nodiscard]] const std::vector<std::int32_t>& of_all() const { return of_; }

private:
    std::vector<std::int32_t> of_;
};

std::vector<std::int32_t> smallest_members(const std::vector<std::int32_t>& labels) {
    std::vector<std::int32_t> smallest(labels.size(), -1);
    std::vector<std::int32_t> members;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::int32_t& of_group = smallest[static_cast<std::size_t>(labels[i])];
        of_group = of_group < 0 ? static_cast<std::int32_t>(i) : of_group;
        members.push_back(of_group);
    }
    return members;
}

// At a height its edge joins two groups of friends that the number below it leaves apart, and groups are those of the
// edges up to there: checked at heights from the least to the greatest, and so, since groups only grow, of every edge.
TEST_P(SpanningTrees, HeightsAreLinkingLengths) {
    constexpr std::size_t checked_heights = 24;
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const SpanningTree tree = spanning_tree(set.view(), {.box = named.box});
            const std::span<const T> heights = tree.heights<T>();
            ASSERT_TRUE(std::is_sorted(heights.begin(), heights.end()));
            std::vector<T> distinct(heights.begin(), heights.end());
            distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
            const std::size_t last = distinct.empty() ? 0 : distinct.size() - 1;
            const std::size_t step = std::max<std::size_t>(1, last / checked_heights);
            const auto expect_groups = [&](T length, const SmallestMembers& expected) {
                if (length < 0 || !std::isfinite(length) || oracle::is_refused(copy, static_cast<double>(length))) {
                    return;
                }
                const FofResult found =
                    fof(set.view(), LinkingLength::absolute(static_cast<double>(length)), {.box = named.box});
                EXPECT_EQ(smallest_members({found.labels().begin(), found.labels().end()}), expected.of_all())
                    << "box " << named.name << ", linking length " << testing::PrintToString(length);
            };
            SmallestMembers joined(set.count());
            std::size_t edge = 0;
            for (std::size_t i = 0; i < distinct.size(); ++i) {
                const bool is_checked = i % step == 0 || i == last;
                if (is_checked) {
                    expect_groups(std::nextafter(distinct[i], T{-1}), joined);
                }
                for (; edge < heights.size() && heights[edge] == distinct[i]; ++edge) {
                    const auto [smaller, larger] = tree.edges()[edge];
                    ASSERT_NE(joined.of(smaller), joined.of(larger)) << "box " << named.name << ", edge " << edge;
                    joined.join(tree.edges()[edge]);
                }
                if (is_checked) {
                    expect_groups(distinct[i], joined);
                }
            }
        }
    });
}

class ManyPoints : public NeedsDimension<3> {};

TEST_F(ManyPoints, LengthsAddUpToThoseOfFloat64) {
    const std::vector<float> points = many_points("halos", sized(4096));
    const std::vector<double> wide(points.begin(), points.end());
    const SpanningTree found = spanning_tree(PointsView(points, 3), {.engine = Engine::tree});
    const SpanningTree expected = spanning_tree(PointsView(wide, 3), {.engine = Engine::brute_force});
    const auto sum = [](const auto& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); };
    EXPECT_NEAR(sum(found.weights<float>()) / sum(expected.weights<double>()), 1, 1e-6);
}

/// The most for each of some points, beyond these and the result.
template <class T>
double bytes_a_point(int dimension) {
    constexpr std::int64_t count = 50'000;
    const std::vector<T> points = uniform_points<T>(count, dimension, 0, 1, 37);
    std::int64_t most = 0;
    const SpanningTree tree = spanning_tree(PointsView(points, dimension), {.execution = cpu(2)});
    for (const StageReport& stage : tree.stages) {
        most = std::max(most, stage.peak_bytes);
    }
    return static_cast<double>(most) / count;
}

TEST_F(ManyPoints, TakeFewBytes) { // docs/decisions.md says how many
    EXPECT_LT(bytes_a_point<float>(3), 60);
    EXPECT_LT(bytes_a_point<double>(3), 83);
    if (is_built(6)) {
        EXPECT_LT(bytes_a_point<float>(6), 74);
        EXPECT_LT(bytes_a_point<double>(6), 113);
    }
}

/// Published real sets, the first 4096 points of each: in the periodic unit box, and an open scan that is almost a
/// surface.
std::vector<float> real_points(const std::filesystem::path& file) {
    std::vector<float> points;
    if (file.extension() == ".u16") {
        std::ifstream stream(file, std::ios::binary);
        for (int low = stream.get(), high = stream.get(); stream; low = stream.get(), high = stream.get()) {
            points.push_back(static_cast<float>(low + 256 * high) / 65536);
        }
    } else {
        std::ifstream stream(file);
        for (std::string line; std::getline(stream, line);) { // "v x y z"
            std::istringstream words(line);
            std::string kind;
            float x = 0;
            float y = 0;
            float z = 0;
            if (words >> kind >> x >> y >> z && kind == "v") {
                points.insert(points.end(), {x, y, z});
            }
        }
    }
    return points;
}

TEST_F(ManyPoints, OfRealSetsToo) {
    for (const auto& [name, box] : {std::pair("particles/hfof_cosmo32768.u16", Box::periodic(1)),
                                    std::pair("pointcloud/stanford_bunny.obj", Box{})}) {
        const std::filesystem::path file = std::filesystem::path(KITH_SHARED_DATA) / name;
        if (!std::filesystem::exists(file)) {
            GTEST_SKIP() << file << " is absent";
        }
        const std::vector<float> points = real_points(file);
        ASSERT_GE(points.size(), std::size_t{3} * 32'768) << file;
        const PointsView first(points.data(), sized(4096), 3);
        const auto expected = edges_of<float>(spanning_tree(first, {.box = box, .engine = Engine::brute_force}));
        EXPECT_EQ(difference(edges_of<float>(spanning_tree(first, {.box = box, .engine = Engine::tree})), expected), "")
            << file;
        // All points: each cut is the groups of its length.
        const PointsView all(points, 3);
        const SpanningTree tree = spanning_tree(all, {.box = box});
        for (const std::int64_t edge : {tree.count() / 10, tree.count() / 2, tree.count() - 2}) {
            const float height = tree.heights<float>()[static_cast<std::size_t>(edge)];
            for (const float length : {std::nextafter(height, 0.0F), height}) {
                const auto absolute = LinkingLength::absolute(static_cast<double>(length));
                EXPECT_EQ(fof(tree, absolute).label_array, fof(all, absolute, {.box = box}).label_array)
                    << file << length;
            }
        }
    }
}

// A million points at one place would take a square of that many steps, were they searched from each.
TEST_F(ManyPoints, CoincidentPointsTakeNoLonger) {
    std::vector<float> points(std::size_t{3} * 200'000, 0.25F);
    for (std::size_t i = 0; i < 3000; ++i) {
        points[i * 3] = static_cast<float>(i) / 8192;
    }
    const SpanningTree found = spanning_tree(PointsView(points, 3));
    EXPECT_EQ(found.weights<float>().back(), 1.0F / 8192);
    EXPECT_EQ(found.weights<float>()[196'000], 0.0F);
}

class SpanningTreeCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(300, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(SpanningTreeCalls, SayWhatTheyAreOf) {
    const SpanningTree tree = spanning_tree(view_, {.box = Box::periodic(1)});
    EXPECT_EQ(tree.points(), 300);
    EXPECT_EQ(tree.count(), 299);
    EXPECT_EQ(tree.dtype(), DType::float32);
    EXPECT_EQ(tree.box(), Box::periodic({1.0, 1.0, 1.0}).with_origin(0, 0).with_origin(1, 0).with_origin(2, 0));
    EXPECT_FALSE(tree.stages.empty());
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)tree.weights<double>(); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)tree.heights<double>(); }));
}

TEST_F(SpanningTreeCalls, BringStoredTreesBack) {
    const SpanningTree tree = spanning_tree(view_, {.box = Box::periodic(1)});
    const SpanningTree again(tree.facts(), tree.edges(), tree.weights<float>(), tree.heights<float>());
    EXPECT_EQ(edges_of<float>(again), edges_of<float>(tree));
    EXPECT_EQ(again.box(), tree.box());
    const auto length = LinkingLength::relative(0.6);
    EXPECT_EQ(fof(again, length).label_array, fof(tree, length).label_array);
    const auto refused = [&](const std::vector<std::string>& parts, std::span<const SpanningEdge> edges) {
        return is_refused(ErrorKind::invalid_argument, parts, [&] {
            (void)SpanningTree(tree.facts(), edges, tree.weights<float>(), tree.heights<float>());
        });
    };
    EXPECT_TRUE(refused({"299 edges", "298"}, tree.edges().first(298)));
    std::vector<SpanningEdge> edges(tree.edges().begin(), tree.edges().end());
    edges[7] = {4, 300};
    EXPECT_TRUE(refused({"edge 7", "4 and 300"}, edges));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32", "float64"}, [&] {
        (void)SpanningTree(tree.facts(), tree.edges(), std::span<const double>(), std::span<const double>());
    }));
}

TEST_F(SpanningTreeCalls, WarnOfAPlaceholder) {
    EXPECT_EQ(spanning_tree(view_).unresolved.warning(), "");
    std::vector<float> points = points_;
    points[3 * 17 + 1] = -1e37F;
    for (const Engine engine : engines_of(detail::Task::spanning_tree)) {
        const UnresolvedEdges found = spanning_tree(PointsView(points, 3), {.engine = engine}).unresolved;
        EXPECT_EQ(found.count, 298);
        EXPECT_EQ(found.farthest_point, 17);
        EXPECT_EQ(found.axis, 1);
        EXPECT_EQ(found.warning(), "298 edges join points that float32 cannot tell apart beside coordinate 1 of point "
                                   "17, -1e+37; their lengths have lost digits or are zero, and their order means "
                                   "little. Remove that point if it is a placeholder, or use float64");
    }
}

TEST_F(SpanningTreeCalls, RefuseWhatMeansNothing) {
    const Tree tree(view_);
    std::vector<float> not_finite = points_;
    not_finite[31] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"a tree has its own"},
                           [&] { (void)spanning_tree(tree, {.box = Box::periodic(1)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 10", "NaN"},
                           [&] { (void)spanning_tree(PointsView(not_finite, 3)); }));
    EXPECT_TRUE(lacks_its_gpu([&] { (void)spanning_tree(view_, {.execution = on_no_gpu}); }));
    const PhaseSpaceAt space{{view_, VelocityLength::absolute(1)}, LinkingLength::absolute(0.1)};
    EXPECT_TRUE(lacks_its_gpu([&] { (void)spanning_tree(view_, {.execution = on_no_gpu, .phase_space = space}); }));
}

TEST_F(SpanningTreeCalls, CanBeCanceledInAnyStage) {
    for (const Engine engine : engines_of(detail::Task::spanning_tree)) {
        const SpanningTree tree = spanning_tree(view_, {.engine = engine});
        ASSERT_FALSE(tree.stages.empty());
        for (const StageReport& stage : tree.stages) {
            const Execution execution = cpu(2, [&](std::string_view now, double) { return now != stage.name; });
            EXPECT_TRUE(is_refused(ErrorKind::canceled, {stage.name}, [&] {
                (void)spanning_tree(view_, {.engine = engine, .execution = execution});
            })) << stage.name;
        }
    }
}

} // namespace
} // namespace kith::test
