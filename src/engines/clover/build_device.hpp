// Cells of points and their graph, made on a GPU.
//
// All parts that are too large are divided side by side, a level at a time: points compared with the hubs of their part
// and sorted by hub. The host sees where lists start and plans the next level, so no point leaves the device. Parts
// become cells as on the CPU (cells.hpp), but for crowds: as many points at a hub's place as 8 cells have, or any if
// all hubs are there, become a cell of their own. In the flat form one level makes all cells (flat.hpp); where hubs are
// to lie apart, the host selects them among samples (spread_hubs.hpp).
// Cost: for each level the points that are still divided times hubs, and a sort of them; for the edges, cells times
// groups of cells, a few times. Memory beside the cells: another copy of the points and 16 bytes a point on the first
// level; in the flat form 24 bytes an edge. To the host: 8 bytes for each hub that is tried, and samples.
// Source: CLOVER (ICS 2025), section 3.1; the levels are ours.
#pragma once

#include <kith/tree.hpp>

#include "cuda/device_wide.hpp"
#include "engines/clover/division_kernel.hpp"
#include "engines/clover/edges_kernel.hpp"
#include "engines/clover/shape.hpp"
#include "engines/clover/spread_hubs.hpp"
#include "points/gather_device.hpp"
#include "tree/device_planes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// CellTree and CellGraph (graph.hpp) in memory of a GPU.
template <Coordinate T>
struct DeviceCells {
    DevicePointSet<T> points;
    OwnedDevicePlane<T> cells;
    OwnedDevicePlane<T> groups;
    DeviceBuffer<T> hubs; ///< as far apart as the corners of cells
    std::int32_t edges = 0;
    DeviceBuffer<std::int32_t> target;
    DeviceBuffer<float> weight;
    DeviceBuffer<float> horizon;           ///< none if there are edges to all cells
    std::vector<std::int32_t> first_point; ///< of each cell, on the host, and where the last one ends
    std::vector<T> as_given;               ///< on the host, row-major; empty unless coordinates are tiny
};

template <class U>
DeviceBuffer<U> copied(DeviceWork& work, const std::vector<U>& from) {
    DeviceBuffer<U> there = work.buffer<U>(std::ssize(from));
    work.copy(there.data(), from.data(), std::ssize(from) * static_cast<std::int64_t>(sizeof(U)));
    return there;
}

template <Coordinate T, int D>
class DeviceCellBuild {
public:
    DeviceCellBuild(DeviceContext& context, const CloverOptions& options, std::int64_t cell_size)
        : context_(context), shape_{cell_size, options.seed}, is_flat_(options.form == CloverForm::flat),
          flat_hubs_(options.hubs),
          hubs_lie_apart_(is_flat_ && options.hub_selection == HubSelection::kmeans_plus_plus) {}

    /// Of one point or more.
    DeviceCells<T> run(const NormalizedPoints<T>& points) {
        context_.stage("cells", [&] {
            made_.points = gather_on_device<T, D>(context_, points);
            flat_hubs_ = std::min(flat_hubs_, made_.points.count);
            divide_all();
        });
        context_.stage("graph", [&] {
            if (is_flat_) {
                connect_all();
            } else {
                connect_near();
            }
        });
        return std::move(made_);
    }

private:
    struct Part {
        std::int32_t first;
        std::int32_t count;
        bool in_group;
        bool starts_group;
        bool is_cell;
        std::int32_t hub; ///< that it was drawn by, among those of its level
    };

    void divide_all() {
        const auto count = static_cast<std::int32_t>(made_.points.count);
        std::vector<Part> parts;
        add({0, count, is_flat_, is_flat_, false, 0}, parts);
        parts[0].is_cell = parts[0].is_cell && !is_flat_;
        for (std::int64_t settled = settled_in(parts); settled < count; settled = settled_in(parts)) {
            context_.done(static_cast<double>(settled) / count);
            parts = divided(parts);
        }
        keep(parts);
    }

    static std::int64_t settled_in(const std::vector<Part>& parts) {
        std::int64_t settled = 0;
        for (const Part& part : parts) {
            settled += part.is_cell ? part.count : 0;
        }
        return settled;
    }

    /// Adds a part of some points as a cell, or as what is divided again; none if it has no points.
    void add(Part part, std::vector<Part>& parts) const {
        if (part.count == 0) {
            return;
        }
        part.is_cell = part.is_cell || is_flat_ || shape_.is_cell(part.count);
        if (!part.in_group && (part.is_cell || shape_.is_group(part.count))) {
            part.in_group = part.starts_group = true;
        }
        parts.push_back(part);
    }

    /// One level.
    std::vector<Part> divided(const std::vector<Part>& parts) {
        std::vector<DividedPart> of_level;
        DividedPart next{};
        for (const Part& part : parts) {
            if (!part.is_cell) {
                next.first = part.first;
                next.seed = is_flat_ ? shape_.seed : shape_.seed_of_part(part.first);
                of_level.push_back(next);
                next.rank += part.count;
                next.first_hub += static_cast<std::int32_t>(
                    !is_flat_         ? shape_.hubs_of_part(part.count, part.in_group)
                    : hubs_lie_apart_ ? std::min<std::int64_t>(samples_for(flat_hubs_), part.count)
                                      : flat_hubs_);
            }
        }
        of_level.push_back(next);
        draw_hubs(of_level);
        if (hubs_lie_apart_) {
            spread(of_level);
        }
        const std::vector<std::int32_t> starts = sorted_by_hub(of_level);
        std::vector<Part> smaller;
        auto division = of_level.begin();
        for (const Part& part : parts) {
            if (part.is_cell) {
                smaller.push_back(part);
            } else {
                add_lists(part, division[0], division[1], starts, smaller);
                ++division;
            }
        }
        return smaller;
    }

    /// Adds what hubs made of a part.
    void add_lists(const Part& part, const DividedPart& division, const DividedPart& behind,
                   const std::vector<std::int32_t>& starts, std::vector<Part>& smaller) const {
        const std::int32_t hubs = behind.first_hub - division.first_hub;
        const std::int64_t usual = is_flat_ ? (std::int64_t{part.count} + hubs - 1) / hubs : shape_.cell_size;
        bool starts_group = part.starts_group;
        for (std::int32_t hub = division.first_hub; hub < behind.first_hub; ++hub) {
            const std::int32_t* const start = starts.data() + 2 * std::ptrdiff_t{hub};
            const std::int32_t at_hub = start[2] - start[1];
            const bool has_all = start[2] - start[0] == part.count && !is_flat_; // all hubs are at one place
            const bool is_crowd = at_hub >= cells_per_crowd * usual || has_all;
            const std::int32_t middle = is_crowd ? start[1] : start[2];
            for (const auto& [first, end] : {std::pair(start[0], middle), std::pair(middle, start[2])}) {
                add({part.first + (first - division.rank), end - first, part.in_group, starts_group, first == start[1],
                     hub},
                    smaller);
                starts_group = starts_group && first == end;
            }
        }
    }

    [[nodiscard]] DivisionJob<T> division_job(const std::vector<DividedPart>& parts,
                                              const DeviceBuffer<DividedPart>& there) const {
        const DevicePointSet<T>& points = made_.points;
        return {{points.indices.data(), points.coordinates.data(), points.stride},
                points.frame.working_period,
                there.data(),
                static_cast<std::int32_t>(parts.size() - 1),
                parts.back().first_hub,
                parts.back().rank,
                hubs_.data(),
                nullptr,
                nullptr,
                {},
                nullptr};
    }

    /// The hubs of parts, from their points.
    void draw_hubs(const std::vector<DividedPart>& parts) {
        const DeviceBuffer<DividedPart> there = copied(context_, parts);
        hubs_ = context_.buffer<T>(std::int64_t{D} * parts.back().first_hub);
        for_each_index(context_, "drawing hubs", parts.back().first_hub, DrawHubs<T, D>{division_job(parts, there)});
    }

    /// Keeps those of the drawn points that lie apart.
    void spread(std::vector<DividedPart>& parts) {
        const std::int64_t samples = parts.back().first_hub;
        const std::vector<T> drawn = context_.to_host(hubs_.data(), hubs_.size());
        const std::vector<std::int32_t> kept = spread_hubs(made_.points.frame, drawn, flat_hubs_, shape_.seed);
        std::vector<T> hubs;
        for (int axis = 0; axis < D; ++axis) {
            for (const std::int32_t sample : kept) {
                hubs.push_back(drawn[axis * samples + sample]);
            }
        }
        hubs_ = copied(context_, hubs);
        context_.wait(); // for the copy
        parts.back().first_hub = static_cast<std::int32_t>(kept.size());
    }

    /// Sorts the points of parts by hub, and tells the rank at which each list starts; two lists a hub.
    std::vector<std::int32_t> sorted_by_hub(const std::vector<DividedPart>& parts) {
        DevicePointSet<T>& points = made_.points;
        const std::int32_t count = parts.back().rank;
        const std::int32_t hubs = parts.back().first_hub;
        const DeviceBuffer<DividedPart> parts_there = copied(context_, parts);
        auto lists = context_.buffer<std::uint32_t>(count);
        auto places = context_.buffer<std::int32_t>(count);
        const auto starts = context_.buffer<std::int32_t>(2 * std::int64_t{hubs} + 1);
        DivisionJob<T> job = division_job(parts, parts_there);
        job.lists = lists.data();
        job.places = places.data();
        job.starts = starts.data();
        if (points.frame.periodic) {
            for_each_index(context_, "nearest hubs", count, AssignPoints<T, D, true>{job});
        } else {
            for_each_index(context_, "nearest hubs", count, AssignPoints<T, D, false>{job});
        }
        sort_by_key(context_, lists, places, std::bit_width(2 * static_cast<std::uint32_t>(hubs) - 1));
        const DevicePointSet<T> moved(context_, points.frame, count);
        job.lists = lists.data();
        job.places = places.data();
        job.moved = {moved.indices.data(), moved.coordinates.data(), moved.stride};
        for_each_index(context_, "points by hub", count, TakeByRank<T, D>{job});
        for_each_index(context_, "points by hub", count, PutByRank<T, D>{job});
        for_each_index(context_, "starts of lists", starts.size(), FindStarts<T>{job});
        return context_.to_host(starts.data(), starts.size());
    }

    /// Stores cells, groups and hubs.
    void keep(const std::vector<Part>& parts) {
        std::vector<std::int32_t> hub_of;
        std::vector<std::int32_t> first_cell;
        std::vector<std::int32_t> first_of_group;
        for (const Part& part : parts) {
            if (part.starts_group) {
                first_cell.push_back(static_cast<std::int32_t>(made_.first_point.size()));
                first_of_group.push_back(part.first);
            }
            made_.first_point.push_back(part.first);
            hub_of.push_back(part.hub);
        }
        const std::int64_t groups = std::ssize(first_cell);
        first_cell.push_back(static_cast<std::int32_t>(parts.size()));
        made_.first_point.push_back(static_cast<std::int32_t>(made_.points.count));
        first_of_group.push_back(made_.first_point.back());
        made_.cells = allocate_plane<T, D>(context_, std::ssize(parts), false);
        made_.groups = allocate_plane<T, D>(context_, groups, true);
        made_.cells.first_point = copied(context_, made_.first_point);
        made_.groups.first_point = copied(context_, first_of_group);
        made_.groups.first_child = copied(context_, first_cell);
        summarize_leaves<T, D>(context_, made_.cells, made_.points.view());
        summarize_children<T, D>(context_, made_.groups, made_.cells);
        made_.hubs = context_.buffer<T>(D * made_.cells.nodes);
        if (is_flat_) {
            for_each_index(context_, "hubs of cells", made_.cells.nodes,
                           TakeHubs<T, D>{made_.cells.nodes, copied(context_, hub_of).data(), hubs_.data(),
                                          hubs_.size() / D, made_.hubs.data()});
        } else {
            for_each_index(context_, "hubs of cells", made_.cells.nodes,
                           CenterHubs<T, D>{made_.cells.nodes, made_.cells.lower_corners.data(),
                                            made_.cells.upper_corners.data(), made_.hubs.data()});
        }
        context_.wait(); // for the copies
    }

    [[nodiscard]] EdgesJob<T> edges_job(std::int64_t edges) {
        const std::int64_t cells = made_.cells.nodes;
        made_.edges = static_cast<std::int32_t>(edges);
        made_.target = context_.buffer<std::int32_t>(cells * edges);
        made_.weight = context_.buffer<float>(cells * edges);
        return {made_.points.view(), made_.points.frame.working_period,
                made_.cells.view(),  made_.groups.view(),
                made_.hubs.data(),   made_.edges,
                made_.target.data(), made_.weight.data(),
                made_.horizon.data()};
    }

    void connect_near() {
        const std::int64_t cells = made_.cells.nodes;
        made_.horizon = context_.buffer<float>(cells);
        const EdgesJob<T> job = edges_job(std::min<std::int64_t>(cells, edges_per_cell<T>(D)));
        const auto run = [&](auto* kernel) {
            launch(context_, "edges of cells", kernel, (cells + connect_warps - 1) / connect_warps,
                   connect_warps * warp_size, job);
        };
        if (made_.points.frame.periodic) {
            run(connect_cells_kernel<T, D, true>);
        } else {
            run(connect_cells_kernel<T, D, false>);
        }
    }

    void connect_all() {
        const std::int64_t cells = made_.cells.nodes;
        const EdgesJob<T> job = edges_job(cells);
        auto keys = context_.buffer<std::uint64_t>(cells * cells);
        if (made_.points.frame.periodic) {
            for_each_index(context_, "weights of edges", cells * cells, WeighPair<T, D, true>{job, keys.data()});
        } else {
            for_each_index(context_, "weights of edges", cells * cells, WeighPair<T, D, false>{job, keys.data()});
        }
        sort_by_key(context_, keys, made_.target, 32 + std::bit_width(static_cast<std::uint32_t>(cells) - 1));
        for_each_index(context_, "weights of edges", cells * cells, TakeWeights{keys.data(), made_.weight.data()});
    }

    DeviceContext& context_;
    CellShape shape_;
    bool is_flat_;
    std::int64_t flat_hubs_; ///< at most one a point
    bool hubs_lie_apart_;
    DeviceCells<T> made_;
    DeviceBuffer<T> hubs_; ///< of the last level
};

/// Cells of one point or more that the device holds, in stages of the context; check_clover() has passed the options.
/// The hierarchical form has cells of about `cell_size` points.
template <Coordinate T, int D>
DeviceCells<T> make_cells_on_device(DeviceContext& context, const NormalizedPoints<T>& points,
                                    const CloverOptions& options, std::int64_t cell_size = CellShape{}.cell_size) {
    return DeviceCellBuild<T, D>(context, options, cell_size).run(points);
}

} // namespace kith::detail::inline KITH_GPU
