// Tipsy snapshots (std, big-endian; tipsy_layout.hpp), and what Tipsy tools expect of a group finder, besides labels
// (label_writer.cpp): .gtp, a snapshot with one star per group. In a .gtp star the softening holds the group's largest
// radius; metals and potential are 0 and the formation time is the snapshot's time, as N-body groups have none of their
// own.
#include "io/byte_order.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"
#include "io/tipsy_layout.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

namespace kith::io {

namespace {

constexpr std::endian big = std::endian::big;

/// Counts of gas, dark matter and stars.
void write_header(OutputFile& file, double time, const std::array<std::int64_t, 3>& counts) {
    std::array<std::byte, tipsy_header_bytes> header{};
    const std::int64_t bodies = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    store(header.data(), time, big);
    const std::array<std::int64_t, 5> words = {bodies, 3, counts[0], counts[1], counts[2]}; // nbodies, ndim, ...
    for (std::size_t i = 0; i < words.size(); ++i) {
        store(&header[8 + 4 * i], static_cast<std::int32_t>(words[i]), big);
    }
    file.write(header);
}

/// Stores the components of a row behind each other, float64 if `wide`; zeros where there are no rows. Returns the end.
std::byte* store_row(const RealArray* rows, std::size_t row, std::size_t columns, bool wide, std::byte* to) {
    for (std::size_t axis = 0; axis < columns; ++axis) {
        const double value =
            rows == nullptr
                ? 0
                : std::visit([&](const auto& values) { return double{values[row * columns + axis]}; }, rows->values);
        if (!wide && std::abs(value) > std::numeric_limits<float>::max()) {
            throw error(ErrorKind::invalid_argument, "the mass of row ", row, " is ", value,
                        ", beyond float32, in which a Tipsy file holds masses; use another unit");
        }
        wide ? store(to, value, big) : store(to, static_cast<float>(value), big);
        to += wide ? 8 : 4;
    }
    return to;
}

/// The kind of a row; 3 if Tipsy has no such type.
int kind_of(const Snapshot& snapshot, std::size_t row) {
    const std::size_t type = snapshot.types.empty() ? 1 : snapshot.types[row];
    return static_cast<int>(std::ranges::find(TipsyLayout::type_of_kind, type) - TipsyLayout::type_of_kind.begin());
}

TipsyLayout layout_of(const Snapshot& snapshot) {
    if (snapshot.positions.columns != 3) {
        throw error(ErrorKind::invalid_argument, "a Tipsy file holds points in 3 dimensions; the snapshot has ",
                    snapshot.positions.columns);
    }
    const std::int64_t rows = snapshot.positions.rows();
    const auto require_fit = [&](const char* name, const RealArray& column, std::int64_t columns) {
        if (column.columns != columns || column.rows() != rows) {
            throw error(ErrorKind::invalid_argument, "the ", name, " are ", column.rows(), " rows of ", column.columns,
                        "; there must be ", rows, " of ", columns, ", as of the positions");
        }
    };
    if (snapshot.velocities) {
        require_fit("velocities", *snapshot.velocities, 3);
    }
    if (snapshot.masses) {
        require_fit("masses", *snapshot.masses, 1);
    }
    if (!snapshot.types.empty() && std::ssize(snapshot.types) != rows) {
        throw error(ErrorKind::invalid_argument, "there are ", snapshot.types.size(), " types for ", rows,
                    " positions");
    }
    TipsyLayout layout;
    for (std::size_t row = 0; row < static_cast<std::size_t>(snapshot.positions.rows()); ++row) {
        const int kind = kind_of(snapshot, row);
        if (kind == 3) {
            throw error(ErrorKind::invalid_argument, "row ", row, " is of type ", int{snapshot.types[row]},
                        "; a Tipsy file holds gas (0), dark matter (1) and stars (4) only");
        }
        ++layout.counts[kind];
    }
    if (snapshot.positions.rows() > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, snapshot.positions.rows(),
                    " particles are more than a Tipsy header can count (2147483647)");
    }
    layout.wide_velocities = snapshot.velocities && snapshot.velocities->dtype() == DType::float64;
    layout.wide_positions = layout.wide_velocities || snapshot.positions.dtype() == DType::float64;
    return layout;
}

} // namespace

void write_tipsy(const std::filesystem::path& path, const Snapshot& snapshot) {
    const TipsyLayout layout = layout_of(snapshot);
    const RealArray uniform{std::vector<double>{snapshot.uniform_mass.value_or(0)}};
    const RealArray* velocities = snapshot.velocities ? &*snapshot.velocities : nullptr;
    OutputFile file(path);
    write_header(file, snapshot.header.time.value_or(0), layout.counts);
    std::vector<std::byte> block;
    constexpr std::size_t block_bytes = 1 << 20;
    for (int kind = 0; kind < 3; ++kind) {
        const auto record_bytes = static_cast<std::size_t>(layout.record_bytes(kind));
        for (std::size_t row = 0; row < static_cast<std::size_t>(snapshot.positions.rows()); ++row) {
            if (kind_of(snapshot, row) != kind) {
                continue;
            }
            block.resize(block.size() + record_bytes); // what no column fills is 0
            std::byte* at = &block[block.size() - record_bytes];
            at = snapshot.masses ? store_row(&*snapshot.masses, row, 1, false, at)
                                 : store_row(&uniform, 0, 1, false, at);
            at = store_row(&snapshot.positions, row, 3, layout.wide_positions, at);
            store_row(velocities, row, 3, layout.wide_velocities, at);
            if (block.size() >= block_bytes) {
                file.write(block);
                block.clear();
            }
        }
    }
    file.write(block);
    file.commit();
}

void write_gtp(const std::filesystem::path& path, const Catalog& catalog, double time) {
    if (catalog.dimension != 3 && catalog.groups > 0) {
        throw error(ErrorKind::invalid_argument, "a Tipsy file holds points in 3 dimensions; the groups have ",
                    catalog.dimension);
    }
    if (catalog.groups > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, catalog.groups,
                    " groups are more than a Tipsy header can count (2147483647)");
    }
    OutputFile file(path);
    write_header(file, time, {0, 0, catalog.groups});
    for (std::size_t g = 0; g < static_cast<std::size_t>(catalog.groups); ++g) {
        const auto velocity = [&](std::size_t axis) {
            return catalog.velocity.empty() ? 0.0 : catalog.velocity[3 * g + axis];
        };
        const std::array<double, 11> values = {catalog.mass[g],
                                               catalog.center[3 * g],
                                               catalog.center[3 * g + 1],
                                               catalog.center[3 * g + 2],
                                               velocity(0),
                                               velocity(1),
                                               velocity(2),
                                               0.0,
                                               time,
                                               catalog.max_radius[g],
                                               0.0};
        std::array<std::byte, 44> star{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            store(&star[4 * i], static_cast<float>(values[i]), big);
        }
        file.write(star);
    }
    file.commit();
}

} // namespace kith::io
