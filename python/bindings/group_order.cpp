// The order of groups, and rows of arrays brought into it.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/error.hpp>
#include <kith/group_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace kith::python {

namespace {

/// Fills the caller's arrays; returns the number of members.
std::int64_t order(const InputArray& labels, const OutputArray& indices, const OutputArray& offsets, nb::handle device,
                   nb::handle threads, nb::object progress) {
    const CallOptions options = call_options(device, threads, std::move(progress));
    const auto given = numbers_of<const std::int32_t>(labels, options.device, "labels", "int32");
    const auto of_indices = numbers_of<std::int32_t>(indices, options.device, "indices", "int32");
    const auto of_offsets = numbers_of<std::int64_t>(offsets, options.device, "offsets", "int64");
    return answer(options, std::ssize(given), [&](const Execution& execution) {
        return group_order_into(of_indices, of_offsets, given, std::ssize(of_offsets) - 1, execution).members;
    });
}

std::size_t bytes_of_row(const InputArray& array) {
    std::size_t bytes = array.itemsize();
    for (std::size_t axis = 1; axis < array.ndim(); ++axis) {
        bytes *= array.shape(axis);
    }
    return bytes;
}

/// Rows of a dense array in the order of indices, into a new one in the same memory.
void gather(const InputArray& indices, const InputArray& rows, const OutputArray& out, nb::handle threads) {
    const Device memory = device_of(rows);
    CallOptions options = call_options(nb::none(), threads, nb::none());
    options.device = memory;
    const Device of_indices = device_of(indices);
    if (of_indices.kind != memory.kind || of_indices.index != memory.index) {
        throw Error(ErrorKind::invalid_argument,
                    "array is in other memory than the order; copy it, or find the order of labels that are there");
    }
    const auto order = numbers_of<const std::int32_t>(indices, memory, "indices", "int32");
    require_dense(rows, "array");
    require_dense(out, "the array of results");
    const std::size_t count = rows.shape(0);
    const std::size_t row_bytes = bytes_of_row(rows);
    if (out.shape(0) != order.size() || out.nbytes() != order.size() * row_bytes) {
        throw Error(ErrorKind::invalid_argument, "the array of results is of another shape or type");
    }
    run(options, std::ssize(order), [&](const Execution& execution) {
        if (memory.kind == DeviceKind::cpu && !order.empty() &&
            static_cast<std::size_t>(std::max(0, *std::ranges::max_element(order))) >= count) {
            throw Error(ErrorKind::invalid_argument,
                        "the order is of other arrays: it has an index beyond the " + std::to_string(count) + " rows");
        }
        gather_rows(order, rows.data_handle(), row_bytes, out.data_handle(), execution);
    });
}

} // namespace

void bind_group_order(nb::module_& module) {
    module.def("group_order", order, nb::arg("labels").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("offsets").noconvert(), nb::arg("device").none(), nb::arg("threads").none(),
               nb::arg("progress").none());
    module.def("gather_rows", gather, nb::arg("indices").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("out").noconvert(), nb::arg("threads").none());
}

} // namespace kith::python
