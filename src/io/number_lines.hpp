// Whole numbers as text, a line each.
#pragma once

#include "io/output_file.hpp"

#include "support/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace kith::io {

/// Writes a first piece of text, then every value plus `added`.
inline void write_number_lines(OutputFile& file, std::string first, std::span<const std::int32_t> values,
                               std::int64_t added) {
    constexpr std::size_t block_bytes = 1 << 16;
    std::string block = std::move(first);
    for (const std::int32_t value : values) {
        detail::append(block, std::int64_t{value} + added);
        block += '\n';
        if (block.size() >= block_bytes) {
            file.write(block);
            block.clear();
        }
    }
    file.write(block);
}

} // namespace kith::io
