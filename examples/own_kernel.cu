// Neighbors inside a kernel of your own, over your own structs: the tree is built in place on the GPU; each thread
// searches for one star. The answers are those of kith::knn, bit for bit.
#include <kith/device/kdtree.hpp>
#include <kith/device/kdtree_build.cuh>
#include <kith/kith.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
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

namespace {

namespace kdtree = kith::kdtree;
using Tree = kdtree::TreeView<kdtree::StructNodes<Star>>;
constexpr int k = 4;

/// What a thread finds for its star.
struct Nearby {
    double mass; ///< of the k nearest others
    kdtree::Neighbor<float> farthest;
};

/// Your kernel: the mass of the nearest stars, without the star itself.
__global__ void weigh_neighbors(const Tree tree, Nearby* nearby) {
    const kdtree::Node star = blockIdx.x * blockDim.x + threadIdx.x;
    if (star >= tree.count) {
        return;
    }
    kdtree::Nearest<float, k> nearest;
    kdtree::Except others(nearest, tree.indices[star]);
    kdtree::search(tree, kdtree::position_of(tree.nodes.points[star]), others);
    double mass = 0;
    for (int i = 0; i < k; ++i) {
        mass += tree.nodes.points[nearest[i].node].mass;
    }
    nearby[star] = {mass, nearest[k - 1]};
}

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        throw kith::Error(kith::ErrorKind::device, cudaGetErrorString(status));
    }
}

/// Memory of the GPU.
template <class T>
class OnGpu {
public:
    explicit OnGpu(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T))); }
    explicit OnGpu(const std::vector<T>& from) : OnGpu(from.size()) {
        check(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;
    ~OnGpu() { (void)cudaFree(data_); }
    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::vector<T> to_host() const {
        std::vector<T> copy(size_);
        check(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

int run() {
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    std::vector<Star> stars(20000);
    for (Star& star : stars) {
        star = {number(), {number(), number(), number()}};
    }
    const kith::KnnResult expected =
        kith::knn(kith::PointsView(stars, &Star::position), k, {.box = kith::Box::periodic(1), .exclude_self = true});

    // Built in place: the stars change their order.
    const auto count = static_cast<kdtree::Node>(stars.size());
    const OnGpu<Star> nodes(stars);
    const OnGpu<std::int32_t> indices_there(count);
    const OnGpu<kdtree::Node> scratch(count);
    const OnGpu<kdtree::Bounds<float, 3>> bounds(1);
    kdtree::build_in_place(
        kdtree::TreeInPlace<Star>{count, nodes.data(), indices_there.data(), scratch.data(), nullptr, bounds.data()},
        cudaStream_t{});
    check(cudaGetLastError());
    const OnGpu<std::int32_t> least_indices(count);
    kdtree::find_least_indices(indices_there.data(), count, least_indices.data(), cudaStream_t{});
    check(cudaGetLastError());
    Tree tree = kdtree::view_of(nodes.data(), count, bounds.to_host().front());
    tree.indices = indices_there.data();
    tree.least_indices = least_indices.data();
    tree.periods = {{1, 1, 1}};

    const OnGpu<Nearby> nearby(stars.size());
    constexpr unsigned threads = 128;
    weigh_neighbors<<<(count + threads - 1) / threads, threads>>>(tree, nearby.data());
    check(cudaGetLastError());

    std::int64_t different = 0;
    double heaviest = 0;
    const std::vector<std::int32_t> indices = indices_there.to_host();
    const std::vector<Nearby> found = nearby.to_host();
    for (std::size_t star = 0; star < found.size(); ++star) {
        const auto last = expected.row(indices[star])[k - 1];
        const kdtree::Neighbor<float>& farthest = found[star].farthest;
        different += last.index != farthest.index || last.distance != std::sqrt(farthest.squared_distance) ? 1 : 0;
        heaviest = std::max(heaviest, found[star].mass);
    }
    std::cout << different << " farthest neighbors differ from those of kith::knn\n"
              << "the " << k << " neighbors of a star have a mass of at most " << heaviest << '\n';
    return different == 0 ? 0 : 1;
}

} // namespace

int main() {
    try {
        if (!kith::has_cuda()) {
            std::cout << "no GPU\n";
            return 1;
        }
        return run();
    } catch (const kith::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
