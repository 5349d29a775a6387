// What calls that run on a GPU check and decide.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>

#include "cuda/namespace.hpp"
#include "support/message.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Where comparing all with all beats building a tree, by the instructions that both are expected to take, not by a
/// measurement: a warp compares a query with 32 points in about 20, while a tree is some forty kernels, however small.
inline bool compares_all(Engine engine, std::int64_t points, std::int64_t rows) {
    constexpr std::int64_t most_pairs = std::int64_t{1} << 27;
    return engine == Engine::brute_force || (engine == Engine::automatic && rows * points <= most_pairs);
}

inline void require_same_device(const PointsView& view, const Execution& execution, const char* what) {
    if (view.device().kind == DeviceKind::cuda && view.device() != execution.device) {
        throw Error(ErrorKind::invalid_argument,
                    message(what, " are in the memory of GPU ", view.device().index, ", but the call runs on GPU ",
                            execution.device.index, "; run it there or copy them"));
    }
}

} // namespace kith::detail::inline KITH_GPU
