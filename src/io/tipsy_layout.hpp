// How a binary Tipsy file is laid out: decided from its header and its length alone.
//
// Header: f64 time; i32 nbodies, ndim, ngas, ndark, nstar (28 bytes), usually padded to 32. Records follow, in order
// gas, dark, star; all numbers are float32, except that positions, or positions and velocities, may be float64. The
// byte order is the one in which ndim is 1, 2 or 3. The rest is decided by the file's length:
//   1. 32-byte header, counts as they are (the padding may hold garbage);
//   2. 32-byte header, the padding's bytes being bits 32 to 39 of nbodies, ngas, ndark and nstar;
//   3. 28-byte header: only if the word in the place of the padding is a plausible first mass, because a file of kind 1
//      that lost its last four bytes has the same length;
// each with narrow records, wide positions, wide positions and velocities, in this order.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

inline constexpr std::int64_t tipsy_header_bytes = 32;

struct TipsyLayout {
    enum Kind : std::uint8_t { gas, dark, star };
    static constexpr std::array<std::size_t, 3> type_of_kind = {0, 1, 4};

    std::endian order = std::endian::big;
    double time = 0;
    std::int64_t header_bytes = tipsy_header_bytes;
    std::array<std::int64_t, 3> counts{}; ///< gas, dark, star
    bool wide_positions = false;
    bool wide_velocities = false;
    std::vector<std::string> warnings;

    [[nodiscard]] std::int64_t record_bytes(int kind) const noexcept;
    [[nodiscard]] std::int64_t offset(int kind) const noexcept; ///< of the first record of a kind
    [[nodiscard]] std::int64_t file_bytes() const noexcept;     ///< header and all records
};

/// Whether the first bytes are a Tipsy header: ndim and the sum of the counts are right, or the length is.
[[nodiscard]] bool is_tipsy(std::span<const std::byte> bytes, std::int64_t file_length);

/// `bytes`: the file's first 32 bytes, fewer if it is shorter. Throws Error(file), `name` in front, if the file is too
/// short, or so long that it may be a truncated file of wider records.
[[nodiscard]] TipsyLayout decide_tipsy_layout(std::span<const std::byte> bytes, std::int64_t file_length,
                                              std::string_view name);

} // namespace kith::io
