// Small Gadget-2 binary files, made by hand: either format, either byte order, either precision.
#pragma once

#include "io/files.hpp"

#include <array>
#include <vector>

namespace kith::test {

struct GadgetMaker {
    std::endian order = std::endian::little;
    int format = 1;
    bool wide = false;     ///< float64 columns
    bool wide_ids = false; ///< 64-bit ids
    std::array<std::uint32_t, 6> counts{};
    std::array<double, 6> masses{};
    std::array<std::uint32_t, 6> totals{};
    double time = 0.5;
    double box = 10;
    std::int32_t files = 1;
    bool velocities = true;
    bool ids = true;
    int first = 0; ///< number of the first particle; coordinates, velocities, ids and masses tell it

    [[nodiscard]] std::string block(std::string_view label, const std::string& content) const {
        if (format == 1) {
            return unnamed(content);
        }
        const auto next = static_cast<std::uint32_t>(content.size() + 8);
        return unnamed(std::string(label) + Bytes(order).add(next).text()) + unnamed(content);
    }
    [[nodiscard]] std::string unnamed(const std::string& content) const {
        const std::string mark = Bytes(order).add(static_cast<std::uint32_t>(content.size())).text();
        return mark + content + mark;
    }
    [[nodiscard]] std::string header() const {
        Bytes bytes(order);
        for (const std::uint32_t count : counts) {
            bytes.add(count);
        }
        for (const double mass : masses) {
            bytes.add(mass);
        }
        bytes.add(time).add(1 / time - 1).add(0).add(0);
        for (const std::uint32_t total : totals) {
            bytes.add(total);
        }
        bytes.add(0).add(files).add(box).add(0.25).add(0.75).add(0.7);
        return bytes.text() + std::string(256 - bytes.text().size(), '\0');
    }
    [[nodiscard]] std::string reals(const std::vector<double>& values) const {
        Bytes bytes(order);
        for (const double value : values) {
            wide ? bytes.add(value) : bytes.add(static_cast<float>(value));
        }
        return bytes.text();
    }
    /// Coordinates are n, n + 0.25, n + 0.5; velocities their negatives; ids 1000 + n; own masses 1 + n.
    [[nodiscard]] std::string text() const {
        std::vector<double> positions;
        std::vector<double> backwards;
        std::vector<double> own_masses;
        Bytes numbers(order);
        int particle = first;
        for (std::size_t type = 0; type < counts.size(); ++type) {
            for (std::uint32_t i = 0; i < counts[type]; ++i, ++particle) {
                for (const double offset : {0.0, 0.25, 0.5}) {
                    positions.push_back(particle + offset);
                    backwards.push_back(-particle - offset);
                }
                wide_ids ? numbers.add(std::uint64_t{1000} + static_cast<std::uint64_t>(particle))
                         : numbers.add(1000U + static_cast<std::uint32_t>(particle));
                if (masses[type] == 0) {
                    own_masses.push_back(1.0 + particle);
                }
            }
        }
        std::string content = block("HEAD", header()) + block("POS ", reals(positions));
        content += velocities ? block("VEL ", reals(backwards)) : "";
        content += ids ? block("ID  ", numbers.text()) : "";
        content += own_masses.empty() ? "" : block("MASS", reals(own_masses));
        return content;
    }
};

} // namespace kith::test
