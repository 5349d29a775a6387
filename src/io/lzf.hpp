// Decoding LZF, the fast compression that h5py offers for HDF5 (filter 32000).
//
// The format is that of Marc Lehmann's LibLZF. A stream is a sequence of runs, each of which begins with a control byte
// c. If c < 32, the c + 1 bytes that follow it are literal. Otherwise the run repeats earlier output: c >> 5 is its
// length less 2, to which the next byte is added if it is 7; the low 5 bits of c and one more byte are, as a number of
// 13 bits, its distance less 1. A run may overlap its own output and then repeats it. There is no header, no length and
// no checksum. Every byte is checked against the ends of both buffers, so that any input is decoded or refused.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace kith::io {

/// Number of bytes that a stream decodes to, at most 88 times its own; nothing if it is cut off within a run.
[[nodiscard]] std::optional<std::size_t> lzf_decoded_bytes(std::span<const std::byte> stream) noexcept;

/// Whether the stream decodes to exactly as many bytes as `out` has, which are then written there. Otherwise the
/// contents of `out` are unspecified.
[[nodiscard]] bool decode_lzf(std::span<const std::byte> stream, std::span<std::byte> out) noexcept;

} // namespace kith::io
