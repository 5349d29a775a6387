// Numbers in memory as a source of blocks, so that a writer has one text for these and for numbers made meanwhile.
#pragma once

#include <kith/io.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace kith::io {

/// Copies the bytes of the arrays, one after the other. They must outlive the source.
[[nodiscard]] inline BlockSource blocks_of(std::vector<std::span<const std::byte>> arrays) {
    return [arrays = std::move(arrays), array = std::size_t{0}](std::span<std::byte> block) mutable {
        while (!block.empty()) {
            std::span<const std::byte>& rest = arrays.at(array);
            const std::size_t bytes = std::min(block.size(), rest.size());
            std::copy_n(rest.begin(), bytes, block.begin());
            block = block.subspan(bytes);
            rest = rest.subspan(bytes);
            array += rest.empty() ? 1 : 0;
        }
    };
}

template <class T>
[[nodiscard]] NumberSource source_of(std::span<const T> numbers) {
    return {std::ssize(numbers), blocks_of({std::as_bytes(numbers)})};
}

} // namespace kith::io
