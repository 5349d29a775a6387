#include "cli/sample_points.hpp"

#include "cli/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

namespace kith::cli {

namespace {

constexpr std::array<std::string_view, 2> set_names = {"uniform", "clustered"}; // in the order of SampleSet

/// Numbers in [0, 1) made from the engine's bits alone: standard distributions differ from library to library.
class Uniform {
public:
    double operator()() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

private:
    std::mt19937_64 engine_{20240229};
};

using Position = std::array<double, max_dimension>;

Position position_in_cube(Uniform& uniform, int dimension) {
    Position position{};
    for (int axis = 0; axis < dimension; ++axis) {
        position[axis] = uniform();
    }
    return position;
}

/// Within a ball, uniform in radius: as many points between r and 2 r as between 2 r and 3 r.
Position position_in_halo(Uniform& uniform, int dimension, const Position& center, double halo_radius) {
    while (true) {
        Position position = position_in_cube(uniform, dimension);
        double square = 0;
        for (int axis = 0; axis < dimension; ++axis) {
            position[axis] = 2 * position[axis] - 1;
            square += position[axis] * position[axis];
        }
        if (square > 1 || square == 0) {
            continue;
        }
        const double scale = halo_radius * uniform() / std::sqrt(square);
        for (int axis = 0; axis < dimension; ++axis) {
            const double x = center[axis] + position[axis] * scale;
            position[axis] = x - std::floor(x);
        }
        return position;
    }
}

template <class T>
std::vector<T> make_points(SampleSet set, std::int64_t count, int dimension) {
    constexpr double in_halos = 0.7;
    constexpr std::int64_t points_per_halo = 1000;
    // A halo's radius over the mean distance between halos: they are 170 times as dense as the mean, as real ones are.
    constexpr double share_of_separation = 0.1;
    const T below_one = std::nextafter(T(1), T(0));
    Uniform uniform;
    std::vector<Position> centers(count / points_per_halo + 1);
    for (Position& center : centers) {
        center = position_in_cube(uniform, dimension);
    }
    const double halo_radius = share_of_separation * std::pow(static_cast<double>(centers.size()), -1.0 / dimension);
    std::vector<T> values;
    values.reserve(count * dimension);
    for (std::int64_t i = 0; i < count; ++i) {
        const bool in_halo = set == SampleSet::clustered && uniform() < in_halos;
        const Position position =
            in_halo
                ? position_in_halo(uniform, dimension,
                                   centers[static_cast<std::size_t>(uniform() * static_cast<double>(centers.size()))],
                                   halo_radius)
                : position_in_cube(uniform, dimension);
        for (int axis = 0; axis < dimension; ++axis) {
            values.push_back(std::min(static_cast<T>(position[axis]), below_one));
        }
    }
    return values;
}

} // namespace

SampleSet parse_sample_set(std::string_view text) {
    return static_cast<SampleSet>(parse_name("--set", text, set_names));
}

std::string_view name_of(SampleSet set) {
    return set_names[static_cast<std::size_t>(set)];
}

io::RealArray sample_points(SampleSet set, std::int64_t count, int dimension, DType dtype) {
    return dtype == DType::float32 ? io::RealArray{make_points<float>(set, count, dimension), dimension}
                                   : io::RealArray{make_points<double>(set, count, dimension), dimension};
}

} // namespace kith::cli
