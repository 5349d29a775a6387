// Nearest neighbors inside your own loop, over your own structs: the tree is the array of stars itself, in another
// order. The answers are bit-identical to those of kith::knn and
// kith::radius_count.
#include <kith/device/kdtree.hpp>
#include <kith/kith.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <span>
#include <vector>

struct Star {
    float mass;
    float position[3];
};

template <>
struct kith::kdtree::PointTraits<Star> {
    using Scalar = float;
    static constexpr int dimension = 3;
    KITH_KDTREE_HD static float coordinate(const Star& star, int axis) { return star.position[axis]; }
};

int main() {
    namespace kdtree = kith::kdtree;
    constexpr int k = 4;
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    std::vector<Star> stars(20000);
    for (Star& star : stars) {
        star = {number(), {number(), number(), number()}};
    }
    const kith::KnnResult expected =
        kith::knn(kith::PointsView(stars, &Star::position), k, {.box = kith::Box::periodic(1), .exclude_self = true});

    // Build the tree in place, in your own arrays.
    std::vector<std::int32_t> indices(stars.size());
    std::vector<std::int32_t> least_indices(stars.size());
    std::vector<kdtree::Node> scratch(stars.size());
    const auto bounds = kdtree::build(std::span(stars), std::span(indices), std::span(scratch));
    kdtree::find_least_indices(indices, least_indices);
    auto tree = kdtree::view_of(stars.data(), static_cast<kdtree::Node>(stars.size()), bounds);
    tree.indices = indices.data();
    tree.least_indices = least_indices.data();
    tree.periods = {{1, 1, 1}};

    // Your loop: the total mass of the nearest stars, excluding the star itself.
    std::int64_t different = 0;
    double heaviest = 0;
    for (std::size_t i = 0; i < stars.size(); ++i) {
        kdtree::Nearest<float, k> nearest;
        kdtree::Except others(nearest, indices[i]);
        kdtree::search(tree, kdtree::position_of(stars[i]), others);
        double mass = 0;
        for (int j = 0; j < nearest.size(); ++j) {
            mass += stars[nearest[j].node].mass;
            const auto found = expected.row(indices[i])[j];
            different +=
                found.index != nearest[j].index || found.distance != std::sqrt(nearest[j].squared_distance) ? 1 : 0;
        }
        heaviest = std::max(heaviest, mass);
    }

    // The same within a radius: squared_radius() rounds and squares it as kith::radius_count does.
    constexpr double radius = 0.05;
    const std::vector<std::int64_t> counts =
        kith::radius_count(kith::PointsView(stars, &Star::position), radius, {.box = kith::Box::periodic(1)}).counts;
    for (std::size_t i = 0; i < stars.size(); ++i) {
        kdtree::CountWithin within(kdtree::squared_radius<float>(radius));
        kdtree::search(tree, kdtree::position_of(stars[i]), within);
        different += within.count() != counts[i] ? 1 : 0;
    }
    std::cout << different << " answers differ from those of kith::knn and kith::radius_count\n"
              << "the " << k << " neighbors of a star have a mass of at most " << heaviest << '\n';
    return different == 0 ? 0 : 1;
}
