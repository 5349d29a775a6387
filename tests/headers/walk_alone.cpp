// Walks over arrays that are not kith's need no library: this program is linked to no other than the standard one.
#include <kith/device/plane_walks.hpp>

#include <cstdint>
#include <cstdio>
#include <limits>

namespace walk = kith::walk;
using View = walk::TreeView<float, 2>;

namespace {

/// Counts the points within a radius of a place.
struct Count {
    const View& tree;
    walk::NodeBox<float, 2> place;
    float squared;
    int taken = 0;
    int found = 0;

    walk::Step step(walk::Node node) const {
        return tree.space.least(place, tree.box(node)) > squared       ? walk::Step::drop
               : tree.space.greatest(place, tree.box(node)) <= squared ? walk::Step::take
                                                                       : walk::Step::open;
    }
    void take(walk::Node node) {
        ++taken;
        found += tree.points_in(node);
    }
    void leaf(walk::Node node) {
        for (std::int32_t i = tree.first_point(node); i < tree.end_point(node); ++i) {
            found += tree.space.squared_distance(place.lower, tree.point(i)) <= squared ? 1 : 0;
        }
    }
};

} // namespace

int main() {
    const float coordinates[] = {0, 1, 2, 3, 0, 0, 0, 0}; // four points in a row
    const std::int32_t order[] = {0, 1, 2, 3};
    const std::int32_t first_of_leaves[] = {0, 2, 4};
    const std::int32_t first_of_top[] = {0, 4};
    const std::int32_t children[] = {0, 2};
    const walk::NodeBox<float, 2> boxes[] = {{{{0, 0}}, {{1, 0}}}, {{{2, 0}}, {{3, 0}}}, {{{0, 0}}, {{3, 0}}}};
    const float infinity = std::numeric_limits<float>::infinity();
    View tree{4, 2, coordinates, order, {{{infinity, infinity}}}};
    tree.planes[0] = {2, 0, first_of_leaves, nullptr, boxes};
    tree.planes[1] = {1, 2, first_of_top, children, boxes + 2};
    Count count{tree, walk::box_of(walk::Point<float, 2>{{0.25F, 0}}), walk::squared_radius<float>(1.75)};
    walk::receive(tree, count);
    const bool is_right = count.found == 3 && count.taken == 1;
    std::puts(is_right ? "found" : "wrong");
    return is_right ? 0 : 1;
}
