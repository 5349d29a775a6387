#include "distributed/halo_parts.hpp"

#include <kith/catalog_columns.hpp>

#include "distributed/point_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kith::detail {

namespace {

/// How many numbers of a column a halo has.
std::int64_t width_of(const HaloColumn& column, bool has_velocities, const Halos& halos) {
    return column.size(1, 3, has_velocities, std::ssize(halos.options.overdensities));
}

/// Appends rows in any order.
void take_halos(const RankMessage& message, bool has_velocities, std::vector<std::int64_t>& members, Halos& part) {
    MessageReader reader(message.bytes);
    std::vector<std::int64_t> labels;
    reader.take(reader.take<std::int64_t>(), labels);
    const auto take_members = [&]<class Value>(std::vector<Value>& column) {
        for (const std::int64_t label : labels) {
            const std::int64_t group = label - part.first_group;
            for (std::int64_t i = part.group_offset[group]; i < part.group_offset[group + 1]; ++i) {
                column[i] = reader.take<Value>();
            }
        }
    };
    take_members(members);
    take_members(part.energies);
    const auto rows = reader.take<std::int64_t>();
    for_each_field(part, [&](const HaloColumn& column, auto& values) {
        reader.take(rows * width_of(column, has_velocities, part), values);
    });
}

/// By label, with the columns that follow.
void order_rows(bool has_velocities, Halos& part) {
    const std::vector<std::int64_t> order = order_of<std::int64_t>(part.group);
    for_each_field(part, [&]<class Value>(const HaloColumn& column, std::vector<Value>& values) {
        const std::int64_t width = width_of(column, has_velocities, part);
        values = width == 0 ? values : rows_in_order<Value>(values, width, order);
    });
    part.halos = std::ssize(part.group);
    part.first_of_group.assign(static_cast<std::size_t>(part.groups), -1);
    for (std::int64_t halo = 0; halo < part.halos; ++halo) {
        const std::int64_t group = part.group[halo] - part.first_group;
        part.first_of_group[group] = halo;
        part.offset.push_back(part.group_offset[group]);
    }
}

} // namespace

void pack_halos(LocalHalos& local, const GroupDivision& division, std::vector<RankMessage>& messages) {
    const std::vector<std::int64_t>& labels = local.groups.labels;
    Halos& found = local.found;
    const bool has_velocities = local.groups.particles.velocities.has_value();
    for (std::int64_t halo = 0; halo < found.halos; ++halo) {
        found.group[halo] = labels[found.group[halo]];
        found.center_row[halo] = local.groups.numbers[found.center_row[halo]];
    }
    for (std::int64_t begin = 0; begin < std::ssize(labels);) {
        const int rank = division.rank_of(labels[begin]);
        const std::int64_t end = std::ranges::lower_bound(labels, division.first_of(rank + 1)) - labels.begin();
        MessageWriter writer(messages.emplace_back(RankMessage{rank, {}}).bytes);
        writer.put_value(end - begin);
        writer.put(std::span(labels).subspan(begin, end - begin));
        const std::int64_t first_member = found.group_offset[begin];
        const std::int64_t end_member = found.group_offset[end];
        for (std::int64_t i = first_member; i < end_member; ++i) {
            writer.put_value(local.groups.numbers[local.bound.rows[i]]);
        }
        writer.put(std::span<const double>(local.bound.energies).subspan(first_member, end_member - first_member));
        const auto halo_of = [&](std::int64_t label) {
            return std::ranges::lower_bound(found.group, label) - found.group.begin();
        };
        const std::int64_t first = halo_of(division.first_of(rank));
        const std::int64_t last = halo_of(division.first_of(rank + 1));
        writer.put_value(last - first);
        for_each_field(std::as_const(found), [&](const HaloColumn& column, const auto& values) {
            const std::int64_t width = width_of(column, has_velocities, found);
            writer.put(std::span(values).subspan(first * width, (last - first) * width));
        });
        begin = end;
    }
}

void put_together(std::vector<RankMessage>& messages, const GroupDivision& division, int rank, bool has_velocities,
                  Halos& part) {
    const std::int64_t first = division.first_of(rank);
    const std::int64_t end = division.first_of(rank + 1);
    part.first_group = first;
    part.first_member = division.offset(first);
    part.groups = end - first;
    for (std::int64_t group = first; group <= end; ++group) {
        part.group_offset.push_back(division.offset(group) - part.first_member);
    }
    std::vector<std::int64_t>& members = part.member_array.vector<std::int64_t>();
    members.resize(part.group_offset.back());
    part.energies.resize(members.size());
    for (RankMessage& message : messages) {
        take_halos(message, has_velocities, members, part);
        message.bytes = std::vector<std::byte>(); // frees them
    }
    order_rows(has_velocities, part);
}

} // namespace kith::detail
