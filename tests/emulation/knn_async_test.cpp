// Searches that only put work on a stream, on the emulated device, beyond what the suite of all searches asks of them
// (neighbors/conformance_test.cpp): trees of every shape, every layout; and what cannot be searched is said, at once or
// in the status.
#include "calls/device_calls.hpp"

#include "emulation/async_search.hpp"
#include "emulation/kept_tree.hpp"
#include "points/frame.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
using detail::DeviceKnnAsync;

template <class T>
std::string described(std::int64_t points, std::int64_t k, const KnnOptions& options, bool self) {
    return std::to_string(points) + " points, k " + std::to_string(k) + ", " + name_of(options.engine) +
           (self ? ", self-search" : "") + (options.exclude_self ? ", exclude_self" : "") + ", max_distance " +
           std::to_string(options.max_distance) + (options.squared ? ", squared" : "");
}

/// One search among row-major points.
template <class T, class Index = std::int32_t>
void expect_rows_of_the_oracle(const std::vector<T>& points, const std::vector<T>* queries, int dimension,
                               const Box& box, std::int64_t k, KnnOptions options) {
    options.box = box;
    DeviceContext context(cuda(1));
    const ThereOn<T> points_there(context, points);
    const ThereOn<T> queries_there(context, queries != nullptr ? *queries : std::vector<T>());
    AsyncTrial<T, Index> trial(points_there.points(dimension),
                               queries != nullptr ? std::optional(queries_there.points(dimension)) : std::nullopt, k,
                               options);
    trial.run();
    EXPECT_EQ(trial.status().refusal, PointError::none);
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, box);
    const oracle::Neighbors<T> expected =
        queries == nullptr ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(*queries));
    EXPECT_TRUE(same_rows<T>(trial.rows(), expected.rows(k, options), k))
        << described<T>(static_cast<std::int64_t>(points.size()) / dimension, k, options, queries == nullptr);
}

using KnnAsyncAlone = NeedsDimension<3>;

// Around every number at which a leaf or a plane is full; more neighbors than points.
TEST_F(KnnAsyncAlone, TreesOfEveryShape) {
    for (const std::int64_t count : {0, 1, 2, 31, 32, 33, 64, 65, 1023, 1024, 1025}) {
        const std::vector<float> points = uniform_points<float>(count, 3, -0.2, 1.1, 5);
        const std::int64_t k = count < 100 ? count + 2 : 2;
        expect_rows_of_the_oracle<float>(points, nullptr, 3, Box::periodic(1), k, {.engine = Engine::tree});
        for (const std::int64_t others : {0, 1, 33}) {
            const std::vector<float> queries = uniform_points<float>(others, 3, -0.4, 1.5, 6);
            expect_rows_of_the_oracle<float>(points, &queries, 3, Box{}, 3, {.engine = Engine::tree});
            expect_rows_of_the_oracle<float>(points, &queries, 3, Box::periodic({0, 1, 0}), 3, {});
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(KnnAsyncAlone, ReadsEveryLayout) {
    const std::vector<double> numbers = uniform_points<double>(400, 3, 0, 1, 8);
    DeviceContext context(cuda(1));
    const ThereOn<double> there(context, numbers);
    const auto view = [](const double* data, std::int64_t offset, std::int64_t count, std::int64_t stride,
                         std::int64_t axis_stride, Device device) {
        return PointsView(data + offset, DType::float64, count, 3, stride, axis_stride, device);
    };
    struct Layout {
        std::int64_t offset, count, stride, axis_stride;
    };
    for (const Layout& layout :
         {Layout{0, 100, 1, 400}, Layout{1199, 100, -3, -1}, Layout{5, 50, 7, 2}, Layout{1, 30, 0, 1}}) {
        SCOPED_TRACE(layout.stride);
        AsyncTrial<double, std::int32_t> trial(
            view(there.data(), layout.offset, layout.count, layout.stride, layout.axis_stride, cuda(1).device), {}, 4,
            {.engine = Engine::tree});
        trial.run();
        const KnnResult expected =
            knn(view(numbers.data(), layout.offset, layout.count, layout.stride, layout.axis_stride, {}), 4,
                {.execution = cpu(1)});
        EXPECT_TRUE(same_rows<double>(trial.rows(), rows_of<double>(expected), 4));
    }
}

TEST_F(KnnAsyncAlone, EitherHalfOfTheRowsMayBeLeftOut) {
    const std::vector<float> points = uniform_points<float>(70, 3, 0, 1, 9);
    DeviceContext context(cuda(1));
    const ThereOn<float> there(context, points);
    AsyncTrial<float, std::int32_t> whole(there.points(3), {}, 5, {.engine = Engine::tree});
    whole.run();
    const ThereOn<std::int32_t> indices(context, 70 * 5);
    AsyncTrial<float, std::int32_t> half(there.points(3), {}, 5, {.engine = Engine::tree});
    const NeighborRows only_indices(indices.span(), std::span<float>());
    half.search().call.rows = &only_indices;
    half.run();
    const std::vector<std::int32_t> found = indices.on_host();
    EXPECT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), whole.rows().indices);
}

// Trees with more planes than one, of few points and none.
TEST_F(KnnAsyncAlone, SearchesKeptTreesOfEveryShape) {
    for (const std::int64_t count : {0, 1, 33, 1025}) {
        const std::vector<float> points = uniform_points<float>(count, 3, -0.2, 1.1, 5);
        DeviceContext context(cuda(1));
        const ThereOn<float> points_there(context, points);
        for (const int leaf_size : {1, 7, 32}) {
            const Tree tree = tree_there(
                points_there.points(3),
                {.box = Box::periodic(1), .shape = {.leaf_size = leaf_size, .top_size = 8}, .execution = cuda(1)});
            const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
            AsyncTrial<float, std::int32_t> of_all(tree, {}, 3, {});
            of_all.run();
            EXPECT_TRUE(same_rows<float>(of_all.rows(), oracle::Neighbors<float>(copy).rows(3), 3));
            for (const std::int64_t others : {0, 1, 40}) {
                const std::vector<float> queries = uniform_points<float>(others, 3, -0.4, 1.5, 6);
                const ThereOn<float> queries_there(context, queries);
                for (const std::int64_t k : {2, 70}) {
                    AsyncTrial<float, std::int32_t> trial(tree, queries_there.points(3), k, {});
                    trial.run();
                    EXPECT_EQ(trial.status().refusal, PointError::none);
                    EXPECT_TRUE(same_rows<float>(
                        trial.rows(), oracle::Neighbors<float>(copy, std::span<const float>(queries)).rows(k), k));
                }
            }
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(KnnAsyncAlone, LeavesRowsOfAKeptTreeInItsOrder) {
    const std::vector<float> points = uniform_points<float>(200, 3, 0, 1, 9);
    DeviceContext context(cuda(1));
    const ThereOn<float> there(context, points);
    const Tree tree = tree_there(there.points(3), {.execution = cuda(1)});
    AsyncTrial<float, std::int32_t> trial(tree, {}, 4, {.z_order = true});
    trial.run();
    EXPECT_EQ(trial.queries(), context.to_host(tree.order().data(), 200));
    EXPECT_TRUE(
        same_rows<float>(trial.rows(), rows_of<float>(knn(PointsView(points, 3), 4, {.execution = cpu(1)})), 4));
}

TEST_F(KnnAsyncAlone, RefusesQueriesOfAKeptTree) {
    const std::vector<float> points = uniform_points<float>(70, 3, 0, 1, 9);
    std::vector<float> queries = uniform_points<float>(20, 3, 0, 1, 8);
    DeviceContext context(cuda(1));
    const ThereOn<float> there(context, points);
    const Tree tree = tree_there(there.points(3), {.execution = cuda(1)});
    const auto status_of = [&](std::size_t place, float value) {
        std::vector<float> changed = queries;
        changed[place] = value;
        const ThereOn<float> queries_there(context, changed);
        AsyncTrial<float, std::int32_t> trial(tree, queries_there.points(3), 4, {});
        trial.run();
        return trial.status();
    };
    EXPECT_EQ(status_of(13, std::numeric_limits<float>::quiet_NaN()).refusal, PointError::queries_not_finite);
    EXPECT_EQ(status_of(13, 1e30F).refusal, PointError::queries_too_far);
    EXPECT_EQ(status_of(13, 0.5F).refusal, PointError::none);

    const auto refuses = [](const std::vector<std::string>& parts, const Tree& kept, const KnnOptions& options) {
        return is_refused(ErrorKind::invalid_argument, parts, [&] {
            AsyncTrial<float, std::int32_t> trial(kept, {}, 4, options);
            trial.run();
        });
    };
    EXPECT_TRUE(refuses({"a tree has its own"}, tree, {.box = Box::periodic(1)}));
    EXPECT_TRUE(refuses({"'brute'", "of the engine 'tree'"}, tree, {.engine = Engine::brute_force}));
    EXPECT_TRUE(refuses({"built on GPU 0", "on GPU 1"}, tree_there(PointsView(points, 3), {.execution = cuda(0)}), {}));
    EXPECT_TRUE(refuses({"GPU"}, Tree(PointsView(points, 3), {.execution = cpu(1)}), {}));
}

/// What a call that waits throws.
template <class T>
std::string text_of_the_host(const std::vector<T>& points, const std::vector<T>* queries, const Box& box) {
    try {
        const auto normalized = detail::normalize_sources<T>(PointsView(points, 3), box);
        if (queries != nullptr) {
            (void)detail::normalize_queries<T>(PointsView(*queries, 3), normalized.frame);
        }
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

template <class T>
void expect_status(PointError refusal, ErrorKind kind, const std::vector<T>& points, const std::vector<T>* queries,
                   const Box& box) {
    const std::string expected = text_of_the_host(points, queries, box);
    EXPECT_NE(expected, "nothing was refused");
    DeviceContext context(cuda(1));
    const ThereOn<T> points_there(context, points);
    const ThereOn<T> queries_there(context, queries != nullptr ? *queries : std::vector<T>());
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        for (const std::int64_t k : {3, 70}) {
            AsyncTrial<T, std::int32_t> trial(
                points_there.points(3), queries != nullptr ? std::optional(queries_there.points(3)) : std::nullopt, k,
                {.box = box, .engine = engine});
            trial.run();
            const DeviceStatus status = trial.status();
            EXPECT_EQ(static_cast<int>(status.refusal), static_cast<int>(refusal));
            try {
                check(status);
                ADD_FAILURE() << "nothing was thrown";
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), kind);
                EXPECT_EQ(error.what(), expected);
            }
        }
    }
}

TEST_F(KnnAsyncAlone, StatusSaysWhatTheHostWouldThrow) {
    const std::vector<float> good = uniform_points<float>(100, 3, 0, 1, 8);
    const auto with = [&](std::size_t place, float value) {
        std::vector<float> changed = good;
        changed[place] = value;
        return changed;
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto points_kind = ErrorKind::invalid_points;
    expect_status<float>(PointError::points_not_finite, points_kind, with(200, nan), nullptr, Box{});
    expect_status<float>(PointError::points_not_finite, points_kind, with(7, -infinity), &good, Box::periodic(1));
    expect_status<float>(PointError::points_too_wide, points_kind, with(8, 3), nullptr, Box::periodic(1));
    expect_status<float>(PointError::origin_too_far, ErrorKind::invalid_argument, good, &good,
                         Box::periodic(1).with_origin(1, 1e30));
    const std::vector<float> not_finite = with(13, nan);
    expect_status<float>(PointError::queries_not_finite, points_kind, good, &not_finite, Box{});
    std::vector<float> far = with(14, 1e30F);
    far[200] = -1e30F;
    expect_status<float>(PointError::queries_too_far, points_kind, good, &far, Box{});
    std::vector<double> doubles(good.begin(), good.end());
    doubles[100] = std::numeric_limits<double>::infinity();
    expect_status<double>(PointError::points_not_finite, points_kind, doubles, nullptr, Box{});
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(KnnAsyncAlone, RefusesAtOnceWhatTheHostCanTell) {
    const std::vector<float> points = uniform_points<float>(70, 3, 0, 1, 9);
    DeviceContext context(cuda(1));
    const ThereOn<float> there(context, points);
    AsyncTrial<float, std::int32_t> trial(there.points(3), {}, 4, {.box = Box::periodic(1), .engine = Engine::tree});
    const std::int64_t bytes = trial.bytes_needed();
    const Scratch scratch(trial.context(), bytes);
    const DeviceKnnAsync good = trial.search();
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& parts, const DeviceKnnAsync& search,
                             std::span<std::byte> memory) {
        testing::AssertionResult result = testing::AssertionSuccess();
        expect_no_requests(
            [&] { result = is_refused(kind, parts, [&] { detail::knn_async_on_device(search, memory); }); });
        return result;
    };
    const auto argument = ErrorKind::invalid_argument;
    EXPECT_TRUE(refuses(ErrorKind::out_of_memory, {std::to_string(bytes), std::to_string(bytes - 1)}, good,
                        scratch.span().first(scratch.span().size() - 1)));
    std::vector<std::byte> of_the_host(static_cast<std::size_t>(bytes));
    EXPECT_TRUE(refuses(argument, {"scratch", "GPU 1"}, good, of_the_host));

    DeviceKnnAsync search = good;
    search.call.options.execution = cpu();
    EXPECT_TRUE(refuses(argument, {"GPU", "kith::cuda()"}, search, scratch.span()));
    search.call.options.execution = cuda(0);
    EXPECT_TRUE(refuses(argument, {"points", "GPU 0"}, search, scratch.span()));
    search = good;
    search.points = PointsView(points, 3);
    EXPECT_TRUE(refuses(argument, {"points", "memory of the host"}, search, scratch.span()));
    search = good;
    search.queries = PointsView(points, 3);
    EXPECT_TRUE(refuses(argument, {"queries", "memory of the host"}, search, scratch.span()));
    search.queries = there.points(2);
    EXPECT_TRUE(refuses(argument, {"queries", "2", "3"}, search, scratch.span()));
    search = good;
    search.call.k = 0;
    EXPECT_TRUE(refuses(argument, {"k is 0"}, search, scratch.span()));
    search = good;
    search.call.options.engine = Engine::clover; // its cells are the host's work
    EXPECT_TRUE(
        refuses(ErrorKind::unsupported, {"'clover'", "asynchronously", "auto, tree, brute"}, search, scratch.span()));
    search = good;
    search.call.options.max_distance = -1;
    EXPECT_TRUE(refuses(argument, {"max_distance"}, search, scratch.span()));
    search = good;
    search.call.options.box = Box::periodic({1.0, 1.0});
    EXPECT_TRUE(refuses(argument, {"2 periods"}, search, scratch.span()));
    search.call.options.box = Box::periodic(1e-60);
    EXPECT_TRUE(refuses(argument, {"1e-60", "cannot express"}, search, scratch.span()));
    search = good;
    DeviceStatus status_of_the_host;
    search.status = &status_of_the_host;
    EXPECT_TRUE(refuses(argument, {"status"}, search, scratch.span()));
    search.status = nullptr;
    EXPECT_TRUE(refuses(argument, {"status"}, search, scratch.span()));
    search = good;
    std::vector<std::int32_t> indices(280);
    std::vector<float> distances(280);
    const NeighborRows on_host{std::span(indices), std::span(distances)};
    search.call.rows = &on_host;
    EXPECT_TRUE(refuses(argument, {"indices", "GPU 1"}, search, scratch.span()));
    const NeighborRows short_rows{std::span(indices).first(279), std::span(distances)};
    search.call.rows = &short_rows;
    EXPECT_TRUE(refuses(argument, {"indices", "279"}, search, scratch.span()));
    EXPECT_TRUE(is_refused(argument, {"k is 0"}, [&] {
        (void)detail::knn_async_bytes_on_device(AsyncTreeSize{.points = 5}, {}, 0, Engine::automatic, cuda(1));
    }));
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"3000000000"}, [&] {
        (void)detail::knn_async_bytes_on_device(AsyncTreeSize{.points = 3000000000}, {}, 1, Engine::automatic, cuda(1));
    }));
}

TEST(DeviceStatusOfTheHost, OfAnotherKindIsRefused) {
    EXPECT_NO_THROW(check(DeviceStatus{}));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"status is 99"},
                           [] { check(DeviceStatus{static_cast<PointError>(99)}); }));
}

} // namespace
} // namespace kith::test
