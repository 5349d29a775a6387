// The sums of potentials, for every instruction set.
#pragma once

#include "halos/potential_bodies.hpp"
#include "halos/potential_tree.hpp"
#include "support/scratch_array.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail::halos {

/// How pairs attract each other, in the frame of a group.
struct SofteningInFrame {
    SofteningKernel kernel;
    double length;
};

/// What a leaf's receivers see, padded to whole lanes. Memory of one thread.
struct InteractionLists {
    std::vector<std::int32_t> nodes;                         ///< taken whole
    std::vector<std::pair<std::int32_t, std::int32_t>> runs; ///< of bodies, first and last
    BodyArrays bodies;
    std::array<ScratchArray<double>, 11> of_nodes; ///< centers, masses, second moments, one array after the other
};

struct LeafJob {
    const PotentialTree* tree;
    SofteningInFrame softening;
};

/// Sums of m times the kernel over all others, for the bodies of a leaf: out[i] is that of body i.
void sum_leaf(const LeafJob& job, std::int32_t leaf, InteractionLists& lists, double* out);

/// The same for receivers and sources, which are padded: receivers are not left out among them.
void sum_sources(const SofteningInFrame& softening, const BodyView& receivers, const BodyView& sources, double* out);

/// The same for a whole group, by all pairs.
void sum_pairs(GroupBodies& group, SofteningKernel kernel, double* out);

} // namespace kith::detail::halos
