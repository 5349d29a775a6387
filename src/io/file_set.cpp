// Numbers in file names: the last part of the name, or the last before an extension, if it is all digits.
#include "io/file_set.hpp"

#include "io/refuse.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace kith::io {

using std::filesystem::path;

namespace {

struct MemberName {
    std::string before; ///< "folder/name."
    std::int64_t number = 0;
    std::string after; ///< "" or ".hdf5"

    [[nodiscard]] path of(std::int64_t other) const { return message(before, other, after); }
};

// The number that ends `text` after a dot.
std::optional<MemberName> ends_with_number(std::string_view text, std::string_view after) {
    const std::size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    MemberName name{std::string(text.substr(0, dot + 1)), 0, std::string(after)};
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + dot + 1, end, name.number);
    const bool number = failure == std::errc() && stop == end && name.number >= 0;
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

} // namespace

path resolve_stem(const path& given) {
    if (is_there(given)) {
        return given;
    }
    const std::string text = given.string();
    const std::string extension = given.extension().string();
    std::vector<path> candidates = {text + ".0", text + ".0.hdf5", text + ".0.h5"};
    if (!extension.empty()) {
        candidates.emplace_back(text.substr(0, text.size() - extension.size()) + ".0" + extension);
    }
    path found;
    for (const path& candidate : candidates) {
        if (is_there(candidate) && !found.empty()) {
            refuse(text, "there is no such file, but the two snapshots that begin with ", found.string(), " and ",
                   candidate.string(), "; name one of these");
        }
        found = is_there(candidate) ? candidate : found;
    }
    return found.empty() ? given : found;
}

std::vector<path> files_of_set(const path& member, std::int64_t count) {
    if (count == 1) {
        return {member};
    }
    const std::optional<MemberName> name = parse(member);
    const std::string stated = message("by its header this is one of ", count, " files");
    if (!name) {
        refuse(member.string(), stated,
               ", but its name has no number by which to find the others; name "
               "them like ",
               member.string(), ".0 to ", member.string(), ".", count - 1);
    }
    if (name->number >= count) {
        refuse(member.string(), stated, ", which are numbered 0 to ", count - 1, ", but its name says ", name->number,
               "; rename it, or get the others");
    }
    std::vector<path> files;
    for (std::int64_t number = 0; number < count; ++number) {
        files.push_back(number == name->number ? member : name->of(number));
        if (!is_there(files.back())) {
            refuse(member.string(), stated, ", but ", files.back().string(),
                   " is missing; put all of them into one folder");
        }
    }
    return files;
}

} // namespace kith::io
