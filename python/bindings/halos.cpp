// Bound halos of groups, which are found first or given by labels.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "columns.hpp"
#include "numbers.hpp"
#include "phase_space.hpp"

#include <kith/cosmology.hpp>
#include <kith/error.hpp>
#include <kith/fof.hpp>
#include <kith/halo_file.hpp>
#include <kith/halos.hpp>
#include <kith/io.hpp>
#include <kith/snapshot_universe.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

constexpr const char* this_call = "halos are described";
constexpr std::array<std::string_view, 2> kernels = {"spline", "plummer"}; // in the order of SofteningKernel
constexpr std::array<std::string_view, 3> references = {"critical", "matter", "bryan_norman"}; // of DensityReference

/// The groups that labels say. Throws invalid_argument unless groups are numbered by decreasing size, without gaps.
FofSummary groups_of(std::span<const std::int32_t> labels, const Box& box) {
    std::vector<std::int64_t> sizes;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        const std::int32_t label = labels[row];
        if (label >= std::ssize(labels)) {
            throw Error(ErrorKind::invalid_argument,
                        "labels: row " + std::to_string(row) + " has " + std::to_string(label) + ", but there are " +
                            std::to_string(labels.size()) +
                            " points; groups must be numbered from 0 without gaps, as kith.fof numbers them");
        }
        if (label >= std::ssize(sizes)) {
            sizes.resize(static_cast<std::size_t>(label) + 1);
        }
        if (label >= 0) {
            ++sizes[label];
        }
    }
    std::vector<GroupsOfSize> runs;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
        const std::int64_t size = sizes[group];
        if (size == 0 || (!runs.empty() && size > runs.back().size)) {
            throw Error(ErrorKind::invalid_argument,
                        "labels has " + std::to_string(size) + " points of group " + std::to_string(group) +
                            (size == 0 ? "" : ", more than of the group before it") +
                            "; groups must be numbered by decreasing size, as kith.fof numbers them");
        }
        if (runs.empty() || runs.back().size != size) {
            runs.push_back({size, 0});
        }
        ++runs.back().groups;
    }
    FofSummary summary;
    summary.groups = std::ssize(sizes);
    summary.sizes = GroupSizes(runs);
    summary.box = box;
    return summary;
}

/// G, scale factor, H and density parameter of matter.
using UniverseArgument = std::tuple<double, double, double, double>;
/// Name of the kernel, and length.
using SofteningArgument = std::optional<std::pair<std::string, double>>;
/// Names of references, and factors.
using OverdensitiesArgument = std::vector<std::pair<std::string, double>>;

HaloOptions options_of(const UniverseArgument& universe, const SofteningArgument& softening,
                       const OverdensitiesArgument& overdensities) {
    HaloOptions options;
    std::tie(options.universe.gravity, options.universe.scale_factor, options.universe.hubble,
             options.universe.omega_matter) = universe;
    if (softening) {
        options.softening = Softening{static_cast<SofteningKernel>(position_of(softening->first, "softening", kernels)),
                                      softening->second};
    }
    options.overdensities.clear();
    for (const auto& [reference, factor] : overdensities) {
        options.overdensities.push_back(
            {static_cast<DensityReference>(position_of(reference, "reference", references)), factor});
    }
    return options;
}

/// Finds groups at a length, whose labels it writes; without a length, those of the labels given. Points that are marked
/// as secondary join groups. Over ranks, where the labels are the groups' own, these have been found.
Halos find(const Call& call, const std::optional<OutputArray>& labels, const FofResult* groups_of_ranks,
           const std::optional<LengthArgument>& length, const std::optional<InputArray>& is_secondary,
           const std::optional<InputArray>& velocities, const std::optional<InputArray>& masses, double uniform_mass,
           const std::optional<InputArray>& types, const std::optional<InputArray>& internal_energies,
           HaloOptions options) {
    call.require_host(this_call);
    Particles particles{.positions = call.points().points(), .uniform_mass = uniform_mass};
    if (velocities) {
        particles.velocities = points_of(*velocities, "velocities");
        require_host(particles.velocities->device(), "velocities is", this_call);
    }
    if (masses) {
        require_host(device_of(*masses), "masses is", this_call);
        particles.masses = scalars_of(*masses, "masses");
    }
    if (types) {
        require_host(device_of(*types), "types is", this_call);
        particles.types = types_of(*types);
    }
    if (internal_energies) {
        require_host(device_of(*internal_energies), "internal_energies is", this_call);
        particles.internal_energies = scalars_of(*internal_energies, "internal_energies");
    }
    const std::int64_t count = call.points().count();
    if (groups_of_ranks != nullptr) {
        return answer(call, count, std::move(options), [&](const HaloOptions& halo_options) {
            return halos(*groups_of_ranks, particles, halo_options);
        });
    }
    const std::span<std::int32_t> where = labels_of(*labels, call.device);
    std::optional<Tree> tree; // of groups and halos
    if (length && !is_secondary && call.device.kind == DeviceKind::cpu &&
        (call.engine == Engine::automatic || call.engine == Engine::tree)) {
        tree = answer(call, count, TreeOptions{},
                      [&](const TreeOptions& tree_options) { return Tree(particles.positions, tree_options); });
        particles.tree = &*tree;
    }
    const auto find_groups = [&](const FofOptions& fof_options) -> FofSummary {
        if (tree) {
            FofOptions in_tree = fof_options;
            in_tree.box = {};
            return fof_into(where, *tree, length_of(*length), in_tree);
        }
        if (!is_secondary) {
            return fof_into(where, call.points(), length_of(*length), fof_options);
        }
        FofResult found = fof_with_secondaries(particles.positions, types_of(*is_secondary), length_of(*length),
                                               options.min_members, fof_options);
        std::copy(found.labels().begin(), found.labels().end(), where.begin());
        return found;
    };
    const FofSummary groups = length ? answer(call, count, FofOptions{}, find_groups) : groups_of(where, call.box);
    return answer(call, count, std::move(options),
                  [&](const HaloOptions& halo_options) { return halos(where, groups, particles, halo_options); });
}

/// The inverse of SnapshotHeader.frame.
io::Scaling scaling_of(const nb::dict& frame, const char* kind) {
    const auto [a_power, h_power, to_cgs] = nb::cast<std::tuple<double, double, std::optional<double>>>(frame[kind]);
    return {a_power, h_power, to_cgs};
}

io::SnapshotHeader header_of(const std::optional<nb::dict>& frame, std::map<std::string, double> parameters) {
    io::SnapshotHeader header;
    header.parameters = std::move(parameters);
    if (frame) {
        header.frame =
            io::Frame{nb::cast<double>((*frame)["scale_factor"]), scaling_of(*frame, "length"),
                      scaling_of(*frame, "mass"), scaling_of(*frame, "velocity"),
                      frame->contains("internal_energy") ? scaling_of(*frame, "internal_energy") : io::Scaling()};
    }
    return header;
}

/// Of a snapshot's header: G, scale factor, H and density parameter of matter; the factor from stored to peculiar
/// velocities and that of internal energies to their square; and texts that say what the header lacks for G, H and the density parameter.
nb::tuple universe_of(const std::optional<nb::dict>& frame, std::map<std::string, double> parameters) {
    const io::SnapshotUniverse found = io::universe_of(header_of(frame, std::move(parameters)));
    const Universe& universe = found.universe;
    return nb::make_tuple(
        nb::make_tuple(universe.gravity, universe.scale_factor, universe.hubble, universe.omega_matter),
        found.velocity_factor, found.energy_factor,
        nb::make_tuple(text_of(found.no_gravity), text_of(found.no_hubble), text_of(found.no_omega_matter)));
}

/// Short name, name of the reference, and factor of an overdensity with this name; None if there is none.
nb::object overdensity_named(const std::string& name) {
    const std::optional<Overdensity> found = io::overdensity_named(name);
    if (!found) {
        return nb::none();
    }
    return nb::make_tuple(text_of(io::short_name(*found)),
                          text_of(references[static_cast<std::size_t>(found->reference)]), found->factor);
}

/// What is not a column of halos.
template <class T>
void bind_array(nb::class_<Halos>& bound, const char* name, std::vector<T> Halos::*array) {
    bound.def_prop_ro(name,
                      [array](nb::handle self) { return numpy_view(nb::cast<const Halos&>(self).*array, 0, self); });
}

} // namespace

void bind_halos(nb::module_& module) {
    nb::class_<Halos> bound(module, "Halos");
    bound.def_prop_ro("box", [](const Halos& found) { return found.box; })
        .def_prop_ro("linking_length", [](const Halos& found) { return found.lengths.linking_length; })
        .def_prop_ro("volume", [](const Halos& found) { return found.lengths.volume; })
        .def_prop_ro("volume_kind", [](const Halos& found) { return name_of(found.lengths.volume_kind); })
        .def_prop_ro("least_radius", [](const Halos& found) { return found.options.least_radius; })
        .def_prop_ro("overdensities",
                     [](const Halos& found) {
                         nb::list names;
                         for (const Overdensity& each : found.options.overdensities) {
                             names.append(text_of(io::short_name(each)));
                         }
                         return names;
                     })
        .def_prop_ro("softening", [](const Halos& found) {
            const Softening softening = found.options.softening.value_or(Softening());
            return std::pair(std::string(kernels[static_cast<std::size_t>(softening.kernel)]), softening.length);
        });
    bound.def_ro("first_group", &Halos::first_group)
        .def_ro("first_member", &Halos::first_member)
        .def_prop_ro("place", [](const Halos& found) { // among the halos of all ranks
            return std::pair(found.distribution->first, found.distribution->total);
        });
    bound.def_prop_ro("members", [](nb::handle self) {
        return nb::cast<const Halos&>(self).member_array.visit(
            [&](const auto members) { return numpy_view(members, 0, self); });
    });
    bind_array(bound, "energies", &Halos::energies);
    bind_array(bound, "offset", &Halos::offset);
    bind_array(bound, "group_offset", &Halos::group_offset);
    bind_array(bound, "first_of_group", &Halos::first_of_group);
    for (const HaloColumn& column : halo_columns) {
        if (!column.field.empty()) {
            bound.def_prop_ro(column.field.data(), [&column](nb::handle self) {
                const auto& found = nb::cast<const Halos&>(self);
                // Without any overdensity there are no numbers, whatever the width.
                const std::int64_t spheres = std::max<std::int64_t>(std::ssize(found.options.overdensities), 1);
                return column_view(column, found, column.width(3, spheres), self);
            });
        }
    }
    module.attr("halo_columns") = table_of_columns<Halos>();

    module.def(
        "halos",
        [](const Call& call, const std::optional<OutputArray>& labels, const FofResult* groups_of_ranks,
           const std::optional<LengthArgument>& length, const std::optional<InputArray>& is_secondary,
           const std::optional<InputArray>& velocities, const std::optional<InputArray>& masses, double uniform_mass,
           const std::optional<InputArray>& types, const std::optional<InputArray>& internal_energies,
           const UniverseArgument& universe, const SofteningArgument& softening,
           const OverdensitiesArgument& overdensities, bool unbind, std::int64_t min_members, bool outermost,
           bool bound_only, std::optional<double> least_radius) {
            HaloOptions options = options_of(universe, softening, overdensities);
            options.unbind = unbind;
            options.min_members = min_members;
            options.outermost = outermost;
            options.bound_only = bound_only;
            options.least_radius = least_radius;
            return find(call, labels, groups_of_ranks, length, is_secondary, velocities, masses, uniform_mass, types,
                        internal_energies, std::move(options));
        },
        nb::arg("call"), nb::arg("labels").none().noconvert(), nb::arg("groups_of_ranks").none(),
        nb::arg("length").none(), nb::arg("is_secondary").none(), nb::arg("velocities").none(),
        nb::arg("masses").none(), nb::arg("uniform_mass"), nb::arg("types").none(), nb::arg("internal_energies").none(),
        nb::arg("universe"), nb::arg("softening").none(), nb::arg("overdensities"), nb::arg("unbind"),
        nb::arg("min_members"), nb::arg("outermost"), nb::arg("bound_only"), nb::arg("least_radius").none());
    module.def("universe_of", universe_of, nb::arg("frame").none(), nb::arg("parameters"));
    module.def("overdensity_named", overdensity_named, nb::arg("name"));
    module.def("softening_of", &io::softening_of, nb::arg("snapshot"));
    module.def(
        "matter_separation",
        [](const std::optional<nb::dict>& frame, std::map<std::string, double> parameters,
           const std::array<std::int64_t, max_types>& counts, const std::vector<int>& types, double mean_mass) {
            io::SnapshotHeader header = header_of(frame, std::move(parameters));
            header.counts = counts;
            const io::MatterSeparation found = io::matter_separation(header, types, mean_mass);
            return nb::make_tuple(found.length, text_of(found.not_known));
        },
        nb::arg("frame").none(), nb::arg("parameters"), nb::arg("counts"), nb::arg("types"), nb::arg("mean_mass"));
    module.def("gravity_in", &gravity_in, nb::arg("parsecs"), nb::arg("solar_masses"), nb::arg("km_per_second"));
}

} // namespace kith::python
