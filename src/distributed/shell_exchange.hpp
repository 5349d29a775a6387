// Shells of particles about centers anywhere, collected from all ranks.
//
// A rank sends a shell's center and bounds to each rank with a node of the top plane in it. That rank walks down its
// own tree (halos/shell_search.hpp) and answers with squared distances, numbers and masses. Bounds of boxes use the
// operations of these distances, so they need no slack. Cost: 16 bytes a particle, 24 with masses, and the walks of one
// process for each rank near a center.
#pragma once

#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "distributed/top_planes.hpp"
#include "halos/halo_describer.hpp"
#include "halos/mass_bound.hpp"
#include "halos/shell_search.hpp"
#include "support/context.hpp"
#include "support/per_thread.hpp"
#include "tree/view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// In working coordinates; bounds are squared distances, as of halos::Shell.
struct ShellRequest {
    std::array<double, 3> center;
    double inner;
    double outer;
};

/// In any order.
struct ShellParticles {
    std::vector<double> squares; ///< of their distances
    std::vector<std::int64_t> numbers;
    std::vector<double> masses;

    [[nodiscard]] std::int64_t count() const { return std::ssize(squares); }
};

template <Coordinate T>
class ShellExchange {
public:
    /// Collective. Of this rank's particles, their tree and their numbers. Refers to all.
    ShellExchange(Ranks& ranks, Context& context, const TreeView<T>& tree, const halos::MassPoints<T>& particles,
                  const PointNumbers& numbers);

    /// Collective. Calls take(i, particles) with what is in shell i, for several i at a time.
    void find(std::span<const ShellRequest> shells,
              const std::function<void(std::int64_t i, const ShellParticles& particles)>& take);

    /// Collective. Upper limits, but for rounding, of the mass not farther than `outer` from each center.
    [[nodiscard]] std::vector<double> most_within(std::span<const ShellRequest> balls);

private:
    /// What a rank found in a shell: squares, then numbers, then masses if there are any.
    struct Piece {
        const std::byte* bytes;
        std::int64_t count;
    };

    [[nodiscard]] bool reaches(int rank, const ShellRequest& shell) const;
    /// Collective. Sends each request to the ranks that it reaches, and returns those of other ranks.
    [[nodiscard]] std::vector<RankMessage> send(std::span<const ShellRequest> requests);
    [[nodiscard]] std::vector<RankMessage> answer(std::vector<RankMessage>& requests);
    [[nodiscard]] std::vector<std::byte> found_in(const ShellRequest& shell, std::int64_t& count);
    [[nodiscard]] std::int64_t bytes_each() const { return particles_.masses ? 24 : 16; }
    void join(const std::vector<Piece>& pieces, ShellParticles& all) const;

    Ranks& ranks_;
    Context& context_;
    const TreeView<T>& tree_;
    const halos::MassPoints<T>& particles_;
    const PointNumbers& numbers_;
    Frame<double> frame_; ///< periods alone
    TopPlanes<T> tops_;
    std::optional<halos::MassBound<T>> mass_bound_;
    PerThread<halos::ShellPoints> scratch_;
    std::vector<std::vector<std::int64_t>> sent_; ///< to each rank: which requests
};

} // namespace kith::detail
