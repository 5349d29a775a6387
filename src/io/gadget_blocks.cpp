// Finding and checking the marks of blocks (gadget_blocks.hpp).
#include "io/gadget_blocks.hpp"

#include "io/byte_order.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kith::io {

namespace {

constexpr std::int64_t mark_bytes = 4;
constexpr std::uint32_t label_record = 8;

struct Kind {
    std::endian order;
    int format;
};

// Some codes pad labels with NUL, and some write them in small letters.
std::string label_of(std::string_view text) {
    std::string label(text.substr(0, text.find_last_not_of(std::string_view(" \0", 2)) + 1));
    std::transform(label.begin(), label.end(), label.begin(), [](char c) {
        const bool is_shown = c >= ' ' && c <= '~';
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : is_shown ? c : '?';
    });
    return label;
}

std::optional<Kind> kind_of(std::span<const std::byte> bytes) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        if (bytes.size() < 8) {
            break;
        }
        const auto first = load<std::uint32_t>(bytes.data(), order);
        const std::string_view label(reinterpret_cast<const char*>(bytes.data()) + mark_bytes, 4);
        if (first == gadget_header_bytes) {
            return Kind{order, 1};
        }
        if (first == label_record && label_of(label) == "HEAD") {
            return Kind{order, 2};
        }
    }
    return std::nullopt;
}

std::string_view name_of(std::endian order) {
    return order == std::endian::big ? "big-endian" : "little-endian";
}

} // namespace

bool is_gadget(const FileStart& start) {
    return kind_of(start.bytes).has_value();
}

GadgetBlocks::GadgetBlocks(const InputFile& file) : file_(file) {
    const std::optional<Kind> kind = kind_of(file.start(8));
    if (!kind) {
        refuse(file_, "this does not begin like Gadget-2 binary, with a block of 256 bytes or the label HEAD");
    }
    order_ = kind->order;
    format_ = kind->format;
}

std::uint32_t GadgetBlocks::mark(std::int64_t at) const {
    std::array<std::byte, mark_bytes> bytes{};
    file_.read(at, bytes);
    return load<std::uint32_t>(bytes.data(), order_);
}

// Whether the block that begins with the mark at `at` ends, `bytes` later, with the same mark.
bool GadgetBlocks::closes(std::int64_t at, std::int64_t bytes) const {
    const std::int64_t room = file_.length() - at - 2 * mark_bytes;
    return bytes <= room && mark(at + mark_bytes + bytes) == mark(at);
}

void GadgetBlocks::refuse_block(std::int64_t at, std::int64_t bytes) const {
    const std::string block =
        message("the block ", label_, label_.empty() ? "" : " ", "at byte ", at, " announces ", bytes, " bytes");
    const std::int64_t end = at + mark_bytes + bytes;
    const std::int64_t reversed = byte_order::reversed(mark(at));
    if (reversed < bytes && reversed + 2 * mark_bytes <= file_.length() - at &&
        mark(at + mark_bytes + reversed) == mark(at)) {
        refuse(file_, block, ", or ", reversed, " in the other byte order, while the file begins as ", name_of(order_),
               "; it mixes byte orders and must be written anew");
    }
    if (end + mark_bytes > file_.length()) {
        refuse(file_, "too short: ", block, " and would end at byte ", end + mark_bytes, ", but the file ends at byte ",
               file_.length(), "; it is truncated, or its marks are corrupted");
    }
    refuse(file_, block, ", but the mark that closes it at byte ", end, " says ", mark(end), "; the file is corrupted");
}

std::int64_t GadgetBlocks::length_at(std::int64_t at, std::span<const std::int64_t> likely) const {
    if (file_.length() - at < 2 * mark_bytes) {
        refuse(file_, "too short: a block begins at byte ", at,
               " and takes at least 8 bytes, but the file ends at byte ", file_.length());
    }
    std::int64_t bytes = mark(at);
    for (const std::int64_t wide : likely) {
        if (wide >> 32 != 0 && static_cast<std::uint32_t>(wide) == bytes && closes(at, wide)) {
            return wide;
        }
    }
    if (!closes(at, bytes)) {
        refuse_block(at, bytes);
    }
    return bytes;
}

// Stops before the block that the label announces.
std::string GadgetBlocks::next_label() {
    label_ = "label";
    const std::int64_t bytes = length_at(at_, {});
    if (bytes != label_record) {
        refuse(file_, "at byte ", at_, " a block of 8 bytes with a label was expected, but it takes ", bytes,
               "; the file is corrupted");
    }
    std::array<char, 4> text{};
    file_.read_into<char>(at_ + mark_bytes, text);
    at_ += label_record + 2 * mark_bytes;
    return label_of({text.data(), text.size()});
}

std::optional<GadgetBlock> GadgetBlocks::next(std::span<const std::int64_t> likely) {
    if (at_ == file_.length()) {
        return std::nullopt;
    }
    label_ = format_ == 2 ? next_label() : "";
    const std::int64_t bytes = length_at(at_, likely);
    GadgetBlock block{label_, at_ + mark_bytes, bytes};
    at_ += bytes + 2 * mark_bytes;
    return block;
}

} // namespace kith::io
