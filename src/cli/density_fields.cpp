#include "cli/density_fields.hpp"

#include "cli/options.hpp"
#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <variant>

namespace kith::cli {

namespace {

struct Statistic {
    std::string_view name;
    bool FieldStatistics::*is_found;
};
constexpr std::array statistics{
    Statistic{"sum", &FieldStatistics::sum},           Statistic{"mean", &FieldStatistics::mean},
    Statistic{"variance", &FieldStatistics::variance}, Statistic{"least", &FieldStatistics::least},
    Statistic{"greatest", &FieldStatistics::greatest}, Statistic{"gradient", &FieldStatistics::gradient},
};

std::vector<FieldColumn> parse_columns(const std::string& text) {
    std::vector<FieldColumn> columns;
    for (const std::string_view name : split_at(text, ',')) {
        const auto column = static_cast<FieldColumn>(parse_name("--fields", name, field_column_names));
        if (std::ranges::find(columns, column) == columns.end()) {
            columns.push_back(column);
        }
    }
    return columns;
}

FieldStatistics parse_statistics(const std::string& text) {
    std::array<std::string_view, statistics.size()> names;
    std::ranges::transform(statistics, names.begin(), &Statistic::name);
    FieldStatistics found{.mean = false};
    for (const std::string_view name : split_at(text, ',')) {
        found.*statistics[parse_name("--statistics", name, names)].is_found = true;
    }
    return found;
}

/// One axis of an array.
ScalarsView axis_of(const io::RealArray& array, int axis) {
    return std::visit(
        [&]<class T>(const std::vector<T>& values) {
            return ScalarsView(values.data() + (values.empty() ? 0 : axis), array.rows(),
                               array.columns * static_cast<std::int64_t>(sizeof(T)));
        },
        array.values);
}

} // namespace

bool FieldChoice::has(FieldColumn column) const {
    return std::ranges::find(columns, column) != columns.end();
}

void add_field_options(const Parser& command, FieldChoice& choice) {
    command.text("--fields", fmt::format("{}", fmt::join(field_column_names, ",")),
                 "Columns of the file to sum, too: velocities (each axis), masses, internal energies",
                 [&choice](const std::string& text) { choice.columns = parse_columns(text); });
    command.text("--statistics", "sum,mean,variance,least,greatest,gradient",
                 "What is found of every field; mean by default, weighted by mass and kernel",
                 [&choice](const std::string& text) { choice.statistics = parse_statistics(text); });
    command.flag("--density-gradient", "Find the gradient of the density at fixed reach, too", choice.density_gradient);
}

void check(const FieldChoice& choice, bool separate_queries) {
    if (choice.statistics && choice.columns.empty()) {
        throw UsageError("--statistics are given without --fields; name fields, or leave --statistics out");
    }
    if (choice.found().gradient && separate_queries) {
        throw UsageError(
            "--statistics gradient is given with --queries, at which the fields are not known; leave one of "
            "them out");
    }
}

std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot) {
    if (snapshot.masses) {
        return axis_of(*snapshot.masses, 0);
    }
    if (snapshot.uniform_mass) {
        return ScalarsView(&*snapshot.uniform_mass, snapshot.positions.rows(), 0);
    }
    return std::nullopt;
}

Fields fields_of(const FieldChoice& choice, const io::Snapshot& snapshot, const std::string& path) {
    Fields fields;
    const auto add = [&](std::string name, const ScalarsView& column) {
        fields.names.push_back(std::move(name));
        fields.columns.push_back(column);
    };
    for (const FieldColumn column : choice.columns) {
        bool is_there = false;
        switch (column) {
        case FieldColumn::velocity:
            is_there = snapshot.velocities.has_value();
            for (int axis = 0; is_there && axis < snapshot.velocities->columns; ++axis) {
                const std::string name = axis < 3 ? std::string(1, "xyz"[axis]) : fmt::format("{}", axis);
                add("velocity_" + name, axis_of(*snapshot.velocities, axis));
            }
            break;
        case FieldColumn::mass:
            if (const std::optional<ScalarsView> masses = masses_of(snapshot)) {
                is_there = true;
                add("mass", *masses);
            }
            break;
        case FieldColumn::internal_energy:
            is_there = snapshot.internal_energies.has_value();
            if (is_there) {
                add("internal_energy", axis_of(*snapshot.internal_energies, 0));
            }
            break;
        }
        if (!is_there) {
            const bool is_energy = column == FieldColumn::internal_energy;
            const std::string_view name = field_column_names[static_cast<std::size_t>(column)];
            const bool is_gas = std::ranges::find(snapshot.types, 0) != snapshot.types.end();
            throw UsageError(fmt::format("--fields {}: '{}' has none for the points read; {}leave it out{}", name, path,
                                         is_energy ? "internal energies are read from HDF5 only, of gas; " : "",
                                         is_energy && !is_gas ? ", or read gas of HDF5: --types 0" : ""));
        }
    }
    return fields;
}

} // namespace kith::cli
