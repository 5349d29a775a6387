// The catalog as the plainest possible loops, in extended precision and with no thought of speed: what the library's
// catalog is compared with.
#pragma once

#include <kith/catalog.hpp>

#include <cstdint>
#include <vector>

namespace kith::test {

struct PlainGroup {
    std::vector<std::int32_t> members;
    std::vector<std::int64_t> count_by_type = std::vector<std::int64_t>(max_types);
    std::vector<long double> mass_by_type = std::vector<long double>(max_types);
    long double mass = 0;
    std::vector<long double> center; ///< not wrapped: near the lowest-index member
    std::vector<long double> velocity;
    std::vector<long double> lower;
    std::vector<long double> upper;
    long double rms_radius = 0;
    long double max_radius = 0;
    long double velocity_dispersion = 0;
    bool is_ambiguous = false;
    long double reach = 0;   ///< largest absolute offset from the lowest-index member
    long double fastest = 0; ///< largest absolute component of a velocity
};

/// Groups of at least min_members, in label order. `period` of 0 is open.
std::vector<PlainGroup> plain_catalog(const FofResult& groups, const Particles& particles, double period,
                                      std::int64_t min_members);

} // namespace kith::test
