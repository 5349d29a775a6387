// Peculiar velocities of a file, which stores them in its own convention.
#pragma once

#include <kith/io.hpp>

#include <cmath>

namespace kith::cli {

/// What velocities of a file are multiplied by to be peculiar; 1 if the file is not known to be cosmological.
[[nodiscard]] inline double peculiar_factor(const io::SnapshotHeader& header) {
    if (!header.frame) {
        return 1;
    }
    const io::Scaling& velocity = header.frame->velocity;
    const auto h = header.parameters.find("HubbleParam");
    const bool has_h = velocity.h_power != 0 && h != header.parameters.end();
    return std::pow(header.frame->scale_factor, velocity.a_power) * (has_h ? std::pow(h->second, velocity.h_power) : 1);
}

/// `are_peculiar`: whether the file states its cosmology.
[[nodiscard]] inline const char* kind_of_velocities(bool are_peculiar) {
    return are_peculiar ? "peculiar velocities" : "stored velocities (the file states no cosmology)";
}

} // namespace kith::cli
