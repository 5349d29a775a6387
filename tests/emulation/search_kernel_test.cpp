// The tree search's kernel, run on the CPU in trees of many shapes, against the oracle, bit for bit.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"

#include "knn/search_kernel.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

template <class T, int D, bool Periodic>
void run_kernel(const KernelSearch<T, D>& search) {
    Random& draw = search.draw;
    const auto tree = detail::build_plane_tree<T>(search.context, search.sources, drawn_tree_options(draw));
    detail::PointSet<T> gathered;
    if (search.queries != nullptr) {
        gathered = detail::gather_points<T, D>(search.context, *search.queries);
    }
    const auto queries = device_points(search.queries != nullptr ? gathered : tree.points);
    const detail::SearchKernelJob<T> job{queries, device_tree(tree), search.request, 0, queries.count, {}};
    const bool long_rows = search.request.k > 32; // above 64 in several passes
    run_warps("search_tree", queries.count, detail::search_warps, static_cast<std::uint64_t>(draw.integer(1000)), [&] {
        if (long_rows) {
            detail::search_tree_kernel<T, D, Periodic, 2>(job);
        } else {
            detail::search_tree_kernel<T, D, Periodic, 1>(job);
        }
    });
}

class SearchKernel : public testing::TestWithParam<Case> {};

TEST_P(SearchKernel, EqualsTheOracle) {
    expect_what_the_oracle_finds(
        GetParam(), []<class T, int D, bool Periodic>(const KernelSearch<T, D>& search, std::bool_constant<Periodic>) {
            run_kernel<T, D, Periodic>(search);
        });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SearchKernel, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
