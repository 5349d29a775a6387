// One scalar type's rounds for every instruction set; the including file names the type and itself.
#include "mst/forest.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "mst/forest_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void read_rows_any(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    with_dimension(forest.dimension, [&]<int D>(std::integral_constant<int, D>) {
        forest.periodic ? read_rows_of<KITH_SCALAR, D, true>(forest, begin, end)
                        : read_rows_of<KITH_SCALAR, D, false>(forest, begin, end);
    });
}

void bound_by_order_any(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    with_dimension(forest.dimension, [&]<int D>(std::integral_constant<int, D>) {
        forest.periodic ? bound_by_order_of<KITH_SCALAR, D, true>(forest, begin, end)
                        : bound_by_order_of<KITH_SCALAR, D, false>(forest, begin, end);
    });
}

template <int D, bool Periodic>
void walk_from(const ForestSearch<KITH_SCALAR>& search, std::int64_t node, ForestScratch<KITH_SCALAR>& scratch) {
    using Policy = ForestPolicy<KITH_SCALAR, D, Periodic>;
    Policy policy(search, scratch);
    const TreeView<KITH_SCALAR>& tree = *search.forest->tree;
    ReceiverWalk<KITH_SCALAR, D, Periodic, Policy>(tree, tree, *search.schedule, scratch.walk, policy).walk(node);
}

void search_forest_any(const ForestSearch<KITH_SCALAR>& search, std::int64_t node,
                       ForestScratch<KITH_SCALAR>& scratch) {
    with_dimension(search.forest->dimension, [&]<int D>(std::integral_constant<int, D>) {
        search.forest->periodic ? walk_from<D, true>(search, node, scratch)
                                : walk_from<D, false>(search, node, scratch);
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(read_rows_any);
HWY_EXPORT(bound_by_order_any);
HWY_EXPORT(search_forest_any);

void read_rows(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(read_rows_any)(forest, begin, end);
}

void bound_by_order(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(bound_by_order_any)(forest, begin, end);
}

void search_forest(const ForestSearch<KITH_SCALAR>& search, std::int64_t node, ForestScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_forest_any)(search, node, scratch);
}

} // namespace kith::detail
#endif
