// Runs the program kith as a user would, in a directory of its own.
#pragma once

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {

struct Outcome {
    int exit_code = 0;
    std::string out;
    std::string err;
};

class ProgramTest : public testing::Test {
protected:
    ~ProgramTest() override;

    /// `kith ARGUMENTS` in the directory, through the shell; `before` comes ahead of it in the same shell.
    [[nodiscard]] Outcome kith(const std::string& arguments, const std::string& before = "") const;

    /// A rows x columns .npy file of doubles, floats or whole numbers, made here byte by byte.
    void write_npy(std::string_view name, const std::vector<double>& values, std::int64_t columns) const;
    void write_npy(std::string_view name, const std::vector<float>& values, std::int64_t columns) const;
    void write_npy(std::string_view name, const std::vector<std::int64_t>& values, std::int64_t columns) const;

    void write_text(std::string_view name, std::string_view content) const;

    [[nodiscard]] std::string read(std::string_view name) const;
    [[nodiscard]] bool exists(std::string_view name) const { return std::filesystem::exists(directory_ / name); }

    /// Names of all files in the directory, hidden ones included, in order.
    [[nodiscard]] std::vector<std::string> files() const;

    const TemporaryFolder folder_;
    const std::filesystem::path directory_ = folder_.path();
};

/// The numbers of a .npy file, or of the n-th .npy member of an uncompressed .npz file, whose type has that descriptor
/// ("<i4"); a failure of the test if it is of another type.
template <class Number>
[[nodiscard]] std::vector<Number> npy_values(const std::string& bytes, std::string_view descriptor, int member = 0);

} // namespace kith::test
