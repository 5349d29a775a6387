// Subnormal numbers count even where the host process has switched them off, and its setting is left as it was.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>

namespace kith::test {
namespace {

constexpr unsigned flush_to_zero_and_denormals_are_zero = 0x8040;

// Switches subnormals off for this thread while it lives.
class SubnormalsOff {
public:
    SubnormalsOff() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | flush_to_zero_and_denormals_are_zero); }
    ~SubnormalsOff() { _mm_setcsr(saved_); }
    SubnormalsOff(const SubnormalsOff&) = delete;
    SubnormalsOff& operator=(const SubnormalsOff&) = delete;

    [[nodiscard]] static bool still_off() {
        return (_mm_getcsr() & flush_to_zero_and_denormals_are_zero) == flush_to_zero_and_denormals_are_zero;
    }

private:
    unsigned saved_;
};

template <class T>
void check_subnormals(const std::string& name) {
    const PointSet<T> set = point_set<T>(name, 3);
    for (const NamedBox& named : set.boxes) {
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, 3, named.box);
        const oracle::Neighbors<T> neighbors(copy);
        const oracle::Rows<T> expected = neighbors.rows(12);
        const double radius = static_cast<double>(expected.distances[12 * 40 + 6]);
        const oracle::Rows<T> expected_near = neighbors.rows(12, {.max_distance = radius});
        const Tree tree(set.view(), {.box = named.box});
        const PointsView few_points(set.coordinates.data(), std::min<std::int64_t>(set.count(), 50), 3);
        const oracle::Rows<T> expected_few =
            oracle::Neighbors<T>(
                copy, std::span<const T>(set.coordinates).first(static_cast<std::size_t>(few_points.count() * 3)))
                .rows(12);
        {
            const SubnormalsOff off;
            const KnnResult few = knn(tree, few_points, 12, {.execution = cpu(1)});
            EXPECT_TRUE(SubnormalsOff::still_off());
            EXPECT_TRUE(same_rows<T>(few, expected_few)) << name << ", " << named.name << ", few queries of a tree";
        }
        const oracle::Groups expected_groups = oracle::groups(copy, radius);
        for (const Engine engine : {Engine::tree, Engine::brute_force}) {
            for (const int threads : {1, 3}) {
                bool still_off = false;
                const auto [found, near, linked] = [&] {
                    const SubnormalsOff off;
                    auto answers = std::tuple{
                        knn(set.view(), 12, {.box = named.box, .engine = engine, .execution = cpu(threads)}),
                        knn(set.view(), 12,
                            {.box = named.box, .max_distance = radius, .engine = engine, .execution = cpu(threads)}),
                        fof(set.view(), LinkingLength::absolute(radius),
                            {.box = named.box, .engine = engine, .execution = cpu(threads)})};
                    still_off = SubnormalsOff::still_off();
                    return answers;
                }();
                EXPECT_TRUE(still_off);
                EXPECT_TRUE(same_rows<T>(found, expected)) << name << ", " << named.name << ", " << name_of(engine);
                EXPECT_TRUE(same_rows<T>(near, expected_near)) << name << ", " << named.name << ", " << name_of(engine);
                EXPECT_TRUE(same_groups(linked, expected_groups))
                    << name << ", " << named.name << ", " << name_of(engine);
            }
        }
    }
}

class Subnormals : public NeedsDimension<3> {};

TEST_F(Subnormals, CountWhereTheHostSwitchedThemOff) {
    check_subnormals<float>("subnormal");
    check_subnormals<double>("subnormal");
    check_subnormals<float>("many_scales");
    check_subnormals<double>("many_scales");
}

TEST_F(Subnormals, SettingsAreLeftAsTheyWereAfterARefusal) {
    std::vector<float> points(30, 0.5F);
    points[7] = -std::numeric_limits<float>::infinity();
    const SubnormalsOff off;
    EXPECT_THROW((void)knn(PointsView(points, 3), 2), Error);
    EXPECT_TRUE(SubnormalsOff::still_off());
}

} // namespace
} // namespace kith::test
#endif
