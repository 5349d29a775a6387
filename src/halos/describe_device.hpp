// Describing halos on a GPU: every column is the CPU's (bound_halos.hpp), to the last bit.
//
// Bound members are loaded and measured (bound_member_kernel.hpp), then shells of all particles about the centers are
// collected, sorted and handed to the searches for spheres (shell_kernel.hpp), round after round, until every search
// has what it needs. Sums are taken in the CPU's order, by one lane for each; the steps between them are the CPU's own
// text. What has been measured, some 200 bytes for each halo and 24 for each of its densities, is copied to the host,
// which writes the rows (halo_rows.hpp): roots, concentrations and flags. Coordinates stay where they are.
//
// Halos are worked on in batches, so that memory is bounded: some 80 bytes for each bound member at hand, then 50 for
// each particle of the shells at hand, and a kilobyte for each halo. Cost: linear in the particles within the spheres,
// but for a sort. One lane hands all of a halo's particles to its search, some 90 instructions each, so the largest
// halo takes as long as its particles take one after the other.
#pragma once

#include <kith/halos.hpp>

#include "cuda/device_context.hpp"
#include "halos/bound_halos.hpp"
#include "support/context.hpp"
#include "tree/device_planes.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// All particles in memory of the device: the tree of their positions and what it was made of.
template <Coordinate T>
struct DeviceParticleTree {
    const DevicePlaneTree<T>* tree;
    PointsView positions; ///< of the tree's type
    std::optional<ScalarsView> masses = {};
    double uniform_mass = 1;
    const std::uint8_t* types = nullptr; ///< null: all are type 1
};

/// How much is worked on at a time; less where memory is short, more if one halo has more.
struct DescribeLimits {
    std::int64_t halos = 1 << 18;
    std::int64_t members = 1 << 24;
    std::int64_t particles = 1 << 26; ///< of shells
};

/// Fills the columns of the halos that groups have, as halos::describe_halos() does, inside a stage of the caller; the
/// threads of `host` write the rows. `rows` are bound.rows in memory of the device, which need not be on the host, too;
/// `offset` is that of each group in them, and the end.
template <Coordinate T>
void describe_halos_on_device(DeviceContext& context, Context& host, const DeviceParticleTree<T>& particles,
                              const std::int32_t* rows, std::span<const std::int64_t> offset,
                              const halos::BoundMembers& bound, Halos& halos, const DescribeLimits& limits = {});

} // namespace kith::detail::inline KITH_GPU
