// Reading points of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "points/device_entry.hpp"
#include "points/part_points_device.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
std::shared_ptr<PartPoints<T>> part_points_on_device(const Execution& execution, Context& host) {
    return std::make_shared<DevicePartPoints<T, D>>(execution, host);
}

template std::shared_ptr<PartPoints<KITH_SCALAR>> part_points_on_device<KITH_SCALAR, KITH_DIMENSION>(const Execution&,
                                                                                                     Context&);

} // namespace kith::detail::inline KITH_GPU
