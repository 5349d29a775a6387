// Decoding LZF: a stream that h5py wrote, streams of a small encoder, and damaged ones.
#include "io/lzf.hpp"
#include "io/lzf_encoder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

using namespace kith::test;

namespace {

using Memory = std::vector<std::byte>;

Memory bytes_of(std::string_view text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

Memory decoded(const Memory& stream) {
    const auto length = kith::io::lzf_decoded_bytes(stream);
    EXPECT_TRUE(length);
    Memory out(length.value_or(0));
    EXPECT_TRUE(kith::io::decode_lzf(stream, out));
    return out;
}

TEST(Lzf, WhatH5pyWroteIsDecoded) {
    constexpr std::string_view stream(
        "\x10\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x00\xe0\x1e\x00\x0a"
        "friends-of-\xa0\x0a\x00\x20\xa0\x07\xe0\x29\x12\x09neighbors\x07\xe0\xff\x00\xe0\x18\x00\x01\x07\x07",
        62);
    std::string expected;
    for (char i = 0; i < 16; ++i) {
        expected += i;
    }
    expected.append(40, '\0');
    for (int i = 0; i < 4; ++i) {
        expected += "friends-of-friends ";
    }
    expected += "neighbors";
    expected.append(300, '\7');
    EXPECT_EQ(decoded(bytes_of(stream)), bytes_of(expected));
}

TEST(Lzf, RunsOfEveryKind) {
    EXPECT_EQ(decoded({}), Memory());
    EXPECT_EQ(decoded(bytes_of({"\0a", 2})), bytes_of("a"));
    EXPECT_EQ(decoded(bytes_of({"\x02"
                                "abc\x20\x02",
                                6})),
              bytes_of("abcabc")); // the shortest repeat, as far back as it is long
    EXPECT_EQ(decoded(bytes_of({"\0a\xe0\x03\0", 5})), bytes_of(std::string(13, 'a')));  // of its own output
    EXPECT_EQ(decoded(bytes_of({"\0a\xe0\xff\0", 5})), bytes_of(std::string(265, 'a'))); // the longest repeat
}

TEST(Lzf, DamagedStreamsAreRefused) {
    Memory out(64);
    const auto refused = [&](std::string_view stream, std::size_t bytes) {
        return !kith::io::decode_lzf(bytes_of(stream), std::span(out).first(bytes));
    };
    EXPECT_FALSE(kith::io::lzf_decoded_bytes(bytes_of({"\x02"
                                                       "ab",
                                                       3}))); // cut off within a literal run
    EXPECT_FALSE(kith::io::lzf_decoded_bytes(bytes_of({"\0a\x20", 3})));
    EXPECT_FALSE(kith::io::lzf_decoded_bytes(bytes_of({"\0a\xe0\x01", 4})));
    EXPECT_TRUE(refused({"\0a\x20\x01", 4}, 4)); // back beyond the beginning
    EXPECT_TRUE(refused({"\x20\0", 2}, 3));
    EXPECT_TRUE(refused({"\0a\x20\0", 4}, 3)); // more than expected
    EXPECT_TRUE(refused({"\0a\x20\0", 4}, 5)); // less
    EXPECT_FALSE(refused({"\0a\x20\0", 4}, 4));
}

// Round trips, then the same streams with bytes changed, cut off and appended, and random bytes. Whatever the bytes,
// decoding ends, and writes nothing beyond the output (the sanitizers watch).
TEST(Lzf, AnyBytesAreDecodedOrRefused) {
    std::mt19937 random(20261126);
    int refused = 0;
    for (int trial = 0; trial < 1500; ++trial) {
        Memory original(random() % 700);
        const unsigned symbols = 1U << random() % 9;
        for (std::byte& byte : original) {
            byte = static_cast<std::byte>(random() % symbols);
        }
        Memory stream = encode_lzf(original);
        ASSERT_EQ(decoded(stream), original);
        for (unsigned change = random() % 4; change-- > 0 && !stream.empty();) {
            stream[random() % stream.size()] = static_cast<std::byte>(random());
        }
        stream.resize(random() % 3 == 0 ? random() % (stream.size() + 8) : stream.size(), std::byte{0xff});
        const auto length = kith::io::lzf_decoded_bytes(stream);
        if (!length) {
            ++refused;
            continue;
        }
        ASSERT_LE(*length, 88 * stream.size());
        Memory out(*length);
        refused += kith::io::decode_lzf(stream, out) ? 0 : 1;
        Memory shorter(*length / 2);
        EXPECT_EQ(kith::io::decode_lzf(stream, shorter), *length == 0);
    }
    EXPECT_GT(refused, 150);
    EXPECT_LT(refused, 1350);
}

} // namespace
