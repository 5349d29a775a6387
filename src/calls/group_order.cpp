// The public calls for arrays in the order of groups: checked once, dispatched once.
#include <kith/error.hpp>
#include <kith/group_order.hpp>

#include "calls/device_calls.hpp"
#include "calls/zeros.hpp"
#include "halos/group_order.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/one_process.hpp"
#include "support/parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace kith {

namespace {

void check(std::span<const std::int32_t> labels, std::int64_t groups, const Execution& execution) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    detail::require_one_process(execution);
    if (groups < 0 || groups > most) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(groups), "groups is ", groups,
                            "; it must be 0 to ", most);
    }
    if (std::ssize(labels) > most) {
        throw detail::error(ErrorKind::too_large, "labels: ", labels.size(),
                            " points are more than one process can index (", most, "); split them");
    }
}

void require_size(const char* what, std::size_t size, std::int64_t expected) {
    if (static_cast<std::int64_t>(size) != expected) {
        throw detail::error(ErrorKind::invalid_argument, what, ": there is memory for ", size,
                            " numbers; it must hold ", expected);
    }
}

/// The call has been checked.
void order(std::span<const std::int32_t> labels, std::int64_t groups, std::span<std::int32_t> indices,
           std::span<std::int64_t> offsets, const Execution& execution, GroupOrderSummary& result) {
    if (detail::is_on_gpu(execution)) {
        detail::on_gpu().group_order(labels, groups, indices, offsets, execution, result);
        return;
    }
    detail::Context context(execution);
    context.stage("order", [&] {
        detail::Buffer<std::int64_t> scratch;
        if (offsets.empty()) {
            scratch = detail::Buffer<std::int64_t>(context.memory_tracker(), groups + 1);
            offsets = {scratch.data(), static_cast<std::size_t>(scratch.size())};
        }
        result.members = detail::halos::order_by_group(context, labels, indices, offsets);
    });
    result.stages = context.take_stages();
}

} // namespace

GroupOrder group_order(std::span<const std::int32_t> labels, std::int64_t groups, const Execution& execution) {
    check(labels, groups, execution);
    GroupOrder result;
    result.indices = detail::zeros<std::int32_t>(execution, std::ssize(labels), "the order of groups");
    result.offsets = detail::zeros<std::int64_t>(execution, groups + 1, "the offsets of groups");
    order(labels, groups, result.indices, result.offsets, execution, result);
    return result;
}

GroupOrderSummary group_order_into(std::span<std::int32_t> indices, std::span<std::int64_t> offsets,
                                   std::span<const std::int32_t> labels, std::int64_t groups,
                                   const Execution& execution) {
    check(labels, groups, execution);
    require_size("indices", indices.size(), std::ssize(labels));
    if (!offsets.empty()) {
        require_size("offsets", offsets.size(), groups + 1);
    }
    GroupOrderSummary result;
    order(labels, groups, indices, offsets, execution, result);
    return result;
}

void gather_rows(std::span<const std::int32_t> indices, const void* rows, std::size_t row_bytes, void* out,
                 const Execution& execution) {
    detail::require_one_process(execution);
    if (detail::is_on_gpu(execution)) {
        const detail::DeviceCalls& gpu = detail::on_gpu();
        if (!indices.empty() && row_bytes > 0) {
            gpu.gather_rows(indices, rows, static_cast<std::int64_t>(row_bytes), out, execution);
        }
        return;
    }
    const auto* from = static_cast<const std::byte*>(rows);
    auto* to = static_cast<std::byte*>(out);
    detail::Context(execution).run([&] {
        detail::halos::require_rows(indices);
        detail::parallel_each(std::ssize(indices), 1 << 14, [&](std::int64_t i) {
            std::memcpy(to + static_cast<std::size_t>(i) * row_bytes,
                        from + static_cast<std::size_t>(indices[i]) * row_bytes, row_bytes);
        });
    });
}

} // namespace kith
