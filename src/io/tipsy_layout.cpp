// Which of the layouts in tipsy_layout.hpp a file has.
//
// If none has the file's length exactly, the file is too short, or carries something after its records, or is a
// truncated file of wider records. It is read as the first, with a warning, where the surplus is less than half of what
// wide positions would add, or more than the widest records would take; in between it is refused.
#include "io/tipsy_layout.hpp"

#include "io/byte_order.hpp"
#include "io/refuse.hpp"

#include <cmath>
#include <numeric>
#include <optional>

namespace kith::io {

namespace {

constexpr std::int64_t bare_header_bytes = 28;
constexpr std::array<std::int64_t, 3> narrow_record_bytes = {48, 36, 44};
constexpr std::int64_t widening_bytes = 12; // of three float32 to float64

// nbodies, gas, dark, star
using Counts = std::array<std::int64_t, 4>;

struct Header {
    std::endian order = std::endian::big;
    double time = 0;
    std::uint32_t dimension = 0;
    Counts low{};                ///< without the bits that the padding may hold
    std::uint32_t last_word = 0; ///< the padding, or the first particle's mass
};

std::optional<Header> read_header_words(std::span<const std::byte> bytes) {
    if (bytes.size() < static_cast<std::size_t>(bare_header_bytes)) {
        return std::nullopt;
    }
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        const auto word = [&](std::size_t at) { return load<std::uint32_t>(&bytes[at], order); };
        const std::uint32_t dimension = word(12);
        if (dimension >= 1 && dimension <= 3) {
            Header header{order, load<double>(bytes.data(), order), dimension, {word(8), word(16), word(20), word(24)}};
            header.last_word = bytes.size() >= static_cast<std::size_t>(tipsy_header_bytes) ? word(28) : 0;
            return header;
        }
    }
    return std::nullopt;
}

Counts full_counts(const Header& header) {
    Counts counts = header.low;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] += static_cast<std::int64_t>((header.last_word >> (8 * i)) & 0xff) << 32;
    }
    return counts;
}

bool adds_up(const Counts& counts) {
    return counts[0] == counts[1] + counts[2] + counts[3];
}

bool plausible_mass(std::uint32_t word) {
    const auto mass = std::bit_cast<float>(word);
    return std::isnormal(mass) && mass > 0;
}

TipsyLayout layout_with(const Header& header, const Counts& counts, std::int64_t header_bytes, int width) {
    TipsyLayout layout;
    layout.order = header.order;
    layout.time = header.time;
    layout.header_bytes = header_bytes;
    layout.counts = {counts[1], counts[2], counts[3]};
    layout.wide_positions = width >= 1;
    layout.wide_velocities = width >= 2;
    return layout;
}

std::optional<TipsyLayout> exact_layout(const Header& header, std::int64_t file_length) {
    const Counts& low = header.low;
    const bool empty = low[1] + low[2] + low[3] == 0;
    struct Candidate {
        bool possible;
        Counts counts;
        std::int64_t header_bytes;
    };
    const std::array<Candidate, 3> candidates = {{
        {true, low, tipsy_header_bytes},
        {header.last_word != 0, full_counts(header), tipsy_header_bytes},
        {empty || plausible_mass(header.last_word), low, bare_header_bytes},
    }};
    for (const Candidate& candidate : candidates) {
        for (int width = 0; candidate.possible && width <= 2; ++width) {
            const TipsyLayout layout = layout_with(header, candidate.counts, candidate.header_bytes, width);
            if (layout.file_bytes() == file_length) {
                return layout;
            }
        }
    }
    return std::nullopt;
}

TipsyLayout nearest_layout(const Header& header, std::int64_t file_length, std::string_view name) {
    const bool high_bits = !adds_up(header.low) && adds_up(full_counts(header));
    const Counts counts = high_bits ? full_counts(header) : header.low;
    TipsyLayout layout = layout_with(header, counts, tipsy_header_bytes, 0);
    const std::int64_t needed = layout.file_bytes();
    const std::int64_t widest = layout_with(header, counts, tipsy_header_bytes, 2).file_bytes();
    const std::string announced = message(counts[1], " gas, ", counts[2], " dark and ", counts[3], " star particles");
    if (file_length < needed) {
        refuse(name, "too short: the Tipsy header announces ", announced, ", which end at byte ", needed,
               ", but the file ends at byte ", file_length);
    }
    const std::int64_t surplus = file_length - needed;
    const std::int64_t wide_positions_add = (widest - needed) / 2;
    if (surplus >= wide_positions_add / 2 && file_length <= widest) {
        refuse(name, "the Tipsy header announces ", announced, ", which end at byte ", needed, ", at byte ",
               needed + wide_positions_add, " with float64 positions or at byte ", widest,
               " with float64 velocities too; the file ends at byte ", file_length,
               " and may be a truncated one of these");
    }
    layout.warnings.push_back(message("the file is ", surplus, " bytes longer than its particles, which end at byte ",
                                      needed, "; the rest is ignored"));
    return layout;
}

} // namespace

std::int64_t TipsyLayout::record_bytes(int kind) const noexcept {
    return narrow_record_bytes[kind] + (wide_positions ? widening_bytes : 0) + (wide_velocities ? widening_bytes : 0);
}

std::int64_t TipsyLayout::offset(int kind) const noexcept {
    std::int64_t at = header_bytes;
    for (int before = 0; before < kind; ++before) {
        at += counts[before] * record_bytes(before);
    }
    return at;
}

std::int64_t TipsyLayout::file_bytes() const noexcept {
    return offset(3);
}

bool is_tipsy(std::span<const std::byte> bytes, std::int64_t file_length) {
    const std::optional<Header> header = read_header_words(bytes);
    if (!header) {
        return false;
    }
    const bool is_exact = exact_layout(*header, file_length).has_value();
    if (!std::isfinite(header->time)) { // tools that do not know the time write NaN; the rest must then leave no doubt
        return is_exact && adds_up(header->low);
    }
    return is_exact || adds_up(header->low) || (header->last_word != 0 && adds_up(full_counts(*header)));
}

TipsyLayout decide_tipsy_layout(std::span<const std::byte> bytes, std::int64_t file_length, std::string_view name) {
    const std::optional<Header> header = read_header_words(bytes);
    if (!header) {
        refuse(name, "this is no Tipsy header (", bytes.size(), " bytes)");
    }
    const std::optional<TipsyLayout> exact = exact_layout(*header, file_length);
    TipsyLayout layout = exact ? *exact : nearest_layout(*header, file_length, name);
    const std::int64_t total = std::accumulate(layout.counts.begin(), layout.counts.end(), std::int64_t{0});
    const std::int64_t announced = total >> 32 != 0 ? full_counts(*header)[0] : header->low[0];
    if (announced != total) {
        layout.warnings.push_back(message("the header announces ", announced,
                                          " particles in all, but its gas, dark "
                                          "and star counts, which the length confirms, make ",
                                          total));
    }
    if (!std::isfinite(header->time)) {
        layout.warnings.push_back(message("the header's time is ", header->time, "; the time is taken as unknown"));
    }
    if (header->dimension != 3) {
        layout.warnings.push_back(
            message("the header says ", header->dimension, " dimensions; the records hold three coordinates"));
    }
    return layout;
}

} // namespace kith::io
