// Reading the lines of a PLY header (ply_header.hpp).
#include "io/ply_header.hpp"

#include "io/refuse.hpp"
#include "io/text_fields.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kith::io {

using std::string_view;

namespace {

struct TypeName {
    string_view name;
    char kind;
    std::int64_t bytes;
};

constexpr std::array<TypeName, 22> type_names = {
    {{"char", 'i', 1},   {"int8", 'i', 1},   {"uchar", 'u', 1},  {"uint8", 'u', 1},   {"short", 'i', 2},
     {"int16", 'i', 2},  {"ushort", 'u', 2}, {"uint16", 'u', 2}, {"int", 'i', 4},     {"int32", 'i', 4},
     {"uint", 'u', 4},   {"uint32", 'u', 4}, {"bool", 'u', 1},   {"boolean", 'u', 1}, {"long", 'i', 8},
     {"int64", 'i', 8},  {"ulong", 'u', 8},  {"uint64", 'u', 8}, {"float", 'f', 4},   {"float32", 'f', 4},
     {"double", 'f', 8}, {"float64", 'f', 8}}};

constexpr std::int64_t max_header_bytes = 1 << 16;
constexpr string_view byte_order_mark = "\xef\xbb\xbf";

class HeaderLines {
public:
    explicit HeaderLines(const InputFile& file) : file_(file), bytes_(file.start(max_header_bytes)) {
        at_ = text().starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
        const std::size_t first_end = text().find_first_of("\r\n");
        const bool has_lone_returns =
            first_end != string_view::npos && text()[first_end] == '\r' && text().substr(first_end, 2) != "\r\n";
        line_end_ = has_lone_returns ? '\r' : '\n';
    }

    PlyHeader read();

private:
    template <class... Parts>
    [[noreturn]] void refuse(const Parts&... parts) const {
        io::refuse(file_, "the PLY header, line ", line_, ": ", parts...);
    }
    [[nodiscard]] string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    void next_line();
    void read_format();
    void read_element();
    void read_property();
    [[nodiscard]] PlyProperty property_of_type(string_view type) const;

    const InputFile& file_;
    std::vector<std::byte> bytes_; ///< the first of the file
    std::size_t at_ = 0;           ///< of the next line
    std::int64_t line_ = 0;        ///< number of this one
    char line_end_ = '\n';
    std::vector<string_view> words_; ///< of the line
    PlyHeader header_;
};

// The next line that is neither empty nor a comment.
void HeaderLines::next_line() {
    do {
        ++line_;
        const std::size_t end = text().find(line_end_, at_);
        if (end == string_view::npos) {
            refuse(file_.length() > max_header_bytes
                       ? message("there is no end_header in the first ", max_header_bytes, " bytes")
                       : message("too short: there is no end_header, and the file ends at byte ", file_.length()));
        }
        words_.clear();
        for_each_field(text().substr(at_, end - at_), Separator::blanks,
                       [this](int, string_view word) { words_.push_back(word); });
        at_ = end + 1;
    } while (words_.empty() || words_[0] == "comment" || words_[0] == "obj_info");
}

void HeaderLines::read_format() {
    if (words_.size() != 3 || words_[0] != "format" || words_[2] != "1.0") {
        refuse("'format', one of ascii, binary_little_endian and binary_big_endian, and 1.0 were expected");
    }
    if (words_[1] == "binary_little_endian") {
        header_.order = std::endian::little;
    } else if (words_[1] == "binary_big_endian") {
        header_.order = std::endian::big;
    } else if (words_[1] != "ascii") {
        refuse("the format ", words_[1], " is not known");
    }
}

void HeaderLines::read_element() {
    PlyElement element;
    if (words_.size() != 3 || !parse_number(words_[2], element.count) || element.count < 0) {
        refuse("'element', a name and a count of 0 or more were expected");
    }
    element.name = words_[1];
    header_.elements.push_back(std::move(element));
}

PlyProperty HeaderLines::property_of_type(string_view type) const {
    const auto* const found =
        std::find_if(type_names.begin(), type_names.end(), [&](const TypeName& known) { return known.name == type; });
    if (found == type_names.end()) {
        refuse("the type ", type, " is not known");
    }
    PlyProperty property;
    property.kind = found->kind;
    property.bytes = found->bytes;
    return property;
}

void HeaderLines::read_property() {
    if (header_.elements.empty()) {
        refuse("a property comes before the first element");
    }
    PlyElement& element = header_.elements.back();
    PlyProperty property;
    if (words_.size() == 5 && words_[1] == "list") {
        const PlyProperty count = property_of_type(words_[2]);
        if (count.kind == 'f') {
            refuse("the number of a list's values is of the type ", words_[2], "; whole numbers were expected");
        }
        property = property_of_type(words_[3]);
        property.list = true;
        property.count_kind = count.kind;
        property.count_bytes = count.bytes;
    } else if (words_.size() == 3) {
        property = property_of_type(words_[1]);
    } else {
        refuse("'property', a type and a name were expected, or 'property list', two types and a name");
    }
    property.name = words_.back();
    property.at = element.record_bytes();
    element.properties.push_back(std::move(property));
}

PlyHeader HeaderLines::read() {
    next_line();
    if (words_.size() != 1 || words_[0] != "ply") {
        refuse("'ply' was expected");
    }
    next_line();
    read_format();
    while (true) {
        next_line();
        const string_view word = words_[0];
        if (word == "end_header") {
            header_.data_offset = static_cast<std::int64_t>(at_);
            header_.data_line = line_ + 1;
            return header_;
        }
        if (word == "element") {
            read_element();
        } else if (word == "property") {
            read_property();
        } else {
            refuse("'", word.substr(0, 40), "' is not known");
        }
    }
}

} // namespace

bool PlyElement::has_lists() const noexcept {
    return std::any_of(properties.begin(), properties.end(), [](const PlyProperty& property) { return property.list; });
}

std::int64_t PlyElement::record_bytes() const noexcept {
    std::int64_t bytes = 0;
    for (const PlyProperty& property : properties) {
        bytes += property.list ? property.count_bytes : property.bytes;
    }
    return bytes;
}

bool begins_as_ply(string_view text) noexcept {
    text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    const string_view line = text.substr(0, text.find_first_of("\r\n"));
    return line.size() < text.size() && trimmed(line) == "ply" && line.starts_with("ply");
}

PlyHeader read_ply_header(const InputFile& file) {
    return HeaderLines(file).read();
}

} // namespace kith::io
