// Uses every capability of the core once, on four points whose answers are plain, and fails if one is wrong.
#include <kith/device/kdtree.hpp>
#include <kith/kith.hpp>

#include <array>
#include <iostream>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
    if (!condition) {
        std::cerr << "wrong: " << what << '\n';
        ++failures;
    }
}

struct Particle {
    double mass;
    double x, y, z;
};

/// A simulation's own layouts: separate arrays, structs, and single queries from its own threads.
void use_arrays_of_a_simulation() {
    const std::vector<double> x = {1, 1, 9, 5};
    const std::vector<double> y = {2, 2, 2, 5};
    const std::vector<double> z = {3, 4, 3, 5};
    std::vector<Particle> particles;
    for (std::size_t i = 0; i < x.size(); ++i) {
        particles.push_back({1, x[i], y[i], z[i]});
    }
    const auto of_arrays = kith::knn(kith::PointsView(x, y, z), 2);
    const auto of_structs = kith::knn(particles, 2);
    const auto of_members = kith::knn(kith::PointsView(particles, &Particle::x, &Particle::y, &Particle::z), 2);
    for (std::int64_t i = 0; i < 4; ++i) {
        expect(of_arrays.row(i)[1].index == of_structs.row(i)[1].index &&
                   of_arrays.row(i)[1].index == of_members.index_rows()(i, 1),
               "neighbors in any layout");
    }
    const auto near = kith::radius_search(particles, 1.0);
    expect(near.row(0).size() == 2 && near.row(0)[1].index == 1, "neighbors within a radius");

    const kith::Tree tree(particles, {.shape = {.leaf_size = 8}, .execution = kith::cpu(1)});
    std::array<std::int32_t, 4> nearest{};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        threads.emplace_back([&, i] {
            const std::array<double, 3> query = {x[i], y[i], z[i]};
            kith::knn_into({std::span(&nearest[i], 1), std::span<double>()}, tree, query, 1);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    expect(nearest == std::array<std::int32_t, 4>{0, 1, 2, 3}, "single queries from several threads");
}

/// A k-d tree over the simulation's own structs.
void search_in_a_loop_of_ones_own() {
    namespace kdtree = kith::kdtree;
    std::vector<Particle> particles = {{7, 1, 2, 3}, {8, 1, 2, 4}, {9, 9, 2, 3}, {6, 5, 5, 5}};
    std::vector<std::int32_t> indices(4);
    std::vector<kdtree::Node> scratch(4);
    const auto bounds = kdtree::build(std::span(particles), std::span(indices), std::span(scratch));
    auto tree = kdtree::view_of(particles.data(), 4, bounds);
    tree.indices = indices.data();
    kdtree::Nearest<double, 2> nearest;
    kdtree::search(tree, {{8, 2, 3}}, nearest);
    expect(nearest[0].index == 2 && particles[nearest[0].node].mass == 9 && nearest[1].index == 3 &&
               nearest[1].squared_distance == 22,
           "neighbors in a k-d tree of structs");
}

} // namespace

int main() {
    use_arrays_of_a_simulation();
    search_in_a_loop_of_ones_own();

    const std::vector<std::array<double, 3>> points = {{1, 2, 3}, {1, 2, 4}, {9, 2, 3}, {5, 5, 5}};
    const kith::Box box = kith::Box::periodic(10);
    const kith::Tree tree(points, {.box = box});

    const kith::KnnResult nearest = kith::knn(tree, 2);
    expect(nearest.indices()[4] == 2 && nearest.indices()[5] == 0, "neighbors across the edge of the box");
    expect(nearest.distances<double>()[5] == 2, "the distance to it");

    const kith::FofResult groups = kith::fof(tree, kith::LinkingLength::absolute(1));
    expect(groups.sizes == kith::GroupSizes(std::vector<std::int32_t>({2, 1, 1})), "sizes of the groups");
    expect(groups.label_array == std::vector<std::int32_t>({0, 0, 1, 2}), "labels of the points");

    kith::Particles particles;
    particles.positions = points;
    const kith::Catalog catalog = kith::catalog(groups, particles, {.min_members = 2});
    expect(catalog.groups == 1 && catalog.center == std::vector<double>({1, 2, 3.5}), "center of the pair");

    try {
        (void)kith::knn(tree, 0);
        expect(false, "k = 0 is refused");
    } catch (const kith::Error& error) {
        expect(error.kind() == kith::ErrorKind::invalid_argument, "the kind of the refusal");
    }
    return failures == 0 ? 0 : 1;
}
