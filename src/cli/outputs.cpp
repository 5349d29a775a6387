#include "cli/outputs.hpp"

#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kith::cli {

namespace fs = std::filesystem;

namespace {

constexpr bool hdf5_can_be_written = KITH_IO_HAS_HDF5 != 0;

fs::path resolved(const fs::path& path) {
    std::error_code ignored;
    fs::path full = fs::weakly_canonical(fs::absolute(path), ignored);
    return ignored ? fs::absolute(path) : full;
}

/// Short, so that it fits wherever the target's own name does. The number keeps runs on two machines apart that share
/// the directory.
fs::path hidden_sibling(const fs::path& target, std::string_view extension) {
    return target.parent_path() / fmt::format(".kith-{}-{:08x}{}", ::getpid(), std::random_device{}(), extension);
}

/// A file that replaces another is for the same people.
void keep_permissions(const fs::path& older, const fs::path& newer) {
    std::error_code ignored;
    const fs::file_status status = fs::status(older, ignored);
    if (fs::is_regular_file(status)) {
        fs::permissions(newer, status.permissions() & fs::perms::all, ignored);
    }
}

bool is_too_long(const fs::path& path) {
    struct stat ignored = {};
    return ::lstat(path.c_str(), &ignored) != 0 && errno == ENAMETOOLONG;
}

} // namespace

OutputFiles::~OutputFiles() {
    if (!committed_) {
        for (const Output& output : outputs_) {
            std::error_code ignored;
            fs::remove(output.staged, ignored);
        }
    }
}

void OutputFiles::plan(std::string_view option, const fs::path& target,
                       std::initializer_list<std::string_view> extensions) {
    if (target.empty()) {
        return;
    }
    const std::string extension = target.extension().string();
    if (extensions.size() > 0 && std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
        throw UsageError(fmt::format("{} is '{}', of no known format; the name must end in {}", option, target.string(),
                                     fmt::join(extensions, " or ")));
    }
    if (!hdf5_can_be_written && (extension == ".hdf5" || extension == ".h5")) {
        throw UsageError(fmt::format("{} is '{}', but this program was built without HDF5; build it with KITH_HDF5=ON",
                                     option, target.string()));
    }
    const fs::path full = resolved(target);
    if (is_too_long(full)) {
        throw UsageError(fmt::format("{} is '{}', a name of {} characters, longer than the file system takes; give a "
                                     "shorter one",
                                     option, target.string(), target.filename().string().size()));
    }
    std::error_code ignored;
    if (fs::exists(full, ignored) && !fs::is_regular_file(full, ignored)) {
        throw UsageError(fmt::format("{} is '{}', which is not a regular file; give the name of a file to write",
                                     option, target.string()));
    }
    for (const Output& other : outputs_) {
        if (other.target == full) {
            throw UsageError(fmt::format("{} and {} would both write '{}'; give each its own file", other.option,
                                         option, target.string()));
        }
    }
    outputs_.push_back(
        {std::string(option), target, full, hidden_sibling(full, extensions.size() > 0 ? extension : "")});
}

void OutputFiles::reject_overwrite_of(const fs::path& input) const {
    for (const Output& output : outputs_) {
        std::error_code ignored;
        if (output.target == resolved(input) || fs::equivalent(output.target, input, ignored)) {
            throw UsageError(fmt::format("{} is '{}', which is also the input; give the output another name",
                                         output.option, output.given.string()));
        }
    }
}

void OutputFiles::reject_overwrite_of_all(const std::vector<fs::path>& inputs) const {
    for (const fs::path& input : inputs) {
        reject_overwrite_of(input);
    }
}

void OutputFiles::probe_directories() const {
    for (const Output& output : outputs_) {
        const int file = ::open(output.staged.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0) {
            const bool missing = errno == ENOENT;
            throw Error(ErrorKind::file,
                        fmt::format("{}: '{}' cannot be written: {}", output.option, output.given.string(),
                                    missing ? "its directory does not exist; make it first"
                                            : fmt::format("{}; make its directory writable, or choose another",
                                                          std::strerror(errno))));
        }
        ::close(file);
        ::unlink(output.staged.c_str());
    }
}

fs::path OutputFiles::staged(const fs::path& target) const {
    const auto found =
        std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& output) { return output.given == target; });
    return found->staged;
}

void OutputFiles::write(const std::function<void()>& body) const {
    try {
        body();
    } catch (const Error& error) {
        std::string text = error.what();
        for (const Output& output : outputs_) {
            const std::string staged = output.staged.string();
            const std::string given = output.given.string();
            for (std::size_t at = text.find(staged); at != std::string::npos;
                 at = text.find(staged, at + given.size())) {
                text.replace(at, staged.size(), given);
            }
        }
        throw Error(error.kind(), text);
    }
}

void OutputFiles::commit() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        keep_permissions(outputs_[i].target, outputs_[i].staged);
        std::error_code failure;
        fs::rename(outputs_[i].staged, outputs_[i].target, failure);
        if (failure) {
            for (std::size_t done = 0; done < i; ++done) {
                std::error_code ignored;
                fs::remove(outputs_[done].target, ignored);
            }
            throw Error(ErrorKind::file,
                        fmt::format("{}: '{}' could not be put in place ({}); no output is left", outputs_[i].option,
                                    outputs_[i].given.string(), failure.message()));
        }
    }
    committed_ = true;
}

std::vector<std::string> OutputFiles::names() const {
    std::vector<std::string> names;
    for (const Output& output : outputs_) {
        names.push_back(output.given.string());
    }
    return names;
}

} // namespace kith::cli
