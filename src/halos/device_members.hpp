// Brings rows into group order on a GPU; see member_kernel.hpp.
//
// A sort of the members' keys, of as many bits as there are runs: three or four rounds of a radix sort for a million
// halos. Memory: a byte a row for the list, and 16 bytes a member while they are sorted (24 with more than 2^32 runs);
// 4 stay.
#pragma once

#include <kith/group_sizes.hpp>

#include "cuda/device_context.hpp"
#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "halos/member_kernel.hpp"
#include "halos/survey_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

struct DeviceMembers {
    std::int64_t count = 0;
    DeviceBuffer<std::int32_t> rows; ///< of the input, in group order
    DeviceBuffer<std::int32_t> first_member;
    DeviceBuffer<std::int32_t> first_chunk;
    DeviceBuffer<std::int64_t> run_of_chunk;
    MemberRuns runs;
};

/// Labels and types as a kernel reads them, and the groups to describe.
struct LabeledRows {
    const std::int32_t* labels;
    const std::uint8_t* types; ///< null: all are of type 1
    std::int64_t rows;
    std::int64_t groups;  ///< that are described: the first ones
    std::int64_t members; ///< of them all
};

/// Looks at every row; also flags those of the first `groups` groups.
inline Survey survey_rows(DeviceContext& context, SurveyJob job) {
    const DeviceBuffer<Survey> survey = context.buffer<Survey>(1);
    context.fill(survey.data(), 0, sizeof(Survey));
    job.survey = survey.data();
    constexpr std::int64_t blocks_of_multiprocessor = 8; // as many as run there at once
    const std::int64_t blocks = std::min((job.rows + threads_of_block - 1) / threads_of_block,
                                         context.multiprocessors() * blocks_of_multiprocessor);
    for_each_index(context, "survey_rows", blocks * threads_of_block, job);
    return context.to_host(survey.data());
}

template <class Key>
void sort_into_runs(DeviceContext& context, const LabeledRows& labeled, DeviceMembers& members) {
    DeviceBuffer<Key> keys = context.buffer<Key>(members.count);
    for_each_index(context, "make_run_keys", members.count,
                   MakeRunsOfMembers<Key>{members.rows.data(), labeled.labels, labeled.types, keys.data()});
    const std::int64_t runs = members.runs.runs();
    if (runs > 1) {
        const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(runs - 1)));
        sort_by_key(context, keys, members.rows, bits);
    }
    for_each_index(context, "find_runs", members.count + 1,
                   FindRuns<Key>{members.count, keys.data(), runs, members.first_member.data()});
}

/// Whether the groups have the sizes that were said; needs no chunks. There are few different sizes (GroupSizes).
inline bool have_sizes(DeviceContext& context, const MemberRuns& runs, const GroupSizes& given) {
    std::vector<SizeOfGroups> sizes;
    std::int64_t end = 0;
    for (const GroupsOfSize& run : given.runs()) {
        sizes.push_back({run.size, end += run.groups});
    }
    const auto count = std::ssize(sizes);
    const DeviceBuffer<SizeOfGroups> expected = context.buffer<SizeOfGroups>(count);
    const DeviceBuffer<std::int32_t> differ = context.buffer<std::int32_t>(1);
    context.copy(expected.data(), sizes.data(), count * static_cast<std::int64_t>(sizeof(SizeOfGroups)));
    context.fill(differ.data(), 0, 4);
    for_each_index(context, "check_sizes", runs.groups, CompareSizes{runs, expected.data(), count, differ.data()});
    return context.to_host(differ.data()) == 0;
}

inline void cut_into_chunks(DeviceContext& context, DeviceMembers& members) {
    const std::int64_t runs = members.runs.runs();
    members.first_chunk = context.buffer<std::int32_t>(runs + 1);
    for_each_index(context, "count_chunks", runs + 1,
                   CountChunks{runs, members.first_member.data(), members.first_chunk.data()});
    exclusive_sum(context, members.first_chunk.data(), runs + 1, members.first_chunk.data());
    members.runs.chunks = context.to_host(members.first_chunk.data() + runs);
    members.run_of_chunk = context.buffer<std::int64_t>(members.runs.chunks);
    for_each_index(context, "number_chunks", runs,
                   NumberChunks{members.first_chunk.data(), members.run_of_chunk.data()});
    members.runs.first_chunk = members.first_chunk.data();
    members.runs.run_of_chunk = members.run_of_chunk.data();
}

/// The rows whose flag is set, of which there are labeled.members, in group order; without chunks.
inline DeviceMembers order_members(DeviceContext& context, const LabeledRows& labeled, const std::uint8_t* is_kept) {
    DeviceMembers members;
    members.count = labeled.members;
    members.rows = context.buffer<std::int32_t>(members.count);
    const DeviceBuffer<std::int32_t> listed = context.buffer<std::int32_t>(1);
    select_flagged(context, is_kept, labeled.rows, members.rows.data(), listed.data());
    members.runs.groups = labeled.groups;
    members.runs.runs_of_group = labeled.types != nullptr ? max_types : 1;
    members.first_member = context.buffer<std::int32_t>(members.runs.runs() + 1);
    members.runs.first_member = members.first_member.data();
    if (members.runs.runs() >> 32 == 0) {
        sort_into_runs<std::uint32_t>(context, labeled, members);
    } else {
        sort_into_runs<std::uint64_t>(context, labeled, members);
    }
    return members;
}

} // namespace kith::detail::inline KITH_GPU
