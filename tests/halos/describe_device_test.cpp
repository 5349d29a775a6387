// Halos described on a GPU, which the CPU emulates: every column is the CPU's own, to the last bit, on mocks and nasty
// sets, however little is worked on at a time.
#include "cuda/intrinsics.hpp" // first: it gives the kernels' text its words

#include "halos/describe_device.hpp"
#include "halos/halo_samples.hpp"
#include "tree/build_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DescribeLimits;
using detail::DeviceBuffer;
using detail::DeviceContext;

template <class T>
DeviceBuffer<T> on_device(DeviceContext& context, const std::vector<T>& elements) {
    DeviceBuffer<T> buffer = context.buffer<T>(std::ssize(elements));
    context.copy(buffer.data(), elements.data(), std::ssize(elements) * static_cast<std::int64_t>(sizeof(T)));
    return buffer;
}

/// What the kernels make of the bound members that the CPU found.
template <class T>
Halos found_on_device(const HaloSample<T>& sample, bool has_masses, const DescribeLimits& limits) {
    DeviceContext context(cuda());
    const auto positions = on_device(context, sample.positions);
    const auto masses = on_device(context, sample.masses);
    const auto types = on_device(context, sample.types);
    const auto rows = on_device(context, sample.bound.rows);
    const PointsView view(positions.data(), std::ssize(sample.masses), 3, context.device());
    const auto tree = detail::build_device_tree<T, 3>(context, view, sample.box(), sample.shape);
    std::optional<ScalarsView> given;
    if (has_masses) {
        given.emplace(masses.data(), masses.size());
    }
    Halos found;
    found.options = sample.options;
    context.stage("spheres", [&] {
        detail::describe_halos_on_device<T>(context, {&tree, view, given, 1, types.data()}, rows.data(), sample.offset,
                                            sample.bound, found, limits);
    });
    found.stages = context.take_stages();
    return found;
}

/// Returns the CPU's halos.
template <class T>
Halos check(HaloSample<T>& sample, const DescribeLimits& limits = {}) {
    const Halos expected = sample.halos();
    const Halos found = found_on_device(sample, true, limits);
    EXPECT_EQ(found.halos, expected.halos);
    expect_same(found, expected);
    return expected;
}

template <class T>
void check_all_options(HaloSample<T> sample, const DescribeLimits& limits = {}) {
    for (const bool outermost : {false, true}) {
        for (const bool bound_only : {false, true}) {
            SCOPED_TRACE(testing::Message() << "outermost " << outermost << ", bound only " << bound_only);
            sample.options.outermost = outermost;
            sample.options.bound_only = bound_only;
            check(sample, limits);
        }
    }
}

using HalosOnDevice = NeedsDimension<3>;

TEST_F(HalosOnDevice, AreThoseOfTheCpu) {
    auto single = mock<float>(6000, sizes_of_mock, 21);
    for (std::size_t i = 0; i < single.masses.size(); ++i) {
        single.types.push_back(static_cast<std::uint8_t>(i % 7));
    }
    check_all_options(single);
    check_all_options(mock<double>(4000, sizes_of_mock, 22));
}

TEST_F(HalosOnDevice, DoNotDependOnHowMuchIsWorkedOnAtATime) {
    auto sample = mock<float>(3000, {300, 40, 150, 30, 25, 20, 12}, 23);
    for (const DescribeLimits limits : {DescribeLimits{.halos = 1}, DescribeLimits{.members = 100},
                                        DescribeLimits{.halos = 3, .members = 400, .particles = 500},
                                        DescribeLimits{.particles = 40}, DescribeLimits{.particles = 1}}) {
        for (const bool outermost : {false, true}) {
            sample.options.outermost = outermost;
            check(sample, limits);
        }
    }
}

} // namespace
} // namespace kith::test
