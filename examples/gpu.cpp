// Neighbors, groups and their catalog, of points that are in GPU memory; then the points in the order of groups.
// Results stay there; only their summaries come to the host.
#include <kith/kith.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <iostream>
#include <vector>

namespace {

/// An array in GPU memory.
template <class T>
class OnGpu {
public:
    explicit OnGpu(std::size_t size) : size_(size) {
        if (cudaMalloc(&data_, size * sizeof(T)) != cudaSuccess) {
            throw kith::Error(kith::ErrorKind::device, "no memory on the GPU");
        }
    }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;
    ~OnGpu() { (void)cudaFree(data_); }
    [[nodiscard]] std::span<T> span() const { return {data_, size_}; }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

void run() {
    constexpr std::int64_t count = 1'000'000;
    constexpr std::int64_t k = 16;
    std::vector<float> points(3 * count);
    std::uint64_t state = 1;
    for (float& x : points) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        x = static_cast<float>(state >> 40) * 0x1p-24F;
    }
    const OnGpu<float> there(points.size());
    (void)cudaMemcpy(there.span().data(), points.data(), there.span().size_bytes(), cudaMemcpyDefault);

    // Your arrays, your stream. The view refers to memory of GPU 0; it could also consist of one array per axis.
    cudaStream_t stream = nullptr;
    (void)cudaStreamCreate(&stream);
    const kith::Execution on_gpu = kith::cuda(0, stream);
    const kith::PointsView view(there.span().data(), count, 3, on_gpu.device);
    const kith::Box box = kith::Box::periodic(1);

    const OnGpu<std::int32_t> indices(count * k);
    const OnGpu<float> distances(count * k);
    const auto searched =
        kith::knn_into({indices.span(), distances.span()}, view, k, {.box = box, .execution = on_gpu});
    const OnGpu<std::int32_t> labels(count);
    const auto groups =
        kith::fof_into(labels.span(), view, kith::LinkingLength::relative(0.2), {.box = box, .execution = on_gpu});

    // The catalog for kernels of yours, and the points with the members of each group next to each other.
    const std::int64_t halos = groups.groups_of_at_least(20);
    const kith::DeviceCatalog catalog = kith::device_catalog(labels.span(), groups, {view}, {.execution = on_gpu});
    const std::span<const double> masses = catalog.column<&kith::Catalog::mass>(); // in memory of the GPU
    const OnGpu<std::int32_t> order(count);
    const OnGpu<std::int64_t> offsets(static_cast<std::size_t>(halos) + 1);
    const auto ordered = kith::group_order_into(order.span(), offsets.span(), labels.span(), halos, on_gpu);
    const OnGpu<float> by_group(points.size());
    kith::gather_rows(order.span(), there.span().data(), 3 * sizeof(float), by_group.span().data(), on_gpu);

    for (const auto& stage : searched.stages) {
        std::cout << stage.name << ": " << 1e3 * stage.seconds << " ms\n";
    }
    std::cout << ordered.members << " points in " << masses.size() << " groups of 20 or more\n";
    std::cout << groups.groups << " groups, " << groups.groups_of_at_least(2) << " of them of two points or more\n";
    (void)cudaStreamDestroy(stream);
}

} // namespace

int main() {
    try {
        run();
    } catch (const kith::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
