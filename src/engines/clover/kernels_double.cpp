#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/clover/kernels_double.cpp"
#include "engines/clover/kernels_cpu.ipp"
