// LZF streams for the tests: a plain encoder that looks for repeats in a table of the last place of every three bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace kith::test {

inline std::vector<std::byte> encode_lzf(std::span<const std::byte> input) {
    constexpr std::size_t longest_literal = 32;
    constexpr std::size_t longest_repeat = 264;
    constexpr std::size_t farthest = 1 << 13;
    std::vector<std::byte> stream;
    std::vector<std::byte> literal;
    const auto put = [&](std::size_t byte) { stream.push_back(static_cast<std::byte>(byte)); };
    const auto flush = [&] {
        if (!literal.empty()) {
            put(literal.size() - 1);
            stream.insert(stream.end(), literal.begin(), literal.end());
            literal.clear();
        }
    };
    std::map<std::array<std::byte, 3>, std::size_t> last;
    for (std::size_t at = 0; at < input.size();) {
        std::size_t length = 0;
        std::size_t distance = 0;
        if (at + 3 <= input.size()) {
            const std::array<std::byte, 3> key = {input[at], input[at + 1], input[at + 2]};
            const auto found = last.find(key);
            if (found != last.end() && at - found->second <= farthest) {
                distance = at - found->second;
                while (length < longest_repeat && at + length < input.size() &&
                       input[at + length] == input[at + length - distance]) {
                    ++length;
                }
            }
            last[key] = at;
        }
        if (length < 3) {
            literal.push_back(input[at++]);
            if (literal.size() == longest_literal) {
                flush();
            }
            continue;
        }
        flush();
        const std::size_t coded = length - 2;
        put(std::min<std::size_t>(coded, 7) << 5 | (distance - 1) >> 8);
        if (coded >= 7) {
            put(coded - 7);
        }
        put((distance - 1) & 255);
        at += length;
    }
    flush();
    return stream;
}

} // namespace kith::test
