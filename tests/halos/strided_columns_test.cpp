// Masses and types in any layout and of any type give the catalog of contiguous columns, bit for bit.
#include "halos/samples.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

template <class T, class Type>
struct Particle {
    T mass;
    std::int8_t kind;
    Type type;
};

template <class T, class Type>
std::vector<Particle<T, Type>> structs_of(const Sample<T>& made) {
    std::vector<Particle<T, Type>> structs;
    for (std::size_t i = 0; i < made.masses.size(); ++i) {
        structs.push_back({made.masses[i], 99, static_cast<Type>(made.types[i])});
    }
    return structs;
}

template <class T, class Type>
void expect_the_same_catalog() {
    const Sample<T> made = sample<T>({400, 60, 3}, 3, 5);
    const auto structs = structs_of<T, Type>(made);
    Particles particles = made.everything();
    const Catalog expected = catalog(made.groups, particles, {.min_members = 1});
    particles.masses = ScalarsView(structs, &Particle<T, Type>::mass);
    particles.types = IntegersView(structs, &Particle<T, Type>::type);
    EXPECT_TRUE(same_values(catalog(made.groups, particles, {.min_members = 1}), expected));
    run_ranks(1, [&](Communicator& ranks) {
        FofResult groups;
        groups.label_array.vector<std::int64_t>().assign(made.groups.labels().begin(), made.groups.labels().end());
        groups.groups = 3;
        groups.sizes = made.groups.sizes;
        groups.distribution.emplace();
        const Catalog found = catalog(groups, particles, {.min_members = 1, .execution = over(ranks)});
        EXPECT_TRUE(same_values(found, expected));
    });
}

TEST(StridedColumns, GiveTheSameCatalog) {
    expect_the_same_catalog<float, std::uint8_t>();
    expect_the_same_catalog<double, std::int8_t>();
    expect_the_same_catalog<float, std::int16_t>();
    expect_the_same_catalog<double, std::uint32_t>();
    expect_the_same_catalog<float, std::int64_t>();
    expect_the_same_catalog<double, std::uint64_t>();
}

TEST(StridedColumns, RefuseTypesThatAreNone) {
    const Sample<double> made = sample<double>({5, 3}, 3, 1);
    auto structs = structs_of<double, std::int32_t>(made);
    Particles particles = made.everything();
    particles.types = IntegersView(structs, &Particle<double, std::int32_t>::type);
    const auto refused = [&](const std::vector<std::string>& parts) {
        return is_refused(ErrorKind::invalid_argument, parts, [&] { (void)catalog(made.groups, particles, {}); });
    };
    structs[6].type = 256; // 0 as a byte
    EXPECT_TRUE(refused({"types: row 6 has type 256", "0 to 6"}));
    structs[2].type = -1;
    EXPECT_TRUE(refused({"types: row 2 has type -1"}));
    const std::vector<std::uint64_t> wide{0, ~std::uint64_t{0}, 0, 0, 0, 0, 0, 0};
    particles.types = wide;
    EXPECT_TRUE(refused({"types: row 1 has type 18446744073709551615"}));
    particles = made.everything();
    particles.masses = ScalarsView(made.masses.data(), 8, 12);
    EXPECT_TRUE(refused({"masses: stride 12", "element's size, 8 bytes"}));
    particles.masses = ScalarsView(static_cast<const double*>(nullptr), 8);
    EXPECT_TRUE(refused({"masses", "null"}));
}

TEST(StridedColumns, IntegersKeepTheirValues) {
    const std::vector<std::int8_t> small{-128, 127};
    const std::vector<std::uint16_t> medium{65535, 0};
    const std::vector<std::uint64_t> large{std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 62};
    EXPECT_EQ(IntegersView(small)[0], -128);
    EXPECT_EQ(IntegersView(small).subview(1, 1)[0], 127);
    EXPECT_EQ(IntegersView(medium)[0], 65535);
    EXPECT_EQ(IntegersView(large)[0], -1);
    EXPECT_EQ(IntegersView(large)[1], std::int64_t{1} << 62);
    EXPECT_TRUE(IntegersView(large).as_span<std::int64_t>().empty());
    EXPECT_EQ(IntegersView(large).as_span<std::uint64_t>().size(), 2U);
    EXPECT_EQ(IntegersView(small.data() + 1, 2, -1)[1], -128);
}

class StridedMasses : public NeedsDimension<6> {};

TEST_F(StridedMasses, GiveTheSameDispersion) {
    const std::vector<double> points = uniform_points<double>(300, 3, 0, 1, 3);
    const std::vector<double> velocities = uniform_points<double>(300, 3, -1, 1, 4);
    const std::vector<double> masses = uniform_points<double>(300, 1, 1, 2, 5);
    std::vector<double> spread(900, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < masses.size(); ++i) {
        spread[3 * i] = masses[i];
    }
    const auto psi_with = [&](const ScalarsView& given) {
        FofOptions options;
        options.phase_space = PhaseSpace{PointsView(velocities, 3), VelocityLength::sigmas(0.5), given};
        return fof(PointsView(points, 3), LinkingLength::absolute(0.1), options).velocity_length;
    };
    EXPECT_EQ(psi_with(ScalarsView(spread.data(), 300, 24)), psi_with(masses));
}

} // namespace
} // namespace kith::test
