// Points to measure with, where no file is given: the same ones on every machine.
#pragma once

#include <kith/io.hpp>

#include <cstdint>
#include <string_view>

namespace kith::cli {

enum class SampleSet : std::uint8_t {
    uniform,   ///< in the unit cube
    clustered, ///< 30 % uniform in the unit cube, 70 % in halos with a density of 1 / r^(d - 1)
};

/// Throws UsageError for other texts than "uniform" and "clustered".
[[nodiscard]] SampleSet parse_sample_set(std::string_view text);
[[nodiscard]] std::string_view name_of(SampleSet set);

/// `count` points of one seed in [0, 1) on every axis.
[[nodiscard]] io::RealArray sample_points(SampleSet set, std::int64_t count, int dimension, DType dtype);

} // namespace kith::cli
