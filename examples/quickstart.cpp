#include <iostream>
#include <kith/kith.hpp>
int main() {
    const std::vector<std::array<float, 3>> points = {{1, 2, 3}, {1, 2, 4}, {9, 2, 3}, {5, 5, 5}};
    const kith::Tree tree(points, {.box = kith::Box::periodic(10)}); // build once, query many times
    const auto nearest = kith::knn(tree, 1, {.exclude_self = true});
    const auto groups = kith::fof(tree, kith::LinkingLength::absolute(2));
    for (std::size_t i = 0; i < points.size(); ++i)
        std::cout << i << " has neighbor " << nearest.indices()[i] << " and group " << groups.labels()[i] << '\n';
}
