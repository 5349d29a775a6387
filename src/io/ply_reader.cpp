// Points from PLY: the properties x, y and z (or x and y) of the element vertex, in text or binary of either byte
// order.
//
// Coordinates that are all float are read as float32, others as float64. Elements before the vertices are stepped over,
// which in binary files needs records of one length; what follows the vertices is not looked at.
#include "io/byte_order.hpp"
#include "io/memory.hpp"
#include "io/ply_header.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"
#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

#include <algorithm>

namespace kith::io {

using std::string_view;

namespace {

class PlyFile {
public:
    explicit PlyFile(const std::filesystem::path& path);

    [[nodiscard]] SnapshotHeader& header() noexcept { return header_; }
    [[nodiscard]] Snapshot read(const ReadOptions& options, const SelectedTypes& selected) const;

private:
    void choose_coordinates();
    void check_binary_length();
    void check_text_length() const;
    template <class T>
    void read_binary(std::vector<T>& values) const;
    template <class T>
    void read_text(std::vector<T>& values) const;

    InputFile file_;
    PlyHeader ply_;
    std::size_t vertex_ = 0; ///< which element
    std::vector<PlyProperty> coordinates_;
    std::int64_t offset_ = 0; ///< of the first vertex in a binary file
    SnapshotHeader header_;
};

PlyFile::PlyFile(const std::filesystem::path& path) : file_(path), ply_(read_ply_header(file_)) {
    const auto found = std::find_if(ply_.elements.begin(), ply_.elements.end(),
                                    [](const PlyElement& element) { return element.name == "vertex"; });
    if (found == ply_.elements.end()) {
        refuse(file_, "its PLY header has no element vertex, so it holds no points");
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
    const PlyElement& vertex = ply_.elements[vertex_];
    if (vertex.has_lists()) {
        refuse(file_, "its vertices have lists among their properties, which are not read");
    }
    for (const char* name : {"x", "y", "z"}) {
        if (const PlyProperty* property = vertex.find(name)) {
            coordinates_.push_back(*property);
        } else if (*name != 'z') {
            refuse(file_, "its vertices have no property ", name);
        }
    }
}

void PlyFile::check_binary_length() {
    std::int64_t next = ply_.data_offset;
    for (std::size_t i = 0; i <= vertex_; ++i) {
        const PlyElement& element = ply_.elements[i];
        const std::int64_t bytes = element.record_bytes();
        if (element.has_lists()) {
            refuse(file_, "the element ", element.name,
                   ", which has lists, comes before the vertices; such binary files are not read");
        }
        if (bytes > 0 && element.count > (file_.length() - next) / bytes) {
            refuse(file_, "too short: ", element.count, " records of element ", element.name, ", of ", bytes,
                   " bytes each, begin at byte ", next, ", but the file ends at byte ", file_.length());
        }
        offset_ = next;
        next += bytes == 0 ? 0 : element.count * bytes;
    }
    const PlyElement& vertex = ply_.elements[vertex_];
    const std::int64_t end = offset_ + vertex.count * vertex.record_bytes();
    if (vertex_ + 1 == ply_.elements.size() && end < file_.length()) {
        header_.warnings.push_back(message("the file is ", file_.length() - end,
                                           " bytes longer than its vertices, which end at byte ", end,
                                           "; the rest is ignored"));
    }
}

// A number takes two bytes with what parts it from the next.
void PlyFile::check_text_length() const {
    const PlyElement& vertex = ply_.elements[vertex_];
    const auto bytes_each = static_cast<std::int64_t>(2 * vertex.properties.size());
    if (vertex.count > (file_.length() - ply_.data_offset + 1) / bytes_each) {
        refuse(file_, "too short: ", vertex.count, " vertices take at least ", bytes_each,
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

// Calls use with a value of the type in which the property is stored.
template <class Use>
void with_stored_type(const PlyProperty& property, const Use& use) {
    if (property.kind == 'f') {
        property.bytes == 4 ? use(float{}) : use(double{});
    } else if (property.kind == 'i') {
        property.bytes == 1 ? use(std::int8_t{}) : property.bytes == 2 ? use(std::int16_t{}) : use(std::int32_t{});
    } else {
        property.bytes == 1 ? use(std::uint8_t{}) : property.bytes == 2 ? use(std::uint16_t{}) : use(std::uint32_t{});
    }
}

template <class T>
void PlyFile::read_binary(std::vector<T>& values) const {
    constexpr std::int64_t block_bytes = 1 << 20;
    const std::int64_t record_bytes = ply_.elements[vertex_].record_bytes();
    const std::int64_t rows = header_.counts[1];
    const std::int64_t block_rows = std::max<std::int64_t>(1, block_bytes / record_bytes);
    std::vector<std::byte> block(std::min(block_rows, rows) * record_bytes);
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t count = std::min(block_rows, rows - first);
        file_.read(offset_ + first * record_bytes, std::span(block).first(count * record_bytes));
        T* out = values.data() + static_cast<std::size_t>(first) * coordinates_.size();
        for (const PlyProperty& coordinate : coordinates_) {
            with_stored_type(coordinate, [&](auto stored) {
                pick<decltype(stored)>(block.data() + coordinate.at, record_bytes, count, *ply_.order, out,
                                       coordinates_.size());
            });
            ++out;
        }
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
    const PlyElement& vertex = ply_.elements[vertex_];
    std::vector<int> axis_of(vertex.properties.size(), -1);
    for (std::size_t axis = 0; axis < coordinates_.size(); ++axis) {
        const auto property = static_cast<std::size_t>(vertex.find(coordinates_[axis].name) - vertex.properties.data());
        axis_of[property] = static_cast<int>(axis);
    }
    T* out = values.data();
    for (std::int64_t record = 0; record < vertex.count; ++record) {
        const string_view line = next_line(vertex, record);
        const int fields = for_each_field(line, Separator::blanks, [&](int i, string_view field) {
            const auto property = static_cast<std::size_t>(i);
            if (property < axis_of.size() && axis_of[property] >= 0 && !parse_number(field, out[axis_of[property]])) {
                refuse(file_, "line ", lines.number(), ": ", vertex.properties[property].name, " is '",
                       field.substr(0, 40), "', which is no number of its type");
            }
        });
        if (fields != static_cast<int>(axis_of.size())) {
            refuse(file_, "line ", lines.number(), " has ", fields, " values, but a vertex has ", axis_of.size());
        }
        out += coordinates_.size();
    }
}

Snapshot PlyFile::read(const ReadOptions&, const SelectedTypes&) const {
    Snapshot snapshot;
    snapshot.positions = allocate_reals(header_.dtype, header_.counts[1], header_.dimension, "positions");
    std::visit(
        [this](auto& values) {
            if (ply_.order) {
                read_binary(values);
            } else {
                read_text(values);
            }
        },
        snapshot.positions.values);
    return snapshot;
}

bool recognize_ply(const FileStart& start) {
    return start.text().starts_with("ply\n") || start.text().starts_with("ply\r");
}

} // namespace

const Reader ply_reader = {"PLY vertices", recognize_ply, header_of_whole<PlyFile>, snapshot_of_whole<PlyFile>};

} // namespace kith::io
