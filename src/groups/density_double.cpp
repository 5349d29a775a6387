#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/density_double.cpp"
#include "groups/density_cpu.ipp"
