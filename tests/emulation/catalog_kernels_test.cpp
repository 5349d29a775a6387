// The catalog's kernels, and the host code around them, run on the CPU: every column is the CPU's own, to the last bit.
#include "cuda/intrinsics.hpp" // first: it gives the kernels' text its words

#include "halos/catalog_device.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;

template <class T>
DeviceBuffer<T> on_device(DeviceContext& context, const T* elements, std::int64_t count) {
    DeviceBuffer<T> buffer = context.buffer<T>(count);
    context.copy(buffer.data(), elements, count * static_cast<std::int64_t>(sizeof(T)));
    return buffer;
}

/// A view's memory, all that it reaches, in memory of the device.
class ViewOnDevice {
public:
    ViewOnDevice(DeviceContext& context, const PointsView& view)
        : range_(detail::ByteRange::of(view)), bytes_(on_device(context, range_.data(), range_.count)),
          view_(range_.at(bytes_.data(), view, {DeviceKind::cuda, 0})) {}
    [[nodiscard]] const PointsView& view() const { return view_; }

private:
    detail::ByteRange range_;
    DeviceBuffer<std::byte> bytes_;
    PointsView view_;
};

/// What the kernels make of particles that are copied to the device for them.
Catalog found_on_device(const FofResult& groups, const Particles& particles, std::int64_t min_members,
                        std::int64_t budget = 0) {
    Execution execution = cuda();
    execution.memory_budget = budget;
    DeviceContext all(cuda()); // of the input: beyond the budget
    DeviceContext context(execution);
    const auto labels = on_device(all, groups.labels().data(), groups.label_array.size());
    Particles there = particles;
    const ViewOnDevice positions(all, particles.positions);
    there.positions = positions.view();
    std::optional<ViewOnDevice> velocities;
    if (particles.velocities) {
        velocities.emplace(all, *particles.velocities);
        there.velocities = velocities->view();
    }
    std::optional<ViewOnDevice> masses;
    if (particles.masses) {
        masses.emplace(all, detail::on_a_line(*particles.masses));
        there.masses = detail::scalars_of(masses->view());
    }
    const auto given_types = particles.types.as_span<std::uint8_t>();
    const auto types = on_device(all, given_types.data(), std::ssize(given_types));
    there.types = IntegersView(types.data(), std::ssize(given_types));
    const auto frame = detail::with_dtype(particles.positions.dtype(), [&](auto zero) {
        return detail::halos::position_frame(
            detail::normalize_sources<decltype(zero)>(particles.positions, groups.box).frame);
    });
    Catalog found;
    context.stage("catalog", [&] {
        const std::span<const std::int32_t> labels_there(labels.data(), static_cast<std::size_t>(labels.size()));
        const detail::GroupsOnDevice described =
            detail::describe_groups(context, {labels_there, groups.sizes}, there, frame, {.min_members = min_members});
        static_cast<CatalogSummary&>(found) = described.summary;
        detail::copy_to_host(context, described.columns.pointers().columns, described.members.data(), groups.sizes,
                             there.velocities.has_value(), found);
    });
    found.stages = context.take_stages();
    return found;
}

testing::AssertionResult is_the_cpus(const FofResult& groups, const Particles& particles,
                                     std::int64_t min_members = 20) {
    const Catalog expected = catalog(groups, particles, {.min_members = min_members, .execution = cpu(1)});
    const Catalog found = found_on_device(groups, particles, min_members);
    if (found.member_array != expected.member_array) {
        return testing::AssertionFailure() << "the members differ";
    }
    return same_values(found, expected);
}

class CatalogKernels : public testing::TestWithParam<std::tuple<int, DType, double>> {};

TEST_P(CatalogKernels, MakeTheCatalogOfTheCpu) {
    const auto [dimension, dtype, period] = GetParam();
    const Box box = period > 0 ? Box::periodic(period) : Box();
    detail::with_dtype(dtype, [&, dimension = dimension](auto zero) {
        using T = decltype(zero);
        Sample<T> made = sample<T>({1100, 300, 64, 33, 32, 31, 20, 20, 19, 3, 1, 1}, dimension,
                                   static_cast<std::uint64_t>(dimension));
        made.groups.box = box;
        for (const std::int64_t min_members : {20, 1}) {
            EXPECT_TRUE(is_the_cpus(made.groups, made.everything(), min_members));
            EXPECT_TRUE(is_the_cpus(made.groups, made.positions_only(), min_members));
        }
        for (int without = 0; without < 4; ++without) {
            Particles particles = made.everything();
            if (without == 0) {
                particles.velocities.reset();
            } else if (without == 1) {
                particles.masses.reset();
                particles.uniform_mass = 0.1;
            } else if (without == 2) {
                particles.types = {};
            } else { // the other precision beside positions of this one
                const Sample<std::conditional_t<std::is_same_v<T, float>, double, float>> other =
                    sample<std::conditional_t<std::is_same_v<T, float>, double, float>>(
                        {made.groups.sizes.begin(), made.groups.sizes.end()}, dimension, 9);
                particles.velocities = PointsView(other.velocities, dimension);
                particles.masses = ScalarsView(other.masses);
                EXPECT_TRUE(is_the_cpus(made.groups, particles));
                continue;
            }
            EXPECT_TRUE(is_the_cpus(made.groups, particles)) << "without column " << without;
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, CatalogKernels,
                         testing::Combine(testing::Values(2, 3, 6), testing::Values(DType::float32, DType::float64),
                                          testing::Values(0.0, sample_period)));

TEST(CatalogOnDevice, DescribesWhatTheFinderFinds) {
    Random draw(5);
    std::vector<float> positions;
    for (int clump = 0; clump < 60; ++clump) { // of very different sizes, some across the edge
        const std::array<double, 3> place{draw.uniform(), draw.uniform(), draw.uniform()};
        const auto points = static_cast<int>(std::pow(10.0, draw.uniform(0.5, 2.3)));
        for (int i = 0; i < points; ++i) {
            for (const double x : place) {
                const double y = x + 0.01 * draw.normal();
                positions.push_back(static_cast<float>(y - std::floor(y)));
            }
        }
    }
    const PointsView view(positions, 3);
    Particles particles{.positions = view};
    for (const double length : {0.004, 0.02, 0.3}) { // the last links all: a group wider than half the box
        const FofResult groups =
            fof(view, LinkingLength::absolute(length), {.box = Box::periodic(1), .execution = cpu(1)});
        for (const std::int64_t min_members : {1, 5, 20}) {
            EXPECT_TRUE(is_the_cpus(groups, particles, min_members)) << length;
        }
    }
}

TEST(CatalogOnDevice, DescribesOneGiantAndManySmallGroups) {
    std::vector<std::int32_t> sizes{40000, 1025, 1024, 1023};
    for (int i = 0; i < 300; ++i) {
        sizes.push_back(40 - i / 15);
    }
    Sample<double> made = sample<double>(sizes, 3, 4);
    EXPECT_TRUE(is_the_cpus(in_box(made.groups, Box::periodic(sample_period)), made.everything()));
    for (std::size_t i = 0; i < made.masses.size(); ++i) { // early chunks and late ones differ by much
        const auto late = static_cast<int>(i / 200);
        made.masses[i] = std::ldexp(made.masses[i], -late);
        made.velocities[3 * i] = std::ldexp(made.velocities[3 * i], late);
    }
    Particles without_types = made.everything();
    without_types.types = {};
    EXPECT_TRUE(is_the_cpus(made.groups, without_types));
}

TEST(CatalogOnDevice, LeavesOutRowsWithoutGroup) {
    Sample<double> made = sample<double>({90, 50, 30, 2, 1}, 3, 8);
    for (std::int32_t& label : made.groups.label_array.vector<std::int32_t>()) {
        label = label >= 3 ? -1 : label;
    }
    made.groups.sizes = GroupSizes(std::vector{90, 50, 30});
    made.groups.groups = 3;
    for (const std::int64_t min_members : {20, 40, 91}) {
        EXPECT_TRUE(is_the_cpus(made.groups, made.everything(), min_members)) << min_members;
    }
}

TEST(CatalogOnDevice, DescribesNothing) {
    const Sample<float> made = sample<float>({}, 3, 1);
    EXPECT_TRUE(is_the_cpus(made.groups, made.positions_only()));
}

TEST(CatalogOnDevice, LooksRowsUpWhereMemoryIsShort) {
    Sample<double> made = sample<double>({3000, 500, 20}, 3, 12);
    made.groups.box = Box::periodic(sample_period);
    const Particles particles = made.everything();
    const Catalog expected = catalog(made.groups, particles, {.execution = cpu(1)});
    const std::int64_t with_all_gathered = found_on_device(made.groups, particles, 20).stages.at(0).peak_bytes;
    const std::int64_t half_of_positions = 3 * 4 * made.count(); // more than that would be too little for the sort
    for (const std::int64_t less : {std::int64_t{1}, half_of_positions}) {
        const Catalog found = found_on_device(made.groups, particles, 20, with_all_gathered - less);
        EXPECT_TRUE(same_values(found, expected)) << less;
        EXPECT_LE(found.stages.at(0).peak_bytes, with_all_gathered - less);
    }
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"out of memory on the GPU"},
                           [&] { (void)found_on_device(made.groups, particles, 20, 10 * made.count()); }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST(CatalogOnDevice, ReadsAnyLayout) {
    const Sample<float> made = sample<float>({300, 60, 20}, 3, 11);
    const std::int64_t n = made.count();
    std::vector<double> by_axis(static_cast<std::size_t>(3 * n));
    std::vector<float> backwards(static_cast<std::size_t>(4 * n), 1e30F); // last row first, four numbers a row
    for (std::int64_t i = 0; i < n; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            by_axis[axis * n + i] = made.positions[3 * i + axis];
            backwards[4 * (n - 1 - i) + axis] = made.velocities[3 * i + axis];
        }
    }
    Particles strided = made.everything();
    strided.positions = PointsView(by_axis.data(), DType::float64, n, 3, 1, n);
    strided.velocities = PointsView(backwards.data() + 4 * (n - 1), DType::float32, n, 3, -4, 1);
    EXPECT_TRUE(is_the_cpus(in_box(made.groups, Box::periodic(sample_period)), strided));
}

/// A sample whose numbers are of any size a double can have.
Sample<double> wild_sample(int seed, double size_of_positions) {
    Sample<double> made = sample<double>({300, 100, 40, 30, 25, 20, 20}, 2, static_cast<std::uint64_t>(seed));
    Random draw(static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < made.masses.size(); ++i) {
        const std::int32_t label = made.groups.labels()[i];
        made.masses[i] = label == 2 ? 0.0 : std::pow(10.0, draw.uniform(-300, 300)); // one group without mass
        made.masses[i] = draw.integer(5) == 0 ? 0.0 : made.masses[i];
        made.masses[i] = label == 3 ? 5e-324 * static_cast<double>(draw.integer(9)) : made.masses[i];
        made.masses[i] = label == 4 ? 1.7e308 : made.masses[i];
        for (int axis = 0; axis < 2; ++axis) {
            made.positions[2 * i + axis] *= size_of_positions;
            made.velocities[2 * i + axis] = draw.normal() * std::pow(10.0, draw.uniform(-307, 290));
        }
    }
    return made;
}

TEST(CatalogOnDevice, HoldsNumbersOfEverySize) {
    for (int seed = 1; seed <= 2; ++seed) {
        for (const double size : {1.0, 0x1p-1070, 0x1p-1000, 0x1p-300, 0x1p300, 0x1p1021}) {
            const Sample<double> made = wild_sample(seed, size);
            EXPECT_TRUE(is_the_cpus(made.groups, made.everything(), 1)) << size;
            EXPECT_TRUE(is_the_cpus(in_box(made.groups, Box::periodic(size * sample_period)), made.everything(), 1))
                << size;
        }
    }
    constexpr double largest = std::numeric_limits<double>::max();
    const std::vector<double> ends{-largest, 5e-324, largest, -largest, 0, -0.0, -0.0, 0};
    const Particles particles{.positions = PointsView(ends, 2), .velocities = PointsView(ends, 2)};
    EXPECT_TRUE(is_the_cpus(groups_with({0, 0, 0, 1}), particles, 1));
}

TEST(CatalogOnDevice, MinusZeroIsZero) {
    const std::vector<float> zeros{-0.0F, 0.0F, 0.0F, -0.0F, -0.0F, -0.0F};
    const Particles particles{.positions = PointsView(zeros, 2), .velocities = PointsView(zeros, 2)};
    EXPECT_TRUE(is_the_cpus(groups_with({0, 0, 0}), particles, 1));
    EXPECT_TRUE(is_the_cpus(groups_with({0, 0, 0}, Box::periodic(1)), particles, 1));
}

/// Input with a mistake is refused with the CPU's words.
class CatalogRefusals : public testing::Test {
protected:
    Sample<double> made = sample<double>({50, 30}, 3, 1);
    FofResult groups = made.groups;
    Particles particles = made.everything();
    CatalogOptions options{.min_members = 1, .execution = cpu(1)};

    void expect_the_cpus_words() {
        std::string words;
        try {
            (void)catalog(groups, particles, options);
        } catch (const Error& error) {
            words = error.what();
        }
        ASSERT_FALSE(words.empty());
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {words},
                               [&] { (void)found_on_device(groups, particles, options.min_members); }));
        EXPECT_EQ(emulation::held_on_device(), 0);
    }
};

TEST_F(CatalogRefusals, OfParticles) {
    for (const double mass :
         {-1.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        made.masses[15] = mass;
        expect_the_cpus_words();
    }
    made.masses[15] = 1;
    made.types[4] = 7;
    expect_the_cpus_words();
    made.types[4] = 6;
    for (const double speed :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -HUGE_VAL}) {
        made.velocities[3 * 16 + 2] = speed;
        expect_the_cpus_words();
    }
    made.velocities[3 * 16 + 2] = 0;
    EXPECT_TRUE(is_the_cpus(groups, particles));
}

TEST_F(CatalogRefusals, OfLabelsAndSizes) {
    groups.label_array.vector<std::int32_t>()[6] = 2;
    expect_the_cpus_words();
    groups.label_array.vector<std::int32_t>()[6] = -2;
    expect_the_cpus_words();
    groups.label_array.vector<std::int32_t>()[6] = -1;
    expect_the_cpus_words();
    groups = made.groups;
    groups.sizes = GroupSizes(std::vector{51, 29});
    expect_the_cpus_words();
}

TEST_F(CatalogRefusals, OfShapes) {
    options.min_members = 0;
    expect_the_cpus_words();
    options.min_members = 1;
    particles.uniform_mass = -1;
    expect_the_cpus_words();
    particles.uniform_mass = 1;
    particles.masses = ScalarsView(std::span<const double>(made.masses.data(), 5));
    expect_the_cpus_words();
    particles = made.everything();
    particles.types = particles.types.subview(0, 2);
    expect_the_cpus_words();
    particles = made.everything();
    particles.velocities = PointsView(made.velocities.data(), 60, 3);
    expect_the_cpus_words();
    particles.velocities = PointsView(made.velocities.data(), 80, 2);
    expect_the_cpus_words();
}

TEST_F(CatalogRefusals, OfDimensionsThatAreNotBuilt) {
    const Sample<double> flat = sample<double>({5}, 1, 1);
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"1 dimension;"},
                           [&] { (void)found_on_device(flat.groups, flat.everything(), 1); }));
}

} // namespace
} // namespace kith::test
