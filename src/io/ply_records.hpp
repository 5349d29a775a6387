// Binary PLY records one after the other, whose lengths differ because they have lists.
//
// A list is a count and then as many values. Only values of properties that are no lists are handed out; the values of
// a list are stepped over without reading them. The count is checked against the length of the file.
#pragma once

#include "io/byte_order.hpp"
#include "io/input_file.hpp"
#include "io/ply_header.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::io {

/// Calls use with a value of the type that has this kind and size.
template <class Use>
void with_stored_type(char kind, std::int64_t bytes, const Use& use) {
    const auto by_size = [&](auto one, auto two, auto four, auto eight) {
        bytes == 1 ? use(one) : bytes == 2 ? use(two) : bytes == 4 ? use(four) : use(eight);
    };
    if (kind == 'f') {
        bytes == 4 ? use(float{}) : use(double{});
    } else if (kind == 'i') {
        by_size(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
    } else {
        by_size(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
    }
}

class PlyRecords {
public:
    /// From `offset` on. `file` must outlive this.
    PlyRecords(const InputFile& file, std::int64_t offset, std::endian order)
        : file_(file), order_(order), next_(offset) {}

    /// Reads one record: use(i, bytes) for every property i that is no list.
    template <class Use>
    void next(const PlyElement& element, const Use& use) {
        for (std::size_t i = 0; i < element.properties.size(); ++i) {
            const PlyProperty& property = element.properties[i];
            if (property.list) {
                step_over_list(element, property);
            } else {
                use(i, take(property.bytes, element));
            }
        }
    }

private:
    void step_over_list(const PlyElement& element, const PlyProperty& property) {
        const std::byte* const stored = take(property.count_bytes, element);
        std::int64_t count = 0;
        with_stored_type(property.count_kind, property.count_bytes,
                         [&](auto type) { count = static_cast<std::int64_t>(load<decltype(type)>(stored, order_)); });
        if (count < 0 || count > (file_.length() - next_) / property.bytes) {
            refuse(file_, "the list ", property.name, " of element ", element.name, " before byte ", next_, " has ",
                   count, " values of ", property.bytes, " bytes, but the file ends at byte ", file_.length());
        }
        next_ += count * property.bytes;
    }
    /// The next bytes, valid until the next call.
    const std::byte* take(std::int64_t bytes, const PlyElement& element) {
        if (next_ < begin_ || next_ + bytes > begin_ + std::ssize(block_)) {
            load_block(bytes, element);
        }
        const std::byte* const taken = block_.data() + (next_ - begin_);
        next_ += bytes;
        return taken;
    }
    void load_block(std::int64_t bytes, const PlyElement& element) {
        constexpr std::int64_t block_bytes = 1 << 20;
        if (bytes > file_.length() - next_) {
            refuse(file_, "too short: it ends at byte ", file_.length(), ", within a record of element ", element.name);
        }
        block_.resize(static_cast<std::size_t>(std::min(block_bytes, file_.length() - next_)));
        file_.read(next_, block_);
        begin_ = next_;
    }

    const InputFile& file_;
    std::endian order_;
    std::int64_t next_;      ///< offset of the next byte in the file
    std::int64_t begin_ = 0; ///< of the block
    std::vector<std::byte> block_;
};

} // namespace kith::io
