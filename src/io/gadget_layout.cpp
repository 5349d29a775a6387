// Header and blocks of a Gadget-2 binary file (gadget_layout.hpp).
//
// Format 1 has no labels: after POS, a block is VEL, ID or MASS if it comes in its turn and has the length. IDs and
// masses may be of one length; the first such block holds ids, unless the header asks for masses and no other block can
// hold them. GIZMO has two more blocks between ids and masses, child and generation ids of all particles, whose lengths
// may be those of masses. The content tells: read as reals, ids are 0 or too small to be normal numbers.
#include "io/gadget_layout.hpp"

#include "io/byte_order.hpp"
#include "io/frame.hpp"
#include "io/gadget_blocks.hpp"
#include "io/joined.hpp"
#include "io/refuse.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace kith::io {

namespace {

constexpr std::size_t gadget_types = 6;

void read_box(SnapshotHeader& header, double size, const InputFile& file) {
    if (std::isfinite(size) && size >= 0) {
        header.box_size = {size, size, size};
        return;
    }
    header.invalid_box = message(file.path().string(), ": the header's BoxSize is ", size,
                                 ", but a period is a finite number, 0 or more");
    header.warnings.push_back(header.invalid_box + "; no box is taken from the file");
}

void read_header(GadgetLayout& layout, const GadgetBlock& block, const InputFile& file) {
    std::array<std::byte, gadget_header_bytes> bytes{};
    file.read(block.offset, bytes);
    const auto count = [&](std::size_t at) { return std::int64_t{load<std::uint32_t>(&bytes[at], layout.order)}; };
    const auto real = [&](std::size_t at) { return load<double>(&bytes[at], layout.order); };
    FileSummary& summary = layout.summary;
    SnapshotHeader& header = summary.header;
    TypeCounts totals{};
    for (std::size_t type = 0; type < gadget_types; ++type) {
        header.counts[type] = count(4 * type);
        summary.mass_table[type] = real(24 + 8 * type);
        totals[type] = count(96 + 4 * type) + ((count(168 + 4 * type) & 0x3fffffff) << 32);
    }
    if (totals != TypeCounts{}) {
        summary.totals = totals;
    }
    summary.files = std::max(1, load<std::int32_t>(&bytes[124], layout.order));
    header.time = real(72);
    header.redshift = real(80);
    read_box(header, real(128), file);
    constexpr std::array<const char*, 3> cosmology = {"Omega0", "OmegaLambda", "HubbleParam"};
    for (std::size_t i = 0; i < cosmology.size(); ++i) {
        if (const double value = real(136 + 8 * i); value != 0 && std::isfinite(value)) {
            header.parameters.emplace(cosmology[i], value);
        }
    }
    if (const std::optional<double> scale_factor = scale_factor_of(header)) {
        header.frame = gadget_frame(*scale_factor);
    }
    warn_of_unknown_frame(header);
}

std::vector<GadgetBlock> read_blocks(GadgetBlocks& blocks, std::span<const std::int64_t> likely,
                                     const InputFile& file) {
    constexpr std::size_t most = 1000;
    std::vector<GadgetBlock> found;
    while (const std::optional<GadgetBlock> block = blocks.next(likely)) {
        found.push_back(*block);
        if (found.size() > most) {
            refuse(file, "it has more than ", most, " blocks; the last begins at byte ", block->offset - 4,
                   "; the file is corrupted");
        }
    }
    return found;
}

bool fits(const GadgetBlock& block, std::int64_t values) {
    return block.bytes == 4 * values || block.bytes == 8 * values;
}

GadgetColumn column(const GadgetBlock& block, std::int64_t values) {
    return {block.offset, block.bytes == 4 * values ? 4 : 8};
}

GadgetColumn column_that_fits(const GadgetBlock& block, std::string_view label, std::int64_t values,
                              std::int64_t particles, const InputFile& file) {
    if (!fits(block, values)) {
        refuse(file, "the block ", label, " at byte ", block.offset - 4, " holds ", block.bytes, " bytes, but ",
               particles, " particles take ", 4 * values, " in float32 or 32-bit ids, ", 8 * values,
               " in float64 or 64-bit ids");
    }
    return column(block, values);
}

// How many particles have a place in POS, VEL and ID, and how many in MASS.
struct Rows {
    std::int64_t all = 0;
    std::int64_t with_own_masses = 0;
};

void find_by_label(GadgetLayout& layout, const std::vector<GadgetBlock>& blocks, const Rows& rows,
                   const InputFile& file) {
    struct Wanted {
        std::string_view label;
        std::optional<GadgetColumn>& column;
        std::int64_t values;
        std::int64_t particles;
    };
    const std::array<Wanted, 4> wanted = {{{"POS", layout.positions, 3 * rows.all, rows.all},
                                           {"VEL", layout.velocities, 3 * rows.all, rows.all},
                                           {"ID", layout.ids, rows.all, rows.all},
                                           {"MASS", layout.masses, rows.with_own_masses, rows.with_own_masses}}};
    for (const GadgetBlock& block : blocks) {
        for (const Wanted& each : wanted) {
            if (block.label == each.label && !each.column && each.values > 0) {
                each.column = column_that_fits(block, each.label, each.values, each.particles, file);
            }
        }
    }
}

enum class Content { zeros, small_integers, reals };

template <class Bits>
Content content_of(const InputFile& file, std::int64_t offset, std::int64_t values, std::endian order, Bits normal) {
    constexpr std::int64_t piece = 1 << 17;
    std::vector<Bits> stored(std::min(piece, values));
    bool any = false;
    for (std::int64_t first = 0; first < values; first += piece) {
        const auto count = static_cast<std::size_t>(std::min(piece, values - first));
        const std::span<Bits> bits = std::span(stored).first(count);
        file.read_into(offset + first * static_cast<std::int64_t>(sizeof(Bits)), bits);
        to_native(bits, order);
        if (std::any_of(bits.begin(), bits.end(), [&](Bits value) { return value >= normal; })) {
            return Content::reals;
        }
        any = any || std::any_of(bits.begin(), bits.end(), [](Bits value) { return value != 0; });
    }
    return any ? Content::small_integers : Content::zeros;
}

// Reads up to the first value that is no small integer: a piece of ordinary masses, all of GIZMO's ids.
Content content_of(const InputFile& file, const GadgetBlock& block, std::int64_t values, std::endian order) {
    return block.bytes == 4 * values ? content_of(file, block.offset, values, order, std::uint32_t{1} << 23)
                                     : content_of(file, block.offset, values, order, std::uint64_t{1} << 52);
}

// Masses come next, or after two blocks of ids.
void find_masses(GadgetLayout& layout, std::span<const GadgetBlock> blocks, const Rows& rows, const InputFile& file) {
    const auto comes = [&](std::size_t at, std::int64_t values) {
        return values > 0 && at < blocks.size() && fits(blocks[at], values);
    };
    const auto content = [&](std::size_t at, std::int64_t values) {
        return content_of(file, blocks[at], values, layout.order);
    };
    std::vector<std::string>& warnings = layout.summary.header.warnings;
    const std::int64_t own = rows.with_own_masses;
    if (layout.ids && comes(0, rows.all) && comes(1, rows.all) && comes(2, own) &&
        content(0, rows.all) != Content::reals && content(1, rows.all) != Content::reals &&
        content(2, own) == Content::reals) {
        layout.masses = column(blocks[2], own);
        warnings.emplace_back("two blocks of whole numbers follow the ids, as in files of GIZMO; masses are taken from "
                              "the block after these");
    } else if (comes(0, own) && content(0, own) == Content::small_integers) {
        warnings.emplace_back("the block where masses are expected holds whole numbers; masses are left out");
    } else if (comes(0, own)) {
        layout.masses = column(blocks[0], own);
    }
}

void find_by_order(GadgetLayout& layout, const std::vector<GadgetBlock>& blocks, const Rows& rows,
                   const InputFile& file) {
    if (blocks.empty()) {
        return;
    }
    layout.positions = column_that_fits(blocks.front(), "of positions", 3 * rows.all, rows.all, file);
    std::size_t next = 1;
    const auto comes = [&](std::size_t at, std::int64_t values) {
        return values > 0 && at < blocks.size() && fits(blocks[at], values);
    };
    if (comes(next, 3 * rows.all)) {
        layout.velocities = column(blocks[next++], 3 * rows.all);
    }
    const bool only_masses = comes(next, rows.with_own_masses) && !comes(next + 1, rows.with_own_masses);
    if (comes(next, rows.all) && !only_masses) {
        layout.ids = column(blocks[next++], rows.all);
    }
    find_masses(layout, std::span(blocks).subspan(std::min(next, blocks.size())), rows, file);
}

[[noreturn]] void refuse_without_positions(const std::vector<GadgetBlock>& blocks, const Rows& rows,
                                           const InputFile& file) {
    std::string labels = joined(blocks, ", ", &GadgetBlock::label);
    bool catalog = false;
    for (const GadgetBlock& block : blocks) {
        catalog = catalog || block.label == "GLEN" || block.label == "GPOS";
    }
    constexpr std::size_t enough = 200;
    labels = labels.size() > enough ? labels.substr(0, enough) + "..." : labels;
    refuse(file, "the header announces ", rows.all, " particles, but there is no block of positions",
           blocks.empty()            ? "; the file ends after its header"
           : blocks[0].label.empty() ? ""
                                     : " (POS); its blocks are " + labels,
           catalog ? ". This looks like a Subfind catalog, which holds no particles" : "");
}

} // namespace

std::int64_t GadgetLayout::rows_before(std::size_t type, bool with_own_masses) const noexcept {
    std::int64_t rows = 0;
    for (std::size_t before = 0; before < type; ++before) {
        rows += with_own_masses && !has_own_masses(before) ? 0 : summary.header.counts[before];
    }
    return rows;
}

GadgetLayout survey_gadget(const InputFile& file) {
    GadgetBlocks blocks(file);
    GadgetLayout layout;
    layout.order = blocks.order();
    const std::optional<GadgetBlock> first = blocks.next({});
    if (!first || first->bytes != gadget_header_bytes) {
        refuse(file, "the header takes ", first ? first->bytes : 0, " bytes; that of Gadget-2 takes 256. The ",
               "longer ones of Gadget-4 are not read: write HDF5, or the header of Gadget-2");
    }
    read_header(layout, *first, file);
    SnapshotHeader& header = layout.summary.header;
    header.format = message("Gadget-2 binary (format ", blocks.format(), ", ",
                            layout.order == std::endian::big ? "big-endian" : "little-endian", ")");
    const Rows rows{layout.rows_before(gadget_types, false), layout.rows_before(gadget_types, true)};
    const std::array<std::int64_t, 6> likely = {
        12 * rows.all, 24 * rows.all, 4 * rows.all, 8 * rows.all, 4 * rows.with_own_masses, 8 * rows.with_own_masses};
    const std::vector<GadgetBlock> found = read_blocks(blocks, likely, file);
    if (rows.all == 0) {
        return layout;
    }
    (blocks.format() == 2 ? find_by_label : find_by_order)(layout, found, rows, file);
    if (!layout.positions) {
        refuse_without_positions(found, rows, file);
    }
    header.dtype = layout.positions->item_bytes == 8 ? DType::float64 : DType::float32;
    return layout;
}

} // namespace kith::io
