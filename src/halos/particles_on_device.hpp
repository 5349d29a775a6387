// Particles of the host where kernels can read them.
#pragma once

#include <kith/catalog.hpp>

#include "halos/device_refusal.hpp"
#include "points/transfer.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// Their columns, brought there once. Types are plain, or none.
class ParticlesOnDevice {
public:
    ParticlesOnDevice(DeviceContext& context, const Particles& given, std::span<const std::uint8_t> types)
        : positions_(context, given.positions), types_(context.buffer<std::uint8_t>(std::ssize(types))) {
        particles_.positions = positions_.view();
        if (given.velocities) {
            particles_.velocities = velocities_.emplace(context, *given.velocities).view();
        }
        particles_.uniform_mass = given.uniform_mass;
        bring(context, given.masses, masses_, particles_.masses);
        bring(context, given.internal_energies, internal_energies_, particles_.internal_energies);
        context.copy(types_.data(), types.data(), std::ssize(types));
    }
    /// Views of that memory, types left out.
    [[nodiscard]] const Particles& particles() const noexcept { return particles_; }
    /// Null: none.
    [[nodiscard]] const std::uint8_t* types() const noexcept { return types_.data(); }

private:
    static void bring(DeviceContext& context, const std::optional<ScalarsView>& given,
                      std::optional<PointsOnDevice>& memory, std::optional<ScalarsView>& there) {
        if (given) {
            there = scalars_of(memory.emplace(context, on_a_line(*given)).view());
        }
    }

    PointsOnDevice positions_;
    std::optional<PointsOnDevice> velocities_;
    std::optional<PointsOnDevice> masses_;
    std::optional<PointsOnDevice> internal_energies_;
    DeviceBuffer<std::uint8_t> types_;
    Particles particles_;
};

} // namespace kith::detail::inline KITH_GPU
