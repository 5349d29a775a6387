// PLY: text and binary of either byte order, vertices anywhere among the properties and elements.
#include "io/files.hpp"

#include <random>

using namespace kith;
using namespace kith::test;

namespace {

class Ply : public testing::Test {
protected:
    [[nodiscard]] io::Snapshot read(const std::string& content) const {
        write_bytes(folder_ / "points", content);
        return io::read_snapshot(folder_ / "points");
    }
    void refused(const std::string& content, std::initializer_list<std::string_view> words) const {
        write_bytes(folder_ / "points", content);
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(folder_ / "points")); });
    }
    TemporaryFolder folder_;
};

constexpr std::string_view properties = "property float x\nproperty float y\nproperty float z\n";

std::string ascii(std::string_view vertices = "1 2 3\n4 5 6\n", std::string_view count = "2") {
    return "ply\nformat ascii 1.0\ncomment by hand\nelement vertex " + std::string(count) + "\n" +
           std::string(properties) + "element face 1\nproperty list uchar int vertex_indices\nend_header\n" +
           std::string(vertices) + "3 0 1 0\n";
}

std::string binary(std::endian order) {
    Bytes vertices(order);
    for (const float value : {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}) {
        vertices.add(value);
    }
    return std::string("ply\nformat binary_") + (order == std::endian::big ? "big" : "little") +
           "_endian 1.0\nobj_info none\nelement vertex 2\n" + std::string(properties) + "end_header\n" +
           vertices.text();
}

const std::vector<float> expected = {1, 2, 3, 4, 5, 6};

TEST_F(Ply, TextAndBinary) {
    const std::array<std::pair<std::string, std::string>, 4> files = {
        {{ascii(), "PLY (ascii)"},
         {ascii("\n 1\t2 3.0 \r\n\n+4 5e0 6\r\n"), "PLY (ascii)"},
         {binary(std::endian::little), "PLY (binary, little-endian)"},
         {binary(std::endian::big), "PLY (binary, big-endian)"}}};
    for (const auto& [content, format] : files) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(s.header.format, format);
        EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), expected);
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_EQ(s.header.counts[1], 2);
        EXPECT_FALSE(s.header.has_types);
        EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1}));
        EXPECT_TRUE(s.header.warnings.empty());
    }
}

TEST_F(Ply, HeaderLinesMayEndInCarriageReturns) {
    std::string content = ascii();
    for (std::size_t at = content.find('\n'); at != std::string::npos; at = content.find('\n', at + 2)) {
        content.replace(at, 1, "\r\n");
    }
    EXPECT_EQ(std::get<std::vector<float>>(read(content).positions.values), expected);
}

TEST_F(Ply, PropertiesOfAnyTypeInAnyOrder) {
    const std::string header = "element camera 2\nproperty double view\nproperty uchar on\nelement empty 7\n"
                               "element vertex 2\nproperty uchar red\nproperty double z\nproperty int16 x\n"
                               "property ushort flags\nproperty int y\nproperty float quality\nend_header\n";
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        Bytes data(order);
        data.add(0.5).add(std::uint8_t{1}).add(0.5).add(std::uint8_t{0});
        data.add(std::uint8_t{255}).add(3.5).add(std::int16_t{-1}).add(std::uint16_t{9}).add(-2000000001).add(0.0F);
        data.add(std::uint8_t{255}).add(6.5).add(std::int16_t{4}).add(std::uint16_t{9}).add(5).add(0.0F);
        const std::string format = order == std::endian::big ? "big" : "little";
        const io::Snapshot s = read("ply\nformat binary_" + format + "_endian 1.0\n" + header + data.text());
        EXPECT_EQ(std::get<std::vector<double>>(s.positions.values),
                  (std::vector<double>{-1, -2000000001, 3.5, 4, 5, 6.5}));
        EXPECT_EQ(s.header.dtype, DType::float64);
    }
    const std::string text = header;
    const io::Snapshot s =
        read("ply\nformat ascii 1.0\n" + std::string(text).replace(text.find("empty 7"), 7, "empty 0") +
             "0.5 1\n0.5 0\n255 3.5 -1 9 -2000000001 0\n255 6.5 4 9 5 0\n");
    EXPECT_EQ(std::get<std::vector<double>>(s.positions.values),
              (std::vector<double>{-1, -2000000001, 3.5, 4, 5, 6.5}));
}

TEST_F(Ply, HeadersAsVariousWritersMakeThem) {
    const std::string plain = ascii();
    const auto replaced = [](std::string text, std::string_view what, std::string_view with, bool everywhere = false) {
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
            text.replace(at, what.size(), with);
            if (!everywhere) {
                break;
            }
        }
        return text;
    };
    const std::string little = binary(std::endian::little);
    for (const std::string& content :
         {"\xef\xbb\xbf" + plain, replaced(plain, "ply\n", "ply \t\n"), replaced(plain, "1.0\n", "1.0\n\n \n"),
          replaced(plain, "ply\n", "ply\ncomment first\n"), replaced(plain, "end_header", "comment\nend_header "),
          replaced(replaced(replaced(plain, " x", " X"), " y", " Y"), " z", " Z"), replaced(plain, "\n", "\r\n", true),
          replaced(little, "obj_info none\n", "\r\n\n"),
          // Binary data begin behind the line end of the header, whatever their first bytes are.
          replaced(little.substr(0, little.find("end_header") + 10), "\n", "\r", true) + "\r" +
              little.substr(little.find("end_header") + 11)}) {
        EXPECT_EQ(std::get<std::vector<float>>(read(content).positions.values), expected);
    }
}

// Two vertices, each with a list of `count_type` before z, and a flag; lists of 0 and of 3 values.
std::string with_lists(std::endian order, const std::string& count_type, bool is_signed_count,
                       std::int64_t longer = 3) {
    Bytes data(order);
    const auto add_list = [&](std::int64_t length, std::int64_t stated) {
        const auto add_count = [&](auto narrow, auto wide) {
            count_type.ends_with("8") ? data.add(static_cast<decltype(narrow)>(stated))
                                      : data.add(static_cast<decltype(wide)>(stated));
        };
        is_signed_count ? add_count(std::int8_t{}, std::int64_t{}) : add_count(std::uint8_t{}, std::uint64_t{});
        for (std::int64_t i = 0; i < length; ++i) {
            data.add(static_cast<std::uint16_t>(7));
        }
    };
    const auto add_vertex = [&](float x, std::int64_t length, std::int64_t stated) {
        data.add(x).add(x + 1);
        add_list(length, stated);
        data.add(x + 2).add(std::uint8_t{1});
    };
    add_list(1, 1); // a face
    add_list(2, 2);
    data.add(std::int64_t{-1});
    add_vertex(1, 0, 0);
    add_vertex(4, 3, longer);
    return std::string("ply\nformat binary_") + (order == std::endian::big ? "big" : "little") +
           "_endian 1.0\nelement face 1\nproperty list " + count_type + " ushort a\nproperty list " + count_type +
           " ushort b\nproperty int64 time\nelement nothing 9000000000000000000\nelement vertex 2\nproperty float x\n"
           "property float y\nproperty list " +
           count_type +
           " uint16 views\nproperty float z\nproperty bool flag\nelement edge 4\nproperty int a\nend_header\n" +
           data.text();
}

TEST_F(Ply, ListsAreSteppedOver) {
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        for (const auto& [type, is_signed] :
             {std::pair("uint8", false), {"int8", true}, {"uint64", false}, {"long", true}}) {
            const std::string content = with_lists(order, type, is_signed);
            const io::Snapshot s = read(content);
            EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), expected);
            EXPECT_TRUE(s.header.warnings.empty());
            for (std::size_t end = content.find("end_header"); end < content.size(); ++end) {
                refused(content.substr(0, end), {"points"});
            }
        }
    }
    refused(with_lists(std::endian::little, "int8", true, -1), {"the list views of element vertex", "has -1 values"});
    refused(with_lists(std::endian::little, "int8", true, 100), {"the list views", "has 100 values of 2 bytes"});
    refused(with_lists(std::endian::big, "uint64", false, -1), {"the list views"});
    refused("ply\nformat ascii 1.0\nelement face 0\nproperty list float int a\n", {"line 4", "type float"});

    const std::string text = "ply\nformat ascii 1.0\nelement vertex 2\nproperty list uint8 float n\nproperty float x\n"
                             "property float y\nproperty list int int m\nproperty float z\nend_header\n";
    EXPECT_EQ(std::get<std::vector<float>>(read(text + "2 9 9 1 2 0 3\n0 4 5 1 8 6\n").positions.values), expected);
    refused(text + "2 9 9 1 2 0 3\n0 4 5 2 8 6\n", {"line 11 has 4 values", "a vertex has 5"});
    refused(text + "2 9 9 1 2 0 3\n0 4 5 3 8 6\n", {"line 11", "1 of a list are missing"});
    refused(text + "-1 9 9 1 2 0 3\n0 4 5 3 8 6\n", {"line 10", "the list n has '-1' values"});
}

TEST_F(Ply, WholeNumbersBeyondFloat64AreToldOf) {
    const io::Snapshot s = read("ply\nformat ascii 1.0\nelement vertex 1\nproperty int64 x\nproperty uint64 y\n"
                                "end_header\n9007199254740993 2\n");
    EXPECT_TRUE(warns(s.header, "2^53"));
}

TEST_F(Ply, TwoCoordinatesAndNone) {
    const io::Snapshot s =
        read("ply\nformat ascii 1.0\nelement vertex 1\nproperty double y\nproperty double x\nend_header\n2 1e-400\n");
    EXPECT_EQ(std::get<std::vector<double>>(s.positions.values), (std::vector<double>{0, 2}));
    EXPECT_EQ(read(ascii("", "0")).positions.rows(), 0);
}

TEST_F(Ply, WhatIsWrongIsNamed) {
    refused(ascii("1 2 3\n4 5 6\n", "20"), {"too short", "20 vertices", "6 bytes each", "byte 171 or later"});
    const std::string faceless = ascii("1 2 3\n4 5 6.000000\n", "3");
    refused(faceless.substr(0, faceless.rfind("3 0")), {"too short", "after line 12", "vertex 2 of 3 was expected"});
    refused(ascii("1 2 3\n4 5 6\n", "9223372036854775807"), {"too short", "9223372036854775807 vertices"});
    refused(ascii("1 2 3\n4 5 6\n", "-1"), {"line 4", "count of 0 or more"});
    refused(ascii("1 2\n4 5 6\n"), {"line 11 has 2 values", "a vertex has 3"});
    refused(ascii("1 2 three\n4 5 6\n"), {"line 11", "z is 'three'"});
    refused(ascii("1 1e39 3\n4 5 6\n"), {"y is '1e39'", "its type"});
    refused("ply\n", {"too short", "no end_header"});
    refused("ply\nformat ascii 2.0\nend_header\n", {"line 2", "1.0"});
    refused("ply\nformat middle_endian 1.0\n", {"middle_endian is not known"});
    refused("ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\n", {"line 4", "type quad is not known"});
    refused("ply\nformat ascii 1.0\nproperty float x\n", {"before the first element"});
    refused("ply\nformat ascii 1.0\nvertices 2\n", {"line 3", "'vertices' is not known"});
    refused("ply\nformat ascii 1.0\nelement face 0\nend_header\n", {"no element vertex"});
    refused("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n", {"no property y"});
    for (const char* name : {"x", "X"}) {
        refused("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float " +
                    std::string(name) + "\nend_header\n",
                {"the properties x and " + std::string(name) + ", of which only one can be a coordinate"});
    }
    refused("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nelement vertex 0\nproperty "
            "float x\nproperty float y\nend_header\n",
            {"several elements vertex"});
    refused("ply\nformat ascii 1.0\nelement vertex 0\nproperty list int int x\nend_header\n",
            {"no property x of one number"});
    refused("ply\nformat ascii 1.0\ncomment" + std::string(70000, ' ') + "\n", {"no end_header in the first 65536"});
    std::string content = binary(std::endian::big);
    content.replace(content.find("vertex 2"), 8, "vertex 4611686018427387904");
    refused(content, {"too short", "4611686018427387904 records of element vertex", "12 bytes each"});
}

TEST_F(Ply, SurplusBytesAreToldOf) {
    const io::Snapshot s = read(binary(std::endian::little) + "rest");
    EXPECT_EQ(s.positions.rows(), 2);
    EXPECT_TRUE(warns(s.header, "4 bytes longer than its vertices"));
}

TEST_F(Ply, EveryTruncationIsAnError) {
    const std::string text = ascii();
    const std::array<std::string, 3> files = {binary(std::endian::little), binary(std::endian::big),
                                              text.substr(0, text.find("6\n3 0") + 1)};
    for (const std::string& content : files) {
        for (std::size_t length = 0; length < content.size(); ++length) {
            EXPECT_THROW(static_cast<void>(read(content.substr(0, length))), Error) << length;
        }
    }
}

TEST_F(Ply, RandomBytesGiveErrorsOrPoints) {
    std::mt19937 random(5);
    int errors = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::string content = trial % 2 == 0 ? ascii() : binary(std::endian::little);
        for (int change = 0; change < 2; ++change) {
            content[random() % content.size()] = static_cast<char>(random());
        }
        try {
            static_cast<void>(read(content));
        } catch (const Error&) {
            ++errors;
        }
    }
    EXPECT_GT(errors, 100);
}

// The first and the last vertex were found with an independent script.
TEST(RealPly, Igea) {
    const auto path = std::filesystem::path(KITH_SHARED_DATA) / "pointcloud/igea.ply";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const io::Snapshot s = io::read_snapshot(path);
    ASSERT_EQ(s.positions.rows(), 134345);
    EXPECT_EQ(at(s.positions, 0), 0.008178000338375568);
    EXPECT_EQ(at(s.positions, 1), -0.049651000648736954);
    EXPECT_EQ(at(s.positions, 2), 0.014658000320196152);
    EXPECT_EQ(at(s.positions, 3 * 134345 - 3), 0.0014609999489039183);
    EXPECT_EQ(at(s.positions, 3 * 134345 - 2), 0.0491270013153553);
    EXPECT_EQ(at(s.positions, 3 * 134345 - 1), 0.018492000177502632);
    EXPECT_TRUE(s.header.warnings.empty());
}

} // namespace
