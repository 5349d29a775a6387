// Searches for groups that only put work on a stream, on the emulated device, beyond what the suite of all searches
// asks of them (groups/conformance_test.cpp): trees of every shape, built and kept; and what cannot be searched is said,
// at once or in the status.
#include "calls/device_calls.hpp"

#include "emulation/async_groups.hpp"
#include "emulation/kept_tree.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
using detail::DeviceFofAsync;

void expect_groups(const FofResult& expected, AsyncGroups& found, const std::string& what) {
    found.run();
    EXPECT_EQ(found.status().refusal, PointError::none) << what;
    const DeviceFofSummary summary = found.summary();
    EXPECT_EQ(found.labels(), expected.label_array) << what;
    EXPECT_EQ(summary.groups, static_cast<std::int64_t>(expected.sizes.size())) << what;
    EXPECT_EQ(summary.linking_length, expected.linking_length) << what;
    EXPECT_EQ(summary.volume, expected.volume) << what;
    EXPECT_EQ(summary.volume_kind, expected.volume_kind) << what;
}

std::string described(std::int64_t points, LinkingLength length) {
    return std::to_string(points) + " points, length " + std::to_string(length.value()) +
           (length.is_relative() ? " relative" : "");
}

/// The groups of row-major points.
template <class T>
void expect_groups_of_the_cpu(const std::vector<T>& points, int dimension, LinkingLength length, const Box& box,
                              Engine engine) {
    const FofResult expected = fof(PointsView(points, dimension), length, {.box = box, .execution = cpu(1)});
    DeviceContext context(cuda(1));
    const ThereOn<T> there(context, points);
    AsyncGroups found(there.points(dimension), length, box, engine);
    expect_groups(expected, found, name_of(engine) + ", " + described(expected.labels().size(), length));
}

using FofAsyncAlone = NeedsDimension<3>;

// Around every number at which a leaf or a plane is full; all single, all in pairs, all in one group.
TEST_F(FofAsyncAlone, TreesOfEveryShape) {
    for (const std::int64_t count : {0, 1, 2, 3, 31, 32, 33, 64, 65, 1023, 1024, 1025}) {
        std::vector<double> points = uniform_points<double>(count, 3, -0.2, 1.1, 5);
        for (const double length : {0.0, 0.1, 5.0}) {
            expect_groups_of_the_cpu<double>(points, 3, LinkingLength::absolute(length), Box::periodic(1),
                                             Engine::tree);
        }
        const std::vector<double> once = points; // now all in pairs
        points.insert(points.end(), once.begin(), once.end());
        expect_groups_of_the_cpu<double>(points, 3, LinkingLength::absolute(0), Box{}, Engine::tree);
        expect_groups_of_the_cpu<double>(points, 3, LinkingLength::absolute(0), Box{}, Engine::automatic);
    }
    const std::vector<float> clump(3 * 5000, 0.7F);
    expect_groups_of_the_cpu<float>(clump, 3, LinkingLength::absolute(0), Box{}, Engine::tree);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

// Trees with more planes than one, of few points and none; some of the points lie outside the box.
TEST_F(FofAsyncAlone, LabelsKeptTreesOfEveryShape) {
    for (const std::int64_t count : {0, 1, 33, 1025}) {
        std::vector<float> points = uniform_points<float>(count, 3, -0.2, 1.1, 5);
        const std::vector<float> once = points;
        points.insert(points.end(), once.begin(), once.begin() + static_cast<std::ptrdiff_t>(count / 3 * 3));
        DeviceContext context(cuda(1));
        const ThereOn<float> points_there(context, points);
        for (const int leaf_size : {1, 7, 32}) {
            for (const Box& box : {Box{}, Box::periodic(1)}) {
                const Tree tree =
                    tree_there(points_there.points(3),
                               {.box = box, .shape = {.leaf_size = leaf_size, .top_size = 8}, .execution = cuda(1)});
                for (const LinkingLength length : {LinkingLength::absolute(0), LinkingLength::relative(0.6)}) {
                    if (count < 2 && length.is_relative()) {
                        continue; // such points have no volume
                    }
                    AsyncGroups found(tree, length, {}, Engine::automatic);
                    expect_groups(fof(PointsView(points, 3), length, {.box = box, .execution = cpu(1)}), found,
                                  described(tree.size(), length) + ", leaves of " + std::to_string(leaf_size));
                }
            }
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

/// What a call that waits throws, and what the status says of it.
template <class T>
void expect_status(PointError refusal, const std::vector<T>& points, LinkingLength length, const Box& box) {
    std::string expected = "nothing was refused";
    ErrorKind kind{};
    try {
        (void)fof(PointsView(points, 3), length, {.box = box, .execution = cpu(1)});
    } catch (const Error& error) {
        expected = error.what();
        kind = error.kind();
    }
    EXPECT_NE(expected, "nothing was refused");
    DeviceContext context(cuda(1));
    const ThereOn<T> there(context, points);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        AsyncGroups found(there.points(3), length, box, engine);
        found.run();
        const DeviceStatus status = found.status();
        EXPECT_EQ(static_cast<int>(status.refusal), static_cast<int>(refusal));
        EXPECT_TRUE(is_refused(kind, {expected}, [&] { check(status); }));
    }
    if (refusal != PointError::points_not_finite && refusal != PointError::points_too_wide) { // else there is no tree
        const Tree tree = tree_there(there.points(3), {.box = box, .execution = cuda(1)});
        AsyncGroups found(tree, length, {}, Engine::tree);
        found.run();
        const DeviceStatus status = found.status();
        EXPECT_EQ(static_cast<int>(status.refusal), static_cast<int>(refusal));
        EXPECT_TRUE(is_refused(kind, {expected}, [&] { check(status); }));
    }
}

TEST_F(FofAsyncAlone, StatusSaysWhatTheHostWouldThrow) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 8);
    expect_status<float>(PointError::length_too_large, points, LinkingLength::relative(1e300), Box{});
    expect_status<float>(PointError::length_too_large, points, LinkingLength::relative(1e40), Box::periodic(1));
    const std::vector<double> doubles(points.begin(), points.end());
    expect_status<double>(PointError::length_too_large, doubles, LinkingLength::relative(1e308), Box::periodic(100));
    points[200] = 1e37F;
    expect_status<float>(PointError::length_unresolved, points, LinkingLength::absolute(1e3), Box{});
    expect_status<float>(PointError::length_unresolved, points, LinkingLength::relative(1e-35), Box{});
    points[200] = 0;
    expect_status<float>(PointError::length_unresolved, points, LinkingLength::absolute(1e-7), Box::periodic(1e30));
    points[200] = std::numeric_limits<float>::quiet_NaN();
    expect_status<float>(PointError::points_not_finite, points, LinkingLength::relative(0.2), Box{});
    points[200] = 3;
    expect_status<float>(PointError::points_too_wide, points, LinkingLength::absolute(0.2), Box::periodic(1));
    for (std::size_t i = 1; i < points.size(); i += 3) {
        points[i] = 0.5F;
    }
    expect_status<float>(PointError::no_volume, points, LinkingLength::relative(0.2), Box{});
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(FofAsyncAlone, RefusesAtOnceWhatTheHostCanTell) {
    const std::vector<float> points = uniform_points<float>(70, 3, 0, 1, 9);
    DeviceContext context(cuda(1));
    const ThereOn<float> there(context, points);
    AsyncGroups trial(there.points(3), LinkingLength::absolute(0.1), Box::periodic(1), Engine::tree);
    const std::int64_t bytes = trial.bytes_needed();
    const Scratch scratch(trial.context(), bytes);
    const DeviceFofAsync good = trial.fof();
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& parts, const DeviceFofAsync& fof,
                             std::span<std::byte> memory) {
        testing::AssertionResult result = testing::AssertionSuccess();
        expect_no_requests(
            [&] { result = is_refused(kind, parts, [&] { detail::fof_async_on_device(fof, memory); }); });
        return result;
    };
    const auto argument = ErrorKind::invalid_argument;
    EXPECT_TRUE(refuses(ErrorKind::out_of_memory, {std::to_string(bytes), std::to_string(bytes - 1)}, good,
                        scratch.span().first(scratch.span().size() - 1)));
    DeviceFofAsync fof = good;
    fof.points = PointsView(points, 3);
    EXPECT_TRUE(refuses(argument, {"points", "memory of the host"}, fof, scratch.span()));
    fof = good;
    fof.length = LinkingLength::absolute(-1);
    EXPECT_TRUE(refuses(argument, {"linking length", "-1"}, fof, scratch.span()));
    fof = good;
    fof.length = LinkingLength::absolute(1e60);
    EXPECT_TRUE(refuses(argument, {"linking length", "1e+60", "float32"}, fof, scratch.span()));
    fof = good;
    std::vector<std::int32_t> labels(70);
    fof.labels = labels.data();
    EXPECT_TRUE(refuses(argument, {"labels", "GPU 1"}, fof, scratch.span()));
    fof = good;
    fof.summary = nullptr;
    EXPECT_TRUE(refuses(argument, {"summary"}, fof, scratch.span()));
    fof = good;
    fof.status = nullptr;
    EXPECT_TRUE(refuses(argument, {"status"}, fof, scratch.span()));

    const auto refuses_tree = [](ErrorKind kind, const std::vector<std::string>& parts, const Tree& tree,
                                 const FofOptions& options) {
        return is_refused(kind, parts, [&] {
            AsyncGroups kept(tree, LinkingLength::absolute(0.1), options.box, options.engine);
            kept.fof().options.phase_space = options.phase_space;
            kept.run();
        });
    };
    const Tree tree = tree_there(there.points(3), {.execution = cuda(1)});
    EXPECT_TRUE(refuses_tree(argument, {"a tree has its own"}, tree, {.box = Box::periodic(1)}));
    EXPECT_TRUE(refuses_tree(argument, {"'brute'", "of the engine 'tree'"}, tree, {.engine = Engine::brute_force}));
    EXPECT_TRUE(refuses_tree(argument, {"built on GPU 0", "on GPU 1"},
                             tree_there(PointsView(points, 3), {.execution = cuda(0)}), {}));
    EXPECT_TRUE(refuses_tree(argument, {"GPU"}, Tree(PointsView(points, 3), {.execution = cpu(1)}), {}));
    EXPECT_TRUE(refuses_tree(ErrorKind::unsupported, {"phase space", "asynchronously"}, tree,
                             {.phase_space = PhaseSpace{there.points(3), VelocityLength::absolute(1)}}));
}

} // namespace
} // namespace kith::test
