// Opening and reading with errors that say which file, which byte and why.
#include "io/input_file.hpp"

#include "io/refuse.hpp"

#include "support/message.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace kith::io {

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    if (status.type() == std::filesystem::file_type::not_found) {
        refuse(path.string(), "there is no such file");
    }
    if (!failure && status.type() != std::filesystem::file_type::regular) {
        refuse(path.string(), "this is ", std::filesystem::is_directory(status) ? "a folder" : "not a regular file",
               "; kith reads regular files");
    }
    errno = 0;
    stream_.open(path, std::ios::binary);
    const int reason = errno;
    const std::uintmax_t length = stream_ ? std::filesystem::file_size(path, failure) : 0;
    if (!stream_ || failure) {
        const std::string text = failure ? failure.message() : std::generic_category().message(reason);
        refuse(path.string(), "could not be opened (", text, ")");
    }
    length_ = static_cast<std::int64_t>(length);
}

std::vector<std::byte> InputFile::start(std::int64_t most) const {
    std::vector<std::byte> bytes(std::min(length_, most));
    read(0, bytes);
    return bytes;
}

void InputFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
    const auto wanted = std::ssize(bytes);
    if (offset > length_ || wanted > length_ - offset) {
        refuse(path_.string(), "too short: bytes ", offset, " to ", offset + wanted,
               " are needed, but the file ends at byte ", length_);
    }
    stream_.clear();
    stream_.seekg(offset);
    stream_.read(reinterpret_cast<char*>(bytes.data()), wanted);
    if (stream_.gcount() != wanted) {
        refuse(path_.string(), "reading stopped at byte ", offset + static_cast<std::int64_t>(stream_.gcount()), " of ",
               length_, "; the file may have changed, or the device failed");
    }
}

} // namespace kith::io
