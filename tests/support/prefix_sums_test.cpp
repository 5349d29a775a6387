// Prefix sums, joined lists and selections, against the same by one loop, for sizes around the blocks' and any number
// of threads.
#include "support/cases.hpp"
#include "support/prefix_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t sizes[] = {0, 1, 2, 4095, 4096, 4097, 16384, 16385, 100'000};

std::vector<std::int64_t> numbers(std::int64_t size) {
    Random draw(91);
    std::vector<std::int64_t> values(static_cast<std::size_t>(size));
    std::generate(values.begin(), values.end(), [&] { return draw.integer(1000) - 300; });
    return values;
}

template <class Body>
void with_threads_and_sizes(const Body& body) {
    for (const int threads : {1, 2, 7}) {
        detail::Context context(cpu(threads));
        for (const std::int64_t size : sizes) {
            SCOPED_TRACE(testing::Message() << threads << " threads, " << size << " elements");
            context.run([&] { body(context, size); });
        }
    }
}

TEST(PrefixSums, MayReplaceTheirValues) {
    with_threads_and_sizes([](detail::Context&, std::int64_t size) {
        std::vector<std::int64_t> values = numbers(size);
        std::vector<std::int64_t> expected(values.size());
        std::exclusive_scan(values.begin(), values.end(), expected.begin(), std::int64_t{0});
        const std::int64_t all = std::accumulate(values.begin(), values.end(), std::int64_t{0});
        const auto sum = detail::prefix_sums<std::int64_t>(
            size, [&](std::int64_t i) { return values[i]; },
            [&](std::int64_t i, std::int64_t before) { values[i] = before; });
        EXPECT_EQ(sum, all);
        EXPECT_EQ(values, expected);
    });
}

TEST(Selected, KeepsTheOrder) {
    with_threads_and_sizes([](detail::Context& context, std::int64_t size) {
        const std::vector<std::int64_t> values = numbers(size);
        detail::Buffer<std::int64_t> from(context.memory_tracker(), size);
        std::copy(values.begin(), values.end(), from.data());
        for (const std::int64_t most : {-301, 0, 1000}) { // none, some, all
            const auto is_wanted = [most](std::int64_t value) { return value <= most; };
            std::vector<std::int64_t> expected;
            std::copy_if(values.begin(), values.end(), std::back_inserter(expected), is_wanted);
            const detail::Buffer<std::int64_t> found = detail::selected(context, from, is_wanted);
            EXPECT_TRUE(std::ranges::equal(found.span(), expected)) << most;
        }
    });
}

TEST(Joined, IsOneListAfterTheOther) {
    with_threads_and_sizes([](detail::Context& context, std::int64_t size) {
        const std::vector<std::int64_t> values = numbers(size);
        for (const std::int64_t lists : {1, 3, 20'000}) { // some of them empty
            std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(lists));
            for (std::int64_t i = 0; i < size; ++i) {
                parts[i * lists / size].push_back(values[i]);
            }
            const detail::Buffer<std::int64_t> all = detail::joined(context, parts);
            EXPECT_TRUE(std::ranges::equal(all.span(), values)) << lists << " lists";
        }
    });
}

} // namespace
} // namespace kith::test
