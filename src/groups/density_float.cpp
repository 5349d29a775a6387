#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/density_float.cpp"
#include "groups/density_cpu.ipp"
