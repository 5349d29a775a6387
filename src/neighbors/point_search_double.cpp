#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/point_search_double.cpp"
#include "neighbors/point_search_cpu.ipp"
