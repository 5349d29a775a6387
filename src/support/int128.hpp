// Integers of 128 bits, which GCC, Clang and nvcc have.
#pragma once

namespace kith::detail {

__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;

} // namespace kith::detail
