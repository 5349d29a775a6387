// Potentials of groups: each member in the gravity of all other members of its group.
//
// docs/semantics.md, "Bound halos", defines them; a potential is the negative sum of m times the kernel (G = 1), in the
// units of masses and lengths as given. Groups of up to `direct_sum_size` members are summed over all pairs. Larger
// ones have a tree (potential_tree.hpp): distant nodes count by their mass and second moments about their center of
// mass (potential_kernels.cpp). Cost: O(N log N), some 120 bytes for each member of the largest group. Sources: Barnes,
// Hut (1986), Nature 324, 446, for the method; Springel, Yoshida, White (2001), New Astronomy 6, 79, for the spline.
//
// Invariants: whether a node counts as a whole is decided by one receiving leaf and that node alone; terms are added in
// the order of the tree, in 16 lanes that are joined pairwise. So threads, sizes of tasks and instruction sets do not
// show. Small groups are computed by one thread each, many at once; of large ones, all threads share the leaves.
#pragma once

#include <kith/halos.hpp>

#include "halos/columns.hpp"
#include "support/context.hpp"
#include "support/parallel_in_turn.hpp"
#include "support/per_thread.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// Rows of particles, group after group, in each by ascending index within a type.
struct GroupMembers {
    std::span<const std::int32_t> rows;
    std::span<const std::int64_t> offset; ///< of each group in `rows`, and the end

    [[nodiscard]] std::int64_t groups() const noexcept { return std::ssize(offset) - 1; }
    [[nodiscard]] std::span<const std::int32_t> of(std::int64_t group) const noexcept {
        return rows.subspan(static_cast<std::size_t>(offset[group]),
                            static_cast<std::size_t>(offset[group + 1] - offset[group]));
    }
};

/// Computes potentials of one group after the other, or of several at once. Runs inside a stage; `columns` have three
/// dimensions, have been checked and are kept.
class GroupPotentials {
public:
    GroupPotentials(Context& context, const Columns& columns, const Softening& softening);
    GroupPotentials(const GroupPotentials&) = delete;
    GroupPotentials& operator=(const GroupPotentials&) = delete;
    ~GroupPotentials();

    /// One potential for each of the rows of a group. Several threads may call this at a time, unless the group is one
    /// of more than shared_group_size members, which uses all of them.
    void compute(std::span<const std::int32_t> rows, double* potentials);
    /// The part of every row's potential that comes from some rows, by all pairs; what those have of themselves is
    /// unspecified. `sources` are places in `rows`. Threads as above.
    void compute_part(std::span<const std::int32_t> rows, std::span<const std::int32_t> sources, double* potentials);

private:
    struct Scratch;
    void sum_leaves(Scratch& scratch);

    Context& context_;
    const Columns& columns_;
    Softening softening_;
    PerThread<Scratch> scratch_;
};

inline constexpr std::int64_t shared_group_size = 1 << 16; ///< members: larger groups are computed by all threads

/// body(group) for every group: large ones one after the other, all others side by side, the first ones first.
template <class Body>
void for_each_group(const GroupMembers& groups, const Body& body) {
    std::vector<std::int64_t> small;
    for (std::int64_t group = 0; group < groups.groups(); ++group) {
        if (std::ssize(groups.of(group)) > shared_group_size) {
            body(group);
        } else {
            small.push_back(group);
        }
    }
    parallel_in_turn(std::ssize(small), [&](std::int64_t i) { body(small[i]); });
}

/// One potential for each of the rows, as above.
void group_potentials(Context& context, const Columns& columns, const GroupMembers& groups, const Softening& softening,
                      std::span<double> potentials);

} // namespace kith::detail::halos
