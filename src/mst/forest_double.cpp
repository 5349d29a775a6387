#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mst/forest_double.cpp"
#include "mst/forest_cpu.ipp"
