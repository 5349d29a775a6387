// The brute-force kernel, run on the CPU, against the oracle, bit for bit.
#include "emulation/kernel_cases.hpp"

#include "engines/brute_force/all_pairs_kernel.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

template <class T, int D, bool Periodic>
void run_kernel(const KernelSearch<T, D>& search) {
    const auto sources = detail::gather_points<T, D>(search.context, search.sources);
    const auto others = detail::gather_points<T, D>(search.context, search.queries ? *search.queries : search.sources);
    const detail::AllPairsJob<T> job{device_points(others), device_points(sources), search.sources.frame.working_period,
                                     search.request};
    const bool long_rows = search.request.k > 32; // above 64 in several passes
    run_warps("search_all_pairs", others.count, detail::all_pairs_warps,
              static_cast<std::uint64_t>(search.draw.integer(1000)), [&] {
                  if (long_rows) {
                      detail::search_all_pairs_kernel<T, D, Periodic, 2>(job);
                  } else {
                      detail::search_all_pairs_kernel<T, D, Periodic, 1>(job);
                  }
              });
}

class AllPairsKernel : public testing::TestWithParam<Case> {};

TEST_P(AllPairsKernel, EqualsTheOracle) {
    expect_what_the_oracle_finds(
        GetParam(), []<class T, int D, bool Periodic>(const KernelSearch<T, D>& search, std::bool_constant<Periodic>) {
            run_kernel<T, D, Periodic>(search);
        });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, AllPairsKernel, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
