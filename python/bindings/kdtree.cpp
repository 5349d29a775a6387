// The order of a left-balanced k-d tree.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/kdtree_order.hpp>

#include <cstdint>
#include <span>

namespace kith::python {

namespace {

void order(const Call& call, const OutputArray& indices, const OutputArray& split_axes, int split) {
    const PointsView points = call.points().points();
    const std::span<std::int32_t> of_indices = labels_of(indices, call.device);
    const std::span<std::uint8_t> of_axes = numbers_of<std::uint8_t>(split_axes, call.device, "split axes", "uint8");
    (void)answer(call, points.count(), [&](const Execution& execution) {
        return kdtree_order_into(of_indices, of_axes, points, static_cast<kdtree::Split>(split), execution);
    });
}

} // namespace

void bind_kdtree(nb::module_& module) {
    module.def("kdtree_order", order, nb::arg("call"), nb::arg("indices").noconvert(),
               nb::arg("split_axes").noconvert(), nb::arg("split"));
}

} // namespace kith::python
