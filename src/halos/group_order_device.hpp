// Arrays in the order of groups on a GPU (kith/group_order.hpp): the order of members is the catalog's, without types.
//
// Rows are flagged and counted (survey_kernel.hpp), members sorted by group (device_members.hpp), and all other rows
// listed behind them. The host learns how many members there are, 24 bytes, and nothing else crosses the bus.
#pragma once

#include <kith/error.hpp>

#include "cuda/launch.hpp"
#include "cuda/result_memory.hpp"
#include "halos/device_members.hpp"
#include "halos/group_order.hpp"
#include "halos/row_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// Labels and results are in memory of the device; `offsets` may be null. Returns the number of members. Runs inside a
/// stage.
inline std::int64_t order_by_group(DeviceContext& context, std::span<const std::int32_t> labels, std::int64_t groups,
                                   std::int32_t* indices, std::int64_t* offsets) {
    const auto rows = std::ssize(labels);
    const DeviceBuffer<std::uint8_t> flags = context.buffer<std::uint8_t>(rows);
    SurveyJob survey{};
    survey.rows = rows;
    survey.labels = labels.data();
    survey.all_groups = std::numeric_limits<std::int32_t>::max();
    survey.groups = static_cast<std::int32_t>(groups);
    survey.is_kept = flags.data();
    survey.positions_below = std::numeric_limits<double>::infinity();
    const auto members = static_cast<std::int64_t>(survey_rows(context, survey).kept);
    const DeviceMembers ordered = order_members(context, {labels.data(), nullptr, rows, groups, members}, flags.data());
    context.copy(indices, ordered.rows.data(), members * 4);
    if (offsets != nullptr) {
        for_each_index(context, "write_offsets", groups + 1, WriteOffsets{ordered.runs, offsets, nullptr});
    }
    if (members < rows) {
        const DeviceBuffer<std::int32_t> listed = context.buffer<std::int32_t>(1);
        for_each_index(context, "invert_flags", rows, InvertFlags{flags.data()});
        select_flagged(context, flags.data(), rows, indices + members, listed.data());
    }
    return members;
}

template <class Word>
void gather_words(DeviceContext& context, std::span<const std::int32_t> indices, const void* rows,
                  std::int64_t row_bytes, void* out, std::int32_t* negative) {
    const std::int64_t words = row_bytes / static_cast<std::int64_t>(sizeof(Word));
    const int thread_bits = std::min(5, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(words - 1))));
    for_each_index(context, "gather_rows", std::ssize(indices) << thread_bits,
                   GatherRows<Word>{indices.data(), static_cast<const Word*>(rows), static_cast<Word*>(out), words,
                                    thread_bits, negative});
}

/// All is in memory of the device. Runs inside a stage.
inline void gather_rows(DeviceContext& context, std::span<const std::int32_t> indices, const void* rows,
                        std::int64_t row_bytes, void* out) {
    for (const void* memory : {static_cast<const void*>(indices.data()), rows, static_cast<const void*>(out)}) {
        if (!is_on_device(context, memory)) {
            throw Error(ErrorKind::invalid_argument, "gather_rows() on a GPU takes indices, rows and out in memory of "
                                                     "that GPU; copy them there, or run on the CPU");
        }
    }
    const DeviceBuffer<std::int32_t> negative = context.buffer<std::int32_t>(1);
    context.fill(negative.data(), 0, sizeof(std::int32_t));
    const auto misfit = static_cast<std::uint64_t>(row_bytes) | reinterpret_cast<std::uintptr_t>(rows) |
                        reinterpret_cast<std::uintptr_t>(out);
    const auto gather_by_word = misfit % 8 == 0   ? gather_words<std::uint64_t>
                                : misfit % 4 == 0 ? gather_words<std::uint32_t>
                                                  : gather_words<std::uint8_t>;
    gather_by_word(context, indices, rows, row_bytes, out, negative.data());
    if (context.to_host(negative.data()) != 0) {
        halos::require_rows(context.to_host(indices.data(), std::ssize(indices)));
    }
}

} // namespace kith::detail::inline KITH_GPU
