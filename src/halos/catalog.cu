// The catalog of kith::catalog on a GPU: columns are brought there if they are the host's.
#include "cuda/result_memory.hpp"
#include "halos/catalog_device.hpp"
#include "halos/device_entry.hpp"
#include "points/normalize_device.hpp"
#include "points/transfer.hpp"
#include "support/dimension.hpp"
#include "support/number_types.hpp"

#include <cstddef>
#include <optional>
#include <span>

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
        : particles_(given), positions_(context, given.positions), types_(context, given.types) {
        particles_.positions = positions_.view();
        particles_.types = types_.elements();
        if (given.velocities) {
            particles_.velocities = velocities_.emplace(context, *given.velocities).view();
        }
        if (given.masses) {
            const ScalarsView& masses = *given.masses;
            const auto bytes = static_cast<std::size_t>(masses.count() * item_size(masses.dtype()));
            masses_ = {context, std::span(static_cast<const std::byte*>(masses.data()), bytes)};
            particles_.masses = scalars_of({masses_.elements().data(), masses.dtype(), masses.count(), 1, 1, 1});
        }
    }
    [[nodiscard]] const Particles& particles() const { return particles_; }

private:
    Particles particles_;
    PointsOnDevice positions_;
    std::optional<PointsOnDevice> velocities_;
    ElementsOnDevice<std::byte> masses_;
    ElementsOnDevice<std::uint8_t> types_;
};

} // namespace

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& particles, const Box& box,
                          const CatalogOptions& options) {
    DeviceContext context(options.execution);
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
