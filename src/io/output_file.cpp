// Temporary names, renaming and their failures.
#include "io/output_file.hpp"

#include "io/refuse.hpp"

#include <cerrno>
#include <cstdint>
#include <ios>
#include <random>
#include <system_error>
#include <unistd.h>

namespace kith::io {

namespace fs = std::filesystem;

namespace {

// A link keeps pointing to the file that is replaced, or made.
fs::path resolved(const fs::path& target) {
    std::error_code failure;
    if (!fs::is_symlink(target, failure)) {
        return target;
    }
    const fs::path real = fs::exists(target, failure) ? fs::weakly_canonical(target, failure)
                                                      : target.parent_path() / fs::read_symlink(target, failure);
    return failure ? target : real;
}

// Short, so that it fits wherever the target's own name fits; hidden; random, so that concurrent writers do not meet.
fs::path temporary_beside(const fs::path& target) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
    return target.parent_path() / message(".kith-", number, ".tmp");
}

} // namespace

Replacement::Replacement(const fs::path& target) : target_(resolved(target)) {
    std::error_code failure;
    const fs::file_status status = fs::status(target_, failure);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        refuse(target.string(), "exists and is ", fs::is_directory(status) ? "a folder" : "not a regular file",
               "; it is not replaced");
    }
    if (fs::exists(status) && ::access(target_.c_str(), W_OK) != 0) {
        refuse(target.string(), "exists and is write-protected; it is not replaced. "
                                "Give another name, or make it writable");
    }
    const fs::path folder = target_.parent_path();
    if (!target_.has_filename() || (!folder.empty() && !fs::is_directory(folder, failure))) {
        refuse(target.string(), "cannot be written: there is no folder '", folder.string(), "'; make it first");
    }
    temporary_ = temporary_beside(target_);
}

Replacement::~Replacement() {
    if (!committed_) {
        std::error_code ignored;
        fs::remove(temporary_, ignored);
    }
}

void Replacement::commit() {
    std::error_code failure;
    const fs::file_status older = fs::status(target_, failure);
    if (fs::is_regular_file(older)) {
        fs::permissions(temporary_, older.permissions() & fs::perms::all, failure);
    }
    fs::rename(temporary_, target_, failure);
    if (failure) {
        refuse(target_.string(), "the finished file could not be renamed (", failure.message(), ")");
    }
    committed_ = true;
}

OutputFile::OutputFile(const fs::path& target) : replacement_(target) {
    errno = 0;
    stream_.open(replacement_.temporary(), std::ios::binary | std::ios::trunc);
    if (!stream_) {
        fail();
    }
}

void OutputFile::write(std::span<const std::byte> bytes) {
    errno = 0;
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) {
        fail();
    }
}

void OutputFile::commit() {
    errno = 0;
    stream_.close();
    if (!stream_) {
        fail();
    }
    replacement_.commit();
}

void OutputFile::fail() const {
    const std::string reason = errno != 0 ? std::generic_category().message(errno) : "the stream failed";
    refuse(replacement_.target().string(), "could not be written (", reason, ")");
}

} // namespace kith::io
