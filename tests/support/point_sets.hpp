// Named, seeded point sets of every kind that has ever broken a neighbor search, in any dimension and both types, each
// with boxes that suit it.
//
// The numbers come from a fixed generator and are the same on every machine. A set's boxes are: open; a periodic box
// that holds the data; one smaller than the data, which therefore wraps; one with a shifted origin; and one that is
// periodic on every other axis only.
#pragma once

#include <kith/points.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kith::test {

/// Instrumented builds run the same tests on fewer points.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(KITH_SMALL_TESTS)
inline constexpr bool small_tests = true;
#else
inline constexpr bool small_tests = false;
#endif
constexpr std::int64_t sized(std::int64_t count) {
    return small_tests ? (count + 3) / 4 : count;
}

struct NamedBox {
    std::string name;
    Box box;
};

template <class T>
struct PointSet {
    std::string name;
    int dimension = 0;
    std::vector<T> coordinates; ///< row-major
    std::vector<NamedBox> boxes;

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(coordinates.size()) / dimension; }
    [[nodiscard]] PointsView view() const { return {coordinates, dimension}; }
    /// Widest axis, as a double.
    [[nodiscard]] double extent() const;
};

/// The names that point_set() knows.
const std::vector<std::string>& point_set_names();

/// The set of that name.
template <class T>
PointSet<T> point_set(const std::string& name, int dimension);

/// `count` points uniform in [lower, upper).
template <class T>
std::vector<T> uniform_points(std::int64_t count, int dimension, double lower, double upper, std::uint64_t seed);

/// Queries for a set in a box: some of its own points, some between them, some outside; on periodic axes a few are a
/// million periods away.
template <class T>
std::vector<T> queries_for(const PointSet<T>& set, const Box& box, std::int64_t count);

/// A deterministic stream of numbers that is the same with every standard library.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    double uniform(double lower, double upper) { return lower + (upper - lower) * uniform(); }
    double normal();
    /// In [0, below).
    std::int64_t integer(std::int64_t below) {
        return static_cast<std::int64_t>(uniform() * static_cast<double>(below));
    }

private:
    std::mt19937_64 engine_;
};

} // namespace kith::test
