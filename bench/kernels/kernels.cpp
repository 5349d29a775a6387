// The inner kernels, one by one, so that a change can be judged in seconds: keys, sorting within the cache, order,
// planes, box tests, distances to a block, the first k of a query, union-find, left-balanced trees. Every time is per
// point, box or query.
//
//   cmake --build build/bench --target bench_kernels && build/bench/bin/bench_kernels --benchmark_repetitions=9
#include "simd_kernels.hpp"

#include <kith/kith.hpp>

#include "engines/kdtree/build.hpp"
#include "groups/union_find.hpp"
#include "order/keys.hpp"
#include "order/word_sort.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::bench {
namespace {

std::vector<float> uniform(std::int64_t count, float lower, float upper) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniformly(lower, upper);
    std::vector<float> numbers(static_cast<std::size_t>(count));
    std::generate(numbers.begin(), numbers.end(), [&] { return uniformly(random); });
    return numbers;
}

void count_items(benchmark::State& state, std::int64_t each) {
    state.SetItemsProcessed(state.iterations() * each);
    state.counters["each"] = benchmark::Counter(static_cast<double>(state.iterations() * each),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void keys(benchmark::State& state) {
    constexpr std::int64_t count = 4096;
    const std::vector<float> numbers = uniform(3 * count, 0x1p31F, 0x1p32F);
    const detail::KeyEncoder<float, 3, 16> key_of(31, 32);
    std::vector<std::uint64_t> words(count);
    for (auto _ : state) {
        for (std::int64_t i = 0; i < count; ++i) {
            words[i] = key_of({numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]});
        }
        benchmark::DoNotOptimize(words.data());
        benchmark::ClobberMemory();
    }
    count_items(state, count);
}
BENCHMARK(keys);

void sort_in_cache(benchmark::State& state) {
    const std::int64_t count = state.range(0);
    std::mt19937_64 random(2);
    std::vector<std::uint64_t> unsorted(static_cast<std::size_t>(count));
    std::generate(unsorted.begin(), unsorted.end(), random);
    std::vector<std::uint64_t> words;
    std::vector<std::uint64_t> spare(unsorted.size());
    for (auto _ : state) {
        words = unsorted;
        detail::sort_words(words.data(), spare.data(), count, 64, 13);
        benchmark::DoNotOptimize(words.data());
    }
    count_items(state, count);
}
BENCHMARK(sort_in_cache)->Arg(1024)->Arg(2048)->Arg(4096)->Arg(8192);

double seconds_of(const StageReports& stages, const char* name) {
    for (const StageReport& stage : stages) {
        if (std::string(stage.name) == name) {
            return stage.seconds;
        }
    }
    throw std::logic_error("no such stage");
}

/// One stage of building a tree of a million points on one thread.
void build_stage(benchmark::State& state, const char* stage) {
    constexpr std::int64_t count = 1000000;
    const std::vector<float> numbers = uniform(3 * count, 0, 1);
    for (auto _ : state) {
        const Tree tree(PointsView(numbers, 3), {.execution = cpu(1)});
        state.SetIterationTime(seconds_of(tree.stages(), stage));
    }
    count_items(state, count);
}
BENCHMARK_CAPTURE(build_stage, order, "order")->UseManualTime();
BENCHMARK_CAPTURE(build_stage, planes, "tree")->UseManualTime();

Block make_block(const std::vector<float>& coordinates, std::int64_t size) {
    Block block;
    block.coordinates = coordinates;
    block.size = size;
    block.stride = static_cast<std::int64_t>(coordinates.size()) / dimension;
    block.indices.resize(static_cast<std::size_t>(block.stride));
    std::iota(block.indices.begin(), block.indices.end(), 0);
    for (std::int64_t i = size; i < block.stride; ++i) {
        block.coordinates[i] = std::numeric_limits<float>::quiet_NaN();
    }
    return block;
}

void box_tests(benchmark::State& state) {
    constexpr std::int64_t boxes = 1024;
    std::vector<float> corners = uniform(dimension * boxes, 0, 1);
    const Block lower = make_block(corners, boxes);
    std::transform(corners.begin(), corners.end(), corners.begin(), [](float x) { return x + 0.1F; });
    const Block upper = make_block(corners, boxes);
    const float box_lower[] = {0.4F, 0.4F, 0.4F};
    const float box_upper[] = {0.5F, 0.5F, 0.5F};
    for (auto _ : state) {
        benchmark::DoNotOptimize(count_near_boxes(lower, upper, box_lower, box_upper, 0.04F));
    }
    count_items(state, boxes);
}
BENCHMARK(box_tests);

/// Two hundred candidates around a query, of which `wanted` are within the threshold.
struct Query {
    explicit Query(std::int64_t wanted) : block(make_block(uniform(dimension * 256, -1, 1), 200)), memory(256) {
        measure_block(block, place, std::numeric_limits<float>::infinity(), memory);
        std::vector<float> sorted(memory.distances.begin(), memory.distances.begin() + block.size);
        std::sort(sorted.begin(), sorted.end());
        threshold = sorted[wanted - 1];
    }
    static constexpr float place[dimension] = {0, 0, 0};
    Block block;
    QueryMemory memory;
    float threshold;
};

void distance_block(benchmark::State& state) {
    Query query(24);
    for (auto _ : state) {
        benchmark::DoNotOptimize(measure_block(query.block, Query::place, query.threshold, query.memory));
    }
    count_items(state, 1);
}
BENCHMARK(distance_block);

void another_threshold(benchmark::State& state) {
    Query query(24);
    for (auto _ : state) {
        benchmark::DoNotOptimize(find_in_block(query.block, query.threshold, query.memory));
    }
    count_items(state, 1);
}
BENCHMARK(another_threshold);

/// The first two thirds of the survivors, in order.
template <class Sort>
void first_k(benchmark::State& state, Sort sort) {
    const std::int64_t survivors = state.range(0);
    Query query(survivors);
    measure_block(query.block, Query::place, query.threshold, query.memory);
    for (auto _ : state) {
        benchmark::DoNotOptimize(sort(query.block, survivors, survivors * 2 / 3, query.memory));
    }
    count_items(state, 1);
}
BENCHMARK_CAPTURE(first_k, by_keys, sort_by_keys)->Arg(8)->Arg(16)->Arg(24)->Arg(32)->Arg(48)->Arg(64);
BENCHMARK_CAPTURE(first_k, by_ranks, sort_by_ranks)->Arg(8)->Arg(16)->Arg(24)->Arg(32)->Arg(48)->Arg(64);

void union_find(benchmark::State& state) {
    constexpr std::int32_t count = 1 << 16;
    std::mt19937 random(3);
    std::vector<std::array<std::int32_t, 2>> pairs(count);
    for (auto& pair : pairs) { // near each other, as along the curve
        pair[0] = static_cast<std::int32_t>(random() % count);
        pair[1] = static_cast<std::int32_t>((pair[0] + random() % 256) % count);
    }
    std::vector<std::int32_t> parents(count);
    for (auto _ : state) {
        std::iota(parents.begin(), parents.end(), 0);
        const detail::UnionFind groups(parents.data());
        for (const auto& pair : pairs) {
            groups.unite(pair[0], pair[1]);
        }
        benchmark::DoNotOptimize(parents.data());
    }
    count_items(state, count);
}
BENCHMARK(union_find);

std::vector<std::array<float, 3>> points_for_trees(std::int64_t count) {
    const std::vector<float> numbers = uniform(3 * count, 0, 1);
    std::vector<std::array<float, 3>> points(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        points[i / 3][i % 3] = numbers[i];
    }
    return points;
}

/// A left-balanced k-d tree by so many threads.
void balanced_tree(benchmark::State& state) {
    const auto points = points_for_trees(state.range(0));
    for (auto _ : state) {
        detail::Context context(cpu(static_cast<int>(state.range(1))));
        context.stage("tree", [&] {
            const auto tree =
                detail::build_kd_tree<float, 3>(context, std::ssize(points), [&](std::int64_t i) { return points[i]; });
            benchmark::DoNotOptimize(tree.indices.data());
        });
    }
    count_items(state, state.range(0));
}
BENCHMARK(balanced_tree)->ArgsProduct({{100000, 1000000, 10000000}, {1, 2}})->UseRealTime();

void balanced_tree_in_place(benchmark::State& state) {
    const auto points = points_for_trees(state.range(0));
    std::vector<std::int32_t> indices(points.size());
    std::vector<kdtree::Node> scratch(points.size());
    std::vector<std::uint8_t> split_axes(points.size());
    for (auto _ : state) {
        auto nodes = points;
        benchmark::DoNotOptimize(kdtree::build(std::span(nodes), std::span(indices), std::span(scratch),
                                               std::span(split_axes), kdtree::Split::widest));
    }
    count_items(state, state.range(0));
}
BENCHMARK(balanced_tree_in_place)->Arg(1000000);

} // namespace
} // namespace kith::bench

BENCHMARK_MAIN();
