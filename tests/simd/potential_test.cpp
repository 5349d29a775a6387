// Potentials have the same bits with every instruction set.
#include "halos/potential.hpp"
#include "points/frame.hpp"
#include "simd/only_target.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using namespace detail;
using namespace detail::halos;

std::vector<double> potentials_of(const std::vector<float>& points, SofteningKernel kernel) {
    const std::int64_t count = std::ssize(points) / 3;
    Particles particles;
    particles.positions = PointsView(points, 3);
    std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<std::int64_t> offset{0, 70, count}; // by all pairs, and by a tree
    std::vector<double> found(static_cast<std::size_t>(count));
    Context context(cpu(1));
    context.stage("potentials", [&] {
        const Columns columns =
            columns_of(particles, 0, position_frame(normalize_sources<float>(particles.positions, {}).frame));
        group_potentials(context, columns, {rows, offset}, {kernel, 0.05}, found);
    });
    return found;
}

using PotentialsOfEveryTarget = NeedsDimension<3>;

TEST_F(PotentialsOfEveryTarget, HaveTheSameBits) {
    const std::vector<float> points = uniform_points<float>(1200, 3, 0, 1, 45);
    for (const SofteningKernel kernel : {SofteningKernel::spline, SofteningKernel::plummer}) {
        const std::vector<double> expected = potentials_of(points, kernel);
        for (const std::int64_t target : targets()) {
            const OnlyTarget only(target);
            EXPECT_EQ(potentials_of(points, kernel), expected) << hwy::TargetName(target);
        }
    }
}

} // namespace
} // namespace kith::test
