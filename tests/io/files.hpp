// Small files for the tests: bytes in and out, and what an error must say.
#pragma once

#include "io/byte_order.hpp"
#include "support/temporary_folder.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(file.good()) << path;
}

inline std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Appends numbers in a stated byte order.
class Bytes {
public:
    explicit Bytes(std::endian order) : order_(order) {}
    template <class T>
    Bytes& add(T value) {
        std::byte stored[sizeof(T)];
        io::store(stored, value, order_);
        text_.append(reinterpret_cast<const char*>(stored), sizeof(T));
        return *this;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::endian order_;
    std::string text_;
};

/// `action` must throw a kith::Error of that kind whose text holds every one of `words`.
template <class Action>
void expect_error(ErrorKind kind, std::initializer_list<std::string_view> words, const Action& action) {
    try {
        action();
        ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        for (const std::string_view word : words) {
            EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
                << "'" << word << "' is not in: " << error.what();
        }
    }
}

/// Whether one of the warnings holds `words`.
inline bool warns(const io::SnapshotHeader& header, std::string_view words) {
    for (const std::string& warning : header.warnings) {
        if (warning.find(words) != std::string::npos) {
            return true;
        }
    }
    return false;
}

inline double at(const io::RealArray& array, std::size_t i) {
    return std::visit([&](const auto& values) { return static_cast<double>(values.at(i)); }, array.values);
}

inline io::ReadOptions all_types() {
    io::ReadOptions options;
    options.types.kind = io::TypeSelection::Kind::all;
    return options;
}

inline io::ReadOptions only_types(std::vector<int> types) {
    io::ReadOptions options;
    options.types.kind = io::TypeSelection::Kind::listed;
    options.types.types = std::move(types);
    return options;
}

} // namespace kith::test
