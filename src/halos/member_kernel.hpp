// Bringing rows into group order on a GPU: by group, within a group by type, within a type by index.
//
// The rows of the groups that are described are listed, ascending, and sorted by a key that numbers the runs: a run is
// the members of one type in one group, or the whole group where there are no types. The sort is stable, so that the
// index needs no key. Then each run's first member is found where keys change. Runs are cut into chunks of members, one
// for a warp each, so that a group of a million keeps many warps busy and one of twenty keeps one. Last, the columns
// are brought into group order once, since every pass over them reads them again.
#pragma once

#include "cuda/intrinsics.hpp"
#include "halos/device_columns.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Most members of a chunk: a warp's work, long beside what it takes to begin and to join what the lanes have.
inline constexpr std::int32_t members_of_chunk = 1024;

/// The members in group order and how they are shared out.
struct MemberRuns {
    std::int64_t groups = 0;
    int runs_of_group = 1; ///< max_types or 1
    std::int32_t chunks = 0;
    const std::int32_t* first_member = nullptr; ///< of each run; one more at the end
    const std::int32_t* first_chunk = nullptr;  ///< of each run; one more at the end
    const std::int64_t* run_of_chunk = nullptr;

    [[nodiscard]] std::int64_t runs() const { return groups * runs_of_group; }
    [[nodiscard]] __device__ std::int32_t members_of(std::int64_t group) const {
        return first_member[(group + 1) * runs_of_group] - first_member[group * runs_of_group];
    }
};

template <class Key>
struct MakeRunsOfMembers {
    const std::int32_t* rows;
    const std::int32_t* labels;
    const std::uint8_t* types; ///< null: a group is one run
    Key* keys;

    __device__ void operator()(std::int64_t member) const {
        const std::int32_t row = rows[member];
        const auto group = static_cast<Key>(labels[row]);
        keys[member] = types != nullptr ? group * static_cast<Key>(max_types) + types[row] : group;
    }
};

/// For each member and for the end: writes for the runs that begin there, empty ones before them too.
template <class Key>
struct FindRuns {
    std::int64_t members;
    const Key* keys;
    std::int64_t runs;
    std::int32_t* first_member;

    __device__ void operator()(std::int64_t member) const {
        const std::int64_t before = member > 0 ? static_cast<std::int64_t>(keys[member - 1]) : -1;
        const std::int64_t here = member < members ? static_cast<std::int64_t>(keys[member]) : runs;
        for (std::int64_t run = before + 1; run <= here; ++run) {
            first_member[run] = static_cast<std::int32_t>(member);
        }
    }
};

/// For each group: where its members begin, and how many there are. For offsets alone, also for the end.
struct WriteOffsets {
    MemberRuns runs;
    std::int64_t* offset;
    std::int64_t* count; ///< null: not asked for

    __device__ void operator()(std::int64_t group) const {
        offset[group] = runs.first_member[group * runs.runs_of_group];
        if (count != nullptr) {
            count[group] = runs.members_of(group);
        }
    }
};

/// How many chunks each run has, and none at the end.
struct CountChunks {
    std::int64_t runs;
    const std::int32_t* first_member;
    std::int32_t* chunks;

    __device__ void operator()(std::int64_t run) const {
        const std::int32_t members = run < runs ? first_member[run + 1] - first_member[run] : 0;
        chunks[run] = members / members_of_chunk + (members % members_of_chunk != 0 ? 1 : 0);
    }
};

struct NumberChunks {
    const std::int32_t* first_chunk; ///< of each run; one more at the end
    std::int64_t* run_of_chunk;

    __device__ void operator()(std::int64_t run) const {
        for (std::int32_t chunk = first_chunk[run]; chunk < first_chunk[run + 1]; ++chunk) {
            run_of_chunk[chunk] = run;
        }
    }
};

/// Groups of one size, and the number of the group after them.
struct SizeOfGroups {
    std::int64_t size;
    std::int64_t end;
};

/// Counts the groups that have another size than was said.
struct CompareSizes {
    MemberRuns runs;
    const SizeOfGroups* sizes; ///< the last one's end is beyond all groups
    std::int64_t number_of_sizes;
    std::int32_t* groups_that_differ;

    __device__ void operator()(std::int64_t group) const {
        const SizeOfGroups* first = sizes;
        for (std::int64_t left = number_of_sizes; left > 1;) { // sizes from `first` on, of which the group has one
            const std::int64_t half = left / 2;
            const bool is_behind = first[half - 1].end <= group;
            first += is_behind ? half : 0;
            left = is_behind ? left - half : half;
        }
        if (runs.members_of(group) != first->size) {
            atomicAdd(groups_that_differ, 1);
        }
    }
};

template <class T>
struct GatherMembers {
    std::int64_t members;
    int axes;
    DeviceColumn from;
    T* to; ///< axis after axis

    __device__ void operator()(std::int64_t member) const {
        for (int axis = 0; axis < axes; ++axis) {
            to[axis * members + member] = static_cast<T>(from(member, axis)); // T is the column's own type
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
