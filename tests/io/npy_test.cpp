// .npy: every header version, byte order, memory order and number type that is read; and what is refused, with reasons.
#include "io/files.hpp"

#include <cmath>
#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

// A file as numpy would write it, with the header spelled out.
std::string npy(int version, std::string dictionary, std::string_view data) {
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    dictionary.append((64 - (8 + length_bytes + dictionary.size() + 1) % 64) % 64, ' ');
    dictionary += '\n';
    std::string file("\x93NUMPY", 6);
    file += static_cast<char>(version);
    file += '\0';
    for (std::size_t i = 0; i < length_bytes; ++i) {
        file += static_cast<char>((dictionary.size() >> (8 * i)) & 0xff);
    }
    return file + dictionary + std::string(data);
}

std::string dictionary(std::string_view descr, bool fortran, std::string_view shape) {
    return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': " + std::string(shape) + ", }";
}

template <class T>
std::string numbers(std::endian order, std::initializer_list<T> values) {
    Bytes bytes(order);
    for (const T value : values) {
        bytes.add(value);
    }
    return bytes.text();
}

class Npy : public testing::Test {
protected:
    io::Snapshot read(std::string_view content) {
        write_bytes(folder_ / "points.bin", content);
        return io::read_snapshot(folder_ / "points.bin");
    }
    void refused(std::string_view content, std::initializer_list<std::string_view> words) {
        write_bytes(folder_ / "points.bin", content);
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(folder_ / "points.bin")); });
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_header(folder_ / "points.bin")); });
    }
    // 2 x 3: 1 2 3 / 4 5 6
    void expect_one_to_six(const io::Snapshot& snapshot, DType dtype) {
        ASSERT_EQ(snapshot.positions.dtype(), dtype);
        ASSERT_EQ(snapshot.positions.columns, 3);
        ASSERT_EQ(snapshot.positions.rows(), 2);
        for (std::size_t i = 0; i < 6; ++i) {
            EXPECT_EQ(at(snapshot.positions, i), static_cast<double>(i + 1)) << i;
        }
    }
    TemporaryFolder folder_;
};

TEST_F(Npy, HeaderAndColumnsOfAPlainArray) {
    const io::Snapshot s =
        read(npy(1, dictionary("<f4", false, "(2, 3)"), numbers<float>(std::endian::little, {1, 2, 3, 4, 5, 6})));
    expect_one_to_six(s, DType::float32);
    EXPECT_EQ(s.header.format, "npy");
    EXPECT_FALSE(s.header.has_types);
    EXPECT_EQ(s.header.counts, (std::array<std::int64_t, max_types>{0, 2, 0, 0, 0, 0, 0}));
    EXPECT_EQ(s.header.dimension, 3);
    EXPECT_TRUE(s.header.warnings.empty());
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1}));
    EXPECT_TRUE(s.types.empty());
    EXPECT_TRUE(s.ids.empty());
    EXPECT_FALSE(s.velocities || s.masses || s.uniform_mass || s.header.box_size || s.header.time);
}

TEST_F(Npy, EveryVersion) {
    const std::string data = numbers<double>(std::endian::little, {1, 2, 3, 4, 5, 6});
    for (const int version : {1, 2, 3}) {
        expect_one_to_six(read(npy(version, dictionary("<f8", false, "(2, 3)"), data)), DType::float64);
    }
    refused(npy(4, dictionary("<f8", false, "(2, 3)"), data), {"version 4"});
}

TEST_F(Npy, EveryByteOrderAndMemoryOrder) {
    for (const auto& [mark, order] : {std::pair{"<", std::endian::little}, std::pair{">", std::endian::big}}) {
        const std::string type = mark;
        expect_one_to_six(
            read(npy(1, dictionary(type + "f4", false, "(2, 3)"), numbers<float>(order, {1, 2, 3, 4, 5, 6}))),
            DType::float32);
        expect_one_to_six(
            read(npy(1, dictionary(type + "f4", true, "(2, 3)"), numbers<float>(order, {1, 4, 2, 5, 3, 6}))),
            DType::float32);
        expect_one_to_six(
            read(npy(1, dictionary(type + "f8", true, "(2, 3)"), numbers<double>(order, {1, 4, 2, 5, 3, 6}))),
            DType::float64);
        expect_one_to_six(
            read(npy(1, dictionary(type + "i2", true, "(2, 3)"), numbers<std::int16_t>(order, {1, 4, 2, 5, 3, 6}))),
            DType::float64);
        expect_one_to_six(
            read(npy(1, dictionary(type + "u4", false, "(2, 3)"), numbers<std::uint32_t>(order, {1, 2, 3, 4, 5, 6}))),
            DType::float64);
    }
}

TEST_F(Npy, WholeNumbersKeepTheirSign) {
    const io::Snapshot s = read(npy(1, dictionary("|i1", false, "(1, 2)"), std::string("\xff\x7f", 2)));
    EXPECT_EQ(at(s.positions, 0), -1.0);
    EXPECT_EQ(at(s.positions, 1), 127.0);
    const io::Snapshot u = read(npy(1, dictionary("|u1", false, "(1, 2)"), std::string("\xff\x7f", 2)));
    EXPECT_EQ(at(u.positions, 0), 255.0);
    const io::Snapshot wide = read(
        npy(1, dictionary("<u8", false, "(1, 2)"), numbers<std::uint64_t>(std::endian::little, {3, (1ULL << 53) + 1})));
    EXPECT_EQ(at(wide.positions, 1), 9007199254740992.0);
    EXPECT_TRUE(warns(wide.header, "2^53"));
}

TEST_F(Npy, HalfPrecisionIsWidened) {
    // 1, -2, 0.5, the largest (65504), the smallest subnormal (2^-24), one third rounded.
    const io::Snapshot s =
        read(npy(1, dictionary("<f2", false, "(3, 2)"),
                 numbers<std::uint16_t>(std::endian::little, {0x3c00, 0xc000, 0x3800, 0x7bff, 0x0001, 0x3555})));
    ASSERT_EQ(s.positions.dtype(), DType::float32);
    const std::vector<double> expected = {1, -2, 0.5, 65504, 0x1p-24, 0.333251953125};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(at(s.positions, i), expected[i]);
    }
    const io::Snapshot special =
        read(npy(1, dictionary(">f2", false, "(1, 2)"), numbers<std::uint16_t>(std::endian::big, {0xfc00, 0x7e00})));
    EXPECT_EQ(at(special.positions, 0), -INFINITY);
    EXPECT_TRUE(std::isnan(at(special.positions, 1)));
}

TEST_F(Npy, KeysInAnyOrderAndStyle) {
    expect_one_to_six(read(npy(2, R"({"shape": (2L, 3L), "fortran_order": False, "descr": "<f4"})",
                               numbers<float>(std::endian::little, {1, 2, 3, 4, 5, 6}))),
                      DType::float32);
}

TEST_F(Npy, LongArraysPassThroughBlocks) {
    constexpr std::int64_t rows = 100003;
    Bytes bytes(std::endian::big);
    for (std::int64_t column = 0; column < 2; ++column) {
        for (std::int64_t row = 0; row < rows; ++row) {
            bytes.add(static_cast<std::int32_t>(column == 0 ? row : -row));
        }
    }
    const io::Snapshot s = read(npy(1, dictionary(">i4", true, "(100003, 2)"), bytes.text()));
    ASSERT_EQ(s.positions.rows(), rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        ASSERT_EQ(at(s.positions, static_cast<std::size_t>(2 * row)), static_cast<double>(row));
        ASSERT_EQ(at(s.positions, static_cast<std::size_t>(2 * row + 1)), static_cast<double>(-row));
    }
}

TEST_F(Npy, RefusalsNameTheReason) {
    const std::string data(4096, '\0');
    refused(npy(1, dictionary("<f4", false, "(24,)"), data), {"1 axis", "labels", "two-dimensional"});
    refused(npy(1, dictionary("<f4", false, "(2, 3, 4)"), data), {"3 axes"});
    refused(npy(1, dictionary("<f4", false, "()"), data), {"0 axes"});
    refused(npy(1, dictionary("<f4", false, "(24, 1)"), data), {"24 x 1", "2 to 8", "column of zeros"});
    refused(npy(1, dictionary("<f4", false, "(24, 9)"), data), {"24 x 9", "2 to 8"});
    refused(npy(1, dictionary("<f4", false, "(3, 24)"), data), {"3 x 24", "transposed"});
    refused(npy(1, dictionary("<c8", false, "(4, 2)"), data), {"<c8"});
    refused(npy(1, dictionary("|b1", false, "(4, 2)"), data), {"|b1"});
    refused(npy(1, dictionary("|O", false, "(4, 2)"), data), {"|O"});
    refused(npy(1, dictionary("<f16", false, "(4, 2)"), data), {"<f16"});
    refused(npy(1, "{'fortran_order': False, 'shape': (4, 2), }", data), {"lacks 'descr'"});
    refused(npy(1, "{'descr': '<f4', 'fortran_order': maybe}", data), {"malformed", "True or False"});
    refused(npy(1, dictionary("<f4", false, "(-4, 2)"), data), {"malformed"});
    refused(npy(1, dictionary("<f4", false, "(99999999999999999999, 2)"), data), {"malformed"});
}

TEST_F(Npy, TheFieldsXyzOfAStructuredArrayArePoints) {
    const auto records = [](const std::string& fields, const std::string& shape, const std::string& data) {
        return npy(1, "{'descr': [" + fields + "], 'fortran_order': False, 'shape': " + shape + ", }", data);
    };
    Bytes big(std::endian::big);
    Bytes little(std::endian::little);
    for (int row = 0; row < 2; ++row) {
        for (Bytes* bytes : {&big, &little}) {
            const float x = row == 0 ? 1 : 4;
            bytes->add(x + 2).add(std::int64_t{-1}).add(std::uint8_t{1}).add(x);
            bytes->add(std::int32_t{9}).add(std::int32_t{9}).add(x + 1);
        }
    }
    const std::string types_big = "('z', '>f4'), ('id', '>i8'), (('a flag', 'flag'), '|b1'), ('x', '>f4'), "
                                  "('pair', '>i4', (2,)), ('y', '>f4')";
    const std::string types_little =
        "('z', '<f4'), ('t', '<M8[ns]'), ('', '|V1'), ('x', '<f4'), ('n', '<U2'), ('y', '<f4'),";
    for (const auto& [types, data] : {std::pair(types_big, big.text()), {types_little, little.text()}}) {
        const io::Snapshot s = read(records(types, "(2,)", data));
        EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), (std::vector<float>{1, 2, 3, 4, 5, 6}));
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_TRUE(s.header.warnings.empty());
        refused(records(types, "(2,)", data.substr(1)), {"too short", "2 records of 29 bytes"});
        refused(records(types, "(1, 2)", data), {"2 axes", "ravel"});
    }
    refused(records("('lon', '<f4'), ('lat', '<f4')", "(4,)", std::string(32, '\0')),
            {"structured, with the fields lon, lat", "need the fields x, y and z"});
    refused(records("('x', '<f4'), ('y', '<f4'), ('X', '<f4')", "(4,)", std::string(48, '\0')),
            {"x and X may both be a coordinate"});
    refused(records("('x', '<f4'), ('y', '|S4')", "(4,)", std::string(32, '\0')), {"the field y is of the type |S4"});
    refused(records("('x', '<f4', (2,)), ('y', '<f4')", "(4,)", ""), {"the field x", "8 bytes"});
    refused(records("('x', '<f4'), ('y', [('a', '<f4')])", "(4,)", ""), {"field y is [('a', '<f4')]"});
    refused(records("('x', '<f4'), ('y', '<f4'), ('o', '|O')", "(4,)", ""), {"field o is |O"});
    refused(records("('x', '<f4'), ('y', '<f4', (99999, 99999, 99999))", "(4,)", ""), {"claims more than"});
    refused(records("('x' '<f4')", "(4,)", ""), {"malformed"});
}

TEST_F(Npy, SizesAreCheckedAgainstTheLength) {
    const std::string whole = npy(1, dictionary("<f4", false, "(2, 3)"), std::string(24, '\0'));
    refused(std::string_view(whole).substr(0, whole.size() - 1), {"too short", "byte 152", "byte 151"});
    refused(npy(1, dictionary("<f8", false, "(1000000000000, 3)"), ""), {"too short", "24000000000128"});
    refused(npy(1, dictionary("<f8", false, "(9000000000000000000, 3)"), ""), {"too short", "2^63"});
    refused(std::string_view(whole).substr(0, 70), {"too short", "header", "byte 70"});
    refused(std::string_view(whole).substr(0, 9), {"too short", "byte 9"});
    const io::Snapshot longer = read(whole + "tail");
    EXPECT_EQ(longer.positions.rows(), 2);
    EXPECT_TRUE(warns(longer.header, "4 bytes longer"));
}

TEST_F(Npy, AnEmptyArrayIsOrdinary) {
    write_bytes(folder_ / "none.npy", npy(1, dictionary("<f4", false, "(0, 3)"), ""));
    EXPECT_EQ(io::read_header(folder_ / "none.npy").counts[1], 0);
    const io::Snapshot none = io::read_snapshot(folder_ / "none.npy", only_types({4}));
    EXPECT_EQ(none.positions.rows(), 0);
    EXPECT_EQ(none.positions.columns, 3);
    EXPECT_EQ(none.positions.dtype(), DType::float32);
    EXPECT_TRUE(none.file_rows.empty());
}

TEST_F(Npy, TheChoiceOfTypesIsIgnored) {
    write_bytes(folder_ / "points.npy", npy(1, dictionary("<f4", false, "(2, 3)"), std::string(24, '\0')));
    EXPECT_EQ(io::read_snapshot(folder_ / "points.npy", only_types({4})).positions.rows(), 2);
}

TEST_F(Npy, WhatIsWrittenReadsBack) {
    std::vector<double> values(21);
    std::iota(values.begin(), values.end(), -3.5);
    io::write_npy(folder_ / "a.npy", std::span<const double>(values), 7);
    const io::Snapshot s = io::read_snapshot(folder_ / "a.npy");
    EXPECT_EQ(std::get<std::vector<double>>(s.positions.values), values);
    EXPECT_EQ(s.positions.columns, 7);
    const std::string bytes = read_bytes(folder_ / "a.npy");
    EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 7), } ");
    EXPECT_EQ(bytes.size(), 128U + 21 * 8);
}

TEST_F(Npy, OneDimensionalAndWholeNumbersAreWritten) {
    const std::vector<std::int32_t> labels = {5, -1, 7};
    io::write_npy(folder_ / "labels.npy", std::span<const std::int32_t>(labels));
    const std::string bytes = read_bytes(folder_ / "labels.npy");
    EXPECT_NE(bytes.find("'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"), std::string::npos);
    EXPECT_EQ(bytes.size() % 64, 12U);
    EXPECT_EQ(bytes.substr(bytes.size() - 12), numbers<std::int32_t>(std::endian::native, {5, -1, 7}));
    const std::vector<std::int64_t> wide = {1, 2, 3, 4};
    io::write_npy(folder_ / "wide.npy", std::span<const std::int64_t>(wide), 2);
    EXPECT_EQ(at(io::read_snapshot(folder_ / "wide.npy").positions, 3), 4.0);
    expect_error(ErrorKind::invalid_argument, {"4 values", "3 columns"},
                 [&] { io::write_npy(folder_ / "odd.npy", std::span<const std::int64_t>(wide), 3); });
    EXPECT_EQ(folder_.entries(), 2U);
}

} // namespace
