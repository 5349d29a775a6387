// Neighbors within a radius.
//
// Results of a GPU are copied to the host. NumPy arrays view the rows in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "radii.hpp"
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

/// A search for rows, or for their lengths alone.
class Request {
public:
    Request(const Call& call, const std::optional<InputArray>& queries, nb::handle r)
        : call_(call), points_(call.points()), queries_(queries_of(queries)), radii_(radii_of(r, array_)) {}

    [[nodiscard]] RadiusResult rows(const RadiusOptions& options) const {
        return answer(call_, are_few() ? neighbors(options) : pairs(), options,
                      [&](const RadiusOptions& complete) { return run_radius_search(complete); });
    }
    [[nodiscard]] RadiusCounts counts(const RadiusOptions& options) const {
        return answer(call_, are_few() ? row_count() : pairs(), options,
                      [&](const RadiusOptions& complete) { return run_radius_count(complete); });
    }

private:
    [[nodiscard]] RadiusResult run_radius_search(const RadiusOptions& options) const {
        return queries_ ? radius_search(points_, *queries_, radii_, options) : radius_search(points_, radii_, options);
    }
    [[nodiscard]] RadiusCounts run_radius_count(const RadiusOptions& options) const {
        return queries_ ? radius_count(points_, *queries_, radii_, options) : radius_count(points_, radii_, options);
    }
    [[nodiscard]] std::int64_t row_count() const { return queries_ ? queries_->count() : points_.count(); }

    /// Few queries of a kept tree on the CPU are searched in the calling thread.
    [[nodiscard]] bool are_few() const {
        constexpr std::int64_t few_queries = 16;
        const Tree* const tree = points_.tree();
        return tree != nullptr && tree->device().kind == DeviceKind::cpu && queries_ &&
               queries_->count() <= few_queries && (call_.engine == Engine::automatic || call_.engine == Engine::tree);
    }
    /// Upper bound of the size of a result.
    [[nodiscard]] std::int64_t pairs() const {
        constexpr std::int64_t many = 1 << 30; // its square does not overflow
        return std::max(std::min(row_count(), many) * std::min(points_.count(), many), points_.count());
    }
    /// Neighbors of few queries: counted in less time than a thread takes to start.
    [[nodiscard]] std::int64_t neighbors(RadiusOptions options) const {
        const Unlocked unlocked;
        options.engine = call_.engine;
        options.execution.threads = call_.threads;
        const std::vector<std::int64_t> counts = run_radius_count(options).counts;
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }

    const Call& call_;
    PointsOrTree points_;
    std::optional<PointsView> queries_;
    InputArray array_;
    Radii radii_;
};

/// Offsets, indices, distances, and the name of the engine.
nb::object search_within(const Call& call, const std::optional<InputArray>& queries, nb::handle r, bool exclude_self,
                         bool squared, bool by_index, bool wide_indices, std::int64_t max_result_bytes) {
    const Request request(call, queries, r);
    auto* const found = new RadiusResult(request.rows({.exclude_self = exclude_self,
                                                       .squared = squared,
                                                       .order = by_index ? RowOrder::index : RowOrder::distance,
                                                       .index_type = wide_indices ? IndexType::int64 : IndexType::int32,
                                                       .max_result_bytes = max_result_bytes}));
    const nb::capsule owner = owner_of(found);
    warn(call, found->unresolved);
    return nb::make_tuple(array_of(found->offsets(), owner),
                          wide_indices ? array_of(found->indices64(), owner) : array_of(found->indices(), owner),
                          found->dtype() == DType::float64 ? array_of(found->distances<double>(), owner)
                                                           : array_of(found->distances<float>(), owner),
                          name_of(found->engine));
}

nb::object count_within(const Call& call, const std::optional<InputArray>& queries, nb::handle r, bool exclude_self) {
    auto* const found = new RadiusCounts(Request(call, queries, r).counts({.exclude_self = exclude_self}));
    return array_of(std::span<const std::int64_t>(found->counts), owner_of(found));
}

} // namespace

void bind_radius(nb::module_& module) {
    module.def("search_within", search_within, nb::arg("call"), nb::arg("queries").none(), nb::arg("r"),
               nb::arg("exclude_self"), nb::arg("squared"), nb::arg("by_index"), nb::arg("wide_indices"),
               nb::arg("max_result_bytes"));
    module.def("count_within", count_within, nb::arg("call"), nb::arg("queries").none(), nb::arg("r"),
               nb::arg("exclude_self"));
}

} // namespace kith::python
