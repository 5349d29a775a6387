// Columns of particles where kernels can read them: as they are if they are there, or else copies of the host's.
#pragma once

#include <kith/catalog.hpp>

#include "cuda/result_memory.hpp"
#include "halos/columns.hpp"
#include "halos/device_refusal.hpp"
#include "points/transfer.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith::detail::inline KITH_GPU {

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

/// All columns of particles where kernels can read them, types if they are plain.
class ParticlesOnDevice {
public:
    ParticlesOnDevice(DeviceContext& context, const Particles& given)
        : particles_(given), positions_(context, given.positions), types_(context, halos::plain_types(given)) {
        particles_.positions = positions_.view();
        particles_.types = types_.elements();
        if (given.velocities) {
            particles_.velocities = velocities_.emplace(context, *given.velocities).view();
        }
        bring(context, particles_.masses, masses_);
        bring(context, particles_.internal_energies, internal_energies_);
    }
    [[nodiscard]] const Particles& particles() const { return particles_; }

private:
    static void bring(DeviceContext& context, std::optional<ScalarsView>& column,
                      std::optional<PointsOnDevice>& memory) {
        if (column) {
            const PointsView line = on_a_line(*column);
            const bool is_there = line.count() > 0 && is_on_device(context, line.axis(0));
            column = scalars_of(memory.emplace(context, line.moved(0, is_there ? context.device() : Device{})).view());
        }
    }

    Particles particles_;
    PointsOnDevice positions_;
    std::optional<PointsOnDevice> velocities_;
    std::optional<PointsOnDevice> masses_;
    std::optional<PointsOnDevice> internal_energies_;
    ElementsOnDevice<std::uint8_t> types_;
};

} // namespace kith::detail::inline KITH_GPU
