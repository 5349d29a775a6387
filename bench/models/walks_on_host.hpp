// The GPU's walks of all leaves of a tree in memory of the host, run by the emulator: float32 in three dimensions, open
// space. Compiled with the flag of counted_accesses.hpp; what host and kernels share beside them is not.
#pragma once

#include "points/frame.hpp"
#include "tree/view.hpp"

namespace kith::bench {

/// Searches the 16 nearest neighbors of all points. Returns the share of rows that were left to the search by query.
double search_by_leaves(const detail::TreeView<float>& tree, const detail::Frame<float>& frame);

/// Links all friends; the length is squared, in working units.
void link_leaves(const detail::TreeView<float>& tree, float squared_length);

} // namespace kith::bench
