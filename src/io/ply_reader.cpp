// Points from PLY: the properties x, y and z (or x and y) of the element vertex, in text or binary of either byte
// order.
//
// Coordinates that are all float are read as float32, others as float64. Elements before the vertices are stepped over,
// and so are lists among the vertices' properties; what follows the vertices is not looked at. Binary records without
// lists have one length and are read in blocks; where there are lists, value by value (ply_records.hpp).
#include "io/array_shape.hpp"
#include "io/byte_order.hpp"
#include "io/coordinate_names.hpp"
#include "io/memory.hpp"
#include "io/ply_header.hpp"
#include "io/ply_records.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"
#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

#include <algorithm>
#include <cmath>

namespace kith::io {

using std::string_view;

namespace {

class PlyFile {
public:
    explicit PlyFile(const std::filesystem::path& path);

    [[nodiscard]] SnapshotHeader& header() noexcept { return header_; }
    [[nodiscard]] Snapshot read(const ReadOptions& options, const SelectedTypes& selected);

private:
    [[nodiscard]] const PlyElement& vertex() const noexcept { return ply_.elements[vertex_]; }
    void choose_coordinates();
    void check_binary_length();
    void check_text_length() const;
    template <class T>
    void read_blocks(std::vector<T>& values) const;
    template <class T>
    void read_records(std::vector<T>& values) const;
    template <class T>
    void read_text(std::vector<T>& values) const;

    InputFile file_;
    PlyHeader ply_;
    std::size_t vertex_ = 0;           ///< which element
    std::vector<std::size_t> axis_of_; ///< of each property of a vertex; no_axis: no coordinate
    std::vector<PlyProperty> coordinates_;
    std::int64_t offset_ = 0;     ///< of the first vertex, or of the first element before it that has lists
    std::size_t walked_from_ = 0; ///< which element that is; vertex_ if none has
    SnapshotHeader header_;
};

constexpr std::size_t no_axis = ~std::size_t{0};

PlyFile::PlyFile(const std::filesystem::path& path) : file_(path), ply_(read_ply_header(file_)) {
    const auto is_vertex = [](const PlyElement& element) { return element.name == "vertex"; };
    const auto found = std::find_if(ply_.elements.begin(), ply_.elements.end(), is_vertex);
    if (found == ply_.elements.end()) {
        refuse(file_, "its PLY header has no element vertex, so it holds no points");
    }
    if (std::any_of(found + 1, ply_.elements.end(), is_vertex)) {
        refuse(file_, "its PLY header has several elements vertex; a file holds one set of points: split it");
    }
    vertex_ = static_cast<std::size_t>(found - ply_.elements.begin());
    choose_coordinates();
    header_.format = !ply_.order                       ? "PLY (ascii)"
                     : *ply_.order == std::endian::big ? "PLY (binary, big-endian)"
                                                       : "PLY (binary, little-endian)";
    header_.has_types = false;
    header_.counts[1] = found->count;
    header_.dimension = static_cast<int>(coordinates_.size());
    header_.dtype = std::all_of(coordinates_.begin(), coordinates_.end(), [](const auto& c) { return c.is_float32(); })
                        ? DType::float32
                        : DType::float64;
    if (ply_.order) {
        check_binary_length();
    } else {
        check_text_length();
    }
}

void PlyFile::choose_coordinates() {
    const std::vector<PlyProperty>& properties = vertex().properties;
    std::vector<std::string> names;
    for (const PlyProperty& property : properties) {
        names.push_back(property.list ? "" : property.name);
    }
    if (const std::string repeated = repeated_coordinate(names); !repeated.empty()) {
        refuse(file_, "its vertices have the properties ", repeated,
               ", of which only one can be a coordinate; remove or rename the other");
    }
    axis_of_.assign(properties.size(), no_axis);
    for (const std::size_t property : coordinate_fields(names)) {
        axis_of_[property] = coordinates_.size();
        coordinates_.push_back(properties[property]);
    }
    if (coordinates_.empty()) {
        const bool has_x = std::find(names.begin(), names.end(), "x") != names.end();
        refuse(file_, "its vertices have no property ", has_x ? "y" : "x", " of one number each");
    }
}

// Of elements with lists, the least that they can take.
void PlyFile::check_binary_length() {
    std::int64_t next = ply_.data_offset;
    walked_from_ = vertex_;
    bool is_exact = true;
    for (std::size_t i = 0; i <= vertex_; ++i) {
        const PlyElement& element = ply_.elements[i];
        const std::int64_t bytes = element.record_bytes();
        if (bytes > 0 && element.count > (file_.length() - next) / bytes) {
            refuse(file_, "too short: ", element.count, " records of element ", element.name, ", of ", bytes,
                   element.has_lists() ? " bytes or more" : " bytes", " each, begin at byte ", next,
                   is_exact ? "" : " or later", ", but the file ends at byte ", file_.length());
        }
        if (is_exact && (element.has_lists() || i == vertex_)) {
            walked_from_ = i;
            offset_ = next;
        }
        is_exact = is_exact && !element.has_lists();
        next += element.count * bytes;
    }
    if (is_exact && vertex_ + 1 == ply_.elements.size() && next < file_.length()) {
        header_.warnings.push_back(message("the file is ", file_.length() - next,
                                           " bytes longer than its vertices, which end at byte ", next,
                                           "; the rest is ignored"));
    }
}

// A number takes two bytes with what parts it from the next.
void PlyFile::check_text_length() const {
    const auto bytes_each = static_cast<std::int64_t>(2 * vertex().properties.size());
    if (vertex().count > (file_.length() - ply_.data_offset + 1) / bytes_each) {
        refuse(file_, "too short: ", vertex().count, " vertices take at least ", bytes_each,
               " bytes each and begin at byte ", ply_.data_offset, " or later, but the file ends at byte ",
               file_.length());
    }
}

template <class Stored, class T>
void pick(const std::byte* records, std::int64_t record_bytes, std::int64_t count, std::endian order, T* out,
          std::size_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[static_cast<std::size_t>(i) * stride] = static_cast<T>(load<Stored>(records + i * record_bytes, order));
    }
}

template <class T>
void PlyFile::read_blocks(std::vector<T>& values) const {
    constexpr std::int64_t block_bytes = 1 << 20;
    const std::int64_t record_bytes = vertex().record_bytes();
    const std::int64_t rows = header_.counts[1];
    const std::int64_t block_rows = std::max<std::int64_t>(1, block_bytes / record_bytes);
    std::vector<std::byte> block(std::min(block_rows, rows) * record_bytes);
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t count = std::min(block_rows, rows - first);
        file_.read(offset_ + first * record_bytes, std::span(block).first(count * record_bytes));
        T* out = values.data() + static_cast<std::size_t>(first) * coordinates_.size();
        for (const PlyProperty& coordinate : coordinates_) {
            with_stored_type(coordinate.kind, coordinate.bytes, [&](auto stored) {
                pick<decltype(stored)>(block.data() + coordinate.at, record_bytes, count, *ply_.order, out,
                                       coordinates_.size());
            });
            ++out;
        }
    }
}

template <class T>
void PlyFile::read_records(std::vector<T>& values) const {
    PlyRecords records(file_, offset_, *ply_.order);
    for (std::size_t before = walked_from_; before < vertex_; ++before) {
        const PlyElement& element = ply_.elements[before];
        const std::int64_t count = element.properties.empty() ? 0 : element.count;
        for (std::int64_t record = 0; record < count; ++record) {
            records.next(element, [](std::size_t, const std::byte*) {});
        }
    }
    T* out = values.data();
    for (std::int64_t record = 0; record < vertex().count; ++record) {
        records.next(vertex(), [&](std::size_t property, const std::byte* stored) {
            if (axis_of_[property] != no_axis) {
                const PlyProperty& coordinate = vertex().properties[property];
                with_stored_type(coordinate.kind, coordinate.bytes, [&](auto type) {
                    out[axis_of_[property]] = static_cast<T>(load<decltype(type)>(stored, *ply_.order));
                });
            }
        });
        out += coordinates_.size();
    }
}

template <class T>
void PlyFile::read_text(std::vector<T>& values) const {
    TextLines lines(file_, ply_.data_offset, ply_.data_line);
    const auto next_line = [&](const PlyElement& element, std::int64_t record) {
        std::optional<string_view> line = lines.next();
        while (line && trimmed(*line).empty()) {
            line = lines.next();
        }
        if (!line) {
            refuse(file_, "too short: it ends after line ", lines.number(), ", at byte ", file_.length(), ", where ",
                   element.name, " ", record, " of ", element.count, " was expected");
        }
        return *line;
    };
    for (std::size_t before = 0; before < vertex_; ++before) {
        for (std::int64_t record = 0; record < ply_.elements[before].count; ++record) {
            static_cast<void>(next_line(ply_.elements[before], record));
        }
    }
    T* out = values.data();
    for (std::int64_t record = 0; record < vertex().count; ++record) {
        const string_view line = next_line(vertex(), record);
        std::size_t property = 0;
        std::int64_t left_of_list = 0; // values that belong to the last property
        for_each_field(line, Separator::blanks, [&](int, string_view field) {
            if (left_of_list > 0) {
                --left_of_list;
                return;
            }
            const PlyProperty* const known = property < axis_of_.size() ? &vertex().properties[property] : nullptr;
            if (known != nullptr && known->list && (!parse_number(field, left_of_list) || left_of_list < 0)) {
                refuse(file_, "line ", lines.number(), ": the list ", known->name, " has '", field.substr(0, 40),
                       "' values, which is no whole number of 0 or more");
            }
            if (known != nullptr && axis_of_[property] != no_axis && !parse_number(field, out[axis_of_[property]])) {
                refuse(file_, "line ", lines.number(), ": ", known->name, " is '", field.substr(0, 40),
                       "', which is no number of its type");
            }
            ++property;
        });
        if (property != axis_of_.size() || left_of_list > 0) {
            refuse(file_, "line ", lines.number(), " has ", property, " values, but a vertex has ", axis_of_.size(),
                   left_of_list > 0 ? message(", and ", left_of_list, " of a list are missing") : "");
        }
        out += coordinates_.size();
    }
}

Snapshot PlyFile::read(const ReadOptions&, const SelectedTypes&) {
    Snapshot snapshot;
    snapshot.positions = allocate_reals(header_.dtype, header_.counts[1], header_.dimension, "positions");
    std::visit(
        [this](auto& values) {
            if (!ply_.order) {
                read_text(values);
            } else if (walked_from_ == vertex_ && !vertex().has_lists()) {
                read_blocks(values);
            } else {
                read_records(values);
            }
        },
        snapshot.positions.values);
    const auto may_round = [](const PlyProperty& c) { return c.kind != 'f' && c.bytes == sizeof(double); };
    const auto* values = std::get_if<std::vector<double>>(&snapshot.positions.values);
    if (values != nullptr && std::any_of(coordinates_.begin(), coordinates_.end(), may_round) &&
        std::any_of(values->begin(), values->end(), [](double value) { return std::abs(value) >= 0x1p53; })) {
        header_.warnings.emplace_back(rounded_whole_numbers);
    }
    return snapshot;
}

bool recognize_ply(const FileStart& start) {
    return begins_as_ply(start.text());
}

} // namespace

const Reader ply_reader = {"PLY vertices", recognize_ply, header_of_whole<PlyFile>, snapshot_of_whole<PlyFile>};

} // namespace kith::io
