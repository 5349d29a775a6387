// Gadget-2 binary files of every kind that is written, one file and several.
#include "io/gadget_files.hpp"

#include <limits>

using namespace kith;
using namespace kith::test;
using Counts = std::array<std::int64_t, max_types>;

namespace {

void check_particle(const io::Snapshot& s, std::size_t row, int number) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(at(s.positions, 3 * row + axis), number + 0.25 * static_cast<double>(axis)) << row;
        if (s.velocities) {
            EXPECT_EQ(at(*s.velocities, 3 * row + axis), -number - 0.25 * static_cast<double>(axis)) << row;
        }
    }
    if (!s.ids.empty()) {
        EXPECT_EQ(s.ids[row], 1000U + static_cast<unsigned>(number));
    }
}

class Gadget : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path path() const { return folder_ / "snapshot"; }
    [[nodiscard]] io::Snapshot read(const GadgetMaker& maker, const io::ReadOptions& options = all_types()) const {
        write_bytes(path(), maker.text());
        return io::read_snapshot(path(), options);
    }
    TemporaryFolder folder_;
};

TEST_F(Gadget, EveryFormatOrderAndPrecision) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        for (int kind = 0; kind < 8; ++kind) {
            GadgetMaker maker;
            maker.order = order;
            maker.format = 1 + kind % 2;
            maker.wide = (kind & 2) != 0;
            maker.wide_ids = (kind & 4) != 0;
            maker.counts = {2, 3, 0, 0, 1, 0};
            maker.masses = {0, 0.25, 0, 0, 0, 0};
            const io::Snapshot s = read(maker);
            EXPECT_EQ(s.header.format, std::string("Gadget-2 binary (format ") + (maker.format == 1 ? "1" : "2") +
                                           ", " + (order == std::endian::big ? "big-endian)" : "little-endian)"));
            EXPECT_EQ(s.header.counts, (Counts{2, 3, 0, 0, 1, 0, 0}));
            EXPECT_EQ(s.header.dtype, maker.wide ? DType::float64 : DType::float32);
            EXPECT_EQ(s.positions.dtype(), s.header.dtype);
            EXPECT_EQ(s.header.time, 0.5);
            EXPECT_EQ(s.header.redshift, 1);
            EXPECT_EQ(s.header.box_size, (std::array<double, 3>{10, 10, 10}));
            EXPECT_EQ(s.header.parameters,
                      (std::map<std::string, double>{{"Omega0", 0.25}, {"OmegaLambda", 0.75}, {"HubbleParam", 0.7}}));
            EXPECT_TRUE(s.header.warnings.empty()) << s.header.warnings.front();
            ASSERT_TRUE(s.velocities && s.masses);
            for (int number = 0; number < 6; ++number) {
                const auto row = static_cast<std::size_t>(number);
                check_particle(s, row, number);
                EXPECT_EQ(at(*s.masses, row), row >= 2 && row < 5 ? 0.25 : 1.0 + number);
            }
            EXPECT_EQ(s.types, (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 4}));

            const io::Snapshot star = read(maker, only_types({4}));
            ASSERT_EQ(star.positions.rows(), 1);
            check_particle(star, 0, 5);
            EXPECT_EQ(at(*star.masses, 0), 6);
            EXPECT_EQ(star.file_rows, (std::vector<std::int64_t>{5}));
            const io::Snapshot dark = read(maker, {});
            EXPECT_EQ(dark.uniform_mass, 0.25);
            EXPECT_TRUE(warns(dark.header, "only type 1 is read"));
        }
    }
}

TEST_F(Gadget, MissingBlocksAreMissingColumns) {
    for (const int format : {1, 2}) {
        GadgetMaker maker;
        maker.format = format;
        maker.counts = {2, 1, 0, 0, 0, 0};
        maker.masses = {0, 0.5, 0, 0, 0, 0};
        maker.velocities = false;
        const io::Snapshot still = read(maker);
        EXPECT_FALSE(still.velocities);
        EXPECT_EQ(still.ids, (std::vector<std::uint64_t>{1000, 1001, 1002}));
        EXPECT_EQ(at(*still.masses, 1), 2);
        EXPECT_TRUE(warns(still.header, "type 0 has no velocities"));
        maker.ids = false;
        const io::Snapshot nameless = read(maker);
        EXPECT_TRUE(nameless.ids.empty());
        EXPECT_TRUE(warns(nameless.header, "no ids"));
        EXPECT_EQ(at(*nameless.masses, 1), 2);
    }
}

// All particles have masses of their own, so ids and masses take as many bytes: one block must be the masses.
TEST_F(Gadget, IdsAndMassesOfOneLength) {
    GadgetMaker maker;
    maker.counts = {2, 0, 0, 0, 0, 0};
    const io::Snapshot both = read(maker);
    EXPECT_EQ(both.ids.size(), 2U);
    EXPECT_EQ(at(*both.masses, 1), 2);
    maker.ids = false;
    const io::Snapshot masses = read(maker);
    EXPECT_TRUE(masses.ids.empty());
    EXPECT_EQ(at(*masses.masses, 1), 2);
}

// GIZMO writes child and generation ids between ids and masses; where all particles have masses of their own, all four
// blocks may be of one length.
TEST_F(Gadget, ChildAndGenerationIdsAreNoMasses) {
    constexpr std::string_view told = "two blocks of whole numbers follow the ids";
    for (int kind = 0; kind < 16; ++kind) {
        GadgetMaker maker;
        maker.order = (kind & 1) != 0 ? std::endian::big : std::endian::little;
        maker.wide = (kind & 2) != 0;
        maker.wide_ids = (kind & 4) != 0;
        maker.counts = {2, 1, 0, 0, 1, 0};
        maker.masses[1] = (kind & 8) != 0 ? 0.25 : 0;
        const auto ids = [&](std::vector<std::uint32_t> values) {
            Bytes bytes(maker.order);
            for (const std::uint32_t value : values) {
                maker.wide_ids ? bytes.add(std::uint64_t{value}) : bytes.add(value);
            }
            return maker.unnamed(bytes.text());
        };
        const std::string plain = maker.text();
        const std::size_t masses = plain.size() - (8 + (maker.masses[1] == 0 ? 4U : 3U) * (maker.wide ? 8U : 4U));
        for (const std::vector<std::uint32_t>& child : {std::vector<std::uint32_t>{0, 0, 0, 0}, {0, 1, 4097, 2}}) {
            write_bytes(path(), plain.substr(0, masses) + ids(child) + ids({0, 1, 3, 0}) + plain.substr(masses) +
                                    maker.unnamed(maker.reals({7, 8})));
            const io::Snapshot s = io::read_snapshot(path(), all_types());
            ASSERT_TRUE(s.masses) << kind;
            for (const std::size_t row : {0U, 1U, 3U}) {
                EXPECT_EQ(at(*s.masses, row), 1.0 + static_cast<double>(row)) << kind;
            }
            check_particle(s, 3, 3);
            EXPECT_TRUE(warns(s.header, told));
        }
        write_bytes(path(),
                    plain + maker.unnamed(maker.reals({5, 6, 7, 8})) + maker.unnamed(maker.reals({5, 6, 7, 8})));
        const io::Snapshot s = io::read_snapshot(path(), all_types());
        EXPECT_EQ(at(*s.masses, 3), 4);
        EXPECT_FALSE(warns(s.header, told));
    }
}

TEST_F(Gadget, WholeNumbersAreNotTakenForMasses) {
    GadgetMaker maker;
    maker.counts = {2, 0, 0, 0, 0, 0};
    const std::string plain = maker.text();
    const std::string whole = maker.unnamed(Bytes(maker.order).add(5U).add(6U).text());
    write_bytes(path(), plain.substr(0, plain.size() - 16) + whole);
    const io::Snapshot s = io::read_snapshot(path(), all_types());
    EXPECT_FALSE(s.masses);
    EXPECT_TRUE(warns(s.header, "holds whole numbers; masses are left out"));
    write_bytes(path(), plain.substr(0, plain.size() - 16) + maker.unnamed(maker.reals({0, 0}))); // massless tracers
    EXPECT_EQ(at(io::read_snapshot(path(), all_types()).masses.value(), 1), 0);
}

TEST_F(Gadget, LabelsMayBePaddedWithNulOrSmall) {
    GadgetMaker maker;
    maker.format = 2;
    maker.counts = {2, 1, 0, 0, 0, 0};
    for (const auto& [from, to] : {std::pair(std::string("POS "), std::string("POS\0", 4)),
                                   {"VEL ", "vel "},
                                   {"ID  ", std::string("id\0\0", 4)},
                                   {"MASS", "Mass"},
                                   {"HEAD", "head"}}) {
        std::string text = maker.text();
        text.replace(text.find(from), 4, to);
        write_bytes(path(), text);
        const io::Snapshot s = io::read_snapshot(path(), all_types());
        ASSERT_TRUE(s.velocities && s.masses && !s.ids.empty()) << from;
        check_particle(s, 2, 2);
        EXPECT_EQ(at(*s.masses, 2), 3);
    }
}

TEST_F(Gadget, ARedshiftWithoutAFrameIsToldOf) {
    GadgetMaker maker;
    maker.counts[1] = 1;
    maker.masses[1] = 1;
    EXPECT_FALSE(warns(read(maker).header, "taken as stored"));
    std::string text = maker.text();
    const std::string none(8, '\0');
    text.replace(4 + 136, 8, none);
    write_bytes(path(), text);
    EXPECT_FALSE(io::read_header(path()).frame);
    EXPECT_TRUE(warns(io::read_header(path()), "the redshift is 1, but there is no cosmology: Omega0 and HubbleParam"));
    text = maker.text();
    text.replace(4 + 72, 8, Bytes(maker.order).add(8.6).text());
    write_bytes(path(), text);
    EXPECT_TRUE(warns(io::read_header(path()), "the time, 8.6, is not the scale factor"));
}

TEST_F(Gadget, OtherBlocksAreSteppedOver) {
    GadgetMaker maker;
    maker.counts = {0, 4, 0, 0, 0, 0};
    maker.masses[1] = 1;
    for (const int format : {1, 2}) {
        maker.format = format;
        write_bytes(path(), maker.text() + maker.block("POT ", "12345678abcdefgh") + maker.block("none", ""));
        const io::Snapshot s = io::read_snapshot(path());
        check_particle(s, 3, 3);
        EXPECT_TRUE(s.header.warnings.empty());
    }
}

TEST_F(Gadget, BoxesWithoutMeaningAreKeptApart) {
    GadgetMaker maker;
    maker.counts[1] = 1;
    maker.masses[1] = 1;
    for (const double box : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
        maker.box = box;
        const io::Snapshot s = read(maker);
        EXPECT_FALSE(s.header.box_size);
        EXPECT_NE(s.header.invalid_box.find("BoxSize"), std::string::npos);
    }
    maker.box = 0.1;
    maker.first = 5;
    EXPECT_TRUE(warns(read(maker).header, "different units"));
}

TEST_F(Gadget, NoParticlesAtAll) {
    expect_error(ErrorKind::invalid_argument, {"no particles of any type"}, [&] { static_cast<void>(read({})); });
    EXPECT_EQ(io::read_header(path()).counts, Counts{});
}

class GadgetSet : public Gadget {
protected:
    GadgetSet() {
        for (std::size_t file = 0; file < 3; ++file) {
            GadgetMaker& member = members_[file];
            member.format = 2;
            member.masses = {0, 0.25, 0, 0, 0, 0};
            member.totals = {3, 2, 0, 0, 0, 0};
            member.files = 3;
            member.box = 100;
            member.first = static_cast<int>(10 * file);
        }
        members_[0].counts = {1, 1, 0, 0, 0, 0};
        members_[1].counts = {2, 0, 0, 0, 0, 0};
        members_[2].counts = {0, 1, 0, 0, 0, 0};
        write();
    }
    void write() const {
        for (std::size_t file = 0; file < 3; ++file) {
            write_bytes(folder_ / ("snap." + std::to_string(file)), members_[file].text());
        }
    }
    void refused(std::initializer_list<std::string_view> words) const {
        write();
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(folder_ / "snap")); });
    }
    std::array<GadgetMaker, 3> members_;
};

TEST_F(GadgetSet, IsOneSnapshot) {
    for (const char* name : {"snap", "snap.0", "snap.1", "snap.2"}) {
        const io::Snapshot s = io::read_snapshot(folder_ / name, all_types());
        EXPECT_EQ(s.header.format, "Gadget-2 binary (format 2, little-endian), 3 files");
        EXPECT_EQ(s.header.counts, (Counts{3, 2, 0, 0, 0, 0, 0}));
        EXPECT_TRUE(s.header.warnings.empty());
        const std::array<int, 5> numbers = {0, 10, 11, 1, 20};
        for (std::size_t row = 0; row < numbers.size(); ++row) {
            check_particle(s, row, numbers[row]);
            EXPECT_EQ(at(*s.masses, row), row < 3 ? 1.0 + numbers[row] : 0.25);
        }
        EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    }
}

TEST_F(GadgetSet, WhatDoesNotBelongTogetherIsRefused) {
    members_[1].order = std::endian::big;
    refused({"snap.1", "the format is Gadget-2 binary (format 2, big-endian)", "little-endian) in snap.0"});
    members_[1].order = std::endian::little;
    members_[2].time = 0.25;
    refused({"snap.2", "time is 0.25, but 0.5"});
    members_[2].time = 0.5;
    members_[2].masses[1] = 3;
    refused({"snap.2", "mass of type 1 is 3, but 0.25"});
    members_[2].masses[1] = 0.25;
    members_[1].files = 4;
    refused({"snap.1", "number of files is 4, but 3"});
    members_[1].files = 3;
    members_[0].files = 4;
    refused({"snap.0", "one of 4 files", "snap.3 is missing"});
    members_[0].files = std::numeric_limits<std::int32_t>::max();
    refused({"one of 2147483647 files", "snap.3 is missing"});
}

TEST_F(GadgetSet, AFileThatHoldsAllThatIsAnnouncedIsTheWhole) {
    members_[0].counts = {3, 2, 0, 0, 0, 0};
    write_bytes(folder_ / "merged", members_[0].text());
    const io::Snapshot s = io::read_snapshot(folder_ / "merged", all_types());
    EXPECT_EQ(s.positions.rows(), 5);
    EXPECT_TRUE(warns(s.header, "one of 3 files, but it holds all particles"));
    members_[0].totals = {};
    write_bytes(folder_ / "merged", members_[0].text());
    expect_error(ErrorKind::file, {"one of 3 files"},
                 [&] { static_cast<void>(io::read_snapshot(folder_ / "merged")); });
}

// Precisions may differ, as they do where a program was rebuilt between two outputs.
TEST_F(GadgetSet, TheWidestPrecisionWins) {
    members_[1].wide = true;
    write();
    const io::Snapshot s = io::read_snapshot(folder_ / "snap", all_types());
    EXPECT_EQ(s.positions.dtype(), DType::float64);
    check_particle(s, 1, 10);
    check_particle(s, 4, 20);
    EXPECT_TRUE(warns(s.header, "float32 and of others float64"));
}

} // namespace
