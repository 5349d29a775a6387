// Numbers that are no coordinates, by names that test files share, so that they can be compiled together.
#pragma once

#include <limits>

namespace kith::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace kith::test
