// The catalog on a GPU: the CPU's, to the last bit.
//
// Rows are surveyed and checked, those of the groups are brought into group order (device_members.hpp), and the groups
// are described (device_moments.hpp). Everything that is added or compared over members is an integer, a minimum or a
// maximum, of terms that are written once for both (vector_moments.hpp). The host makes room for the columns while the
// device works. Source: jz-tree paper, section IV-B. Cost: O(N), a sort of the members, and the copy of the columns to
// the host.
#pragma once

#include <kith/catalog_columns.hpp>

#include "cuda/launch.hpp"
#include "halos/columns.hpp"
#include "halos/device_members.hpp"
#include "halos/device_moments.hpp"
#include "halos/device_refusal.hpp"
#include "halos/layout.hpp"
#include "halos/survey_kernel.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The columns that lay_out() does not fill, while they are made.
class ColumnsOnDevice {
public:
    ColumnsOnDevice(const DeviceContext& context, const Catalog& catalog, std::int64_t groups, bool velocities) {
        for_each_field(catalog, [&]<class T>(const CatalogColumn& column, const std::vector<T>&) {
            if (!halos::follows_from_sizes(column)) {
                numbers(column) = context.buffer<std::uint8_t>(column.size(groups, catalog.dimension, velocities) *
                                                               static_cast<std::int64_t>(sizeof(T)));
            }
        });
    }
    [[nodiscard]] halos::ColumnPointers pointers() const {
        halos::ColumnPointers pointers;
        std::transform(numbers_.begin(), numbers_.end(), pointers.columns.begin(),
                       [](const auto& numbers) { return numbers.data(); });
        return pointers;
    }
    /// Into columns that have their sizes; done once the stream is.
    void copy_to(DeviceContext& context, Catalog& catalog) {
        for_each_field(catalog, [&](const CatalogColumn& column, auto& values) {
            context.copy(values.data(), numbers(column).data(), numbers(column).size());
        });
    }

private:
    DeviceBuffer<std::uint8_t>& numbers(const CatalogColumn& column) {
        return numbers_[&column - catalog_columns.data()];
    }

    std::array<DeviceBuffer<std::uint8_t>, catalog_columns.size()> numbers_;
};

/// Looks at every row; also flags those of the first `groups` groups.
inline Survey survey_rows(DeviceContext& context, SurveyJob job) {
    const DeviceBuffer<Survey> survey = context.buffer<Survey>(1);
    context.fill(survey.data(), 0, sizeof(Survey));
    job.survey = survey.data();
    constexpr std::int64_t blocks_of_multiprocessor = 8; // as many as run there at once
    const std::int64_t blocks = std::min((job.rows + threads_of_block - 1) / threads_of_block,
                                         context.multiprocessors() * blocks_of_multiprocessor);
    for_each_index(context, "survey_rows", blocks * threads_of_block, job);
    return context.to_host(survey.data());
}

/// The catalog of kith::catalog, inside a stage of the caller. Labels, in input order, and the particles' columns
/// lie in memory of the device, in any layout; the sizes of groups on the host. `frame` is that of the positions
/// (position_frame), which have been checked to be finite. Throws what kith::catalog throws; unsupported for a
/// dimension that is not built. The catalog has no stages: the caller's context has.
inline Catalog describe_groups(DeviceContext& context, const halos::LabeledGroups& given, const Particles& particles,
                               const halos::PositionFrame& frame, const CatalogOptions& options) {
    const std::int32_t* labels = given.labels.data();
    const std::int64_t rows = given.rows();
    const GroupSizes& sizes = given.sizes;
    halos::check_shapes(given, particles, options, DeviceKind::cuda);
    require_dimension(particles.positions.dimension());
    Catalog catalog;
    catalog.dimension = particles.positions.dimension();
    catalog.min_members = options.min_members;
    const std::int64_t groups = sizes.of_at_least(options.min_members);
    std::vector<std::int32_t> kept_sizes(groups);
    std::copy_n(sizes.begin(), groups, kept_sizes.begin());
    const LabeledRows labeled{labels, particles.types.empty() ? nullptr : halos::plain_types(particles).data(), rows,
                              kept_sizes, sizes.members_of_first(groups)};
    DescribedColumns described{};
    described.positions = DeviceColumn(particles.positions);
    described.velocities = particles.velocities ? DeviceColumn(*particles.velocities) : DeviceColumn();
    described.masses = particles.masses ? DeviceColumn(*particles.masses) : DeviceColumn();
    described.uniform_mass = particles.uniform_mass;
    described.position_scale = frame.scale;
    described.box = frame.box;

    DeviceMembers members;
    {
        const DeviceBuffer<std::uint8_t> is_kept = context.buffer<std::uint8_t>(rows);
        const Survey survey =
            survey_rows(context, {rows, labels, static_cast<std::int32_t>(given.groups()),
                                  static_cast<std::int32_t>(groups), described.masses, described.velocities,
                                  catalog.dimension, labeled.types, is_kept.data(), nullptr});
        const auto largest_velocity = std::bit_cast<double>(std::uint64_t{survey.largest_velocity});
        if (survey.refused != 0 || !std::isfinite(largest_velocity) ||
            static_cast<std::int64_t>(survey.kept) != labeled.members) {
            refuse_as_the_cpu_does(context, given, particles, options);
        }
        described.velocity_scale = halos::scale_for(largest_velocity);
        members = order_members(context, labeled, is_kept.data());
    }
    if (!have_sizes(context, members.runs, kept_sizes)) {
        refuse_as_the_cpu_does(context, given, particles, options);
    }
    cut_into_chunks(context, members);
    ColumnsOnDevice columns(context, catalog, groups, particles.velocities.has_value());
    with_dimension(catalog.dimension, [&]<int D>(std::integral_constant<int, D>) {
        describe_members<D>(context, members, described, columns.pointers());
    });
    halos::lay_out(catalog, sizes, particles.velocities.has_value()); // while the device works
    columns.copy_to(context, catalog);
    context.copy(catalog.member_array.vector<std::int32_t>().data(), members.rows.data(), members.count * 4);
    context.wait();
    return catalog;
}

} // namespace kith::detail::inline KITH_GPU
