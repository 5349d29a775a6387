#include "engines/index.hpp"

#include "engines/brute_force/index.hpp"
#include "engines/clover/index.hpp"
#include "engines/kdtree/index.hpp"

#include <kith/error.hpp>

namespace kith::detail {

template <Coordinate T>
std::unique_ptr<const Index<T>> build_index(Context& context, const UnsortedPoints<T>& points,
                                            const TreeOptions& options) {
    const CloverOptions& clover = options.clover;
    switch (options.engine) {
    case Engine::kdtree:
        return std::make_unique<KdTreeIndex<T>>(context, points, options.kdtree.leaf_size);
    case Engine::clover:
        if (clover.form == CloverForm::flat) {
            return std::make_unique<FlatCloverIndex<T>>(context, points, flat_shape(clover));
        }
        return std::make_unique<CloverIndex<T>>(context, points, CellShape{.seed = clover.seed});
    case Engine::automatic: // has been resolved, and
    case Engine::tree:      // is no index of this kind
    case Engine::brute_force:
        break;
    }
    return std::make_unique<BruteForceIndex<T>>(context, points);
}

template std::unique_ptr<const Index<float>> build_index(Context&, const UnsortedPoints<float>&, const TreeOptions&);
template std::unique_ptr<const Index<double>> build_index(Context&, const UnsortedPoints<double>&, const TreeOptions&);

void check_clover(const CloverOptions& options, std::int64_t points) {
    if (options.form == CloverForm::flat) {
        check_flat_shape(flat_shape(options), points);
    } else if (options.hubs != CloverOptions{}.hubs || options.hub_selection != HubSelection::random) {
        throw Error(ErrorKind::invalid_argument, "a number or a selection of hubs was given, but CLOVER's hierarchical "
                                                 "form draws its own; use the flat form");
    }
}

} // namespace kith::detail
