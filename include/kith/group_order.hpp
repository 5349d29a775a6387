// Arrays in the order of groups in memory: those of group 0 first, then those of group 1, and so on.
//
// group_order() finds the permutation and where each group begins; gather_rows() brings any array into this order:
// positions, velocities, ids, rows of a few columns. On a GPU both work on arrays that live there, which never cross
// the bus. Source: jz-tree paper, section IV-B (arXiv:2604.05885). Cost: O(N); on a GPU a sort of the members.
#pragma once

#include <kith/execution.hpp>
#include <kith/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

struct GroupOrderSummary {
    std::int64_t members = 0; ///< of all groups: the first ones of the order
    StageReports stages;
};

struct GroupOrder : GroupOrderSummary {
    /// Index of every point: the members of group 0, ascending, then those of group 1, and so on; after the members,
    /// ascending, the points of no group. std::span(indices).first(members) leaves these out.
    std::vector<std::int32_t> indices;
    /// Members of group g are elements offsets[g] to offsets[g + 1] - 1 of indices. Groups + 1 numbers, from 0.
    std::vector<std::int64_t> offsets;
};

/// The order of the groups 0 to groups - 1. Labels are those of fof(), dbscan() or a cut, one per point, which may be
/// in memory of the GPU on which the call runs; points with other labels, such as -1, are of no group. Groups of at
/// least 20 members are the first FofSummary::groups_of_at_least(20). Memory: 4 bytes per point, and on a GPU 1 per
/// point and 16 per member. Throws Error: invalid_argument (groups below 0 or above 2^31 - 1), too_large (more than
/// 2^31 - 1 points), unsupported (CUDA not built; ranks), out_of_memory, device, canceled.
[[nodiscard]] GroupOrder group_order(std::span<const std::int32_t> labels, std::int64_t groups,
                                     const Execution& execution = {});

/// The same, writing to the caller's memory: host memory, or memory of the GPU on which the call runs. `offsets` may be
/// empty. Neither may overlap the labels. If the call throws, the contents of both are unspecified. Also throws
/// invalid_argument unless there is one index per point, and groups + 1 offsets.
GroupOrderSummary group_order_into(std::span<std::int32_t> indices, std::span<std::int64_t> offsets,
                                   std::span<const std::int32_t> labels, std::int64_t groups,
                                   const Execution& execution = {});

/// Copies rows of `row_bytes` bytes each into the order of `indices`: row i of `out` is row indices[i] of `rows`. `out`
/// has indices.size() rows and must not overlap `rows`. All three are in host memory, or all in memory of the GPU on
/// which the call runs; there it is fastest if the row and the addresses are multiples of 4 or 8 bytes. Throws Error:
/// invalid_argument (a negative index; the contents of `out` are then unspecified; on a GPU, memory that is not its
/// own), unsupported (CUDA not built; ranks), out_of_memory, device, canceled.
void gather_rows(std::span<const std::int32_t> indices, const void* rows, std::size_t row_bytes, void* out,
                 const Execution& execution = {});

} // namespace kith
