// Searches that kernels answer on the CPU, and the oracle beside them, in three dimensions: every type, point set and
// box; several k, options drawn for each search. Whole searches are held against the oracle in every dimension
// (neighbors/conformance_test.cpp).
#pragma once

#include "cuda/intrinsics.hpp" // first: it gives the kernels' text its words

#include "cuda_emulation/grid.hpp"
#include "neighbors/device_request.hpp"
#include "points/point_set.hpp"
#include "points/point_set_view.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::test {

/// What a kernel is to find: the request's rows are in memory that holds no answer yet.
template <class T, int D>
struct KernelSearch {
    detail::Context& context;
    const detail::NormalizedPoints<T>& sources;
    const detail::NormalizedPoints<T>* queries; ///< null for a self-search
    detail::DeviceRequest<T> request;
    Random& draw;
};

/// Calls kernel(), its text being the body of every thread, with enough warps for so many queries.
template <class Kernel>
void run_warps(const char* name, std::int64_t queries, int warps_of_block, std::uint64_t seed, const Kernel& kernel) {
    const auto blocks = static_cast<unsigned>((queries + warps_of_block - 1) / warps_of_block);
    emulation::run(name, {{blocks, 1, 1}, {static_cast<unsigned>(warps_of_block * emulation::warp_size), 1, 1}}, kernel,
                   seed);
}

/// One search among points of a set, run(search), held against the oracle.
template <class T, int D, class Run>
void expect_what_the_oracle_finds(const PointSet<T>& set, const NamedBox& named, bool self, Random& draw,
                                  const Run& run) {
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, D, named.box);
    const std::vector<T> others = queries_for(set, named.box, 1 + draw.integer(6));
    const oracle::Neighbors<T> expected =
        self ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(others));
    detail::Context context(cpu(1));
    const auto sources = detail::normalize_sources<T>(set.view(), named.box);
    const auto queries = detail::normalize_queries<T>(PointsView(others, D), sources.frame);

    const std::vector<std::int64_t> lengths{1, 16, 29, 33, 64, set.count() + 3};
    const std::int64_t k = lengths[static_cast<std::size_t>(draw.integer(6))];
    KnnOptions options{.exclude_self = self && draw.integer(2) == 0, .squared = draw.integer(2) == 0};
    const oracle::Rows<T> some = expected.rows(5);
    if (draw.integer(3) == 0 && !some.distances.empty()) {
        options.max_distance = static_cast<double>(some.distances[some.distances.size() / 2]);
    }
    const auto size = static_cast<std::size_t>(expected.row_count() * k);
    std::vector<std::int32_t> indices(size, -7);
    oracle::Rows<T> rows{std::vector<std::int64_t>(size), std::vector<T>(size, std::numeric_limits<T>::quiet_NaN())};
    const auto frame = detail::search_frame<T, D>(
        sources.frame, {k, options.exclude_self, options.squared, options.max_distance}, set.count());
    run(KernelSearch<T, D>{context,
                           sources,
                           self ? nullptr : &queries,
                           {k, options.exclude_self, &frame, {rows.distances.data(), indices.data(), nullptr}},
                           draw});
    std::copy(indices.begin(), indices.end(), rows.indices.begin());
    EXPECT_TRUE(same_rows<T>(rows, expected.rows(k, options), k))
        << "box " << named.name << ", points " << set.count() << ", k " << k << ", self-search " << self
        << ", exclude_self " << options.exclude_self << ", max_distance " << options.max_distance << ", squared "
        << options.squared;
}

/// In every box of a case's set, which has three dimensions, a self-search of a few points and a few queries of many
/// points; run(search, periodic) is told the latter as a std::bool_constant.
template <class Run>
void expect_what_the_oracle_finds(const Case& named_case, const Run& run) {
    with_type(named_case.dtype, [&]<class T>(T) {
        const PointSet<T> all = point_set<T>(named_case.set, 3);
        const auto first = [&](std::int64_t count) {
            PointSet<T> some = all;
            some.coordinates.resize(static_cast<std::size_t>(std::min(count, all.count()) * 3));
            return some;
        };
        const auto run_either = [&](const KernelSearch<T, 3>& search) {
            if (search.sources.frame.periodic) {
                run(search, std::true_type());
            } else {
                run(search, std::false_type());
            }
        };
        // Other searches for other sets.
        Random draw(std::accumulate(named_case.set.begin(), named_case.set.end(), std::uint64_t{3}));
        for (const NamedBox& named : all.boxes) {
            expect_what_the_oracle_finds<T, 3>(first(sized(24)), named, true, draw, run_either);
            expect_what_the_oracle_finds<T, 3>(first(200), named, false, draw, run_either);
        }
    });
}

} // namespace kith::test
