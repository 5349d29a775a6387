// Numbers in file names: the last part of the name, or the last before an extension, if it is all digits.
#include "io/file_set.hpp"

#include "io/refuse.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace kith::io {

using std::filesystem::path;

namespace {

struct MemberName {
    std::string before; ///< "folder/name."
    std::int64_t number = 0;
    std::size_t digits = 1; ///< as it is written
    std::string after;      ///< "" or ".hdf5"

    /// The name of another member whose number has at least `width` digits.
    [[nodiscard]] path of(std::int64_t other, std::size_t width) const {
        const std::string text = std::to_string(other);
        return message(before, std::string(width > text.size() ? width - text.size() : 0, '0'), text, after);
    }
};

// The number that ends `text` after a dot.
std::optional<MemberName> ends_with_number(std::string_view text, std::string_view after) {
    const std::size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    MemberName name{std::string(text.substr(0, dot + 1)), 0, text.size() - dot - 1, std::string(after)};
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + dot + 1, end, name.number);
    const bool number = failure == std::errc() && stop == end && name.number >= 0 && text[dot + 1] != '-';
    return number ? std::optional(name) : std::nullopt;
}

std::optional<MemberName> parse(const path& member) {
    const std::string text = member.string();
    if (auto name = ends_with_number(text, "")) {
        return name;
    }
    const std::string extension = member.extension().string();
    return ends_with_number(std::string_view(text).substr(0, text.size() - extension.size()), extension);
}

bool is_there(const path& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
}

// How many digits the numbers of a set have at least. `snap.10` may be one of `snap.0`, ... or of `snap.00`, ...
std::size_t width_of(const MemberName& name) {
    const bool is_padded = name.digits > std::to_string(name.number).size();
    const auto begins = [&](std::size_t width) { return is_there(name.of(0, width)) || is_there(name.of(1, width)); };
    return is_padded || (begins(name.digits) && !begins(1)) ? name.digits : 1;
}

// 0, or 1 if the last of so many files is there and none has the number 0.
std::int64_t first_number_of(const MemberName& name, std::size_t width, std::int64_t count) {
    return !is_there(name.of(0, width)) && is_there(name.of(count, width)) ? 1 : 0;
}

std::vector<path> first_files_of(const std::string& text, const std::string& extension, char first) {
    constexpr std::size_t most_digits = 4;
    std::vector<path> candidates;
    for (std::size_t digits = 1; digits <= most_digits; ++digits) {
        const std::string number = "." + std::string(digits - 1, '0') + first;
        candidates.insert(candidates.end(), {text + number, text + number + ".hdf5", text + number + ".h5"});
        if (!extension.empty()) {
            candidates.emplace_back(text.substr(0, text.size() - extension.size()) + number + extension);
        }
    }
    return candidates;
}

[[noreturn]] void refuse_pattern(const std::string& text) {
    std::string stem = text.substr(0, text.find_first_of("*?["));
    stem.resize(stem.find_last_not_of('.') + 1);
    const bool is_stem = !stem.empty() && !is_there(stem) && is_there(resolve_stem(stem));
    refuse(text, "there is no such file, and patterns are not expanded: ",
           is_stem ? message("name the stem, ", stem, ", which stands for all files of the snapshot")
                   : "name a file, or leave out the quotes, so that the shell expands it");
}

} // namespace

path resolve_stem(const path& given) {
    if (is_there(given)) {
        return given;
    }
    const std::string text = given.string();
    path found;
    for (const char first : {'0', '1'}) {
        if (!found.empty()) {
            break;
        }
        for (const path& candidate : first_files_of(text, given.extension().string(), first)) {
            if (is_there(candidate) && !found.empty()) {
                refuse(text, "there is no such file, but the two snapshots that begin with ", found.string(), " and ",
                       candidate.string(), "; name one of these");
            }
            found = is_there(candidate) ? candidate : found;
        }
    }
    if (found.empty() && text.find_first_of("*?[") != std::string::npos && text.find(':') == std::string::npos) {
        refuse_pattern(text);
    }
    return found.empty() ? given : found;
}

FileSet find_set(const path& member, std::int64_t count) {
    if (count == 1) {
        return {{member}, ""};
    }
    const std::optional<MemberName> name = parse(member);
    const std::string stated = message("by its header this is one of ", count, " files");
    if (!name) {
        return {{member},
                message(stated, ", but its name has no number by which to find the others; name them like ",
                        member.string(), ".0 to ", member.string(), ".", count - 1)};
    }
    const std::size_t width = width_of(*name);
    const std::int64_t first = first_number_of(*name, width, count);
    if (name->number < first || name->number >= first + count) {
        return {{member},
                message(stated, ", which are numbered ", first, " to ", first + count - 1, ", but its name says ",
                        name->number, "; rename it, or get the others")};
    }
    FileSet set;
    for (std::int64_t number = first; number < first + count; ++number) {
        set.files.push_back(number == name->number ? member : name->of(number, width));
        if (!is_there(set.files.back())) {
            return {
                {member},
                message(stated, ", but ", set.files.back().string(), " is missing; put all of them into one folder")};
        }
    }
    return set;
}

std::vector<path> files_of_set(const path& member, std::int64_t count) {
    FileSet set = find_set(member, count);
    if (!set.fault.empty()) {
        refuse(member.string(), set.fault);
    }
    return std::move(set.files);
}

} // namespace kith::io
