#include "distributed/catalog.hpp"

#include "distributed/described_groups.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/group_division.hpp"
#include "distributed/grouped_particles.hpp"
#include "distributed/shared_frame.hpp"
#include "halos/layout.hpp"
#include "halos/part_describer_cpu.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/joined_stages.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace kith::detail {

namespace {

class DistributedCatalog {
public:
    DistributedCatalog(Ranks& ranks, Context& context, const CatalogOverRanks& call, const Particles& particles,
                       const PartVectors& vectors, bool has_types, const GivenIds& ids, halos::PartDescriber& describer)
        : ranks_(ranks), context_(context), describer_(describer), min_members_(call.options.min_members) {
        double largest = 0;
        ranks.agreed([&] { largest = largest_velocity(particles, vectors); });
        for (const double of_rank : ranks.gather(largest)) {
            units_.largest_velocity = std::max(units_.largest_velocity, of_rank);
        }
        find_frame(call.groups, particles.positions, vectors);
        const Ownership ownership(ranks, particles.positions.count());
        grouped_.emplace(ranks, context, call.groups, min_members_, particles, vectors, has_types, ownership, ids);
    }

    void run(Catalog& result) {
        std::vector<RankMessage> described;
        ranks_.agreed([&] {
            described = pack_described(describe("catalog", [&] { return grouped_->whole(); }), division(), widths());
        });
        described = ranks_.exchange(std::move(described));
        ranks_.agreed([&] {
            lay_out(result);
            for (RankMessage& message : described) {
                place(unpack_described(message.bytes, widths()), result);
                message.bytes = {};
            }
        });
        const GatheredMembers gathered =
            grouped_->gather([&](std::int64_t label) { return division().rank_of(label); });
        ranks_.agreed(
            [&] { place(describe("catalog of gathered groups", [&] { return grouped_->whole(gathered); }), result); });
    }

private:
    /// Once all values of the particles have been checked.
    double largest_velocity(Particles particles, const PartVectors& vectors) {
        double largest = 0;
        if (particles.velocities && !is_on_host(*particles.velocities)) {
            const FiniteVelocities finite = vectors.floats->velocities(*particles.velocities);
            for (std::size_t axis = 0; axis < finite.lower.size(); ++axis) {
                largest = std::max({largest, -finite.lower[axis], finite.upper[axis]});
            }
            particles.velocities.reset();
        }
        context_.run([&] { largest = std::max(largest, halos::check_particle_values(particles)); });
        return largest;
    }

    [[nodiscard]] const GroupDivision& division() const { return grouped_->division(); }

    /// Collective. The frame that the search left, which is the same on all ranks, or that of all points.
    void find_frame(const FofResult& groups, const PointsView& positions, const PartVectors& vectors) {
        std::optional<halos::PositionFrame> known;
        bool is_below = true;
        ranks_.agreed([&] {
            if (positions.device().kind == DeviceKind::cpu) {
                known = halos::known_frame(groups, positions);
            }
            if (known) {
                context_.run([&] {
                    is_below = halos::members_are_below(groups.labels64(), groups.groups_of_at_least(min_members_),
                                                        positions, groups.coordinates_below);
                });
            }
        });
        if (ranks_.any(!known || !is_below)) {
            with_dtype(positions.dtype(), [&]<Coordinate T>(T) {
                const SharedPoints<T> shared = share_frame<T>(ranks_, context_, positions, groups.box,
                                                              [&](Context&, int) { return vectors.of<T>(); });
                known = halos::position_frame(shared.points.frame);
            });
        }
        units_.positions = *known;
        units_.positions.below = std::numeric_limits<double>::infinity();
    }

    /// The groups that find() returns; both count as the stage.
    template <class Find>
    DescribedGroups describe(const char* stage, const Find& find) {
        WholeGroups groups;
        context_.stage(stage, [&] { groups = find(); });
        DescribedGroups described{groups.labels, {}, {}};
        std::vector<std::int32_t> sizes;
        for (const std::int64_t label : described.labels) {
            sizes.push_back(static_cast<std::int32_t>(division().size(label)));
        }
        described.catalog =
            describer_.describe(stage, {groups.group_of_row.span(), GroupSizes(sizes)}, groups.particles, units_);
        const IndexArray member_array = std::exchange(described.catalog.member_array, {});
        const std::span<const std::int32_t> rows = member_array.as_int32();
        described.members.resize(rows.size());
        context_.run([&] {
            parallel_each(std::ssize(rows), 1 << 14,
                          [&](std::int64_t i) { described.members[i] = groups.numbers[rows[i]]; });
        });
        return described;
    }

    /// How many values of a column each group has.
    [[nodiscard]] std::function<std::int64_t(const CatalogColumn&)> widths() const {
        return [this](const CatalogColumn& column) {
            return column.size(1, grouped_->particles().positions.dimension(),
                               grouped_->particles().velocities.has_value());
        };
    }

    /// This rank's part, with the columns that follow from the sizes.
    void lay_out(Catalog& result) {
        first_group_ = division().first_of(ranks_.rank());
        const std::int64_t end = division().first_of(ranks_.rank() + 1);
        result.distribution = {
            .ranks = ranks_.size(), .first = first_group_, .total = division().groups(), .traffic = {}};
        result.first_member = division().offset(first_group_);
        const std::int64_t members = division().offset(end) - result.first_member;
        if (members > std::numeric_limits<std::int32_t>::max()) {
            throw error(ErrorKind::too_large, "the groups of this rank's part have ", members,
                        " members, more than 2147483647; use more ranks");
        }
        std::vector<std::int32_t> sizes;
        for (std::int64_t group = first_group_; group < end; ++group) {
            sizes.push_back(static_cast<std::int32_t>(division().size(group)));
        }
        result.dimension = grouped_->particles().positions.dimension();
        result.min_members = min_members_;
        context_.run([&] {
            context_.memory_tracker()->add(
                halos::lay_out(result, GroupSizes(sizes), grouped_->particles().velocities.has_value()));
        });
        result.member_array.vector<std::int64_t>().resize(members);
    }

    /// Puts described groups into this rank's part.
    void place(const DescribedGroups& described, Catalog& result) {
        std::vector<std::int64_t>& members = result.member_array.vector<std::int64_t>();
        std::int64_t member = 0;
        for (std::size_t i = 0; i < described.labels.size(); ++i) {
            const std::int64_t to = described.labels[i] - first_group_;
            const std::int64_t count = described.catalog.count[i];
            std::copy_n(described.members.begin() + member, count, members.begin() + result.offset[to]);
            member += count;
        }
        for_each_field(described.catalog, [&](const CatalogColumn& column, const auto& values) {
            if (halos::follows_from_sizes(column)) {
                return;
            }
            auto& all = result.*std::get<std::remove_cvref_t<decltype(values)> Catalog::*>(column.values);
            const std::int64_t width = widths()(column);
            for (std::int64_t i = 0; i < std::ssize(described.labels); ++i) {
                std::copy_n(values.begin() + i * width, width,
                            all.begin() + (described.labels[i] - first_group_) * width);
            }
        });
    }

    Ranks& ranks_;
    Context& context_;
    halos::PartDescriber& describer_;
    std::int64_t min_members_;
    halos::ParticleUnits units_;
    std::optional<GroupedParticles> grouped_;
    std::int64_t first_group_ = 0; ///< of this rank's part
};

} // namespace

Catalog catalog_over_ranks(Ranks& ranks, Context& context, const CatalogOverRanks& call,
                           const halos::MakePartDescriber& on_gpu, const MakePartVectors& vectors_on_gpu) {
    const Particles& particles = call.particles;
    const bool has_types = ranks.any(!particles.types.empty());
    const std::int64_t rows = call.groups.label_array.size();
    std::vector<std::uint8_t> memory_of_types;
    Particles plain;
    std::unique_ptr<halos::PartDescriber> describer;
    PartVectors vectors;
    ranks.agreed([&] {
        require_types(has_types, particles);
        plain = halos::with_plain_types(particles, memory_of_types);
        plain.internal_energies.reset(); // it has none of them
        describer = on_gpu ? on_gpu() : std::make_unique<halos::HostPartDescriber>(context);
        vectors =
            vectors_on_gpu ? vectors_on_gpu(context, particles.positions.dimension()) : PartVectors::of_host(context);
    });
    const GivenIds ids(ranks, call.of_ranks.ids, rows);
    Catalog result;
    DistributedCatalog(ranks, context, call, plain, vectors, has_types, ids, *describer).run(result);
    ranks.count_from_device(describer->bytes_to_host() + vectors.bytes_to_host());
    result.box = call.groups.box;
    result.lengths = call.groups;
    StageReports stages;
    ranks.agreed([&] {
        stages = describer->take_stages();
        for (const StageReports& of_vectors : {vectors.floats->take_stages(), vectors.doubles->take_stages()}) {
            stages.insert(stages.end(), of_vectors.begin(), of_vectors.end());
        }
    });
    const StageReports of_host = context.take_stages();
    stages.insert(stages.end(), of_host.begin(), of_host.end());
    result.stages = joined_stages(stages);
    return result;
}

} // namespace kith::detail
