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

DeviceTreeHandle build_tree_on_device(const PointsView& /*points*/, const Box& /*box*/, const TreeOptions& /*options*/,
                                      const Execution& /*execution*/, StageReports& /*stages*/) {
    refuse();
}

StageReports search_tree_on_device(const DeviceTreeHandle& /*tree*/, DType /*dtype*/,
                                   const TreeOptions& /*tree_options*/, const PointsView* /*queries*/,
                                   const DeviceKnnCall& /*call*/, const Execution& /*execution*/) {
    refuse();
}

Engine search_points_on_device(const PointsView& /*points*/, const PointsView* /*queries*/, const Box& /*box*/,
                               const DeviceKnnCall& /*call*/, const Execution& /*execution*/,
                               StageReports& /*stages*/) {
    refuse();
}

FofSummary label_tree_on_device(const DeviceTreeHandle& /*tree*/, DType /*dtype*/, LinkingLength /*length*/,
                                std::span<std::int32_t> /*labels*/, const Execution& /*execution*/) {
    refuse();
}

FofSummary label_points_on_device(const PointsView& /*points*/, const Box& /*box*/, LinkingLength /*length*/,
                                  const FofOptions& /*options*/, std::span<std::int32_t> /*labels*/,
                                  const Execution& /*execution*/) {
    refuse();
}

Catalog catalog_on_device(const halos::LabeledGroups& /*groups*/, const Particles& /*particles*/, const Box& /*box*/,
                          const CatalogOptions& /*options*/, const Execution& /*execution*/) {
    refuse();
}

std::int64_t knn_async_bytes_on_device(const KnnSize& /*size*/, const Execution& /*execution*/) {
    refuse();
}

void knn_async_on_device(DeviceKnnAsync /*search*/, std::span<std::byte> /*scratch*/, const Execution& /*execution*/) {
    refuse();
}

std::int64_t fof_async_bytes_on_device(const FofSize& /*size*/, const Execution& /*execution*/) {
    refuse();
}

void fof_async_on_device(DeviceFofAsync /*fof*/, Engine /*engine*/, std::span<std::byte> /*scratch*/,
                         const Execution& /*execution*/) {
    refuse();
}

std::shared_ptr<void> result_memory_on_device(std::int64_t /*bytes*/, const Execution& /*execution*/) {
    refuse();
}

} // namespace kith::detail::inline KITH_GPU
