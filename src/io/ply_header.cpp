// Reading the lines of a PLY header (ply_header.hpp).
#include "io/ply_header.hpp"

#include "io/refuse.hpp"
#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

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

constexpr std::array<TypeName, 16> type_names = {{{"char", 'i', 1},
                                                  {"int8", 'i', 1},
                                                  {"uchar", 'u', 1},
                                                  {"uint8", 'u', 1},
                                                  {"short", 'i', 2},
                                                  {"int16", 'i', 2},
                                                  {"ushort", 'u', 2},
                                                  {"uint16", 'u', 2},
                                                  {"int", 'i', 4},
                                                  {"int32", 'i', 4},
                                                  {"uint", 'u', 4},
                                                  {"uint32", 'u', 4},
                                                  {"float", 'f', 4},
                                                  {"float32", 'f', 4},
                                                  {"double", 'f', 8},
                                                  {"float64", 'f', 8}}};

class HeaderLines {
public:
    explicit HeaderLines(const InputFile& file) : file_(file), lines_(file) {}

    PlyHeader read();

private:
    template <class... Parts>
    [[noreturn]] void refuse(const Parts&... parts) const {
        io::refuse(file_, "the PLY header, line ", lines_.number(), ": ", parts...);
    }
    void next_line();
    void read_format();
    void read_element();
    void read_property();
    [[nodiscard]] PlyProperty property_of_type(string_view type) const;

    const InputFile& file_;
    TextLines lines_;
    std::vector<string_view> words_; ///< of the line
    PlyHeader header_;
};

void HeaderLines::next_line() {
    constexpr std::int64_t most = 1 << 16;
    const std::optional<string_view> line = lines_.next();
    if (!line || lines_.offset() > most) {
        refuse(line ? message("there is no end_header in the first ", most, " bytes")
                    : message("too short: there is no end_header, and the file ends at byte ", file_.length()));
    }
    words_.clear();
    for_each_field(*line, Separator::blanks, [this](int, string_view word) { words_.push_back(word); });
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
    return {{}, found->kind, found->bytes};
}

void HeaderLines::read_property() {
    if (header_.elements.empty()) {
        refuse("a property comes before the first element");
    }
    PlyElement& element = header_.elements.back();
    PlyProperty property;
    if (words_.size() == 5 && words_[1] == "list") {
        property = property_of_type(words_[3]);
        property.list = true;
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
        const string_view word = words_.empty() ? "" : words_[0];
        if (word == "end_header") {
            header_.data_offset = lines_.offset();
            header_.data_line = lines_.number() + 1;
            return header_;
        }
        if (word == "element") {
            read_element();
        } else if (word == "property") {
            read_property();
        } else if (word != "comment" && word != "obj_info") {
            refuse("'", word.substr(0, 40), "' is not known");
        }
    }
}

} // namespace

bool PlyElement::has_lists() const noexcept {
    return std::any_of(properties.begin(), properties.end(), [](const PlyProperty& property) { return property.list; });
}

std::int64_t PlyElement::record_bytes() const noexcept {
    return properties.empty() ? 0 : properties.back().at + properties.back().bytes;
}

const PlyProperty* PlyElement::find(const std::string& wanted) const noexcept {
    const auto found = std::find_if(properties.begin(), properties.end(),
                                    [&](const PlyProperty& property) { return property.name == wanted; });
    return found == properties.end() ? nullptr : &*found;
}

PlyHeader read_ply_header(const InputFile& file) {
    return HeaderLines(file).read();
}

} // namespace kith::io
