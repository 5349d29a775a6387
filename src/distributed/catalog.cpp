#include "distributed/catalog.hpp"

#include "distributed/described_groups.hpp"
#include "distributed/gathered_members.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/group_division.hpp"
#include "distributed/shared_frame.hpp"
#include "halos/group_moments.hpp"
#include "halos/layout.hpp"
#include "points/as_given.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace kith::detail {

namespace {

class DistributedCatalog {
public:
    DistributedCatalog(Ranks& ranks, Context& context, const CatalogOverRanks& call, const Particles& particles,
                       bool has_types, const GivenIds& ids)
        : ranks_(ranks), context_(context), groups_(call.groups.groups), labels_(call.groups.labels64()),
          particles_(particles), ordered_(particles), min_members_(call.options.min_members), has_types_(has_types),
          division_(call.groups.sizes, min_members_, ranks.size()) {
        double largest = 0;
        ranks.agreed([&] { context.run([&] { largest = halos::check_particle_values(particles); }); });
        for (const double of_rank : ranks.gather(largest)) {
            largest_velocity_ = std::max(largest_velocity_, of_rank);
        }
        with_dtype(particles.positions.dtype(), [&]<Coordinate T>(T) {
            const SharedPoints<T> shared = share_frame<T>(ranks, context, particles.positions, call.groups.box);
            ownership_ = shared.ownership;
            frame_ = halos::position_frame(shared.points.frame);
        });
        numbers_ = ids.sorted_numbers(ownership_);
        check_labels();
        ranks.agreed([&] {
            if (!ids.order().empty()) {
                bring_into_order(ids.order());
            }
        });
    }

    void run(Catalog& result) {
        check_members();
        std::vector<RankMessage> described;
        ranks_.agreed([&] {
            context_.stage("catalog", [&] { described = pack_described(describe_local(), division_, widths()); });
        });
        described = ranks_.exchange(std::move(described));
        ranks_.agreed([&] {
            lay_out(result);
            for (RankMessage& message : described) {
                place(unpack_described(message.bytes, widths()), result);
                message.bytes = {};
            }
        });
        std::vector<RankMessage> members;
        ranks_.agreed([&] { members = pack_spread(); });
        members = ranks_.exchange(std::move(members));
        ranks_.agreed([&] {
            const GatheredMembers gathered = gather(members);
            context_.stage("catalog of gathered groups", [&] { place(describe(gathered), result); });
        });
    }

private:
    /// Labels of this rank's members that are in the catalog, each once, and how many of them are here.
    struct LocalGroups {
        std::vector<std::int64_t> labels;
        std::vector<std::int64_t> counts;

        [[nodiscard]] std::int64_t find(std::int64_t label) const {
            return std::ranges::lower_bound(labels, label) - labels.begin();
        }
    };

    [[nodiscard]] bool is_in_catalog(std::int64_t label) const { return label >= 0 && label < division_.groups(); }

    void check_labels() {
        ranks_.agreed([&] {
            for (std::size_t row = 0; row < labels_.size(); ++row) {
                if (labels_[row] < -1 || labels_[row] >= groups_) {
                    throw error(ErrorKind::invalid_argument,
                                {.point = static_cast<std::int64_t>(row), .value = static_cast<double>(labels_[row])},
                                "groups: row ", row, " has label ", labels_[row], ", but there are ", groups_,
                                " groups; labels are 0 to ", groups_ - 1, ", or -1 for no group");
                }
            }
        });
    }

    /// Copies labels and particles, so that their rows ascend with ids.
    void bring_into_order(std::span<const std::int64_t> order) {
        const int dimension = particles_.positions.dimension();
        ordered_.labels = rows_in_order<std::int64_t>(labels_, 1, order);
        ordered_.positions = MemberVectors(particles_.positions);
        ordered_.positions.bring(dimension, order);
        if (particles_.velocities) {
            ordered_.velocities = MemberVectors(*particles_.velocities);
            ordered_.velocities.bring(dimension, order);
        }
        for (std::size_t i = 0; particles_.masses && i < order.size(); ++i) {
            ordered_.masses.push_back((*particles_.masses)[order[i]]);
        }
        if (!particles_.types.empty()) {
            ordered_.types = rows_in_order<std::uint8_t>(halos::plain_types(particles_), 1, order);
        }
        labels_ = ordered_.labels;
        particles_ = ordered_.particles(dimension, particles_);
    }

    /// Finds the groups on this rank, and compares labels with sizes as far as this can be done here.
    void check_members() {
        std::int64_t labeled = 0;
        ranks_.agreed([&] {
            labeled = std::ranges::count_if(labels_, [&](std::int64_t label) { return is_in_catalog(label); });
            context_.run([&] { count_local(labeled); });
        });
        const std::int64_t all = ranks_.sum(labeled);
        Ranks::alike([&] {
            if (all != division_.members()) {
                throw error(ErrorKind::invalid_argument, "groups: ", all,
                            " points of all ranks carry the labels of groups with ", division_.members(),
                            " members; pass labels and sizes of the same result");
            }
        });
    }

    void count_local(std::int64_t labeled) {
        Buffer<std::int64_t> labels(context_.memory_tracker(), labeled);
        std::int64_t next = 0;
        for (const std::int64_t label : labels_) {
            if (is_in_catalog(label)) {
                labels[next++] = label;
            }
        }
        parallel_sort(context_, labels);
        for (std::int64_t i = 0; i < labeled; ++i) {
            if (i == 0 || labels[i] != labels[i - 1]) {
                local_.labels.push_back(labels[i]);
                local_.counts.push_back(0);
            }
            ++local_.counts.back();
        }
        for (std::size_t i = 0; i < local_.labels.size(); ++i) {
            require_size(local_.labels[i], local_.counts[i], false);
        }
    }

    void require_size(std::int64_t label, std::int64_t found, bool all) const {
        const std::int64_t size = division_.size(label);
        if (all ? found != size : found > size) {
            throw error(ErrorKind::invalid_argument, "groups: group ", label, " has size ", size, " but ", found,
                        " points carry its label; pass labels and sizes of the same result");
        }
    }

    [[nodiscard]] bool is_local(std::int64_t i) const { return local_.counts[i] == division_.size(local_.labels[i]); }

    /// Describes groups whose labels ascend, of particles whose rows ascend with their global indices.
    template <class NumberOf>
    DescribedGroups describe(std::vector<std::int64_t> labels, std::span<const std::int32_t> label_of_row,
                             const Particles& particles, const NumberOf& number_of) {
        DescribedGroups described{std::move(labels), {}, {}};
        std::vector<std::int32_t> sizes;
        for (const std::int64_t label : described.labels) {
            sizes.push_back(static_cast<std::int32_t>(division_.size(label)));
        }
        halos::describe_groups(context_, {label_of_row, GroupSizes(sizes)},
                               halos::columns_of(particles, largest_velocity_, frame_), 1, described.catalog);
        const IndexArray member_array = std::exchange(described.catalog.member_array, {});
        const std::span<const std::int32_t> rows = member_array.as_int32();
        described.members.resize(rows.size());
        parallel_each(std::ssize(rows), 1 << 14, [&](std::int64_t i) { described.members[i] = number_of(rows[i]); });
        return described;
    }

    DescribedGroups describe_local() {
        std::vector<std::int64_t> labels;
        std::vector<std::int32_t> places; // among `labels`, or -1
        for (std::int64_t i = 0; i < std::ssize(local_.labels); ++i) {
            places.push_back(is_local(i) ? static_cast<std::int32_t>(labels.size()) : -1);
            if (is_local(i)) {
                labels.push_back(local_.labels[i]);
            }
        }
        const auto rows = std::ssize(labels_);
        Buffer<std::int32_t> label_of_row(context_.memory_tracker(), rows);
        parallel_each(rows, 1 << 12, [&](std::int64_t row) {
            const std::int64_t label = labels_[row];
            label_of_row[row] = is_in_catalog(label) ? places[local_.find(label)] : -1;
        });
        return describe(std::move(labels), label_of_row.span(), particles_,
                        [&](std::int32_t row) { return numbers_[row]; });
    }

    /// How many values of a column each group has.
    [[nodiscard]] std::function<std::int64_t(const CatalogColumn&)> widths() const {
        return [this](const CatalogColumn& column) {
            return column.size(1, particles_.positions.dimension(), particles_.velocities.has_value());
        };
    }

    /// This rank's part, with the columns that follow from the sizes.
    void lay_out(Catalog& result) {
        first_group_ = division_.first_of(ranks_.rank());
        const std::int64_t end = division_.first_of(ranks_.rank() + 1);
        result.distribution = {
            .ranks = ranks_.size(), .first = first_group_, .total = division_.groups(), .traffic = {}};
        result.first_member = division_.offset(first_group_);
        const std::int64_t members = division_.offset(end) - result.first_member;
        if (members > std::numeric_limits<std::int32_t>::max()) {
            throw error(ErrorKind::too_large, "the groups of this rank's part have ", members,
                        " members, more than 2147483647; use more ranks");
        }
        std::vector<std::int32_t> sizes;
        for (std::int64_t group = first_group_; group < end; ++group) {
            sizes.push_back(static_cast<std::int32_t>(division_.size(group)));
        }
        result.dimension = particles_.positions.dimension();
        result.min_members = min_members_;
        context_.run([&] {
            context_.memory_tracker()->add(
                halos::lay_out(result, GroupSizes(sizes), particles_.velocities.has_value()));
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

    /// This rank's members of groups that other ranks have members of, to the ranks of the groups' parts.
    std::vector<RankMessage> pack_spread() {
        std::vector<std::vector<std::int64_t>> rows(ranks_.size());
        for (std::size_t row = 0; row < labels_.size(); ++row) {
            const std::int64_t label = labels_[row];
            if (is_in_catalog(label) && !is_local(local_.find(label))) {
                rows[division_.rank_of(label)].push_back(static_cast<std::int64_t>(row));
            }
        }
        return messages_to(rows, [&](MessageWriter& writer, const std::vector<std::int64_t>& of_rank) {
            pack_members(of_rank, labels_, numbers_, particles_, has_types_, writer);
        });
    }

    /// Members that have arrived, by ascending number.
    GatheredMembers gather(std::vector<RankMessage>& messages) {
        GatheredMembers members(particles_);
        for (RankMessage& message : messages) {
            members.take(message.bytes, particles_, has_types_);
            message.bytes = {};
        }
        members.sort(particles_.positions.dimension());
        return members;
    }

    DescribedGroups describe(const GatheredMembers& members) {
        const int dimension = particles_.positions.dimension();
        std::vector<std::int64_t> labels = members.labels;
        std::ranges::sort(labels);
        for (std::size_t first = 0; first < labels.size();) {
            const std::size_t end =
                static_cast<std::size_t>(std::ranges::upper_bound(labels, labels[first]) - labels.begin());
            require_size(labels[first], static_cast<std::int64_t>(end - first), true);
            first = end;
        }
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
        std::vector<std::int32_t> label_of_row;
        for (const std::int64_t label : members.labels) {
            label_of_row.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(labels, label) - labels.begin()));
        }
        return describe(std::move(labels), label_of_row, members.particles(dimension, particles_),
                        [&](std::int32_t row) { return members.numbers[row]; });
    }

    Ranks& ranks_;
    Context& context_;
    std::int64_t groups_;
    std::span<const std::int64_t> labels_; ///< this and the particles: of this rank, by ascending number
    Particles particles_;
    GatheredMembers ordered_; ///< what both refer to if they were not passed in this order
    std::int64_t min_members_;
    bool has_types_; ///< on any rank
    GroupDivision division_;
    double largest_velocity_ = 0;
    Ownership ownership_;
    PointNumbers numbers_;
    halos::PositionFrame frame_;
    LocalGroups local_;
    std::int64_t first_group_ = 0; ///< of this rank's part
};

} // namespace

Catalog catalog_over_ranks(Ranks& ranks, Context& context, const CatalogOverRanks& call) {
    const Particles& particles = call.particles;
    const bool has_types = ranks.any(!particles.types.empty());
    const std::int64_t rows = call.groups.label_array.size();
    std::vector<std::uint8_t> memory_of_types;
    Particles plain;
    ranks.agreed([&] {
        if (has_types && particles.types.empty() && rows > 0) {
            throw Error(ErrorKind::invalid_argument, "types: other ranks passed types, this one none; all ranks with "
                                                     "particles must pass them, or none");
        }
        plain = halos::with_plain_types(particles, memory_of_types);
    });
    const GivenIds ids(ranks, call.of_ranks.ids, rows);
    Catalog result;
    DistributedCatalog(ranks, context, call, plain, has_types, ids).run(result);
    result.box = call.groups.box;
    result.lengths = call.groups;
    result.stages = context.take_stages();
    return result;
}

} // namespace kith::detail
