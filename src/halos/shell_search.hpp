// All particles whose distance from a center lies between two bounds, from the planes of a tree.
//
// Distances are those of the working copy, computed in float64 whatever the type of the coordinates: per axis t =
// |q - p|, then min(t, L - t); t0*t0, then fused sums in the order of the axes. Boxes of nodes are measured by the same
// operations, whose rounding is monotone, so that no bound needs slack. A node is left out if all of it is outside or
// inside of the shell; siblings that follow each other are gone into together, a vector of boxes at a time. Cost: the
// leaves that the shell meets. Which planes there are does not show in what is found, only in its order.
#pragma once

#include "support/scratch_array.hpp"
#include "tree/view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::halos {

/// Squared distances and places in the order of the tree.
struct ShellPoints {
    ScratchArray<double> squares;
    ScratchArray<std::int32_t> places;
    std::int64_t size = 0;
};

template <class T>
struct Shell {
    const TreeView<T>* tree;
    std::array<double, 3> center; ///< in working coordinates
    double inner;                 ///< squared: what is found is farther than that, and
    double outer;                 ///< not farther than this
};

/// Replaces what was found before. The tree has three dimensions.
void find_in_shell(const Shell<float>& shell, ShellPoints& found);
void find_in_shell(const Shell<double>& shell, ShellPoints& found);

} // namespace kith::detail::halos
