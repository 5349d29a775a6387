// Calls that only put work on a stream, on a GPU: the answers of the calls that wait, bit for bit, plain and captured
// in a graph that is replayed with other points in the same memory.
#include "cuda/gpu.hpp"

#include <kith/async.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class Stream {
public:
    Stream() { expect_ok(cudaStreamCreate(&stream_)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    [[nodiscard]] cudaStream_t handle() const { return stream_; }
    void wait() const { expect_ok(cudaStreamSynchronize(stream_)); }

private:
    cudaStream_t stream_ = nullptr;
};

/// What a call puts on a stream, as a graph. Nothing in it may wait or take memory: capturing forbids both.
class Graph {
public:
    Graph(const Stream& stream, const std::function<void()>& call) {
        expect_ok(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeGlobal));
        call();
        expect_ok(cudaStreamEndCapture(stream.handle(), &graph_));
        expect_ok(cudaGraphInstantiate(&executable_, graph_, 0));
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        (void)cudaGraphExecDestroy(executable_);
        (void)cudaGraphDestroy(graph_);
    }
    void replay(const Stream& stream) const {
        expect_ok(cudaGraphLaunch(executable_, stream.handle()));
        stream.wait();
    }

private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

std::vector<float> uniform(std::int64_t count, std::uint64_t seed) {
    return uniform_points<float>(count, 3, 0, 1, seed);
}

void put(const std::vector<float>& points, const OnGpu<float>& there) {
    copy(there.span().data(), points.data(), points.size() * sizeof(float));
}

/// A search of points that may change, with all it is given.
class Search {
public:
    Search(const Stream& stream, std::int64_t count, std::int64_t queries, std::int64_t k, Engine engine)
        : k_(k), points_(static_cast<std::size_t>(count * 3)), queries_(static_cast<std::size_t>(queries * 3)),
          indices_(static_cast<std::size_t>((queries > 0 ? queries : count) * k)), distances_(indices_.span().size()),
          status_(1), scratch_(bytes(count, queries, k, engine)) {
        options_ = {.box = Box::periodic(1), .engine = engine, .execution = cuda(0, stream.handle())};
    }

    void put_points(const std::vector<float>& points, const std::vector<float>& queries) {
        put(points, points_);
        put(queries, queries_);
    }
    void run() const {
        const NeighborRows rows(indices_.span(), distances_.span());
        if (queries_.span().empty()) {
            knn_async(rows, points_.points(3), k_, options_, scratch_.span(), status_.span().data());
        } else {
            knn_async(rows, points_.points(3), queries_.points(3), k_, options_, scratch_.span(),
                      status_.span().data());
        }
    }
    void expect_answer(const std::vector<float>& points, const std::vector<float>& queries) const {
        ASSERT_NO_THROW(check(status_.on_host().front()));
        const KnnResult expected = queries.empty()
                                       ? knn(PointsView(points, 3), k_, {.box = options_.box})
                                       : knn(PointsView(points, 3), PointsView(queries, 3), k_, {.box = options_.box});
        const std::vector<std::int32_t> indices = indices_.on_host();
        EXPECT_TRUE(
            same_rows<float>({{indices.begin(), indices.end()}, distances_.on_host()}, rows_of<float>(expected), k_));
    }
    [[nodiscard]] DeviceStatus status() const { return status_.on_host().front(); }

private:
    static std::size_t bytes(std::int64_t count, std::int64_t queries, std::int64_t k, Engine engine) {
        KnnSize size{.points = count, .k = k, .engine = engine};
        if (queries > 0) {
            size.queries = queries;
        }
        return static_cast<std::size_t>(knn_async_bytes(size));
    }

    std::int64_t k_;
    KnnOptions options_;
    OnGpu<float> points_;
    OnGpu<float> queries_;
    OnGpu<std::int32_t> indices_;
    OnGpu<float> distances_;
    OnGpu<DeviceStatus> status_;
    OnGpu<std::byte> scratch_;
};

using CudaAsync = NeedsDimension<3>;

TEST_F(CudaAsync, NeighborsPlainAndReplayed) {
    KITH_NEEDS_GPU();
    const Stream stream;
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        for (const std::int64_t k : {1, 16, 40, 100}) {
            for (const std::int64_t others : {0, 700}) {
                SCOPED_TRACE(name_of(engine) + ", k " + std::to_string(k) + ", queries " + std::to_string(others));
                constexpr std::int64_t count = 20000;
                Search search(stream, count, others, k, engine);
                const auto put_some = [&](std::uint64_t seed) {
                    search.put_points(uniform(count, seed), uniform(others, seed + 1));
                };
                put_some(1);
                search.run();
                stream.wait();
                search.expect_answer(uniform(count, 1), uniform(others, 2));
                const Graph graph(stream, [&] { search.run(); });
                for (const std::uint64_t seed : {11, 21}) {
                    put_some(seed);
                    graph.replay(stream);
                    search.expect_answer(uniform(count, seed), uniform(others, seed + 1));
                }
            }
        }
    }
}

TEST_F(CudaAsync, StatusOfAReplay) {
    KITH_NEEDS_GPU();
    const Stream stream;
    Search search(stream, 5000, 0, 8, Engine::tree);
    search.put_points(uniform(5000, 3), {});
    search.run(); // no kernel may be loaded while a graph is recorded
    stream.wait();
    const Graph graph(stream, [&] { search.run(); });
    std::vector<float> points = uniform(5000, 3);
    points[3 * 4000 + 1] = std::numeric_limits<float>::quiet_NaN();
    search.put_points(points, {});
    graph.replay(stream);
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_points, {"point 4000", "NaN", "coordinate 1"}, [&] { check(search.status()); }));
    points[3 * 4000 + 1] = 7;
    search.put_points(points, {});
    graph.replay(stream);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"axis 1", "twice the period"}, [&] { check(search.status()); }));
    search.put_points(uniform(5000, 3), {});
    graph.replay(stream);
    search.expect_answer(uniform(5000, 3), {});
}

TEST_F(CudaAsync, GroupsPlainAndReplayed) {
    KITH_NEEDS_GPU();
    const Stream stream;
    constexpr std::int64_t count = 20000;
    const OnGpu<float> points(count * 3);
    const OnGpu<std::int32_t> labels(count);
    const OnGpu<DeviceFofSummary> summary(1);
    const OnGpu<DeviceStatus> status(1);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        const OnGpu<std::byte> scratch(static_cast<std::size_t>(fof_async_bytes({.points = count, .engine = engine})));
        for (const Box& box : {Box{}, Box::periodic(1)}) {
            for (const LinkingLength length : {LinkingLength::relative(0.4), LinkingLength::absolute(0.03)}) {
                const FofOptions options{.box = box, .engine = engine, .execution = cuda(0, stream.handle())};
                const auto run = [&] {
                    fof_async(labels.span(), points.points(3), length, options, scratch.span(), summary.span().data(),
                              status.span().data());
                };
                const auto expect_answer = [&](std::uint64_t seed) {
                    ASSERT_NO_THROW(check(status.on_host().front()));
                    const FofResult expected = fof(PointsView(uniform(count, seed), 3), length, {.box = box});
                    EXPECT_EQ(expected.label_array, labels.on_host());
                    EXPECT_EQ(summary.on_host().front().groups, static_cast<std::int64_t>(expected.sizes.size()));
                    EXPECT_EQ(summary.on_host().front().linking_length, expected.linking_length);
                };
                put(uniform(count, 5), points);
                run();
                stream.wait();
                expect_answer(5);
                const Graph graph(stream, run);
                for (const std::uint64_t seed : {6, 7}) {
                    put(uniform(count, seed), points);
                    graph.replay(stream);
                    expect_answer(seed);
                }
            }
        }
    }
}

TEST_F(CudaAsync, KeptTreesPlainAndReplayed) {
    KITH_NEEDS_GPU();
    const Stream stream;
    constexpr std::int64_t count = 20000;
    constexpr std::int64_t k = 8;
    const std::vector<float> points = uniform(count, 5);
    const OnGpu<float> there(count * 3);
    put(points, there);
    const Tree tree(there.points(3), {.box = Box::periodic(1), .execution = cuda(0)});
    const LinkingLength length = LinkingLength::relative(0.4);
    const FofResult groups = fof(PointsView(points, 3), length, {.box = Box::periodic(1)});
    const KnnResult neighbors = knn(PointsView(points, 3), k, {.box = Box::periodic(1)});
    const OnGpu<std::int32_t> labels(count);
    const OnGpu<std::int32_t> indices(count * k);
    const OnGpu<float> distances(count * k);
    const OnGpu<DeviceFofSummary> summary(1);
    const OnGpu<DeviceStatus> status(2);
    const OnGpu<std::byte> scratch(static_cast<std::size_t>(std::max(fof_async_bytes(tree), knn_async_bytes(tree, k))));
    const auto run = [&] {
        fof_async(labels.span(), tree, length, {.execution = cuda(0, stream.handle())}, scratch.span(),
                  summary.span().data(), status.span().data());
        knn_async(NeighborRows(indices.span(), distances.span()), tree, k, {.execution = cuda(0, stream.handle())},
                  scratch.span(), status.span().data() + 1);
    };
    const auto expect_answers = [&] {
        for (const DeviceStatus& found : status.on_host()) {
            ASSERT_NO_THROW(check(found));
        }
        EXPECT_EQ(groups.label_array, labels.on_host());
        EXPECT_EQ(summary.on_host().front().groups, static_cast<std::int64_t>(groups.sizes.size()));
        const std::vector<std::int32_t> found = indices.on_host();
        EXPECT_TRUE(
            same_rows<float>({{found.begin(), found.end()}, distances.on_host()}, rows_of<float>(neighbors), k));
    };
    run();
    stream.wait();
    expect_answers();
    const Graph graph(stream, run);
    for (int replay = 0; replay < 2; ++replay) {
        fill(labels.span().data(), 0x55, count * sizeof(std::int32_t));
        fill(indices.span().data(), 0x55, count * k * sizeof(std::int32_t));
        graph.replay(stream);
        expect_answers();
    }
}

} // namespace
} // namespace kith::test
