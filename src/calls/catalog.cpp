// The catalog in three steps: check the input, bring rows into group order, describe each group.
//
// Groups are numbered by decreasing size, so those of at least min_members are the first ones. They are described side
// by side; a large one is shared among threads within.
#include <kith/catalog.hpp>

#include "calls/device_calls.hpp"
#include "halos/columns.hpp"
#include "halos/group_moments.hpp"
#include "halos/group_order.hpp"
#include "halos/layout.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <span>

namespace kith {

namespace {

Catalog describe(const detail::halos::LabeledGroups& groups, const Particles& particles, const Box& box,
                 const CatalogOptions& options) {
    if (detail::is_on_gpu(options.execution)) {
        detail::halos::check_shapes(groups, particles, options, DeviceKind::cuda);
        detail::require_device(particles.positions.dimension());
        return detail::catalog_on_device(groups, particles, box, options);
    }
    detail::Context context(options.execution);
    Catalog result;
    context.stage("catalog", [&] {
        const detail::halos::Columns columns = detail::halos::checked_columns(groups, particles, box, options);
        result.dimension = columns.dimension;
        result.min_members = options.min_members;
        context.memory_tracker()->add(detail::halos::lay_out(result, groups.sizes, columns.velocities.has_value()));
        detail::halos::order_members(context, groups.labels, particles.types, result);
        context.expect(static_cast<std::int64_t>(result.members.size()));
        detail::parallel_for(0, result.groups, 1, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t described = 0;
            for (std::int64_t group = begin; group < end; ++group) {
                detail::halos::describe_group(columns, group, result);
                described += result.count[group];
            }
            context.done(described);
        });
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace

Catalog catalog(const FofResult& groups, const Particles& particles, const CatalogOptions& options) {
    return catalog(groups.labels, groups, particles, options);
}

Catalog catalog(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
                const CatalogOptions& options) {
    return describe({labels, groups.sizes}, particles, groups.box, options);
}

} // namespace kith
