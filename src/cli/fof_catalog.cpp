#include "cli/fof_catalog.hpp"

#include "cli/linking.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/distributed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

/// The columns of all parts on rank 0.
Catalog columns_of_all(const FofRun& run) {
    RankTeam& ranks = *run.ranks();
    const Catalog& part = run.part;
    Catalog all;
    all.groups = part.distribution->total;
    all.dimension = part.dimension;
    all.min_members = part.min_members;
    all.box = part.box;
    all.lengths = part.lengths;
    std::vector<RankArray> arrays;
    ranks.agreed([&] {
        for_each_field(part, [&](const CatalogColumn&, const auto& values) {
            arrays.push_back(array_of(std::as_bytes(std::span(values))));
        });
        for_each_field(all, [&](const CatalogColumn& column, auto& values) {
            values.resize(ranks.is_first() ? column.size(all.groups, all.dimension, run.snapshot.velocities.has_value())
                                           : 0);
        });
    });
    RankFunnel funnel(&ranks, std::move(arrays));
    if (ranks.is_first()) {
        for_each_field(
            all, [&](const CatalogColumn&, auto& values) { funnel.take(std::as_writable_bytes(std::span(values))); });
        std::exclusive_scan(all.count.begin(), all.count.end(), all.offset.begin(), std::int64_t{0});
    }
    funnel.finish();
    return all;
}

/// Where the members of this rank's part are in the file, and their ids, from the ranks that read them.
void gather_members(FofRun& run) {
    RankTeam& ranks = *run.ranks();
    const std::span<const std::int64_t> indices = run.part.members64();
    std::vector<GatherColumn> columns;
    ranks.agreed([&] {
        run.member_rows.resize(indices.size());
        run.member_ids.resize(run.has_ids ? indices.size() : 0);
        columns.emplace_back(run.snapshot.file_rows, run.member_rows);
        if (run.has_ids) {
            columns.emplace_back(run.snapshot.ids, run.member_ids);
        }
    });
    run.add_traffic(
        Distribution{.traffic = RankTeam::collective([&] { return gather(ranks.communicator(), indices, columns); })});
}

void warn_of_ambiguous(FofRun& run) {
    const auto ambiguous =
        std::count(run.catalog.is_ambiguous.begin(), run.catalog.is_ambiguous.end(), std::uint8_t{1});
    if (ambiguous > 0) {
        const std::string groups = ambiguous == 1 ? "1 group is" : fmt::format("{} groups are", ambiguous);
        run.warnings.push_back(fmt::format("{} wider than half the box: {} mean little; try a shorter linking length",
                                           groups,
                                           ambiguous == 1 ? "its center and radii" : "their centers and radii"));
    }
}

void warn_of_infinite_masses(FofRun& run) {
    const auto infinite = std::ranges::count_if(run.catalog.mass, [](double mass) { return std::isinf(mass); });
    if (infinite > 0) {
        run.warnings.push_back(
            fmt::format("the masses of the members of {} group{} add up to more than float64 can hold, "
                        "and are infinite; give masses in a larger unit",
                        format_count(infinite), infinite == 1 ? "" : "s"));
    }
}

} // namespace

void describe_groups(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    run.in_context([&] {
        run.catalog =
            catalog(run.groups, particles_of(run.snapshot),
                    {.min_members = arguments.min_members, .execution = execution_over(run.ranks(), execution)});
    });
    run.clock.add(run.catalog.stages);
    run.add_traffic(run.catalog.distribution);
    run.has_ids = sum_over(run.ranks(), std::ssize(run.snapshot.ids)) > 0;
    if (run.ranks() != nullptr) {
        run.part = std::exchange(run.catalog, {});
        run.catalog = columns_of_all(run);
        gather_members(run);
    }
    warn_of_ambiguous(run);
    warn_of_infinite_masses(run);
}

} // namespace kith::cli
