// Tipsy auxiliary arrays: text and binary, whole numbers and reals, scalars and vectors.
#include "io/files.hpp"

#include <map>
#include <numeric>

using namespace kith;
using namespace kith::test;
using Integers = std::vector<std::int64_t>;

namespace {

class TipsyArray : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file(std::string_view content) const {
        write_bytes(folder_ / "array", content);
        return folder_ / "array";
    }
    void refused(std::string_view content, std::initializer_list<std::string_view> words) const {
        const auto path = file(content);
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_tipsy_integers(path)); });
    }
    TemporaryFolder folder_;
};

TEST_F(TipsyArray, WholeNumbers) {
    EXPECT_EQ(io::read_tipsy_integers(file("3\n0\n-7\n9000000000\n")), (Integers{0, -7, 9000000000}));
    EXPECT_EQ(io::read_tipsy_integers(file("0\n")), Integers{});
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        EXPECT_EQ(io::read_tipsy_integers(file(Bytes(order).add(3).add(1).add(-2).add(3).text())),
                  (Integers{1, -2, 3}));
        EXPECT_EQ(
            io::read_tipsy_integers(file(Bytes(order).add(2).add(std::int64_t{1} << 40).add(std::int64_t{-2}).text())),
            (Integers{std::int64_t{1} << 40, -2}));
        EXPECT_EQ(io::read_tipsy_integers(file(Bytes(order).add(0).text())), Integers{});
    }
}

TEST_F(TipsyArray, RealsAndVectors) {
    const io::RealArray text = io::read_tipsy_reals(file("2\n0.5\n1e-3\n"));
    EXPECT_EQ(std::get<std::vector<double>>(text.values), (std::vector<double>{0.5, 1e-3}));
    const io::RealArray vectors = io::read_tipsy_reals(file("2\n1 2\n3 4\n5 6\n"));
    EXPECT_EQ(vectors.columns, 3);
    EXPECT_EQ(std::get<std::vector<double>>(vectors.values), (std::vector<double>{1, 3, 5, 2, 4, 6}));
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const io::RealArray narrow = io::read_tipsy_reals(file(Bytes(order).add(2).add(0.5F).add(2.0F).text()));
        EXPECT_EQ(std::get<std::vector<float>>(narrow.values), (std::vector<float>{0.5F, 2}));
        Bytes bytes(order);
        bytes.add(2).add(1.0).add(2.0).add(3.0).add(4.0).add(5.0).add(6.0);
        const io::RealArray wide = io::read_tipsy_reals(file(bytes.text()));
        EXPECT_EQ(std::get<std::vector<double>>(wide.values), (std::vector<double>{1, 3, 5, 2, 4, 6}));
    }
}

TEST_F(TipsyArray, WhatDoesNotFitItsCountIsRefused) {
    refused("", {"too short", "ends at byte 0"});
    refused("3\n1\n2\n", {"too short", "a value"});
    refused("2\n1\n2\n3\n", {"too short", "a component (there are more values than the 2 announced"});
    refused("1\n1\n2\n3\n4\n", {"1 values or vectors of three", "more numbers"});
    refused("1\n1\n2\n3\n", {"vectors of three"});
    refused("2\n1\n2.5\n", {"line 3", "'2.5'"});
    refused("1000000000000\n1\n", {"1000000000000 values", "cannot hold"});
    refused("-1\n", {"-1 values"});
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const std::string content = Bytes(order).add(3).add(1).add(2).add(3).text();
        for (std::size_t length = 1; length < content.size(); ++length) {
            refused(content.substr(0, length), {});
        }
        refused(Bytes(order).add(0x7fffffff).add(1).text(), {"2147483647", "8 bytes"});
    }
}

// Labels of another group finder; how many groups there are and how large they are is published with them.
TEST(RealTipsyArrays, LabelsOfAnotherGroupFinder) {
    const auto path = std::filesystem::path(KITH_SHARED_DATA) / "expected/lambs30K_density_NBodyShopFOF_b0.2_m20.grp";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const Integers labels = io::read_tipsy_integers(path);
    ASSERT_EQ(labels.size(), 30000U);
    std::map<std::int64_t, int> members;
    for (const std::int64_t label : labels) {
        ++members[label];
    }
    members.erase(0);
    std::vector<int> sizes;
    for (const auto& [label, size] : members) {
        sizes.push_back(size);
    }
    std::sort(sizes.rbegin(), sizes.rend());
    EXPECT_EQ(sizes.size(), 137U);
    sizes.resize(5);
    EXPECT_EQ(sizes, (std::vector<int>{605, 581, 524, 412, 399}));
}

// Sums were found with an independent script.
TEST(RealTipsyArrays, OneValueForEachParticle) {
    const auto folder = std::filesystem::path(KITH_SHARED_DATA) / "tipsy";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << folder << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    struct Known {
        const char* file;
        std::size_t particles;
        std::int64_t last;
        std::int64_t sum;
    };
    for (const Known& known :
         {Known{"tiny.000640.iord", 3298, 33020437, 54529113009},
          Known{"tiny.000832.iord", 3344, 33576194, 56371211088}, Known{"tiny.000640.amiga.grp", 3298, -1, -3098},
          Known{"tiny.000832.amiga.grp", 3344, 0, 577214}}) {
        const Integers values = io::read_tipsy_integers(folder / known.file);
        ASSERT_EQ(values.size(), known.particles);
        EXPECT_EQ(values.back(), known.last);
        EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), known.sum);
    }
}

} // namespace
