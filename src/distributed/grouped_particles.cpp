#include "distributed/grouped_particles.hpp"

#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kith::detail {

void require_types(bool has_types, const Particles& particles) {
    if (has_types && particles.types.empty() && particles.positions.count() > 0) {
        throw Error(ErrorKind::invalid_argument, "types: other ranks passed types, this one none; all ranks with "
                                                 "particles must pass them, or none");
    }
}

void require_labels(Ranks& ranks, std::span<const std::int64_t> labels, std::int64_t groups) {
    ranks.agreed([&] {
        for (std::size_t row = 0; row < labels.size(); ++row) {
            if (labels[row] < -1 || labels[row] >= groups) {
                throw error(ErrorKind::invalid_argument,
                            {.point = static_cast<std::int64_t>(row), .value = static_cast<double>(labels[row])},
                            "groups: row ", row, " has label ", labels[row], ", but there are ", groups,
                            " groups; labels are their numbers, from 0, or -1 for no group");
            }
        }
    });
}

GroupedParticles::GroupedParticles(Ranks& ranks, Context& context, const FofResult& groups, std::int64_t min_members,
                                   const Particles& particles, const PartVectors& vectors, bool has_types,
                                   const Ownership& ownership, const GivenIds& ids)
    : ranks_(ranks), context_(context), labels_(groups.labels64()), particles_(particles), vectors_(vectors),
      ordered_(particles), has_types_(has_types), division_(groups.sizes, min_members, ranks.size()),
      numbers_(ids.sorted_numbers(ownership)) {
    require_labels(ranks, labels_, groups.groups);
    ranks.agreed([&] {
        if (!ids.order().empty()) {
            bring_into_order(ids.order());
        }
    });
    count_members();
}

std::vector<GroupedParticles::SpreadGroup> GroupedParticles::spread_groups() const {
    std::vector<SpreadGroup> spread;
    for (std::int64_t i = 0; i < std::ssize(labels_here_); ++i) {
        if (!is_whole(i)) {
            spread.push_back({labels_here_[i], counts_[i]});
        }
    }
    return spread;
}

WholeGroups GroupedParticles::whole() const {
    WholeGroups groups;
    std::vector<std::int32_t> places; // among the labels, or -1
    for (std::int64_t i = 0; i < std::ssize(labels_here_); ++i) {
        places.push_back(is_whole(i) ? static_cast<std::int32_t>(groups.labels.size()) : -1);
        if (is_whole(i)) {
            groups.labels.push_back(labels_here_[i]);
        }
    }
    const auto rows = std::ssize(labels_);
    groups.group_of_row = Buffer<std::int32_t>(context_.memory_tracker(), rows);
    parallel_each(rows, 1 << 12, [&](std::int64_t row) {
        const std::int64_t label = labels_[row];
        groups.group_of_row[row] = is_described(label) ? places[find(label)] : -1;
    });
    groups.particles = particles_;
    groups.numbers = numbers_;
    return groups;
}

GatheredMembers GroupedParticles::gather(const std::function<int(std::int64_t label)>& rank_of) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        std::vector<std::vector<std::int32_t>> rows(ranks_.size());
        for (std::size_t row = 0; row < labels_.size(); ++row) {
            const std::int64_t label = labels_[row];
            if (is_described(label) && !is_whole(find(label))) {
                rows[rank_of(label)].push_back(static_cast<std::int32_t>(row));
            }
        }
        messages = messages_to(rows, [&](MessageWriter& writer, const std::vector<std::int32_t>& of_rank) {
            pack_members(of_rank, labels_, numbers_, particles_, vectors_, has_types_, writer);
        });
    });
    messages = ranks_.exchange(std::move(messages));
    GatheredMembers members(particles_);
    ranks_.agreed([&] {
        for (RankMessage& message : messages) {
            members.take(message.bytes, particles_, has_types_);
            message.bytes = {};
        }
        if (std::ssize(members.numbers) > std::numeric_limits<std::int32_t>::max()) {
            throw error(ErrorKind::too_large, "groups over several ranks have ", members.numbers.size(),
                        " members to be described on this rank, more than 2147483647; use more ranks");
        }
        members.sort(particles_.positions.dimension());
    });
    return members;
}

WholeGroups GroupedParticles::whole(const GatheredMembers& members) const {
    WholeGroups groups;
    groups.labels = members.labels;
    std::ranges::sort(groups.labels);
    for (std::size_t first = 0; first < groups.labels.size();) {
        const std::int64_t label = groups.labels[first];
        const auto end =
            static_cast<std::size_t>(std::ranges::upper_bound(groups.labels, label) - groups.labels.begin());
        require_size(label, static_cast<std::int64_t>(end - first), true);
        first = end;
    }
    groups.labels.erase(std::unique(groups.labels.begin(), groups.labels.end()), groups.labels.end());
    const auto rows = std::ssize(members.labels);
    groups.group_of_row = Buffer<std::int32_t>(context_.memory_tracker(), rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        groups.group_of_row[row] = static_cast<std::int32_t>(
            std::ranges::lower_bound(groups.labels, members.labels[row]) - groups.labels.begin());
    }
    groups.particles = members.particles(particles_.positions.dimension(), particles_);
    groups.numbers = PointNumbers(members.numbers, true);
    return groups;
}

std::int64_t GroupedParticles::find(std::int64_t label) const {
    return std::ranges::lower_bound(labels_here_, label) - labels_here_.begin();
}

/// Copies labels and particles, so that their rows ascend with ids.
void GroupedParticles::bring_into_order(std::span<const std::int64_t> order) {
    const int dimension = particles_.positions.dimension();
    ordered_.labels = rows_in_order<std::int64_t>(labels_, 1, order);
    const std::vector<std::int32_t> rows(order.begin(), order.end());
    ordered_positions_ = vectors_.taken(particles_.positions, rows);
    if (particles_.velocities) {
        ordered_velocities_ = vectors_.taken(*particles_.velocities, rows);
    }
    for (std::size_t i = 0; particles_.masses && i < order.size(); ++i) {
        ordered_.masses.push_back((*particles_.masses)[order[i]]);
    }
    for (std::size_t i = 0; particles_.internal_energies && i < order.size(); ++i) {
        ordered_.internal_energies.push_back((*particles_.internal_energies)[order[i]]);
    }
    if (!particles_.types.empty()) {
        ordered_.types = rows_in_order<std::uint8_t>(halos::plain_types(particles_), 1, order);
    }
    labels_ = ordered_.labels;
    particles_ = ordered_.particles(dimension, particles_);
    particles_.positions = ordered_positions_.view;
    if (particles_.velocities) {
        particles_.velocities = ordered_velocities_.view;
    }
}

/// Finds the groups on this rank, and compares labels with sizes as far as this can be done here.
void GroupedParticles::count_members() {
    std::int64_t labeled = 0;
    ranks_.agreed([&] {
        labeled = std::ranges::count_if(labels_, [&](std::int64_t label) { return is_described(label); });
        context_.run([&] { count_here(labeled); });
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

void GroupedParticles::count_here(std::int64_t labeled) {
    Buffer<std::int64_t> labels(context_.memory_tracker(), labeled);
    std::int64_t next = 0;
    for (const std::int64_t label : labels_) {
        if (is_described(label)) {
            labels[next++] = label;
        }
    }
    parallel_sort(context_, labels);
    for (std::int64_t i = 0; i < labeled; ++i) {
        if (i == 0 || labels[i] != labels[i - 1]) {
            labels_here_.push_back(labels[i]);
            counts_.push_back(0);
        }
        ++counts_.back();
    }
    for (std::size_t i = 0; i < labels_here_.size(); ++i) {
        require_size(labels_here_[i], counts_[i], false);
    }
}

void GroupedParticles::require_size(std::int64_t label, std::int64_t found, bool all) const {
    const std::int64_t size = division_.size(label);
    if (all ? found != size : found > size) {
        throw error(ErrorKind::invalid_argument, "groups: group ", label, " has size ", size, " but ", found,
                    " points carry its label; pass labels and sizes of the same result");
    }
}

} // namespace kith::detail
