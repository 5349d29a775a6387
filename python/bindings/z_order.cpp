// Points along the z-order curve, and rows of other processes.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/distributed.hpp>
#include <kith/z_order.hpp>

#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::python {

namespace {

nb::object order(const Call& call) {
    const PointsView points = call.points().points();
    auto* const found = new ZOrder(answer(call, points.count(), ZOrderOptions{},
                                          [&](const ZOrderOptions& options) { return z_order(points, options); }));
    const nb::capsule owner = owner_of(found);
    return found->index_array.visit([&](const auto& indices) { return nb::cast(array_of(indices, owner)); });
}

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void gather_columns(const nb::object& ranks, nb::handle threads, const Indices& indices,
                    const std::vector<Bytes>& columns, const std::vector<Bytes>& gathered) {
    const CallOptions options = call_options(nb::none(), threads, nb::none(), ranks);
    std::vector<GatherColumn> of_columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Bytes& column = columns[i];
        const auto bytes = static_cast<std::int64_t>(column.shape(1));
        of_columns.emplace_back(column.data(), static_cast<std::int64_t>(column.shape(0)), bytes, bytes,
                                gathered[i].data(), static_cast<std::int64_t>(gathered[i].shape(0)));
    }
    const std::span<const std::int64_t> of_indices(indices.data(), indices.size());
    const Traffic traffic = answer(options, std::ssize(of_indices), [&](const Execution& execution) {
        return gather(execution, of_indices, of_columns);
    });
    options.ranks->report({}, {.total = std::ssize(of_indices), .traffic = traffic});
}

} // namespace

void bind_z_order(nb::module_& module) {
    module.def("z_order", order, nb::arg("call"));
    module.def("gather", gather_columns, nb::arg("ranks"), nb::arg("threads").none(), nb::arg("indices").noconvert(),
               nb::arg("columns"), nb::arg("gathered"));
}

} // namespace kith::python
