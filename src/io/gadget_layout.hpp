// What a Gadget-2 binary file holds, and where: its header, and the blocks of positions, velocities, ids and masses.
//
// The header's 256 bytes (offsets): 0 npart i32 x 6, 24 mass f64 x 6, 72 time, 80 redshift, 96 lower and 168 upper 32
// bits of the particles in all files, 124 number of files, 128 BoxSize, 136 Omega0, 144 OmegaLambda, 152 h. Real files
// leave BoxSize, the totals and the number of files 0, and some have neither velocities nor ids. Blocks come in the
// order POS, VEL, ID, MASS, others; MASS holds only the types whose entry in the mass table is 0. Precision and the
// width of ids follow from the blocks' lengths. Velocities are taken as stored: in cosmological runs these are peculiar
// velocities over sqrt(a).
#pragma once

#include "io/input_file.hpp"
#include "io/particle_source.hpp"

#include <bit>
#include <cstdint>
#include <optional>

namespace kith::io {

/// A column of the file: values of 4 or 8 bytes.
struct GadgetColumn {
    std::int64_t offset = 0;
    std::int64_t item_bytes = 4;
};

struct GadgetLayout {
    std::endian order = std::endian::little;
    FileSummary summary;
    std::optional<GadgetColumn> positions;
    std::optional<GadgetColumn> velocities;
    std::optional<GadgetColumn> ids;
    std::optional<GadgetColumn> masses;

    /// Whether the masses of a type are in the block MASS, if there is one.
    [[nodiscard]] bool has_own_masses(std::size_t type) const noexcept { return summary.mass_table[type] == 0; }
    /// Particles of the types before `type`: all, or those in the block MASS.
    [[nodiscard]] std::int64_t rows_before(std::size_t type, bool with_own_masses) const noexcept;
};

/// Throws Error(file) for truncated and corrupted files, and for blocks whose lengths do not fit the particle counts.
[[nodiscard]] GadgetLayout survey_gadget(const InputFile& file);

} // namespace kith::io
