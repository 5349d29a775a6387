// What a wrong kernel is told.
#pragma once

#include "cuda_emulation/grid.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kith::emulation {

/// Runs two blocks of 64 threads, in several orders. The first complaint; nothing if all is well.
inline std::string complaint(const std::function<void()>& kernel) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        try {
            run("kernel", {{2, 1, 1}, {64, 1, 1}}, kernel, seed);
        } catch (const KernelError& error) {
            return error.what();
        }
    }
    return "";
}

inline testing::AssertionResult is_fine(const std::function<void()>& kernel) {
    const std::string told = complaint(kernel);
    return told.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << told;
}

inline testing::AssertionResult is_told(const std::string& words, const std::function<void()>& kernel) {
    const std::string told = complaint(kernel);
    return told.find(words) != std::string::npos ? testing::AssertionSuccess()
                                                 : testing::AssertionFailure() << "was told '" << told << "'";
}

} // namespace kith::emulation
