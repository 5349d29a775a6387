#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/clover/kernels_float.cpp"
#include "engines/clover/kernels_cpu.ipp"
