// The headers for users' own loops are all that a program needs: this one is linked to no library but the standard one.
#include <kith/device/kdtree.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#if defined(TBB_VERSION_MAJOR) || defined(CUB_VERSION)
#error "the headers of kith/device include oneTBB or CUB"
#endif

namespace kdtree = kith::kdtree;

int main() {
    std::vector<std::array<float, 2>> points(40000);
    std::vector<std::int32_t> indices(points.size());
    std::vector<kdtree::Node> scratch(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i] = {static_cast<float>(i % 200), static_cast<float>(i / 200)};
    }
    std::vector<std::int32_t> rows(points.size());
    std::iota(rows.begin(), rows.end(), 0);
    const auto bounds =
        kdtree::build(std::span(points), std::span(indices), std::span(scratch), {}, kdtree::Split::cyclic, 2);
    std::vector<std::int32_t> arranged(points.size());
    kdtree::arrange(indices, rows, arranged, 2);
    auto tree = kdtree::view_of(points.data(), static_cast<kdtree::Node>(points.size()), bounds);
    tree.indices = indices.data();
    kdtree::Nearest<float, 1> nearest;
    kdtree::search(tree, {{17.25F, 42.5F}}, nearest);
    const bool is_right = nearest[0].index == 200 * 42 + 17 && arranged == indices;
    std::puts(is_right ? "found" : "wrong");
    return is_right ? 0 : 1;
}
