// Uses every capability of the core once, on four points whose answers are plain, and fails if one is wrong.
#include <kith/kith.hpp>

#include <array>
#include <iostream>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
    if (!condition) {
        std::cerr << "wrong: " << what << '\n';
        ++failures;
    }
}

} // namespace

int main() {
    const std::vector<std::array<double, 3>> points = {{1, 2, 3}, {1, 2, 4}, {9, 2, 3}, {5, 5, 5}};
    const kith::Box box = kith::Box::periodic(10);
    const kith::Tree tree(points, {.box = box});

    const kith::KnnResult nearest = kith::knn(tree, 2);
    expect(nearest.indices()[4] == 2 && nearest.indices()[5] == 0, "neighbors across the edge of the box");
    expect(nearest.distances<double>()[5] == 2, "the distance to it");

    const kith::FofResult groups = kith::fof(tree, kith::LinkingLength::absolute(1));
    expect(groups.sizes == std::vector<std::int32_t>({2, 1, 1}), "sizes of the groups");
    expect(groups.labels == std::vector<std::int32_t>({0, 0, 1, 2}), "labels of the points");

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
