// From the parts of a snapshot to its columns. How files are joined to one snapshot is in particle_files.cpp.
#include "io/particle_source.hpp"

#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kith::io {

namespace {

std::int64_t rows_of(const std::vector<Part>& parts) {
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                           [](std::int64_t sum, const Part& part) { return sum + part.count; });
}

} // namespace

// File after file, so that each is opened once per column; rows are in order of type, then file.
std::vector<Part> ParticleSource::parts_of(const std::array<bool, max_types>& selected, const RowShare& share) const {
    const RowRange wanted = rows_of_share(share, selected_count(header_, selected));
    TypeCounts next{};
    std::int64_t first_of_type = 0;
    for (std::size_t type = 0; type < selected.size(); ++type) {
        next[type] = first_of_type;
        first_of_type += selected[type] ? header_.counts[type] : 0;
    }
    std::vector<Part> parts;
    for (std::size_t file = 0; file < counts_.size(); ++file) {
        for (std::size_t type = 0; type < selected.size(); ++type) {
            const std::int64_t rows = counts_[file][type];
            if (selected[type] && rows > 0) {
                const std::int64_t begin = std::clamp(wanted.begin - next[type], std::int64_t{0}, rows);
                const std::int64_t end = std::clamp(wanted.end - next[type], std::int64_t{0}, rows);
                parts.push_back({file, type, rows, begin, end - begin, next[type] + begin - wanted.begin});
                next[type] += rows;
            }
        }
    }
    return parts;
}

template <class Read>
void ParticleSource::for_each_read(const std::vector<Part>& parts, const Read& read) {
    for (const Part& part : parts) {
        if (part.count > 0) {
            visit(part.file);
            read(part);
        }
    }
}

std::vector<std::optional<DType>> ParticleSource::stored_of(Column column, const std::vector<Part>& parts) {
    std::vector<std::optional<DType>> found;
    found.reserve(parts.size());
    for (const Part& part : parts) {
        visit(part.file);
        found.push_back(stored(column, part));
    }
    return found;
}

// If some part lacks the column it is left out, and a warning names the first that does.
bool ParticleSource::complete(const std::vector<Part>& parts, std::string_view what, const std::vector<bool>& present) {
    const auto absent = std::find(present.begin(), present.end(), false);
    if (absent == present.end()) {
        return true;
    }
    const Part& part = parts[absent - present.begin()];
    warn(message(type_prefix(), part.type, files_.size() == 1 ? "" : " of " + files_[part.file].filename().string(),
                 " has no ", what, "; the result has none"));
    return false;
}

DType ParticleSource::widest(const std::vector<std::optional<DType>>& stored, std::string_view what) {
    const bool narrow = std::find(stored.begin(), stored.end(), DType::float32) != stored.end();
    const bool wide = std::find(stored.begin(), stored.end(), DType::float64) != stored.end();
    if (narrow && wide) {
        warn(message("the ", what, " of some types are float32 and of others float64; all are read as float64"));
    }
    return wide ? DType::float64 : DType::float32;
}

std::optional<RealArray> ParticleSource::collect(Column column, const std::vector<Part>& parts, int columns,
                                                 std::string_view what) {
    const std::vector<std::optional<DType>> found = stored_of(column, parts);
    std::vector<bool> present;
    std::transform(found.begin(), found.end(), std::back_inserter(present), [](const auto& s) { return bool(s); });
    if (!complete(parts, what, present)) {
        return std::nullopt;
    }
    const DType dtype = widest(found, what);
    RealArray array = allocate_reals(dtype, rows_of(parts), columns, what);
    std::visit(
        [&](auto& values) {
            for_each_read(
                parts, [&](const Part& part) { read(column, part, dtype, values.data() + part.first_row * columns); });
        },
        array.values);
    return array;
}

// Per-row masses where any part has its own or the table's entries differ; else one mass for all.
void ParticleSource::collect_masses(Snapshot& snapshot, const std::vector<Part>& parts) {
    const std::vector<std::optional<DType>> own = stored_of(Column::masses, parts);
    bool one_mass = true;
    TypeCounts told{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t type = parts[i].type;
        const double entry = mass_table_[type];
        if (own[i] && entry != 0 && told[type]++ == 0) {
            warn(message("the header's mass table has ", entry, " for type ", type,
                         ", which has masses of its own; these count"));
        }
        if (!own[i] && entry == 0) {
            warn(message("type ", type,
                         " has no masses, neither of its own nor in the header's table; masses are left "
                         "out"));
            return;
        }
        one_mass = one_mass && !own[i] && entry == mass_table_[parts.front().type];
    }
    if (one_mass) {
        snapshot.uniform_mass = mass_table_[parts.front().type];
        return;
    }
    const bool any_own = std::any_of(own.begin(), own.end(), [](const auto& dtype) { return bool(dtype); });
    const DType dtype = any_own ? widest(own, "masses") : DType::float64;
    snapshot.masses = allocate_reals(dtype, rows_of(parts), 1, "masses");
    std::visit(
        [&](auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                if (parts[i].count == 0) {
                    continue;
                }
                Value* const out = values.data() + parts[i].first_row;
                if (own[i]) {
                    visit(parts[i].file);
                    read(Column::masses, parts[i], dtype, out);
                } else {
                    std::fill_n(out, parts[i].count, static_cast<Value>(mass_table_[parts[i].type]));
                }
            }
        },
        snapshot.masses->values);
}

// Of gas alone; left out unless all of it has some.
void ParticleSource::collect_internal_energies(Snapshot& snapshot, const std::vector<Part>& parts) {
    std::vector<Part> gas;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(gas), [](const Part& part) { return part.type == 0; });
    const std::vector<std::optional<DType>> own = stored_of(Column::internal_energies, gas);
    if (gas.empty() || std::find(own.begin(), own.end(), std::nullopt) != own.end()) {
        return;
    }
    const DType dtype = widest(own, "internal energies");
    snapshot.internal_energies = allocate_reals(dtype, rows_of(parts), 1, "internal energies");
    std::visit(
        [&](auto& values) {
            for_each_read(gas, [&](const Part& part) {
                read(Column::internal_energies, part, dtype, values.data() + part.first_row);
            });
        },
        snapshot.internal_energies->values);
}

void ParticleSource::collect_ids(Snapshot& snapshot, const std::vector<Part>& parts) {
    std::vector<bool> present;
    std::transform(parts.begin(), parts.end(), std::back_inserter(present), [this](const Part& part) {
        visit(part.file);
        return has_ids(part);
    });
    if (!complete(parts, "ids", present)) {
        return;
    }
    snapshot.ids = allocate<std::uint64_t>(rows_of(parts), 1, "particle ids");
    for_each_read(parts, [&](const Part& part) { read_ids(part, snapshot.ids.data() + part.first_row); });
}

// The types that are or may be read have no faults. Without a choice these are type 1, or all if it has no particles.
void ParticleSource::require_types(const TypeSelection& selection) const {
    for (int type = 0; type < max_types; ++type) {
        const bool may_be_read =
            selection.kind == TypeSelection::Kind::all ||
            (selection.kind == TypeSelection::Kind::automatic && (type == 1 || header_.counts[1] == 0)) ||
            std::find(selection.types.begin(), selection.types.end(), type) != selection.types.end();
        if (may_be_read && !faults_[static_cast<std::size_t>(type)].empty()) {
            throw Error(ErrorKind::file, faults_[static_cast<std::size_t>(type)]);
        }
    }
}

Snapshot ParticleSource::read_snapshot(const ReadOptions& options) {
    if (!header_.incomplete.empty()) {
        throw Error(ErrorKind::file, header_.incomplete);
    }
    require_types(options.types);
    const SelectedTypes selected = select_types(options.types, header_, files_.front());
    const std::vector<Part> parts = parts_of(selected, options.share);
    Snapshot snapshot;
    snapshot.positions = collect(Column::positions, parts, header_.dimension, "coordinates").value();
    header_.dtype = snapshot.positions.dtype();
    if (options.velocities) {
        snapshot.velocities = collect(Column::velocities, parts, header_.dimension, "velocities");
    }
    if (options.masses) {
        collect_masses(snapshot, parts);
    }
    if (options.internal_energies) {
        collect_internal_energies(snapshot, parts);
    }
    if (options.ids) {
        collect_ids(snapshot, parts);
    }
    if (const std::string warning = options.share.count == 1 ? box_warning(header_, snapshot.positions) : "";
        !warning.empty()) {
        warn(warning);
    }
    snapshot.header = header_;
    fill_rows(snapshot, selected, options.share);
    return snapshot;
}

// A box of other units than the coordinates, or of another shape than the run's, would shuffle the particles when these
// are wrapped into it.
std::string box_warning(const SnapshotHeader& header, const RealArray& positions) {
    constexpr double ordinary = 1.1; // periods that particles extend over which left the box and were not wrapped
    const auto columns = static_cast<std::size_t>(positions.columns);
    for (std::size_t axis = 0; header.box_size && axis < std::min<std::size_t>(columns, 3); ++axis) {
        const double side = (*header.box_size)[axis];
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        std::visit(
            [&](const auto& values) {
                for (std::size_t i = axis; side > 0 && i < values.size(); i += columns) {
                    low = std::min(low, static_cast<double>(values[i]));
                    high = std::max(high, static_cast<double>(values[i]));
                }
            },
            positions.values);
        if (high - low > ordinary * side || high > 2 * side || low < -2 * side) {
            return message("coordinates on axis ", axis, " are from ", low, " to ", high, ", but the file's box is ",
                           side,
                           " there: those outside are wrapped into it. The two may be in different units, or the box "
                           "is not that of the run: give the box yourself");
        }
    }
    return "";
}

} // namespace kith::io
