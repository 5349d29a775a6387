// Trees in the caller's memory, built and searched without a wait on the emulated device: the answers of the CPU, also
// from a copy of the memory; what is refused when a tree is built, and when it is searched.
#include "calls/device_calls.hpp"

#include "emulation/async_memory.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
using detail::on_gpu;

constexpr std::size_t alignment = 16;

/// The tree of row-major points, 16 bytes behind where memory is aligned.
template <class T>
class TreeThere {
public:
    TreeThere(const std::vector<T>& points, const Box& box)
        : points_(context_, points), status_(context_, 1),
          memory_(context_, static_cast<std::int64_t>(alignment) + on_gpu().async_tree_bytes(size(), cuda(1))),
          tree_{memory_.span().subspan(alignment), size(), box} {
        const Scratch scratch(context_, on_gpu().build_tree_async_bytes(size(), cuda(1)));
        expect_no_requests(
            [&] { on_gpu().build_tree_async(tree_, points_.points(3), cuda(1), scratch.span(), status_.data()); });
        EXPECT_TRUE(scratch.is_alone());
    }

    /// Copies the memory to where it is aligned in another way, and spoils the first.
    void move_away() {
        const std::int64_t bytes = static_cast<std::int64_t>(tree_.memory.size());
        other_.emplace(context_, bytes + 128);
        context_.copy(other_->data() + 128, tree_.memory.data(), bytes);
        context_.fill(memory_.data(), 0xA5, memory_.bytes());
        tree_.memory = other_->span().subspan(128);
    }

    [[nodiscard]] AsyncTree& tree() { return tree_; }
    [[nodiscard]] DeviceStatus status() { return context_.to_host(status_.data()); }
    [[nodiscard]] DeviceContext& context() { return context_; }
    [[nodiscard]] PointsView points() const { return points_.points(3); }

private:
    [[nodiscard]] AsyncTreeSize size() const { return {dtype_of<T>, 3, points_.points(3).count()}; }

    DeviceContext context_{cuda(1)};
    ThereOn<T> points_;
    ThereOn<DeviceStatus> status_;
    ThereOn<std::byte> memory_;
    std::optional<ThereOn<std::byte>> other_;
    AsyncTree tree_;
};

/// The groups of a tree in memory, with all that they are given.
template <class T>
struct Labels {
    Labels(TreeThere<T>& tree, LinkingLength length)
        : labels(tree.context(), tree.tree().size.points), summary(tree.context(), 1),
          status(tree.context(), 1), call{PointsView(), length,         {.execution = cuda(1)}, labels.data(),
                                          false,        summary.data(), status.data()} {
        call.in_memory = &tree.tree();
        const Scratch scratch(tree.context(), on_gpu().fof_async_bytes(tree.tree(), Engine::automatic, cuda(1)));
        expect_no_requests([&] { on_gpu().fof_async(call, scratch.span()); });
        EXPECT_TRUE(scratch.is_alone());
    }

    ThereOn<std::int32_t> labels;
    ThereOn<DeviceFofSummary> summary;
    ThereOn<DeviceStatus> status;
    detail::DeviceFofAsync call;
};

/// The neighbors in a tree in memory; no queries: of its points.
template <class T>
struct Rows {
    Rows(TreeThere<T>& tree, const std::vector<T>* around, std::int64_t neighbors)
        : k(neighbors), queries(tree.context(), around != nullptr ? *around : std::vector<T>()),
          count(around != nullptr ? queries.points(3).count() : tree.tree().size.points),
          indices(tree.context(), count * k), distances(tree.context(), count * k), status(tree.context(), 1),
          rows(indices.span(), distances.span()), call{PointsView(),
                                                       {},
                                                       {k, {.execution = cuda(1)}, &rows, nullptr},
                                                       false,
                                                       status.data()} {
        call.in_memory = &tree.tree();
        std::optional<std::int64_t> others;
        if (around != nullptr) {
            call.queries = queries.points(3);
            others = count;
        }
        const Scratch scratch(tree.context(),
                              on_gpu().knn_async_bytes(tree.tree(), others, k, Engine::automatic, cuda(1)));
        expect_no_requests([&] { on_gpu().knn_async(call, scratch.span()); });
        EXPECT_TRUE(scratch.is_alone());
    }
    [[nodiscard]] oracle::Rows<T> on_host() const {
        const std::vector<std::int32_t> found = indices.on_host();
        return {{found.begin(), found.end()}, distances.on_host()};
    }

    std::int64_t k;
    ThereOn<T> queries;
    std::int64_t count;
    ThereOn<std::int32_t> indices;
    ThereOn<T> distances;
    ThereOn<DeviceStatus> status;
    NeighborRows rows;
    detail::DeviceKnnAsync call;
};

template <class T>
void expect_answers_of_the_cpu(const std::vector<T>& points, const Box& box) {
    SCOPED_TRACE(points.size() / 3);
    TreeThere<T> there(points, box);
    EXPECT_EQ(there.status().refusal, PointError::none);
    there.move_away();
    const std::vector<T> queries = uniform_points<T>(40, 3, -0.4, 1.5, 6);
    const PointsView on_host(points, 3);
    for (const std::int64_t k : {3, 70}) {
        const Rows<T> of_all(there, nullptr, k);
        EXPECT_EQ(of_all.status.on_host()[0].refusal, PointError::none);
        EXPECT_TRUE(same_rows<T>(of_all.on_host(), rows_of<T>(knn(on_host, k, {.box = box, .execution = cpu(1)})), k));
        const Rows<T> of_queries(there, &queries, k);
        EXPECT_TRUE(same_rows<T>(of_queries.on_host(),
                                 rows_of<T>(knn(on_host, PointsView(queries, 3), k, {.box = box, .execution = cpu(1)})),
                                 k));
    }
    for (const LinkingLength length : {LinkingLength::absolute(0), LinkingLength::relative(0.6)}) {
        if (points.size() > 3 || !length.is_relative()) { // one point has no volume
            const FofResult expected = fof(on_host, length, {.box = box, .execution = cpu(1)});
            const Labels<T> found(there, length);
            EXPECT_EQ(found.status.on_host()[0].refusal, PointError::none);
            EXPECT_EQ(found.labels.on_host(), expected.label_array);
            EXPECT_EQ(found.summary.on_host()[0].groups, static_cast<std::int64_t>(expected.sizes.size()));
            EXPECT_EQ(found.summary.on_host()[0].linking_length, expected.linking_length);
        }
    }
}

using AsyncTrees = NeedsDimension<3>;

// No point, one, a few leaves; 512, the most with one plane of nodes, and one more; points outside the box; a clump, and a
// far outlier.
TEST_F(AsyncTrees, GiveTheAnswersOfTheCpu) {
    for (const std::int64_t count : {0, 1, 33}) {
        const std::vector<float> points = uniform_points<float>(count, 3, -0.2, 1.1, 5);
        expect_answers_of_the_cpu<float>(points, Box{});
        expect_answers_of_the_cpu<float>(points, Box::periodic({0, 1, 0}));
        expect_answers_of_the_cpu<double>({points.begin(), points.end()}, Box::periodic(1));
    }
    for (const std::int64_t count : {512, 513}) {
        expect_answers_of_the_cpu<float>(uniform_points<float>(count, 3, -0.2, 1.1, 5), Box::periodic({0, 1, 0}));
    }
    expect_answers_of_the_cpu<double>(uniform_points<double>(513, 3, -0.2, 1.1, 5), Box::periodic({0, 1, 0}));
    std::vector<float> clump(3 * 200, 0.7F);
    std::fill_n(clump.begin(), 3, 1e6F);
    expect_answers_of_the_cpu<float>(clump, Box{});
    EXPECT_EQ(emulation::held_on_device(), 0);
}

std::string text_of(const DeviceStatus& status) {
    try {
        check(status);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST_F(AsyncTrees, RememberWhatWasRefused) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 8);
    points[200] = std::numeric_limits<float>::quiet_NaN();
    TreeThere<float> there(points, Box{});
    EXPECT_EQ(there.status().refusal, PointError::points_not_finite);
    const std::string expected = text_of(there.status());
    EXPECT_NE(expected.find("point 66"), std::string::npos);
    EXPECT_EQ(text_of(Rows<float>(there, nullptr, 3).status.on_host()[0]), expected);
    const std::vector<float> queries = uniform_points<float>(20, 3, 0, 1, 9);
    EXPECT_EQ(text_of(Rows<float>(there, &queries, 3).status.on_host()[0]), expected);
    EXPECT_EQ(text_of(Labels<float>(there, LinkingLength::relative(0.2)).status.on_host()[0]), expected);

    points[200] = 1e37F;
    TreeThere<float> wide(points, Box{});
    EXPECT_EQ(wide.status().refusal, PointError::none);
    std::vector<float> far = queries;
    far[4] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(Rows<float>(wide, &far, 3).status.on_host()[0].refusal, PointError::queries_not_finite);
    const DeviceStatus too_short = Labels<float>(wide, LinkingLength::absolute(1e3)).status.on_host()[0];
    EXPECT_EQ(too_short.refusal, PointError::length_unresolved);
    EXPECT_EQ(too_short.point, 66);
}

TEST_F(AsyncTrees, RefuseAtOnceWhatTheHostCanTell) {
    const std::vector<float> points = uniform_points<float>(70, 3, 0, 1, 9);
    TreeThere<float> there(points, Box::periodic(1));
    const AsyncTree good = there.tree();
    const auto argument = ErrorKind::invalid_argument;
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& parts, const AsyncTree& tree,
                             const std::function<void(detail::DeviceFofAsync&)>& change) {
        const Scratch scratch(there.context(), on_gpu().fof_async_bytes(good, Engine::automatic, cuda(1)));
        const ThereOn<std::int32_t> labels(there.context(), 70);
        const ThereOn<DeviceFofSummary> summary(there.context(), 1);
        const ThereOn<DeviceStatus> status(there.context(), 1);
        detail::DeviceFofAsync call{
            PointsView(), LinkingLength::absolute(1), {.execution = cuda(1)}, labels.data(), false, summary.data(),
            status.data()};
        call.in_memory = &tree;
        change(call);
        return is_refused(kind, parts, [&] { on_gpu().fof_async(call, scratch.span()); });
    };
    const auto nothing = [](detail::DeviceFofAsync&) {};
    AsyncTree tree = good;
    tree.memory = good.memory.first(good.memory.size() - 1);
    EXPECT_TRUE(refuses(ErrorKind::out_of_memory, {std::to_string(good.memory.size()), "tree"}, tree, nothing));
    tree.memory = {};
    EXPECT_TRUE(refuses(ErrorKind::out_of_memory, {"0 bytes", "tree"}, tree, nothing));
    std::vector<std::byte> of_the_host(good.memory.size());
    tree.memory = of_the_host;
    EXPECT_TRUE(refuses(argument, {"tree", "GPU 1"}, tree, nothing));
    const ThereOn<std::byte> longer(there.context(), static_cast<std::int64_t>(good.memory.size()) + 8);
    tree.memory = longer.span().subspan(8);
    EXPECT_TRUE(refuses(argument, {"aligned to 16"}, tree, nothing));
    EXPECT_TRUE(
        refuses(argument, {"a tree has its own"}, good, [](auto& call) { call.options.box = Box::periodic(1); }));
    EXPECT_TRUE(refuses(argument, {"'brute'", "of the engine 'tree'"}, good,
                        [](auto& call) { call.options.engine = Engine::brute_force; }));
    tree = good;
    tree.box = Box::periodic({1.0, 1.0});
    EXPECT_TRUE(refuses(argument, {"2 periods"}, tree, nothing));
    EXPECT_TRUE(refuses(argument, {"GPU", "kith::cuda()"}, good, [](auto& call) { call.options.execution = cpu(); }));

    const ThereOn<DeviceStatus> status(there.context(), 1);
    const Scratch scratch(there.context(), on_gpu().build_tree_async_bytes(good.size, cuda(1)));
    const auto refuses_to_build = [&](ErrorKind kind, const std::vector<std::string>& parts, const AsyncTree& built,
                                      const PointsView& of, std::span<std::byte> memory, DeviceStatus* said) {
        return is_refused(kind, parts, [&] { on_gpu().build_tree_async(built, of, cuda(1), memory, said); });
    };
    tree = good;
    tree.memory = good.memory.first(good.memory.size() - 1);
    EXPECT_TRUE(refuses_to_build(ErrorKind::out_of_memory, {std::to_string(good.memory.size())}, tree, there.points(),
                                 scratch.span(), status.data()));
    EXPECT_TRUE(refuses_to_build(ErrorKind::out_of_memory, {"scratch"}, good, there.points(),
                                 scratch.span().first(scratch.span().size() - 1), status.data()));
    EXPECT_TRUE(
        refuses_to_build(argument, {"memory of the host"}, good, PointsView(points, 3), scratch.span(), status.data()));
    EXPECT_TRUE(refuses_to_build(argument, {"status"}, good, there.points(), scratch.span(), nullptr));
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"3000000000"},
                           [] { (void)on_gpu().async_tree_bytes({.points = 3000000000}, cuda(1)); }));
}

} // namespace
} // namespace kith::test
