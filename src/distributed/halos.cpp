#include "distributed/halos.hpp"

#include "distributed/given_ids.hpp"
#include "distributed/grouped_particles.hpp"
#include "distributed/halo_parts.hpp"
#include "distributed/moved_particles.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/shell_exchange.hpp"
#include "halos/bound_halos.hpp"
#include "halos/columns.hpp"
#include "halos/distance_sort.hpp"
#include "halos/group_order.hpp"
#include "halos/resolve_softening.hpp"
#include "support/dimension.hpp"
#include "support/joined_stages.hpp"
#include "support/parallel_in_turn.hpp"
#include "support/per_thread.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// A rank searches so many halos at a time that their shells have about as many particles, of up to 24 bytes each, or
/// one halo that has more. From 1 on, fewer take more exchanges.
constexpr double particles_at_once = 1 << 21;
/// In a shell for each bound member, before any have been seen.
constexpr double guess_by_member = 4;

template <Coordinate T>
struct DescribedHalos : LocalHalos {
    std::span<const std::uint8_t> types; ///< empty: all are type 1
    std::optional<halos::HaloDescriber<T>> describer;
};

template <Coordinate T>
class DistributedHalos {
public:
    DistributedHalos(Ranks& ranks, Context& context, const HalosOverRanks& call, const Particles& particles,
                     bool has_types, double largest_velocity, const GivenIds& ids, Halos& result)
        : ranks_(ranks), context_(context), largest_velocity_(largest_velocity),
          shared_(share_frame<T>(ranks, context, particles.positions, call.groups.box)),
          grouped_(ranks, context, call.groups, call.options.min_members, particles, PartVectors::of_host(context),
                   has_types, shared_.ownership, ids),
          result_(result) {
        shared_.points.view = grouped_.particles().positions; // by ascending number
        Ranks::alike(
            [&] { halos::resolve_softening(options(), frame(), shared_.ownership.total(), division().groups()); });
    }

    void run() {
        const GatheredMembers members = gather_members();
        ranks_.agreed([&] {
            context_.stage("members", [&] {
                own_.groups = grouped_.whole();
                gathered_.groups = grouped_.whole(members);
                order(own_);
                order(gathered_);
            });
            context_.stage("unbind", [&] {
                unbind(own_);
                unbind(gathered_);
            });
        });
        describe();
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            pack_halos(own_, division(), messages);
            pack_halos(gathered_, division(), messages);
        });
        messages = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            put_together(messages, division(), ranks_.rank(), grouped_.particles().velocities.has_value(), result_);
        });
    }

private:
    /// One halo's search.
    struct Search {
        DescribedHalos<T>* of;
        std::int64_t halo;
        halos::BoundExtent extent = {};
        std::vector<halos::Crossing> crossings = {};
        std::optional<halos::SphereSearch> spheres = {};
        bool is_done = false;

        [[nodiscard]] std::int64_t members() const { return of->found.count[halo]; }
        [[nodiscard]] ShellRequest shell() const { return {extent.center, spheres->inner(), spheres->outer()}; }
    };

    [[nodiscard]] HaloOptions& options() const { return result_.options; }
    [[nodiscard]] const GroupDivision& division() const { return grouped_.division(); }
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }

    /// Of groups over several ranks, each on the rank that has most of them.
    GatheredMembers gather_members() {
        using Spread = GroupedParticles::SpreadGroup;
        const std::vector<Spread> spread = grouped_.spread_groups();
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::vector<std::vector<Spread>> to(static_cast<std::size_t>(ranks_.size()));
            for (const Spread& group : spread) {
                to[division().rank_of(group.label)].push_back(group);
            }
            messages = messages_to(to, [](MessageWriter& writer, const std::vector<Spread>& groups) {
                writer.put(std::span<const Spread>(groups));
            });
        });
        messages = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] { messages = answer_with_ranks(messages); });
        messages = ranks_.exchange(std::move(messages));
        std::vector<std::int32_t> rank_of; // of spread[i]: labels ascend with the ranks that answer
        ranks_.agreed([&] {
            for (const RankMessage& message : messages) {
                std::ranges::copy(values_of<std::int32_t>(message), std::back_inserter(rank_of));
            }
        });
        return grouped_.gather([&](std::int64_t label) {
            return rank_of[std::ranges::lower_bound(spread, label, {}, &Spread::label) - spread.begin()];
        });
    }

    /// Which rank has most members of each group that is asked for, all of this rank's part.
    std::vector<RankMessage> answer_with_ranks(const std::vector<RankMessage>& asked) {
        struct Most {
            std::int64_t members = 0;
            std::int32_t rank = 0;
        };
        using Spread = GroupedParticles::SpreadGroup;
        const std::int64_t first = division().first_of(ranks_.rank());
        std::vector<Most> most(division().first_of(ranks_.rank() + 1) - first);
        for (const RankMessage& message : asked) {
            for (const Spread& group : values_of<Spread>(message)) {
                Most& of_group = most[group.label - first];
                if (group.members > of_group.members) {
                    of_group = {group.members, message.rank};
                }
            }
        }
        std::vector<RankMessage> answers;
        for (const RankMessage& message : asked) {
            MessageWriter writer(answers.emplace_back(RankMessage{message.rank, {}}).bytes);
            for (const Spread& group : values_of<Spread>(message)) {
                writer.put_value(most[group.label - first].rank);
            }
        }
        return answers;
    }

    void order(LocalHalos& local) {
        Halos& found = local.found;
        found.options = options();
        found.groups = std::ssize(local.groups.labels);
        found.group_offset.resize(local.groups.labels.size() + 1);
        local.rows.resize(static_cast<std::size_t>(local.groups.group_of_row.size()));
        (void)halos::order_by_group(context_, local.groups.group_of_row.span(), local.rows, found.group_offset);
        local.groups.group_of_row = {};
        local.rows.resize(static_cast<std::size_t>(found.group_offset.back()));
        local.rows.shrink_to_fit();
    }

    void unbind(DescribedHalos<T>& local) {
        const halos::Columns columns =
            halos::columns_of(local.groups.particles, largest_velocity_, halos::position_frame(frame()));
        local.types = columns.types;
        local.bound = halos::find_bound(context_, columns, local.members(), options());
        halos::make_rows(local.members(), local.bound, local.found);
    }

    [[nodiscard]] halos::MassPoints<T> mass_points(const Particles& particles) const {
        return {&frame(), Coordinates<T>(particles.positions), particles.masses, particles.uniform_mass};
    }

    /// Fills the rows of the halos.
    void describe() {
        double largest_side = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            largest_side =
                std::max(largest_side, std::ldexp(static_cast<double>(shared_.upper[axis]), frame().exponent) -
                                           std::ldexp(static_cast<double>(shared_.lower[axis]), frame().exponent));
        }
        const halos::SphereRequest request(options(), frame().exponent, largest_side, shared_.ownership.total());
        std::vector<Search> searches;
        ranks_.agreed([&] {
            for (DescribedHalos<T>* const local : {&own_, &gathered_}) {
                local->describer.emplace(mass_points(local->groups.particles), local->types, request, options());
                for (std::int64_t halo = 0; halo < local->found.halos; ++halo) {
                    searches.push_back({local, halo});
                }
            }
            std::ranges::stable_sort(searches, std::ranges::greater(), &Search::members);
            context_.stage("spheres", [&] {
                parallel_in_turn(std::ssize(searches), [&](std::int64_t i) {
                    Search& each = searches[i];
                    each.extent =
                        each.of->describer->describe_members(each.of->members_of(each.halo), each.halo, each.of->found);
                });
                halos::write_motions(own_.bound, own_.found);
                halos::write_motions(gathered_.bound, gathered_.found);
            });
        });
        if (!options().bound_only) {
            find_spheres(request, searches);
        }
    }

    void find_spheres(const halos::SphereRequest& request, std::vector<Search>& searches) {
        PlaneTree<T> tree;
        ranks_.agreed([&] {
            if (shared_.points.view.count() > 0) {
                tree = build_plane_tree<T>(context_, shared_.points, {});
            }
        });
        const TreeView<T> view = tree.view();
        const halos::MassPoints<T> particles = mass_points(grouped_.particles());
        ShellExchange<T> shells(ranks_, context_, view, particles, grouped_.numbers());
        const std::vector<double> bounds = bounds_of(request, searches, shells);
        std::vector<std::int64_t> active; // among the searches
        std::vector<ShellRequest> requests;
        std::int64_t next = 0;
        std::int64_t members = 0; // of the active ones
        double members_seen = 0;  // in all rounds
        std::atomic<std::int64_t> particles_seen = 0;
        double by_member = guess_by_member;
        PerThread<halos::DistanceSort> sort;
        while (ranks_.any(!active.empty() || next < std::ssize(searches))) {
            ranks_.agreed([&] {
                const auto most = static_cast<std::int64_t>(particles_at_once / by_member);
                for (; next < std::ssize(searches) && (active.empty() || members + searches[next].members() <= most);
                     ++next) {
                    Search& each = searches[next];
                    each.crossings.assign(static_cast<std::size_t>(request.search().densities), {});
                    each.spheres.emplace(request.search(), each.extent, bounds[next], each.crossings.data());
                    members += each.members();
                    active.push_back(next);
                }
                requests.clear();
                for (const std::int64_t i : active) {
                    requests.push_back(searches[i].shell());
                }
            });
            shells.find(requests, [&](std::int64_t i, const ShellParticles& found) {
                particles_seen.fetch_add(found.count(), std::memory_order_relaxed);
                add(found, sort.local(), searches[active[i]]);
            });
            members_seen += static_cast<double>(members);
            if (members_seen > 0) {
                by_member = std::max(1.0, static_cast<double>(particles_seen) / members_seen);
            }
            std::erase_if(active, [&](std::int64_t i) {
                members -= searches[i].is_done ? searches[i].members() : 0;
                return searches[i].is_done;
            });
        }
    }

    /// What is in the shell of a search.
    static void add(const ShellParticles& found, halos::DistanceSort& sort, Search& search) {
        sort.for_each(
            found.squares.data(), found.count(), [&](std::int64_t i) { return found.numbers[i]; },
            [&](std::int64_t i) { search.spheres->add(std::sqrt(found.squares[i]), found.masses[i]); });
        if (!search.spheres->next_shell()) {
            search.of->describer->write_spheres(search.extent, search.spheres->profile(), search.halo,
                                                search.of->found);
            search.spheres.reset();
            search.is_done = true;
        }
    }

    /// Collective. Beyond which radius no sphere of a search has the lowest density; 0 where it need not be known.
    std::vector<double> bounds_of(const halos::SphereRequest& request, const std::vector<Search>& searches,
                                  ShellExchange<T>& shells) {
        std::vector<double> bounds(searches.size());
        if (!request.needs_bounds()) {
            return bounds;
        }
        std::vector<halos::LargestRadius> radii(searches.size(),
                                                halos::LargestRadius(request.search().lowest_ball_mass));
        std::vector<std::int64_t> active(searches.size());
        std::iota(active.begin(), active.end(), 0);
        std::vector<ShellRequest> balls;
        while (ranks_.any(!active.empty())) {
            ranks_.agreed([&] {
                balls.clear();
                for (const std::int64_t i : active) {
                    balls.push_back({searches[i].extent.center, -1, radii[i].value() * radii[i].value()});
                }
            });
            const std::vector<double> masses = shells.most_within(balls);
            std::size_t at = 0;
            std::erase_if(active, [&](std::int64_t i) { return !radii[i].shrink(masses[at++]); });
        }
        std::ranges::transform(radii, bounds.begin(),
                               [](const halos::LargestRadius& radius) { return radius.value(); });
        return bounds;
    }

    Ranks& ranks_;
    Context& context_;
    double largest_velocity_; ///< of all ranks
    SharedPoints<T> shared_;
    GroupedParticles grouped_;
    Halos& result_;
    DescribedHalos<T> own_;      ///< of groups whose members are all on this rank
    DescribedHalos<T> gathered_; ///< of others that are unbound here
};

/// Collective. The halos of particles that are moved for the call; the ranks' parts of the halos do not depend on where
/// the particles are. Fills the result, with the work of this rank's particles.
template <Coordinate T>
void find_rebalanced(Ranks& ranks, Context& context, const HalosOverRanks& call, const Particles& particles,
                     bool has_types, double largest_velocity, const GivenIds& ids, Halos& result) {
    // Labels are looked at before anything moves, so that an error names the rank and the row that they came from.
    SharedPoints<T> shared = share_frame<T>(ranks, context, particles.positions, call.groups.box);
    ids.number(shared);
    require_labels(ranks, call.groups.labels64(), call.groups.groups);
    const Rebalanced<T> here(ranks, context, shared, ids.given(), call.of_ranks);
    MovedParticles<T> moved(here.moved, call.groups, particles, has_types);
    FofResult groups;
    static_cast<FofSummary&>(groups) = static_cast<const FofSummary&>(call.groups);
    groups.label_array = moved.take_labels();
    const HalosOverRanks moved_call{groups, moved.particles(), call.options, call.of_ranks};
    DistributedHalos<T>(ranks, context, moved_call, moved.particles(), has_types, largest_velocity, *here.ids, result)
        .run();
    result.stages = joined_stages(context.take_stages());
    result.distribution.emplace().work = here.moved.work(seconds_of(result.stages));
}

} // namespace

Halos halos_over_ranks(Ranks& ranks, Context& context, const HalosOverRanks& call) {
    std::vector<std::uint8_t> memory_of_types;
    Particles particles;
    double largest_velocity = 0;
    const bool has_types = ranks.any(!call.particles.types.empty());
    ranks.agreed([&] {
        require_types(has_types, call.particles);
        context.run([&] {
            particles = halos::with_plain_types(call.particles, memory_of_types);
            largest_velocity = halos::check_particle_values(particles);
        });
    });
    largest_velocity = std::ranges::max(ranks.gather(largest_velocity));
    const GivenIds ids(ranks, call.of_ranks.ids, call.groups.label_array.size());
    Halos result;
    result.options = call.options;
    result.box = call.groups.box;
    result.lengths = call.groups;
    with_dtype(particles.positions.dtype(), [&]<Coordinate T>(T) {
        if (call.of_ranks.rebalance && ranks.size() > 1) {
            find_rebalanced<T>(ranks, context, call, particles, has_types, largest_velocity, ids, result);
        } else {
            DistributedHalos<T>(ranks, context, call, particles, has_types, largest_velocity, ids, result).run();
            result.stages = joined_stages(context.take_stages());
        }
    });
    return result;
}

} // namespace kith::detail
