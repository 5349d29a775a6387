#include "halos/bound_halos.hpp"

#include <kith/catalog_columns.hpp>

#include "halos/concentration.hpp"
#include "halos/distance_sort.hpp"
#include "halos/mass_bound.hpp"
#include "halos/mass_profile.hpp"
#include "halos/shape.hpp"
#include "halos/shell_search.hpp"
#include "halos/terms.hpp"
#include "points/coordinates.hpp"
#include "support/parallel_in_turn.hpp"
#include "support/per_thread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace kith::detail::halos {

namespace {

using Vector = std::array<double, 3>;

/// The first shell ends where a ball of the lowest density has this many times the bound mass; further ones a little
/// beyond the ball of the mass found so far, and not too near to the last.
constexpr double first_mass = 1.3;
constexpr double beyond_ball = 1.1;
constexpr double least_growth = 1.25;
constexpr double growth_in_voids = 2;
/// A factor to the square of a distance, so that the distance becomes larger.
constexpr double beyond = 1 + 0x1p-50;

/// What all halos share. Lengths are in the units of the working copy.
template <Coordinate T>
class HaloDescriber {
public:
    HaloDescriber(Context& context, const ParticleTree<T>& particles, const HaloOptions& options)
        : particles_(particles), options_(options), tree_(particles.tree->view()), frame_(particles.tree->points.frame),
          positions_(particles.positions), least_radius_(std::ldexp(*options.least_radius, frame_.exponent)) {
        const auto ball_mass = [&](const Overdensity& overdensity) {
            return std::ldexp(4 * std::numbers::pi / 3 * density_of(overdensity, options.universe),
                              -3 * frame_.exponent);
        };
        for (std::size_t i = 0; i < options.overdensities.size(); ++i) {
            if (const double ball = ball_mass(options.overdensities[i]); ball > 0) {
                ball_masses_.push_back(ball);
                columns_.push_back(i);
            }
        }
        peak_ball_mass_ = ball_mass(overdensities::mean_200);
        lowest_ball_mass_ = peak_ball_mass_;
        for (const double ball : ball_masses_) {
            lowest_ball_mass_ = lowest_ball_mass_ > 0 ? std::min(lowest_ball_mass_, ball) : ball;
        }
        spacing_ = largest_side() / std::cbrt(static_cast<double>(std::max(tree_.points.count, 1)));
        for (int axis = 0; axis < 3; ++axis) {
            box_.period[axis] = static_cast<double>(frame_.period[axis]);
            box_.origin[axis] = static_cast<double>(frame_.origin[axis]);
        }
        if (options.outermost && !options.bound_only && !ball_masses_.empty() && tree_.top >= 0) {
            mass_bound_.emplace(context, tree_, [&](std::int32_t place) { return mass(tree_.points.indices[place]); });
        }
    }

    /// Fills a halo's row: of its group's members, the first are bound.
    void describe(std::span<const std::int32_t> members, std::int64_t halo, Halos& halos) {
        Scratch& scratch = scratch_.local();
        const auto bound = members.first(static_cast<std::size_t>(halos.count[halo]));
        const Extent extent = load_bound(bound, halos.center_row[halo], scratch);
        for (const std::int32_t row : bound) {
            ++halos.count_by_type[max_types * halo + (particles_.types.empty() ? 1 : particles_.types[row])];
        }
        double group_mass = extent.mass;
        for (const std::int32_t row : members.subspan(bound.size())) {
            group_mass += mass(row);
        }
        halos.mass[halo] = extent.mass;
        halos.group_mass[halo] = group_mass;
        halos.unbound_fraction[halo] = group_mass > 0 ? (group_mass - extent.mass) / group_mass : 0;
        halos.is_bridge[halo] = extent.mass < group_mass / 2 ? 1 : 0;
        const double half_mass =
            half_mass_radius({scratch.radii.data(), bound.size()}, {scratch.masses.data(), bound.size()});
        halos.half_mass_radius[halo] = as_given(half_mass);
        write_centers(extent, halo, halos);
        write_shape(shape_of(scratch.offsets, scratch.weights, half_mass), halo, halos);

        MassProfile profile({ball_masses_, options_.outermost, least_radius_, peak_ball_mass_, extent.farthest});
        if (options_.bound_only) {
            for (std::size_t i = 0; i < bound.size(); ++i) {
                profile.add(scratch.radii[static_cast<std::int64_t>(i)], scratch.masses[static_cast<std::int64_t>(i)]);
            }
            profile.finish_alone();
        } else {
            collect(extent, profile, scratch);
        }
        write_spheres(extent, profile, halo, halos);
    }

private:
    /// Memory of one thread.
    struct Scratch {
        std::array<std::vector<double>, 3> offsets; ///< of the bound members from the center
        std::vector<double> squares;                ///< of their distances from it
        std::vector<double> weights;
        ScratchArray<double> radii; ///< by distance
        ScratchArray<double> masses;
        ShellPoints shell;
        DistanceSort sort;
    };

    /// What is known of the bound members.
    struct Extent {
        Vector center;
        std::int32_t center_row = 0;
        Vector mean_offset{};
        double mass = 0;
        double farthest = 0;
        bool is_wide = false;
    };

    [[nodiscard]] double mass(std::int32_t row) const noexcept {
        return particles_.masses ? (*particles_.masses)[row] : particles_.uniform_mass;
    }
    /// A length in the caller's units.
    [[nodiscard]] double as_given(double length) const noexcept { return std::ldexp(length, -frame_.exponent); }
    [[nodiscard]] double coordinate(std::int32_t row, int axis) const noexcept {
        return static_cast<double>(frame_.load(positions_(row, axis), axis));
    }
    [[nodiscard]] double period(int axis) const noexcept { return static_cast<double>(tree_.period[axis]); }

    [[nodiscard]] double largest_side() const noexcept {
        double side = 0;
        for (int axis = 0; tree_.top >= 0 && axis < 3; ++axis) {
            const PlaneView<T>& plane = tree_.planes[tree_.top];
            side = std::max(
                side, static_cast<double>(*std::max_element(plane.upper(axis), plane.upper(axis) + plane.nodes)) -
                          static_cast<double>(*std::min_element(plane.lower(axis), plane.lower(axis) + plane.nodes)));
        }
        return side;
    }

    /// Positions, not yet offsets, and masses of rows that are anywhere.
    void read_rows(std::span<const std::int32_t> rows, Scratch& scratch) const {
        constexpr std::size_t ahead = 16;
        scratch.weights.resize(rows.size());
        for (std::vector<double>& axis : scratch.offsets) {
            axis.resize(rows.size());
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            __builtin_prefetch(positions_.axes[0] + rows[std::min(i + ahead, rows.size() - 1)] * positions_.stride);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                scratch.offsets[axis][i] = coordinate(rows[i], static_cast<int>(axis));
            }
            scratch.weights[i] = mass(rows[i]);
        }
    }

    /// Leaves the bound members' distances and masses in order of the distance.
    Extent load_bound(std::span<const std::int32_t> rows, std::int32_t center_row, Scratch& scratch) const {
        Extent extent;
        extent.center_row = center_row;
        scratch.squares.assign(rows.size(), 0.0);
        read_rows(rows, scratch);
        double total = 0;
        for (const double mass_of_one : scratch.weights) {
            total += mass_of_one;
        }
        extent.mass = total;
        const double weight = total > 0 ? total : static_cast<double>(rows.size());
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const int a = static_cast<int>(axis);
            const double center = coordinate(center_row, a);
            extent.center[axis] = center;
            double sum = 0;
            double least = 0;
            double most = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double x = scratch.offsets[axis][i];
                const double offset = nearest_offset(x, center, period(a));
                scratch.offsets[axis][i] = offset;
                double t = std::abs(x - center); // as shells measure it
                t = std::min(t, period(a) - t);
                scratch.squares[i] = axis == 0 ? t * t : std::fma(t, t, scratch.squares[i]);
                sum += (total > 0 ? scratch.weights[i] : 1) * offset;
                least = std::min(least, offset);
                most = std::max(most, offset);
            }
            extent.mean_offset[axis] = sum / weight;
            extent.is_wide = extent.is_wide || is_wider_than_half(least, most, period(a));
        }
        scratch.radii.reserve(std::ssize(rows));
        scratch.masses.reserve(std::ssize(rows));
        std::int64_t at = 0;
        scratch.sort.for_each(
            scratch.squares.data(), std::ssize(rows), [&](std::int64_t i) { return rows[i]; },
            [&](std::int64_t i) {
                scratch.radii[at] = std::sqrt(scratch.squares[i]);
                scratch.masses[at++] = scratch.weights[i];
            });
        extent.farthest = scratch.radii[at - 1];
        return extent;
    }

    void write_centers(const Extent& extent, std::int64_t halo, Halos& halos) const {
        double square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const double offset = extent.mean_offset[axis];
            const double x = static_cast<double>(frame_.wrap(positions_(extent.center_row, axis), axis)) + 0.0;
            halos.center[3 * halo + axis] = x;
            halos.center_of_mass[3 * halo + axis] = box_.wrap(x + as_given(offset), axis);
            square = axis == 0 ? offset * offset : std::fma(offset, offset, square);
        }
        halos.center_offset[halo] = as_given(std::sqrt(square));
    }

    static void write_shape(const Shape& shape, std::int64_t halo, Halos& halos) {
        halos.b_to_a[halo] = shape.b_to_a;
        halos.c_to_a[halo] = shape.c_to_a;
        std::copy_n(shape.major_axis.begin(), 3, halos.major_axis.begin() + 3 * halo);
    }

    /// Hands shells to the profile until it is complete.
    void collect(const Extent& extent, MassProfile& profile, Scratch& scratch) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double inner = -1;
        double outer = first_shell(extent);
        double reached = 0;
        for (std::int64_t seen = 0;;) {
            ShellPoints& shell = scratch.shell;
            find_in_shell(Shell<T>{&tree_, extent.center, inner, outer}, shell);
            const std::int32_t* const rows = tree_.points.indices;
            for (std::int64_t i = 0; i < shell.size; ++i) {
                shell.places[i] = rows[shell.places[i]];
            }
            scratch.sort.for_each(
                shell.squares.data(), shell.size, [&](std::int64_t i) { return shell.places[i]; },
                [&](std::int64_t i) { profile.add(std::sqrt(shell.squares[i]), mass(shell.places[i])); });
            seen += shell.size;
            if (seen == tree_.points.count) {
                profile.finish();
                return;
            }
            reached = std::sqrt(outer);
            profile.reach(reached);
            if (profile.is_complete()) {
                return;
            }
            inner = outer;
            double next = std::max((shell.size > 0 ? least_growth : growth_in_voids) * reached, spacing_);
            if (lowest_ball_mass_ > 0) {
                next = std::max(next, beyond_ball * std::cbrt(profile.mass() / lowest_ball_mass_));
            }
            outer = next * next > inner ? next * next : infinity;
        }
    }

    /// Its outer bound, squared.
    [[nodiscard]] double first_shell(const Extent& extent) const {
        const double of_bound =
            std::max(beyond * extent.farthest * extent.farthest, std::numeric_limits<double>::min());
        if (lowest_ball_mass_ == 0) {
            return of_bound;
        }
        double radius = std::cbrt(first_mass * extent.mass / lowest_ball_mass_);
        if (mass_bound_) {
            radius = std::max(radius, mass_bound_->largest_radius(extent.center, lowest_ball_mass_));
        }
        return peak_ball_mass_ > 0 ? beyond * radius * radius : std::max(beyond * radius * radius, of_bound);
    }

    void write_spheres(const Extent& extent, const MassProfile& profile, std::int64_t halo, Halos& halos) const {
        bool is_wide = extent.is_wide;
        const VelocityPeak peak = profile.peak();
        const std::int64_t width = std::ssize(options_.overdensities);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const Sphere sphere = profile.sphere(i);
            const std::int64_t at = halo * width + static_cast<std::int64_t>(columns_[i]);
            halos.sphere_radius[at] = as_given(sphere.radius);
            halos.sphere_mass[at] = sphere.mass;
            halos.sphere_concentration[at] =
                concentration_of_mean_radius(sphere.moment / (sphere.mass * sphere.radius));
            if (peak.radius <= sphere.radius) {
                halos.peak_concentration[at] =
                    concentration_of_peak(peak.squared_velocity * sphere.radius / sphere.mass);
            }
            for (int axis = 0; axis < 3; ++axis) {
                is_wide = is_wide || 2 * sphere.radius > period(axis);
            }
        }
        halos.is_wide[halo] = is_wide ? 1 : 0;
        const Universe& universe = options_.universe;
        halos.max_velocity[halo] =
            std::sqrt(universe.gravity / universe.scale_factor * std::ldexp(peak.squared_velocity, frame_.exponent));
        halos.max_velocity_radius[halo] = as_given(peak.radius);
    }

    ParticleTree<T> particles_;
    const HaloOptions& options_;
    TreeView<T> tree_;
    const Frame<T>& frame_;
    Coordinates<T> positions_;
    Frame<double> box_; ///< periods and origins, in the caller's units
    double least_radius_;
    std::vector<double> ball_masses_;
    std::vector<std::size_t> columns_; ///< the overdensities that these are of
    double peak_ball_mass_ = 0;
    double lowest_ball_mass_ = 0; ///< 0: none is sought
    double spacing_ = 0;
    std::optional<MassBound<T>> mass_bound_;
    PerThread<Scratch> scratch_;
};

/// What Halos has beside its columns.
struct WithoutColumns : HaloSummary {
    std::vector<std::int32_t> members;
    std::vector<double> energies;
    std::vector<std::int64_t> group_offset;
    std::vector<std::int64_t> first_of_group;
    std::vector<std::int64_t> offset;
};
constexpr auto fields = std::count_if(halo_columns.begin(), halo_columns.end(),
                                      [](const HaloColumn& column) { return !column.field.empty(); });
static_assert(sizeof(Halos) == sizeof(WithoutColumns) + fields * sizeof(std::vector<double>),
              "a member of Halos has no row in halo_columns, or a row no member");

/// Rows for the groups that have bound members.
void make_rows(const GroupMembers& groups, const BoundMembers& bound, Halos& halos) {
    halos.first_of_group.assign(static_cast<std::size_t>(groups.groups()), -1);
    for (std::int64_t group = 0; group < groups.groups(); ++group) {
        if (bound.count[group] > 0) {
            halos.first_of_group[group] = halos.halos++;
            halos.group.push_back(group);
            halos.offset.push_back(groups.offset[group]);
            halos.count.push_back(bound.count[group]);
            halos.center_row.push_back(bound.deepest[group]);
        }
    }
    halos.parent.assign(static_cast<std::size_t>(halos.halos), -1);
    for_each_field(halos, [&](const HaloColumn& column, auto& values) {
        const std::int64_t spheres = std::ssize(halos.options.overdensities);
        values.resize(static_cast<std::size_t>(column.size(halos.halos, 3, !bound.motions.empty(), spheres)));
    });
    for (auto* const column : {&halos.sphere_concentration, &halos.peak_concentration}) {
        std::fill(column->begin(), column->end(), std::numeric_limits<double>::quiet_NaN()); // without that density
    }
}

/// The columns of how bound members move; their masses are those of the halos.
void write_motions(const BoundMembers& bound, Halos& halos) {
    const Universe& universe = halos.options.universe;
    for (std::int64_t halo = 0; !bound.motions.empty() && halo < halos.halos; ++halo) {
        const Motion& motion = bound.motions[halos.group[halo]];
        std::copy_n(motion.velocity.begin(), 3, halos.velocity.begin() + 3 * halo);
        std::copy_n(motion.spin.begin(), 3, halos.spin.begin() + 3 * halo);
        halos.velocity_dispersion[halo] = motion.dispersion;
        halos.bullock_spin[halo] = bullock_parameter(motion, halos.mass[halo], universe);
        halos.peebles_spin[halo] = peebles_parameter(motion, halos.mass[halo], universe);
    }
}

} // namespace

template <Coordinate T>
void describe_halos(Context& context, const ParticleTree<T>& particles, const GroupMembers& groups,
                    const BoundMembers& bound, Halos& halos) {
    make_rows(groups, bound, halos);
    HaloDescriber<T> describer(context, particles, halos.options);
    context.expect(halos.halos);
    parallel_in_turn(halos.halos, [&](std::int64_t halo) {
        const std::int64_t group = halos.group[halo];
        const std::span<const std::int32_t> rows(bound.rows);
        const std::int64_t first = groups.offset[group];
        describer.describe(
            rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(groups.offset[group + 1] - first)),
            halo, halos);
        context.done(1);
    });
    write_motions(bound, halos);
}

template void describe_halos(Context&, const ParticleTree<float>&, const GroupMembers&, const BoundMembers&, Halos&);
template void describe_halos(Context&, const ParticleTree<double>&, const GroupMembers&, const BoundMembers&, Halos&);

} // namespace kith::detail::halos
