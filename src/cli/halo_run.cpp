#include "cli/halo_run.hpp"

#include "cli/linking.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/distributed.hpp>
#include <kith/halo_file.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kith::cli {

namespace {

/// Numbers times a factor.
io::RealArray scaled(io::RealArray array, double factor) {
    std::visit(
        [factor](auto& values) {
            for (auto& value : values) {
                value = static_cast<std::decay_t<decltype(value)>>(factor * static_cast<double>(value));
            }
        },
        array.values);
    return array;
}

/// What a snapshot is besides its rows.
io::Snapshot without_rows(const io::Snapshot& snapshot) {
    const auto none = [](const io::RealArray& array) {
        return io::RealArray{
            std::visit(
                []<class T>(const std::vector<T>&) -> decltype(io::RealArray::values) { return std::vector<T>(); },
                array.values),
            array.columns};
    };
    io::Snapshot empty;
    empty.header = snapshot.header;
    empty.positions = none(snapshot.positions);
    if (snapshot.velocities) {
        empty.velocities = none(*snapshot.velocities);
    }
    if (snapshot.masses) {
        empty.masses = none(*snapshot.masses);
    }
    empty.uniform_mass = snapshot.uniform_mass;
    return empty;
}

/// Rows in the file, ids and types of members, from the ranks that read them. Collective.
io::Snapshot gather_rows_of(HaloRun& run, std::span<const std::int64_t> members) {
    RankTeam& ranks = *run.ranks();
    io::Snapshot gathered;
    std::vector<GatherColumn> columns;
    ranks.agreed([&] {
        const auto add = [&](const auto& column, auto& to) {
            to.resize(members.size());
            columns.emplace_back(column, to);
        };
        add(run.snapshot.file_rows, gathered.file_rows);
        if (run.has_ids) {
            add(run.snapshot.ids, gathered.ids);
        }
        if (!run.overview().types.empty()) {
            add(run.snapshot.types, gathered.types);
        }
    });
    run.add_traffic(
        Distribution{.traffic = RankTeam::collective([&] { return gather(ranks.communicator(), members, columns); })});
    return gathered;
}

/// The columns of all parts on rank 0, with their most bound members. Collective.
void join_parts(HaloRun& run, const Halos& part, const io::Snapshot& members) {
    RankTeam& ranks = *run.ranks();
    Halos& all = run.halos;
    all.options = part.options;
    all.groups = ranks.sum(part.groups);
    all.halos = part.distribution->total;
    std::vector<std::int64_t> rows;
    std::vector<std::uint64_t> ids;
    std::vector<RankArray> arrays;
    ranks.agreed([&] {
        const auto add = [&](const auto& column) { arrays.push_back(array_of(std::as_bytes(std::span(column)))); };
        for_each_field(part, [&](const HaloColumn&, const auto& values) { add(values); });
        for (const std::int64_t first : part.offset) {
            rows.push_back(members.file_rows[first]);
            if (run.has_ids) {
                ids.push_back(members.ids[first]);
            }
        }
        add(rows);
        add(ids);
        if (!ranks.is_first()) {
            return;
        }
        for_each_field(all, [&](const HaloColumn& column, auto& values) {
            values.resize(
                column.size(all.halos, 3, run.snapshot.velocities.has_value(), std::ssize(all.options.overdensities)));
        });
        run.most_bound = without_rows(run.snapshot);
        run.most_bound.file_rows.resize(all.halos);
        run.most_bound.ids.resize(run.has_ids ? std::max<std::int64_t>(all.halos, 1) : 0); // a column, also of no halos
    });
    RankFunnel funnel(&ranks, std::move(arrays));
    if (ranks.is_first()) {
        const auto take = [&](const auto& column) { funnel.take(std::as_writable_bytes(column)); };
        for_each_field(all, [&](const HaloColumn&, auto& values) { take(std::span(values)); });
        take(std::span(run.most_bound.file_rows));
        take(std::span(run.most_bound.ids).first(run.has_ids ? all.halos : 0));
        std::vector<std::int64_t> places(all.halos);
        std::iota(places.begin(), places.end(), std::int64_t{0});
        all.offset = places;
        all.member_array = std::move(places); // rows of most_bound
        all.first_of_group.assign(all.groups, -1);
        for (std::int64_t halo = all.halos - 1; halo >= 0; --halo) {
            all.first_of_group[all.group[halo]] = halo;
        }
    }
    funnel.finish();
}

/// Brings the members of a part into the order of its halos, and rank 0 gets the columns. Collective.
void order_part(HaloRun& run, Halos part) {
    std::vector<std::int64_t> numbers;
    run.ranks()->agreed([&] { numbers.assign(part.members64().begin(), part.members64().end()); });
    const io::Snapshot members = gather_rows_of(run, numbers);
    run.ranks()->agreed([&] {
        std::vector<std::int64_t> rows(numbers.size());
        std::iota(rows.begin(), rows.end(), std::int64_t{0});
        part.member_array = std::move(rows); // of what has been gathered
        io::order_members(run.part, part, members);
        run.member_rows.clear();
        run.member_ids.clear();
        for (std::int64_t& row : run.part.member_array.vector<std::int64_t>()) {
            run.member_rows.push_back(members.file_rows[row]);
            if (run.has_ids) {
                run.member_ids.push_back(members.ids[row]);
            }
            row = numbers[row];
        }
    });
    join_parts(run, part, members);
}

} // namespace

void find_halos(const HaloArguments& arguments, HaloRun& run, const Execution& execution) {
    Particles particles = particles_of(run.snapshot);
    particles.tree = run.tree ? &*run.tree : nullptr;
    io::RealArray peculiar;
    run.agreed([&] {
        run.gravity = gravity_of(arguments, run.snapshot, run.overview(), run.warnings);
        if (run.snapshot.velocities && run.gravity.velocity_factor != 1) {
            peculiar = scaled(*run.snapshot.velocities, run.gravity.velocity_factor);
            particles.velocities = peculiar.view();
        }
        if (std::optional<io::RealArray>& internal = run.snapshot.internal_energies) {
            internal = scaled(std::move(*internal), run.gravity.energy_factor);
            particles.internal_energies =
                std::visit([](const auto& values) { return ScalarsView(values); }, internal->values);
        }
    });
    run.gravity.options.execution =
        run.ranks() == nullptr
            ? execution
            : execution_over(run.ranks(), cpu(execution.threads, execution.progress), arguments.common.rebalance);
    run.in_context([&] { run.halos = halos(run.groups, particles, run.gravity.options); });
    run.tree.reset();
    run.clock.add(run.halos.stages);
    run.add_traffic(run.halos.distribution);
    if (run.ranks() != nullptr) {
        order_part(run, std::exchange(run.halos, {}));
    } else {
        io::order_members(run.catalog, run.halos, run.snapshot);
    }
}

} // namespace kith::cli
