// Bound halos over ranks against those of one process, which other suites hold against plain loops: bit for bit, for
// groups on one rank, over several and over all, ranks without particles or halos, and many ties.
#include "distributed/distributions.hpp"
#include "distributed/grouped_parts.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/distributed.hpp>
#include <kith/halos.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using test::part_of;

/// Clouds, some of them over edges of the box, and single particles. Slow members, and some fast ones that leave.
template <class T>
Sample<T> clouds(std::uint64_t seed) {
    std::vector<std::int32_t> sizes{700, 300, 300, 60};
    sizes.insert(sizes.end(), 12, 25);
    sizes.insert(sizes.end(), 900, 1);
    Sample<T> made = sample<T>(sizes, 3, seed);
    Random random(seed + 1);
    for (std::int64_t row = 0; row < made.count(); ++row) {
        const double speed = random.uniform() < 0.05 ? 10 : 0.7;
        for (std::int64_t i = 3 * row; i < 3 * row + 3; ++i) {
            made.velocities[i] = static_cast<T>(speed * random.normal());
        }
        made.masses[row] = static_cast<T>(random.uniform(1, 2));
    }
    return made;
}

HaloOptions usual_options() {
    HaloOptions options;
    options.universe = {.gravity = 0.03, .scale_factor = 0.8, .hubble = 1, .omega_matter = 0.3};
    options.execution = cpu(1);
    return options;
}

/// Appends the part of the next rank to halos that start empty, as those of one process.
void append(const Halos& part, Halos& all) {
    EXPECT_EQ(part.distribution->first, all.halos);
    EXPECT_EQ(part.first_group, all.groups);
    EXPECT_EQ(part.first_member, all.member_array.size());
    EXPECT_EQ(std::ssize(part.group), part.halos);
    EXPECT_EQ(std::ssize(part.group_offset), part.groups + 1);
    const auto add = [](auto& column, const auto& added, std::int64_t offset) {
        for (const std::int64_t value : added) {
            column.push_back(static_cast<std::int32_t>(value < 0 ? value : value + offset));
        }
    };
    add(all.member_array.vector<std::int32_t>(), part.members64(), 0);
    add(all.first_of_group, part.first_of_group, all.halos);
    add(all.offset, part.offset, part.first_member);
    all.group_offset.resize(static_cast<std::size_t>(all.groups));
    add(all.group_offset, part.group_offset, part.first_member);
    all.energies.insert(all.energies.end(), part.energies.begin(), part.energies.end());
    for_each_field(all, [&]<class Value>(const HaloColumn& column, std::vector<Value>& values) {
        const auto& added = part.*std::get<std::vector<Value> Halos::*>(column.values);
        values.insert(values.end(), added.begin(), added.end());
    });
    all.groups += part.groups;
    all.halos += part.halos;
}

template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

testing::AssertionResult same_halos(const Halos& a, const Halos& b) {
    std::string differences = a.groups == b.groups && a.halos == b.halos ? "" : " numbers of groups and halos";
    const auto compare = [&](const char* name, const std::string& of_a, const std::string& of_b) {
        differences += of_a == of_b ? "" : std::string(" ") + name;
    };
    differences += a.member_array == b.member_array ? "" : " members";
    compare("energies", bytes_of(a.energies), bytes_of(b.energies));
    compare("group_offset", bytes_of(a.group_offset), bytes_of(b.group_offset));
    compare("first_of_group", bytes_of(a.first_of_group), bytes_of(b.first_of_group));
    compare("offset", bytes_of(a.offset), bytes_of(b.offset));
    for_each_field(a, [&]<class Value>(const HaloColumn& column, const std::vector<Value>& values) {
        compare(column.field.data(), bytes_of(values),
                bytes_of(b.*std::get<std::vector<Value> Halos::*>(column.values)));
    });
    return differences.empty() ? testing::AssertionSuccess()
                               : testing::AssertionFailure() << "these differ:" << differences;
}

testing::AssertionResult same_as_serial(const FofResult& groups, const Particles& particles, const HaloOptions& options,
                                        const RankFirsts& firsts, std::int64_t* bytes = nullptr,
                                        bool rebalance = false) {
    const Halos serial = halos(groups, particles, options);
    const int size = static_cast<int>(firsts.size()) - 1;
    std::vector<Halos> parts(static_cast<std::size_t>(size));
    run_ranks(size, [&](Communicator& ranks) {
        const Particles mine = part_of(particles, firsts, ranks.rank());
        const std::vector<float> weights = weights_for(mine.positions.count());
        Halos& part = parts[static_cast<std::size_t>(ranks.rank())];
        part = halos(part_of(groups, firsts, ranks.rank()), mine,
                     over_ranks(ranks, options, {.rebalance = rebalance, .weights = weights}));
        EXPECT_EQ(std::ssize(part.distribution->work), rebalance && size > 1 ? mine.positions.count() : 0);
    });
    Halos all;
    for (const Halos& part : parts) {
        append(part, all);
        EXPECT_EQ(part.distribution->total, serial.halos);
        EXPECT_EQ(part.options.softening->length, serial.options.softening->length);
        EXPECT_EQ(part.options.least_radius, serial.options.least_radius);
        if (bytes != nullptr) {
            *bytes += part.distribution->traffic.bytes_sent;
        }
    }
    return same_halos(all, serial) << " over " << size << " ranks";
}

constexpr int some_ranks[] = {1, 2, 3, 7};

template <class T>
class HalosOverRanks : public NeedsDimension<3> {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HalosOverRanks, Types);

TYPED_TEST(HalosOverRanks, HasTheBitsOfOneProcess) {
    const Sample<TypeParam> shuffled = clouds<TypeParam>(401);
    const Sample<TypeParam> in_order = in_order_of_groups(shuffled);
    for (const Sample<TypeParam>* points : {&shuffled, &in_order}) {
        for (const Box& box : {Box{}, Box::periodic(sample_period)}) {
            const FofResult groups = in_box(points->groups, box);
            const Halos serial = halos(groups, points->everything(), usual_options());
            EXPECT_GT(serial.halos, 5);
            EXPECT_LT(*std::ranges::min_element(serial.count), 25); // some members are not bound
            EXPECT_GT(std::ranges::count_if(serial.sphere_mass, [](double mass) { return mass > 0; }), 20);
            for (const int ranks : some_ranks) {
                const std::int64_t count = points->count();
                for (const RankFirsts& firsts :
                     {evenly(count, ranks), unevenly(count, ranks), all_on(ranks / 2, count, ranks)}) {
                    EXPECT_TRUE(same_as_serial(groups, points->everything(), usual_options(), firsts));
                }
                EXPECT_TRUE(same_as_serial(groups, points->everything(), usual_options(),
                                           all_on(ranks / 2, count, ranks), nullptr, true));
            }
        }
    }
}

class HalosOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(HalosOverRanksIn3D, WithOtherOptions) {
    const Sample<float> points = in_order_of_groups(clouds<float>(403));
    const FofResult groups = in_box(points.groups, Box::periodic(sample_period));
    const auto expect_same = [&](const HaloOptions& options, const Particles& particles) {
        for (const int ranks : {2, 5}) {
            EXPECT_TRUE(same_as_serial(groups, particles, options, evenly(points.count(), ranks)));
        }
        EXPECT_TRUE(same_as_serial(groups, particles, options, unevenly(points.count(), 3), nullptr, true));
    };
    HaloOptions options = usual_options();
    options.outermost = true;
    expect_same(options, points.everything());
    options.bound_only = true;
    expect_same(options, points.everything());
    options.outermost = false;
    options.min_members = 61;
    options.softening = Softening{SofteningKernel::plummer, 0.02};
    expect_same(options, points.everything());
    options = usual_options();
    Particles with_gas = points.everything();
    with_gas.internal_energies = with_gas.masses;
    expect_same(options, with_gas);
    options.unbind = false;
    options.least_radius = 0.1;
    expect_same(options, points.positions_only());
    options.universe.hubble = 0; // no sphere, and velocities up to the farthest bound member
    expect_same(options, points.everything());
    options.overdensities.clear();
    expect_same(options, points.everything());
}

/// Equal distances, potentials and energies, so that indices decide.
TEST_F(HalosOverRanksIn3D, TiesAreThoseOfGlobalIndices) {
    std::vector<float> positions;
    std::vector<double> masses;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 1000; ++i) {
        positions.insert(positions.end(), {static_cast<float>(i * 7 % 10), static_cast<float>(i / 10 % 10),
                                           static_cast<float>(i / 100)});
        masses.push_back(1 + 1e-3 * (i * i % 17));
        labels.push_back(i % 3 == 0 ? -1 : 0);
    }
    const Particles particles{PointsView(positions, 3), PointsView(positions, 3), ScalarsView(masses)};
    HaloOptions options = usual_options();
    options.universe.gravity = 10;
    options.softening = Softening{SofteningKernel::spline, 0.3};
    const FofResult groups = groups_with(labels, Box::periodic(10));
    EXPECT_EQ(halos(groups, particles, options).halos, 1);
    for (const int ranks : some_ranks) {
        EXPECT_TRUE(same_as_serial(groups, particles, options, evenly(1000, ranks), nullptr, ranks == 7));
        options.unbind = !options.unbind;
    }
}

TEST_F(HalosOverRanksIn3D, NothingToFind) {
    const Sample<float> points = clouds<float>(405);
    HaloOptions options = usual_options();
    options.min_members = 1000;
    EXPECT_TRUE(same_as_serial(points.groups, points.everything(), options, evenly(points.count(), 3)));
    options.min_members = 20;
    options.universe.gravity = 1e-9;
    EXPECT_EQ(halos(points.groups, points.everything(), options).halos, 0);
    EXPECT_TRUE(same_as_serial(points.groups, points.everything(), options, evenly(points.count(), 3)));
    FofResult none = points.groups;
    none.label_array = {};
    none.sizes = {};
    none.groups = 0;
    const PointsView no_points{std::span<const float>(), 3};
    EXPECT_TRUE(same_as_serial(none, {no_points, no_points}, options, evenly(0, 3)));
    EXPECT_TRUE(same_as_serial(none, {no_points, no_points}, options, evenly(0, 3), nullptr, true));
}

/// Of groups that are whole on their ranks, nothing travels but halos and what other ranks have about their centers.
TEST_F(HalosOverRanksIn3D, MembersOfLocalGroupsDoNotTravel) {
    Random random(406);
    std::vector<float> positions;
    std::vector<std::int32_t> labels;
    for (std::int32_t row = 0; row < 8000; ++row) { // 16 balls along a line
        labels.push_back(row / 500);
        positions.insert(positions.end(), {static_cast<float>(10 * labels.back() + random.uniform()),
                                           static_cast<float>(random.uniform()), static_cast<float>(random.uniform())});
    }
    HaloOptions options = usual_options();
    options.unbind = false;
    options.universe.hubble = 3;
    std::int64_t bytes = 0;
    EXPECT_TRUE(same_as_serial(groups_with(labels), {PointsView(positions, 3)}, options, evenly(8000, 4), &bytes));
    EXPECT_LT(bytes, 100000);
}

TEST_F(HalosOverRanksIn3D, IdsStandForIndices) {
    const Sample<float> points = clouds<float>(407); // by ascending id
    const Halos serial = halos(points.groups, points.everything(), usual_options());
    const std::int64_t count = points.count();
    std::vector<std::int32_t> place; // row i is passed as row place[i], of another rank
    for (std::int64_t i = 0; i < count; ++i) {
        place.push_back(static_cast<std::int32_t>((i * 577) % count));
    }
    ASSERT_EQ(std::gcd(count, 577), 1);
    const Sample<float> passed = permuted(points, place);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        ids[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])] = 10 * i + 3;
    }
    const RankFirsts firsts = evenly(count, 3);
    for (const bool rebalance : {false, true}) {
        std::vector<Halos> parts(3);
        run_ranks(3, [&](Communicator& ranks) {
            const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
            Particles mine = part_of(passed.everything(), firsts, ranks.rank());
            std::vector<double> wide; // the type of masses may differ from rank to rank
            if (ranks.rank() == 1 && mine.masses->dtype() == DType::float32) {
                for (std::int64_t i = 0; i < mine.masses->count(); ++i) {
                    wide.push_back((*mine.masses)[i]);
                }
                mine.masses = ScalarsView(wide);
            }
            const RankOptions rank_options{
                .ids = std::span(ids).subspan(first, static_cast<std::size_t>(mine.positions.count())),
                .rebalance = rebalance};
            parts[static_cast<std::size_t>(ranks.rank())] = halos(part_of(passed.groups, firsts, ranks.rank()), mine,
                                                                  over_ranks(ranks, usual_options(), rank_options));
        });
        Halos all;
        for (Halos& part : parts) {
            for (std::vector<std::int64_t>* const numbers :
                 {&part.member_array.vector<std::int64_t>(), &part.center_row}) {
                for (std::int64_t& id : *numbers) {
                    EXPECT_EQ(id % 10, 3);
                    id /= 10;
                }
            }
            append(part, all);
        }
        EXPECT_TRUE(same_halos(all, serial)) << (rebalance ? "rebalanced" : "as they are");
    }
}

TEST_F(HalosOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    const Sample<float> points = clouds<float>(408);
    const RankFirsts firsts = evenly(points.count(), 3);
    run_ranks(3, [&](Communicator& ranks) {
        const bool is_one = ranks.rank() == 1;
        const FofResult groups = part_of(points.groups, firsts, ranks.rank());
        const auto refuses = [&](const std::vector<std::string>& words, const auto& change) {
            FofResult changed_groups = groups;
            Particles particles = part_of(points.everything(), firsts, ranks.rank());
            HaloOptions options = usual_options();
            change(changed_groups, particles, options);
            const HaloOptions together = options.execution.team != nullptr ? options : over_ranks(ranks, options);
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words,
                                   [&] { (void)halos(changed_groups, particles, together); }));
        };
        refuses({"rank 1", "velocities are missing"},
                [&](auto&, Particles& all, auto&) { all.velocities = is_one ? std::nullopt : all.velocities; });
        refuses({"universe.hubble: 2 on rank 1, 1 on rank 0"},
                [&](auto&, auto&, HaloOptions& options) { options.universe.hubble = is_one ? 2 : 1; });
        refuses({"overdensities: those on rank 1 are not those on rank 0"},
                [&](auto&, auto&, HaloOptions& options) { options.overdensities.resize(is_one ? 2 : 3); });
        refuses({"unbind: false on rank 1"}, [&](auto&, auto&, HaloOptions& options) { options.unbind = !is_one; });
        refuses({"found by one process", "described over 3"},
                [&](FofResult& all, auto&, auto&) { all.distribution.reset(); });
        for (const bool rebalance : {false, true}) { // named by its row where it was passed
            refuses({"rank 1", "row 3 has label 9999"}, [&](FofResult& all, auto&, HaloOptions& options) {
                all.label_array.vector<std::int64_t>()[3] = is_one ? 9999 : all.label_array[3];
                options = over_ranks(ranks, options, {.rebalance = rebalance});
            });
        }
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"rank 1 called catalog, rank 0 halos"}, [&] {
            const Particles particles = part_of(points.everything(), firsts, ranks.rank());
            if (is_one) {
                (void)catalog(groups, particles, over_ranks(ranks, CatalogOptions{}));
            } else {
                (void)halos(groups, particles, over_ranks(ranks, usual_options()));
            }
        }));
    });
}

} // namespace
} // namespace kith::test
