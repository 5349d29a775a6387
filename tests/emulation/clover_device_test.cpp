// Cells and their graph as a GPU makes them, on the emulated one: the hierarchical form is what it is to be, the flat form
// is that of the CPU.
#include "cuda_emulation/cuda_runtime.hpp"
#include "engines/clover/build_device.hpp"
#include "engines/clover/expected_cells.hpp"
#include "engines/clover/flat.hpp"
#include "points/normalize_device.hpp"

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;

template <class T>
void copy_to(DeviceContext& context, T* to, const detail::DeviceBuffer<T>& from) {
    const std::vector<T> elements = context.to_host(from.data(), from.size());
    std::copy(elements.begin(), elements.end(), to);
}

template <class T>
detail::Plane<T> on_host(DeviceContext& context, detail::Context& host, const detail::OwnedDevicePlane<T>& plane,
                         std::int64_t count) {
    detail::Plane<T> copy = detail::make_plane<T>(host, 3, plane.nodes, count, plane.first_child.size() > 0);
    copy_to(context, copy.first_point.data(), plane.first_point);
    copy_to(context, copy.first_child.data(), plane.first_child);
    for (int axis = 0; axis < 3; ++axis) {
        const auto lower = context.to_host(plane.lower(axis), plane.nodes);
        const auto upper = context.to_host(plane.upper(axis), plane.nodes);
        std::copy(lower.begin(), lower.end(), copy.lower_corners.data() + axis * copy.stride);
        std::copy(upper.begin(), upper.end(), copy.upper_corners.data() + axis * copy.stride);
    }
    return copy;
}

/// The cells and their graph, on the host.
template <class T>
struct CopiedCells {
    detail::CellTree<T> cells;
    detail::CellGraph<T> graph;

    CopiedCells(DeviceContext& context, detail::Context& host, const detail::DeviceCells<T>& made) {
        const std::int64_t count = made.points.count;
        cells.tree.points = detail::make_point_set(host, made.points.frame, count);
        copy_to(context, cells.tree.points.indices.data(), made.points.indices);
        for (int axis = 0; axis < 3; ++axis) {
            const auto x = context.to_host(made.points.coordinates.data() + axis * made.points.stride, count);
            std::copy(x.begin(), x.end(), cells.tree.points.axis(axis));
        }
        cells.tree.planes.push_back(on_host(context, host, made.cells, count));
        cells.tree.planes.push_back(on_host(context, host, made.groups, count));
        cells.hubs = detail::Buffer<T>(host.memory_tracker(), 3 * cells.cells().stride);
        for (int axis = 0; axis < 3; ++axis) {
            const auto x = context.to_host(made.hubs.data() + axis * made.cells.stride, made.cells.nodes);
            std::copy(x.begin(), x.end(), cells.hubs.data() + axis * cells.cells().stride);
        }
        graph.edges = made.edges;
        graph.target = detail::Buffer<std::int32_t>(host.memory_tracker(), made.target.size());
        graph.weight = detail::Buffer<float>(host.memory_tracker(), made.weight.size());
        graph.horizon = detail::Buffer<float>(host.memory_tracker(), made.horizon.size());
        copy_to(context, graph.target.data(), made.target);
        copy_to(context, graph.weight.data(), made.weight);
        copy_to(context, graph.horizon.data(), made.horizon);
    }
};

CloverOptions flat(std::int64_t hubs, HubSelection selection = HubSelection::random) {
    return {.form = CloverForm::flat, .hubs = hubs, .hub_selection = selection};
}

template <class T, class Body>
void with_cells(const PointsView& points, const Box& box, const CloverOptions& options, std::int64_t cell_size,
                const Body& body) {
    DeviceContext context(cuda());
    const detail::PointsOnDevice there(context, points);
    const auto normalized = detail::normalize_sources_on_device<T, 3>(context, there.view(), box);
    const auto made = detail::make_cells_on_device<T, 3>(context, normalized, options, cell_size);
    EXPECT_EQ(made.first_point, context.to_host(made.cells.first_point.data(), made.cells.nodes + 1));
    detail::Context host(cpu(1));
    host.run([&] { body(host, CopiedCells<T>(context, host, made)); });
}

/// Points at one place lie in the order of their indices.
template <class T>
void expect_order_of_crowds(const detail::CellTree<T>& tree) {
    const detail::Plane<T>& cells = tree.cells();
    for (std::int64_t cell = 0; cell < cells.nodes; ++cell) {
        bool is_one_place = true;
        for (int axis = 0; axis < 3; ++axis) {
            is_one_place = is_one_place && cells.lower(axis)[cell] == cells.upper(axis)[cell];
        }
        const std::int32_t* const indices = tree.tree.points.indices.data();
        EXPECT_TRUE(!is_one_place ||
                    std::is_sorted(indices + cells.first_point[cell], indices + cells.first_point[cell + 1]));
    }
}

class CloverOnDevice : public testing::TestWithParam<Case> {};

TEST_P(CloverOnDevice, DividesThePointsAndKnowsTheirNeighbors) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, 3);
        std::int64_t cell_size = 2;
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            cell_size *= 2;
            if (set.count() > 0) {
                with_cells<T>(set.view(), named.box, {}, cell_size, [&](auto&, const CopiedCells<T>& made) {
                    expect_partition(made.cells, set.count(), {cell_size});
                    expect_edges(made.cells, made.graph);
                    expect_order_of_crowds(made.cells);
                });
            }
        }
    });
}

TEST_P(CloverOnDevice, HasTheFlatFormOfTheCpu) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, 3);
        std::int64_t hubs = 1;
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            hubs *= 6;
            if (set.count() == 0) {
                continue;
            }
            const auto selection = static_cast<HubSelection>(hubs == 6 || hubs == 216);
            const auto options = flat(hubs, selection);
            with_cells<T>(set.view(), named.box, options, 32, [&](detail::Context& host, const CopiedCells<T>& made) {
                const auto points = detail::normalize_sources<T>(set.view(), named.box);
                auto expected = detail::make_flat_cells<T>(host, {nullptr, &points},
                                                           {.hubs = hubs, .selection = selection, .alignment = 1});
                detail::connect_flat_cells(host, expected);
                const detail::Plane<T>& cells = made.cells.cells();
                ASSERT_EQ(cells.nodes, expected.cells());
                EXPECT_TRUE(std::equal(expected.first.begin(), expected.first.end(), cells.first_point.data()));
                const auto same = [](const auto& a, const auto& b) { return std::ranges::equal(a.span(), b.span()); };
                EXPECT_TRUE(same(made.cells.tree.points.indices, expected.points.indices));
                EXPECT_TRUE(same(made.graph.target, expected.target));
                EXPECT_TRUE(same(made.graph.weight, expected.weight));
                for (std::int64_t cell = 0; cell < cells.nodes; ++cell) {
                    for (int axis = 0; axis < 3; ++axis) {
                        EXPECT_EQ(cells.lower(axis)[cell], expected.lower[3 * cell + axis]);
                        EXPECT_EQ(cells.upper(axis)[cell], expected.upper[3 * cell + axis]);
                        EXPECT_EQ(made.cells.hub(cell, axis), expected.hubs[3 * cell + axis]);
                    }
                }
            });
        }
    });
}

INSTANTIATE_TEST_SUITE_P(In3D, CloverOnDevice, testing::ValuesIn(every_case_in(3)), case_name);

// Of many levels, with crowds of which some are larger than a cell, in groups and outside of them.
TEST(CloverOnDevice, DividesManyPointsWithCrowds) {
    std::vector<float> points = uniform_points<float>(9000, 3, 0, 1, 3);
    for (int crowd = 0; crowd < 6; ++crowd) {
        const std::vector<float> place = uniform_points<float>(1, 3, 0, 1, 10 + crowd);
        for (int i = 0; i < 1 << (2 * crowd); ++i) {
            points.insert(points.end(), place.begin(), place.end());
        }
    }
    const PointsView view(points, 3);
    with_cells<float>(view, Box::periodic(1), {}, 4, [&](auto&, const CopiedCells<float>& made) {
        EXPECT_GT(made.cells.groups().nodes, 20);
        expect_partition(made.cells, view.count(), {4});
        expect_edges(made.cells, made.graph);
        expect_order_of_crowds(made.cells);
    });
}

// What crosses the bus is counted in cells, not in points.
TEST(CloverOnDevice, IsMadeWhereThePointsAre) {
    const std::vector<float> points = uniform_points<float>(12'000, 3, 0, 1, 9);
    for (const std::int64_t hubs : {64, 0}) {
        DeviceContext context(cuda());
        const detail::PointsOnDevice there(context, PointsView(points, 3));
        const auto normalized = detail::normalize_sources_on_device<float, 3>(context, there.view(), {});
        context.wait();
        int launches = 0;
        emulation::observe([&](const emulation::Work&) { ++launches; });
        const emulation::Requests before = emulation::requests();
        const auto made =
            detail::make_cells_on_device<float, 3>(context, normalized, hubs > 0 ? flat(hubs) : CloverOptions{});
        context.wait();
        const emulation::Requests after = emulation::requests();
        emulation::observe({});
        EXPECT_LE(after.host_bytes - before.host_bytes, 64 * made.cells.nodes);
        if (hubs > 0) { // for any number of points and hubs
            EXPECT_EQ(made.cells.nodes, hubs);
            EXPECT_EQ(launches, 14);
            EXPECT_EQ(after.waits - before.waits, 3); // one of them this test's
        }
    }
}

TEST(CloverOnDevice, OfEverySmallSize) {
    for (std::int64_t count = 1; count < 20; ++count) {
        const std::vector<float> points = uniform_points<float>(count, 3, -1, 1, 7);
        for (const std::int64_t hubs : {0, 1, 5, 60}) {
            const CloverOptions options = hubs > 0 ? flat(hubs) : CloverOptions{};
            with_cells<float>(PointsView(points, 3), {}, options, 2, [&](auto&, const CopiedCells<float>& made) {
                EXPECT_EQ(made.graph.edges == made.cells.cells().nodes, hubs > 0 || made.cells.cells().nodes <= 32);
                expect_order_of_crowds(made.cells);
                if (hubs == 0) {
                    expect_partition(made.cells, count, {2});
                    expect_edges(made.cells, made.graph);
                }
            });
        }
    }
}

} // namespace
} // namespace kith::test
