#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/radius_float.cpp"
#include "neighbors/radius_cpu.ipp"
