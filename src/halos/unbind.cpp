#include "halos/unbind.hpp"

#include "halos/terms.hpp"
#include "halos/unbind_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace kith::detail::halos {

namespace {

/// One group while its members leave.
class Unbinding {
public:
    Unbinding(GroupPotentials& potentials, const Columns& columns, const Universe& universe,
              std::span<const std::int32_t> rows)
        : potentials_(potentials), universe_(universe), rows_(rows), masses_(rows.size(), columns.uniform_mass),
          internal_energies_(rows.size()), left_(rows.size()) {
        std::iota(left_.begin(), left_.end(), 0);
        for (std::size_t i = 0; columns.internal_energies && i < rows.size(); ++i) {
            internal_energies_[i] = (*columns.internal_energies)[rows[i]];
        }
        for (std::size_t i = 0; columns.masses && i < rows.size(); ++i) {
            masses_[i] = (*columns.masses)[rows[i]];
        }
        for (std::size_t axis = 0; columns.velocities && axis < 3; ++axis) {
            std::vector<double>& x = offsets_[axis];
            std::vector<double>& v = velocities_[axis];
            x.resize(rows.size());
            v.resize(rows.size());
            columns.positions.read(rows, static_cast<int>(axis), x.data());
            columns.velocities->read(rows, static_cast<int>(axis), v.data());
            const double first = x[0];
            for (std::size_t i = 0; i < rows.size(); ++i) {
                x[i] = nearest_offset(x[i], first, columns.box.period[axis]) * columns.positions.unit();
                v[i] *= columns.velocities->unit();
            }
        }
    }

    /// Removes members until the others are bound, or too few.
    void run(std::int64_t min_members) {
        while (std::ssize(left_) >= min_members) {
            find_energies();
            if (!remove_some()) {
                return;
            }
        }
        left_.clear();
    }
    /// Takes all members, if they are enough, with their potentials as energies.
    void take_all(std::int64_t min_members) {
        if (std::ssize(left_) < min_members) {
            left_.clear();
            return;
        }
        find_potentials();
        energies_ = phi_;
        for (double& energy : energies_) {
            energy *= universe_.gravity / universe_.scale_factor;
        }
    }
    /// Of the bound members.
    [[nodiscard]] Motion motion() const {
        return left_.empty() ? Motion() : motion_of({offsets_, velocities_, masses_}, left_, phi_, universe_);
    }
    /// The row of the bound member of lowest potential, of several the first; -1 if none is bound.
    [[nodiscard]] std::int32_t deepest() const {
        return left_.empty() ? -1 : rows_[left_[std::min_element(phi_.begin(), phi_.end()) - phi_.begin()]];
    }
    /// Returns the number of bound members.
    std::int64_t write(std::int32_t* rows, double* energies) {
        std::vector<std::size_t> order(left_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return energies_[a] < energies_[b]; });
        std::vector<bool> is_bound(rows_.size(), false);
        for (const std::size_t i : order) {
            is_bound[left_[i]] = true;
            *rows++ = rows_[left_[i]];
            *energies++ = energies_[i];
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (!is_bound[i]) {
                *rows++ = rows_[i];
                *energies++ = 0;
            }
        }
        return std::ssize(left_);
    }

private:
    /// By mass; members without any count alike.
    [[nodiscard]] std::array<double, 3> mean(const Vectors& vectors) const {
        const bool have_mass = std::any_of(left_.begin(), left_.end(), [&](std::int32_t i) { return masses_[i] > 0; });
        double sum_of_weights = 0;
        std::array<double, 3> sum{};
        for (const std::int32_t i : left_) {
            const double weight = have_mass ? masses_[i] : 1;
            sum_of_weights += weight;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                sum[axis] += weight * vectors[axis][i];
            }
        }
        for (double& component : sum) {
            component /= sum_of_weights;
        }
        return sum;
    }

    [[nodiscard]] std::vector<std::int32_t> rows_left() const {
        std::vector<std::int32_t> rows;
        rows.reserve(left_.size());
        for (const std::int32_t i : left_) {
            rows.push_back(rows_[i]);
        }
        return rows;
    }

    void find_potentials() {
        phi_.resize(left_.size());
        potentials_.compute(rows_left(), phi_.data());
        computed_ = std::ssize(left_);
    }

    void find_energies() {
        if (phi_.empty()) {
            find_potentials();
        }
        energies_.resize(left_.size());
        const EnergyFrame frame(mean(offsets_), mean(velocities_), universe_);
        for (std::size_t at = 0; at < left_.size(); ++at) {
            const std::int32_t i = left_[at];
            energies_[at] =
                frame.energy(phi_[at], {offsets_[0][i], offsets_[1][i], offsets_[2][i]},
                             {velocities_[0][i], velocities_[1][i], velocities_[2][i]}, internal_energies_[i]);
        }
    }

    /// The least bound, if any is unbound.
    bool remove_some() {
        std::vector<std::int32_t> unbound;
        for (std::size_t at = 0; at < left_.size(); ++at) {
            if (energies_[at] > 0) {
                unbound.push_back(static_cast<std::int32_t>(at));
            }
        }
        if (unbound.empty()) {
            return false;
        }
        const auto most = static_cast<std::size_t>(most_removed(std::ssize(left_)));
        if (unbound.size() > most) {
            std::nth_element(unbound.begin(), unbound.begin() + static_cast<std::ptrdiff_t>(most), unbound.end(),
                             [&](std::int32_t a, std::int32_t b) {
                                 return energies_[a] != energies_[b] ? energies_[a] > energies_[b] : a < b;
                             });
            unbound.resize(most);
        }
        std::sort(unbound.begin(), unbound.end()); // the order of their sums
        const bool subtracts = is_subtracted(std::ssize(unbound), std::ssize(left_) - std::ssize(unbound), computed_);
        if (subtracts) {
            std::vector<double> part(left_.size());
            potentials_.compute_part(rows_left(), unbound, part.data());
            for (std::size_t at = 0; at < part.size(); ++at) {
                phi_[at] -= part[at];
            }
        }
        std::size_t kept = 0;
        for (std::size_t at = 0, next = 0; at < left_.size(); ++at) {
            if (next < unbound.size() && unbound[next] == static_cast<std::int32_t>(at)) {
                ++next;
                continue;
            }
            phi_[kept] = phi_[at];
            left_[kept++] = left_[at];
        }
        left_.resize(kept);
        phi_.resize(subtracts ? kept : 0);
        return true;
    }

    GroupPotentials& potentials_;
    Universe universe_;
    std::span<const std::int32_t> rows_;
    std::vector<double> masses_;
    std::vector<double> internal_energies_;
    Vectors offsets_; ///< from the first member
    Vectors velocities_;
    std::vector<std::int32_t> left_; ///< places in the group
    std::vector<double> phi_;        ///< potentials of those left; empty if they are to be computed
    std::int64_t computed_ = 0;      ///< how many were left when potentials were last computed
    std::vector<double> energies_;   ///< of those left
};

/// With all rows in their order, as if nothing were bound.
BoundMembers nothing_bound(const GroupMembers& groups) {
    BoundMembers bound;
    bound.count.resize(static_cast<std::size_t>(groups.groups()));
    bound.deepest.resize(static_cast<std::size_t>(groups.groups()), -1);
    bound.rows.assign(groups.rows.begin(), groups.rows.end());
    bound.energies.resize(groups.rows.size());
    return bound;
}

/// What `find` leaves bound of each group.
template <class Find>
BoundMembers bound_by(Context& context, const Columns& columns, const GroupMembers& groups, const Softening& softening,
                      const Universe& universe, const Find& find) {
    GroupPotentials potentials(context, columns, softening);
    BoundMembers bound = nothing_bound(groups);
    if (columns.velocities) {
        bound.motions.resize(static_cast<std::size_t>(groups.groups()));
    }
    for_each_group(groups, [&](std::int64_t group) {
        if (groups.of(group).empty()) {
            return;
        }
        Unbinding unbinding(potentials, columns, universe, groups.of(group));
        find(unbinding);
        const std::int64_t first = groups.offset[group];
        bound.deepest[group] = unbinding.deepest();
        bound.count[group] = unbinding.write(bound.rows.data() + first, bound.energies.data() + first);
        if (columns.velocities) {
            bound.motions[group] = unbinding.motion();
        }
    });
    return bound;
}

} // namespace

BoundMembers bound_members(Context& context, const Columns& columns, const GroupMembers& groups,
                           const Softening& softening, const Universe& universe, std::int64_t min_members) {
    return bound_by(context, columns, groups, softening, universe,
                    [min_members](Unbinding& unbinding) { unbinding.run(min_members); });
}

BoundMembers members_by_potential(Context& context, const Columns& columns, const GroupMembers& groups,
                                  const Softening& softening, const Universe& universe, std::int64_t min_members) {
    return bound_by(context, columns, groups, softening, universe,
                    [min_members](Unbinding& unbinding) { unbinding.take_all(min_members); });
}

BoundMembers find_bound(Context& context, const Columns& columns, const GroupMembers& groups,
                        const HaloOptions& options) {
    const auto find = options.unbind ? bound_members : members_by_potential;
    return find(context, columns, groups, *options.softening, options.universe, options.min_members);
}

} // namespace kith::detail::halos
