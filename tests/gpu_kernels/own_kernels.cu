// Kernels as users write them, compiled as the library's are, for the check of what nvcc makes of them.
#include "emulation/own_kernels.hpp"
#include "emulation/own_walk_kernels.hpp"

namespace kith::test {

template void use_own_kernels<float, 3>(detail::DeviceContext& context, const float* points, std::int64_t count,
                                        float period);
template void use_own_kernels<double, 3>(detail::DeviceContext& context, const double* points, std::int64_t count,
                                         double period);
template void walk_in_own_kernels<float, 3>(detail::DeviceContext& context, OwnWalks<float, 3> job);
template void walk_in_own_kernels<double, 3>(detail::DeviceContext& context, OwnWalks<double, 3> job);

} // namespace kith::test
