// One scalar type's kernels of CLOVER for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "engines/clover/kernels.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "engines/clover/flat-inl.hpp"
#include "engines/clover/search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using Scalar = KITH_SCALAR;

void assign_any(const AssignJob<Scalar>& job) {
    cell_kernels<Scalar>(job.dimension, job.periodic).assign(job);
}

void connect_any(const CellTree<Scalar>& cells, CellGraph<Scalar>& graph, std::int64_t group,
                 ConnectScratch<Scalar>& scratch) {
    Connecting<Scalar>(cells, graph, scratch).connect(group);
}

void search_group_any(const CellSearchJob<Scalar>& job, std::int64_t group, CellSearchScratch<Scalar>& scratch) {
    CellSearch<Scalar>(job, scratch).search(group);
}

void connect_flat_any(FlatCells<Scalar>& cells, std::int64_t cell) {
    connect_flat_cell(cells, cell);
}

void search_flat_any(const FlatJob<Scalar>& job, std::int64_t cell, std::int64_t begin, std::int64_t end,
                     FlatScratch<Scalar>& scratch) {
    FlatSearch<Scalar>(job, scratch).search(cell, begin, end);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(assign_any);
HWY_EXPORT(connect_any);
HWY_EXPORT(search_group_any);
HWY_EXPORT(connect_flat_any);
HWY_EXPORT(search_flat_any);

void assign_to_hubs(const AssignJob<KITH_SCALAR>& job) {
    HWY_DYNAMIC_DISPATCH(assign_any)(job);
}

void connect_group(const CellTree<KITH_SCALAR>& cells, CellGraph<KITH_SCALAR>& graph, std::int64_t group,
                   ConnectScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(connect_any)(cells, graph, group, scratch);
}

void search_group(const CellSearchJob<KITH_SCALAR>& job, std::int64_t group, CellSearchScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_group_any)(job, group, scratch);
}

void connect_flat(FlatCells<KITH_SCALAR>& cells, std::int64_t cell) {
    HWY_DYNAMIC_DISPATCH(connect_flat_any)(cells, cell);
}

void search_flat(const FlatJob<KITH_SCALAR>& job, std::int64_t cell, std::int64_t begin, std::int64_t end,
                 FlatScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_flat_any)(job, cell, begin, end, scratch);
}

} // namespace kith::detail
#endif
