// Groups, their catalogs and spanning trees in phase space on the emulated GPU, by public functions, against the CPU,
// which is compared with the oracle elsewhere: the same bits, or the same refusal.
#include "emulation/calls_on_device.hpp"
#include "emulation/given_points.hpp"

#include "cuda_emulation/cuda_runtime.hpp"
#include "support/linking_lengths.hpp"
#include "support/special_numbers.hpp"
#include "support/velocities.hpp"

#include <kith/catalog.hpp>
#include <kith/catalog_columns.hpp>
#include <kith/fof.hpp>
#include <kith/spanning_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kith::test {
namespace {

Execution on_one_thread() { // what the host does
    Execution execution = cuda(1);
    execution.threads = 1;
    return execution;
}

/// What the call refuses, or nothing.
template <class Call>
std::string refusal_of(const Call& call) {
    try {
        call();
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

void expect_same_lengths(const ResolvedLengths& found, const ResolvedLengths& expected) {
    EXPECT_EQ(found.linking_length, expected.linking_length);
    EXPECT_EQ(found.volume, expected.volume);
    EXPECT_EQ(found.volume_kind, expected.volume_kind);
    EXPECT_EQ(found.velocity_length, expected.velocity_length);
    EXPECT_EQ(found.velocity_scale, expected.velocity_scale);
}

FofResult groups_on_device(const PointsView& points, const LinkingLength& length, FofOptions options) {
    options.execution = on_one_thread();
    FofResult found;
    std::vector<std::int32_t>& labels = found.label_array.vector<std::int32_t>();
    labels.assign(static_cast<std::size_t>(points.count()), -7);
    found.engine = options.engine;
    detail::on_gpu().fof(points, length, options, labels, found);
    return found;
}

/// Returns whether both give groups.
bool compare_groups(const PointsView& there, const PointsView& points, const PhaseSpace& in_memory_of_device,
                    const PhaseSpaceAt& at, const Box& box, Engine engine) {
    FofResult expected;
    FofResult found;
    const std::string refused = refusal_of([&] {
        expected = fof(points, at.linking_length, {.box = box, .execution = cpu(1), .phase_space = at.phase_space});
    });
    EXPECT_EQ(refusal_of([&] {
                  found = groups_on_device(there, at.linking_length,
                                           {.box = box, .engine = engine, .phase_space = in_memory_of_device});
              }),
              refused);
    if (refused.empty()) {
        EXPECT_EQ(found.label_array, expected.label_array);
        EXPECT_EQ(found.sizes, expected.sizes);
        EXPECT_EQ(found.groups, expected.groups);
        EXPECT_EQ(found.box, expected.box);
        EXPECT_EQ(found.wrapped_points, expected.wrapped_points);
        expect_same_lengths(found, expected);
    }
    return refused.empty();
}

template <class T>
void compare_trees(const PointsView& there, const PointsView& points, const PhaseSpace& in_memory_of_device,
                   const PhaseSpaceAt& at, const Box& box) {
    SpanningTree expected;
    SpanningTree found;
    const std::string refused =
        refusal_of([&] { expected = spanning_tree(points, {.box = box, .execution = cpu(1), .phase_space = at}); });
    EXPECT_EQ(refusal_of([&] {
                  found = detail::on_gpu().spanning_tree(
                      there,
                      {.box = box,
                       .execution = on_one_thread(),
                       .phase_space = PhaseSpaceAt{in_memory_of_device, at.linking_length}},
                      Engine::tree);
              }),
              refused);
    if (!refused.empty()) {
        return;
    }
    EXPECT_TRUE(std::ranges::equal(found.edges(), expected.edges()));
    EXPECT_TRUE(std::ranges::equal(found.weights<T>(), expected.weights<T>()));
    EXPECT_TRUE(std::ranges::equal(found.heights<T>(), expected.heights<T>()));
    EXPECT_EQ(found.box(), expected.box());
    EXPECT_EQ(found.mean_separation(), expected.mean_separation());
    EXPECT_EQ(found.velocity_scale(), expected.velocity_scale());
    EXPECT_EQ(found.facts().velocity_length, expected.facts().velocity_length);
    EXPECT_EQ(found.facts().linking_length, expected.facts().linking_length);
    EXPECT_EQ(found.facts().shortest_length, expected.facts().shortest_length);
    EXPECT_EQ(found.facts().wrapped_points, expected.facts().wrapped_points);
    EXPECT_EQ(found.unresolved.warning(), expected.unresolved.warning());
}

class PhaseSpaceOnDevice : public testing::TestWithParam<Case> {
protected:
    template <class T, class V>
    void compare_with_the_cpu() {
        const PointSet<T> set = point_set<T>(GetParam().set, 3);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{sizeof(T) + 7 * sizeof(V)}));
        detail::DeviceContext context(on_one_thread());
        for (const NamedBox& named : set.boxes) {
            const std::vector<V> velocities = velocities_for<V>(set.count(), 3, draw);
            std::vector<double> masses(static_cast<std::size_t>(set.count()));
            std::generate(masses.begin(), masses.end(), [&] { return draw.uniform(); });
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            const GivenPoints<T> points(context, set.view(), draw.integer(2) == 0);
            const GivenPoints<V> given(context, PointsView(velocities, 3), draw.integer(2) == 0);
            const Engine other = draw.integer(2) == 0 ? Engine::brute_force : Engine::kdtree;
            for (const Engine engine : {Engine::tree, other}) {
                const double length = lengths[static_cast<std::size_t>(draw.integer(std::ssize(lengths)))];
                const double psi =
                    std::vector<double>{0.05, 0.5, 2, infinity}[static_cast<std::size_t>(draw.integer(4))];
                const bool in_sigmas = psi != infinity && draw.integer(3) == 0;
                PhaseSpace phase_space{PointsView(velocities, 3),
                                       in_sigmas ? VelocityLength::sigmas(psi) : VelocityLength::absolute(psi)};
                if (draw.integer(2) == 0) {
                    phase_space.masses = ScalarsView(masses);
                }
                SCOPED_TRACE("box " + named.name + ", linking length " + std::to_string(length) + ", psi " +
                             std::to_string(psi) + (in_sigmas ? " sigmas, " : ", ") + name_of(engine));
                PhaseSpace there = phase_space;
                there.velocities = given.view();
                const PhaseSpaceAt at{phase_space, LinkingLength::absolute(length)};
                compare_groups(points.view(), set.view(), there, at, named.box, engine);
                if (engine == Engine::tree) {
                    const std::int64_t some = std::min<std::int64_t>(set.count(), 250);
                    const auto first = [&](const PointsView& all) { return all.subview(0, some); };
                    PhaseSpaceAt of_some = at;
                    of_some.phase_space.velocities = first(phase_space.velocities);
                    of_some.phase_space.masses.reset();
                    there.velocities = first(given.view());
                    there.masses.reset();
                    compare_trees<T>(first(points.view()), first(set.view()), there, of_some, named.box);
                }
            }
        }
    }
};

TEST_P(PhaseSpaceOnDevice, EqualsTheCpu) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        compare_with_the_cpu<T, T>();
        compare_with_the_cpu<T, std::conditional_t<std::is_same_v<T, float>, double, float>>();
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
}

std::vector<Case> cases_in_phase_space() {
    return is_built(6) ? every_case_in(3) : std::vector<Case>();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhaseSpaceOnDevice);
INSTANTIATE_TEST_SUITE_P(EveryCase, PhaseSpaceOnDevice, testing::ValuesIn(cases_in_phase_space()), case_name);

class PhaseSpaceCalls : public CallsOnDevice {
protected:
    void SetUp() override {
        CallsOnDevice::SetUp();
        if (!is_built(6)) {
            GTEST_SKIP() << "dimension 6 is not built";
        }
    }
    std::vector<float> points_ = clustered_points(300);
    PointsView view_{points_, 3};
    Random draw_{5};
    std::vector<double> velocities_ = velocities_for<double>(300, 3, draw_);
};

// A relative length in a box, and velocities that part what positions join.
TEST_F(PhaseSpaceCalls, PartGroupsOfPositions) {
    const PhaseSpaceAt at{{PointsView(velocities_, 3), VelocityLength::sigmas(0.5)}, LinkingLength::relative(0.6)};
    const Box box = Box::periodic(1);
    EXPECT_GT(fof(view_, at.linking_length, {.box = box, .execution = cpu(1), .phase_space = at.phase_space}).groups,
              fof(view_, at.linking_length, {.box = box, .execution = cpu(1)}).groups);
    for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::kdtree}) {
        EXPECT_TRUE(compare_groups(view_, view_, at.phase_space, at, box, engine));
        const FofResult found =
            groups_on_device(view_, at.linking_length, {.box = box, .engine = engine, .phase_space = at.phase_space});
        EXPECT_EQ(found.engine, engine);
        std::string stages;
        for (const StageReport& stage : found.stages) {
            stages += stage.name + " ";
        }
        EXPECT_EQ(stages, engine == Engine::tree ? "upload order tree link download " : "upload order link download ");
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(PhaseSpaceCalls, DescribeGroups) {
    const PhaseSpace phase_space{PointsView(velocities_, 3), VelocityLength::absolute(1)};
    const auto length = LinkingLength::absolute(0.1);
    Particles particles;
    particles.positions = view_;
    particles.velocities = phase_space.velocities;
    const Catalog expected = catalog(fof(view_, length, {.execution = cpu(1), .phase_space = phase_space}), particles,
                                     {.min_members = 2, .execution = cpu(1)});
    const FofResult groups = groups_on_device(view_, length, {.engine = Engine::tree, .phase_space = phase_space});
    const Catalog found = detail::catalog_on_device({groups.labels(), groups.sizes}, particles, groups,
                                                    {.min_members = 2, .execution = cuda()});
    EXPECT_GT(found.groups, 1);
    EXPECT_EQ(found.groups, expected.groups);
    EXPECT_EQ(found.member_array, expected.member_array);
    for_each_field(found, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
        EXPECT_EQ(values, expected.*std::get<std::vector<T> Catalog::*>(column.values)) << column.field;
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(PhaseSpaceCalls, RefuseAsTheCpuDoes) {
    const auto compare = [&](const VelocityLength& psi, const LinkingLength& length) {
        const PhaseSpaceAt at{{PointsView(velocities_, 3), psi}, length};
        EXPECT_FALSE(compare_groups(view_, view_, at.phase_space, at, {}, Engine::tree));
        compare_trees<float>(view_, view_, at.phase_space, at, {});
    };
    compare(VelocityLength::absolute(1), LinkingLength::absolute(0));
    compare(VelocityLength::absolute(1e-300), LinkingLength::absolute(1e30));
    compare(VelocityLength::absolute(1e-39), LinkingLength::absolute(1));
    velocities_[3 * 70 + 1] = std::numeric_limits<double>::quiet_NaN();
    compare(VelocityLength::absolute(1), LinkingLength::absolute(0.1));
    std::fill(velocities_.begin(), velocities_.end(), 3.0);
    compare(VelocityLength::sigmas(1), LinkingLength::absolute(0.1));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
