// Constants of the kernels of sums over neighbors (docs/semantics.md, "Sums over neighbors").
#pragma once

#include <kith/sum_neighbors.hpp>

#include <array>
#include <cstddef>

namespace kith::detail {

/// What depends on the shape of a kernel besides the shape.
struct KernelConstants {
    std::array<double, 7> normalization; ///< in 2 to 8 dimensions: 1 over the integral of w(|x|) over the unit ball
    int value_exponent;                  ///< w is below 2^this
    int slope_exponent;                  ///< |w'(u)/u| is below 2^this
};

inline constexpr std::array<KernelConstants, smoothing_kernel_names.size()> kernel_constants{{
    {{1.8189136353359467, 2.5464790894703255, 3.6606363122393, 5.403796460924681, 8.19138184785262, 12.748841846535328,
      20.36642303426378},
     1,
     4},
    {{0.041952976630918015, 0.0716197243913529, 0.12439360041545763, 0.21983078236685785, 0.39529285250674046,
      0.723250108356227, 1.346416952062941},
     7,
     11},
    {{2.2281692032865346, 3.342253804929802, 5.106587655573824, 7.9790432118340995, 12.771607635546998,
      20.95341877706929, 35.23285109807664},
     1,
     5},
    {{2.864788975654116, 4.923856051905512, 8.597826154792662, 15.281292579807271, 27.67181654368516, 51.0739582691064,
      96.08959390384538},
     1,
     5},
    {{0.3183098861837907, 0.238732414637843, 0.20264236728467555, 0.18997721932938333, 0.19350920659919693,
      0.21165069471787165, 0.24638357411242404},
     1,
     0},
    {{1.4484857105714901, 1.7660575618837238, 2.1852730157779963, 2.756196468317403, 3.5561992872836434,
      4.706507104957084, 6.4005906389907805},
     1,
     4},
}};

constexpr const KernelConstants& constants_of(SmoothingKernel kernel) {
    return kernel_constants[static_cast<std::size_t>(kernel)];
}

} // namespace kith::detail
