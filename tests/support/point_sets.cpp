// See point_sets.hpp.
#include "support/point_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

namespace kith::test {

namespace {

// One coordinate from the point's number, the axis and the stream.
using Coordinates = std::function<double(std::int64_t point, int axis, Random& random)>;

template <class T>
std::vector<T> filled(std::int64_t count, int dimension, std::uint64_t seed, const Coordinates& coordinate) {
    Random random(seed);
    std::vector<T> points;
    for (std::int64_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < dimension; ++axis) {
            points.push_back(static_cast<T>(coordinate(i, axis, random)));
        }
    }
    return points;
}

// 30 % uniform in [0, 1), the rest in clumps of very different width.
template <class T>
std::vector<T> clustered(std::int64_t count, int dimension, std::uint64_t seed) {
    const std::vector<double> centers = uniform_points<double>(8, dimension, 0.1, 0.9, seed + 1);
    return filled<T>(count, dimension, seed, [=](std::int64_t i, int axis, Random& random) {
        if (i % 10 < 3) {
            return random.uniform();
        }
        const auto clump = static_cast<std::size_t>(i % 8);
        const double width = std::ldexp(0.04, -static_cast<int>(clump));
        return centers[clump * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(axis)] +
               width * random.normal();
    });
}

template <class T>
std::vector<T> lattice(std::int64_t count, int dimension) {
    // As nearly a cube as whole sides allow, so that the points extend along every axis.
    std::vector<std::int64_t> sides(static_cast<std::size_t>(dimension), 1);
    std::int64_t places = 1;
    for (std::size_t axis = 0; places < count; axis = (axis + 1) % sides.size()) {
        places = places / sides[axis] * (sides[axis] + 1);
        ++sides[axis];
    }
    // The order of the points is scrambled so that ties are not met in index order.
    return filled<T>(count, dimension, 0, [=](std::int64_t i, int axis, Random&) {
        std::int64_t rest = i * 389 % count;
        for (std::size_t before = 0; before < static_cast<std::size_t>(axis); ++before) {
            rest /= sides[before];
        }
        return static_cast<double>(rest % sides[static_cast<std::size_t>(axis)]);
    });
}

// Every third point inside, the others on the edges 0 and length or one representable number beside them.
template <class T>
std::vector<T> on_edges(std::int64_t count, int dimension, T length, bool also_outside) {
    const T outside = also_outside ? T{1} : T{0};
    const std::vector<T> edges{T{0},
                               length,
                               std::nextafter(T{0}, length),
                               std::nextafter(length, T{0}),
                               outside == 0 ? length : std::nextafter(length, 2 * length),
                               outside == 0 ? T{0} : -std::numeric_limits<T>::min(),
                               outside == 0 ? length / 2 : -length / 64,
                               outside == 0 ? -T{0} : length + length / 64};
    return filled<T>(count, dimension, 77, [&](std::int64_t i, int, Random& random) {
        const double inside = random.uniform() * static_cast<double>(length);
        return i % 3 == 0 ? inside : static_cast<double>(edges[static_cast<std::size_t>(random.integer(8))]);
    });
}

double huge(float) {
    return 1e30;
}
double huge(double) {
    return 1e300;
}
double tiny(float) {
    return 1e-30;
}
double tiny(double) {
    return 1e-300;
}

template <class T>
std::vector<T> generate(const std::string& name, int dimension) {
    const T type{};
    const double smallest = std::numeric_limits<T>::denorm_min();
    if (name == "empty") {
        return {};
    }
    if (name == "one") {
        return filled<T>(1, dimension, 1, [](std::int64_t, int axis, Random&) { return 0.25 * (axis + 1); });
    }
    if (name == "two") {
        return filled<T>(2, dimension, 1, [](std::int64_t i, int axis, Random&) {
            return 0.1 * static_cast<double>(i + 1) * (axis + 1);
        });
    }
    if (name == "uniform") {
        return uniform_points<T>(sized(500), dimension, 0, 1, 2);
    }
    if (name == "mixed_signs") {
        return uniform_points<T>(sized(350), dimension, -1, 0.75, 3);
    }
    if (name == "all_negative") {
        return uniform_points<T>(sized(250), dimension, -7, -5, 4);
    }
    if (name == "gaussian") {
        return filled<T>(sized(400), dimension, 5, [](std::int64_t, int, Random& random) { return random.normal(); });
    }
    if (name == "clustered") {
        return clustered<T>(sized(450), dimension, 6);
    }
    if (name == "lattice") {
        return lattice<T>(sized(512), dimension);
    }
    if (name == "coincident") {
        return filled<T>(sized(240), dimension, 7, [](std::int64_t, int axis, Random&) { return 0.3 + axis; });
    }
    if (name == "few_distinct") {
        const std::vector<T> distinct = uniform_points<T>(5, dimension, 0, 1, 8);
        Random choice(9);
        std::vector<T> points;
        for (std::int64_t i = 0; i < sized(400); ++i) {
            const auto start = distinct.begin() + choice.integer(5) * dimension;
            points.insert(points.end(), start, start + dimension);
        }
        return points;
    }
    if (name == "collinear") {
        return filled<T>(sized(300), dimension, 10, [](std::int64_t i, int axis, Random&) {
            return axis == 0 ? 0.5 : std::fmod(static_cast<double>(i) * 0.618034, 1.0) * (axis == 1 ? 1 : 0);
        });
    }
    if (name == "far_outlier") {
        std::vector<T> points = uniform_points<T>(sized(300), dimension, 0, 1, 11);
        std::fill_n(points.begin() + 50 * dimension, dimension, static_cast<T>(1e6));
        return points;
    }
    if (name == "huge") {
        return uniform_points<T>(sized(250), dimension, -huge(type), huge(type), 12);
    }
    if (name == "tiny") {
        return uniform_points<T>(sized(250), dimension, -tiny(type), tiny(type), 13);
    }
    if (name == "subnormal") {
        return filled<T>(sized(250), dimension, 14, [=](std::int64_t, int, Random& random) {
            return smallest * static_cast<double>(random.integer(2000) - 1000);
        });
    }
    if (name == "many_scales") { // from the smallest numbers to 1, so that differences underflow beside the largest
        return filled<T>(sized(300), dimension, 15, [=](std::int64_t, int, Random& random) {
            const int deepest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
            return std::ldexp(random.uniform(-1, 1), static_cast<int>(random.integer(-deepest)) + deepest);
        });
    }
    if (name == "vanishing") { // numbers that scale to nothing beside huge ones; the negative ones to +0.0, not -0.0
        return filled<T>(sized(200), dimension, 17, [=](std::int64_t, int, Random& random) {
            const double values[] = {-smallest, smallest, 0.0, huge(type), -huge(type), -3 * smallest};
            return values[random.integer(6)];
        });
    }
    if (name == "signed_zeros") {
        return filled<T>(sized(200), dimension, 16, [](std::int64_t, int, Random& random) {
            const double values[] = {-0.0, 0.0, 1.0, -1.0};
            return values[random.integer(4)];
        });
    }
    if (name == "box_edges") {
        return on_edges<T>(sized(250), dimension, T{1}, false);
    }
    if (name == "uneven_box_edges") { // a period that neither type can represent
        return on_edges<T>(sized(250), dimension, static_cast<T>(0.7), false);
    }
    if (name == "slightly_outside") {
        return on_edges<T>(sized(250), dimension, T{1}, true);
    }
    throw std::invalid_argument("no point set is called " + name);
}

template <class T>
std::pair<double, double> range_of_axis(const std::vector<T>& points, int dimension, int axis) {
    double lower = std::numeric_limits<double>::infinity();
    double upper = -lower;
    for (auto i = static_cast<std::size_t>(axis); i < points.size(); i += static_cast<std::size_t>(dimension)) {
        lower = std::min(lower, static_cast<double>(points[i]));
        upper = std::max(upper, static_cast<double>(points[i]));
    }
    return points.empty() ? std::pair{0.0, 0.0} : std::pair{lower, upper};
}

template <class T>
std::vector<NamedBox> boxes_for(const std::string& name, const std::vector<T>& points, int dimension) {
    std::vector<NamedBox> boxes{{"open", Box{}}};
    if (name == "box_edges" || name == "uneven_box_edges" || name == "slightly_outside") {
        const double length = name == "uneven_box_edges" ? 0.7 : 1;
        Box shifted = Box::periodic(length);
        Box fixed = Box::periodic(length);
        for (int axis = 0; axis < dimension; ++axis) {
            shifted = shifted.with_origin(axis, 0.3);
            fixed = fixed.with_origin(axis, 0);
        }
        boxes.insert(boxes.end(),
                     {{"periodic", fixed}, {"default_origin", Box::periodic(length)}, {"shifted", shifted}});
        return boxes;
    }
    std::vector<double> holding;
    std::vector<double> wrapping;
    std::vector<double> mixed;
    std::vector<double> origins;
    for (int axis = 0; axis < dimension; ++axis) {
        const auto [lower, upper] = range_of_axis(points, dimension, axis);
        const double largest = std::max(std::abs(lower), std::abs(upper));
        const double extent = upper - lower;
        const double unit = largest == 0 ? 1 : largest;
        // Axes differ in length: 1.1, 1.2 and so on times the extent.
        holding.push_back(extent == 0 ? unit : extent * (1.1 + 0.1 * axis));
        wrapping.push_back(extent == 0 ? unit / 2 : extent * 0.6);
        mixed.push_back(axis % 2 == 0 ? holding.back() : 0);
        origins.push_back(lower + 0.3 * extent);
    }
    Box shifted = Box::periodic(holding);
    for (int axis = 0; axis < dimension; ++axis) {
        shifted = shifted.with_origin(axis, origins[static_cast<std::size_t>(axis)]);
    }
    boxes.insert(boxes.end(), {{"periodic", Box::periodic(holding)},
                               {"wrapping", Box::periodic(wrapping)},
                               {"shifted", shifted},
                               {"mixed", Box::periodic(mixed)}});
    if (name == "uniform") {
        boxes.push_back({"unit", Box::periodic(1)});
    }
    return boxes;
}

} // namespace

double Random::normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
}

const std::vector<std::string>& point_set_names() {
    static const std::vector<std::string> names{"empty",           "one",          "two",
                                                "uniform",         "mixed_signs",  "all_negative",
                                                "gaussian",        "clustered",    "lattice",
                                                "coincident",      "few_distinct", "collinear",
                                                "far_outlier",     "huge",         "tiny",
                                                "subnormal",       "many_scales",  "vanishing",
                                                "signed_zeros",    "box_edges",    "uneven_box_edges",
                                                "slightly_outside"};
    return names;
}

template <class T>
double PointSet<T>::extent() const {
    double widest = 0;
    for (int axis = 0; axis < dimension; ++axis) {
        const auto [lower, upper] = range_of_axis(coordinates, dimension, axis);
        widest = std::max(widest, upper - lower);
    }
    return widest;
}

template <class T>
PointSet<T> point_set(const std::string& name, int dimension) {
    PointSet<T> set;
    set.name = name;
    set.dimension = dimension;
    set.coordinates = generate<T>(name, dimension);
    set.boxes = boxes_for(name, set.coordinates, dimension);
    return set;
}

template <class T>
std::vector<T> uniform_points(std::int64_t count, int dimension, double lower, double upper, std::uint64_t seed) {
    return filled<T>(count, dimension, seed,
                     [=](std::int64_t, int, Random& random) { return random.uniform(lower, upper); });
}

template <class T>
std::vector<T> queries_for(const PointSet<T>& set, const Box& box, std::int64_t count) {
    const double largest = set.extent() == 0 ? 1 : set.extent();
    return filled<T>(count, set.dimension, 99, [&](std::int64_t i, int axis, Random& random) {
        const double period = box.period(axis);
        const double own =
            set.count() == 0
                ? 0.5
                : static_cast<double>(
                      set.coordinates[static_cast<std::size_t>((i * 7 % set.count()) * set.dimension + axis)]);
        const double shift = random.uniform(-1, 1);
        switch (i % 5) {
        case 0:
            return own;
        case 1:
            return own + shift * largest / 20;
        case 2:
            return own + shift * largest * 3;
        case 3:
            return period == 0 ? own + shift * largest / 10 : own + period * std::round(shift * 4);
        default:
            return period == 0 ? own + shift * largest * 20 : own + shift * period * 1e6;
        }
    });
}

template struct PointSet<float>;
template struct PointSet<double>;
template PointSet<float> point_set(const std::string&, int);
template PointSet<double> point_set(const std::string&, int);
template std::vector<float> uniform_points(std::int64_t, int, double, double, std::uint64_t);
template std::vector<double> uniform_points(std::int64_t, int, double, double, std::uint64_t);
template std::vector<float> queries_for(const PointSet<float>&, const Box&, std::int64_t);
template std::vector<double> queries_for(const PointSet<double>&, const Box&, std::int64_t);

} // namespace kith::test
