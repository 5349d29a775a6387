#include "halos/group_moments.hpp"

#include "halos/group_columns.hpp"
#include "halos/group_order.hpp"
#include "halos/layout.hpp"
#include "halos/moments.hpp"
#include "support/parallel.hpp"
#include "support/side_by_side.hpp"

#include <algorithm>
#include <atomic>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t grain = 1 << 13; ///< members a thread takes at a time; smaller groups are not split

/// Hands the members of one group to each pass, block by block.
class Passes {
public:
    explicit Passes(const Members& members) : members_(members) {
        if (members_.count() <= MemberBlock::capacity) {
            members_.gather(0, members_.count(), whole_);
        }
    }
    template <class Value>
    [[nodiscard]] Value over(Value value) const {
        if (members_.count() <= MemberBlock::capacity) {
            value.add(whole_);
            return value;
        }
        if (members_.count() <= grain) {
            return part(0, members_.count(), value);
        }
        return parallel_reduce(
            0, members_.count(), grain, value,
            [this](std::int64_t begin, std::int64_t end, const Value& so_far) { return part(begin, end, so_far); },
            join_values);
    }

private:
    template <class Value>
    [[nodiscard]] Value part(std::int64_t begin, std::int64_t end, Value value) const {
        MemberBlock block;
        for (std::int64_t first = begin; first < end; first += MemberBlock::capacity) {
            members_.gather(first, std::min<std::int64_t>(MemberBlock::capacity, end - first), block);
            value.add(block);
        }
        return value;
    }

    const Members& members_;
    MemberBlock whole_; ///< the group, if it fits
};

/// Members are by type, then index: the lowest index is the first of one of the types.
std::int32_t lowest_member(const Catalog& catalog, std::int64_t group) {
    const std::span<const std::int32_t> rows = catalog.members();
    std::int64_t first = catalog.offset[group];
    std::int32_t lowest = rows[first];
    for (int type = 0; type < max_types; ++type) {
        const std::int64_t count = catalog.count_by_type[group * max_types + type];
        if (count > 0) {
            lowest = std::min(lowest, rows[first]);
            first += count;
        }
    }
    return lowest;
}

void store_masses(const Members& members, const FirstMoments& first, std::int64_t group, Catalog& catalog) {
    const Columns& columns = *members.columns;
    const double each = columns.masses ? 0 : columns.uniform_mass; // where members are not weighted by mass
    const auto total = [&](std::int64_t count, const FixedSum& sum) {
        return members.weighted ? to_double(sum.value()) : each * static_cast<double>(count);
    };
    catalog.mass[group] = total(catalog.count[group], first.mass);
    for (int type = 0; type < max_types; ++type) {
        const std::int64_t at = group * max_types + type;
        catalog.mass_by_type[at] = total(catalog.count_by_type[at], first.mass_by_type[type]);
    }
}

} // namespace

bool describe_group(const Columns& columns, std::int64_t group, Catalog& catalog) {
    const auto offset = static_cast<std::size_t>(catalog.offset[group]);
    const auto count = static_cast<std::size_t>(catalog.count[group]);
    Members members{&columns, catalog.members().subspan(offset, count)};
    const std::int32_t lowest = lowest_member(catalog, group);
    for (int axis = 0; axis < columns.dimension; ++axis) {
        columns.positions.read({&lowest, 1}, axis, &members.reference[axis]);
    }
    members.weighted = columns.masses && std::any_of(members.rows.begin(), members.rows.end(),
                                                     [&](std::int32_t row) { return (*columns.masses)[row] > 0; });

    const Passes passes(members);
    Moments moments{};
    auto& [positions, velocities] = moments;
    std::copy(members.reference.begin(), members.reference.end(), positions.reference);
    const auto conclude = [&](const auto& found, const auto&... known) {
        for (int v = 0; v < members.vectors(); ++v) {
            found.vectors[v].conclude(moments[v], known...);
        }
    };
    const int dimension = columns.dimension;
    const Bounds bounds = passes.over(Bounds(members));
    if (!bounds.is_below) {
        return false;
    }
    conclude(bounds, dimension);
    const FirstMoments first = passes.over(FirstMoments(bounds, moments));
    const ScaledNumber weight = first.total_weight();
    conclude(first, dimension, weight);
    conclude(passes.over(OverSquares<SpreadBounds>{&members, &moments, {}}));
    OverSquares<SumPart> squares{&members, &moments, {}};
    for (int v = 0; v < members.vectors(); ++v) {
        squares.vectors[v].sum = FixedSum(moments[v].square_exponent, members.count());
    }
    squares = passes.over(squares);
    for (int v = 0; v < members.vectors(); ++v) {
        squares.vectors[v].conclude(moments[v], weight, v == 0 ? 1 : dimension);
    }

    store_masses(members, first, group, catalog);
    const ColumnPointers pointers = pointers_to(catalog);
    write_position_columns(pointers, group, dimension, positions, columns.box, columns.positions.unit());
    if (columns.velocities) {
        write_velocity_columns(pointers, group, dimension, velocities, columns.velocities->unit());
    }
    return true;
}

bool describe_groups(Context& context, const LabeledGroups& groups, const Columns& columns, std::int64_t min_members,
                     Catalog& catalog) {
    catalog.dimension = columns.dimension;
    catalog.min_members = min_members;
    const bool velocities = columns.velocities.has_value();
    context.memory_tracker()->add(reserve_columns(catalog, groups.sizes, velocities));
    BucketedRows bucketed;
    side_by_side([&] { fill_columns(catalog, velocities); }, // by one thread, since they are vectors
                 [&] { bucketed = bucket_rows(context, groups.labels, catalog); });
    order_members(context, groups.labels, columns.types, bucketed, catalog);
    context.expect(catalog.member_array.size());
    std::atomic<bool> are_below = true;
    parallel_for(0, catalog.groups, 1, [&](std::int64_t begin, std::int64_t end) {
        if (!are_below.load(std::memory_order_relaxed)) {
            return; // all is done again
        }
        std::int64_t described = 0;
        for (std::int64_t group = begin; group < end; ++group) {
            if (!describe_group(columns, group, catalog)) {
                are_below.store(false, std::memory_order_relaxed);
            }
            described += catalog.count[group];
        }
        context.done(described);
    });
    return are_below;
}

} // namespace kith::detail::halos
