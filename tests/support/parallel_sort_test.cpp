// The sample sort, against std::sort, on orders and repetitions that make its buckets uneven.
#include "support/cases.hpp"
#include "support/parallel_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

std::vector<std::uint64_t> values_of(const std::string& kind, std::int64_t size) {
    Random draw(92);
    std::vector<std::uint64_t> values;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto rising = static_cast<std::uint64_t>(i);
        const auto random = static_cast<std::uint64_t>(draw.integer(std::int64_t{1} << 62));
        values.push_back(kind == "rising"     ? rising
                         : kind == "falling"  ? ~rising
                         : kind == "few"      ? random % 3
                         : kind == "one"      ? 7
                         : kind == "outliers" ? (i % 1000 == 0 ? ~random : random % 100)
                                              : random);
    }
    return values;
}

TEST(ParallelSort, SortsEveryOrder) {
    for (const int threads : {1, 2, 7}) {
        detail::Context context(cpu(threads));
        for (const std::int64_t size : {0, 1, 1000, 16383, 16384, 16385, 70'000, 600'001}) {
            for (const char* kind : {"random", "rising", "falling", "few", "one", "outliers"}) {
                std::vector<std::uint64_t> expected = values_of(kind, size);
                detail::Buffer<std::uint64_t> found(context.memory_tracker(), size);
                std::copy(expected.begin(), expected.end(), found.data());
                context.run([&] { detail::parallel_sort(context, found); });
                std::sort(expected.begin(), expected.end());
                EXPECT_TRUE(std::ranges::equal(found.span(), expected))
                    << size << " values, " << kind << ", " << threads << " threads";
            }
        }
    }
}

} // namespace
} // namespace kith::test
