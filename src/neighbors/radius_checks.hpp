// What can be said of radii.
#pragma once

#include <kith/error.hpp>
#include <kith/radius.hpp>

#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/memory_limit.hpp"
#include "support/message.hpp"
#include "support/result_memory.hpp"

#include <cstdint>

namespace kith::detail {

/// Returns the query with the smallest radius above 0, or -1.
inline std::int64_t check_radii(const Radii& radii, std::int64_t rows) {
    if (!radii.is_uniform() && radii.count() != rows) {
        throw error(ErrorKind::invalid_argument, "there are ", radii.count(), " radii for ", rows,
                    rows == 1 ? " query" : " queries", "; give one radius, or one for each query");
    }
    const std::int64_t count = radii.is_uniform() ? 1 : radii.count();
    std::int64_t smallest = -1;
    for (std::int64_t i = 0; i < count; ++i) {
        if (!(radii[i] >= 0)) {
            ErrorDetails details{.value = radii[i]};
            if (!radii.is_uniform()) {
                details.point = i;
            }
            throw error(ErrorKind::invalid_argument, details, "the radius",
                        radii.is_uniform() ? "" : message(" of query ", i), " is ", radii[i],
                        "; it must be 0 or more, or infinity");
        }
        if (radii[i] > 0 && (smallest < 0 || radii[i] < radii[smallest])) {
            smallest = i;
        }
    }
    return smallest;
}

/// Throws out_of_memory, with the bytes needed, if the rows are more than the options, or this process, may have.
inline void require_neighbors_fit(std::int64_t neighbors, std::int64_t bytes_each, std::int64_t max_bytes) {
    constexpr std::int64_t few_neighbors = 1 << 20; // the system is asked for the machine's memory, which takes a while
    if (max_bytes == 0 && neighbors <= few_neighbors) {
        return;
    }
    const MemoryLimit limit = max_bytes > 0 ? MemoryLimit{max_bytes, "max_result_bytes is"} : memory_limit();
    if (neighbors > limit.bytes / bytes_each) {
        throw error(ErrorKind::out_of_memory, "the result has ", neighbors, " neighbors and needs ",
                    static_cast<double>(neighbors) * static_cast<double>(bytes_each), " bytes; ", limit.who_states_it,
                    " ", limit.bytes, "; take a smaller radius, fewer queries at once, or counts alone (radius_count)");
    }
}

/// Throws because the radius of the query underflows, squared, relative to the largest coordinate.
[[noreturn]] inline void refuse_unresolved_radius(const Radii& radii, std::int64_t query,
                                                  const LargestCoordinate& largest) {
    const DeviceStatus status = unresolved_beside(largest, radii[query]);
    throw error(ErrorKind::invalid_argument, unresolved_details(status), "the radius",
                radii.is_uniform() ? "" : message(" of query ", query), " is ", radii[query],
                unresolved_length(status));
}

/// Throws if the smallest radius above 0, that of the query `smallest`, underflows, squared, relative to largest(). If
/// the points of a self-search are all at zero, so are their distances, and every radius is resolved.
template <Coordinate T, class Largest>
void require_resolved_radii(const Radii& radii, std::int64_t smallest, const Frame<T>& frame, bool self_search,
                            const Largest& largest) {
    if (smallest < 0 || (self_search && frame.largest == 0)) {
        return;
    }
    if (frame.is_unresolved(radii[smallest])) {
        refuse_unresolved_radius(radii, smallest, largest());
    }
}

} // namespace kith::detail
