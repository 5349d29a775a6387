#include "engines/index.hpp"

#include "engines/brute_force/index.hpp"
#include "engines/clover/index.hpp"
#include "engines/kdtree/index.hpp"

namespace kith::detail {

template <Coordinate T>
std::unique_ptr<const Index<T>> build_index(Context& context, Engine engine, const UnsortedPoints<T>& points) {
    switch (engine) {
    case Engine::kdtree:
        return std::make_unique<KdTreeIndex<T>>(context, points);
    case Engine::clover:
        return std::make_unique<CloverIndex<T>>(context, points);
    case Engine::automatic: // has been resolved, and
    case Engine::tree:      // is no index of this kind
    case Engine::brute_force:
        break;
    }
    return std::make_unique<BruteForceIndex<T>>(context, points);
}

template std::unique_ptr<const Index<float>> build_index(Context&, Engine, const UnsortedPoints<float>&);
template std::unique_ptr<const Index<double>> build_index(Context&, Engine, const UnsortedPoints<double>&);

} // namespace kith::detail
