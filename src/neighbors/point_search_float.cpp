#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/point_search_float.cpp"
#include "neighbors/point_search_cpu.ipp"
