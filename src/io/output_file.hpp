// Files that appear whole or not at all.
//
// Everything is written to a temporary name in the target's folder and renamed at the end. A Replacement that is
// destroyed without commit() removes the temporary and leaves the target as it was.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

namespace kith::io {

class Replacement {
public:
    /// Throws Error(file) if the target exists and is no regular file, or its folder does not exist.
    explicit Replacement(const std::filesystem::path& target);
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;
    ~Replacement();

    /// The name to write to. Nothing is there yet.
    [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }
    [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
    /// Gives the finished file its name, and the permissions of the file that it replaces.
    void commit();

private:
    std::filesystem::path target_;
    std::filesystem::path temporary_;
    bool committed_ = false;
};

/// Bytes in sequence to a Replacement. Throws Error(file) when the disk is full or fails.
class OutputFile {
public:
    explicit OutputFile(const std::filesystem::path& target);

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Flushes, closes and renames.
    void commit();

private:
    [[noreturn]] void fail() const;
    Replacement replacement_;
    std::ofstream stream_;
};

} // namespace kith::io
