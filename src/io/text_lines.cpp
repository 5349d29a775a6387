// A buffer of fixed size; a line that is cut by its end moves to its front before the next piece is read.
//
// The next LF is looked for once and remembered, so that a file of lone CRs takes linear time. An LF after a CR belongs
// to the same line end, unless the first line ended in a lone CR: then the bytes after the header of a binary PLY file
// are its first, whatever they are.
#include "io/text_lines.hpp"

#include <algorithm>
#include <cstring>

namespace kith::io {

using std::string_view;

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

} // namespace

string_view take_line(string_view& text) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size()));
    return line;
}

void TextLines::start() {
    if (loaded_to_ == 0) {
        const std::vector<std::byte> bytes = file_.start(3);
        const string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (text == "\xef\xbb\xbf") {
            loaded_to_ = 3;
        } else if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
            encoding_ = text.starts_with('\xff') ? Encoding::utf16_little : Encoding::utf16_big;
            loaded_to_ = 2;
            if (file_.length() % 2 != 0) {
                refuse(file_, "this is text in UTF-16, two bytes a character, but the file has ", file_.length(),
                       " bytes; it is cut off, or damaged");
            }
        }
        line_begin_ = loaded_to_;
    }
    const std::int64_t rest = file_.length() - loaded_to_;
    buffer_.resize(encoding_ == Encoding::utf8 ? std::min(static_cast<std::size_t>(rest), buffer_bytes) : buffer_bytes);
}

// Whether there was more to load behind what is left over.
bool TextLines::load() {
    if (loaded_to_ >= file_.length()) {
        return false;
    }
    if (buffer_.empty()) {
        start();
    }
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    constexpr std::size_t widest = 3; // bytes of UTF-8 that two of UTF-16 become
    if (end_ + (encoding_ == Encoding::utf8 ? 0 : widest) > buffer_.size() ||
        (end_ == buffer_.size() && !buffer_.empty())) {
        refuse(file_, "line ", number_ + 1, ", which begins at byte ", line_begin_, ", is longer than ", buffer_bytes,
               " bytes; this is no table of points");
    }
    if (encoding_ == Encoding::utf8) {
        const std::size_t piece =
            std::min(static_cast<std::size_t>(file_.length() - loaded_to_), buffer_.size() - end_);
        file_.read_into(loaded_to_, std::span(buffer_).subspan(end_, piece));
        end_ += piece;
        loaded_to_ += static_cast<std::int64_t>(piece);
    } else {
        load_utf16();
    }
    line_feed_ = find('\n', at_, end_);
    return true;
}

void TextLines::load_utf16() {
    constexpr std::size_t widest = 3;
    const std::size_t units =
        std::min(static_cast<std::size_t>(file_.length() - loaded_to_) / 2, (buffer_.size() - end_) / widest);
    std::vector<unsigned char> bytes(2 * units);
    file_.read_into(loaded_to_, std::span(bytes));
    loaded_to_ += static_cast<std::int64_t>(bytes.size());
    const std::size_t low = encoding_ == Encoding::utf16_little ? 0 : 1;
    const auto put = [&](unsigned value) { buffer_[end_++] = static_cast<char>(value); };
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        const unsigned unit = bytes[i + low] | unsigned{bytes[i + 1 - low]} << 8;
        if (unit < 0x80) {
            put(unit);
        } else if (unit < 0x800) {
            put(0xc0 | unit >> 6);
            put(0x80 | (unit & 0x3f));
        } else {
            put(0xe0 | unit >> 12);
            put(0x80 | (unit >> 6 & 0x3f));
            put(0x80 | (unit & 0x3f));
        }
    }
}

std::size_t TextLines::find(char c, std::size_t from, std::size_t to) const {
    const void* const found = from < to ? std::memchr(buffer_.data() + from, c, to - from) : nullptr;
    return found == nullptr ? to : static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
}

std::optional<string_view> TextLines::next() {
    std::size_t stop = 0; // of the line
    while (true) {
        if (line_feed_ < at_) {
            line_feed_ = find('\n', at_, end_);
        }
        stop = find('\r', at_, line_feed_);
        // A CR at the end of what is loaded may be the first half of CR LF.
        const bool is_found = stop + 1 < end_ || (stop < end_ && buffer_[stop] == '\n');
        if (is_found || !load()) {
            break;
        }
    }
    if (at_ == end_) {
        return std::nullopt;
    }
    const string_view line(buffer_.data() + at_, stop - at_);
    const bool is_return = stop < end_ && buffer_[stop] == '\r';
    const bool is_pair = is_return && !lone_returns_ && stop + 1 == line_feed_ && line_feed_ < end_;
    lone_returns_ = lone_returns_ || (is_return && !is_pair && number_ == 0);
    const std::size_t taken = std::min(stop + (is_pair ? 2 : 1), end_) - at_;
    at_ += taken;
    line_begin_ += static_cast<std::int64_t>(taken);
    ++number_;
    return line;
}

} // namespace kith::io
