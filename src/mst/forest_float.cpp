#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mst/forest_float.cpp"
#include "mst/forest_cpu.ipp"
