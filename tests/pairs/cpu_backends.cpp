// The CPU's ways to count pairs: of points, and in kept trees of all shapes.
#include "pairs/conformance.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

PairCounts of_points(const PairRequest& request, Random& draw) {
    PairCountOptions options = options_for(request);
    options.execution = cpu(1 + static_cast<int>(draw.integer(2)));
    return counts_of(request.points, request.others, request, options);
}

PairCounts in_a_kept_tree(const PairRequest& request, Random& draw) {
    const TreeShape shape{.leaf_size = 1 + static_cast<int>(draw.integer(60)),
                          .coarsening = 2 + static_cast<int>(draw.integer(7)),
                          .top_size = 1 + static_cast<int>(draw.integer(9))};
    PairCountOptions options = options_for(request);
    options.box = {};
    options.execution = cpu(1 + static_cast<int>(draw.integer(2)));
    return counts_of(Tree(request.points, {.box = request.box, .shape = shape}), request.others, request, options);
}

} // namespace

std::vector<PairBackend> pair_backends() {
    return {{"points", of_points}, {"kept tree", in_a_kept_tree}};
}

PairEffort pair_effort() {
    return {};
}

} // namespace kith::test
