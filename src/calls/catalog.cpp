// The catalog in three steps: check the input, bring rows into group order, describe each group.
//
// Groups are numbered by decreasing size, so those of at least min_members are the first ones. They are described side
// by side; a large one is shared among threads within.
#include <kith/catalog.hpp>
#include <kith/device_catalog.hpp>
#include <kith/error.hpp>

#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "halos/columns.hpp"
#include "halos/group_moments.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/one_process.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace kith {

namespace {

/// The calls on a GPU, once they may begin.
const detail::DeviceCalls& checked_on_gpu(const detail::halos::LabeledGroups& groups, const Particles& particles,
                                          const CatalogOptions& options) {
    detail::halos::check_shapes(groups, particles, options, DeviceKind::cuda);
    detail::on_gpu().require_dimension(particles.positions.dimension());
    return detail::on_gpu();
}

Catalog describe(const detail::halos::LabeledGroups& groups, const Particles& given, const FofSummary& found,
                 const CatalogOptions& options) {
    namespace halos = detail::halos;
    if (detail::is_on_gpu(options.execution)) {
        return checked_on_gpu(groups, given, options).catalog(groups, given, found, options);
    }
    detail::Context context(options.execution);
    Catalog result;
    context.stage("catalog", [&] {
        std::vector<std::uint8_t> memory_of_types;
        halos::check_shapes(groups, given, options, DeviceKind::cpu);
        const Particles particles = halos::with_plain_types(given, memory_of_types);
        const double largest_velocity = halos::check_values(groups, particles, options);
        const auto describe_in = [&](const halos::PositionFrame& frame) {
            result = {};
            return halos::describe_groups(context, groups, halos::columns_of(particles, largest_velocity, frame),
                                          options.min_members, result);
        };
        const std::optional<halos::PositionFrame> known = halos::known_frame(found, particles.positions);
        if (!known || !describe_in(*known)) {
            (void)describe_in(halos::frame_of_all(particles.positions, found.box));
        }
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace

Catalog catalog(const FofResult& groups, const Particles& particles, const CatalogOptions& options) {
    if (options.execution.team != nullptr) {
        return detail::catalog_over_team(groups, particles, options);
    }
    detail::require_groups_of(groups, 0);
    return catalog(groups.labels(), groups, particles, options);
}

Catalog catalog(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
                const CatalogOptions& options) {
    detail::require_groups_of(groups, 0);
    Catalog result = describe({labels, groups.sizes}, particles, groups, options);
    result.box = groups.box;
    result.lengths = groups;
    return result;
}

DeviceCatalog device_catalog(const FofResult& groups, const Particles& particles, const CatalogOptions& options) {
    return device_catalog(groups.labels(), groups, particles, options);
}

DeviceCatalog device_catalog(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
                             const CatalogOptions& options) {
    detail::require_one_process(options.execution);
    detail::require_groups_of(groups, 0);
    if (!detail::is_on_gpu(options.execution)) {
        throw Error(ErrorKind::invalid_argument,
                    "device_catalog() runs on a GPU, with kith::cuda(); catalog() runs on the CPU");
    }
    const detail::halos::LabeledGroups labeled{labels, groups.sizes};
    DeviceCatalog result =
        checked_on_gpu(labeled, particles, options).device_catalog(labeled, particles, groups, options);
    result.box = groups.box;
    result.lengths = groups;
    return result;
}

Catalog DeviceCatalog::to_host(CudaStream stream) const {
    if (memory_.owner == nullptr) {
        return {};
    }
    return detail::on_gpu().catalog_on_host(*this, cuda(device_.index, stream));
}

void store_column(const DeviceCatalog& catalog, std::string_view field, const ColumnMemory& to, CudaStream stream) {
    const auto column = std::ranges::find(catalog_columns, field, &CatalogColumn::field);
    if (field.empty() || column == catalog_columns.end()) {
        throw detail::error(ErrorKind::invalid_argument, "a catalog has no field '", field, "'");
    }
    const bool fits =
        std::holds_alternative<std::vector<double> Catalog::*>(column->values)
            ? std::holds_alternative<std::span<float>>(to) || std::holds_alternative<std::span<double>>(to)
        : std::holds_alternative<std::vector<std::int64_t> Catalog::*>(column->values)
            ? std::holds_alternative<std::span<std::int32_t>>(to)
            : std::holds_alternative<std::span<std::uint8_t>>(to);
    if (!fits) {
        throw detail::error(ErrorKind::invalid_argument, "the memory for the field '", field,
                            "' is for numbers of another kind; real numbers take float or double, whole ones "
                            "std::int32_t, flags std::uint8_t");
    }
    detail::on_gpu().store_column(catalog, static_cast<std::size_t>(column - catalog_columns.begin()), to,
                                  cuda(catalog.device().index, stream));
}

} // namespace kith
