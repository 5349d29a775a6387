// The hierarchy of groups, and groups at several linking lengths.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/hierarchy.hpp>

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

constexpr const char* this_call = "the hierarchy of groups is found";

/// Runs function(execution) and returns its result.
template <class Result, class Function>
Result answer(std::int64_t points, nb::handle threads, nb::object progress, const Function& function) {
    Result result;
    run(call_options(nb::none(), threads, std::move(progress)), points,
        [&](const Execution& execution) { result = function(execution); });
    return result;
}

Hierarchy hierarchy_of(const PointsOrTree& points, const Box& box, nb::handle threads, nb::object progress) {
    return answer<Hierarchy>(points.count(), threads, std::move(progress), [&](const Execution& execution) {
        return hierarchy(points, {.box = box, .execution = execution});
    });
}

/// SciPy's matrix, in memory of its own.
nb::object linkage(const Hierarchy& hierarchy) {
    const std::size_t rows = hierarchy.merges().size();
    auto numbers = std::make_unique<double[]>(4 * rows);
    hierarchy.write_linkage({numbers.get(), 4 * rows});
    double* const values = numbers.release();
    const nb::capsule owner(values, [](void* held) noexcept { delete[] static_cast<double*>(held); });
    return nb::cast(nb::ndarray<nb::numpy, double>(values, {rows, 4}, owner));
}

FofSummary cut(const OutputArray& labels, const Hierarchy& hierarchy, double length, bool is_relative,
               nb::handle threads, nb::object progress) {
    const std::span<std::int32_t> where = labels_of(labels, {});
    const LinkingLength at = is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
    return answer<FofSummary>(std::ssize(where), threads, std::move(progress), [&](const Execution& execution) {
        return fof_into(where, hierarchy.spanning_tree(), at, execution);
    });
}

/// Of points, a tree or a spanning tree.
template <class Points>
FofLadder ladder_of(const Points& points, std::int64_t count, const std::vector<double>& lengths, bool are_relative,
                    const Box& box, std::int64_t min_members, nb::handle threads, nb::object progress) {
    std::vector<LinkingLength> linking_lengths;
    std::transform(lengths.begin(), lengths.end(), std::back_inserter(linking_lengths), [&](double length) {
        return are_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
    });
    return answer<FofLadder>(count, threads, std::move(progress), [&](const Execution& execution) {
        return fof_ladder(points, linking_lengths, {.box = box, .min_members = min_members, .execution = execution});
    });
}

/// One number of each level.
template <class Number>
std::vector<Number> of_levels(const FofLadder& ladder, Number FofLevel::*member) {
    std::vector<Number> numbers;
    for (const FofLevel& level : ladder.levels()) {
        numbers.push_back(level.*member);
    }
    return numbers;
}

/// One array of each level, which views the ladder's memory.
nb::list arrays_of(nb::handle ladder, std::vector<std::int32_t> FofLevel::*member) {
    nb::list arrays;
    for (const FofLevel& level : nb::cast<const FofLadder&>(ladder).levels()) {
        arrays.append(numpy_view(level.*member, 0, ladder));
    }
    return arrays;
}

void label_level(const OutputArray& labels, const FofLadder& ladder, std::int64_t level, nb::handle threads,
                 nb::object progress) {
    const std::span<std::int32_t> where = labels_of(labels, {});
    run(call_options(nb::none(), threads, std::move(progress)), std::ssize(where),
        [&](const Execution& execution) { ladder.write_labels(where, level, execution); });
}

} // namespace

void bind_hierarchy(nb::module_& module) {
    nb::class_<Hierarchy>(module, "Hierarchy")
        .def_prop_ro("points", [](const Hierarchy& self) { return self.spanning_tree().points(); })
        .def_prop_ro("box", [](const Hierarchy& self) { return self.spanning_tree().box(); })
        .def_prop_ro("mean_separation", [](const Hierarchy& self) { return self.spanning_tree().mean_separation(); })
        .def("linkage", linkage);
    nb::class_<FofLadder>(module, "FofLadder")
        .def_prop_ro("points", [](const FofLadder& self) { return self.spanning_tree().points(); })
        .def_prop_ro("box", [](const FofLadder& self) { return self.spanning_tree().box(); })
        .def_prop_ro("linking_lengths",
                     [](const FofLadder& self) { return of_levels(self, &FofLevel::linking_length); })
        .def_prop_ro("groups", [](const FofLadder& self) { return of_levels(self, &FofLevel::groups); })
        .def_prop_ro("sizes", [](nb::handle self) { return arrays_of(self, &FofLevel::sizes); })
        .def_prop_ro("first_members", [](nb::handle self) { return arrays_of(self, &FofLevel::first_members); })
        .def_prop_ro("parents", [](nb::handle self) { return arrays_of(self, &FofLevel::parents); });

    module.def(
        "hierarchy_points",
        [](const InputArray& points, nb::handle box, nb::handle threads, nb::object progress) {
            return hierarchy_of(host_points(points, "points", this_call), box_of(box), threads, std::move(progress));
        },
        nb::arg("points"), nb::arg("box").none(), nb::arg("threads").none(), nb::arg("progress").none());
    module.def(
        "hierarchy_tree",
        [](const Tree& tree, nb::handle threads, nb::object progress) {
            require_host(tree.device(), "the tree is", this_call);
            return hierarchy_of(tree, {}, threads, std::move(progress));
        },
        nb::arg("tree"), nb::arg("threads").none(), nb::arg("progress").none());
    module.def("cut", cut, nb::arg("labels").noconvert(), nb::arg("hierarchy"), nb::arg("length"),
               nb::arg("is_relative"), nb::arg("threads").none(), nb::arg("progress").none());
    module.def(
        "ladder_points",
        [](const InputArray& points, const std::vector<double>& lengths, bool are_relative, nb::handle box,
           std::int64_t min_members, nb::handle threads, nb::object progress) {
            const PointsView view = host_points(points, "points", this_call);
            return ladder_of(view, view.count(), lengths, are_relative, box_of(box), min_members, threads,
                             std::move(progress));
        },
        nb::arg("points"), nb::arg("lengths"), nb::arg("are_relative"), nb::arg("box").none(), nb::arg("min_members"),
        nb::arg("threads").none(), nb::arg("progress").none());
    module.def(
        "ladder_tree",
        [](const Tree& tree, const std::vector<double>& lengths, bool are_relative, std::int64_t min_members,
           nb::handle threads, nb::object progress) {
            require_host(tree.device(), "the tree is", this_call);
            return ladder_of(tree, tree.size(), lengths, are_relative, {}, min_members, threads, std::move(progress));
        },
        nb::arg("tree"), nb::arg("lengths"), nb::arg("are_relative"), nb::arg("min_members"), nb::arg("threads").none(),
        nb::arg("progress").none());
    module.def(
        "ladder_hierarchy",
        [](const Hierarchy& hierarchy, const std::vector<double>& lengths, bool are_relative, std::int64_t min_members,
           nb::handle threads, nb::object progress) {
            const SpanningTree& tree = hierarchy.spanning_tree();
            return ladder_of(tree, tree.points(), lengths, are_relative, {}, min_members, threads, std::move(progress));
        },
        nb::arg("hierarchy"), nb::arg("lengths"), nb::arg("are_relative"), nb::arg("min_members"),
        nb::arg("threads").none(), nb::arg("progress").none());
    module.def("label_level", label_level, nb::arg("labels").noconvert(), nb::arg("ladder"), nb::arg("level"),
               nb::arg("threads").none(), nb::arg("progress").none());
}

} // namespace kith::python
