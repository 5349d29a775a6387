#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/radius_double.cpp"
#include "neighbors/radius_cpu.ipp"
