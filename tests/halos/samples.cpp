#include "halos/samples.hpp"

#include "support/point_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

namespace kith::test {

FofResult groups_with(const std::vector<std::int32_t>& labels, const Box& box) {
    FofResult groups;
    groups.box = box;
    groups.label_array = labels;
    std::vector<std::int32_t> sizes;
    for (const std::int32_t label : labels) {
        if (label >= 0) {
            sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(label) + 1));
            ++sizes[label];
        }
    }
    groups.sizes = GroupSizes(sizes);
    groups.groups = groups.sizes.size();
    return groups;
}

FofResult in_box(FofResult groups, const Box& box) {
    groups.box = box;
    return groups;
}

template <class T>
Particles Sample<T>::positions_only() const {
    Particles particles;
    particles.positions = PointsView(positions, dimension);
    return particles;
}

template <class T>
Particles Sample<T>::everything() const {
    Particles particles = positions_only();
    particles.velocities = PointsView(velocities, dimension);
    particles.masses = ScalarsView(masses);
    particles.types = types;
    return particles;
}

template <class T>
Sample<T> sample(const std::vector<std::int32_t>& sizes, int dimension, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int32_t> labels;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
        labels.insert(labels.end(), static_cast<std::size_t>(sizes[group]), static_cast<std::int32_t>(group));
    }
    for (std::size_t i = labels.size(); i > 1; --i) {
        std::swap(labels[i - 1], labels[random.integer(static_cast<std::int64_t>(i))]);
    }
    std::vector<double> places;
    for (std::size_t i = 0; i < sizes.size() * static_cast<std::size_t>(dimension); ++i) {
        places.push_back(random.uniform(0, sample_period));
    }
    Sample<T> made;
    made.dimension = dimension;
    made.groups = groups_with(labels);
    for (const std::int32_t label : labels) {
        for (int axis = 0; axis < dimension; ++axis) {
            double x = places[label * dimension + axis] + random.uniform(-0.1, 0.1) * sample_period;
            x -= sample_period * std::floor(x / sample_period);
            made.positions.push_back(static_cast<T>(x));
            made.velocities.push_back(static_cast<T>(300 * random.normal() + 100 * label));
        }
        made.masses.push_back(static_cast<T>(std::pow(10.0, random.uniform(-6, 6))));
        made.types.push_back(static_cast<std::uint8_t>(random.integer(max_types)));
    }
    return made;
}

template <class T>
Sample<T> permuted(const Sample<T>& sample, const std::vector<std::int32_t>& place) {
    Sample<T> moved = sample;
    for (std::int64_t i = 0; i < sample.count(); ++i) {
        const std::int64_t j = place[i];
        moved.groups.label_array.template vector<std::int32_t>()[j] = sample.groups.labels()[i];
        moved.masses[j] = sample.masses[i];
        moved.types[j] = sample.types[i];
        for (int axis = 0; axis < sample.dimension; ++axis) {
            moved.positions[j * sample.dimension + axis] = sample.positions[i * sample.dimension + axis];
            moved.velocities[j * sample.dimension + axis] = sample.velocities[i * sample.dimension + axis];
        }
    }
    return moved;
}

testing::AssertionResult same_values(const Catalog& a, const Catalog& b) {
    std::string differences;
    if (a.groups != b.groups || a.dimension != b.dimension || a.min_members != b.min_members) {
        differences += " shape";
    }
    for_each_field(a, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
        const auto& others = b.*std::get<std::vector<T> Catalog::*>(column.values);
        if (values.size() != others.size() ||
            (!values.empty() && std::memcmp(values.data(), others.data(), values.size() * sizeof(T)) != 0)) {
            differences += " " + std::string(column.field);
        }
    });
    if (differences.empty()) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "these columns differ:" << differences;
}

template struct Sample<float>;
template struct Sample<double>;
template Sample<float> sample(const std::vector<std::int32_t>&, int, std::uint64_t);
template Sample<double> sample(const std::vector<std::int32_t>&, int, std::uint64_t);
template Sample<float> permuted(const Sample<float>&, const std::vector<std::int32_t>&);
template Sample<double> permuted(const Sample<double>&, const std::vector<std::int32_t>&);

} // namespace kith::test
