// A buffer of fixed size; a line that is cut by its end moves to its front before the next piece is read.
#include "io/text_lines.hpp"

#include <algorithm>
#include <cstring>

namespace kith::io {

// Whether there was more to load behind what is left over.
bool TextLines::load() {
    constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    const auto rest = static_cast<std::size_t>(
        std::min<std::int64_t>(file_.length() - loaded_to_, static_cast<std::int64_t>(buffer_bytes)));
    if (rest == 0) {
        return false;
    }
    if (buffer_.empty()) {
        buffer_.resize(rest);
    }
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    if (end_ == buffer_.size()) {
        refuse(file_, "line ", number_ + 1, ", which begins at byte ", line_begin_, ", is longer than ", buffer_bytes,
               " bytes; this is no table of points");
    }
    const std::size_t piece = std::min(rest, buffer_.size() - end_);
    file_.read_into(loaded_to_, std::span(buffer_).subspan(end_, piece));
    end_ += piece;
    loaded_to_ += static_cast<std::int64_t>(piece);
    return true;
}

std::optional<std::string_view> TextLines::next() {
    const char* line_end = nullptr;
    std::size_t searched = 0;
    while (true) {
        const std::size_t unsearched = end_ - at_ - searched;
        if (unsearched > 0) {
            line_end = static_cast<const char*>(std::memchr(buffer_.data() + at_ + searched, '\n', unsearched));
        }
        searched = end_ - at_;
        if (line_end != nullptr || !load()) {
            break;
        }
    }
    if (line_end == nullptr && at_ == end_) {
        return std::nullopt;
    }
    const std::size_t length =
        line_end == nullptr ? end_ - at_ : static_cast<std::size_t>(line_end - (buffer_.data() + at_));
    const std::size_t taken = length + (line_end == nullptr ? 0 : 1);
    std::string_view line(buffer_.data() + at_, length);
    at_ += taken;
    line_begin_ += static_cast<std::int64_t>(taken);
    ++number_;
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

} // namespace kith::io
