// The catalogue in three steps: check the input, bring rows into group order, describe each group.
//
// Groups are numbered by decreasing size, so those of at least min_members are the first ones. They are described side
// by side; a large one is shared among threads within.
#include <kith/catalogue.hpp>
#include <kith/error.hpp>

#include "catalogue/columns.hpp"
#include "catalogue/group_moments.hpp"
#include "catalogue/group_order.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <new>
#include <numeric>

namespace kith {

namespace {

/// Sizes one column after another and counts their bytes.
class Columnist {
public:
    template <class T>
    void operator()(std::vector<T>& column, std::int64_t size) {
        bytes_ += size * static_cast<std::int64_t>(sizeof(T));
        column.resize(static_cast<std::size_t>(size));
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    std::int64_t bytes_ = 0;
};

/// Makes room for every column and returns the bytes taken.
std::int64_t make_room(Catalogue& catalogue, std::int64_t members, bool velocities) {
    const std::int64_t groups = catalogue.groups;
    const std::int64_t vectors = groups * catalogue.dimension;
    Columnist size;
    try {
        size(catalogue.members, members);
        size(catalogue.offset, groups);
        size(catalogue.count, groups);
        size(catalogue.count_by_type, groups * max_types);
        size(catalogue.mass, groups);
        size(catalogue.mass_by_type, groups * max_types);
        size(catalogue.centre, vectors);
        size(catalogue.velocity, velocities ? vectors : 0);
        size(catalogue.inertia_radius, groups);
        size(catalogue.velocity_dispersion, velocities ? groups : 0);
        size(catalogue.largest_radius, groups);
        size(catalogue.lower, vectors);
        size(catalogue.upper, vectors);
        size(catalogue.wide, groups);
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::out_of_memory,
                    detail::message("out of memory: the catalogue of ", groups, " groups with ", members,
                                    " members needs more than ", size.bytes(), " bytes; raise min_members"));
    }
    return size.bytes();
}

} // namespace

Catalogue catalogue(const FofResult& groups, const Particles& particles, const Box& box,
                    const CatalogueOptions& options, const Execution& execution) {
    detail::Context context(execution);
    Catalogue result;
    context.stage("catalogue", [&] {
        const detail::cataloguing::Columns columns =
            detail::cataloguing::checked_columns(groups, particles, box, options);
        result.groups = groups.groups_of_at_least(options.min_members);
        result.dimension = columns.dimension;
        result.min_members = options.min_members;
        const auto kept = groups.sizes.begin() + result.groups;
        const std::int64_t members = std::accumulate(groups.sizes.begin(), kept, std::int64_t{0});
        context.ledger()->book(make_room(result, members, columns.velocities.has_value()));
        std::int64_t offset = 0;
        for (std::int64_t group = 0; group < result.groups; ++group) {
            result.offset[group] = offset;
            result.count[group] = groups.sizes[group];
            offset += groups.sizes[group];
        }
        detail::cataloguing::order_members(context, groups.labels, particles.types, result);
        context.expect(members);
        detail::parallel_for(0, result.groups, 1, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t described = 0;
            for (std::int64_t group = begin; group < end; ++group) {
                detail::cataloguing::describe_group(columns, group, result);
                described += result.count[group];
            }
            context.done(described);
        });
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
