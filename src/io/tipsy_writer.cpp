// What Tipsy tools expect of a group finder, besides labels (label_writer.cpp): .gtp, a Tipsy snapshot (std, big-endian)
// with one star per group. In a .gtp star the softening holds the group's largest radius; metals and
// potential are 0 and the formation time is the snapshot's time, as N-body groups have none of their own.
#include "io/byte_order.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <array>
#include <limits>

namespace kith::io {

void write_gtp(const std::filesystem::path& path, const Catalog& catalog, double time) {
    if (catalog.dimension != 3 && catalog.groups > 0) {
        throw error(ErrorKind::invalid_argument, "a Tipsy file holds points in 3 dimensions; the groups have ",
                    catalog.dimension);
    }
    if (catalog.groups > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, catalog.groups,
                    " groups are more than a Tipsy header can count (2147483647)");
    }
    constexpr std::endian big = std::endian::big;
    OutputFile file(path);
    const auto groups = static_cast<std::int32_t>(catalog.groups);
    std::array<std::byte, 32> header{};
    store(header.data(), time, big);
    const std::array<std::int32_t, 5> counts = {groups, 3, 0, 0, groups}; // nbodies, ndim, gas, dark, star
    for (std::size_t i = 0; i < counts.size(); ++i) {
        store(&header[8 + 4 * i], counts[i], big);
    }
    file.write(header);

    for (std::size_t g = 0; g < static_cast<std::size_t>(catalog.groups); ++g) {
        const auto velocity = [&](std::size_t axis) {
            return catalog.velocity.empty() ? 0.0 : catalog.velocity[3 * g + axis];
        };
        const std::array<double, 11> values = {catalog.mass[g],
                                               catalog.center[3 * g],
                                               catalog.center[3 * g + 1],
                                               catalog.center[3 * g + 2],
                                               velocity(0),
                                               velocity(1),
                                               velocity(2),
                                               0.0,
                                               time,
                                               catalog.max_radius[g],
                                               0.0};
        std::array<std::byte, 44> star{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            store(&star[4 * i], static_cast<float>(values[i]), big);
        }
        file.write(star);
    }
    file.commit();
}

} // namespace kith::io
