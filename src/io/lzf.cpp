// Parsing the runs of an LZF stream and executing them (format in lzf.hpp).
#include "io/lzf.hpp"

#include <cstring>

namespace kith::io {

namespace {

struct Run {
    std::size_t bytes = 0;    ///< that it decodes to
    std::size_t literal = 0;  ///< position of its bytes in the stream, if it has no distance
    std::size_t distance = 0; ///< back from the end of the output; 0: literal
};

// The run at `at`, which is moved behind it; nothing if the stream ends within it.
std::optional<Run> next_run(std::span<const std::byte> stream, std::size_t& at) noexcept {
    const std::size_t left = stream.size() - at;
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(stream[at + i]); };
    const std::size_t control = byte(0);
    constexpr std::size_t first_repeat = 32;
    if (control < first_repeat) {
        const Run run{control + 1, at + 1, 0};
        if (left < 1 + run.bytes) {
            return std::nullopt;
        }
        at += 1 + run.bytes;
        return run;
    }
    constexpr std::size_t long_run = 7;
    const bool is_long = control >> 5 == long_run;
    const std::size_t header = is_long ? 3 : 2;
    if (left < header) {
        return std::nullopt;
    }
    const Run run{(control >> 5) + 2 + (is_long ? byte(1) : 0), 0, ((control & 31) << 8 | byte(header - 1)) + 1};
    at += header;
    return run;
}

} // namespace

std::optional<std::size_t> lzf_decoded_bytes(std::span<const std::byte> stream) noexcept {
    std::size_t bytes = 0;
    for (std::size_t at = 0; at < stream.size();) {
        const std::optional<Run> run = next_run(stream, at);
        if (!run) {
            return std::nullopt;
        }
        bytes += run->bytes;
    }
    return bytes;
}

bool decode_lzf(std::span<const std::byte> stream, std::span<std::byte> out) noexcept {
    std::size_t written = 0;
    for (std::size_t at = 0; at < stream.size();) {
        const std::optional<Run> run = next_run(stream, at);
        if (!run || run->bytes > out.size() - written || run->distance > written) {
            return false;
        }
        std::byte* const to = out.data() + written;
        if (run->distance == 0) {
            std::memcpy(to, stream.data() + run->literal, run->bytes);
        } else if (run->distance >= run->bytes) {
            std::memcpy(to, to - run->distance, run->bytes);
        } else {
            for (std::size_t i = 0; i < run->bytes; ++i) {
                to[i] = to[i - run->distance]; // what this run has just written
            }
        }
        written += run->bytes;
    }
    return written == out.size();
}

} // namespace kith::io
