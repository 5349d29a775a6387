// Calls of record_launches.cpp: searches and what is found as neighbors are, and the indices that they search.
#include "recorded_calls.hpp"

#include "cuda/instances.hpp"
#include "engines/clover/build_device.hpp"
#include "engines/clover/device_entry.hpp"
#include "engines/kdtree/order_device.hpp"
#include "tree/device_entry.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace kith::bench {

namespace {

template <class T>
void search_flat(RecordedPoints<T>& points, const detail::DeviceKnnCall& call) {
    detail::with_instance(points.view().dtype(), points.dimension(), [&]<class, int D>() {
        points.record_as(Saved::largest, [&] {
            detail::DeviceContext context(points.execution());
            const auto cells = detail::build_cells_on_device<T, D>(context, points.view(), points.box(),
                                                                   {.form = CloverForm::flat, .hubs = 8});
            (void)detail::search_cells_on_device<T, D>(context, cells, points.queries(), call);
            (void)context.take_stages();
        });
    });
}

template <class T>
void search_many(RecordedPoints<T>& points, const detail::DeviceKnnCall& call) {
    detail::with_instance(points.view().dtype(), points.dimension(), [&]<class, int D>() {
        points.record_as(Saved::largest, [&] {
            detail::DeviceContext context(points.execution());
            const auto tree = detail::build_tree_on_device<T, D>(context, points.view(), points.box(), {});
            (void)detail::search_tree_on_device<T, D>(context, tree, {}, points.queries(), call);
            (void)context.take_stages();
        });
    });
}

template <class T>
void search(RecordedPoints<T>& points, Engine engine, std::int64_t k) {
    const std::int64_t size_of_rows = (points.queries() != nullptr ? *points.queries() : points.view()).count() * k;
    const NeighborRows rows(points.template take<std::int32_t>(size_of_rows), points.template take<T>(size_of_rows));
    const KnnOptions options{.box = points.box(), .engine = engine, .execution = points.execution()};
    if (points.has("many")) {
        search_many(points, {k, options, &rows, nullptr});
        return;
    }
    if (points.has("flat")) {
        search_flat(points, {k, options, &rows, nullptr});
        return;
    }
    if (!points.has("async")) {
        points.record_as(Saved::largest, [&] {
            (void)detail::on_gpu().knn(points.view(), points.queries(), {k, options, &rows, nullptr}, engine);
        });
        return;
    }
    detail::DeviceKnnAsync call{
        points.view(), {}, {k, options, &rows, nullptr}, false, points.template take<DeviceStatus>(1).data()};
    if (points.queries() != nullptr) {
        call.queries = *points.queries();
    }
    const auto queries = call.queries ? std::optional(call.queries->count()) : std::nullopt;
    const auto scratch = points.template take<std::byte>(detail::knn_async_bytes_on_device(
        AsyncTreeSize{dtype_of<T>, points.dimension(), points.count()}, queries, k, engine, points.execution()));
    points.record_as(Saved::largest, [&] { detail::knn_async_on_device(call, scratch); });
}

template <class T>
void search_radius(RecordedPoints<T>& points, double length, bool with_rows) {
    const Radii radii(length);
    const RadiusOptions options{.box = points.box(), .execution = points.execution()};
    points.record_as(Saved::largest, [&] {
        std::vector<std::int64_t> counts;
        RadiusResult result;
        const RadiusResultAccess rows(result);
        rows.index_type = IndexType::int32;
        rows.dtype = dtype_of<T>;
        (void)detail::on_gpu().radius(points.view(), points.queries(),
                                      {radii, -1, options, with_rows ? nullptr : &counts, with_rows ? &rows : nullptr},
                                      points.has("kdtree") ? Engine::kdtree : Engine::tree);
    });
}

template <class T>
void count_pairs(RecordedPoints<T>& points, double length) {
    const std::vector<double> edges{0, length / 2, length};
    const std::vector<double> mu{0, 0.5, 1};
    const std::vector<double> weights = points.numbers();
    PairCountOptions options{.box = points.box(), .separations = points.has("means"), .execution = points.execution()};
    if (points.has("masses")) {
        options.weights = weights;
    }
    if (points.has("mu")) {
        options.binning = PairBinning::s_mu;
        options.second_edges = mu;
    }
    points.record_as(Saved::largest, [&] {
        PairCounts found;
        detail::on_gpu().pair_counts(points.view(), points.queries(), edges, options, found);
    });
}

template <class T>
void sum(RecordedPoints<T>& points, const Neighborhood& neighborhood) {
    const std::vector<double> column = points.numbers();
    const auto rows = static_cast<std::size_t>(points.count());
    const std::size_t vectors = rows * static_cast<std::size_t>(points.dimension());
    const SumOptions options{.box = points.box(),
                             .masses = column,
                             .fields = {column},
                             .statistics = {true, true, true, true, true, true},
                             .density_gradient = true,
                             .execution = points.execution()};
    NeighborSums sums;
    sums.density.resize(rows);
    sums.reach.resize(rows);
    sums.counts.resize(rows);
    sums.density_gradient.resize(vectors);
    const std::vector<double> of_field(rows);
    sums.fields.push_back({of_field, of_field, of_field, of_field, of_field, std::vector<double>(vectors)});
    points.record_as(Saved::largest, [&] {
        detail::on_gpu().sum_neighbors(points.view(), nullptr, {neighborhood, 0, options}, Engine::tree, sums);
    });
}

template <class T>
void make_cells(RecordedPoints<T>& points, std::int64_t hubs) {
    detail::with_instance(points.view().dtype(), points.dimension(), [&]<class, int D>() {
        detail::DeviceContext context(points.execution());
        const auto normalized = detail::normalize_sources_on_device<T, D>(context, points.view(), points.box());
        points.record_as(Saved::largest, [&] {
            (void)detail::make_cells_on_device<T, D>(context, normalized, {.form = CloverForm::flat, .hubs = hubs});
        });
        (void)context.take_stages();
    });
}

/// Of float4: its instances are here alone.
template <class T>
void order(RecordedPoints<T>& points) {
    const auto indices = points.template take<std::int32_t>(points.count());
    const auto axes = points.template take<std::uint8_t>(points.count());
    points.record_as(Saved::largest, [&] {
        detail::DeviceContext context(points.execution());
        KdTreeSummary summary;
        detail::order_kd_tree_on_device<T, 4>(context, points.view(), kdtree::Split::widest, indices, axes, summary);
        (void)context.take_stages();
    });
}

} // namespace

template <class T>
bool record_neighbors(RecordedPoints<T>& points, const std::string& call, double parameter) {
    const double length = length_around(parameter, points.count(), points.dimension());
    if (const std::optional<Engine> engine = engine_named(call)) {
        search(points, *engine, static_cast<std::int64_t>(parameter));
    } else if (call == "radius" || call == "rows") {
        search_radius(points, length, call == "rows");
    } else if (call == "pair_counts") {
        count_pairs(points, length);
    } else if (call == "sums") {
        sum(points, Nearest{static_cast<std::int64_t>(parameter)});
    } else if (call == "sums_within") {
        sum(points, Within{length});
    } else if (call == "cells") {
        make_cells(points, static_cast<std::int64_t>(parameter));
    } else if (call == "order" && points.dimension() == 4) {
        order(points);
    } else {
        return false;
    }
    return true;
}

template bool record_neighbors(RecordedPoints<float>&, const std::string&, double);
template bool record_neighbors(RecordedPoints<double>&, const std::string&, double);

} // namespace kith::bench
