// See describe_device.hpp.
#include "halos/describe_device.hpp"

#include "cuda/device_value.hpp"
#include "cuda/each_warp.hpp"
#include "halos/bound_member_kernel.hpp"
#include "halos/distance_order_device.hpp"
#include "halos/halo_rows.hpp"
#include "halos/mass_bound_kernel.hpp"
#include "halos/shell_kernel.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

constexpr std::int64_t rows_at_a_time = 64; ///< that a thread of the host writes

/// Bytes for one of each, with those of the sort.
constexpr std::int64_t bytes_of_member = 80;
constexpr std::int64_t bytes_of_particle = 48;
constexpr std::int64_t bytes_of_halo = sizeof(HaloMembers) + sizeof(halos::MeasuredMembers) +
                                       sizeof(halos::SphereSearch) + sizeof(halos::VelocityPeak) + 32;
constexpr std::int64_t bytes_of_density = sizeof(halos::Crossing) + sizeof(halos::Sphere);

/// What has been measured of some halos, in memory of the device.
struct MeasuredHalos {
    DeviceBuffer<halos::MeasuredMembers> members;
    DeviceBuffer<halos::Crossing> crossings; ///< of each halo, one for each density
    DeviceBuffer<halos::Sphere> spheres;     ///< likewise
    DeviceBuffer<halos::VelocityPeak> peaks;

    MeasuredHalos(DeviceContext& context, std::int64_t halos, int densities)
        : members(context.buffer<halos::MeasuredMembers>(halos)),
          crossings(context.buffer<halos::Crossing>(halos * densities)),
          spheres(context.buffer<halos::Sphere>(halos * densities)), peaks(context.buffer<halos::VelocityPeak>(halos)) {
        context.fill(crossings.data(), 0, crossings.size() * static_cast<std::int64_t>(sizeof(halos::Crossing)));
    }
};

template <Coordinate T>
class HalosOnDevice {
public:
    HalosOnDevice(DeviceContext& context, const DeviceParticleTree<T>& particles, const std::int32_t* rows,
                  const halos::SphereRequest& request, const DescribeLimits& limits)
        : context_(context), particles_(particles), tree_(particles.tree->view()), rows_(rows), request_(request),
          limits_(limits), ball_masses_(context.buffer<double>(request.search().densities)) {
        masses_.column = particles.masses ? DeviceColumn(*particles.masses) : DeviceColumn();
        masses_.uniform = particles.uniform_mass;
        halos::SearchRequest search = request.search();
        context.copy(ball_masses_.data(), search.ball_masses, search.densities * std::int64_t{sizeof(double)});
        search.ball_masses = ball_masses_.data();
        search_ = stored(context, "request of halos", search);
        frame_ = stored(context, "frame of halos", particles.tree->points.frame);
    }

    // Most of them at a time.
    [[nodiscard]] std::int64_t most_members() const { return fitting(limits_.members, bytes_of_member); }
    [[nodiscard]] std::int64_t most_halos() const {
        return fitting(limits_.halos, bytes_of_halo + request_.search().densities * bytes_of_density);
    }

    /// Measures halos whose bound members lie one after the other.
    [[nodiscard]] MeasuredHalos measured(const std::vector<HaloMembers>& members, bool bound_only) {
        MeasuredHalos measured(context_, std::ssize(members), request_.search().densities);
        measure_members(members, bound_only, measured);
        if (!bound_only) {
            search_spheres(std::ssize(members), measured);
        }
        return measured;
    }

private:
    [[nodiscard]] std::int64_t fitting(std::int64_t most, std::int64_t bytes_each) const {
        return std::clamp<std::int64_t>(context_.memory()->left() / 2 / bytes_each, 1, most);
    }

    void measure_members(const std::vector<HaloMembers>& members, bool bound_only, const MeasuredHalos& measured) {
        const std::int64_t halos = std::ssize(members);
        const std::int64_t count = members.back().place + members.back().bound;
        const DeviceBuffer<HaloMembers> there = context_.buffer<HaloMembers>(halos);
        context_.copy(there.data(), members.data(), halos * static_cast<std::int64_t>(sizeof(HaloMembers)));
        const DeviceBuffer<double> numbers = context_.buffer<double>(5 * count);
        const DeviceBuffer<std::int32_t> places = context_.buffer<std::int32_t>(2 * count);
        BoundColumns bound;
        bound.stride = count;
        bound.offsets = numbers.data();
        bound.squares = numbers.data() + 3 * count;
        bound.masses = numbers.data() + 4 * count;
        bound.halos = places.data();
        bound.rows = places.data() + count;

        LoadBoundMembers<T> load;
        load.members = there.data();
        load.rows = rows_;
        load.positions = Coordinates<T>(particles_.positions);
        load.frame = frame_.data();
        load.masses = masses_;
        load.types = particles_.types;
        load.bound = bound;
        load.measured = measured.members.data();
        launch_in_order(context_, "bound members", halos, load);

        const DeviceBuffer<std::int32_t> order = order_by_distance(
            context_, {count, bound.halos, bound.squares, bound.rows, halos, particles_.tree->points.count});
        MeasureDistances distances;
        distances.loaded = {there.data(), bound, order.data(), measured.members.data()};
        if (bound_only) {
            distances.request = search_.data();
            distances.crossings = measured.crossings.data();
            distances.spheres = measured.spheres.data();
            distances.peaks = measured.peaks.data();
        }
        launch_in_order(context_, "distances of members", halos, distances);
        launch_in_order(context_, "shapes of halos", halos, MeasureShapes{distances.loaded});
    }

    /// Of each halo, for the search of outermost crossings.
    [[nodiscard]] DeviceBuffer<double> largest_radii(std::int64_t halos, const MeasuredHalos& measured) {
        if (!masses_of_nodes_) {
            masses_of_nodes_ =
                node_attributes<double>(context_, tree_, MassOfPlace{tree_.points.indices, masses_}, AddMasses());
        }
        DeviceBuffer<double> bounds = context_.buffer<double>(halos);
        BoundRadii<T> job;
        job.tree = tree_;
        job.masses = masses_of_nodes_->planes;
        job.measured = measured.members.data();
        job.ball_mass = request_.search().lowest_ball_mass;
        job.bounds = bounds.data();
        for_each_warp(context_, "largest radii", halos, job);
        return bounds;
    }

    void search_spheres(std::int64_t halos, const MeasuredHalos& measured) {
        const DeviceBuffer<double> bounds =
            request_.needs_bounds() ? largest_radii(halos, measured) : DeviceBuffer<double>();
        const DeviceBuffer<halos::SphereSearch> searches = context_.buffer<halos::SphereSearch>(halos);
        const DeviceBuffer<std::int32_t> active = context_.buffer<std::int32_t>(halos);
        const DeviceBuffer<std::int32_t> active_count = context_.buffer<std::int32_t>(1);
        const DeviceBuffer<std::uint8_t> has_next = context_.buffer<std::uint8_t>(halos);
        const DeviceBuffer<std::int64_t> offsets = context_.buffer<std::int64_t>(halos + 1);
        context_.fill(offsets.data(), 0, sizeof(std::int64_t));
        for_each_index(context_, "searches of halos", halos,
                       BeginSearches{search_.data(), measured.members.data(), bounds.data(), measured.crossings.data(),
                                     searches.data(), active.data()});
        const std::int64_t most = fitting(limits_.particles, bytes_of_particle);
        FindShells<T> shells;
        shells.tree = tree_;
        shells.measured = measured.members.data();
        shells.searches = searches.data();
        shells.most = most;
        SearchShells search;
        search.searches = searches.data();
        search.masses = masses_;
        search.has_next = has_next.data();
        search.densities = request_.search().densities;
        search.spheres = measured.spheres.data();
        search.peaks = measured.peaks.data();
        for (std::int64_t count = halos; count > 0;) {
            shells.halos_of_shells = active.data();
            shells.counts = offsets.data() + 1;
            for_each_warp(context_, "particles in shells", count, shells);
            inclusive_sum(context_, offsets.data() + 1, count, offsets.data() + 1);
            shells.counts = nullptr;
            Batch batch{0, 0, 0, 0};
            for (const std::int64_t all = context_.to_host(offsets.data() + count); batch.last_shell < count;) {
                batch = next_batch(batch, {count, all}, offsets.data(), most);
                shells.halos_of_shells = search.halos_of_shells = active.data() + batch.first_shell;
                shells.offsets = search.offsets = offsets.data() + batch.first_shell;
                shells.first = search.first = batch.first;
                search_batch({batch.last_shell - batch.first_shell, batch.last - batch.first}, shells, search);
            }
            select_flagged(context_, has_next.data(), halos, active.data(), active_count.data());
            count = context_.to_host(active_count.data());
        }
    }

    /// Shells that are filled at a time, and their particles.
    struct Batch {
        std::int64_t first_shell;
        std::int64_t last_shell;
        std::int64_t first;
        std::int64_t last;
    };
    struct Counts {
        std::int64_t shells;
        std::int64_t particles;
    };
    /// The next shells that together have at most `most` particles, and one at least.
    [[nodiscard]] Batch next_batch(const Batch& before, const Counts& all, const std::int64_t* offsets,
                                   std::int64_t most) {
        Batch batch{before.last_shell, all.shells, before.last, all.particles};
        std::int64_t fits = batch.first_shell + 1; // the fewest, and the most that may fit
        while (batch.last - batch.first > most && batch.last_shell > fits) {
            const std::int64_t middle = fits + (batch.last_shell - fits) / 2;
            const std::int64_t end = context_.to_host(offsets + middle);
            if (end - batch.first > most || middle == fits) {
                batch.last_shell = middle;
                batch.last = end;
            } else {
                fits = middle;
            }
        }
        return batch;
    }

    /// Collects shells, sorts their particles and hands them to the searches.
    void search_batch(const Counts& all, FindShells<T>& shells, SearchShells& search) {
        const std::int64_t count = all.particles;
        const DeviceBuffer<double> squares = context_.buffer<double>(count);
        const DeviceBuffer<std::int32_t> numbers = context_.buffer<std::int32_t>(2 * count);
        shells.found = search.found = {squares.data(), numbers.data(), numbers.data() + count};
        for_each_warp(context_, "shells", all.shells, shells);
        const DeviceBuffer<std::int32_t> order =
            order_by_distance(context_, {count, search.found.shells, search.found.squares, search.found.indices,
                                         all.shells, particles_.tree->points.count});
        search.order = order.data();
        launch_in_order(context_, "spheres", all.shells, search);
    }

    DeviceContext& context_;
    const DeviceParticleTree<T>& particles_;
    TreeView<T> tree_;
    const std::int32_t* rows_;
    const halos::SphereRequest& request_;
    DescribeLimits limits_;
    DeviceMasses masses_;
    DeviceBuffer<double> ball_masses_;
    DeviceBuffer<halos::SearchRequest> search_; ///< one
    DeviceBuffer<Frame<T>> frame_;              ///< one
    std::optional<DeviceAttributes<double>> masses_of_nodes_;
};

} // namespace

template <Coordinate T>
void describe_halos_on_device(DeviceContext& context, Context& host, const DeviceParticleTree<T>& particles,
                              const std::int32_t* rows, std::span<const std::int64_t> offset,
                              const halos::BoundMembers& bound, Halos& halos, const DescribeLimits& limits) {
    halos::make_rows({{}, offset}, bound, halos);
    if (halos.halos == 0) {
        return;
    }
    const Frame<T>& frame = particles.tree->points.frame;
    const double side = *std::max_element(frame.extent.begin(), frame.extent.begin() + 3);
    const halos::SphereRequest request(halos.options, frame.exponent, std::ldexp(side, frame.exponent),
                                       particles.tree->points.count);
    const halos::HaloRows<T> writer(frame, request, halos.options);
    HalosOnDevice<T> device(context, particles, rows, request, limits);
    const auto densities = static_cast<std::size_t>(request.search().densities);
    const std::int64_t most_members = device.most_members();
    const std::int64_t most_halos = device.most_halos();
    std::vector<HaloMembers> members;
    for (std::int64_t first = 0, next = 0; first < halos.halos; first = next) {
        members.clear();
        for (std::int64_t place = 0; next < halos.halos && next - first < most_halos; ++next) {
            const std::int64_t count = halos.count[next];
            if (place > 0 && place + count > most_members) {
                break;
            }
            const std::int64_t group = halos.group[next];
            members.push_back({offset[group], count, offset[group + 1] - offset[group], place,
                               static_cast<std::int32_t>(halos.center_row[next])});
            place += count;
        }
        const MeasuredHalos there = device.measured(members, halos.options.bound_only);
        const auto measured = context.to_host(there.members.data(), next - first);
        const auto spheres = context.to_host(there.spheres.data(), there.spheres.size());
        const auto peaks = context.to_host(there.peaks.data(), next - first);
        host.run([&] {
            parallel_each(next - first, rows_at_a_time, [&](std::int64_t i) {
                const auto at = static_cast<std::size_t>(i);
                writer.write_members(measured[at], first + i, halos);
                writer.write_spheres(measured[at].extent, std::span(spheres).subspan(at * densities, densities),
                                     peaks[at], first + i, halos);
            });
        });
        context.done(static_cast<double>(next) / static_cast<double>(halos.halos));
    }
    halos::write_motions(bound, halos);
}

template void describe_halos_on_device(DeviceContext&, Context&, const DeviceParticleTree<float>&, const std::int32_t*,
                                       std::span<const std::int64_t>, const halos::BoundMembers&, Halos&,
                                       const DescribeLimits&);
template void describe_halos_on_device(DeviceContext&, Context&, const DeviceParticleTree<double>&, const std::int32_t*,
                                       std::span<const std::int64_t>, const halos::BoundMembers&, Halos&,
                                       const DescribeLimits&);

} // namespace kith::detail::inline KITH_GPU
