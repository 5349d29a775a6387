// Cells and their graph, against what they are to be.
#include "engines/clover/expected_cells.hpp"
#include "engines/clover/knn.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

class CloverCells : public testing::TestWithParam<Case> {};

TEST_P(CloverCells, PartThePointsAndKnowTheirNeighbors) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        if (set.count() == 0) {
            return;
        }
        std::int64_t cell_size = 2;
        for (const NamedBox& named : set.boxes) {
            cell_size *= 2;
            detail::Context context(cpu(2));
            context.run([&] {
                const auto points = detail::normalize_sources<T>(set.view(), named.box);
                const detail::CellTree<T> cells = detail::make_cells<T>(context, {nullptr, &points}, {cell_size});
                expect_partition(cells, set.count(), {cell_size});
                expect_edges(cells, detail::connect_cells(context, cells));
            });
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, CloverCells, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
