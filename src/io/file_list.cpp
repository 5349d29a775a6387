// Several names for one snapshot: exactly its files, as a shell's pattern gives them.
#include "io/input_file.hpp"
#include "io/joined.hpp"
#include "io/member_name.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <system_error>

namespace kith::io {

namespace {

using Paths = std::vector<std::filesystem::path>;

bool holds(const Paths& files, const std::filesystem::path& wanted) {
    return std::any_of(files.begin(), files.end(), [&](const std::filesystem::path& file) {
        std::error_code unknown;
        return std::filesystem::equivalent(file, wanted, unknown) && !unknown;
    });
}

// Whether `file` holds no particles of its own but maps those of the snapshot: SWIFT's virtual file.
bool stands_for(const std::filesystem::path& file, const Paths& whole) {
    try {
        const Paths mapped = read_header(file).files;
        return mapped.size() == whole.size() &&
               std::all_of(mapped.begin(), mapped.end(), [&](const auto& each) { return holds(whole, each); });
    } catch (const Error&) {
        return false;
    }
}

std::string list(const Paths& files) {
    constexpr std::size_t max_listed = 5;
    const std::span listed = std::span(files).first(std::min(files.size(), max_listed));
    const std::string text = joined(listed, ", ", [](const std::filesystem::path& file) { return file.string(); });
    return files.size() > max_listed ? detail::message(text, " and ", files.size() - max_listed, " more") : text;
}

} // namespace

std::optional<std::filesystem::path> one_snapshot(const Paths& files) {
    if (files.empty()) {
        throw Error(ErrorKind::invalid_argument, "no file is named; name one, or all files of one snapshot");
    }
    if (files.size() == 1) {
        return files.front();
    }
    const SnapshotHeader header = read_header(files.front());
    if (!header.incomplete.empty()) {
        throw Error(ErrorKind::file, header.incomplete);
    }
    const Paths& whole = header.files;
    for (const std::filesystem::path& file : files) {
        if (!holds(whole, file) && !stands_for(file, whole)) {
            static_cast<void>(InputFile(split_input(file).file)); // one that is not there is named
            return std::nullopt;
        }
    }
    Paths left_out;
    std::copy_if(whole.begin(), whole.end(), std::back_inserter(left_out),
                 [&](const auto& file) { return !holds(files, file); });
    if (!left_out.empty()) {
        throw detail::error(ErrorKind::invalid_argument, "these are ", whole.size() - left_out.size(), " of the ",
                            whole.size(), " files of one snapshot; ", list(left_out),
                            left_out.size() == 1 ? " is" : " are",
                            " left out. Name all of them, or any one, which stands for the whole");
    }
    return whole.front();
}

} // namespace kith::io
