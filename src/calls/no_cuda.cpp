// A build without CUDA.
#include "calls/device_async_calls.hpp"
#include "calls/device_calls.hpp"

#include <kith/error.hpp>

namespace kith::detail::inline KITH_GPU {

namespace {

[[noreturn]] void refuse() {
    throw Error(ErrorKind::unsupported, "this build of kith has no CUDA (CMake option KITH_CUDA); run on the CPU, with "
                                        "points in the host's memory");
}

} // namespace

void require_device(int /*dimension*/) {
    refuse();
}

DeviceTreeHandle build_tree_on_device(const PointsView& /*points*/, const TreeOptions& /*options*/,
                                      StageReports& /*stages*/) {
    refuse();
}

SearchSummary knn_on_device(const PointsOrTree& /*points*/, const PointsView* /*queries*/,
                            const DeviceKnnCall& /*call*/, Engine /*engine*/) {
    refuse();
}

SearchSummary radius_on_device(const PointsOrTree& /*points*/, const PointsView* /*queries*/,
                               const DeviceRadiusCall& /*call*/) {
    refuse();
}

void fof_on_device(const PointsOrTree& /*points*/, LinkingLength /*length*/, const FofOptions& /*options*/,
                   std::span<std::int32_t> /*labels*/, FofSummary& /*result*/) {
    refuse();
}

void dbscan_on_device(const PointsOrTree& /*points*/, const DbscanOptions& /*options*/,
                      const DeviceDbscanCall& /*call*/, DbscanSummary& /*result*/) {
    refuse();
}

SpanningTree spanning_tree_on_device(const PointsOrTree& /*points*/, const SpanningTreeOptions& /*options*/,
                                     Engine /*engine*/) {
    refuse();
}

bool finds_device() noexcept {
    return false;
}

void release_memory_on_device(const Device& /*device*/) {
    refuse();
}

Catalog catalog_on_device(const halos::LabeledGroups& /*groups*/, const Particles& /*particles*/, const Box& /*box*/,
                          const CatalogOptions& /*options*/) {
    refuse();
}

std::int64_t knn_async_bytes_on_device(const KnnSize& /*size*/, const Execution& /*execution*/) {
    refuse();
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): where there is CUDA, it is changed
void knn_async_on_device(DeviceKnnAsync /*search*/, std::span<std::byte> /*scratch*/) {
    refuse();
}

std::int64_t fof_async_bytes_on_device(const FofSize& /*size*/, const Execution& /*execution*/) {
    refuse();
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the same
void fof_async_on_device(DeviceFofAsync /*fof*/, std::span<std::byte> /*scratch*/) {
    refuse();
}

std::shared_ptr<void> result_memory_on_device(std::int64_t /*bytes*/, const Execution& /*execution*/) {
    refuse();
}

} // namespace kith::detail::inline KITH_GPU
