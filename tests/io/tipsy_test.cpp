// Tipsy files of every layout, made here record by record, and the columns that are read from them.
#include "io/files.hpp"

using namespace kith;
using namespace kith::test;

namespace {

struct Variant {
    std::endian order = std::endian::big;
    bool padded = true;
    bool wide_positions = false;
    bool wide_velocities = false;
};

// Particle i has mass i + 1, position (i, i + 0.25, i + 0.5) and velocity minus twice that. Two gas, three dark, one
// star.
std::string tipsy(const Variant& variant) {
    Bytes bytes(variant.order);
    bytes.add(0.5).add(6).add(3).add(2).add(3).add(1);
    if (variant.padded) {
        bytes.add(0x7ffe);
    }
    const auto vector = [&](double first, double factor, bool wide) {
        for (const double shift : {0.0, 0.25, 0.5}) {
            const double value = factor * (first + shift);
            wide ? bytes.add(value) : bytes.add(static_cast<float>(value));
        }
    };
    const int others[] = {5, 5, 2, 2, 2, 4};
    for (int i = 0; i < 6; ++i) {
        bytes.add(static_cast<float>(i + 1));
        vector(i, 1, variant.wide_positions);
        vector(i, -2, variant.wide_velocities);
        for (int other = 0; other < others[i]; ++other) {
            bytes.add(-99.0F);
        }
    }
    return bytes.text();
}

io::Snapshot read(const Variant& variant, const io::ReadOptions& options) {
    const TemporaryFolder folder;
    write_bytes(folder / "snapshot", tipsy(variant));
    return io::read_snapshot(folder / "snapshot", options);
}

TEST(Tipsy, EveryVariantReadsTheSame) {
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        for (const bool padded : {true, false}) {
            for (const int width : {0, 1, 2}) {
                const io::Snapshot s = read({order, padded, width >= 1, width == 2}, all_types());
                SCOPED_TRACE(testing::Message() << s.header.format << " padded " << padded << " width " << width);
                EXPECT_EQ(s.header.counts, (std::array<std::int64_t, max_types>{2, 3, 0, 0, 1, 0, 0}));
                EXPECT_EQ(s.header.format,
                          order == std::endian::big ? "Tipsy (std, big-endian)" : "Tipsy (native, little-endian)");
                EXPECT_EQ(s.header.time, 0.5);
                EXPECT_EQ(s.header.dtype, width >= 1 ? DType::float64 : DType::float32);
                EXPECT_EQ(s.positions.dtype(), s.header.dtype);
                ASSERT_TRUE(s.velocities && s.masses);
                EXPECT_EQ(s.velocities->dtype(), width == 2 ? DType::float64 : DType::float32);
                EXPECT_EQ(s.masses->columns, 1);
                EXPECT_TRUE(s.header.warnings.empty());
                for (std::size_t i = 0; i < 6; ++i) {
                    const auto first = static_cast<double>(i);
                    EXPECT_EQ(at(*s.masses, i), first + 1);
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        const double x = first + 0.25 * static_cast<double>(axis);
                        EXPECT_EQ(at(s.positions, 3 * i + axis), x);
                        EXPECT_EQ(at(*s.velocities, 3 * i + axis), -2 * x);
                    }
                }
                EXPECT_EQ(s.types, (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 4}));
                EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
            }
        }
    }
}

TEST(Tipsy, SelectedTypesKeepTheirRowsInTheFile) {
    const io::Snapshot s = read({}, only_types({4, 1}));
    EXPECT_EQ(s.types, (std::vector<std::uint8_t>{1, 1, 1, 4}));
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{2, 3, 4, 5}));
    EXPECT_EQ(at(s.positions, 0), 2.0);
    EXPECT_EQ(at(s.positions, 9), 5.0);
    EXPECT_EQ(at(*s.masses, 3), 6.0);
}

TEST(Tipsy, TheAutomaticChoiceIsDarkMatterAndSaysSo) {
    const io::Snapshot s = read({}, {});
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_TRUE(warns(s.header, "only type 1 is read"));
    EXPECT_TRUE(warns(s.header, "type 0: 2, type 1: 3, type 4: 1"));
}

TEST(Tipsy, EmptyAndImpossibleSelections) {
    EXPECT_TRUE(warns(read({}, only_types({1, 3})).header, "no particles of type 3; the file holds type 0: 2"));
    expect_error(ErrorKind::invalid_argument, {"type 0: 2, type 1: 3, type 4: 1"}, [] {
        static_cast<void>(read({}, only_types({2, 3})));
    });
    expect_error(ErrorKind::invalid_argument, {"type 0: 2"}, [] { static_cast<void>(read({}, only_types({}))); });
    expect_error(ErrorKind::invalid_argument, {"type 7"}, [] { static_cast<void>(read({}, only_types({7}))); });
    expect_error(ErrorKind::invalid_argument, {"type -1"}, [] { static_cast<void>(read({}, only_types({-1}))); });
}

TEST(Tipsy, ColumnsThatAreNotWantedAreSkipped) {
    io::ReadOptions options = all_types();
    options.velocities = false;
    options.masses = false;
    const io::Snapshot s = read({}, options);
    EXPECT_FALSE(s.velocities || s.masses || s.uniform_mass);
    EXPECT_EQ(at(s.positions, 15), 5.0);
}

} // namespace
