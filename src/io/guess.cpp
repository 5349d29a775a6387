// Descriptions of files that are not read: signatures first, then shapes of binary files, then kinds of text. Only the
// first few thousand bytes and the length are looked at. The order matters: later tests are less certain.
#include "io/guess.hpp"

#include "io/byte_order.hpp"
#include "io/refuse.hpp"
#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::io {

using std::string_view;

namespace {

struct Signature {
    string_view bytes;
    string_view description;
};

constexpr std::array<Signature, 9> signatures = {{
    {"LASF", "this looks like a LAS or LAZ point cloud, which is not read"},
    {"# .PCD", "this looks like a PCD point cloud, which is not read"},
    {"VERSION .7", "this looks like a PCD point cloud, which is not read"},
    {"\x1f\x8b", "this is compressed with gzip; decompress it first"},
    {"BZh", "this is compressed with bzip2; decompress it first"},
    {"\x28\xb5\x2f\xfd", "this is compressed with zstd; decompress it first"},
    {"SIMPLE  =", "this looks like FITS, which is not read"},
    {"\xd0\xd0\xc0\xc0\xce\xda\xde\xfa", "this looks like a Rockstar binary halo catalog, which holds no particles"},
    {"CDF", "this looks like netCDF, which is not read"},
}};

// Fortran records: a length, that many bytes, the length again.
std::optional<std::string> by_records(const FileStart& start, std::endian order) {
    const auto word = [&](std::size_t at) { return load<std::uint32_t>(start.bytes.data() + at, order); };
    if (start.bytes.size() < 8) {
        return std::nullopt;
    }
    const std::uint32_t length = word(0);
    const string_view endianness = order == std::endian::big ? "big-endian" : "little-endian";
    if (length == 0 || std::uint64_t{length} + 8 > start.bytes.size() || word(length + 4) != length) {
        return std::nullopt;
    }
    return message("this looks like Fortran records (", endianness, ", the first of ", length,
                   " bytes), which are not read");
}

// Tipsy auxiliary arrays: a count, then one or three values of four bytes, or one of eight, per particle.
std::optional<std::string> by_auxiliary_array(const FileStart& start, std::endian order) {
    if (start.bytes.size() < 8) {
        return std::nullopt;
    }
    const std::int64_t count = load<std::int32_t>(start.bytes.data(), order);
    const std::int64_t body = start.file_length - 4;
    if (count > 0 && (body == 4 * count || body == 8 * count || body == 12 * count)) {
        return message("this looks like a binary Tipsy auxiliary array (", count, " values of ", body / count,
                       " bytes), which holds one property and no positions");
    }
    return std::nullopt;
}

// Text with bytes that are none, which its first line has not: those of UTF-16, zeros, the end of a file of DOS.
std::optional<std::string> by_control_characters(string_view text) {
    const std::size_t zero = text.front() == '\0' ? 0 : 1; // of each pair of bytes, if these are UTF-16
    std::size_t pairs = 0;
    while (2 * pairs + 1 < text.size() && text[2 * pairs + zero] == '\0' &&
           is_text(text.substr(2 * pairs + 1 - zero, 1))) {
        ++pairs;
    }
    constexpr std::size_t enough = 32;
    if (pairs > 1 && pairs >= std::min(enough, text.size() / 2)) {
        return "this looks like text in UTF-16 without a byte order mark; write tables in UTF-8, or begin with the "
               "mark";
    }
    const auto* const bad = std::find_if(text.begin(), text.end(), [](char c) { return !is_text({&c, 1}); });
    const auto at = static_cast<std::size_t>(bad - text.begin());
    const string_view before = text.substr(0, at);
    const bool is_ascii = std::none_of(before.begin(), before.end(), [](char c) { return (c & 0x80) != 0; });
    constexpr std::size_t least = 3; // bytes of a line of text; numbers may begin with a few that look like text
    const std::size_t line = before.find_first_of("\r\n");
    if (at == text.size() || !is_ascii || line == string_view::npos || line < least) {
        return std::nullopt;
    }
    return message("this begins as text, but its byte ", at, " (counted from 0) is ",
                   static_cast<int>(static_cast<unsigned char>(*bad)),
                   *bad == '\x1a' ? ", Ctrl-Z, which ends files of DOS"
                   : *bad == '\0' ? ", as in files that were not written to their end"
                                  : ", a control character",
                   "; tables are text alone: remove what is no text");
}

std::vector<string_view> lines_of(string_view text, std::size_t most) {
    std::vector<string_view> lines;
    while (!text.empty() && lines.size() < most) {
        lines.push_back(take_line(text));
    }
    return lines;
}

// How many numbers a line of numbers separated by blanks holds; 0 if anything else is in it.
int count_numbers(string_view line) {
    bool numbers = true;
    double value = 0;
    const int fields = for_each_field(line, Separator::blanks,
                                      [&](int, string_view field) { numbers = numbers && parse_number(field, value); });
    return numbers ? fields : 0;
}

std::optional<std::string> by_lines_of_numbers(const std::vector<string_view>& lines) {
    std::vector<int> widths;
    widths.reserve(lines.size());
    for (const string_view line : lines) {
        widths.push_back(count_numbers(line));
    }
    // The last line may have been cut off by the window.
    if (widths.size() >= 3 && std::all_of(widths.begin(), widths.end() - 1, [](int w) { return w == 1; })) {
        return "this looks like an ASCII Tipsy array (.grp and the like), which holds one property and no positions";
    }
    const auto other = std::find_if(widths.begin(), widths.end(), [&](int w) { return w != widths.front(); });
    if (widths.front() > 0 && other != widths.end() && *other > 0) {
        return message("this looks like a table with something in front of it: line 1 has ", widths.front(),
                       widths.front() == 1 ? " number" : " numbers", ", but line ", other - widths.begin() + 1, " has ",
                       *other, "; keep only the rows, and a line that names the columns, such as x,y,z");
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> describe_signature(string_view text) {
    const auto* const found = std::find_if(signatures.begin(), signatures.end(),
                                           [&](const Signature& each) { return text.starts_with(each.bytes); });
    return found == signatures.end() ? std::nullopt : std::optional<std::string>(found->description);
}

bool is_text(string_view text) {
    return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 32 && !std::isspace(byte);
    });
}

std::optional<std::string> describe_known_text(string_view text) {
    const std::vector<string_view> lines = lines_of(text, 16);
    if (const auto numbers = by_lines_of_numbers(lines)) {
        return numbers;
    }
    if (std::any_of(lines.begin(), lines.end(), [](string_view line) { return line.starts_with("v "); })) {
        return "this looks like a Wavefront OBJ mesh, which is not read";
    }
    const auto is_left_out = [](string_view line) {
        return line.empty() || line.starts_with('#') || line.starts_with('%');
    };
    const auto assigns = [&](string_view line) { return line.find('=') != string_view::npos || is_left_out(line); };
    if (lines.size() >= 3 && std::all_of(lines.begin(), lines.end() - 1, assigns) &&
        !std::all_of(lines.begin(), lines.end() - 1, is_left_out)) {
        return "this looks like a parameter file (name = value), which holds no particles";
    }
    return std::nullopt;
}

std::string describe_unread(const FileStart& start) {
    if (start.file_length == 0) {
        return "the file is empty";
    }
    if (const auto description = describe_signature(start.text())) {
        return *description;
    }
    if (start.text().starts_with("\xff\xfe") || start.text().starts_with("\xfe\xff")) {
        return "this begins like text in UTF-16 or UTF-32, but not like a table of points; write tables in UTF-8";
    }
    if (const auto description = by_control_characters(start.text())) {
        return *description;
    }
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        if (const auto description = by_records(start, order)) {
            return *description;
        }
    }
    if (is_text(start.text())) {
        return describe_known_text(start.text())
            .value_or("this is text, but it does not begin like a table of points: at most one line of names, then "
                      "rows of as many numbers each, two at least; comments begin with #, % or //");
    }
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        if (const auto description = by_auxiliary_array(start, order)) {
            return *description;
        }
    }
    return message("the content (", start.file_length, " bytes) is of no known format");
}

} // namespace kith::io
