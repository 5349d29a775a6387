// Tipsy binary: gas, dark and star particles are types 0, 1 and 4. The layout is decided in tipsy_layout.cpp; here the
// records of the selected kinds are read in blocks and their columns picked out. The file holds no box and no ids.
#include "io/byte_order.hpp"
#include "io/input_file.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/selection.hpp"
#include "io/tipsy_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::io {

namespace {

TipsyLayout layout_of(const InputFile& file) {
    return decide_tipsy_layout(file.start(tipsy_header_bytes), file.length(), file.path().string());
}

SnapshotHeader as_header(const TipsyLayout& layout) {
    SnapshotHeader header;
    header.format = layout.order == std::endian::big ? "Tipsy (std, big-endian)" : "Tipsy (native, little-endian)";
    for (std::size_t kind = 0; kind < layout.counts.size(); ++kind) {
        header.counts[TipsyLayout::type_of_kind[kind]] = layout.counts[kind];
    }
    header.dtype = layout.wide_positions ? DType::float64 : DType::float32;
    if (std::isfinite(layout.time)) {
        header.time = layout.time;
    }
    header.warnings = layout.warnings;
    return header;
}

// Where a column lies within a record, and where its rows go.
struct Column {
    std::int64_t at = 0;
    RealArray* out = nullptr; ///< null: the column is skipped
};

template <class T>
void pick(const std::byte* records, std::int64_t record_bytes, std::int64_t count, std::int64_t at, std::endian order,
          T* out, int columns) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::byte* values = records + i * record_bytes + at;
        for (int axis = 0; axis < columns; ++axis) {
            *out++ = load<T>(values + axis * static_cast<std::int64_t>(sizeof(T)), order);
        }
    }
}

void read_kind(const InputFile& file, const TipsyLayout& layout, int kind, const RowRange& rows, std::int64_t first_row,
               std::span<const Column> columns) {
    constexpr std::int64_t block_records = 1 << 14;
    const std::int64_t count = rows.count();
    const std::int64_t record_bytes = layout.record_bytes(kind);
    std::vector<std::byte> block(std::min(block_records, count) * record_bytes);
    for (std::int64_t first = 0; first < count; first += block_records) {
        const std::int64_t records = std::min(block_records, count - first);
        file.read(layout.offset(kind) + (rows.begin + first) * record_bytes,
                  std::span(block).first(records * record_bytes));
        for (const Column& column : columns) {
            if (column.out != nullptr) {
                std::visit(
                    [&](auto& values) {
                        pick(block.data(), record_bytes, records, column.at, layout.order,
                             values.data() + (first_row + first) * column.out->columns, column.out->columns);
                    },
                    column.out->values);
            }
        }
    }
}

bool recognize_tipsy(const FileStart& start) {
    return is_tipsy(start.bytes.first(std::min<std::size_t>(start.bytes.size(), tipsy_header_bytes)),
                    start.file_length);
}

SnapshotHeader tipsy_header(const std::filesystem::path& path) {
    return as_header(layout_of(InputFile(path)));
}

Snapshot tipsy_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    const InputFile file(path);
    const TipsyLayout layout = layout_of(file);
    Snapshot snapshot;
    snapshot.header = as_header(layout);
    const SelectedTypes selected = select_types(options.types, snapshot.header, path);
    const RowRange wanted = rows_of_share(options.share, selected_count(snapshot.header, selected));
    const std::int64_t rows = wanted.count();

    const DType velocity_type = layout.wide_velocities ? DType::float64 : DType::float32;
    snapshot.positions = allocate_reals(snapshot.header.dtype, rows, 3, "positions");
    std::array<Column, 3> columns;
    columns[0] = {4, &snapshot.positions};
    columns[1].at = 4 + 3 * (layout.wide_positions ? 8 : 4);
    if (options.velocities) {
        columns[1].out = &snapshot.velocities.emplace(allocate_reals(velocity_type, rows, 3, "velocities"));
    }
    if (options.masses) {
        columns[2].out = &snapshot.masses.emplace(allocate_reals(DType::float32, rows, 1, "masses"));
    }
    std::int64_t first_row = -wanted.begin; // of a kind, in the snapshot
    for (int kind = 0; kind < 3; ++kind) {
        const std::size_t type = TipsyLayout::type_of_kind[kind];
        if (selected[type]) {
            const std::int64_t count = snapshot.header.counts[type];
            const RowRange of_kind{std::clamp<std::int64_t>(-first_row, 0, count),
                                   std::clamp<std::int64_t>(rows - first_row, 0, count)};
            if (of_kind.count() > 0) {
                read_kind(file, layout, kind, of_kind, first_row + of_kind.begin, columns);
            }
            first_row += count;
        }
    }
    fill_rows(snapshot, selected, options.share);
    return snapshot;
}

} // namespace

const Reader tipsy_reader = {"Tipsy binary (std and native)", recognize_tipsy, tipsy_header, tipsy_snapshot, true};

} // namespace kith::io
