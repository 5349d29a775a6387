// The files that one run writes: all of them, or none.
//
// Names are checked before anything is read (those of the other files of an input in several right after): the
// extension, that no output is an input or another output, that the directory takes new files. Every file is then
// written under a hidden name beside its target, and commit() renames them all once the last is complete. Whatever goes
// wrong before that leaves the directory, with any older outputs in it, as it was.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

class OutputFiles {
public:
    OutputFiles() = default;
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;
    ~OutputFiles();

    /// Plans the output of `option`; an empty path plans nothing. Throws UsageError for an extension that is not listed
    /// (no list: any), for a directory, and for the path of an earlier output.
    void plan(std::string_view option, const std::filesystem::path& target,
              std::initializer_list<std::string_view> extensions = {});

    /// Throws UsageError if an output would overwrite this input.
    void reject_overwrite_of(const std::filesystem::path& input) const;
    void reject_overwrite_of_all(const std::vector<std::filesystem::path>& inputs) const;

    /// Throws Error(file) if a directory is missing or takes no new file.
    void probe_directories() const;

    /// Where to write what is planned as `target`.
    [[nodiscard]] std::filesystem::path staged(const std::filesystem::path& target) const;

    /// Runs what writes the staged files. Errors from it name the files as the user did, not as they are staged.
    void write(const std::function<void()>& body) const;

    /// Puts every output in its place, with the permissions of the file that it replaces.
    void commit();

    /// The outputs in the order planned, as given.
    [[nodiscard]] std::vector<std::string> names() const;

private:
    struct Output {
        std::string option;
        std::filesystem::path given;
        std::filesystem::path target; ///< absolute, links resolved
        std::filesystem::path staged;
    };
    std::vector<Output> outputs_;
    bool committed_ = false;
};

} // namespace kith::cli
