// Describes groups of a part on the CPU.
#pragma once

#include "halos/group_moments.hpp"
#include "halos/part_describer.hpp"
#include "support/context.hpp"

namespace kith::detail::halos {

class HostPartDescriber final : public PartDescriber {
public:
    explicit HostPartDescriber(Context& context) : context_(context) {} ///< which outlives it

    [[nodiscard]] Catalog describe(const char* stage, const LabeledGroups& groups, const Particles& particles,
                                   const ParticleUnits& units) override {
        Catalog catalog;
        context_.stage(stage, [&] {
            (void)describe_groups(context_, groups, columns_of(particles, units.largest_velocity, units.positions), 1,
                                  catalog);
        });
        return catalog;
    }

private:
    Context& context_;
};

} // namespace kith::detail::halos
