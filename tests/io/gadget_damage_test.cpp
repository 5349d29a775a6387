// Gadget-2 binary files that are truncated, corrupted or enormous.
#include "io/gadget_files.hpp"

#include <random>

using namespace kith;
using namespace kith::test;

namespace {

class DamagedGadget : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path path() const { return folder_ / "snapshot"; }
    void refused(const std::string& content, std::initializer_list<std::string_view> words) const {
        write_bytes(path(), content);
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(path(), all_types())); });
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_header(path())); });
    }
    static GadgetMaker three_particles() {
        GadgetMaker maker;
        maker.counts = {1, 2, 0, 0, 0, 0};
        maker.masses = {0, 0.5, 0, 0, 0, 0};
        return maker;
    }
    TemporaryFolder folder_;
};

// A file that ends between two blocks is a whole one that lacks the rest, and is read with a warning.
TEST_F(DamagedGadget, EveryTruncationIsAnErrorOrAWarning) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        for (const int format : {1, 2}) {
            GadgetMaker maker = three_particles();
            maker.order = order;
            maker.format = format;
            const std::string content = maker.text();
            int readable = 0;
            for (std::size_t length = 0; length < content.size(); ++length) {
                write_bytes(path(), std::string_view(content).substr(0, length));
                try {
                    const io::Snapshot s = io::read_snapshot(path(), all_types());
                    EXPECT_EQ(s.positions.rows(), 3);
                    EXPECT_FALSE(s.header.warnings.empty()) << length;
                    ++readable;
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::file);
                }
            }
            EXPECT_EQ(readable, 3) << "after POS, VEL and ID";
        }
    }
}

TEST_F(DamagedGadget, RandomBytesGiveErrorsOrPoints) {
    std::mt19937 random(11);
    int errors = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        GadgetMaker maker = three_particles();
        maker.format = 1 + trial % 2;
        maker.order = trial % 4 < 2 ? std::endian::little : std::endian::big;
        std::string content = maker.text();
        for (int change = 0; change < 3; ++change) {
            content[random() % content.size()] = static_cast<char>(random());
        }
        write_bytes(path(), content);
        try {
            static_cast<void>(io::read_snapshot(path(), all_types()));
        } catch (const Error&) {
            ++errors;
        }
    }
    EXPECT_GT(errors, 100);
}

TEST_F(DamagedGadget, MarksThatDifferAreNamed) {
    std::string content = three_particles().text();
    content[260] = 7;
    refused(content, {"at byte 0 announces 256 bytes", "closes it at byte 260", "corrupted"});
    content = three_particles().text();
    content[264] = 40;
    refused(content, {"at byte 264 announces 40 bytes"});
    content[266] = 1;
    refused(content, {"too short", "at byte 264 announces 65576", "ends at byte 384"});
    GadgetMaker labeled = three_particles();
    labeled.format = 2;
    content = labeled.text();
    content[280] = 12;
    refused(content, {"label", "at byte 280"});
    content = labeled.text();
    content[296] = 40;
    refused(content, {"the block POS at byte 296 announces 40 bytes"});
}

TEST_F(DamagedGadget, MixedByteOrdersAreNamed) {
    GadgetMaker maker = three_particles();
    const std::string header = maker.block("HEAD", maker.header());
    maker.order = std::endian::big;
    const std::string rest = maker.text().substr(header.size());
    refused(header + rest, {"at byte 264", "36 in the other byte order", "little-endian", "mixes byte orders"});
    GadgetMaker little = three_particles();
    refused(little.unnamed(maker.header()) + little.text().substr(header.size()),
            {"block of positions at byte 264 holds 36 bytes", "50331648 particles"});
}

TEST_F(DamagedGadget, CountsThatTheFileCannotHold) {
    GadgetMaker maker = three_particles();
    for (const int format : {1, 2}) {
        maker.format = format;
        std::string content = maker.text();
        const std::string claim = Bytes(std::endian::little).add(0xffffffffU).text();
        content.replace(format == 1 ? 4 : 20, 4, claim); // gas
        refused(content, {"holds 36 bytes", "4294967297 particles take 51539607564"});
    }
}

TEST_F(DamagedGadget, BlocksOfTheWrongLength) {
    GadgetMaker maker = three_particles();
    maker.format = 2;
    const std::string start = maker.block("HEAD", maker.header());
    const std::string positions = maker.block("POS ", std::string(36, '\0'));
    refused(start, {"3 particles", "no block of positions", "ends after its header"});
    refused(start + maker.block("VEL ", std::string(36, '\0')), {"no block of positions (POS)", "blocks are VEL"});
    refused(start + maker.block("GLEN", "1234"), {"Subfind catalog"});
    refused(start + positions + maker.block("VEL ", "1234"), {"block VEL", "holds 4 bytes", "36 in float32"});
    refused(start + positions + maker.block("MASS", "123"), {"block MASS", "holds 3 bytes", "1 particles take 4"});
}

TEST_F(DamagedGadget, HeadersOfAnotherLength) {
    GadgetMaker maker;
    maker.format = 2;
    refused(maker.block("HEAD", std::string(184, '\0')), {"takes 184 bytes", "Gadget-4"});
}

TEST_F(DamagedGadget, ZerosWithoutEnd) {
    refused(three_particles().text() + std::string(100000, '\0'), {"more than 1000 blocks"});
}

// Files with holes stand for enormous ones: marks wrap beyond 4 GiB, and counts are beyond 2^31.
class EnormousGadget : public DamagedGadget {
protected:
    void put(std::int64_t offset, const std::string& text) const {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(offset);
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        ASSERT_TRUE(file.good());
    }
};

TEST_F(EnormousGadget, BlocksBeyondFourGibibytes) {
    GadgetMaker maker;
    maker.counts = {1U << 30, 2, 0, 0, 0, 0}; // gas whose positions take 12 GiB
    maker.masses = {0.25, 0.5, 0, 0, 0, 0};
    const std::int64_t bytes = 12 * ((std::int64_t{1} << 30) + 2);
    const std::string mark = Bytes(std::endian::little).add(static_cast<std::uint32_t>(bytes)).text();
    write_bytes(path(), maker.unnamed(maker.header()) + mark);
    put(268 + bytes - 24, maker.reals({1, 2, 3, 4, 5, 6}) + mark);
    const io::Snapshot s = io::read_snapshot(path(), only_types({1}));
    EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{1 << 30, (1 << 30) + 1}));
}

// 12 bytes for each of 2^30 particles are a multiple of 2^32: the marks are 0, as if the block were empty.
TEST_F(EnormousGadget, MarksThatWrapToZero) {
    GadgetMaker maker;
    maker.counts = {0, 1U << 30, 0, 0, 0, 0};
    maker.masses[1] = 0.5;
    write_bytes(path(), maker.unnamed(maker.header()) + std::string(4, '\0'));
    put(268 + (std::int64_t{12} << 30), std::string(4, '\0'));
    EXPECT_EQ(io::read_header(path()).counts[1], std::int64_t{1} << 30);
}

TEST_F(EnormousGadget, CountsBeyondTwoToThe31) {
    GadgetMaker maker;
    maker.counts = {3000000000U, 2, 0, 0, 0, 0};
    maker.masses = {0.25, 0.5, 0, 0, 0, 0};
    const std::int64_t bytes = 12 * std::int64_t{3000000002};
    const std::string mark = Bytes(std::endian::little).add(static_cast<std::uint32_t>(bytes)).text();
    write_bytes(path(), maker.unnamed(maker.header()) + mark);
    put(268 + bytes - 24, maker.reals({1, 2, 3, 4, 5, 6}) + mark);
    const io::Snapshot s = io::read_snapshot(path(), only_types({1}));
    EXPECT_EQ(s.header.counts[0], 3000000000);
    EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{3000000000, 3000000001}));
}

} // namespace
