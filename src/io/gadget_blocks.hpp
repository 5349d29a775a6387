// Gadget-2 binary files as what they are: a sequence of blocks, each between two marks that hold its length.
//
// A block is [u32 n] n bytes [u32 n]. In format 1 blocks have no names and the first, the header, takes 256 bytes. In
// format 2 each follows a block of 8 bytes: its label of four characters, and the distance to the next label, which
// some codes get wrong and which is not needed. The marks of a block of 4 GiB or more hold the lowest 32 bits of its
// length; its true length is then one that the particle counts imply. All marks up to the end of the file are checked.
#pragma once

#include "io/input_file.hpp"
#include "io/reader.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kith::io {

inline constexpr std::int64_t gadget_header_bytes = 256;

struct GadgetBlock {
    std::string label;       ///< "POS", in capitals and without trailing blanks; empty in format 1
    std::int64_t offset = 0; ///< of its content
    std::int64_t bytes = 0;
};

class GadgetBlocks {
public:
    /// Finds the byte order and the format. Throws Error(file) for what is neither.
    explicit GadgetBlocks(const InputFile& file);

    [[nodiscard]] std::endian order() const noexcept { return order_; }
    [[nodiscard]] int format() const noexcept { return format_; }

    /// The next block; nothing at the end of the file. `likely`: the lengths that it may have beyond 4 GiB. Throws
    /// Error(file) if the file ends before the block, or if its marks differ.
    [[nodiscard]] std::optional<GadgetBlock> next(std::span<const std::int64_t> likely);

private:
    [[nodiscard]] std::uint32_t mark(std::int64_t at) const;
    [[nodiscard]] bool closes(std::int64_t at, std::int64_t bytes) const;
    [[nodiscard]] std::string next_label();
    [[nodiscard]] std::int64_t length_at(std::int64_t at, std::span<const std::int64_t> likely) const;
    [[noreturn]] void refuse_block(std::int64_t at, std::int64_t bytes) const;

    const InputFile& file_;
    std::endian order_ = std::endian::little;
    int format_ = 1;
    std::int64_t at_ = 0;
    std::string label_; ///< of the block that is being looked at, for messages
};

/// Whether the file begins with the mark of a header of 256 bytes, or with the label HEAD.
[[nodiscard]] bool is_gadget(const FileStart& start);

} // namespace kith::io
