// Calls of record_launches.cpp: groups, clusters and spanning trees.
#include "recorded_calls.hpp"

#include "emulation/kept_tree.hpp"
#include "halos/device_entry.hpp"
#include "support/context.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kith::bench {

namespace {

/// Without a wait; in a kept tree, or in one in memory, if a word of the command line asks for it.
template <class T>
void label_async(RecordedPoints<T>& points, detail::DeviceFofAsync call) {
    call.summary = points.template take<DeviceFofSummary>(1).data();
    call.status = points.template take<DeviceStatus>(1).data();
    const AsyncTreeSize size{dtype_of<T>, points.dimension(), points.count()};
    std::optional<Tree> kept;
    AsyncTree in_memory{{}, size, points.box()};
    std::int64_t bytes = 0;
    if (points.has("kept")) {
        kept.emplace(test::tree_there(points.view(), {.box = points.box(), .execution = points.execution()}));
        call.points = *kept;
        call.options.box = {};
        bytes = detail::fof_async_bytes_on_device(*kept, Engine::automatic, {});
    } else if (points.has("in_memory")) {
        in_memory.memory =
            points.template take<std::byte>(detail::async_tree_bytes_on_device(size, points.execution()));
        call.in_memory = &in_memory;
        call.options.box = {};
        bytes = std::max(detail::fof_async_bytes_on_device(in_memory, Engine::automatic, points.execution()),
                         detail::build_tree_async_bytes_on_device(size, points.execution()));
    } else {
        bytes = detail::fof_async_bytes_on_device(size, call.options.engine, points.execution());
    }
    const auto scratch = points.template take<std::byte>(bytes);
    points.record_as(Saved::largest, [&] {
        if (call.in_memory != nullptr) {
            detail::build_tree_async_on_device(in_memory, points.view(), points.execution(), scratch, call.status);
        }
        detail::fof_async_on_device(call, scratch);
    });
}

/// A column of each type.
template <class T>
void store_columns(RecordedPoints<T>& points, const DeviceCatalog& catalog) {
    const auto store = [&](const CatalogField& field, const ColumnMemory& to) {
        const auto column = std::ranges::find(catalog_columns, field, &CatalogColumn::values);
        detail::store_column(catalog, static_cast<std::size_t>(column - catalog_columns.begin()), to,
                             points.execution());
    };
    const std::int64_t size = 3 * catalog.groups + 20;
    store(&Catalog::center, points.template take<float>(size));
    store(&Catalog::mass, points.template take<double>(size));
    store(&Catalog::count, points.template take<std::int32_t>(size));
    store(&Catalog::is_ambiguous, points.template take<std::uint8_t>(size));
}

template <class T>
void label(RecordedPoints<T>& points, Engine engine, double parameter, bool with_catalog) {
    const auto labels = points.template take<std::int32_t>(points.count());
    const auto length = LinkingLength::relative(parameter);
    const FofOptions options{.box = points.box(), .engine = engine, .execution = points.execution()};
    if (points.has("async")) {
        label_async(points, {points.view(), length, options, labels.data()});
        return;
    }
    Particles particles{points.view()};
    particles.velocities = points.view(); // any numbers do
    if (points.has("masses")) {
        particles.masses = std::span(points.data(), static_cast<std::size_t>(points.count()));
    }
    points.record_as(Saved::largest, [&] {
        FofSummary found;
        found.engine = engine;
        detail::on_gpu().fof(points.view(), length, options, labels, found);
        if (with_catalog) {
            const DeviceCatalog catalog =
                detail::device_catalog({labels, found.sizes}, particles, found, {.execution = points.execution()});
            store_columns(points, catalog);
        }
    });
}

template <class T>
void label_in_phase_space(RecordedPoints<T>& points, double parameter) {
    const int dimension = points.dimension() / 2;
    const auto half = [&](int first) {
        return PointsView(points.data() + first, dtype_of<T>, points.count(), dimension, 2 * dimension, 1,
                          points.execution().device);
    };
    const auto labels = points.template take<std::int32_t>(points.count());
    const FofOptions options{.execution = points.execution(),
                             .phase_space = PhaseSpace{half(dimension), VelocityLength::absolute(0.5)}};
    points.record_as(Saved::largest, [&] {
        FofSummary found;
        found.engine = Engine::tree;
        detail::on_gpu().fof(half(0), LinkingLength::relative(parameter), options, labels, found);
    });
}

template <class T>
void order_by_group(RecordedPoints<T>& points, double parameter) {
    const auto labels = points.template take<std::int32_t>(points.count());
    FofSummary found;
    detail::on_gpu().fof(points.view(), LinkingLength::relative(parameter),
                         {.box = points.box(), .execution = points.execution()}, labels, found);
    const std::int64_t groups = found.groups_of_at_least(2);
    const auto indices = points.template take<std::int32_t>(points.count());
    const auto offsets = points.template take<std::int64_t>(groups + 1);
    const std::int64_t point_bytes = points.dimension() * static_cast<std::int64_t>(sizeof(T));
    const auto rows = points.template take<std::byte>(points.count() * point_bytes);
    points.record_as(Saved::largest, [&] {
        GroupOrderSummary order;
        detail::on_gpu().group_order(labels, groups, indices, offsets, points.execution(), order);
        for (const std::int64_t bytes : {point_bytes, std::int64_t{3}}) {
            detail::on_gpu().gather_rows(indices, points.data(), bytes, rows.data(), points.execution());
        }
    });
}

template <class T>
void cluster(RecordedPoints<T>& points, double length) {
    const auto labels = points.template take<std::int32_t>(points.count());
    const auto is_core = points.template take<std::uint8_t>(points.count());
    points.record_as(Saved::largest, [&] {
        DbscanSummary found;
        detail::on_gpu().dbscan(points.view(), {.box = points.box(), .execution = points.execution()},
                                {length, 5, false, labels, is_core}, found);
    });
}

template <class T>
void span_by_density(RecordedPoints<T>& points, std::int64_t min_samples) {
    detail::Context host(cpu(1));
    points.record_as(Saved::all, [&] {
        HdbscanResult found;
        found.min_samples = min_samples;
        detail::on_gpu().density_tree(points.view(), {.box = points.box(), .execution = points.execution()}, host,
                                      found);
    });
}

} // namespace

template <class T>
bool record_groups(RecordedPoints<T>& points, const std::string& call, double parameter) {
    if (call == "fof" || call == "catalog") {
        label(points, Engine::tree, parameter, call == "catalog");
    } else if (call == "pairs") {
        label(points, Engine::brute_force, parameter, false);
    } else if (call == "ranges") {
        label(points, Engine::kdtree, parameter, false);
    } else if (call == "phase") {
        label_in_phase_space(points, parameter);
    } else if (call == "group_order") {
        order_by_group(points, parameter);
    } else if (call == "dbscan") {
        cluster(points, length_around(parameter, points.count(), points.dimension()));
    } else if (call == "spanning_tree") {
        points.record_as(Saved::all, [&] {
            (void)detail::on_gpu().spanning_tree(points.view(), {.box = points.box(), .execution = points.execution()},
                                                 Engine::tree);
        });
    } else if (call == "hdbscan") {
        span_by_density(points, static_cast<std::int64_t>(parameter));
    } else {
        return false;
    }
    return true;
}

template bool record_groups(RecordedPoints<float>&, const std::string&, double);
template bool record_groups(RecordedPoints<double>&, const std::string&, double);

} // namespace kith::bench
