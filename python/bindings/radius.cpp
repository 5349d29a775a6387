// Neighbors within a radius.
//
// Results of a GPU come to the host, too. The rows stay in the memory that the core gave them: NumPy arrays view it and
// keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "unlocked.hpp"

#include <kith/error.hpp>
#include <kith/radius.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

/// The array, with one for each query, if there is one; else the number.
Radii radii_of(double radius, const std::optional<InputArray>& radii) {
    if (!radii) {
        return radius;
    }
    if (const Device device = device_of(*radii); device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "r is in the memory of GPU " + std::to_string(device.index) +
                                                ", but the host reads the radii; copy them to its memory");
    }
    const ScalarsView view = scalars_of(*radii, "r");
    const auto count = static_cast<std::size_t>(view.count());
    if (view.dtype() == DType::float32) {
        return std::span(static_cast<const float*>(view.data()), count);
    }
    return std::span(static_cast<const double*>(view.data()), count);
}

/// Any radius search of Python's.
struct RadiusRequest {
    PointsOrTree sources;
    std::optional<PointsView> queries;
    Radii radii;
    RadiusOptions options = {};
    CallOptions call = {};

    [[nodiscard]] std::int64_t row_count() const { return queries ? queries->count() : sources.count(); }
};

std::optional<PointsView> queries_of(const std::optional<InputArray>& queries) {
    return queries ? std::optional(points_of(*queries, "queries")) : std::nullopt;
}

RadiusRequest request_of(const Tree& tree, const std::optional<InputArray>& queries, double radius,
                         const std::optional<InputArray>& radii, const std::string& engine, nb::handle threads,
                         nb::object progress) {
    CallOptions call = call_options(nb::none(), threads, std::move(progress));
    call.device = tree.device();
    return {.sources = tree,
            .queries = queries_of(queries),
            .radii = radii_of(radius, radii),
            .options = {.engine = engine_of(engine)},
            .call = std::move(call)};
}

RadiusRequest request_of(const InputArray& points, const std::optional<InputArray>& queries, nb::handle box,
                         double radius, const std::optional<InputArray>& radii, const std::string& engine,
                         nb::handle device, nb::handle threads, nb::object progress) {
    return {.sources = points_of(points, "points"),
            .queries = queries_of(queries),
            .radii = radii_of(radius, radii),
            .options = {.box = box_of(box), .engine = engine_of(engine)},
            .call = call_options(device, threads, std::move(progress))};
}

/// Whether these are few queries of a kept tree on the CPU, which the core searches in the calling thread.
bool are_few(const RadiusRequest& request) {
    constexpr std::int64_t few_queries = 16;
    const Tree* const tree = request.sources.tree();
    const Engine engine = request.options.engine;
    return tree != nullptr && tree->device().kind == DeviceKind::cpu && request.queries &&
           request.queries->count() <= few_queries && (engine == Engine::automatic || engine == Engine::tree);
}

/// About how many numbers a search makes: as many as there are pairs.
std::int64_t pairs_of(const RadiusRequest& request) {
    constexpr std::int64_t many = 1 << 30; // whose square can be counted
    return std::max(std::min(request.row_count(), many) * std::min(request.sources.count(), many),
                    request.sources.count());
}

/// The neighbors of few queries: few, mostly, and counted in less time than a thread is started.
std::int64_t neighbors_of(const RadiusRequest& request) {
    const Unlocked unlocked;
    RadiusOptions options = request.options;
    options.execution.threads = request.call.threads;
    const std::vector<std::int64_t> counts = radius_count(request.sources, *request.queries, request.radii, options);
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Runs function(sources, [queries,] radii, options), which makes about `size` numbers.
template <class Result, class Function>
Result answer(RadiusRequest request, std::int64_t size, const Function& function) {
    std::optional<Result> result;
    run(request.call, size, [&](const Execution& execution) {
        RadiusOptions& options = request.options;
        options.execution = execution;
        result.emplace(request.queries ? function(request.sources, *request.queries, request.radii, options)
                                       : function(request.sources, request.radii, options));
    });
    return std::move(*result);
}

/// Offsets, indices, distances, and the name of the engine.
nb::object rows(RadiusRequest request, bool exclude_self, bool squared, bool by_index, bool wide_indices,
                std::int64_t max_result_bytes) {
    request.options.exclude_self = exclude_self;
    request.options.squared = squared;
    request.options.order = by_index ? RowOrder::index : RowOrder::distance;
    request.options.index_type = wide_indices ? IndexType::int64 : IndexType::int32;
    request.options.max_result_bytes = max_result_bytes;
    const std::int64_t size = are_few(request) ? neighbors_of(request) : pairs_of(request);
    auto* const found = new RadiusResult(answer<RadiusResult>(
        std::move(request), size, [](const auto&... arguments) { return radius_search(arguments...); }));
    const nb::capsule owner = owner_of(found);
    warn(found->unresolved);
    return nb::make_tuple(array_of(found->offsets(), owner),
                          wide_indices ? array_of(found->indices64(), owner) : array_of(found->indices(), owner),
                          found->dtype() == DType::float64 ? array_of(found->distances<double>(), owner)
                                                           : array_of(found->distances<float>(), owner),
                          name_of(found->engine));
}

nb::object counts(RadiusRequest request, bool exclude_self) {
    using Counts = std::vector<std::int64_t>;
    request.options.exclude_self = exclude_self;
    const std::int64_t size = are_few(request) ? request.row_count() : pairs_of(request);
    auto* const found = new Counts(
        answer<Counts>(std::move(request), size, [](const auto&... arguments) { return radius_count(arguments...); }));
    return array_of(std::span<const std::int64_t>(*found), owner_of(found));
}

} // namespace

void bind_radius(nb::module_& module) {
    module.def(
        "radius_search_tree",
        [](const Tree& tree, const std::optional<InputArray>& queries, double radius,
           const std::optional<InputArray>& radii, bool exclude_self, bool squared, bool by_index, bool wide_indices,
           std::int64_t max_result_bytes, nb::handle threads, nb::object progress, const std::string& engine) {
            return rows(request_of(tree, queries, radius, radii, engine, threads, std::move(progress)), exclude_self,
                        squared, by_index, wide_indices, max_result_bytes);
        },
        nb::arg("tree"), nb::arg("queries").none(), nb::arg("radius"), nb::arg("radii").none(), nb::arg("exclude_self"),
        nb::arg("squared"), nb::arg("by_index"), nb::arg("wide_indices"), nb::arg("max_result_bytes"),
        nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("engine") = "auto");
    module.def(
        "radius_search_points",
        [](const InputArray& points, const std::optional<InputArray>& queries, nb::handle box, double radius,
           const std::optional<InputArray>& radii, bool exclude_self, bool squared, bool by_index, bool wide_indices,
           std::int64_t max_result_bytes, nb::handle device, nb::handle threads, nb::object progress,
           const std::string& engine) {
            return rows(request_of(points, queries, box, radius, radii, engine, device, threads, std::move(progress)),
                        exclude_self, squared, by_index, wide_indices, max_result_bytes);
        },
        nb::arg("points"), nb::arg("queries").none(), nb::arg("box").none(), nb::arg("radius"), nb::arg("radii").none(),
        nb::arg("exclude_self"), nb::arg("squared"), nb::arg("by_index"), nb::arg("wide_indices"),
        nb::arg("max_result_bytes"), nb::arg("device").none(), nb::arg("threads").none(), nb::arg("progress").none(),
        nb::arg("engine") = "auto");
    module.def(
        "radius_count_tree",
        [](const Tree& tree, const std::optional<InputArray>& queries, double radius,
           const std::optional<InputArray>& radii, bool exclude_self, nb::handle threads, nb::object progress,
           const std::string& engine) {
            return counts(request_of(tree, queries, radius, radii, engine, threads, std::move(progress)), exclude_self);
        },
        nb::arg("tree"), nb::arg("queries").none(), nb::arg("radius"), nb::arg("radii").none(), nb::arg("exclude_self"),
        nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("engine") = "auto");
    module.def(
        "radius_count_points",
        [](const InputArray& points, const std::optional<InputArray>& queries, nb::handle box, double radius,
           const std::optional<InputArray>& radii, bool exclude_self, nb::handle device, nb::handle threads,
           nb::object progress, const std::string& engine) {
            return counts(request_of(points, queries, box, radius, radii, engine, device, threads, std::move(progress)),
                          exclude_self);
        },
        nb::arg("points"), nb::arg("queries").none(), nb::arg("box").none(), nb::arg("radius"), nb::arg("radii").none(),
        nb::arg("exclude_self"), nb::arg("device").none(), nb::arg("threads").none(), nb::arg("progress").none(),
        nb::arg("engine") = "auto");
}

} // namespace kith::python
