// Neighbors of other labels, bit for bit those of the oracle, on every point set; and what is refused.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using Labels = std::vector<std::int32_t>;

/// Of points: none alike, all alike, few without order, runs along an axis (whole nodes have one), one of its own.
template <class T>
std::vector<Labels> labels_of(const std::vector<T>& coordinates, int dimension) {
    const std::size_t count = coordinates.size() / static_cast<std::size_t>(dimension);
    std::vector<Labels> all(5, Labels(count, -1));
    std::vector<T> first;
    for (std::size_t i = 0; i < count; ++i) {
        first.push_back(coordinates[i * static_cast<std::size_t>(dimension)]);
    }
    std::vector<T> sorted = first;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < count; ++i) {
        all[0][i] = static_cast<std::int32_t>(i);
        all[2][i] = static_cast<std::int32_t>(i * i % 7 % 3) - 1;
        const auto rank = std::lower_bound(sorted.begin(), sorted.end(), first[i]) - sorted.begin();
        all[3][i] = static_cast<std::int32_t>(4 * rank / static_cast<std::ptrdiff_t>(count));
        all[4][i] = i == count / 2 ? std::numeric_limits<std::int32_t>::min() : 5;
    }
    return all;
}

class OtherLabels : public testing::TestWithParam<Case> {
protected:
    template <class T>
    static void expect_rows(const PointSet<T>& set, const Box& box, int dimension) {
        const PointsView view(set.coordinates, dimension);
        const std::vector<T> places = queries_for(set, box, 30);
        const PointsView queries(places, dimension);
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, dimension, box);
        const oracle::Neighbors<T> of_points(copy);
        const oracle::Neighbors<T> of_queries(copy, places);
        const Tree tree(view, {.box = box, .shape = {.leaf_size = 5}});
        const double reach = copy.count() > 1 ? 1.5 * static_cast<double>(of_points.rows(2).distances[1]) : 1;
        constexpr std::array<std::int64_t, 3> lengths{6, 1, 150}; // the last keeps candidates unsorted
        std::size_t number = 0;
        for (const Labels& labels : labels_of(set.coordinates, dimension)) {
            Labels others(static_cast<std::size_t>(queries.count()), 99);
            for (std::size_t i = 0; i < others.size() && !labels.empty(); ++i) {
                others[i] = i % 3 == 0 ? 99 : labels[(i * 5) % labels.size()];
            }
            const std::int64_t k = lengths[number++ % lengths.size()];
            KnnOptions options{.box = box, .execution = cpu(2)};
            EXPECT_TRUE(same_rows<T>(knn_other_labels(view, labels, k, options),
                                     of_points.rows_of_other_labels(k, labels, labels)));
            options = {.max_distance = reach, .squared = true, .execution = cpu(1)};
            EXPECT_TRUE(same_rows<T>(knn_other_labels(tree, labels, k, options),
                                     of_points.rows_of_other_labels(k, labels, labels, options)));
            EXPECT_TRUE(same_rows<T>(knn_other_labels(tree, labels, queries, others, k),
                                     of_queries.rows_of_other_labels(k, labels, others)));
        }
    }
};

TEST_P(OtherLabels, RowsAreTheOracles) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const int dimension = GetParam().dimension;
        const PointSet<T> set = point_set<T>(GetParam().set, dimension);
        for (const auto& [name, box] : set.boxes) {
            SCOPED_TRACE(name);
            expect_rows(set, box, dimension);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Neighbors, OtherLabels, testing::ValuesIn(every_case()), case_name);

class LabelRefusals : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(20, 3, 0, 1, 4);
    PointsView view{points, 3};
    Labels labels = Labels(20, 1);
};

TEST_F(LabelRefusals, NameWhatIsWrong) {
    const Labels few(19);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"19 labels", "20 points"},
                           [&] { (void)knn_other_labels(view, few, 2); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"19 labels", "20 queries"},
                           [&] { (void)knn_other_labels(view, labels, view, few, 2); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"z_order"},
                           [&] { (void)knn_other_labels(view, labels, 2, {.z_order = true}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self"},
                           [&] { (void)knn_other_labels(view, labels, view, labels, 2, {.exclude_self = true}); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"brute", "other labels", "auto, tree"},
                           [&] { (void)knn_other_labels(view, labels, 2, {.engine = Engine::brute_force}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"k is 0"}, [&] { (void)knn_other_labels(view, labels, 0); }));
}

} // namespace
} // namespace kith::test
