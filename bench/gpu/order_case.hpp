// A row about the order of a left-balanced k-d tree: by kith::kdtree_order, or by the public header in place.
#pragma once

#include "point_set.hpp"
#include "row.hpp"

#include <kith/device/kdtree_split.hpp>

#include <string>

namespace bench {

enum class OrderBuilder { library, header };

struct OrderCase {
    PointSet points; ///< 3-D, compared with the CPU's order: a hundred million at most
    OrderBuilder builder = OrderBuilder::library;
    kith::kdtree::Split split = kith::kdtree::Split::widest;
};

[[nodiscard]] Outcome run_order(Bench& bench, const std::string& name, const OrderCase& wanted);

} // namespace bench
