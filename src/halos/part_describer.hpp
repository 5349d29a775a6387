// Describes groups whose members are all in one part of the particles, such as those of a rank: on the host
// (part_describer_cpu.hpp) or on a GPU (catalog.cu). distributed/catalog, which joins the parts, does not know which.
//
// Units follow from the particles of all parts, so that no bit depends on where a group is described.
#pragma once

#include <kith/catalog.hpp>
#include <kith/progress.hpp>

#include "halos/columns.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace kith::detail::halos {

/// What coordinates and velocities are scaled by, and the box.
struct ParticleUnits {
    double largest_velocity = 0; ///< of all parts
    PositionFrame positions;     ///< of all parts, in which there is nothing to look at
};

class PartDescriber {
public:
    PartDescriber() = default;
    PartDescriber(const PartDescriber&) = delete;
    PartDescriber& operator=(const PartDescriber&) = delete;
    virtual ~PartDescriber() = default;

    /// The catalog of all groups, in a stage of this name; its members are rows. Labels and sizes are the host's,
    /// positions and velocities may be the GPU's; all have been checked.
    [[nodiscard]] virtual Catalog describe(const char* stage, const LabeledGroups& groups, const Particles& particles,
                                           const ParticleUnits& units) = 0;

    /// What stages of a GPU took, so far; none of the host's, which are the context's.
    [[nodiscard]] virtual StageReports take_stages() { return {}; }
    /// Copied from a GPU so far.
    [[nodiscard]] virtual std::int64_t bytes_to_host() const { return 0; }
};

/// Makes a describer of a rank's GPU.
using MakePartDescriber = std::function<std::unique_ptr<PartDescriber>()>;

} // namespace kith::detail::halos
