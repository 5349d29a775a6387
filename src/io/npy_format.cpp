// Reading and making .npy headers (layout in npy_format.hpp).
#include "io/npy_format.hpp"

#include "io/byte_order.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <charconv>

namespace kith::io {

using std::string_view;

namespace {

constexpr string_view magic("\x93NUMPY", 6);

// Reads the dictionary literal from left to right.
class Literal {
public:
    Literal(string_view text, string_view name) : text_(text), name_(name) {}

    [[noreturn]] void fail(string_view expected) const {
        refuse(name_, "the .npy header is malformed: ", expected, " was expected at character ", at_,
               " of its dictionary");
    }
    bool accept(char wanted) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == wanted) {
            ++at_;
            return true;
        }
        return false;
    }
    void expect(char wanted) {
        if (!accept(wanted)) {
            fail(message("'", string_view(&wanted, 1), "'"));
        }
    }
    std::string quoted() {
        skip_blanks();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') {
            fail("a quoted string");
        }
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == string_view::npos) {
            fail("a closing quote");
        }
        std::string inside(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return inside;
    }
    bool boolean() {
        skip_blanks();
        for (const auto& [word, value] : {std::pair<string_view, bool>{"True", true}, {"False", false}}) {
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return value;
            }
        }
        fail("True or False");
    }
    std::int64_t whole_number() {
        skip_blanks();
        std::int64_t value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (failure != std::errc() || value < 0) {
            fail("a length of 0 or more, below 2^63,");
        }
        at_ += static_cast<std::size_t>(end - begin);
        accept('L'); // written by Python 2
        return value;
    }
    // A plain type is a string; a structured one a list, kept as text.
    std::string type() {
        skip_blanks();
        if (at_ >= text_.size() || text_[at_] != '[') {
            return quoted();
        }
        const std::size_t begin = at_;
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            depth += text_[at_] == '[' ? 1 : text_[at_] == ']' ? -1 : 0;
            if (depth == 0) {
                ++at_;
                return std::string(text_.substr(begin, at_ - begin));
            }
        }
        fail("']'");
    }
    std::vector<std::int64_t> shape() {
        std::vector<std::int64_t> lengths;
        expect('(');
        while (!accept(')')) {
            lengths.push_back(whole_number());
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return lengths;
    }

    // ('x', '<f4'), or with a title, (('title', 'x'), '<f4'), or with several values, ('x', '<f4', (3,)).
    NpyField field() {
        NpyField field;
        expect('(');
        if (accept('(')) {
            quoted();
            expect(',');
            field.name = quoted();
            expect(')');
        } else {
            field.name = quoted();
        }
        expect(',');
        field.descr = type();
        field.bytes = bytes_of(field);
        if (accept(',')) {
            for (const std::int64_t length : shape()) {
                field.bytes = length <= max_record_bytes ? field.bytes * length : max_record_bytes + 1;
                require_small(field);
            }
        }
        expect(')');
        return field;
    }
    std::vector<NpyField> fields() {
        std::vector<NpyField> found;
        std::int64_t offset = 0;
        expect('[');
        while (!accept(']')) {
            found.push_back(field());
            found.back().offset = offset;
            offset += found.back().bytes;
            require_small({{}, {}, 0, offset});
            if (!accept(',')) {
                expect(']');
                break;
            }
        }
        return found;
    }

private:
    static constexpr std::int64_t max_record_bytes = 1 << 20;

    void require_small(const NpyField& field) const {
        if (field.bytes > max_record_bytes) {
            refuse(name_, "a record of the array claims more than ", max_record_bytes, " bytes");
        }
    }
    // A byte order, a letter and a number, of bytes but for text ('U').
    std::int64_t bytes_of(const NpyField& field) const {
        const string_view descr = field.descr;
        std::int64_t bytes = -1;
        if (descr.size() > 2 && descr[0] != '[') {
            const char* const end = descr.data() + descr.size();
            const auto [stop, failure] = std::from_chars(descr.data() + 2, end, bytes);
            bytes = failure == std::errc() && (stop == end || *stop == '[') ? bytes : -1;
        }
        if (bytes < 0 || bytes > max_record_bytes) {
            refuse(name_, "the type of the field ", field.name, " is ", descr,
                   ", which is not read; save the coordinates as an array of numbers");
        }
        constexpr std::int64_t bytes_of_character = 4;
        return descr[1] == 'U' ? bytes_of_character * bytes : bytes;
    }
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
            ++at_;
        }
    }
    string_view text_;
    string_view name_;
    std::size_t at_ = 0;
};

} // namespace

bool is_npy(const FileStart& start) {
    return start.text().starts_with(magic);
}

std::vector<NpyField> npy_fields(const std::string& descr, string_view name) {
    return Literal(descr, name).fields();
}

std::int64_t npy_header_bytes(std::span<const std::byte> first_12, string_view name) {
    if (first_12.size() < 12) {
        refuse(name,
               "too short: a .npy header takes more than 12 bytes; the file "
               "ends at byte ",
               first_12.size());
    }
    const int major = std::to_integer<int>(first_12[6]);
    if (major < 1 || major > 3) {
        refuse(name, ".npy version ", major, " is not known; versions 1 to 3 are");
    }
    return major == 1 ? 10 + std::int64_t{load<std::uint16_t>(&first_12[8], std::endian::little)}
                      : 12 + std::int64_t{load<std::uint32_t>(&first_12[8], std::endian::little)};
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes, string_view name) {
    NpyHeader header;
    header.data_offset = std::ssize(bytes);
    const std::size_t begin = std::to_integer<int>(bytes[6]) == 1 ? 10 : 12;
    Literal literal({reinterpret_cast<const char*>(bytes.data()) + begin, bytes.size() - begin}, name);
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    literal.expect('{');
    while (!literal.accept('}')) {
        const std::string key = literal.quoted();
        literal.expect(':');
        if (key == "descr") {
            header.descr = literal.type();
            has_type = true;
        } else if (key == "fortran_order") {
            header.fortran_order = literal.boolean();
            has_order = true;
        } else if (key == "shape") {
            header.shape = literal.shape();
            has_shape = true;
        } else {
            literal.fail("'descr', 'fortran_order' or 'shape'");
        }
        if (!literal.accept(',')) {
            literal.expect('}');
            break;
        }
    }
    if (!has_type || !has_order || !has_shape) {
        refuse(name, "the .npy header lacks ", !has_type ? "'descr'" : !has_order ? "'fortran_order'" : "'shape'");
    }
    return header;
}

std::string make_npy_header(char kind, std::size_t item_bytes, std::int64_t rows, std::int64_t columns) {
    const char order = std::endian::native == std::endian::little ? '<' : '>';
    std::string dictionary = message("{'descr': '", string_view(&order, 1), string_view(&kind, 1), item_bytes,
                                     "', 'fortran_order': False, 'shape': (", rows, ",");
    dictionary += columns == 0 ? std::string(")") : message(" ", columns, ")");
    dictionary += ", }";
    const std::size_t unpadded = magic.size() + 4 + dictionary.size() + 1;
    dictionary.append((64 - unpadded % 64) % 64, ' ');
    dictionary += '\n';

    std::string header(magic);
    header += '\x01';
    header += '\x00';
    header += static_cast<char>(dictionary.size() & 0xff);
    header += static_cast<char>(dictionary.size() >> 8);
    return header + dictionary;
}

std::int64_t npy_rows(std::size_t values, std::int64_t columns) {
    const auto count = static_cast<std::int64_t>(values);
    if (columns < 0 || (columns > 0 && count % columns != 0)) {
        throw error(ErrorKind::invalid_argument, count, " values do not make whole rows of ", columns, " columns");
    }
    return columns == 0 ? count : count / columns;
}

} // namespace kith::io
