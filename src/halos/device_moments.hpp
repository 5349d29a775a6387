// Describes groups whose members are in order on a GPU; see moment_kernel.hpp.
//
// The columns are brought into group order first if there is memory for it, one after the other; else every pass looks
// rows up. Bytes of memory moved for a member, in three dimensions and float32: about 110 for its position (the row
// that is looked up, 4; a sector or two of 32 where it lies; 12 written; 12 for each of four passes), as much for a
// velocity, 85 for a mass (4, a sector, 4, and 4 for each of eleven passes). Bringing it into order takes about 75
// before (the list, its key, three rounds of a sort), and each row of the input 5 (label and flag), 16 more with
// velocity and mass.
#pragma once

#include "cuda/launch.hpp"
#include "halos/column_kernel.hpp"
#include "halos/device_members.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// A column in group order, or the column itself and where its rows are.
struct GatheredColumn {
    DeviceBuffer<std::uint8_t> numbers;
    DeviceColumn column;
};

template <class T>
void gather(DeviceContext& context, int axes, const DeviceMembers& members, GatheredColumn& gathered) {
    auto* const numbers = reinterpret_cast<T*>(gathered.numbers.data());
    for_each_index(context, "gather_members", members.count,
                   GatherMembers<T>{members.count, axes, gathered.column, numbers});
    const bool is_float = gathered.column.is_float;
    gathered.column = DeviceColumn();
    for (int axis = 0; axis < axes; ++axis) {
        gathered.column.axes[axis] = numbers + axis * members.count;
    }
    gathered.column.is_float = is_float;
    gathered.column.row_stride = 1;
}

inline GatheredColumn gathered_column(DeviceContext& context, const DeviceColumn& column, int axes,
                                      const DeviceMembers& members) {
    GatheredColumn gathered;
    gathered.column = column.of_rows(members.rows.data());
    const std::int64_t bytes = members.count * axes * (column.is_float ? 4 : 8);
    if (column.axes[0] == nullptr || bytes == 0 || bytes > context.memory()->left()) {
        return gathered;
    }
    gathered.numbers = context.buffer<std::uint8_t>(bytes);
    if (column.is_float) {
        gather<float>(context, axes, members, gathered);
    } else {
        gather<double>(context, axes, members, gathered);
    }
    return gathered;
}

/// What is described, and how it is read.
struct DescribedColumns {
    DeviceColumn positions;
    DeviceColumn velocities;
    DeviceColumn masses;
    double uniform_mass;
    double position_scale;
    double velocity_scale;
    Frame<double> box; ///< in units of the scaled positions
};

/// Where passes leave what they found of masses; empty without masses.
struct MassBuffers {
    DeviceBuffer<int> exponents_of_runs;
    DeviceBuffer<int> exponents_of_groups;
    DeviceBuffer<ScaledNumber> of_runs;
    DeviceBuffer<ScaledNumber> of_groups;

    MassBuffers(const DeviceContext& context, const MemberRuns& runs, bool are_there)
        : exponents_of_runs(context.buffer<int>(are_there ? runs.runs() : 0)),
          exponents_of_groups(context.buffer<int>(are_there ? runs.groups : 0)),
          of_runs(context.buffer<ScaledNumber>(are_there ? runs.runs() : 0)),
          of_groups(context.buffer<ScaledNumber>(are_there ? runs.groups : 0)) {}
};

/// Runs passes over the members one after the other; their parts take turns in one piece of memory.
template <int D>
class Passes {
public:
    Passes(DeviceContext& context, const DeviceMembers& members)
        : context_(context), members_(members),
          parts_(context.buffer<std::uint8_t>(members.runs.chunks * largest_part)) {}

    void over_masses(const DeviceColumn& masses, const MassBuffers& found) {
        const MemberRuns& runs = members_.runs;
        run("mass_exponents", 1, MassExponentPass{masses, found.exponents_of_runs.data()});
        for_each_index(
            context_, "join_exponents", runs.groups,
            JoinExponents{runs.runs_of_group, found.exponents_of_runs.data(), found.exponents_of_groups.data()});
        run("mass_sums", 1, MassSumPass{runs, 1, masses, found.exponents_of_runs.data(), found.of_runs.data()});
        run("mass_sums", runs.runs_of_group,
            MassSumPass{runs, runs.runs_of_group, masses, found.exponents_of_groups.data(), found.of_groups.data()});
    }
    /// `references` is the column by row that the groups' references are taken from; none: they are 0.
    void over_vectors(const MemberVectors<D>& vectors, const DeviceColumn& references) {
        const MemberRuns& runs = members_.runs;
        for_each_index(context_, "take_references", runs.groups,
                       TakeReferences<D>{vectors, references, members_.rows.data()});
        run("vector_bounds", runs.runs_of_group, VectorBoundsPass<D>{vectors});
        run("vector_sums", runs.runs_of_group, VectorSumPass<D>{vectors});
        run("spread_bounds", runs.runs_of_group, SpreadBoundsPass<D>{vectors});
        run("spread_sums", runs.runs_of_group, SpreadSumPass<D>{vectors});
    }

private:
    static constexpr auto largest_part = static_cast<std::int64_t>(std::max(
        {sizeof(typename VectorBoundsPass<D>::Part), sizeof(typename VectorSumPass<D>::Part),
         sizeof(typename SpreadBoundsPass<D>::Part), sizeof(MassSumPass::Part), sizeof(MassExponentPass::Part)}));

    template <class Pass>
    void run(const char* name, int runs_of_owner, const Pass& pass) {
        const PassKernelJob<Pass> job{members_.runs, runs_of_owner, members_.runs.runs() / runs_of_owner, pass,
                                      reinterpret_cast<typename Pass::Part*>(parts_.data())};
        launch_threads(context_, name, collect_kernel<Pass>, std::int64_t{job.runs.chunks} * warp_size, job);
        launch_threads(context_, name, conclude_kernel<Pass>, job.owners * warp_size, job);
    }

    DeviceContext& context_;
    const DeviceMembers& members_;
    DeviceBuffer<std::uint8_t> parts_;
};

/// Fills every column.
template <int D>
void describe_members(DeviceContext& context, const DeviceMembers& members, const DescribedColumns& described,
                      const halos::ColumnPointers& columns) {
    const MemberRuns& runs = members.runs;
    const bool moves = described.velocities.axes[0] != nullptr;
    const MassBuffers masses(context, runs, described.masses.axes[0] != nullptr);
    const auto places = context.buffer<halos::VectorMoments<D>>(runs.groups);
    const auto velocities = context.buffer<halos::VectorMoments<D>>(moves ? runs.groups : 0);
    Passes<D> passes(context, members);
    const GatheredColumn gathered_masses = gathered_column(context, described.masses, 1, members);
    if (described.masses.axes[0] != nullptr) {
        passes.over_masses(gathered_masses.column, masses);
    }
    const MemberWeights weights{gathered_masses.column, masses.exponents_of_groups.data(), masses.of_groups.data()};
    {
        const GatheredColumn gathered = gathered_column(context, described.positions, D, members);
        MemberVectors<D> vectors{gathered.column, described.position_scale, {}, runs, weights, 1, places.data()};
        std::copy_n(described.box.period.begin(), D, vectors.period);
        passes.over_vectors(vectors, described.positions);
    }
    if (moves) {
        const GatheredColumn gathered = gathered_column(context, described.velocities, D, members);
        passes.over_vectors({gathered.column, described.velocity_scale, {}, runs, weights, D, velocities.data()}, {});
    }
    launch_threads(context, "write_columns", write_columns_kernel<D>, runs.groups,
                   {runs, described.box, 1 / described.position_scale, 1 / described.velocity_scale, places.data(),
                    velocities.data(), masses.of_groups.data(), masses.of_runs.data(), described.uniform_mass,
                    columns});
}

} // namespace kith::detail::inline KITH_GPU
