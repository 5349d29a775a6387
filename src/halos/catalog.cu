// The catalog of kith::catalog on a GPU: columns are brought there if they are the host's.
#include "cuda/result_memory.hpp"
#include "halos/catalog_device.hpp"
#include "halos/device_entry.hpp"
#include "points/normalize_device.hpp"
#include "points/transfer.hpp"
#include "support/dimension.hpp"
#include "support/number_types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Elements where kernels can read them.
template <class T>
class ElementsOnDevice {
public:
    ElementsOnDevice() = default;
    ElementsOnDevice(DeviceContext& context, std::span<const T> given) : elements_(given) {
        if (!given.empty() && !is_on_device(context, given.data())) {
            copy_ = context.buffer<T>(std::ssize(given));
            context.copy(copy_.data(), given.data(), static_cast<std::int64_t>(given.size_bytes()));
            elements_ = {copy_.data(), given.size()};
        }
    }
    [[nodiscard]] std::span<const T> elements() const { return elements_; }

private:
    DeviceBuffer<T> copy_;
    std::span<const T> elements_;
};

/// All columns of particles where kernels can read them.
class ParticlesOnDevice {
public:
    ParticlesOnDevice(DeviceContext& context, const Particles& given)
        : particles_(given), positions_(context, given.positions), types_(context, halos::plain_types(given)) {
        particles_.positions = positions_.view();
        particles_.types = types_.elements();
        if (given.velocities) {
            particles_.velocities = velocities_.emplace(context, *given.velocities).view();
        }
        if (given.masses) {
            const PointsView masses = on_a_line(*given.masses);
            const bool is_there = masses.count() > 0 && is_on_device(context, masses.axis(0));
            const PointsView found = masses.moved(0, is_there ? context.device() : Device{});
            particles_.masses = scalars_of(masses_.emplace(context, found).view());
        }
    }
    [[nodiscard]] const Particles& particles() const { return particles_; }

private:
    Particles particles_;
    PointsOnDevice positions_;
    std::optional<PointsOnDevice> velocities_;
    std::optional<PointsOnDevice> masses_;
    ElementsOnDevice<std::uint8_t> types_;
};

} // namespace

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& given, const Box& box,
                          const CatalogOptions& options) {
    DeviceContext context(options.execution);
    if (!given.types.empty() && halos::plain_types(given).empty() && is_on_device(context, given.types.data())) {
        throw Error(ErrorKind::invalid_argument, "types: in memory of a GPU they must be contiguous std::uint8_t; "
                                                 "convert them");
    }
    std::vector<std::uint8_t> memory_of_types;
    const Particles particles = halos::with_plain_types(given, memory_of_types);
    std::optional<ParticlesOnDevice> there;
    ElementsOnDevice<std::int32_t> labels;
    context.stage("upload", [&] {
        there.emplace(context, particles);
        labels = ElementsOnDevice<std::int32_t>(context, groups.labels);
    });
    Catalog catalog;
    context.stage("catalog", [&] {
        const PointsView& positions = there->particles().positions;
        halos::PositionFrame frame;
        with_dtype(positions.dtype(), [&]<Coordinate T>(T) {
            with_dimension(positions.dimension(), [&]<int D>(std::integral_constant<int, D>) {
                frame = halos::position_frame(normalize_sources_on_device<T, D>(context, positions, box).frame);
            });
        });
        catalog = describe_groups(context, {labels.elements(), groups.sizes}, there->particles(), frame, options);
    });
    catalog.stages = context.take_stages();
    return catalog;
}

} // namespace kith::detail::inline KITH_GPU
