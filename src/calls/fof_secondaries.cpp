// Groups of primary points to which secondary ones are joined: the primaries are linked, each secondary's nearest
// primary is searched for, and the groups are numbered anew with all members.
#include <kith/error.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include "points/coordinates.hpp"
#include "support/allocation_errors.hpp"
#include "support/at_least.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/one_process.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace {

using Rows = std::vector<std::int32_t>;

void check(const PointsView& points, std::span<const std::uint8_t> is_secondary, std::int64_t min_primaries,
           const FofOptions& options) {
    detail::require_one_process(options.execution);
    if (options.execution.device.kind != DeviceKind::cpu || points.device().kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "secondary points are joined on the CPU only; pass points in host memory, "
                                            "and leave kith::cuda() out of the execution");
    }
    if (options.phase_space) {
        throw Error(ErrorKind::unsupported,
                    "secondary points are joined to groups of positions only; leave phase_space "
                    "out, or link all points alike with fof()");
    }
    if (std::ssize(is_secondary) != points.count()) {
        throw detail::error(ErrorKind::invalid_argument, "is_secondary has ", is_secondary.size(), " numbers for ",
                            points.count(), " points; pass one for each");
    }
    detail::require_at_least(1, "min_primaries", min_primaries);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (points.count() > most) {
        throw detail::error(ErrorKind::too_large, points.count(), " points are more than one process can index (", most,
                            "); split them");
    }
}

/// Rows of the points for which that is 0 or not.
Rows rows_of(std::span<const std::uint8_t> is_secondary, bool secondary) {
    Rows rows;
    for (std::size_t row = 0; row < is_secondary.size(); ++row) {
        if ((is_secondary[row] != 0) == secondary) {
            rows.push_back(static_cast<std::int32_t>(row));
        }
    }
    return rows;
}

/// Row-major.
template <Coordinate T>
std::vector<T> positions_of(detail::Context& context, const PointsView& points, const Rows& rows) {
    const int axes = points.dimension();
    std::vector<T> positions(rows.size() * static_cast<std::size_t>(axes));
    const detail::Coordinates<T> coordinates(points);
    context.run([&] {
        detail::parallel_each(std::ssize(rows), 1 << 14, [&](std::int64_t i) {
            for (int axis = 0; axis < axes; ++axis) {
                positions[i * axes + axis] = coordinates(rows[i], axis);
            }
        });
    });
    return positions;
}

/// What groups have with all of their members.
struct Members {
    std::int64_t count = 0;
    std::int32_t first = std::numeric_limits<std::int32_t>::max();
};

/// Turns labels by number of primaries, of `kept` groups, into those by number of members.
void number_by_members(std::vector<std::int32_t>& labels, std::int64_t kept, FofResult& groups) {
    std::vector<Members> members(static_cast<std::size_t>(kept));
    for (std::size_t row = 0; row < labels.size(); ++row) {
        if (labels[row] >= kept) {
            labels[row] = -1;
        }
        if (labels[row] >= 0) {
            Members& of_group = members[labels[row]];
            ++of_group.count;
            of_group.first = std::min(of_group.first, static_cast<std::int32_t>(row));
        }
    }
    Rows order(members.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return members[a].count != members[b].count ? members[a].count > members[b].count
                                                    : members[a].first < members[b].first;
    });
    Rows numbers(members.size());
    std::vector<std::int32_t> sizes;
    for (const std::int32_t group : order) {
        numbers[group] = static_cast<std::int32_t>(sizes.size());
        sizes.push_back(static_cast<std::int32_t>(members[group].count));
    }
    for (std::int32_t& label : labels) {
        label = label >= 0 ? numbers[label] : -1;
    }
    groups.groups = kept;
    groups.coordinates_below = 0; // that of the primaries alone
    groups.sizes = GroupSizes(sizes);
    groups.label_array = std::move(labels);
}

template <Coordinate T>
FofResult find(const PointsView& points, std::span<const std::uint8_t> is_secondary, LinkingLength length,
               std::int64_t min_primaries, const FofOptions& options) {
    detail::Context context(options.execution);
    const int axes = points.dimension();
    const Rows primaries = rows_of(is_secondary, false);
    const Rows secondaries = rows_of(is_secondary, true);
    const std::vector<T> of_primaries = positions_of<T>(context, points, primaries);
    const std::vector<T> of_secondaries = positions_of<T>(context, points, secondaries);
    FofResult groups = fof(PointsView(of_primaries, axes), length, options);
    std::vector<std::int32_t> labels(is_secondary.size(), -1);
    for (std::size_t i = 0; i < primaries.size(); ++i) {
        labels[primaries[i]] = groups.labels()[i];
    }
    if (!primaries.empty() && !secondaries.empty()) {
        const KnnResult nearest = knn(PointsView(of_primaries, axes), PointsView(of_secondaries, axes), 1,
                                      {.box = groups.box,
                                       .max_distance = groups.linking_length,
                                       .engine = options.engine,
                                       .execution = options.execution});
        for (std::size_t i = 0; i < secondaries.size(); ++i) {
            if (const std::int32_t primary = nearest.indices()[i]; primary >= 0) {
                labels[secondaries[i]] = groups.labels()[primary];
            }
        }
        groups.stages.insert(groups.stages.end(), nearest.stages.begin(), nearest.stages.end());
    }
    number_by_members(labels, groups.groups_of_at_least(min_primaries), groups);
    return groups;
}

} // namespace

FofResult fof_with_secondaries(const PointsView& points, std::span<const std::uint8_t> is_secondary,
                               LinkingLength linking_length, std::int64_t min_primaries, const FofOptions& options) {
    check(points, is_secondary, min_primaries, options);
    return detail::with_allocation_errors("groups with secondary points", [&] {
        return detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
            return find<T>(points, is_secondary, linking_length, min_primaries, options);
        });
    });
}

} // namespace kith
