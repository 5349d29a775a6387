// Cells around random hubs, on two or more levels.
//
// Problem: with H hubs for all N points, each point is compared with all hubs, and either H or the cells grow with N.
// Method: a few hubs, drawn among the points, part them all; each part has hubs of its own, and so on, until parts are
// cells of the wanted size. On every level about as many hubs are tried. A part that many coincident points have
// drawn all hubs from is split by one of them and the point farthest from it; what lies in one place is one cell.
// Cost: O(N log N), about 30 to 70 hubs a level and point. Memory beside the result: 4 bytes a point to part all, and
// then half more than 1 byte and one coordinate for each point of the largest parts, one for each thread.
// Source: CLOVER (ICS 2025), section 3.1, for the random hubs.
#pragma once

#include "engines/clover/graph.hpp"
#include "engines/clover/partition.hpp"
#include "engines/clover/shape.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class CellBuild {
public:
    CellBuild(Context& context, const UnsortedPoints<T>& given, const CellShape& shape)
        : context_(context), given_(given), dimension_(given.frame().dimension), shape_(shape) {}

    CellTree<T> run() {
        Partition<T> partition = part_points(context_, given_, uppermost_hubs(), 1, no_crowds, scratch_);
        points_ = std::move(partition.points);
        std::vector<Part> parts = std::move(partition.parts);
        std::erase_if(parts, [](const Part& part) { return part.count == 0; });
        std::vector<Nodes> nodes(parts.size());
        context_.expect(given_.count);
        parallel_each(std::ssize(parts), 1, [&](std::int64_t part) {
            divide(parts[part], false, scratch_.local(), nodes[part]);
            context_.done(parts[part].count);
        });
        free_scratch();
        return joined(nodes);
    }

private:
    using Position = detail::Position<T>;
    using Part = detail::Part<T>;
    using Scratch = AssignScratch<T>;

    /// Cells and groups of consecutive points.
    struct Nodes {
        std::vector<std::int64_t> cells;  ///< first point
        std::vector<T> boxes;             ///< of each cell and axis the lower end and the upper one
        std::vector<std::int64_t> groups; ///< first cell
    };

    [[nodiscard]] std::vector<Position> uppermost_hubs() const {
        const std::int64_t count = shape_.is_group(given_.count) ? 1 : shape_.hubs_for(given_.count);
        std::vector<Position> hubs;
        for (std::int64_t hub = 0; hub < count; ++hub) {
            hubs.push_back(given_.position(drawn_hub(shape_.seed, hub, count, given_.count)));
        }
        return hubs;
    }

    /// Splits a part into cells, and into groups of them unless it is part of one.
    void divide(const Part& part, bool in_group, Scratch& scratch, Nodes& nodes) {
        if (!in_group && shape_.is_group(part.count)) {
            nodes.groups.push_back(std::ssize(nodes.cells));
            in_group = true;
        }
        if (shape_.is_cell(part.count)) {
            add_cell(part, nodes);
            return;
        }
        const std::int64_t hub_count = shape_.hubs_of_part(part.count, in_group);
        std::vector<Position> hubs;
        const std::uint64_t seed = shape_.seed_of_part(part.first);
        for (std::int64_t hub = 0; hub < hub_count; ++hub) {
            hubs.push_back(position_of(part.first + drawn_hub(seed, hub, hub_count, part.count)));
        }
        std::vector<Part> parts = split(part, hubs, scratch);
        if (parts.size() == 1) {
            const auto [farthest, squared] = farthest_from(parts[0].hub, part, scratch);
            if (squared == 0) { // one place, or as good as one
                if (!in_group) {
                    nodes.groups.push_back(std::ssize(nodes.cells));
                }
                add_cell(part, nodes);
                return;
            }
            parts = split(part, {parts[0].hub, position_of(farthest)}, scratch);
        }
        for (const Part& smaller : parts) {
            divide(smaller, in_group, scratch, nodes);
        }
    }

    [[nodiscard]] Position position_of(std::int64_t point) const {
        Position position{};
        for (int axis = 0; axis < dimension_; ++axis) {
            position[axis] = points_.axis(axis)[point];
        }
        return position;
    }

    /// Compares points of a part with hubs and calls visit(first, count) for some at a time; what was found is in the
    /// scratch.
    template <class Visit>
    void compare(const Part& part, const std::vector<Position>& hubs, Scratch& scratch, const Visit& visit) const {
        for (std::int64_t first = 0; first < part.count; first += points_at_once) {
            const std::int64_t count = std::min(points_at_once, part.count - first);
            assign(points_.frame, hubs, points_.axis(0) + part.first + first, points_.stride, count, scratch);
            visit(first, count);
        }
    }

    /// The point of a part that is farthest from a hub, and its squared distance.
    [[nodiscard]] std::pair<std::int64_t, T> farthest_from(const Position& hub, const Part& part,
                                                           Scratch& scratch) const {
        std::pair<std::int64_t, T> farthest{part.first, T(0)};
        compare(part, {hub}, scratch, [&](std::int64_t first, std::int64_t count) {
            const T* const greatest = std::max_element(scratch.squared.data(), scratch.squared.data() + count);
            if (*greatest > farthest.second) {
                farthest = {part.first + first + (greatest - scratch.squared.data()), *greatest};
            }
        });
        return farthest;
    }

    /// Moves the points of a part to the nearest hubs; those of one hub keep their order.
    std::vector<Part> split(const Part& part, const std::vector<Position>& hubs, Scratch& scratch) {
        std::vector<std::int64_t> starts(hubs.size() + 1);
        scratch.hub_of.reserve(part.count);
        compare(part, hubs, scratch, [&](std::int64_t first, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) {
                const auto hub = static_cast<std::uint8_t>(scratch.nearest[i]);
                scratch.hub_of[first + i] = hub;
                ++starts[std::size_t{hub} + 1];
            }
        });
        std::vector<Part> parts;
        for (std::size_t hub = 0; hub < hubs.size(); ++hub) {
            if (starts[hub + 1] > 0) {
                parts.push_back({part.first + starts[hub], starts[hub + 1], hubs[hub]});
            }
            starts[hub + 1] += starts[hub];
        }
        if (parts.size() == 1) {
            return parts;
        }
        for (int axis = 0; axis < dimension_; ++axis) {
            move(points_.axis(axis) + part.first, part.count, starts, scratch);
        }
        move(points_.indices.data() + part.first, part.count, starts, scratch);
        return parts;
    }

    /// Moves one array of a part; `starts` tells where the elements of each hub go.
    template <class Element> // NOLINTNEXTLINE(performance-unnecessary-value-param): it is changed
    static void move(Element* elements, std::int64_t count, std::vector<std::int64_t> starts, Scratch& scratch) {
        scratch.moved.reserve(count * static_cast<std::int64_t>(std::max(sizeof(T), sizeof(Element))));
        auto* const moved = reinterpret_cast<Element*>(scratch.moved.data());
        for (std::int64_t i = 0; i < count; ++i) {
            moved[starts[scratch.hub_of[i]]++] = elements[i];
        }
        std::copy_n(moved, count, elements);
    }

    /// The peak counts what all threads' memory was at most.
    void free_scratch() {
        std::int64_t bytes = 0;
        for (const Scratch& scratch : scratch_.values()) {
            bytes += scratch.bytes();
        }
        context_.memory_tracker()->add(bytes);
        context_.memory_tracker()->release(bytes);
        scratch_.clear();
    }

    void add_cell(const Part& part, Nodes& nodes) const {
        nodes.cells.push_back(part.first);
        for (int axis = 0; axis < dimension_; ++axis) {
            const T* const x = points_.axis(axis) + part.first;
            const auto [least, greatest] = std::minmax_element(x, x + part.count);
            nodes.boxes.insert(nodes.boxes.end(), {*least, *greatest});
        }
    }

    CellTree<T> joined(const std::vector<Nodes>& parts) {
        std::vector<std::int64_t> first_cells{0};
        std::vector<std::int64_t> first_groups{0};
        for (const Nodes& part : parts) {
            first_cells.push_back(first_cells.back() + std::ssize(part.cells));
            first_groups.push_back(first_groups.back() + std::ssize(part.groups));
        }
        CellTree<T> tree;
        Plane<T> cells = make_plane<T>(context_, dimension_, first_cells.back(), points_.count, false);
        Plane<T> groups = make_plane<T>(context_, dimension_, first_groups.back(), points_.count, true);
        tree.hubs = Buffer<T>(context_.memory_tracker(), dimension_ * cells.stride);
        groups.first_child[groups.nodes] = static_cast<std::int32_t>(cells.nodes);
        parallel_each(std::ssize(parts), 1, [&](std::int64_t part) {
            copy_cells(parts[part], first_cells[part], cells, tree.hubs.data());
            copy_groups(parts[part], first_cells[part], first_groups[part], cells, groups);
        });
        tree.tree.points = std::move(points_);
        tree.tree.planes.push_back(std::move(cells));
        tree.tree.planes.push_back(std::move(groups));
        return tree;
    }

    void copy_cells(const Nodes& part, std::int64_t cell, Plane<T>& cells, T* hubs) const {
        const T* box = part.boxes.data();
        for (std::size_t i = 0; i < part.cells.size(); ++i, ++cell) {
            cells.first_point[cell] = static_cast<std::int32_t>(part.cells[i]);
            for (int axis = 0; axis < dimension_; ++axis, box += 2) {
                const T lower = box[0];
                const T upper = box[1];
                cells.lower_corners[axis * cells.stride + cell] = lower;
                cells.upper_corners[axis * cells.stride + cell] = upper;
                // Nearer to all of the cell's points than the hub that drew them.
                hubs[axis * cells.stride + cell] = lower + (upper - lower) / 2;
            }
        }
    }

    void copy_groups(const Nodes& part, std::int64_t first_cell, std::int64_t group, const Plane<T>& cells,
                     Plane<T>& groups) const {
        for (std::size_t i = 0; i < part.groups.size(); ++i, ++group) {
            const std::int64_t first = first_cell + part.groups[i];
            const std::int64_t last =
                first_cell + (i + 1 < part.groups.size() ? part.groups[i + 1] : std::ssize(part.cells));
            groups.first_child[group] = static_cast<std::int32_t>(first);
            groups.first_point[group] = cells.first_point[first];
            for (int axis = 0; axis < dimension_; ++axis) {
                groups.lower_corners[axis * groups.stride + group] =
                    *std::min_element(cells.lower(axis) + first, cells.lower(axis) + last);
                groups.upper_corners[axis * groups.stride + group] =
                    *std::max_element(cells.upper(axis) + first, cells.upper(axis) + last);
            }
        }
    }

    Context& context_;
    GivenPoints<T> given_;
    int dimension_;
    CellShape shape_;
    PointSet<T> points_;
    PerThread<Scratch> scratch_;
};

/// Cells of points, one or more. Runs inside a stage of the context.
template <Coordinate T>
CellTree<T> make_cells(Context& context, const UnsortedPoints<T>& points, const CellShape& shape = {}) {
    return CellBuild<T>(context, points, shape).run();
}

} // namespace kith::detail
