// Clusters of different densities. NumPy arrays view them in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "edges.hpp"

#include <kith/hdbscan.hpp>
#include <kith/hierarchy.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

HdbscanResult find_density_clusters(const Call& call, std::int64_t min_cluster_size, std::int64_t min_samples,
                                    bool by_leaves, double selection_epsilon, std::int64_t max_cluster_size,
                                    bool allow_single_cluster) {
    constexpr std::int64_t steps = 64; // about, for each point
    const PointsOrTree points = call.points();
    const HdbscanOptions how{.min_samples = min_samples,
                             .selection = by_leaves ? ClusterSelection::leaf : ClusterSelection::excess_of_mass,
                             .selection_epsilon = selection_epsilon,
                             .max_cluster_size = max_cluster_size,
                             .allow_single_cluster = allow_single_cluster};
    HdbscanResult found = answer(call, steps * points.count(), how, [&](const HdbscanOptions& options) {
        return hdbscan(points, min_cluster_size, options);
    });
    warn(call, found.unresolved);
    return found;
}

HdbscanPrediction predict_density_clusters(const Call& call, const HdbscanResult& clusters,
                                           const InputArray& new_points) {
    call.require_host("clusters are predicted");
    constexpr std::int64_t steps = 64; // about, for each new point
    const PointsOrTree points = call.points();
    const PointsView others = points_of(new_points, "new points");
    return answer(call, points.count() + steps * others.count(),
                  [&](const Execution& execution) { return approximate_predict(clusters, points, others, execution); });
}

void cut_density(const OutputArray& labels, const HdbscanResult& clusters, double eps, nb::handle threads,
                 nb::object progress) {
    const std::span<std::int32_t> where = labels_of(labels, {});
    run(call_options(nb::none(), threads, std::move(progress)), std::ssize(where), [&](const Execution& execution) {
        const std::vector<std::int32_t> found = clusters.cut(eps, execution);
        std::copy_n(found.begin(), std::min(found.size(), where.size()), where.begin());
    });
}

/// SciPy's matrix, in memory of its own.
nb::object density_linkage(const HdbscanResult& clusters) {
    SpanningTreeFacts facts;
    facts.points = clusters.points();
    facts.dtype = DType::float64;
    const Hierarchy merges = hierarchy(SpanningTree(facts, std::span(clusters.edges), std::span(clusters.heights),
                                                    std::span<const double>(clusters.heights)));
    return linkage_of(merges);
}

/// Calls body(name, member) for each number of a cluster.
template <class Body>
void each_cluster_member(const Body& body) {
    body("parent", &CondensedCluster::parent);
    body("size", &CondensedCluster::size);
    body("label", &CondensedCluster::label);
    body("birth", &CondensedCluster::birth);
    body("death", &CondensedCluster::death);
    body("stability", &CondensedCluster::stability);
}

/// Columns of the clusters, copied.
nb::dict clusters_of(const HdbscanResult& found) {
    nb::dict columns;
    each_cluster_member([&]<class Number>(const char* name, Number CondensedCluster::*member) {
        std::vector<Number> numbers;
        for (const CondensedCluster& cluster : found.condensed_tree.clusters) {
            numbers.push_back(cluster.*member);
        }
        columns[name] = owned_array(std::move(numbers));
    });
    return columns;
}

nb::object edges_of(nb::handle self) {
    return ends_view<const std::int32_t>(std::span(nb::cast<const HdbscanResult&>(self).edges), self);
}

template <class Result, class Number>
auto view_of(std::vector<Number> Result::*member) {
    return [member](nb::handle self) {
        return array_of(std::span<const Number>(nb::cast<const Result&>(self).*member), self);
    };
}
/// What cuts, the linkage and predictions read later, and so cannot be written to.
template <class Number>
auto constant_view_of(std::vector<Number> HdbscanResult::*member) {
    return [member](nb::handle self) { return numpy_view(nb::cast<const HdbscanResult&>(self).*member, 0, self); };
}
template <class Number>
auto constant_view_of(std::vector<Number> CondensedTree::*member) {
    return [member](nb::handle self) {
        return numpy_view(nb::cast<const HdbscanResult&>(self).condensed_tree.*member, 0, self);
    };
}

/// Calls body(name, number) for the numbers of a pickled result, and body(name, vector) for its arrays of numbers.
template <class Result, class Body>
void each_member(Result& result, const Body& body) {
    body("noise_points", result.noise_points);
    body("min_samples", result.min_samples);
    body("min_cluster_size", result.min_cluster_size);
    body("selection_epsilon", result.selection_epsilon);
    body("wrapped_points", result.wrapped_points);
    body("shortest_length", result.shortest_length);
    body("largest", result.largest);
    body("box", result.box);
    body("labels", result.labels);
    body("probabilities", result.probabilities);
    body("outlier_scores", result.outlier_scores);
    body("sizes", result.sizes);
    body("core_distances", result.core_distances);
    body("heights", result.heights);
    body("last_clusters", result.condensed_tree.last_clusters);
    body("lambdas", result.condensed_tree.lambdas);
}

/// Its numbers, and arrays that view it.
nb::dict state_of(nb::handle self) {
    const auto& found = nb::cast<const HdbscanResult&>(self);
    nb::dict state;
    state["is_float64"] = found.dtype == DType::float64;
    state["engine"] = static_cast<int>(found.engine);
    state["edges"] = edges_of(self);
    state["clusters"] = clusters_of(found);
    each_member(found, [&]<class Member>(const char* name, const Member& member) {
        if constexpr (requires { member.data(); }) {
            state[name] = numpy_view(member, 0, self);
        } else {
            state[name] = member;
        }
    });
    return state;
}

void restore(HdbscanResult& to, const nb::dict& state) {
    HdbscanResult found;
    found.dtype = nb::cast<bool>(state["is_float64"]) ? DType::float64 : DType::float32;
    found.engine = static_cast<Engine>(nb::cast<int>(state["engine"]));
    each_member(found, [&]<class Member>(const char* name, Member& member) {
        if constexpr (requires { member.data(); }) {
            member = copied<typename Member::value_type>(state[name]);
        } else {
            member = nb::cast<Member>(state[name]);
        }
    });
    found.edges = edges_from(state["edges"]);
    const auto columns = nb::cast<nb::dict>(state["clusters"]);
    each_cluster_member([&]<class Number>(const char* name, Number CondensedCluster::*member) {
        const std::vector<Number> numbers = copied<Number>(columns[name]);
        found.condensed_tree.clusters.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            found.condensed_tree.clusters[i].*member = numbers[i];
        }
    });
    new (&to) HdbscanResult(std::move(found));
}

} // namespace

void bind_hdbscan(nb::module_& module) {
    nb::class_<HdbscanResult>(module, "HdbscanResult")
        .def_prop_ro("box", [](const HdbscanResult& self) { return self.box; })
        .def_prop_ro("engine", [](const HdbscanResult& self) { return name_of(self.engine); })
        .def_prop_ro("points", &HdbscanResult::points)
        .def_prop_ro("is_float64", [](const HdbscanResult& self) { return self.dtype == DType::float64; })
        .def_prop_ro("min_samples", [](const HdbscanResult& self) { return self.min_samples; })
        .def_prop_ro("labels", view_of(&HdbscanResult::labels))
        .def_prop_ro("probabilities", view_of(&HdbscanResult::probabilities))
        .def_prop_ro("outlier_scores", view_of(&HdbscanResult::outlier_scores))
        .def_prop_ro("sizes", view_of(&HdbscanResult::sizes))
        .def_prop_ro("core_distances", constant_view_of(&HdbscanResult::core_distances))
        .def_prop_ro("heights", constant_view_of(&HdbscanResult::heights))
        .def_prop_ro("edges", edges_of)
        .def_prop_ro("last_clusters", constant_view_of(&CondensedTree::last_clusters))
        .def_prop_ro("lambdas", constant_view_of(&CondensedTree::lambdas))
        .def_prop_ro("is_part",
                     [](const HdbscanResult& self) {
                         return self.has_ids || (self.distribution && self.distribution->ranks > 1);
                     })
        .def("clusters", clusters_of)
        .def("linkage", density_linkage)
        .def("__getstate__", state_of)
        .def("__setstate__", restore);
    nb::class_<HdbscanPrediction>(module, "HdbscanPrediction")
        .def_prop_ro("labels", view_of(&HdbscanPrediction::labels))
        .def_prop_ro("probabilities", view_of(&HdbscanPrediction::probabilities))
        .def_prop_ro("neighbors", view_of(&HdbscanPrediction::neighbors))
        .def_prop_ro("distances", view_of(&HdbscanPrediction::distances));
    module.def("predict_density_clusters", predict_density_clusters, nb::arg("call"), nb::arg("clusters"),
               nb::arg("new_points"));
    module.def("find_density_clusters", find_density_clusters, nb::arg("call"), nb::arg("min_cluster_size"),
               nb::arg("min_samples"), nb::arg("by_leaves"), nb::arg("selection_epsilon"), nb::arg("max_cluster_size"),
               nb::arg("allow_single_cluster"));
    module.def("cut_density", cut_density, nb::arg("labels").noconvert(), nb::arg("clusters"), nb::arg("eps"),
               nb::arg("threads").none(), nb::arg("progress").none());
}

} // namespace kith::python
