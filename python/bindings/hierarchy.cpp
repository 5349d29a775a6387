// The hierarchy of groups, and groups at several linking lengths.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "edges.hpp"
#include "phase_space.hpp"

#include <kith/hierarchy.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

constexpr const char* this_call = "the hierarchy of groups is found";

Hierarchy hierarchy_of(const Call& call, const LengthArgument& length, const PhaseSpaceArgument& phase_space) {
    call.require_host(this_call);
    const PointsOrTree points = call.points();
    Hierarchy found =
        answer(call, points.count(), SpanningTreeOptions{.phase_space = phase_space_at(phase_space, length)},
               [&](const SpanningTreeOptions& options) { return hierarchy(points, options); });
    warn(call, found.spanning_tree().unresolved);
    return found;
}

/// Calls body(name, value) for the facts of a pickled spanning tree that are not enumerators.
template <class Facts, class Body>
void each_fact(Facts& facts, const Body& body) {
    body("points", facts.points);
    body("box", facts.box);
    body("mean_separation", facts.mean_separation);
    body("volume", facts.volume);
    body("shortest_length", facts.shortest_length);
    body("largest", facts.largest);
    body("linking_length", facts.linking_length);
    body("velocity_length", facts.velocity_length);
    body("velocity_scale", facts.velocity_scale);
}

/// The state of a pickled spanning tree: its facts, and arrays that view it.
nb::dict state_of(const SpanningTree& tree, nb::handle owner) {
    const SpanningTreeFacts& facts = tree.facts();
    nb::dict state;
    each_fact(facts, [&](const char* name, const auto& value) { state[name] = value; });
    state["engine"] = static_cast<int>(facts.engine);
    state["volume_kind"] = static_cast<int>(facts.volume_kind);
    state["is_float64"] = facts.dtype == DType::float64;
    state["edges"] = ends_view<std::int32_t>(tree.edges(), owner);
    const auto add = [&](auto weights, auto heights) {
        state["weights"] = array_of(weights, owner);
        state["heights"] = array_of(heights, owner);
    };
    facts.dtype == DType::float64 ? add(tree.weights<double>(), tree.heights<double>())
                                  : add(tree.weights<float>(), tree.heights<float>());
    return state;
}

template <class T>
SpanningTree tree_of(const SpanningTreeFacts& facts, const nb::dict& state) {
    using Numbers = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const std::vector<SpanningEdge> edges = edges_from(state["edges"]);
    const auto weights = nb::cast<Numbers>(state["weights"]);
    const auto heights = nb::cast<Numbers>(state["heights"]);
    return {facts, edges, std::span<const T>(weights.data(), weights.size()),
            std::span<const T>(heights.data(), heights.size())};
}

SpanningTree tree_of(const nb::dict& state) {
    SpanningTreeFacts facts;
    each_fact(facts, [&]<class Value>(const char* name, Value& value) { value = nb::cast<Value>(state[name]); });
    facts.dtype = nb::cast<bool>(state["is_float64"]) ? DType::float64 : DType::float32;
    facts.engine = static_cast<Engine>(nb::cast<int>(state["engine"]));
    facts.volume_kind = static_cast<VolumeKind>(nb::cast<int>(state["volume_kind"]));
    return facts.dtype == DType::float64 ? tree_of<double>(facts, state) : tree_of<float>(facts, state);
}

// Merges and levels are computed from the tree, which is faster than reading them from a disk.

void restore_hierarchy(Hierarchy& uninitialized, const nb::dict& state) {
    new (&uninitialized) Hierarchy(hierarchy(tree_of(state)));
}

std::vector<LinkingLength> lengths_of(const std::vector<double>& lengths, bool are_relative) {
    std::vector<LinkingLength> linking_lengths;
    std::transform(lengths.begin(), lengths.end(), std::back_inserter(linking_lengths),
                   [&](double length) { return length_of(length, are_relative); });
    return linking_lengths;
}

/// The ladder of a stored tree.
FofLadder restored_ladder(const nb::dict& state, const std::vector<double>& lengths, std::int64_t min_members) {
    return fof_ladder(tree_of(state), lengths_of(lengths, false), {.min_members = min_members});
}

FofSummary cut(const OutputArray& labels, const Hierarchy& hierarchy, const LengthArgument& length, nb::handle threads,
               nb::object progress) {
    const std::span<std::int32_t> where = labels_of(labels, {});
    return answer(call_options(nb::none(), threads, std::move(progress)), std::ssize(where),
                  [&](const Execution& execution) {
                      return fof_into(where, hierarchy.spanning_tree(), length_of(length), execution);
                  });
}

FofResult cut_over_ranks(const Hierarchy& hierarchy, const LengthArgument& length, nb::handle threads,
                         nb::object progress, nb::object ranks) {
    const CallOptions call = call_options(nb::none(), threads, std::move(progress), std::move(ranks));
    FofResult found = answer(call, 0, [&](const Execution& execution) {
        return fof(hierarchy.spanning_tree(), length_of(length), execution);
    });
    call.ranks->report("groups", found.groups);
    call.ranks->report("linking_length", found.linking_length);
    return found;
}

FofLadder ladder_of(const Call& call, const std::vector<double>& lengths, bool are_relative, std::int64_t min_members) {
    call.require_host(this_call);
    const PointsOrTree points = call.points();
    return answer(call, points.count(), FofLadderOptions{.min_members = min_members},
                  [&, at = lengths_of(lengths, are_relative)](const FofLadderOptions& options) {
                      return fof_ladder(points, at, options);
                  });
}

FofLadder ladder_of_hierarchy(const Hierarchy& hierarchy, const std::vector<double>& lengths, bool are_relative,
                              std::int64_t min_members, nb::handle threads, nb::object progress, nb::object ranks) {
    const SpanningTree& tree = hierarchy.spanning_tree();
    return answer(call_options(nb::none(), threads, std::move(progress), std::move(ranks)), tree.points(),
                  [&, at = lengths_of(lengths, are_relative)](const Execution& execution) {
                      return fof_ladder(tree, at, {.min_members = min_members, .execution = execution});
                  });
}

/// One number of each level.
template <class Number>
std::vector<Number> of_levels(const FofLadder& ladder, Number FofLevelLength::*member) {
    std::vector<Number> numbers;
    const auto add = [&](const auto& levels) {
        for (const FofLevelLength& level : levels) {
            numbers.push_back(level.*member);
        }
    };
    ladder.distribution ? add(ladder.levels64()) : add(ladder.levels());
    return numbers;
}

/// How many groups of each level are listed, by all ranks; and the label of the first one of this rank.
std::vector<std::int64_t> listed(const FofLadder& ladder) {
    std::vector<std::int64_t> numbers;
    if (ladder.distribution) {
        for (const FofLevel64& level : ladder.levels64()) {
            numbers.push_back(level.listed);
        }
    } else {
        for (const FofLevel& level : ladder.levels()) {
            numbers.push_back(std::ssize(level.sizes));
        }
    }
    return numbers;
}
std::vector<std::int64_t> first_groups(const FofLadder& ladder) {
    std::vector<std::int64_t> numbers;
    if (ladder.distribution) {
        for (const FofLevel64& level : ladder.levels64()) {
            numbers.push_back(level.first_group);
        }
    } else {
        numbers.resize(ladder.levels().size());
    }
    return numbers;
}

/// One array of each level, which views the ladder's memory.
nb::list arrays_of(nb::handle owner, std::vector<std::int32_t> FofLevel::*narrow,
                   std::vector<std::int64_t> FofLevel64::*wide) {
    nb::list arrays;
    const auto& ladder = nb::cast<const FofLadder&>(owner);
    const auto add = [&](const auto& levels, auto member) {
        for (const auto& level : levels) {
            arrays.append(numpy_view(level.*member, 0, owner));
        }
    };
    ladder.distribution ? add(ladder.levels64(), wide) : add(ladder.levels(), narrow);
    return arrays;
}

void label_level(const OutputArray& labels, const FofLadder& ladder, std::int64_t level, nb::handle threads,
                 nb::object progress) {
    const std::span<std::int32_t> where = labels_of(labels, {});
    run(call_options(nb::none(), threads, std::move(progress)), std::ssize(where),
        [&](const Execution& execution) { ladder.write_labels(where, level, execution); });
}

nb::object label_level_over_ranks(const FofLadder& ladder, std::int64_t level, nb::handle threads, nb::object progress,
                                  nb::object ranks) {
    return owned_array(answer(call_options(nb::none(), threads, std::move(progress), std::move(ranks)), 0,
                              [&](const Execution& execution) { return ladder.labels64(level, execution); }));
}

} // namespace

void bind_hierarchy(nb::module_& module) {
    nb::class_<Hierarchy>(module, "Hierarchy")
        .def_prop_ro("points", [](const Hierarchy& self) { return self.spanning_tree().points(); })
        .def_prop_ro("box", [](const Hierarchy& self) { return self.spanning_tree().box(); })
        .def_prop_ro("engine", [](const Hierarchy& self) { return name_of(self.spanning_tree().engine()); })
        .def_prop_ro("mean_separation", [](const Hierarchy& self) { return self.spanning_tree().mean_separation(); })
        .def("linkage", linkage_of)
        .def_prop_ro("first_merge",
                     [](const Hierarchy& self) { return self.distribution ? self.distribution->first : 0; })
        .def("__getstate__",
             [](nb::handle self) { return state_of(nb::cast<const Hierarchy&>(self).spanning_tree(), self); })
        .def("__setstate__", restore_hierarchy);
    nb::class_<FofLadder>(module, "FofLadder")
        .def_prop_ro("points", [](const FofLadder& self) { return self.spanning_tree().points(); })
        .def_prop_ro("box", [](const FofLadder& self) { return self.spanning_tree().box(); })
        .def_prop_ro("engine", [](const FofLadder& self) { return name_of(self.spanning_tree().engine()); })
        .def_prop_ro("linking_lengths",
                     [](const FofLadder& self) { return of_levels(self, &FofLevel::linking_length); })
        .def_prop_ro("groups", [](const FofLadder& self) { return of_levels(self, &FofLevel::groups); })
        .def_prop_ro("listed", listed)
        .def_prop_ro("first_groups", first_groups)
        .def_prop_ro("sizes", [](nb::handle self) { return arrays_of(self, &FofLevel::sizes, &FofLevel64::sizes); })
        .def_prop_ro(
            "first_members",
            [](nb::handle self) { return arrays_of(self, &FofLevel::first_members, &FofLevel64::first_members); })
        .def_prop_ro("parents",
                     [](nb::handle self) { return arrays_of(self, &FofLevel::parents, &FofLevel64::parents); })
        .def("tree_state",
             [](nb::handle self) { return state_of(nb::cast<const FofLadder&>(self).spanning_tree(), self); });

    module.def("hierarchy", hierarchy_of, nb::arg("call"), nb::arg("length"), nb::arg("phase_space").none());
    module.def("cut", cut, nb::arg("labels").noconvert(), nb::arg("hierarchy"), nb::arg("length"),
               nb::arg("threads").none(), nb::arg("progress").none());
    module.def("cut_over_ranks", cut_over_ranks, nb::arg("hierarchy"), nb::arg("length"), nb::arg("threads").none(),
               nb::arg("progress").none(), nb::arg("ranks"));
    module.def("ladder", ladder_of, nb::arg("call"), nb::arg("lengths"), nb::arg("are_relative"),
               nb::arg("min_members"));
    module.def("ladder_of_hierarchy", ladder_of_hierarchy, nb::arg("hierarchy"), nb::arg("lengths"),
               nb::arg("are_relative"), nb::arg("min_members"), nb::arg("threads").none(), nb::arg("progress").none(),
               nb::arg("ranks").none());
    module.def("restored_ladder", restored_ladder, nb::arg("state"), nb::arg("lengths"), nb::arg("min_members"));
    module.def("label_level_over_ranks", label_level_over_ranks, nb::arg("ladder"), nb::arg("level"),
               nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("ranks"));
    module.def("label_level", label_level, nb::arg("labels").noconvert(), nb::arg("ladder"), nb::arg("level"),
               nb::arg("threads").none(), nb::arg("progress").none());
}

} // namespace kith::python
