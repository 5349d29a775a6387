// Rows in the caller's memory, at every place of a cache line, of every length and type, for every instruction set:
// they are right, and nothing beside them is touched.
#include "simd/only_target.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::test {
namespace {

constexpr std::size_t line_bytes = 64;

/// Memory for some numbers that start a few numbers past a cache line, with numbers around them that stay as they are.
template <class X>
class Fenced {
public:
    Fenced(std::size_t size, std::size_t past) : memory_(size + past + 3 * line, fence), size_(size) {
        const std::size_t place = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(X) % line;
        start_ = 2 * line - place + past;
    }
    [[nodiscard]] std::span<X> inside() { return std::span(memory_).subspan(start_, size_); }
    [[nodiscard]] bool is_whole() const {
        const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(start_);
        const auto is_fence = [](X x) { return x == fence; };
        return std::all_of(memory_.begin(), begin, is_fence) &&
               std::all_of(begin + static_cast<std::ptrdiff_t>(size_), memory_.end(), is_fence);
    }

private:
    static constexpr std::size_t line = line_bytes / sizeof(X);
    static constexpr X fence = -7;
    std::vector<X> memory_;
    std::size_t size_;
    std::size_t start_ = 0;
};

template <class T, class Index>
void search_at_every_place() {
    constexpr std::int64_t count = 60;
    constexpr std::int64_t longest = 2 * line_bytes / sizeof(T) + 1;
    const std::vector<T> points = uniform_points<T>(count, 3, 0, 1, 44);
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, 3);
    const oracle::Neighbors<T> neighbors(copy);
    for (std::int64_t k = 1; k <= longest; ++k) {
        const KnnOptions options{.exclude_self = k % 2 == 0, .engine = Engine::tree};
        const oracle::Rows<T> expected = neighbors.rows(k, options);
        for (std::size_t past = 0; past < line_bytes / std::min(sizeof(T), sizeof(Index)); ++past) {
            Fenced<Index> indices(count * k, past);
            Fenced<T> distances(count * k, past);
            knn_into({indices.inside(), distances.inside()}, PointsView(points, 3), k, options);
            const oracle::Rows<T> found{{indices.inside().begin(), indices.inside().end()},
                                        {distances.inside().begin(), distances.inside().end()}};
            EXPECT_TRUE(same_rows<T>(found, expected, k)) << "k = " << k << ", " << past << " numbers past a line";
            EXPECT_TRUE(indices.is_whole() && distances.is_whole()) << "k = " << k << ", " << past << " past a line";
        }
    }
}

using RowsOfEveryTarget = NeedsDimension<3>;

TEST_F(RowsOfEveryTarget, AreWrittenAtEveryPlace) {
    for (const std::int64_t target : targets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        const OnlyTarget only(target);
        search_at_every_place<float, std::int32_t>();
        search_at_every_place<float, std::int64_t>();
        search_at_every_place<double, std::int32_t>();
        search_at_every_place<double, std::int64_t>();
    }
}

} // namespace
} // namespace kith::test
