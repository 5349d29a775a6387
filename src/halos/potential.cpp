#include "halos/potential.hpp"

#include "halos/potential_bodies.hpp"
#include "halos/potential_kernels.hpp"
#include "halos/potential_tree.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <vector>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t leaf_grain = 16;
constexpr std::int64_t part_grain = 1 << 10;

} // namespace

/// Memory of one thread.
struct GroupPotentials::Scratch {
    GroupBodies group;
    PotentialTree tree;
    InteractionLists lists;
    ScratchArray<double> sums;
};

GroupPotentials::GroupPotentials(Context& context, const Columns& columns, const Softening& softening)
    : context_(context), columns_(columns), softening_(softening) {}

GroupPotentials::~GroupPotentials() = default;

void GroupPotentials::compute(std::span<const std::int32_t> rows, double* potentials) {
    Scratch& scratch = scratch_.local();
    const std::int64_t count = std::ssize(rows);
    if (count < 2) {
        std::fill_n(potentials, count, 0.0);
        return;
    }
    scratch.group.load(columns_, rows, softening_);
    if (scratch.group.frame.unit == 0) {
        std::fill_n(potentials, count, 0.0);
        return;
    }
    scratch.sums.reserve(count);
    const double unit = -scratch.group.frame.unit;
    if (count <= direct_sum_size) {
        sum_pairs(scratch.group, softening_.kernel, scratch.sums.data());
        for (std::int64_t i = 0; i < count; ++i) {
            potentials[i] = unit * scratch.sums[i];
        }
        return;
    }
    scratch.tree.build(context_, scratch.group, softening_.kernel);
    sum_leaves(scratch);
    for (std::int64_t i = 0; i < count; ++i) {
        potentials[scratch.tree.place(i)] = unit * scratch.sums[i];
    }
}

void GroupPotentials::compute_part(std::span<const std::int32_t> rows, std::span<const std::int32_t> sources,
                                   double* potentials) {
    Scratch& scratch = scratch_.local();
    scratch.group.load(columns_, rows, softening_);
    const BodyView all = scratch.group.bodies.view();
    BodyArrays& some = scratch.lists.bodies;
    some.resize(std::ssize(sources));
    for (std::int64_t i = 0; i < some.size(); ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            some.position(axis)[i] = all.position[axis][sources[i]];
        }
        some.mass()[i] = all.mass[sources[i]];
    }
    some.pad();
    const BodyView of_sources = some.view();
    const auto sum = [&](std::int64_t begin, std::int64_t end) {
        const BodyView receivers{
            {all.position[0] + begin, all.position[1] + begin, all.position[2] + begin}, all.mass + begin, end - begin};
        sum_sources({softening_.kernel, scratch.group.frame.softening}, receivers, of_sources, potentials + begin);
        for (std::int64_t i = begin; i < end; ++i) {
            potentials[i] *= -scratch.group.frame.unit;
        }
    };
    all.count > shared_group_size ? parallel_for(0, all.count, part_grain, sum) : sum(0, all.count);
}

void GroupPotentials::sum_leaves(Scratch& scratch) {
    const PotentialTree& tree = scratch.tree;
    const LeafJob job{&tree, {softening_.kernel, scratch.group.frame.softening}};
    std::vector<std::int32_t> leaves;
    for (std::int32_t index = 0; index < tree.nodes(); ++index) {
        if (tree.node_data()[index].is_leaf(index)) {
            leaves.push_back(index);
        }
    }
    double* const sums = scratch.sums.data();
    const auto some = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            sum_leaf(job, leaves[i], scratch_.local().lists, sums);
        }
    };
    if (tree.bodies().count <= shared_group_size) {
        some(0, std::ssize(leaves));
    } else {
        parallel_for(0, std::ssize(leaves), leaf_grain, some);
    }
}

void group_potentials(Context& context, const Columns& columns, const GroupMembers& groups, const Softening& softening,
                      std::span<double> potentials) {
    GroupPotentials job(context, columns, softening);
    for_each_group(
        groups, [&](std::int64_t group) { job.compute(groups.of(group), potentials.data() + groups.offset[group]); });
}

} // namespace kith::detail::halos
