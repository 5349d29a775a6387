// The catalog on a GPU: the CPU's, to the last bit.
//
// Rows are surveyed and checked, those of the groups are brought into group order (device_members.hpp), and the groups
// are described (device_moments.hpp). Everything that is added or compared over members is an integer, a minimum or a
// maximum, of terms that are written once for both (vector_moments.hpp). The columns stay there, or are copied to the
// host, which makes room for them while the device works. Source: jz-tree paper, section IV-B. Cost: O(N), and a sort
// of the members.
#pragma once

#include <kith/catalog_columns.hpp>

#include "cuda/launch.hpp"
#include "halos/columns.hpp"
#include "halos/device_members.hpp"
#include "halos/device_moments.hpp"
#include "halos/device_refusal.hpp"
#include "halos/layout.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// Memory for columns.
class ColumnsOnDevice {
public:
    ColumnsOnDevice() = default;
    ColumnsOnDevice(const DeviceContext& context, std::int64_t groups, int dimension, bool velocities) {
        const Catalog none;
        for_each_field(none, [&]<class T>(const CatalogColumn& column, const std::vector<T>&) {
            numbers_[&column - catalog_columns.data()] = context.buffer<std::uint8_t>(
                column.size(groups, dimension, velocities) * static_cast<std::int64_t>(sizeof(T)));
        });
    }
    [[nodiscard]] halos::ColumnPointers pointers() const {
        halos::ColumnPointers pointers;
        std::transform(numbers_.begin(), numbers_.end(), pointers.columns.begin(),
                       [](const auto& numbers) { return numbers.data(); });
        return pointers;
    }

private:
    std::array<DeviceBuffer<std::uint8_t>, catalog_columns.size()> numbers_;
};

/// A catalog in memory of a device.
struct GroupsOnDevice {
    CatalogSummary summary; ///< without box, lengths and stages
    DeviceBuffer<std::int32_t> members;
    ColumnsOnDevice columns;
    bool are_below = true; ///< the positions of all members (PositionFrame); if not, there is nothing else
};

/// Copies the members, and the columns that do not follow from the sizes of groups, into memory of the host, for which
/// this makes room while the device works. `to` has a dimension and min_members.
template <class Pointers>
void copy_to_host(DeviceContext& context, const Pointers& columns, const std::int32_t* members, const GroupSizes& sizes,
                  bool velocities, Catalog& to) {
    halos::lay_out(to, sizes, velocities);
    for_each_field(to, [&]<class T>(const CatalogColumn& column, std::vector<T>& values) {
        if (!halos::follows_from_sizes(column)) {
            context.copy(values.data(), columns[&column - catalog_columns.data()],
                         std::ssize(values) * static_cast<std::int64_t>(sizeof(T)));
        }
    });
    std::vector<std::int32_t>& rows = to.member_array.vector<std::int32_t>();
    context.copy(rows.data(), members, std::ssize(rows) * 4);
    context.wait();
}

/// The catalog of kith::catalog, inside a stage of the caller. Labels, in input order, and the particles' columns
/// lie in memory of the device, in any layout; the sizes of groups on the host. `frame` is that of the positions
/// (columns.hpp). Velocities are scaled by the largest one of these particles
/// or of others, whose largest is given. Throws what kith::catalog throws; unsupported for a dimension that is not
/// built.
inline GroupsOnDevice describe_groups(DeviceContext& context, const halos::LabeledGroups& given,
                                      const Particles& particles, const halos::PositionFrame& frame,
                                      const CatalogOptions& options, double largest_of_others = 0) {
    const std::int32_t* labels = given.labels.data();
    const std::int64_t rows = given.rows();
    const GroupSizes& sizes = given.sizes;
    halos::check_shapes(given, particles, options, DeviceKind::cuda);
    require_dimension(particles.positions.dimension());
    const int dimension = particles.positions.dimension();
    const std::int64_t groups = sizes.of_at_least(options.min_members);
    const LabeledRows labeled{labels, particles.types.empty() ? nullptr : halos::plain_types(particles).data(), rows,
                              groups, sizes.members_of_first(groups)};
    DescribedColumns described{};
    described.positions = DeviceColumn(particles.positions);
    described.velocities = particles.velocities ? DeviceColumn(*particles.velocities) : DeviceColumn();
    described.masses = particles.masses ? DeviceColumn(*particles.masses) : DeviceColumn();
    described.uniform_mass = particles.uniform_mass;
    described.position_scale = frame.scale;
    described.box = frame.box;

    GroupsOnDevice result;
    DeviceMembers members;
    {
        const DeviceBuffer<std::uint8_t> is_kept = context.buffer<std::uint8_t>(rows);
        const Survey survey = survey_rows(context, {rows, labels, static_cast<std::int32_t>(given.groups()),
                                                    static_cast<std::int32_t>(groups), described.masses,
                                                    described.velocities, dimension, labeled.types, is_kept.data(),
                                                    nullptr, described.positions, frame.below / frame.scale});
        const auto largest_velocity = std::bit_cast<double>(std::uint64_t{survey.largest_velocity});
        if (survey.refused != 0 || !std::isfinite(largest_velocity) ||
            static_cast<std::int64_t>(survey.kept) != labeled.members) {
            refuse_as_the_cpu_does(context, given, particles, options);
        }
        if (survey.beyond != 0) {
            result.are_below = false;
            return result;
        }
        described.velocity_scale = halos::scale_for(std::max(largest_velocity, largest_of_others));
        members = order_members(context, labeled, is_kept.data());
    }
    if (!have_sizes(context, members.runs, sizes)) {
        refuse_as_the_cpu_does(context, given, particles, options);
    }
    cut_into_chunks(context, members);
    result.summary.groups = groups;
    result.summary.dimension = dimension;
    result.summary.min_members = options.min_members;
    result.columns = ColumnsOnDevice(context, groups, dimension, particles.velocities.has_value());
    const halos::ColumnPointers columns = result.columns.pointers();
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) {
        describe_members<D>(context, members, described, columns);
    });
    for_each_index(context, "write_offsets", groups,
                   WriteOffsets{members.runs, columns.of<&Catalog::offset>(), columns.of<&Catalog::count>()});
    result.members = std::move(members.rows);
    return result;
}

} // namespace kith::detail::inline KITH_GPU
