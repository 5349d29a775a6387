// A file open for reading, whose length is known and whose reads are complete or fail naming the byte.
#pragma once

#include "io/refuse.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

namespace kith::io {

class InputFile {
public:
    /// Throws Error(file) for what is missing, unreadable or not a regular file.
    explicit InputFile(const std::filesystem::path& path);

    [[nodiscard]] std::int64_t length() const noexcept { return length_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// The first `most` bytes, or the whole file if it is shorter.
    [[nodiscard]] std::vector<std::byte> start(std::int64_t most) const;

    /// Fills `bytes` from `offset` on. Throws Error(file) if the file ends before.
    void read(std::int64_t offset, std::span<std::byte> bytes) const;

    template <class T>
    void read_into(std::int64_t offset, std::span<T> values) const {
        read(offset, std::as_writable_bytes(values));
    }

private:
    std::filesystem::path path_;
    mutable std::ifstream stream_;
    std::int64_t length_ = 0;
};

template <class... Parts>
[[noreturn]] void refuse(const InputFile& file, const Parts&... parts) {
    refuse(file.path().string(), parts...);
}

} // namespace kith::io
